//! The message that no todo was found, with the filters.

use super::DisplayContext;
use crate::commands::TodoView;
use crate::desk::TodoListing;
use everloop_text::{self as text, TextOf};

pub(super) fn show(reader: &DisplayContext, list: &TodoListing) -> String {
    let (tag, word, view) = (list.filter.tag.as_deref(), list.word.as_deref(), list.view);
    if tag.is_none() && !list.filter.open_only {
        return match (word, view) {
            (Some(word), _) => reader.text(text::todo::none_found(&word)),
            (None, TodoView::All) => reader.text(text::todo::none()),
            (None, view) => reader.text(text::todo::none_in_view(&view.as_str())),
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
