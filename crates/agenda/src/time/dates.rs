//! A small grammar for dates, times, offsets, weekdays and repetitions in Chinese and English.
//!
//! A phrase is a row of pieces in any order: a day, a time or a span of time, a repetition, where
//! it begins and ends, whether it is a deadline. What the pieces mean together is in `meaning`.
//!
//! Where a phrase can mean several things:
//!
//! - A bare weekday is the next one after today; it is today only if a time still ahead is said.
//! - The "next" Monday is in the next calendar week; weeks begin on Monday. So is the Chinese one,
//!   and the Chinese "this Friday" is in this calendar week even if it is over, while the English
//!   one is the coming Friday. A named week without a day is its Monday, a month its first day.
//! - The weekend is its Saturday; on a Sunday, this weekend is today. The end of the week is its
//!   Friday, and on a weekend its Sunday.
//! - A date without a year, or a day without a month, is the next one, today included.
//! - `HH:MM` is one of 24 hours as written. An hour of 1 to 11 without a part of the day, bare or
//!   as `H:MM`, is the next such hour on a clock's dial when it is said alone or with today; on any
//!   other day and in repetitions 1 to 6 are in the afternoon, 7 to 12 as they are. By day and in
//!   the evening it never means the small hours.
//! - An event of the evening or the morning, such as dinner, decides the half of the day.
//! - A time alone is today if it is still ahead, else tomorrow.
//! - Midnight, and 12 in the evening, end the day they are said with; hours 1 to 4 of an evening
//!   belong to the night that follows it.
//! - A part of the day alone is its usual hour: morning 08:00 (forenoon 09:00), noon 12:00,
//!   afternoon 15:00, dusk 18:00, evening and tonight 20:00, late 23:00, small hours 00:00, close
//!   of business 17:00, end of day 23:59.
//! - A part of today whose usual hour is over, but which is not, is the time up to its end:
//!   tonight, said at ten, is up to 23:59.
//! - Every so many minutes begins one interval from now; other repetitions begin with the first
//!   fitting day from today on whose time is still ahead. The Chinese "gap of one" day, week,
//!   month or year is every second one, one of two days every third day, and so on; a gap of
//!   hours, or of several weeks or months, is the interval itself.
//! - Before a day, in English, is up to the day before it; so is the Chinese one of a holiday. The
//!   Chinese one of a weekday or a date includes it, as people use it.
//!
//! Invalid dates and times (25:00, February 30) are refused, never adjusted.

use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};

use super::meaning::{self, PhraseParts, RepeatLimit};
use super::repeat::Repeat;
use super::scan::{Readings, Scan};
use super::{clock, days, every, guard, offsets, words};

/// The meaning of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedDate {
    /// The wall time; of a repetition, its first.
    pub at: DateTime,
    /// Whether the phrase has a time of day.
    pub precision: Precision,
    /// The moment of an elapsed offset ("in 2 hours"), exact even in an hour that comes twice.
    pub instant: Option<Timestamp>,
    /// How it repeats, if it does.
    pub repeat: Option<Repeat>,
    /// How often it takes place, if an end was said.
    pub times: Option<u32>,
    /// How many minutes a span of time takes.
    pub minutes: Option<i64>,
    /// The minute of the day, if a time of day is all that was said.
    pub clock: Option<i64>,
    /// Whether that minute may also be in the other half of the day: "at 8".
    pub is_open: bool,
    /// Whether it is the end of something: "by Friday".
    pub is_deadline: bool,
    /// Whether the year was said: then a moment that is over is meant as it is.
    pub is_full: bool,
}

/// How exact a phrase was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// No time of day was said; it is then 00:00.
    Day,
    /// A part of today that has begun was said, and no time; it is then the end of that part.
    Part,
    /// A time of day was said.
    Minute,
}

impl ParsedDate {
    /// Whether the moment is over; a day is over with its last minute.
    #[must_use]
    pub fn is_past(&self, now: &Zoned) -> bool {
        match (self.instant, self.precision) {
            (Some(instant), _) => instant < now.timestamp(),
            (None, Precision::Day) => self.at.date() < now.date(),
            (None, Precision::Part | Precision::Minute) => self.at <= now.datetime(),
        }
    }
}

/// A phrase in a text.
#[derive(Debug, Clone)]
pub(super) struct DateMatch {
    pub(super) when: ParsedDate,
    pub(super) pieces: PhraseParts,
}

/// Parses a text that is one date phrase.
#[must_use]
pub fn parse(text: &str, now: &Zoned) -> Option<ParsedDate> {
    whole(text, now).map(|phrase| phrase.when)
}

/// The phrase that a text is.
pub(super) fn whole(text: &str, now: &Zoned) -> Option<DateMatch> {
    let scan = Scan::new(text.trim());
    let whole = readings(&scan, 0, now).into_iter().filter(|(_, end)| *end == scan.len());
    whole.min_by_key(|(phrase, _)| phrase.pieces.count()).map(|(phrase, _)| phrase)
}

/// The longest date phrase a text begins with, of the fewest pieces, and its length in bytes.
#[must_use]
pub fn leading(text: &str, now: &Zoned) -> Option<(ParsedDate, usize)> {
    let scan = Scan::new(text);
    let start = scan.skip_spaces(0);
    let (phrase, end) = longest(&scan, start, now)?;
    Some((phrase.when, scan.offset(end)))
}

pub(super) fn longest(scan: &Scan, at: usize, now: &Zoned) -> Option<(DateMatch, usize)> {
    let mut best: Option<(DateMatch, usize)> = None;
    for (phrase, end) in readings(scan, at, now) {
        let rank = |phrase: &DateMatch, end: usize| (end, usize::MAX - phrase.pieces.count());
        let mine = rank(&phrase, end);
        let is_longer = best.as_ref().is_none_or(|(other, end)| rank(other, *end) < mine);
        if is_longer && may_end(scan, end) {
            best = Some((phrase, end));
        }
    }
    best
}

/// Whether a phrase may begin here: not inside a word or a number.
pub(super) fn may_start(scan: &Scan, at: usize) -> bool {
    let Some(c) = scan.get(at).filter(|c| !c.is_whitespace()) else { return false };
    let Some(before) = scan.before(at) else { return true };
    if words::is_number(c) && (words::is_number(before) || words::NO_NUMBER_AFTER.contains(before))
    {
        return false;
    }
    let is_latin = |c: char| c.is_ascii_alphanumeric();
    if before == '#' && c.is_ascii_digit() {
        return false;
    }
    let is_glued =
        before == '\'' || before == '_' || "-./".contains(before) && before_that_is_latin(scan, at);
    !(is_latin(c) && (is_latin(before) || is_glued))
}

fn before_that_is_latin(scan: &Scan, at: usize) -> bool {
    at >= 2 && scan.get(at - 2).is_some_and(|c| c.is_ascii_alphanumeric())
}

/// Whether a phrase may end here: not inside a word or a number.
fn may_end(scan: &Scan, end: usize) -> bool {
    let before = scan.before(end);
    let is_latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_latin(before) {
        return true;
    }
    let next_is_latin = is_latin(scan.get(end + 1));
    let is_glued = matches!(scan.get(end), Some(':' | '.' | '-' | '/' | '\'')) && next_is_latin;
    !is_latin(scan.get(end)) && !is_glued && scan.get(end) != Some('%')
}

/// Everything the text from here on can mean, with the end of each phrase.
pub(super) fn readings(scan: &Scan, at: usize, now: &Zoned) -> Readings<DateMatch> {
    let mut found = Vec::new();
    found.extend(instants(scan, scan.skip_spaces(at), now));
    let grammar = DateGrammar { scan, now };
    grammar.extend(&PhraseParts::default(), at, 0, &mut found);
    found
}

/// `2026-11-20T15:00Z`, `2026-11-20T15:00:30+08:00`, `2026-11-20 15:00:30`.
fn instants(scan: &Scan, at: usize, now: &Zoned) -> Option<(DateMatch, usize)> {
    let is_part = |c: char| c.is_ascii_digit() || "-:t.+z ".contains(c);
    let most = (at..scan.len()).take_while(|at| scan.get(*at).is_some_and(is_part)).count().min(35);
    (17..=most).rev().find_map(|length| {
        let text = scan.text(at, at + length).to_uppercase();
        let text = text.replacen(' ', "T", 1);
        let end = at + length;
        if let Ok(instant) = text.parse::<Timestamp>() {
            let at = now.time_zone().to_datetime(instant);
            let when = ParsedDate { instant: Some(instant), is_full: true, ..meaning::plain(at) };
            return Some((DateMatch { when, pieces: PhraseParts::default() }, end));
        }
        let wall = text.parse::<DateTime>().ok().filter(|_| text.matches(':').count() == 2)?;
        let when = ParsedDate { is_full: true, ..meaning::plain(wall) };
        Some((DateMatch { when, pieces: PhraseParts::default() }, end))
    })
}

/// The maximum number of pieces of a phrase.
const PIECES_MAX: usize = 6;

struct DateGrammar<'a> {
    scan: &'a Scan,
    now: &'a Zoned,
}

impl DateGrammar<'_> {
    /// Takes one more piece in every way that fits.
    fn extend(
        &self,
        so_far: &PhraseParts,
        at: usize,
        depth: usize,
        found: &mut Readings<DateMatch>,
    ) {
        if depth >= PIECES_MAX {
            return;
        }
        for (pieces, end) in self.next(so_far, at) {
            // "明天早上7点 每日站会": after a day, a repetition glued to a noun is its name.
            let is_name = so_far.day.is_some()
                && so_far.every.is_none()
                && pieces.every.is_some()
                && guard::is_repeat_of_noun(self.scan, end);
            if let Some(when) = meaning::of(&pieces, self.now).filter(|_| !is_name) {
                found.push((DateMatch { when, pieces: pieces.clone() }, end));
            }
            self.extend(&pieces, end, depth + 1, found);
        }
    }

    fn next(&self, so_far: &PhraseParts, at: usize) -> Readings<PhraseParts> {
        let (scan, now) = (self.scan, self.now);
        let is_first = *so_far == PhraseParts::default();
        let mut found = Vec::new();
        if is_first && let Some(end) = scan.any(at, words::DEADLINE_STARTS) {
            let is_exclusive = scan.any(at, words::BEFORE) == Some(end);
            found.push((PhraseParts { is_deadline: true, is_exclusive, ..so_far.clone() }, end));
        }
        let is_open = is_first || so_far.is_only_deadline();
        if is_open {
            found.extend(self.elapsed(so_far, at));
        }
        if so_far.elapsed.is_some() {
            found.extend(self.deadline_behind(so_far, at));
            return found;
        }
        let next = if is_open { at } else { scan.maybe(at, words::COMMA) };
        if so_far.day.is_none() {
            let days = days::days(
                scan,
                scan.maybe(next, if is_open { &[] } else { words::OF_OR_ON }),
                now,
            );
            for (day, end) in days {
                found.push((so_far.with_day(day), end));
                found.extend(self.part_behind(&so_far.with_day(day), end));
            }
        }
        if so_far.spoken.is_none() {
            let beside = match so_far.day.is_some() || so_far.every.is_some() {
                true => clock::TimeContext::Day,
                false => clock::TimeContext::Nothing,
            };
            let is_eve = so_far.day.is_some() && words::EVES.iter().any(|eve| scan.ends(at, eve));
            for (spoken, end) in clock::times(scan, next, beside) {
                let spoken = if is_eve { spoken.on_eve() } else { spoken };
                found.push((so_far.with_spoken(spoken), end));
            }
        }
        if so_far.every.is_none() {
            let repetitions = every::repetitions(scan, next).into_iter();
            found.extend(repetitions.map(|(every, end)| (so_far.with_every(every), end)));
        }
        found.extend(self.start(so_far, next));
        found.extend(self.limit(so_far, next));
        found.extend(self.deadline_behind(so_far, at));
        found
    }

    /// The part of the day after a day whose time came before: "at 7 Friday evening".
    fn part_behind(&self, so_far: &PhraseParts, at: usize) -> Option<(PhraseParts, usize)> {
        let spoken = so_far.spoken.filter(|spoken| spoken.part.is_none())?;
        so_far.day.filter(|day| day.part.is_none())?;
        let (part, end) = self.scan.word(at, words::DAY_PARTS)?;
        Some((so_far.with_spoken(clock::SpokenTime { part: Some(part), ..spoken }), end))
    }

    fn elapsed(&self, so_far: &PhraseParts, at: usize) -> Readings<PhraseParts> {
        let mut found = Vec::new();
        let is_other = words::is_word(self.scan, self.scan.skip_spaces(at), words::NO_DAYS);
        let now = self.scan.any(at, words::NOW).filter(|_| !is_other);
        found.extend(now.map(|end| (so_far.with_elapsed(offsets::Amount::default()), end)));
        let far = offsets::offsets(self.scan, at).into_iter();
        let within = offsets::within(self.scan, at).into_iter();
        for (amount, end) in far.filter(|(amount, _)| !amount.is_of_days()) {
            found.push((so_far.with_elapsed(amount), end));
        }
        for (amount, end) in within.filter(|(amount, _)| !amount.is_of_days()) {
            let pieces = so_far.with_elapsed(amount);
            found.push((PhraseParts { is_deadline: true, ..pieces }, end));
        }
        found
    }

    /// Where a repetition begins: "从明天起", "starting Monday".
    fn start(&self, so_far: &PhraseParts, at: usize) -> Readings<PhraseParts> {
        let (scan, now) = (self.scan, self.now);
        if so_far.start.is_some() {
            return Vec::new();
        }
        let said = scan.any(at, words::STARTING);
        let is_latin = said.is_some_and(|end| scan.text(at, end).trim().is_ascii());
        let mut found = Vec::new();
        for (day, end) in days::days(scan, said.unwrap_or(at), now) {
            let onwards = scan.any(end, words::ONWARDS);
            let end = match (onwards, is_latin) {
                (Some(end), _) => end,
                (None, true) => end,
                (None, false) => continue,
            };
            found.push((PhraseParts { start: Some(day), ..so_far.clone() }, end));
        }
        found
    }

    /// Where a repetition ends: "直到月底", "until Dec 1", "共5次", "for 2 weeks".
    fn limit(&self, so_far: &PhraseParts, at: usize) -> Readings<PhraseParts> {
        let scan = self.scan;
        if so_far.limit.is_some() || so_far.every.is_none() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut push =
            |limit, end| found.push((PhraseParts { limit: Some(limit), ..so_far.clone() }, end));
        if let Some(next) = scan.any(at, words::UNTIL) {
            for (day, end) in days::days(scan, next, self.now) {
                if let Some(date) = day.date(self.now.date()) {
                    push(RepeatLimit::Until(date), scan.maybe(end, words::UNTIL_ENDS));
                }
            }
        }
        let in_all = scan.any(at, words::IN_ALL);
        let next = in_all.unwrap_or(at);
        // "每天三次" is three times a day.
        let count = scan.number(next).filter(|(count, _)| *count > 0 && in_all.is_some());
        if let Some((count, end)) = count
            && let Some(end) = scan.any(end, words::TIMES)
        {
            push(RepeatLimit::Times(count), end);
        }
        if in_all.is_some() {
            for (amount, end) in offsets::amounts(scan, next) {
                if amount.is_of_days() {
                    push(RepeatLimit::For(amount), end);
                }
            }
        }
        found
    }

    fn deadline_behind(&self, so_far: &PhraseParts, at: usize) -> Option<(PhraseParts, usize)> {
        let is_said = so_far.day.is_some() || so_far.spoken.is_some() || so_far.elapsed.is_some();
        if so_far.is_deadline || !is_said || self.scan.any(at, words::NO_DEADLINES).is_some() {
            return None;
        }
        let end = self.scan.any(at, words::DEADLINE_ENDS)?;
        let is_holiday = so_far.day.is_some_and(|day| day.sort == days::DayKind::Holiday);
        let is_exclusive = is_holiday && self.scan.text(at, end).contains('前');
        Some((PhraseParts { is_deadline: true, is_exclusive, ..so_far.clone() }, end))
    }
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "dates_laws_tests.rs"]
mod laws;
