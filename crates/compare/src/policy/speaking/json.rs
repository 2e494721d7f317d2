//! One JSON object for each phase: plan, thought, replan.

use super::{Far, Speaker};
use crate::policy::shown::Place;
use serde_json::{Value, json};

impl Speaker<'_> {
    pub(super) fn json_plan(&self) -> String {
        let plan: Vec<String> = self.items().iter().map(|item| self.item_text(item)).collect();
        match plan.is_empty() {
            true => json!({ "status": "done", "response": self.answer() }).to_string(),
            false => json!({ "status": "planned", "plan": plan }).to_string(),
        }
    }

    /// One action, or one question, or the end of the item.
    pub(super) fn json_thought(&self, place: &Place) -> String {
        let item = self.scope(place);
        let outlook = self.together(item.clone());
        let step = self.item_text(&item);
        let thought = match outlook.acts.first() {
            Some(act) if act.tool == "ask_user" => {
                thought("ask_user", &step).with("question", act.args["question"].clone())
            }
            Some(act) => thought("continue", &step)
                .with("next_action", json!({ "tool": act.tool, "input": act.args })),
            None => thought("done", &step).with("response", Value::from(self.came_of(&item))),
        };
        thought.0.to_string()
    }

    pub(super) fn json_replan(&self) -> String {
        let outlook = self.look(self.everything(), super::Manner::Together);
        let items = self.items();
        let open = items.iter().any(|item| outlook.far(item) == Far::Open);
        if !open {
            return json!({ "status": "done", "response": self.answer() }).to_string();
        }
        let tasks = items.iter().map(|item| {
            let completed = outlook.far(item) != Far::Open;
            json!({ "task": self.item_text(item), "completed": completed })
        });
        let plan: Vec<Value> = tasks.collect();
        json!({ "status": "replanned", "plan": plan }).to_string()
    }
}

struct Thought(Value);

/// A thought before it has what its status asks for.
fn thought(status: &str, step: &str) -> Thought {
    Thought(json!({ "status": status, "current_step": step }))
}

impl Thought {
    fn with(mut self, field: &str, value: Value) -> Self {
        self.0[field] = value;
        self
    }
}
