//! The date in a text: its position, the rest of the text, and unclear parts.
//!
//! A date is at the front or at the end, or in the middle if it cannot be an attribute. If the text
//! next to it is an unclear piece of a date, the whole text is refused with that piece. In
//! ambiguous cases there is no date, and the text stays as it is.

use jiff::Zoned;

use super::ahead::{self, LeadTime};
use super::dates::{self, DateMatch, ParsedDate, Precision, longest, may_start};
use super::days::{DayChoice, DayKind};
use super::guard;
use super::leftovers;
use super::limits;
use super::meaning;
use super::scan::Scan;
use super::titles::{half_of_day, is_border, is_end, is_opening, join, length};
use super::words;

/// A parsed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedText {
    /// The text without its date.
    pub title: String,
    /// Its date, if it has one.
    pub when: Option<ParsedDate>,
    /// The words of the date.
    pub phrase: String,
    /// The lead time of a reminder, if it has one.
    pub ahead: Option<LeadTime>,
    /// Whether the date has a clock time or a calendar date, not only a part of the day.
    pub is_exact: bool,
}

/// The piece of a text that was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnclearPhrase(pub String);

/// What a text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSubject {
    /// Something to do: a date is optional, and a length is part of the text.
    Todo,
    /// Something that takes place: it needs a time, and may say how long it takes.
    Entry,
}

/// Reads a text.
///
/// # Errors
/// With the piece of a date that was not understood.
pub fn read(text: &str, now: &Zoned, about: TextSubject) -> Result<ParsedText, UnclearPhrase> {
    let (ahead, rest) = match ahead::taken(text) {
        Some((ahead, rest)) => (Some(ahead), rest),
        None => (None, text.to_owned()),
    };
    let found = PhraseFinder { text: &rest, scan: Scan::new(&rest), now, about }.read()?;
    let left = found.when.as_ref().and_then(|when| leftovers::leftover(&found.title, when, about));
    match left {
        Some(piece) => Err(UnclearPhrase(piece)),
        None => Ok(ParsedText { ahead, ..found }),
    }
}

/// A time word at either end of a text that says no date: "下班后", "明后天", "国庆期间".
#[must_use]
pub fn unread_time(text: &str) -> Option<String> {
    let scan = Scan::new(text);
    let (from, to) = guard::unread_word(&scan)?;
    Some(text[scan.offset(from)..scan.offset(to)].trim().to_owned())
}

/// A date phrase and its position.
#[derive(Debug, Clone)]
pub(super) struct DatePhrase {
    phrase: DateMatch,
    pub(super) from: usize,
    pub(super) to: usize,
    place: PhrasePosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PhrasePosition {
    Front,
    Middle,
    End,
}

struct PhraseFinder<'a> {
    text: &'a str,
    scan: Scan,
    now: &'a Zoned,
    about: TextSubject,
}

impl PhraseFinder<'_> {
    fn read(&self) -> Result<ParsedText, UnclearPhrase> {
        let all = self.without_names(self.all());
        let is_named = |found: &DatePhrase| {
            found.phrase.pieces.day.is_some_and(|day| day.sort == DayKind::Holiday)
                && !found.phrase.pieces.is_deadline
                && found.phrase.pieces.spoken.is_none()
        };
        // A holiday after a day is a part of the text.
        let day = all.iter().find(|found| self.is_date(found));
        let has_day = day.is_some_and(|day| day.phrase.pieces.day.is_some() && !is_named(day));
        let first = day.map_or(0, |day| day.to);
        let is_about = |found: &DatePhrase| has_day && found.from >= first && is_named(found);
        let all: Vec<DatePhrase> = all.into_iter().filter(|found| !is_about(found)).collect();
        let taken: Vec<&DatePhrase> = all.iter().filter(|found| self.is_date(found)).collect();
        self.check_neighbours(&all)?;
        let front = taken.iter().find(|found| found.place == PhrasePosition::Front);
        let end = taken.iter().rev().find(|found| found.place == PhrasePosition::End);
        let middles: Vec<_> =
            taken.iter().filter(|found| found.place == PhrasePosition::Middle).collect();
        let middle = if middles.len() == 1 { middles.first().copied() } else { None };
        match (front, end, middle) {
            (Some(first), Some(second), _) => self.both(first, second),
            (Some(first), None, Some(second)) | (None, Some(first), Some(second))
                if self.joined(first, second).is_some() =>
            {
                match first.from < second.from {
                    true => self.both(first, second),
                    false => self.both(second, first),
                }
            }
            (Some(one), None, _) | (None, Some(one), _) | (None, None, Some(one)) => {
                self.check_others(one, &all)?;
                self.one(one)
            }
            (None, None, None) => self.none(&all),
        }
    }

    /// Without repetitions that are the name of something: "双周会" beside a date of its own.
    fn without_names(&self, all: Vec<DatePhrase>) -> Vec<DatePhrase> {
        let has_date = |found: &DatePhrase| {
            let is_on = |day: super::days::SpokenDay| matches!(day.which, DayChoice::On(_));
            found.phrase.pieces.day.is_some_and(is_on) && found.phrase.pieces.every.is_none()
        };
        let is_dated = all.iter().any(|found| has_date(found) && self.is_date(found));
        let is_name = |found: &DatePhrase| {
            let pieces = &found.phrase.pieces;
            let is_rule = pieces.every.is_some() && pieces.count() == 1;
            let is_behind = all.iter().any(|other| {
                let gap = self.scan.text(other.to.min(found.from), found.from);
                let is_apart = !gap.is_empty() && gap.trim().is_empty();
                other.to < found.from && other.phrase.pieces.day.is_some() && is_apart
            });
            // "每年春节" repeats that day.
            let next = self.scan.skip_spaces(found.to);
            let is_of_day = all.iter().any(|other| other.from == next)
                || all.iter().any(|other| other.to == found.from);
            let is_free = (is_dated || is_behind) && !is_of_day;
            is_rule && is_free && guard::is_repeat_of_noun(&self.scan, found.to)
        };
        let names: Vec<usize> = all.iter().filter(|it| is_name(it)).map(|it| it.from).collect();
        all.into_iter().filter(|found| !names.contains(&found.from)).collect()
    }

    /// Two dates side by side that are not one: "Monday or Tuesday", "9点和18点".
    fn check_neighbours(&self, all: &[DatePhrase]) -> Result<(), UnclearPhrase> {
        for pair in all.windows(2) {
            let [one, two] = pair else { continue };
            let gap = self.scan.text(one.to, two.from);
            let gap = gap.trim();
            let is_number = |found: &DatePhrase| {
                found.phrase.pieces.day.is_some_and(|day| day.sort == DayKind::Shy)
                    && !self.is_date(found)
            };
            if is_number(one) || is_number(two) {
                continue;
            }
            let is_linked = gap.is_empty()
                || words::LINKS.contains(&gap)
                || words::BETWEEN_PIECES.contains(&gap);
            let is_taken = self.is_date(one) || self.is_date(two);
            let is_one = gap.is_empty() && self.joined(one, two).is_some();
            let is_other = one.phrase.when != two.phrase.when && !is_one;
            if is_linked && is_taken && is_other {
                return Err(UnclearPhrase(self.words(one.to, two.to)));
            }
        }
        Ok(())
    }

    /// A day that was not taken, where one is missing or a repetition has another: "Christmas Eve
    /// dinner at 7pm", "每周五复盘 从12月1日开始".
    fn check_others(&self, one: &DatePhrase, all: &[DatePhrase]) -> Result<(), UnclearPhrase> {
        let pieces = &one.phrase.pieces;
        let is_missing = pieces.day.is_none() && pieces.elapsed.is_none() && pieces.start.is_none();
        let first = self.scan.skip_spaces(0);
        if let Some(end) = self.scan.any(first, words::FRONT_HOLIDAYS).filter(|_| is_missing) {
            return Err(UnclearPhrase(self.words(first, end)));
        }
        let other = all.iter().find(|other| {
            let Some(day) = other.phrase.pieces.day.filter(|_| other.from != one.from) else {
                return false;
            };
            let is_attribute = self.scan.any(other.to, words::POSSESSIVE) == Some(other.to + 1);
            match day.sort {
                DayKind::Holiday => is_missing && other.place == PhrasePosition::Front,
                DayKind::Shy => false,
                _ => pieces.every.is_some() && !is_attribute,
            }
        });
        other.map_or(Ok(()), |other| Err(UnclearPhrase(self.words(other.from, other.to))))
    }

    /// Every phrase, from left to right; quoted text is skipped.
    fn all(&self) -> Vec<DatePhrase> {
        let (mut found, mut at) = (Vec::new(), 0);
        let first = self.scan.skip_spaces(0);
        while at < self.scan.len() {
            if let Some(end) = guard::quoted(&self.scan, at) {
                at = end;
                continue;
            }
            let longest = may_start(&self.scan, at).then(|| longest(&self.scan, at, self.now));
            let Some((phrase, to)) = longest.flatten() else {
                at += 1;
                continue;
            };
            let is_first = self.scan.text(first, at).chars().all(is_opening);
            let place = if is_first || self.only_openers_before(at) {
                PhrasePosition::Front
            } else if self.scan.text(to, self.scan.len()).trim_matches(is_end).is_empty() {
                PhrasePosition::End
            } else {
                PhrasePosition::Middle
            };
            found.push(DatePhrase { phrase, from: at, to, place });
            at = to;
        }
        found
    }

    fn only_openers_before(&self, at: usize) -> bool {
        let before = self.scan.text(0, at);
        words::OPENERS.contains(&before.trim_matches(is_opening))
    }

    /// Whether a phrase is the date of the text and not a part of its subject.
    fn is_date(&self, found: &DatePhrase) -> bool {
        let (scan, pieces) = (&self.scan, &found.phrase.pieces);
        let sort = pieces.day.map_or(DayKind::Plain, |day| day.sort);
        let is_alone = found.from == scan.skip_spaces(0) && found.to == scan.len();
        let is_timed = pieces.spoken.is_some() || pieces.every.is_some();
        let is_attribute = scan.any(found.to, words::POSSESSIVE) == Some(found.to + 1);
        let is_last = found.place == PhrasePosition::End;
        let is_adjective = scan.any(found.from, words::ADJECTIVES) == Some(found.to);
        if is_adjective && !is_alone && !is_last && self.about == TextSubject::Todo {
            return false;
        }
        if found.place == PhrasePosition::Middle
            && guard::is_house_number(scan, found.from, found.to)
        {
            return false;
        }
        if !is_alone && !is_last && guard::is_bought(scan, found.from, pieces) {
            return false;
        }
        let is_little = guard::is_a_little(scan, found.from, found.to);
        if is_alone
            || is_timed
                && !is_little
                && found.place != PhrasePosition::Middle
                && !guard::is_bare_span(pieces, self.about)
        {
            return true;
        }
        if guard::is_bare_span(pieces, self.about) || guard::is_a_little(scan, found.from, found.to)
        {
            return false;
        }
        match sort {
            DayKind::Holiday if !is_timed => {
                guard::is_free_holiday(scan, found.from, found.to, pieces)
            }
            DayKind::Shy if !is_timed => {
                found.place != PhrasePosition::Middle
                    && !guard::is_fraction(scan, found.from, found.to)
            }
            _ if pieces.elapsed.is_some() && guard::is_now(scan, found.from, found.to) => {
                found.place == PhrasePosition::Front
            }
            _ if found.place != PhrasePosition::Middle => !is_attribute || is_timed,
            _ if is_attribute => false,
            _ if pieces.has_clock() => !guard::is_clock_of_noun(scan, found.from, found.to, pieces),
            _ => guard::is_set_apart(scan, found.from, found.to),
        }
    }

    /// The text has no date.
    fn none(&self, all: &[DatePhrase]) -> Result<ParsedText, UnclearPhrase> {
        if let Some(piece) = guard::broken(&self.scan, self.now) {
            return Err(UnclearPhrase(self.words(piece.0, piece.1)));
        }
        if self.about == TextSubject::Entry {
            let vague = guard::vague_word(&self.scan);
            let unsure = all.first().map(|found| (found.from, found.to));
            if let Some((from, to)) = vague.or(unsure) {
                return Err(UnclearPhrase(self.words(from, to)));
            }
        }
        Ok(ParsedText {
            title: self.text.trim().to_owned(),
            when: None,
            phrase: String::new(),
            ahead: None,
            is_exact: false,
        })
    }

    fn one(&self, found: &DatePhrase) -> Result<ParsedText, UnclearPhrase> {
        self.check(found)?;
        let title = self.without(&[found]);
        let when = self.leaning(&found.phrase, &title);
        Ok(self.reading(when, title, self.words(found.from, found.to), found))
    }

    /// A date in two places: a day here, its time there.
    fn both(&self, first: &DatePhrase, second: &DatePhrase) -> Result<ParsedText, UnclearPhrase> {
        self.check(first)?;
        if let Some(limited) = self.limited(first, second) {
            return Ok(limited);
        }
        self.check(second)?;
        let (one, two) = (self.words(first.from, first.to), self.words(second.from, second.to));
        if first.phrase.when == second.phrase.when {
            return Ok(self.reading(
                first.phrase.when.clone(),
                self.without(&[first, second]),
                one,
                first,
            ));
        }
        let Some(phrase) = self.joined(first, second) else { return Err(UnclearPhrase(two)) };
        let timed = if first.phrase.pieces.spoken.is_some() { first } else { second };
        let title = self.without(&[first, second]);
        let when = self.leaning(&phrase, &title);
        Ok(self.reading(when, title, format!("{one} {two}"), timed))
    }

    /// A repetition before and its end after the text: "每天跑步 直到12月1日".
    fn limited(&self, first: &DatePhrase, second: &DatePhrase) -> Option<ParsedText> {
        let head = self.without(&[first]);
        let phrase = self.words(first.from, first.to);
        let (when, title) = limits::behind(&first.phrase.when, &head, &phrase, self.now)?;
        let is_all = second.place == PhrasePosition::End && when.times.is_some();
        is_all.then(|| self.reading(when, title, phrase, first))
    }

    /// The meaning of a phrase with its title: dinner at 7 is in the evening.
    fn leaning(&self, phrase: &DateMatch, title: &str) -> ParsedDate {
        let half = half_of_day(title).and_then(|half| phrase.pieces.leaning(half));
        let leaning = half.and_then(|pieces| meaning::of(&pieces, self.now));
        leaning.unwrap_or_else(|| phrase.when.clone())
    }

    fn joined(&self, first: &DatePhrase, second: &DatePhrase) -> Option<DateMatch> {
        let words = |found: &DatePhrase| self.words(found.from, found.to);
        let (one, two) = (&first.phrase.pieces, &second.phrase.pieces);
        let is_pair = one.has_day() != two.has_day()
            && one.spoken.is_some() != two.spoken.is_some()
            && one.elapsed.is_none()
            && two.elapsed.is_none();
        // "周三下午三点 开会 每周": the rule of a day that was said before.
        let is_rule = one.day.is_some()
            && one.every.is_none()
            && two.every.is_some()
            && two.count() == 1
            && second.place == PhrasePosition::End;
        let (day, time) = if one.has_day() { (first, second) } else { (second, first) };
        let text = format!("{} {}", words(day), words(time));
        dates::whole(&text, self.now).filter(|_| is_pair || is_rule)
    }

    fn check(&self, found: &DatePhrase) -> Result<(), UnclearPhrase> {
        let pieces = &found.phrase.pieces;
        match guard::unclear(&self.scan, (found.from, found.to), pieces, self.now) {
            Some((from, to)) => Err(UnclearPhrase(self.words(from, to))),
            None => Ok(()),
        }
    }

    fn reading(
        &self,
        when: ParsedDate,
        title: String,
        phrase: String,
        found: &DatePhrase,
    ) -> ParsedText {
        let is_exact = found.phrase.pieces.has_clock()
            || found.phrase.when.instant.is_some()
            || found.phrase.when.is_full;
        let mut when = when;
        let mut title = title;
        if let Some((limited, rest)) = limits::behind(&when, &title, &phrase, self.now) {
            (when, title) = (limited, rest);
        }
        if self.about == TextSubject::Entry
            && when.minutes.is_none()
            && when.precision == Precision::Minute
            && !leftovers::says_how_often(&title)
        {
            let (minutes, rest) = match leftovers::bracketed(&title) {
                Some((minutes, rest)) => (Some(minutes), rest),
                None => length(&title),
            };
            when.minutes = minutes;
            title = rest;
        }
        ParsedText { title, when: Some(when), phrase, ahead: None, is_exact }
    }

    fn words(&self, from: usize, to: usize) -> String {
        let words = &self.text[self.scan.offset(from)..self.scan.offset(to)];
        words.trim_matches(is_border).to_owned()
    }

    /// The text without the phrases and the words around them.
    fn without(&self, taken: &[&DatePhrase]) -> String {
        let (mut title, mut at) = (String::new(), 0);
        for found in taken {
            join(&mut title, &self.text[self.scan.offset(at)..self.scan.offset(found.from)]);
            at = found.to;
        }
        join(&mut title, &self.text[self.scan.offset(at)..]);
        title
    }
}
