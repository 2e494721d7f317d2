//! What the scripted model of the tour answers.

use everloop_text as text;
use everloop_types::Lang;
use serde_json::{Value, json};

/// An answer in Markdown.
pub(super) fn talk(lang: Lang) -> Value {
    json!({"replies": [{"text": text::tour::talk_answer().in_lang(lang)}]})
}

/// A command that nobody allowed yet.
pub(super) fn clean(lang: Lang) -> Value {
    json!({"replies": [
        {"calls": [{"tool": "shell", "args": {"command": "rm -r old-logs && ls"}}]},
        {"text": text::tour::clean_answer().in_lang(lang)},
    ]})
}

/// Something is paid by a command that cannot be repeated; the run is killed while it works.
pub(super) fn pay(lang: Lang) -> Value {
    let pay = "echo paid >> ledger.txt; sleep 60";
    json!({"replies": [
        {"calls": [{"tool": "shell", "args": {"command": pay}}]},
        {"calls": [{"tool": "read_file", "args": {"path": "ledger.txt"}}]},
        {"text": text::tour::pay_answer().in_lang(lang)},
    ]})
}
