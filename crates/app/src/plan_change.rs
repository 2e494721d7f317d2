//! How a plan was changed in the middle of a run.

use everloop_types::{ItemState, PlanItem, Progress};
use serde::Serialize;

/// New items that are named.
const NEW_MAX: usize = 2;

/// What is different in a newer version of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanChange {
    /// The new version.
    pub version: u32,
    /// The item that has failed since: its number from 1, and its text.
    pub failed: Option<(usize, String)>,
    /// The first items that are new and not done.
    pub new: Vec<String>,
}

impl PlanChange {
    /// Compares two states of a plan; nothing if it is the same plan. A mark on an item is not
    /// another plan, and each round has a plan of its own.
    #[must_use]
    pub fn between(before: &Progress, now: &Progress) -> Option<Self> {
        let is_newer = before.version > 0 && now.version > before.version;
        let has_same_items =
            before.items.iter().map(|item| &item.text).eq(now.items.iter().map(|item| &item.text));
        if !is_newer || now.round.is_some() || has_same_items {
            return None;
        }
        let was = |item: &PlanItem| before.items.iter().find(|known| known.text == item.text);
        let has_failed = |item: &PlanItem| {
            item.state == ItemState::Failed && was(item).is_none_or(|was| was.state != item.state)
        };
        let failed = now.items.iter().position(has_failed);
        let failed = failed.map(|place| (place + 1, now.items[place].text.clone()));
        let new = now.items.iter().filter(|item| was(item).is_none() && !item.is_done());
        let new = new.take(NEW_MAX).map(|item| item.text.clone()).collect();
        Some(Self { version: now.version, failed, new })
    }
}
