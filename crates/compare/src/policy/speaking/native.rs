//! Native tool calls: the work itself, and the list if there is one.

use super::{ItemProgress, Speaker, calling, plain, said};
use crate::policy::shown::ItemPosition;
use crate::policy::skill::Outlook;
use everloop_loops::replies::{list_args, mark_args};
use everloop_types::{Reply, TODO_WRITE};
use serde_json::Value;

impl Speaker<'_> {
    /// The list before the work begins: every item pending.
    pub(super) fn make_list(&self) -> Reply {
        let items = self.items().into_iter().enumerate();
        let todos = items.map(|(place, item)| {
            let id = (place + 1).to_string();
            (id, self.item_text(&item), "pending")
        });
        calling(vec![(TODO_WRITE, whole_list(&todos.collect::<Vec<_>>()))])
    }

    /// One item: its calls, then its mark if a tool can set it, else plain words.
    pub(super) fn work_on(&self, place: &ItemPosition) -> Reply {
        let item = self.scope(place);
        let outlook = self.together(item.clone());
        if !outlook.acts.is_empty() {
            return calling(outlook.acts.iter().map(plain).collect());
        }
        match &place.id {
            Some(id) if self.shown.has_tool(TODO_WRITE) => {
                let status = state(outlook.far(&item));
                calling(vec![(TODO_WRITE, mark_args(&[(id, status)]))])
            }
            _ => said(self.item_result(&item)),
        }
    }

    /// Everything that can be done now, with an up-to-date list; the answer when nothing is left.
    pub(super) fn work_freely(&self) -> Reply {
        let outlook = self.together(self.everything());
        let calls = self.calls_and_list(&outlook);
        if calls.is_empty() { said(self.answer()) } else { calling(calls) }
    }

    /// The calls of one reply: first the list, if it is outdated.
    pub(super) fn calls_and_list(&self, outlook: &Outlook) -> Vec<(&'static str, Value)> {
        let list = self.list_to_write(outlook).map(|args| (TODO_WRITE, args));
        list.into_iter().chain(outlook.acts.iter().map(plain)).collect()
    }

    /// The call that updates the list, if it is outdated and wanted.
    fn list_to_write(&self, outlook: &Outlook) -> Option<Value> {
        let from = self.shown.lists_from()?;
        let items = self.items();
        let wanted: Vec<&str> = items
            .iter()
            .map(|item| match outlook.far(item) {
                ItemProgress::Open if outlook.wants(item) => "in_progress",
                ItemProgress::Open => "pending",
                far => state(far),
            })
            .collect();
        if self.list.len() != items.len() {
            let calls: usize = self.asked.iter().map(|(sentence, _)| sentence.calls()).sum();
            let is_worth_it = calls >= from && !outlook.acts.is_empty();
            let all = items.iter().zip(&wanted).enumerate().map(|(place, (item, status))| {
                let id = (place + 1).to_string();
                (id, self.item_text(item), *status)
            });
            let all: Vec<(String, String, &str)> = all.collect();
            return is_worth_it.then(|| whole_list(&all));
        }
        let changed = self.list.iter().zip(&wanted).filter(|(row, status)| row.state != **status);
        // An item in progress stays so while another sentence of it waits.
        let changed = changed
            .filter(|(row, status)| (row.state.as_str(), **status) != ("in_progress", "pending"));
        let marks: Vec<(&str, &str)> =
            changed.map(|(row, status)| (row.id.as_str(), *status)).collect();
        (!marks.is_empty()).then(|| mark_args(&marks))
    }
}

fn whole_list(items: &[(String, String, &str)]) -> Value {
    let items = items.iter().map(|(id, text, status)| (id.as_str(), text.as_str(), *status));
    list_args(&items.collect::<Vec<_>>())
}

fn state(far: ItemProgress) -> &'static str {
    match far {
        ItemProgress::Open => "in_progress",
        ItemProgress::Completed => "completed",
        ItemProgress::Failed => "cancelled",
    }
}
