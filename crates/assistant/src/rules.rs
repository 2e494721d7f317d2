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
    question(sentence)
        .or_else(|| schedule_question(sentence, now))
        .or_else(|| numbered(sentence, words::DONE).map(|id| format!("/todo done {id}")))
        .or_else(|| numbered(sentence, words::DELETE).map(|id| format!("/todo delete {id}")))
        .or_else(|| search(sentence))
        .or_else(|| addition(sentence, now))
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

fn question(sentence: &str) -> Option<String> {
    let asked = plain_question(sentence);
    let found = words::QUESTIONS.iter().find(|(words, _)| *words == asked);
    found.map(|(_, command)| (*command).to_owned())
}

/// Small letters, one space between words, no question mark.
fn plain_question(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches(['?', '？', ' ']).replace('’', "'");
    let words: Vec<&str> = sentence.split_whitespace().collect();
    words.join(" ").to_ascii_lowercase()
}

/// What is on, on a day, in this week or in this month.
fn schedule_question(sentence: &str, now: &Zoned) -> Option<String> {
    let asked = plain_question(sentence);
    let before = after_any(&asked, words::ASK_BEFORE);
    let rest = before.unwrap_or(&asked);
    let head = &asked[..asked.len() - rest.len()];
    let asks_alone = words::ASKS_ALONE.iter().any(|word| head.starts_with(word));
    let middle = before_any(rest, words::ASK_AFTER).or(asks_alone.then_some(rest))?;
    if let Some((_, span)) = words::SPANS.iter().find(|(words, _)| *words == middle) {
        return Some(format!("/schedule view {span}"));
    }
    let middle = middle.strip_suffix("'s").unwrap_or(middle);
    let when = dates::parse(middle, now)?;
    if when.precision != Precision::Day || when.repeat.is_some() {
        return None;
    }
    let day = when.at.date();
    Some(match day == now.date() {
        true => "/schedule view day".to_owned(),
        false => format!("/schedule view day {day}"),
    })
}

/// The number between two pieces of a sentence.
fn numbered(sentence: &str, pairs: &[(&str, &str)]) -> Option<u64> {
    let numbers = pairs.iter().filter_map(|(head, tail)| {
        let rest = if head.is_empty() { sentence } else { after_any(sentence, &[head])? };
        let rest = if tail.is_empty() { rest } else { before_any(rest, &[tail])? };
        let digits = rest.trim().strip_prefix('#').unwrap_or(rest.trim());
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    });
    numbers.into_iter().next()
}

fn search(sentence: &str) -> Option<String> {
    let word = after_any(sentence, words::SEARCH)?.trim_start_matches([':', '：', ' ']);
    (!word.is_empty() && !is_question(word)).then(|| format!("/todo search {word}"))
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
    let (kind, rest) = kind(sentence);
    let Some((when, range)) = dates::find(rest, now) else {
        let is_clear = kind == Kind::Todo || after_any(sentence, words::CLEAR_REMIND).is_some();
        return title(rest).filter(|_| is_clear).map(|text| format!("/todo add {text}"));
    };
    let (before, after) = (rest[..range.start].trim(), rest[range.end..].trim());
    let phrase = &rest[range];
    let (is_deadline, after) = deadline(phrase, after);
    let (kind, text) = kind_and_text(kind, before, after)?;
    let text = title(&text)?;
    let is_entry = kind != Kind::Unsaid || is_event(text) || has_clock(phrase, &when);
    let starts_oddly = kind == Kind::Unsaid && after_any(text, words::ASKING_STARTS).is_some();
    if !is_entry || starts_oddly || when.at.date() < now.date() {
        return None;
    }
    let kind = if kind == Kind::Unsaid && is_deadline { Kind::Todo } else { kind };
    command(kind, text, phrase, when, now)
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
