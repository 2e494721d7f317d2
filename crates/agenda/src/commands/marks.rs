//! What is done to several todos or to a reminder: numbers and ranges, filters, snoozing, undoing,
//! and the tags in a text.

use super::options::{self, DayMeans, moment};
use super::todo::{TodoCommand, TodoMark, filtered};
use super::words::{CommandWords, plain};
use super::{CommandError, TodoFilter};
use crate::time::ahead;
use everloop_text::{self as text, Text};
use jiff::{Timestamp, ToSpan, Zoned};

/// Numbers of one range, and of one command.
const NUMBERS_MAX: i64 = 1_000;

/// Changes that are undone at once.
const UNDO_MAX: u32 = 20;

/// How long a reminder is put off if nothing is said.
const SNOOZE_MINUTES: i64 = 10;

/// A mark for the todos of these numbers, or for those that a filter selects.
pub(super) fn mark(
    words: CommandWords,
    usage: fn() -> Text,
    mark: TodoMark,
) -> Result<TodoCommand, CommandError> {
    if !words.has_option() {
        return numbers(words, usage).map(|ids| TodoCommand::Mark(mark, ids));
    }
    let (text, filter, view) = filtered(words, usage)?;
    if !text.is_empty() || (filter == TodoFilter::default() && view.is_none()) {
        return Err(CommandError::Usage(usage()));
    }
    Ok(TodoCommand::MarkAll(mark, view.unwrap_or_default(), filter))
}

/// One number or several, with spaces or commas between them; `5-7` is a range.
pub(super) fn numbers(
    mut words: CommandWords,
    usage: fn() -> Text,
) -> Result<Vec<i64>, CommandError> {
    let mut all = Vec::new();
    while !words.is_empty() {
        for part in words.next().unwrap_or_default().split([',', '，', '、']) {
            all.extend(range(part).ok_or(CommandError::Usage(usage()))?);
        }
    }
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    if all.is_empty() || count > NUMBERS_MAX { Err(CommandError::Usage(usage())) } else { Ok(all) }
}

fn range(part: &str) -> Option<std::ops::RangeInclusive<i64>> {
    let part = plain(part);
    let bounds = part.split_once(['-', '~', '–']).filter(|(first, _)| !first.is_empty());
    let (first, last) = bounds.unwrap_or((&part, &part));
    let (first, last) = (number_of(first)?, number_of(last)?);
    (first <= last && last - first < NUMBERS_MAX).then_some(first..=last)
}

pub(super) fn number_of(word: &str) -> Option<i64> {
    plain(word).trim_start_matches('#').parse().ok()
}

/// `/snooze [ID] [10m | a moment]`.
pub(super) fn snooze(mut words: CommandWords, now: &Zoned) -> Result<TodoCommand, CommandError> {
    let usage = text::usage::snooze;
    let id = number_of(&words.peek(1));
    if id.is_some() {
        words.skip(1);
    }
    let text = words.rest();
    if text.trim().is_empty() {
        let later = now.checked_add(SNOOZE_MINUTES.minutes());
        let at = later.map_err(|_| CommandError::Usage(usage()))?.timestamp();
        return Ok(TodoCommand::Snooze(id, at));
    }
    // How to write a date is not all that is wanted: an amount such as 10m is usual here.
    let until = until(&text, now).map_err(|wrong| match wrong {
        CommandError::NotADate(_) => CommandError::Usage(usage()),
        other => other,
    });
    until.map(|at| TodoCommand::Snooze(id, at))
}

fn until(text: &str, now: &Zoned) -> Result<Timestamp, CommandError> {
    let wrong = || CommandError::NotADate(text.to_owned());
    let at = match ahead::amount(text) {
        Some(amount) => amount.after(now).map(|at| at.timestamp()),
        None => moment(&options::date(text, now)?, now, DayMeans::Morning),
    };
    match at.ok_or_else(wrong)? {
        at if at <= now.timestamp() => Err(CommandError::Past(text.to_owned())),
        at => Ok(at),
    }
}

/// `/todo undo [COUNT]`.
pub(super) fn undo(mut words: CommandWords) -> Result<TodoCommand, CommandError> {
    let usage = || CommandError::Usage(text::usage::todo::undo());
    if words.is_empty() {
        return Ok(TodoCommand::Undo(1));
    }
    let count = words.next().and_then(|word| plain(&word).parse::<u32>().ok());
    match count {
        Some(count @ 1..=UNDO_MAX) if words.is_empty() => Ok(TodoCommand::Undo(count)),
        _ => Err(usage()),
    }
}

/// Takes the tags out of a text: words such as `#home`. A number, as in `#12`, is no tag.
pub(super) fn take_tags(text: &str) -> (String, Vec<String>) {
    let mut tags = Vec::new();
    let mut rest = Vec::new();
    for word in text.split(' ') {
        match tag(word) {
            Some(tag) => tags.push(tag.to_owned()),
            None => rest.push(word),
        }
    }
    if tags.is_empty() { (text.to_owned(), tags) } else { (rest.join(" ").trim().to_owned(), tags) }
}

fn tag(word: &str) -> Option<&str> {
    let name = word.strip_prefix(['#', '＃'])?;
    let is_part = |c: char| c.is_alphanumeric() || "-_/".contains(c);
    let is_tag = name.starts_with(char::is_alphabetic) && name.chars().all(is_part);
    is_tag.then_some(name)
}

/// The values of `--tag`: one, or several with commas between them.
pub(super) fn listed_tags(value: &str) -> Vec<String> {
    let parts = value.split([',', '，', '、']).map(|part| part.trim().trim_start_matches('#'));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Adds tags that are not there yet.
pub(crate) fn add_tags(tags: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for tag in more {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
}
