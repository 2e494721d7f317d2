//! Common todo and schedule sentences as the commands they mean, without a model.
//!
//! ```text
//!   sentence ──► question? number? search? ──► command
//!            └─► marker and date taken out ──► text ──► /todo add or /schedule add
//! ```
//!
//! Dates in the command are absolute, so that the user can check them before confirming.
//! A day without a time is due at 23:59 and reminds at 09:00, or at the next of a few usual hours
//! if that is over. A repeating reminder is a schedule entry without a length, because todos do not
//! repeat. An ambiguous sentence gives `None` and goes to the model. A sentence that is clearly a
//! command and has an unclear or past date is refused with the reason.

mod questions;
mod words;

use jiff::civil::{DateTime, time};
use jiff::{ToSpan, Zoned};

use crate::commands::{self, CommandError};
use crate::time::texts::{self, UnclearPhrase};
use crate::time::{ParsedDate, ParsedText, Precision, Repeat, TextSubject, ahead, dates};

const LONGEST_SENTENCE: usize = 400;

/// The command line that a sentence means, if a rule matches, or the error in its date.
#[must_use]
pub fn understand(sentence: &str, now: &Zoned) -> Option<Result<String, CommandError>> {
    let sentence = polished(sentence);
    if sentence.is_empty() || sentence.len() > LONGEST_SENTENCE || cannot_be_text(sentence) {
        return None;
    }
    if let Some(answer) = questions::answer(sentence, now) {
        return Some(Ok(answer));
    }
    let line = addition(sentence, now)?;
    let command = line.and_then(|line| commands::parse(&line, now));
    Some(command.map(|command| commands::canonical(&command, now)))
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

/// The text would be parsed as parts of a command.
fn cannot_be_text(sentence: &str) -> bool {
    sentence.starts_with('/')
        || sentence.contains(['\n', '"', '。', '\\'])
        || sentence.split_whitespace().any(|word| word.starts_with("--"))
}

/// The text after the longest of these words at the start. Latin words end at a word boundary.
fn after_any<'a>(text: &'a str, list: &[&str]) -> Option<&'a str> {
    let fits = |word: &&&str| {
        let Some((head, tail)) = text.split_at_checked(word.len()) else { return false };
        head.eq_ignore_ascii_case(word) && !(ends_latin(head) && starts_latin(tail))
    };
    let word = list.iter().filter(fits).max_by_key(|word| word.len())?;
    Some(text[word.len()..].trim_start())
}

/// The text before the longest of these words at the end.
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

/// The kind of item that a sentence asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestedKind {
    Reminder,
    Todo,
    Schedule,
    /// Not said; the time decides.
    Unsaid,
}

fn addition(sentence: &str, now: &Zoned) -> Option<Result<String, CommandError>> {
    if is_question(sentence) {
        return None;
    }
    let sentence = before_any(sentence, words::CALENDAR_ENDS).unwrap_or(sentence);
    let said_otherwise = in_rule_words(sentence);
    let sentence = said_otherwise.as_deref().unwrap_or(sentence);
    if let Some(line) = with_own_date(sentence, now) {
        return Some(line);
    }
    // "remind me 10 minutes before my meeting": the words for asking belong to the clause.
    let clause = ahead::taken(sentence).filter(|(_, rest)| dates::leading(rest, now).is_none());
    let sentence = clause.as_ref().map_or(sentence, |(_, rest)| rest.as_str());
    let (said, rest) = kind(sentence);
    let about = if said == RequestedKind::Todo { TextSubject::Todo } else { TextSubject::Entry };
    let read = match texts::read(rest, now, about) {
        Ok(read) => {
            ParsedText { ahead: clause.as_ref().map(|(ahead, _)| *ahead).or(read.ahead), ..read }
        }
        Err(UnclearPhrase(piece)) => return unclear_request(rest, piece, said, now),
    };
    let Some(when) = &read.when else { return undated(sentence, said, &read) };
    let (kind, text) = match said {
        RequestedKind::Unsaid => kind(without_statement(&read.title)),
        said => (said, read.title.as_str()),
    };
    // A todo has no length, so the words for it stay in the text.
    let is_todo =
        matches!(kind, RequestedKind::Reminder | RequestedKind::Todo) && when.repeat.is_none();
    let again = texts::read(rest, now, TextSubject::Todo)
        .ok()
        .filter(|again| is_todo && again.when.is_some());
    let text = match (&again, said) {
        (Some(again), RequestedKind::Unsaid) => self::kind(without_statement(&again.title)).1,
        (Some(again), _) => again.title.as_str(),
        (None, _) => text,
    };
    // "半小时后叫我" has no other text.
    let is_bare = kind == RequestedKind::Reminder && when.precision == Precision::Minute;
    let text = title(text).or(is_bare.then_some(sentence_end(sentence)))?;
    let kind = match kind {
        RequestedKind::Unsaid if when.is_deadline => RequestedKind::Todo,
        RequestedKind::Unsaid if read.ahead.is_some() && when.precision == Precision::Minute => {
            RequestedKind::Schedule
        }
        kind => kind,
    };
    let is_sure = matches!(kind, RequestedKind::Reminder | RequestedKind::Todo);
    let is_entry = kind == RequestedKind::Schedule || is_event(text) || read.is_exact;
    if !is_sure && (!is_entry || is_doubtful(kind, text)) {
        return None;
    }
    // A date with its year is kept as it is, but there is no reminder of the past.
    if when.is_past(now) && !(when.is_full && kind != RequestedKind::Reminder) {
        return Some(Err(CommandError::Past(read.phrase.clone())));
    }
    Some(command(kind, text, &read, when, now))
}

/// The words for asking that a sentence without another text ends with.
fn sentence_end(sentence: &str) -> &str {
    let found = words::BARE_REMIND.iter().find(|word| sentence.ends_with(**word));
    let usual = if sentence.is_ascii() { words::BARE_REMIND[2] } else { words::BARE_REMIND[0] };
    found.copied().unwrap_or(usual)
}

/// An error for a sentence that is a request with an unclear date; otherwise nothing, and the
/// sentence goes to the model.
fn unclear_request(
    rest: &str,
    piece: String,
    said: RequestedKind,
    now: &Zoned,
) -> Option<Result<String, CommandError>> {
    let is_meant = said != RequestedKind::Unsaid || asks(rest) || is_event(rest);
    let has_date = texts::read(rest, now, TextSubject::Todo) != Ok(whole(rest));
    let is_asked = has_date || said == RequestedKind::Reminder || asks(rest);
    let is_ours = is_meant && is_asked && !changes(rest);
    is_ours.then(|| Err(CommandError::unclear(rest, piece)))
}

/// A reminder on one day of something on another: "remind me on Friday of the dentist on Monday".
fn with_own_date(sentence: &str, now: &Zoned) -> Option<Result<String, CommandError>> {
    let begins =
        |text| dates::leading(text, now).map(|(when, end)| (when, text[end..].trim_start()));
    let (when, rest) = match after_any(sentence, words::REMIND) {
        Some(rest) => {
            let (when, rest) = begins(rest)?;
            (when, after_any(rest, words::ABOUT)?)
        }
        None => {
            let (when, rest) = begins(sentence)?;
            (when, after_any(rest, words::REMIND)?)
        }
    };
    let read = behind(rest, reminder(&when, now), now)?;
    let due = read.when.as_ref().filter(|due| **due != when)?;
    // A time of day alone belongs to the other day.
    let is_day = |when: &ParsedDate| when.repeat.is_none() && when.clock.is_none();
    let text = title(&read.title).filter(|_| is_day(&when) && is_day(due) && !when.is_deadline)?;
    if when.is_past(now) || due.is_past(now) {
        let over = if due.is_past(now) { read.phrase.clone() } else { sentence.to_owned() };
        return Some(Err(CommandError::Past(over)));
    }
    let (due, remind) = (written(due, end_of(due)), written(&when, reminder(&when, now)));
    Some(Ok(format!("/todo add {text} --due \"{due}\" --remind \"{remind}\"")))
}

/// The parsed text. A weekday is the next one after the reminder.
fn behind(text: &str, remind: DateTime, now: &Zoned) -> Option<ParsedText> {
    let read = texts::read(text, now, TextSubject::Todo).ok()?;
    let due = end_of(read.when.as_ref()?);
    if due >= remind {
        return Some(read);
    }
    let then = remind.to_zoned(now.time_zone().clone()).ok()?;
    let again = texts::read(text, &then, TextSubject::Todo).ok()?;
    let is_same = |when: &ParsedDate| {
        let later = end_of(when);
        later > due && (later.weekday(), later.time()) == (due.weekday(), due.time())
    };
    if again.when.as_ref().is_some_and(is_same) { Some(again) } else { Some(read) }
}

/// When something is due: at its time, or at the end of its day.
fn end_of(when: &ParsedDate) -> DateTime {
    match when.precision {
        Precision::Day => when.at.date().to_datetime(time(23, 59, 0, 0)),
        Precision::Part | Precision::Minute => when.at,
    }
}

/// A sentence without a date is a todo if it is clearly one.
fn undated(
    sentence: &str,
    said: RequestedKind,
    read: &ParsedText,
) -> Option<Result<String, CommandError>> {
    let is_clear =
        said == RequestedKind::Todo || after_any(sentence, words::CLEAR_REMIND).is_some();
    if read.ahead.is_some() && is_clear {
        return Some(Err(CommandError::ReminderNeedsDue));
    }
    let text = title(&read.title).filter(|_| is_clear)?;
    // Nothing was said about when, so nothing can remind.
    let never = if said == RequestedKind::Reminder { " --remind none" } else { "" };
    Some(Ok(format!("/todo add {text} --due none{never}")))
}

fn whole(text: &str) -> ParsedText {
    ParsedText {
        title: text.trim().to_owned(),
        when: None,
        phrase: String::new(),
        ahead: None,
        is_exact: false,
    }
}

/// Whether a reminder is asked for somewhere in the sentence.
fn asks(sentence: &str) -> bool {
    words::CLEAR_REMIND.iter().any(|word| !word.is_ascii() && sentence.contains(word))
}

/// The same sentence in the words of the rules.
fn in_rule_words(sentence: &str) -> Option<String> {
    if let Some(rest) = after_any(sentence, words::WAKE) {
        return Some(format!("remind me to wake up {rest}"));
    }
    let alarm = words::ALARMS.iter().find_map(|(words, name)| {
        Some(format!("remind me to {name} {}", after_any(sentence, &[words])?))
    });
    if alarm.is_some() {
        return alarm;
    }
    let text = after_any(before_any(sentence, words::TODO_ENDS)?, words::PUTS)?;
    Some(format!("add todo {text}"))
}

/// Whether a text is about something else, such as a change or a thought.
fn is_doubtful(kind: RequestedKind, text: &str) -> bool {
    let starts_oddly =
        kind == RequestedKind::Unsaid && after_any(text, words::ASKING_STARTS).is_some();
    let is_told =
        kind == RequestedKind::Unsaid && words::TOLD_OF.iter().any(|word| text.contains(word));
    starts_oddly || is_told || changes(text)
}

fn changes(text: &str) -> bool {
    after_any(text, words::CHANGES).is_some()
        || words::CHANGES.iter().any(|word| !word.is_ascii() && text.contains(word))
}

fn kind(sentence: &str) -> (RequestedKind, &str) {
    let kinds = [
        (words::REMIND, RequestedKind::Reminder),
        (words::TODO, RequestedKind::Todo),
        (words::SCHEDULE, RequestedKind::Schedule),
    ];
    let found = kinds
        .into_iter()
        .filter_map(|(list, kind)| after_any(sentence, list).map(|rest| (kind, rest)));
    // The longest marker counts: a reminder word may begin with another one.
    found
        .min_by_key(|(_, rest)| rest.len())
        .unwrap_or((RequestedKind::Unsaid, without_statement(sentence)))
}

/// The sentence without the words that state an entry as a fact.
fn without_statement(sentence: &str) -> &str {
    after_any(sentence, words::TOLD).unwrap_or(sentence)
}

/// The text of an entry without the words around its date; `None` if nothing is left.
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

fn command(
    kind: RequestedKind,
    text: &str,
    read: &ParsedText,
    when: &ParsedDate,
    now: &Zoned,
) -> Result<String, CommandError> {
    let is_exact = when.precision == Precision::Minute;
    let ahead = read.ahead.map(|ahead| format!(" --remind \"{}\"", ahead.to_option()));
    let ahead = ahead.unwrap_or_default();
    if let Some(repeat) = &when.repeat {
        let nine = when.at.date().to_datetime(time(9, 0, 0, 0));
        let first = if is_exact { written(when, when.at) } else { written(when, nine) };
        // What comes again within the hour is a moment: an entry would overlap itself.
        let is_often = matches!(repeat, Repeat::Minutes { every: ..=60 }) && when.minutes.is_none();
        let kind = if is_often { RequestedKind::Reminder } else { kind };
        let mut options = match kind {
            RequestedKind::Reminder if ahead.is_empty() => {
                " --duration 0 --remind \"on time\"".to_owned()
            }
            RequestedKind::Reminder => format!(" --duration 0{ahead}"),
            _ => ahead,
        };
        if let Some(minutes) = when.minutes.filter(|_| kind != RequestedKind::Reminder) {
            options.push_str(&format!(" --duration {minutes}"));
        }
        options.push_str(&format!(" --repeat {}", repeat.to_option()));
        if let Some(times) = when.times {
            options.push_str(&format!(" --times {times}"));
        }
        return Ok(format!("/schedule add {first} {}{options}", quoted_title(text)));
    }
    let due = written(when, end_of(when));
    Ok(match kind {
        RequestedKind::Reminder if !ahead.is_empty() => {
            format!("/todo add {text} --due \"{due}\"{ahead}")
        }
        RequestedKind::Reminder if is_exact => {
            format!("/todo add {text} --due \"{due}\" --remind \"{due}\"")
        }
        RequestedKind::Reminder => {
            let remind = reminder(when, now);
            format!("/todo add {text} --due \"{due}\" --remind \"{}\"", written(when, remind))
        }
        RequestedKind::Schedule | RequestedKind::Unsaid if is_exact => {
            let minutes = when.minutes.map(|minutes| format!(" --duration {minutes}"));
            let minutes = minutes.unwrap_or_default();
            format!("/schedule add {due} {}{ahead}{minutes}", quoted_title(text))
        }
        RequestedKind::Schedule if read.is_exact => {
            return Err(CommandError::NoTime(read.phrase.clone()));
        }
        _ => format!("/todo add {text} --due \"{due}\"{ahead}"),
    })
}

/// With seconds if the moment is relative to now.
fn written(when: &ParsedDate, at: DateTime) -> String {
    let form = match when.instant {
        Some(_) if at.second() != 0 => "%Y-%m-%d %H:%M:%S",
        _ => "%Y-%m-%d %H:%M",
    };
    at.strftime(form).to_string()
}

/// Quotes a title that looks like a date.
fn quoted_title(text: &str) -> String {
    let looks_like = words::DATE_MARKS.iter().any(|mark| text.contains(mark));
    if looks_like && !text.contains('"') { format!("\"{text}\"") } else { text.to_owned() }
}

/// The reminder of something without a time: soon, if its part of the day has begun.
pub(crate) fn reminder(when: &ParsedDate, now: &Zoned) -> DateTime {
    let soon = now.datetime().checked_add(30.minutes()).unwrap_or(when.at);
    match when.precision {
        Precision::Minute => when.at,
        Precision::Part => soon.round(jiff::Unit::Minute).unwrap_or(soon).min(when.at),
        Precision::Day => morning_or_later(when.at, now),
    }
}

/// Nine in the morning of a day, or the next usual hour of today, or half an hour from now.
fn morning_or_later(day: DateTime, now: &Zoned) -> DateTime {
    let wall = now.datetime();
    let hours = [9, 14, 18, 21].map(|hour| day.date().to_datetime(time(hour, 0, 0, 0)));
    let next = hours.into_iter().find(|at| *at > wall);
    let soon = wall.checked_add(30.minutes()).unwrap_or(wall);
    let last = day.date().to_datetime(time(23, 59, 0, 0));
    next.unwrap_or_else(|| soon.min(last).round(jiff::Unit::Minute).unwrap_or(last))
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
