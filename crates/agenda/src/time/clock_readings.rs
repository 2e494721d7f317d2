//! Clock readings in digits and in words.

use super::clock::{ClockReading, HourForm, dial};
use super::scan::{Readings, Scan};
use super::words;

/// Clock readings at this position.
pub(super) fn clocks(scan: &Scan, at: usize) -> Readings<ClockReading> {
    let at = scan.skip_spaces(at);
    let mut found = Vec::new();
    found.extend(colon_clock(scan, at));
    found.extend(dot_clock(scan, at));
    found.extend(h_clock(scan, at));
    found.extend(packed_clock(scan, at));
    found.extend(chinese_clocks(scan, at));
    found.extend(minutes_before_hour(scan, at));
    if let Some((hour, end)) = scan.number_in(at, 1..=12) {
        let end = scan.any(end, words::O_CLOCK).map(|end| scan.maybe(end, words::SHARP));
        found.extend(end.map(|end| (dial(hour, 0), end)));
    }
    if let Some((minute, end)) = scan.word(at, words::DIGITS_PAST) {
        let past = scan.any(end, words::PAST).and_then(|at| scan.number_in(at, 1..=12));
        found.extend(past.map(|(hour, end)| (dial(hour, minute), end)));
    }
    if let Some((minute, end)) = scan.word(at, words::MINUTES_PAST) {
        let past = scan.any(end, words::PAST).and_then(|at| scan.number_in(at, 1..=12));
        found.extend(past.map(|(hour, end)| (dial(hour, minute), end)));
        let to = scan.any(end, words::TO).and_then(|at| scan.number_in(at, 1..=12));
        let before = |hour: i8| (hour + 10) % 12 + 1;
        found.extend(to.map(|(hour, end)| (dial(before(hour), 60 - minute), end)));
    }
    found
}

fn colon_clock(scan: &Scan, at: usize) -> Option<(ClockReading, usize)> {
    let (hour, end) = scan.digits(at, 1, 2).filter(|(hour, _)| *hour <= 24)?;
    let end = (scan.get(end) == Some(':')).then_some(end + 1)?;
    let (minute, end) = scan.digits(end, 2, 2).filter(|(minute, _)| *minute < 60)?;
    let (hour, minute) = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?);
    // "3:30" is in 12-hour form, "03:30" in 24-hour form.
    let is_dial = (1..=9).contains(&hour) && scan.get(at) != Some('0');
    let form = if is_dial { HourForm::Colon } else { HourForm::Full };
    (hour < 24 || minute == 0).then_some((ClockReading { hour, minute, form }, end))
}

/// `330pm`, `1130am`.
fn packed_clock(scan: &Scan, at: usize) -> Option<(ClockReading, usize)> {
    let (number, end) = scan.digits(at, 3, 4)?;
    let (hour, minute) = (i8::try_from(number / 100).ok()?, i8::try_from(number % 100).ok()?);
    let is_marked = scan.word(end, words::TRAILING_PARTS).is_some();
    let is_clock = minute < 60 && is_marked && (1..=12).contains(&hour);
    is_clock.then_some((dial(hour, minute), end))
}

/// `1900`, `0930` and `15.30`: clocks only with a day before them and nothing after them.
pub(super) fn military_clock(scan: &Scan, at: usize) -> Option<(ClockReading, usize)> {
    let at = scan.skip_spaces(at);
    let is_led = scan.is_behind(at, words::AT);
    let (hour, minute, end) = match scan.digits(at, 4, 4) {
        Some((number, end)) => (number / 100, number % 100, end),
        None => {
            let (hour, end) = scan.digits(at, 2, 2).filter(|(hour, _)| *hour > 12)?;
            let end = (scan.get(end) == Some('.')).then_some(end + 1)?;
            let (minute, end) = scan.digits(end, 2, 2)?;
            (hour, minute, end)
        }
    };
    let is_last =
        scan.skip_spaces(end) == scan.len() || scan.get(end).is_some_and(|c| ",;:".contains(c));
    let is_clock = hour < 24 && minute < 60 && minute % 5 == 0;
    let (hour, minute) = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?);
    let is_padded = scan.get(at) == Some('0');
    // "at 1730 send it", but "at 2000 Main Street".
    let is_led = is_led && scan.get(end) == Some(' ') && !scan.is_name(scan.skip_spaces(end));
    let is_clock = is_clock && (is_last || is_padded || is_led);
    is_clock.then_some((ClockReading { hour, minute, form: HourForm::Full }, end))
}

/// `5.30pm`: only the part after it distinguishes it from a number or a date.
fn dot_clock(scan: &Scan, at: usize) -> Option<(ClockReading, usize)> {
    let (hour, end) = scan.digits(at, 1, 2).filter(|(hour, _)| (1..=12).contains(hour))?;
    let end = (scan.get(end) == Some('.')).then_some(end + 1)?;
    let (minute, end) = scan.digits(end, 2, 2).filter(|(minute, _)| *minute < 60)?;
    scan.word(end, words::TRAILING_PARTS)?;
    Some((dial(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?), end))
}

/// `17h30`, and `17h` where it cannot be a length of a few hours.
fn h_clock(scan: &Scan, at: usize) -> Option<(ClockReading, usize)> {
    let (hour, end) = scan.digits(at, 1, 2).filter(|(hour, _)| *hour < 24)?;
    let end = (scan.get(end) == Some('h')).then_some(end + 1)?;
    let hour = i8::try_from(hour).ok()?;
    let is_letter = |at| scan.get(at).is_some_and(|c: char| c.is_ascii_alphabetic());
    match scan.digits(end, 2, 2).filter(|(minute, end)| *minute < 60 && !is_letter(*end)) {
        Some((minute, end)) => Some((
            ClockReading { hour, minute: i8::try_from(minute).ok()?, form: HourForm::Full },
            end,
        )),
        None if hour > 12 && !is_letter(end) && !scan.get(end).is_some_and(words::is_number) => {
            Some((ClockReading { hour, minute: 0, form: HourForm::Full }, end))
        }
        None => None,
    }
}

fn chinese_clocks(scan: &Scan, at: usize) -> Readings<ClockReading> {
    let mut found = Vec::new();
    let Some((hour, end)) = scan.number_in(at, 0..=24) else { return found };
    let is_padded = scan.get(at) == Some('0');
    let form = if is_padded { HourForm::Full } else { HourForm::Dial };
    let Some(end) = hour_mark(scan, end) else { return found };
    if scan.any(end, words::DIRECTION).is_some() {
        return found;
    }
    let clock = |minute| ClockReading { hour, minute, form };
    if !may_end_clock(scan, end) {
        found.push((clock(0), end));
        return found;
    }
    found.push((clock(0), scan.maybe(end, words::SHARP)));
    if hour == 24 {
        return found;
    }
    found.extend(scan.any(end, words::HALF_PAST).map(|end| (clock(30), end)));
    if let Some((quarters, end)) = scan.number_in(end, 1..=3) {
        let end = clock_mark(scan, end, words::CLOCK_QUARTER);
        found.extend(end.map(|end| (clock(quarters * 15), end)));
    }
    if let Some((minute, after)) = scan.number_in(end, 0..=59) {
        let begin = scan.skip_spaces(end);
        let is_two_digits = after - begin >= 2 || minute == 10;
        if let Some(after) = clock_mark(scan, after, words::CLOCK_MINUTE) {
            found.push((clock(minute), after));
        } else if is_two_digits && !is_counted(scan, after, begin > end) {
            found.push((clock(minute), after));
        }
    }
    // Three o'clock less five minutes.
    if let Some((minutes, end)) = scan.any(end, words::SHORT_OF).and_then(|at| minutes(scan, at)) {
        found.extend(less(hour, minutes).map(|clock| (clock, end)));
    }
    found
}

/// The mark of minutes or quarters on a clock: "分", but neither the length "分钟" nor "分享".
fn clock_mark(scan: &Scan, at: usize, list: &[&str]) -> Option<usize> {
    scan.any(at, list).filter(|end| !scan.get(*end).is_some_and(|c| words::NO_MARK.contains(c)))
}

/// Whether a number after an hour counts something. Separated from the hour it is a minute only if
/// it is alone: "3点 30 开会", but "3点 15公里".
pub(super) fn is_counted(scan: &Scan, after: usize, is_spaced: bool) -> bool {
    let Some(next) = scan.get(after) else { return false };
    if is_spaced {
        return !next.is_whitespace() && !",;:.!?)".contains(next) && !"，。；".contains(next);
    }
    let is_measure =
        words::MEASURES.contains(next) && !words::is_word(scan, after, words::NO_MEASURES);
    is_measure || scan.any(after, words::LONG_MEASURES).is_some()
}

/// The mark of an hour, if it is not part of another word: not "一时间", not "4点" of "4点钟表".
fn hour_mark(scan: &Scan, at: usize) -> Option<usize> {
    let begin = scan.skip_spaces(at);
    if words::is_word(scan, begin, words::NOT_HOUR) {
        return None;
    }
    let end = scan.any(begin, words::HOUR)?;
    let is_long = end > begin + 1 && words::is_word(scan, begin + 1, words::NO_CLOCK_ENDS);
    Some(if is_long { begin + 1 } else { end })
}

/// Whether the text after an hour may belong to it: no space before it, and no word begins there.
pub(super) fn may_end_clock(scan: &Scan, at: usize) -> bool {
    let next = scan.skip_spaces(at);
    let is_spaced = next > at && scan.get(next).is_some_and(|c| words::CLOCK_ENDS.contains(c));
    !is_spaced && !words::is_word(scan, next, words::NO_CLOCK_ENDS)
}

/// "差五分三点".
fn minutes_before_hour(scan: &Scan, at: usize) -> Option<(ClockReading, usize)> {
    let (minutes, end) = minutes(scan, scan.any(at, words::SHORT_OF)?)?;
    let (hour, end) = scan.number_in(scan.maybe(end, words::UP_TO), 1..=23)?;
    Some((less(hour, minutes)?, scan.any(end, words::HOUR)?))
}

/// Minutes or quarters that are missing.
fn minutes(scan: &Scan, at: usize) -> Option<(i8, usize)> {
    let (number, end) = scan.number_in(at, 1..=59)?;
    match scan.any(end, words::QUARTER) {
        Some(end) => (number <= 3).then_some((number * 15, end)),
        None => Some((number, scan.any(end, words::MINUTE)?)),
    }
}

fn less(hour: i8, minutes: i8) -> Option<ClockReading> {
    let before = if (1..=12).contains(&hour) { (hour + 10) % 12 + 1 } else { hour - 1 };
    (minutes < 60).then(|| dial(before, 60 - minutes))
}
