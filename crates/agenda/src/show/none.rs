//! That no todo was found, and by what it was looked for.

use super::Reader;
use crate::commands::View;
use crate::desk::TodoList;

pub(super) fn show(reader: &Reader, list: &TodoList) -> String {
    let (tag, word, view) = (list.filter.tag.as_deref(), list.word.as_deref(), list.view);
    if tag.is_none() && !list.filter.open_only {
        return match (word, view) {
            (Some(word), _) => reader.text("todo.none_found", &[("word", word)]),
            (None, View::All) => reader.text("todo.none", &[]),
            (None, view) => reader.text("todo.none_in_view", &[("view", view.as_str())]),
        };
    }
    let part = |key: &str, value: Option<&str>| match value {
        Some(value) => reader.text(key, &[("value", value)]),
        None => String::new(),
    };
    let open = list.filter.open_only.then_some("");
    let view = Some(view.as_str()).filter(|_| view != View::All);
    let args = [
        ("open", part("todo.none_part.open", open)),
        ("tag", part("todo.none_part.tag", tag)),
        ("word", part("todo.none_part.word", word)),
        ("view", part("todo.none_part.view", view)),
    ];
    let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
    reader.text("todo.none_match", &args)
}
