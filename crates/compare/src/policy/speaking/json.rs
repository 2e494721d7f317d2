//! One JSON object for each phase: plan, thought, replan.

use super::{ItemProgress, Speaker};
use crate::policy::shown::ItemPosition;
use everloop_loops::replies::{
    json_action, json_answer, json_item_done, json_plan, json_question, json_replan,
};
use everloop_types::Reply;

impl Speaker<'_> {
    pub(super) fn json_plan(&self) -> Reply {
        let plan: Vec<String> = self.items().iter().map(|item| self.item_text(item)).collect();
        if plan.is_empty() { json_answer(&self.answer()) } else { json_plan(&plan) }
    }

    /// One action, or one question, or the end of the item.
    pub(super) fn json_thought(&self, place: &ItemPosition) -> Reply {
        let item = self.scope(place);
        let outlook = self.together(item.clone());
        let step = self.item_text(&item);
        match outlook.acts.first() {
            Some(act) if act.tool == "ask_user" => {
                json_question(&step, act.args["question"].as_str().unwrap_or_default())
            }
            Some(act) => json_action(&step, act.tool, &act.args),
            None => json_item_done(&step, &self.item_result(&item)),
        }
    }

    pub(super) fn json_replan(&self) -> Reply {
        let outlook = self.outlook(self.everything(), super::CallOrder::Together);
        let items = self.items();
        let open = items.iter().any(|item| outlook.far(item) == ItemProgress::Open);
        if !open {
            return json_answer(&self.answer());
        }
        let tasks = items
            .iter()
            .map(|item| (self.item_text(item), outlook.far(item) != ItemProgress::Open));
        json_replan(&tasks.collect::<Vec<_>>())
    }
}
