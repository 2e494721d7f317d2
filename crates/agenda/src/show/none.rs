//! The message that no todo was found, with the filters.

use super::DisplayContext;
use crate::commands::TodoView;
use crate::desk::TodoListing;
use everloop_text::{self as text, Text, TextOf};

pub(super) fn show(reader: &DisplayContext, list: &TodoListing) -> String {
    let tags = list.filter.tags.join(&reader.text(text::show::listed()));
    let tag = Some(tags.as_str()).filter(|tags| !tags.is_empty());
    let (word, view) = (list.word.as_deref(), list.view);
    if tag.is_none() && !list.filter.open_only {
        return match (word, view) {
            (Some(word), _) => reader.text(text::todo::none_found(&word)),
            (None, TodoView::All) => reader.text(text::todo::none()),
            (None, view) => reader.text(none_in(view)),
        };
    }
    let part = |text: TextOf, value: Option<&str>| match value {
        Some(value) => reader.text(text(&value)),
        None => String::new(),
    };
    let open = list.filter.open_only.then(|| reader.text(text::todo::none_part::open()));
    let view = Some(view.as_str()).filter(|_| view != TodoView::All);
    reader.text(
        text::todo::NoneMatch {
            open: &open.unwrap_or_default(),
            tag: &part(text::todo::none_part::tag, tag),
            word: &part(text::todo::none_part::word, word),
            view: &part(text::todo::none_part::view, view),
        }
        .text(),
    )
}

fn none_in(view: TodoView) -> Text {
    match view {
        TodoView::All => text::todo::none_in_view::all(),
        TodoView::Today => text::todo::none_in_view::today(),
        TodoView::Overdue => text::todo::none_in_view::overdue(),
        TodoView::Upcoming => text::todo::none_in_view::upcoming(),
        TodoView::Inbox => text::todo::none_in_view::inbox(),
    }
}
