//! todo.txt: one todo a line, `x 2026-11-16 2026-11-15 text +project @context due:2026-11-16`.
//!
//! Each `+project` is a tag, the priority 1 is `(A)`; `remind:`, `uid:` and, beyond `(Z)`,
//! `pri:` are ours. Contexts and other programs' `key:value` words stay in the text. A word of a
//! text that would be read as one of these gets a backslash; a line break is the word `\n`.

use super::{
    CompletionTime, FileProblem, FileProblemKind, ImportedTodo, PortableFile, derived_uid,
    end_of_day, text_trouble,
};
use crate::commands::add_tags;
use crate::kept::moment;
use everloop_store::{TodoRow, TodoText};
use everloop_types::UtcMs;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::collections::HashMap;

/// The prefixes of words with a meaning.
const KEYS: [&str; 4] = ["due:", "remind:", "pri:", "uid:"];

/// A line break inside a text.
const BREAK: &str = r"\n";

/// Todos as the text of a file.
#[must_use]
pub fn write(todos: &[TodoRow], zone: &TimeZone) -> String {
    todos.iter().map(|todo| line(todo, zone) + "\n").collect()
}

fn line(todo: &TodoRow, zone: &TimeZone) -> String {
    let said = &todo.said;
    let day = |at: UtcMs| moment(at).to_zoned(zone.clone()).date().to_string();
    let letter = letter(said.priority);
    let mut words = Vec::new();
    words.extend(todo.done_at.map(|_| "x".to_owned()));
    words.extend(letter.map(|letter| format!("({letter})")));
    words.extend(todo.done_at.map(day));
    words.push(day(todo.created_at));
    words.push(escaped(&said.text));
    words.extend(said.tags.iter().map(|tag| format!("+{}", one_word(tag))));
    if letter.is_none() && said.priority != 0 {
        words.push(format!("pri:{}", said.priority));
    }
    words.extend(said.due_at.map(|at| format!("due:{}", due(at, zone))));
    words.extend(said.remind_at.map(|at| format!("remind:{}", wall(at, zone))));
    words.push(format!("uid:{}", one_word(&todo.uid)));
    words.join(" ")
}

fn letter(priority: i64) -> Option<char> {
    let place = u8::try_from(priority.checked_sub(1)?).ok().filter(|place| *place < 26)?;
    Some(char::from(b'A' + place))
}

/// The text with backslashes before words that would be read as something else.
fn escaped(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let word = |word: &str| match needs_escape(word) {
        true => format!(r"\{word}"),
        false => word.to_owned(),
    };
    let lines = text.split('\n').map(|line| line.split(' ').map(word).collect::<Vec<_>>());
    lines.map(|words| words.join(" ")).collect::<Vec<_>>().join(&format!(" {BREAK} "))
}

fn needs_escape(word: &str) -> bool {
    let plain = word.trim_start_matches('\\');
    let has_key = KEYS.iter().any(|key| plain.len() > key.len() && plain.starts_with(key));
    has_key || is_project(plain) || (plain == "n" && word != plain)
}

fn is_project(word: &str) -> bool {
    word.len() > 1 && word.starts_with('+')
}

/// White space would end the word, so it is percent-encoded.
fn one_word(text: &str) -> String {
    let mut word = String::new();
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() || c == '%' {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).bytes();
            word.extend(bytes.map(|byte| format!("%{byte:02X}")));
        } else {
            word.push(c);
        }
    }
    word
}

fn from_one_word(word: &str) -> String {
    let bytes = word.as_bytes();
    let (mut plain, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        let hex = hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let code = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        plain.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    // Invalid escapes were not written by us; they stay as they are.
    String::from_utf8(plain).unwrap_or_else(|_| word.to_owned())
}

fn due(at: UtcMs, zone: &TimeZone) -> String {
    let text = wall(at, zone);
    text.strip_suffix("T23:59").map(str::to_owned).unwrap_or(text)
}

/// A local time; with its offset if the time occurs twice.
fn wall(at: UtcMs, zone: &TimeZone) -> String {
    let zoned = moment(at).to_zoned(zone.clone());
    let wall = zoned.datetime();
    let form = match (wall.second(), wall.subsec_nanosecond()) {
        (0, 0) => "%Y-%m-%dT%H:%M",
        (_, 0) => "%Y-%m-%dT%H:%M:%S",
        _ => "%Y-%m-%dT%H:%M:%S.%3f",
    };
    let mut text = zoned.strftime(form).to_string();
    if on_wall(wall, zone) != Some(at) {
        text.push_str(&zoned.strftime("%:z").to_string());
    }
    text
}

fn on_wall(wall: DateTime, zone: &TimeZone) -> Option<UtcMs> {
    let at = zone.to_ambiguous_timestamp(wall).compatible().ok()?;
    Some(at.as_millisecond())
}

/// The todos of a file, and the invalid lines. Blank lines are skipped.
#[must_use]
pub fn read(text: &str, now: &Zoned) -> PortableFile {
    let mut parsed = PortableFile::default();
    let mut nameless: HashMap<String, usize> = HashMap::new();
    let text = text.trim_start_matches('\u{feff}');
    for (at, line) in text.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() {
            continue;
        }
        let mut lesser = Vec::new();
        match todo(line, now, &mut lesser) {
            Ok(mut todo) => {
                todo.line = at + 1;
                if todo.uid.is_empty() {
                    let before = nameless.entry(todo.said.text.clone()).or_default();
                    *before += 1;
                    todo.uid = derived_uid(&format!("{before} {}", todo.said.text), "todo.txt");
                }
                parsed.todos.push(todo);
            }
            Err(problem) => lesser.push(problem),
        }
        let problem = |(trouble, detail)| FileProblem { line: at + 1, trouble, detail };
        parsed.problems.extend(lesser.into_iter().map(problem));
    }
    parsed
}

type TodoTxtProblem = (FileProblemKind, String);

fn todo(
    line: &str,
    now: &Zoned,
    lesser: &mut Vec<TodoTxtProblem>,
) -> Result<ImportedTodo, TodoTxtProblem> {
    let mut rest = line;
    let done = take(&mut rest, |word| (word == "x").then_some(())).is_some();
    let mut priority = take(&mut rest, in_brackets).unwrap_or(0);
    let first = take(&mut rest, date);
    let (on, made) = match done {
        true => (first, take(&mut rest, date)),
        false => (None, first),
    };
    let words: Vec<&str> = rest.split(' ').collect();
    let mut tags = Vec::new();
    let (mut due_at, mut remind_at, mut uid) = (None, None, None);
    let mut text = Vec::new();
    for word in &words {
        match word.split_once(':').filter(|(_, value)| !value.is_empty()) {
            _ if is_project(word) => add_tags(&mut tags, [from_one_word(&word[1..])]),
            Some(("due", value)) => due_at = Some(instant(value, now, end_of_day)?),
            Some(("remind", value)) => remind_at = Some(instant(value, now, morning)?),
            Some(("pri", value)) => priority = number(value)?,
            Some(("uid", value)) => uid = Some(from_one_word(value)),
            _ => text.push(*word),
        }
    }
    let mut text = unescaped(&text);
    if uid.is_none() {
        // Other programs may leave extra spaces when they remove words.
        text = text.trim().to_owned();
    }
    if let Some(trouble) = text_trouble(&text) {
        return Err((trouble, line.to_owned()));
    }
    if due_at.is_none() && remind_at.take().is_some() {
        lesser.push((FileProblemKind::Reminder, line.to_owned()));
    }
    Ok(ImportedTodo {
        line: 0,
        uid: uid.unwrap_or_default(),
        said: TodoText { text, tags, priority, due_at, remind_at, remind_lead: None },
        done: done.then(|| on.map_or(CompletionTime::Sometime, CompletionTime::On)),
        created_at: made.and_then(|day| on_wall(day.into(), now.time_zone())),
    })
}

/// Removes the first word if it is a wanted one and more text follows.
fn take<T>(rest: &mut &str, wanted: impl Fn(&str) -> Option<T>) -> Option<T> {
    let (word, after) = rest.split_once(' ')?;
    let found = wanted(word)?;
    *rest = after;
    Some(found)
}

fn in_brackets(word: &str) -> Option<i64> {
    let letter = word.strip_prefix('(')?.strip_suffix(')')?;
    place(letter)
}

/// The position of a capital letter in the alphabet.
fn place(letter: &str) -> Option<i64> {
    match letter.as_bytes() {
        [byte @ b'A'..=b'Z'] => Some(i64::from(byte - b'A') + 1),
        _ => None,
    }
}

fn number(value: &str) -> Result<i64, TodoTxtProblem> {
    let number = place(value).or_else(|| value.parse().ok());
    number.ok_or_else(|| (FileProblemKind::BadPriority, value.to_owned()))
}

fn date(word: &str) -> Option<Date> {
    let is_date = word.len() == 10 && word.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    word.parse().ok().filter(|_| is_date)
}

/// The moment of a date with or without a time; `day` says what a day alone means.
fn instant(
    value: &str,
    now: &Zoned,
    day: fn(Date, &Zoned) -> Option<UtcMs>,
) -> Result<UtcMs, TodoTxtProblem> {
    let at = match (date(value), value.contains('T')) {
        (Some(date), _) => day(date, now),
        (None, true) => {
            let exact = value.parse::<Timestamp>().ok().map(|at| at.as_millisecond());
            let wall = || on_wall(value.parse().ok()?, now.time_zone());
            exact.or_else(wall)
        }
        (None, false) => None,
    };
    at.ok_or_else(|| (FileProblemKind::BadDate, value.to_owned()))
}

/// When to remind of a day.
fn morning(date: Date, now: &Zoned) -> Option<UtcMs> {
    on_wall(date.at(9, 0, 0, 0), now.time_zone())
}

fn unescaped(words: &[&str]) -> String {
    let word = |word: &&str| match word.strip_prefix('\\') {
        Some(rest) if needs_escape(rest) => rest.to_owned(),
        _ => (*word).to_owned(),
    };
    let lines = words.split(|word| *word == BREAK);
    let lines = lines.map(|words| words.iter().map(word).collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "todo_txt_tests.rs"]
pub(super) mod tests;
