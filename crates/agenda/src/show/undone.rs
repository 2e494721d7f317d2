//! Changes that were undone, in words.

use super::DisplayContext;
use everloop_store::{AgendaRow, ChangedItem};
use everloop_text as text;
use everloop_types::one_line;

pub(super) fn show(reader: &DisplayContext, items: &[ChangedItem]) -> String {
    items.iter().map(|item| line(reader, item)).collect::<Vec<_>>().join("\n")
}

fn line(reader: &DisplayContext, item: &ChangedItem) -> String {
    let row = item.before.as_ref().or(item.after.as_ref());
    let title = row.map(|row| one_line(row.text())).unwrap_or_default();
    let key = match (row, item.before.is_none()) {
        (Some(AgendaRow::Entry(_)), true) => text::agenda_undo::removed_entry,
        (Some(AgendaRow::Entry(_)), false) => text::agenda_undo::restored_entry,
        (_, true) => text::agenda_undo::removed_todo,
        (_, false) => text::agenda_undo::restored_todo,
    };
    reader.text(key(&item.subject, &title))
}
