//! Common todo and schedule sentences as the commands they mean, without a model.
//!
//! ```text
//!   sentence ──► question? number? search? ──► command
//!            └─► marker and date taken out ──► text ──► /todo add or /schedule add
//! ```
//!
//! Dates in the command are absolute, so that a person sees what was understood before saying yes.
//! A day without a time is due at 23:59 and reminds at 09:00. What to be reminded of repeats as a
//! schedule entry, because todos do not repeat. In doubt the answer is `None`: chat stays chat.

mod lengths;
mod questions;
mod words;

use jiff::Zoned;
use jiff::civil::{DateTime, time};

use crate::time::dates::{self, Precision, When};

const LONGEST_SENTENCE: usize = 400;

/// The command line a sentence means, if the rules know it.
#[must_use]
pub fn understand(sentence: &str, now: &Zoned) -> Option<String> {
    let sentence = polished(sentence);
    if sentence.is_empty() || sentence.len() > LONGEST_SENTENCE || cannot_be_text(sentence) {
        return None;
    }
    questions::answer(sentence, now).or_else(|| addition(sentence, now))
}

/// Without politeness and closing marks. A question mark stays: only some rules take questions.
fn polished(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    loop {
        let before = rest;
        rest = rest.trim_matches(|c: char| c.is_whitespace() || "。.!！~～,，;；".contains(c));
        rest = after_any(rest, words::POLITE).unwrap_or(rest);
        rest = before_any(rest, words::POLITE_ENDS).unwrap_or(rest);
        if rest == before {
            return rest;
        }
    }
}

/// Commands have marks of their own, and these would be taken for them.
fn cannot_be_text(sentence: &str) -> bool {
    sentence.starts_with('/')
        || sentence.contains(['\n', '"', '。', '\\'])
        || sentence.split_whitespace().any(|word| word.starts_with("--"))
}

/// What follows the longest of these words at the start. Latin words end at a border.
fn after_any<'a>(text: &'a str, list: &[&str]) -> Option<&'a str> {
    let fits = |word: &&&str| {
        let Some((head, tail)) = text.split_at_checked(word.len()) else { return false };
        head.eq_ignore_ascii_case(word) && !(ends_latin(head) && starts_latin(tail))
    };
    let word = list.iter().filter(fits).max_by_key(|word| word.len())?;
    Some(text[word.len()..].trim_start())
}

/// What comes before the longest of these words at the end.
fn before_any<'a>(text: &'a str, list: &[&str]) -> Option<&'a str> {
    let fits = |word: &&&str| {
        let Some(at) = text.len().checked_sub(word.len()) else { return false };
        let Some((head, tail)) = text.split_at_checked(at) else { return false };
        tail.eq_ignore_ascii_case(word) && !(ends_latin(head) && starts_latin(tail))
    };
    let word = list.iter().filter(fits).max_by_key(|word| word.len())?;
    Some(text[..text.len() - word.len()].trim_end())
}

fn ends_latin(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

fn starts_latin(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// What kind of entry a sentence asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reminder,
    Todo,
    Schedule,
    /// Nothing said so; the time has to.
    Unsaid,
}

fn addition(sentence: &str, now: &Zoned) -> Option<String> {
    if is_question(sentence) {
        return None;
    }
    let sentence = before_any(sentence, words::CALENDAR_ENDS).unwrap_or(sentence);
    let said_otherwise = otherwise(sentence);
    let sentence = said_otherwise.as_deref().unwrap_or(sentence);
    let (kind, rest) = kind(sentence);
    let Some((when, range)) = dates::find(rest, now) else {
        let is_clear = kind == Kind::Todo || after_any(sentence, words::CLEAR_REMIND).is_some();
        return title(rest).filter(|_| is_clear).map(|text| format!("/todo add {text}"));
    };
    let (before, after) = (rest[..range.start].trim(), rest[range.end..].trim());
    let phrase = &rest[range];
    let (is_deadline, after) = deadline(phrase, after);
    let (duration, after) = duration(&when, after, now);
    let (kind, text) = kind_and_text(kind, before, after)?;
    let takes_time = matches!(kind, Kind::Schedule | Kind::Unsaid) && duration.is_none();
    let (length, text) = match takes_time && when.precision == Precision::Minute {
        true => lengths::taken_from(&text),
        false => (None, text.as_str()),
    };
    let (duration, text) = (duration.or(length), title(text)?);
    let kind = if kind == Kind::Unsaid && is_deadline { Kind::Todo } else { kind };
    let is_sure = matches!(kind, Kind::Reminder | Kind::Todo);
    let is_entry = kind == Kind::Schedule || is_event(text) || has_clock(phrase, &when);
    if !is_sure && (!is_entry || is_doubtful(kind, text, now)) || when.at.date() < now.date() {
        return None;
    }
    let command = command(kind, text, phrase, when, now)?;
    Some(match duration {
        Some(minutes) if command.starts_with("/schedule") => {
            format!("{command} --duration {minutes}")
        }
        _ => command,
    })
}

/// The same sentence by the words that the rules know.
fn otherwise(sentence: &str) -> Option<String> {
    if let Some(rest) = after_any(sentence, words::WAKE) {
        return Some(format!("remind me to wake up {rest}"));
    }
    let text = after_any(before_any(sentence, words::TODO_ENDS)?, words::PUTS)?;
    Some(format!("add todo {text}"))
}

/// Whether a text speaks of something else: another date, a change, a thought.
fn is_doubtful(kind: Kind, text: &str, now: &Zoned) -> bool {
    let starts_oddly = kind == Kind::Unsaid && after_any(text, words::ASKING_STARTS).is_some();
    let changes = after_any(text, words::CHANGES).is_some()
        || words::CHANGES.iter().any(|word| !word.is_ascii() && text.contains(word));
    starts_oddly || changes || dates::find(text, now).is_some()
}

/// "10:00 to 11:00": how many minutes, and what follows. The end is read as seen from the begin.
fn duration<'a>(when: &When, after: &'a str, now: &Zoned) -> (Option<i64>, &'a str) {
    let none = (None, after);
    let Some(rest) = after_any(after, words::UNTIL) else { return none };
    let Ok(begin) = when.at.to_zoned(now.time_zone().clone()) else { return none };
    let Some((end, taken)) = dates::leading(rest, &begin) else { return none };
    let minutes = when.at.duration_until(end.at).as_mins();
    let is_span = (1..24 * 60).contains(&minutes) && end.repeat.is_none();
    let is_exact = [when.precision, end.precision] == [Precision::Minute; 2];
    if is_span && is_exact { (Some(minutes), &rest[taken..]) } else { none }
}

/// Whether the date is the end of something, and what follows it.
fn deadline<'a>(phrase: &str, after: &'a str) -> (bool, &'a str) {
    let looks_alike = after_any(after, words::NO_DEADLINES).is_some();
    match after_any(after, words::DEADLINES).filter(|_| !looks_alike) {
        Some(rest) => (true, rest),
        None => (after_any(phrase, words::DEADLINE_STARTS).is_some(), after),
    }
}

/// The kind, which may be said behind the date, and the text around the date.
fn kind_and_text(said: Kind, before: &str, after: &str) -> Option<(Kind, String)> {
    let around = || between(title(before).unwrap_or_default(), title(after).unwrap_or_default());
    if said != Kind::Unsaid {
        return Some((said, around()));
    }
    if title(told(before)).is_none() {
        let (kind, text) = kind(after);
        return Some((kind, text.to_owned()));
    }
    let goes_on = after_any(after, words::PLACES).is_some() || !starts_latin(after);
    let is_one_entry = after.is_empty()
        || is_event(after) && goes_on
        || is_event(before) && after_any(after, words::PLACES).is_some();
    is_one_entry.then(|| (Kind::Unsaid, around()))
}

fn kind(sentence: &str) -> (Kind, &str) {
    let kinds = [
        (words::REMIND, Kind::Reminder),
        (words::TODO, Kind::Todo),
        (words::SCHEDULE, Kind::Schedule),
    ];
    let found = kinds
        .into_iter()
        .filter_map(|(list, kind)| after_any(sentence, list).map(|rest| (kind, rest)));
    // The marker that takes most is meant: a reminder word may begin with another one.
    found.min_by_key(|(_, rest)| rest.len()).unwrap_or((Kind::Unsaid, told(sentence)))
}

/// Without the words that tell an entry as a fact.
fn told(sentence: &str) -> &str {
    after_any(sentence, words::TOLD).unwrap_or(sentence)
}

fn between(before: &str, after: &str) -> String {
    match (before.is_empty(), after.is_empty()) {
        (false, false) if ends_latin(before) && starts_latin(after) => format!("{before} {after}"),
        _ => format!("{before}{after}"),
    }
}

/// The text of an entry without what tied it to its date; nothing if nothing is left.
fn title(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let before = rest;
        rest = rest.trim_matches(|c: char| c.is_whitespace() || ",，:：;；、".contains(c));
        rest = after_any(rest, words::TITLE_STARTS).unwrap_or(rest);
        rest = before_any(rest, words::TITLE_ENDS).unwrap_or(rest);
        if rest == before {
            return (!rest.is_empty()).then_some(rest);
        }
    }
}

fn is_question(sentence: &str) -> bool {
    sentence.ends_with(['?', '？']) || words::ASKING.iter().any(|word| sentence.contains(word))
}

fn is_event(text: &str) -> bool {
    after_any(text, words::EVENTS).is_some() || before_any(text, words::EVENTS).is_some()
}

fn has_clock(phrase: &str, when: &When) -> bool {
    let phrase = phrase.to_ascii_lowercase();
    let is_written = words::CLOCK_SIGNS.iter().any(|sign| phrase.contains(sign));
    when.precision == Precision::Minute && is_written
}

fn command(kind: Kind, text: &str, phrase: &str, when: When, now: &Zoned) -> Option<String> {
    let minute = |at: DateTime| at.strftime("%Y-%m-%d %H:%M").to_string();
    if let Some(repeat) = &when.repeat {
        let first = match when.precision {
            Precision::Minute => when.at,
            Precision::Day => dates::parse(&format!("{phrase} 09:00"), now)?.at,
        };
        let (first, repeat) = (minute(first), repeat.to_option());
        let remind = match kind {
            Kind::Reminder => format!(" --remind \"{first}\""),
            _ => String::new(),
        };
        return Some(format!("/schedule add {first} {text}{remind} --repeat {repeat}"));
    }
    let is_exact = when.precision == Precision::Minute;
    let due = if is_exact { when.at } else { when.at.date().to_datetime(time(23, 59, 0, 0)) };
    if due <= now.datetime() {
        return None;
    }
    let (due, nine) = (minute(due), when.at.date().to_datetime(time(9, 0, 0, 0)));
    Some(match kind {
        Kind::Reminder if is_exact => {
            format!("/todo add {text} --due \"{due}\" --remind \"{due}\"")
        }
        // Nine o'clock of today may be over; a reminder in the past would never be asked for.
        Kind::Reminder if nine > now.datetime() => {
            format!("/todo add {text} --due \"{due}\" --remind \"{}\"", minute(nine))
        }
        Kind::Schedule | Kind::Unsaid if is_exact => format!("/schedule add {due} {text}"),
        _ => format!("/todo add {text} --due \"{due}\""),
    })
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
