//! The account: what was done and what failed, for last words when no model can find them.

use crate::toolbox::{action_line, in_words};
use everloop_text as text;
use everloop_types::{
    Ending, Frame, ItemState, Observation, PlanItem, TODO_WRITE, ToolCall, Words,
};
use serde::{Deserialize, Serialize};

/// How many actions of each kind are remembered; the counts go on.
const REMEMBERED: usize = 12;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkAccount {
    done: ActionLog,
    failed: ActionLog,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ActionLog {
    first: Vec<String>,
    more: u32,
}

impl ActionLog {
    fn add(&mut self, action: String) {
        if self.first.len() < REMEMBERED {
            self.first.push(action);
        } else {
            self.more += 1;
        }
    }

    fn words(&self, heading: text::Text) -> Option<Words> {
        if self.first.is_empty() {
            return None;
        }
        let mut lines = vec![heading.words()];
        lines.extend(self.first.iter().map(|action| action_line(action)));
        if self.more > 0 {
            lines.push(Words::Said(format!("- … +{}", self.more)));
        }
        Some(Words::All(lines))
    }
}

impl WorkAccount {
    pub(super) fn take(&mut self, call: &ToolCall, seen: &Observation, frame: &Frame) {
        match seen.ending {
            // The list is shown as it is.
            Ending::Ok if call.tool == TODO_WRITE => {}
            Ending::Ok => self.done.add(in_words(frame, call, seen)),
            _ => self.failed.add(in_words(frame, call, seen)),
        }
    }

    /// What was done, what failed, what is open, what to do next.
    pub(super) fn words(&self, plan: &[PlanItem], may_be_finished: bool) -> Words {
        let all_done = !plan.is_empty() && plan.iter().all(PlanItem::is_done);
        let finished = may_be_finished && all_done && self.failed.first.is_empty();
        let mut parts = vec![match finished {
            true => text::closing::finished().words(),
            false => text::closing::from_journal().words(),
        }];
        parts.extend(self.done.words(text::closing::done()));
        parts.extend(self.failed.words(text::closing::failed()));
        parts.extend(listed(text::closing::open(), plan, is_open));
        if parts.len() == 1 {
            parts.push(text::closing::nothing().words());
        }
        parts.push(text::closing::next().words());
        Words::All(parts)
    }
}

/// Whether an item was wanted and is not done.
pub(super) fn is_open(item: &PlanItem) -> bool {
    !matches!(item.state, ItemState::Completed | ItemState::Skipped)
}

/// The items of a kind below their heading, if there are any.
pub(super) fn listed(
    heading: text::Text,
    plan: &[PlanItem],
    of: impl Fn(&PlanItem) -> bool,
) -> Vec<Words> {
    let items = plan.iter().filter(|item| of(item));
    let lines: Vec<String> = items.map(|item| format!("- {}", item.text)).collect();
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![heading.words(), Words::Said(lines.join("\n"))],
    }
}
