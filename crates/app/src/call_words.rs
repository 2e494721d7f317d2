//! Tool calls and what came back of them, in words for people. Pure.
//!
//! ```text
//!   shell {"command": "cargo test"}      ──►  $ cargo test
//!   edit_file {"path": …, "old": …, …}   ──►  edit src/x.rs +3 -1
//!   a tool that is not known here        ──►  its name and its arguments, without the JSON
//! ```

use crate::show::preview;
use everloop_text::{self as text, Text};
use everloop_types::{Ending, Lang, visible};
use serde_json::{Map, Value};

/// Characters of one value of a call that is shown on a line.
const VALUE_CHARS_MAX: usize = 60;

/// Lines of a result that are shown unless the person wants them all.
pub const RESULT_LINES_SHOWN: usize = 3;

/// A call on one line, with the characters spelled out that a person would not see.
#[must_use]
pub fn call_words(lang: Lang, tool: &str, arguments: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(arguments) else {
        return preview(&format!("{tool} {arguments}"));
    };
    let call = CallFields { lang, fields: &fields };
    let known = match tool {
        "shell" => call.command(),
        "todo" | "schedule" => call.of("command").map(|command| preview(&command)),
        "read_file" | "list_dir" | "write_file" | "edit_file" => call.file(tool),
        "search_code" => call.search(),
        "git_read" => call.of("view").map(|view| format!("git {view}")),
        "git_commit" => call.one("message", text::call::commit),
        "git_push" => {
            let branch = call.of("branch").unwrap_or_default();
            call.of("remote").map(|remote| format!("git push {remote} {branch}"))
        }
        "internet_search" => call.one("query", text::call::search_web),
        "fetch_web" | "http_get" => call.one("url", text::call::fetch),
        "http_send" => {
            let method = call.of("method").unwrap_or_default().to_uppercase();
            call.of("url").map(|url| format!("{method} {url}"))
        }
        "send_message" => {
            let words = call.of("text").unwrap_or_default();
            call.of("channel").map(|to| text::call::message(&to, &words).in_lang(lang))
        }
        "ask_user" => call.one("question", text::call::ask),
        "delegate" => call.one("task", text::call::delegate),
        "memory_propose" => call.one("text", text::call::remember),
        "memory_search" => call.one("query", text::call::search_memory),
        "todo_write" => Some(text::call::list().in_lang(lang)),
        _ => None,
    };
    known.map_or_else(|| call.unknown(tool), |line| preview(&line))
}

/// The whole command of a call that runs one.
#[must_use]
pub fn call_command(tool: &str, arguments: &str) -> Option<String> {
    let fields: Value = serde_json::from_str(arguments).ok()?;
    let command = fields.get("command").filter(|_| tool == "shell")?;
    command.as_str().map(str::to_owned)
}

/// The fields of a call.
struct CallFields<'a> {
    lang: Lang,
    fields: &'a Map<String, Value>,
}

impl CallFields<'_> {
    /// A field as text.
    fn of(&self, name: &str) -> Option<String> {
        match self.fields.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }

    fn one(&self, name: &str, text: fn(&dyn std::fmt::Display) -> Text) -> Option<String> {
        self.of(name).map(|value| text(&value).in_lang(self.lang))
    }

    /// A command as it is typed; ends of lines are marked, because they end commands.
    fn command(&self) -> Option<String> {
        let command = self.of("command")?;
        Some(format!("$ {}", command.trim().lines().collect::<Vec<_>>().join(" ⏎ ")))
    }

    fn file(&self, tool: &str) -> Option<String> {
        let path = self.of("path")?;
        let words = match tool {
            "list_dir" => text::call::list_folder(&path),
            "write_file" => {
                let lines = self.of("content")?.lines().count();
                text::call::write(&path, &lines)
            }
            "edit_file" => {
                let (added, removed) = changed_lines(&self.of("old")?, &self.of("new")?);
                text::call::Edit { path: &path, added: &added, removed: &removed }.text()
            }
            _ => match self.of("from_line") {
                Some(line) => text::call::read_from(&path, &line),
                None => text::call::read(&path),
            },
        };
        Some(words.in_lang(self.lang))
    }

    fn search(&self) -> Option<String> {
        let query = self.of("query")?;
        let places: Vec<String> =
            [self.of("path"), self.of("glob")].into_iter().flatten().collect();
        Some(if places.is_empty() {
            text::call::search(&query).in_lang(self.lang)
        } else {
            text::call::search_in(&query, &places.join(" ")).in_lang(self.lang)
        })
    }

    /// The name of the tool, and its fields without quotes and braces.
    fn unknown(&self, tool: &str) -> String {
        let field = |(name, value): (&String, &Value)| {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            format!("{name}: {}", clipped(&value))
        };
        let fields: Vec<String> = self.fields.iter().map(field).collect();
        preview(&format!("{tool} {}", fields.join(", ")))
    }
}

fn clipped(value: &str) -> String {
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// How many lines an edit adds and removes; those that both texts begin or end with do not count.
fn changed_lines(old: &str, new: &str) -> (usize, usize) {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[first..], &new[first..]);
    let last = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    (new.len() - last, old.len() - last)
}

/// What came back of a call, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultWords {
    /// The first line: how much there is, or the first words of it, or why it failed.
    pub head: String,
    /// More lines of it.
    pub lines: Vec<String>,
    /// How many lines are not shown.
    pub left_out: usize,
    /// Whether those stand before the lines that are shown: what failed says why at its end.
    pub is_end: bool,
}

impl ResultWords {
    fn of_head(head: Text, lang: Lang) -> Self {
        Self { head: head.in_lang(lang), lines: Vec::new(), left_out: 0, is_end: false }
    }
}

/// What came back of a call: a few lines of it.
#[must_use]
pub fn result_words(lang: Lang, tool: &str, ending: Ending, result: &str) -> ResultWords {
    // That all went well is said by the mark.
    let result = result.trim_end().strip_suffix("[exit code 0]").unwrap_or(result);
    let is_status = result.trim_end().lines().last().is_some_and(is_exit_note);
    let seen = everloop_text::observed(lang, result);
    let is_content = matches!(tool, "read_file" | "fetch_web" | "http_get");
    if ending == Ending::Ok && is_content {
        return ResultWords::of_head(text::call::lines(&seen.lines().count()), lang);
    }
    let mut lines = result_lines(&seen);
    let left_out = lines.len().saturating_sub(RESULT_LINES_SHOWN);
    if lines.is_empty() {
        return ResultWords::of_head(text::call::no_output(), lang);
    }
    if is_status {
        let head = lines.pop().unwrap_or_default();
        return ResultWords { head, lines: lines.split_off(left_out), left_out, is_end: true };
    }
    lines.truncate(RESULT_LINES_SHOWN);
    let head = lines.remove(0);
    ResultWords { head, lines, left_out, is_end: false }
}

/// Whether a line says how a command ended.
fn is_exit_note(line: &str) -> bool {
    ["[exit code ", "[killed by ", "[stopped: "].iter().any(|note| line.starts_with(note))
}

/// The lines of a result that have anything in them, each spelled out and not too long.
#[must_use]
pub fn result_lines(result: &str) -> Vec<String> {
    clipped_lines(result, 200)
}

/// The same for somebody who wants to see all of it.
#[must_use]
pub fn unfolded_text(text: &str) -> Vec<String> {
    clipped_lines(text, 20_000)
}

fn clipped_lines(result: &str, chars_max: usize) -> Vec<String> {
    let shown = |line: &str| {
        let line = visible(&line.replace('\t', "    "));
        match line.char_indices().nth(chars_max) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    };
    let lines = result.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(shown).collect()
}

#[cfg(test)]
#[path = "call_words_tests.rs"]
mod tests;
