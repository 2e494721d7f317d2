//! That no todo was found, and by what it was looked for.

use super::Reader;
use crate::commands::View;
use crate::desk::TodoList;
use everloop_text::{self as text, TextOf};

pub(super) fn show(reader: &Reader, list: &TodoList) -> String {
    let (tag, word, view) = (list.filter.tag.as_deref(), list.word.as_deref(), list.view);
    if tag.is_none() && !list.filter.open_only {
        return match (word, view) {
            (Some(word), _) => reader.text(text::todo::none_found(&word)),
            (None, View::All) => reader.text(text::todo::none()),
            (None, view) => reader.text(text::todo::none_in_view(&view.as_str())),
        };
    }
    let part = |text: TextOf, value: Option<&str>| match value {
        Some(value) => reader.text(text(&value)),
        None => String::new(),
    };
    let open = list.filter.open_only.then(|| reader.text(text::todo::none_part::open()));
    let view = Some(view.as_str()).filter(|_| view != View::All);
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
