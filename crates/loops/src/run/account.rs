//! The account: what was done and what failed, for last words when no model can find them.

use everloop_types::{Ending, ItemState, Observation, PlanItem, ToolCall, Words};
use serde::{Deserialize, Serialize};

/// How many deeds of each kind are remembered; the counts go on.
const REMEMBERED: usize = 12;
const SHOWN_CHARS: usize = 80;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    done: Deeds,
    failed: Deeds,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Deeds {
    first: Vec<String>,
    more: u32,
}

impl Deeds {
    fn add(&mut self, deed: String) {
        if self.first.len() < REMEMBERED {
            self.first.push(deed);
        } else {
            self.more += 1;
        }
    }

    fn words(&self, heading: &'static str) -> Option<Words> {
        if self.first.is_empty() {
            return None;
        }
        let mut lines: Vec<String> = self.first.iter().map(|deed| format!("- {deed}")).collect();
        if self.more > 0 {
            lines.push(format!("- … +{}", self.more));
        }
        Some(Words::All(vec![Words::key(heading), Words::Said(lines.join("\n"))]))
    }
}

impl Account {
    pub(super) fn take(&mut self, call: &ToolCall, seen: &Observation) {
        let deed = format!("{} {}", call.tool, first_chars(&call.args));
        match seen.ending {
            Ending::Ok => self.done.add(deed),
            _ => self.failed.add(format!("{deed}: {}", first_chars(&seen.text))),
        }
    }

    /// What was done, what failed, what is open, what to do next.
    pub(super) fn words(&self, plan: &[PlanItem]) -> Words {
        let mut parts = vec![Words::key("closing.from_journal")];
        parts.extend(self.done.words("closing.done"));
        parts.extend(self.failed.words("closing.failed"));
        parts.extend(listed("closing.claimed", plan, PlanItem::is_only_claimed));
        let open = |item: &PlanItem| item.state != ItemState::Completed;
        parts.extend(listed("closing.open", plan, open));
        if parts.len() == 1 {
            parts.push(Words::key("closing.nothing"));
        }
        parts.push(Words::key("closing.next"));
        Words::All(parts)
    }
}

/// The items of a kind below their heading, if there are any.
fn listed(heading: &'static str, plan: &[PlanItem], of: impl Fn(&PlanItem) -> bool) -> Vec<Words> {
    let items = plan.iter().filter(|item| of(item));
    let lines: Vec<String> = items.map(|item| format!("- {}", item.text)).collect();
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![Words::key(heading), Words::Said(lines.join("\n"))],
    }
}

fn first_chars(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
