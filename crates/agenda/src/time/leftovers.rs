//! The rest of a text must not mention a time: then a part of its date was not understood.
//!
//! This is the last check. It refuses a text with words that a person would read as a part of the
//! date, and accepts names and things.

use super::clock::{TimeContext, times};
use super::dates::{ParsedDate, may_start};
use super::offsets::amounts;
use super::scan::Scan;
use super::texts::TextSubject;
use super::words;

/// The part of a title that belongs to its date.
pub(super) fn leftover(title: &str, when: &ParsedDate, about: TextSubject) -> Option<String> {
    let scan = Scan::new(title);
    let is_free = |at: &usize| may_start(&scan, *at) && !is_quoted(&scan, *at);
    let piece = |from: usize, to: usize| title[scan.offset(from)..scan.offset(to)].to_owned();
    let mut starts = (0..scan.len()).filter(is_free);
    let found = starts.find_map(|at| {
        let at_word = |list| scan.any(at, list).map(|end| (at, end));
        let repeats = when.repeat.is_some();
        at_word(words::LEFT_ALWAYS)
            .or_else(|| at_word(words::LEFT_BEHIND).filter(|_| at > 0))
            .or_else(|| at_word(words::FULL_DAYS).filter(|_| when.clock.is_some()))
            .or_else(|| reminder(&scan, at, about))
            .or_else(|| at_word(words::LEFT_OF_REPEATS).filter(|_| repeats))
            .or_else(|| counted(&scan, at, repeats))
            .or_else(|| how_often(&scan, at))
            .or_else(|| begins(&scan, at).filter(|_| repeats))
            .or_else(|| every(&scan, at))
            .or_else(|| unknown_day(&scan, at, when))
            .or_else(|| length(&scan, at, when, about))
    });
    let found = found.map(|(from, to)| piece(from, to));
    found.or_else(|| title.split_whitespace().find(|word| is_date_word(word)).map(str::to_owned))
}

/// Whether a quotation is open here.
fn is_quoted(scan: &Scan, at: usize) -> bool {
    let begins = (0..=at).filter_map(|from| Some((from, super::guard::quoted(scan, from)?)));
    begins.into_iter().any(|(from, end)| from <= at && at < end)
}

/// "提前15分", "坚持21天", "x5": a word and a number.
fn counted(scan: &Scan, at: usize, repeats: bool) -> Option<(usize, usize)> {
    if let Some(next) = scan.any(at, words::AHEAD).filter(|end| *end > at + 1) {
        let end = amounts(scan, next).into_iter().map(|(_, end)| end).max();
        if let Some(end) = end {
            return Some((at, end));
        }
    }
    if !repeats {
        return None;
    }
    let next = scan.any(at, words::LASTING)?;
    let amount = amounts(scan, next).into_iter().map(|(_, end)| end).max();
    let times = || scan.number(next).and_then(|(_, end)| scan.any(end, words::TIMES).or(Some(end)));
    amount.or_else(times).map(|end| (at, end))
}

/// "两次", "once" at the front, "of November" after a day that it does not have.
fn how_often(scan: &Scan, at: usize) -> Option<(usize, usize)> {
    let is_front = at == scan.skip_spaces(0);
    if let Some(end) = scan.any(at, words::OFTEN).filter(|end| is_front && *end < scan.len()) {
        return Some((at, end));
    }
    let month = scan.any(at, words::OF).and_then(|next| scan.word(next, words::MONTH_NAMES));
    if let Some((_, end)) = month.filter(|_| is_front) {
        return Some((at, end));
    }
    let (_, end) = scan.number(at).filter(|_| scan.before(at) != Some('第'))?;
    let is_more = scan.len() > end + 1;
    (scan.get(end) == Some('次') && is_more).then_some((at, end + 1))
}

/// "from December": where a repetition begins.
fn begins(scan: &Scan, at: usize) -> Option<(usize, usize)> {
    let next = scan.any(at, words::BEGINS)?;
    let (_, end) = scan.word(scan.skip_spaces(next), words::MONTH_NAMES)?;
    Some((at, end))
}

/// "every 31st", "each January": a repetition that no rule can express.
fn every(scan: &Scan, at: usize) -> Option<(usize, usize)> {
    let next = scan.any(at, words::EVERY_LATIN)?;
    let end = ordinal(scan, next).or_else(|| scan.any(next, words::REPEATED))?;
    Some((at, end))
}

fn ordinal(scan: &Scan, at: usize) -> Option<usize> {
    let (_, end) = scan.digits(scan.skip_spaces(at), 1, 2)?;
    scan.any(end, words::ORDINAL_ENDS).filter(|_| scan.skip_spaces(end) == end)
}

/// A clause at the end that names a time and asks to be reminded: "，早上9点提醒".
fn reminder(scan: &Scan, at: usize, about: TextSubject) -> Option<(usize, usize)> {
    let is_first = at > 0 && scan.before(at).is_some_and(super::titles::is_border);
    let clause = scan.text(at, scan.len());
    let clause = clause.trim();
    let asks = clause.ends_with(words::REMINDS) || clause.ends_with(" reminder");
    let is_timed = clause.chars().any(words::is_number);
    let is_bare = about == TextSubject::Entry && clause == "reminder";
    (is_first && (asks && is_timed || is_bare)).then(|| (at, scan.len()))
}

/// Whether a title says how often, which is not a length.
pub(super) fn says_how_often(title: &str) -> bool {
    let scan = Scan::new(title);
    (0..scan.len()).any(|at| may_start(&scan, at) && scan.any(at, words::LEFT_ALWAYS).is_some())
}

/// An unknown day that is the day of the text: at its end, or if it has no other day.
fn unknown_day(scan: &Scan, at: usize, when: &ParsedDate) -> Option<(usize, usize)> {
    let is_name = scan.any(at, words::UNKNOWN_HOLIDAYS);
    let end = is_name.or_else(|| ordinal(scan, at))?;
    let is_last = scan.text(end, scan.len()).trim().is_empty();
    (is_last || is_name.is_some() && when.clock.is_some()).then_some((at, end))
}

/// A length that was not understood: "开30分钟的会".
fn length(scan: &Scan, at: usize, when: &ParsedDate, about: TextSubject) -> Option<(usize, usize)> {
    let is_said = about != TextSubject::Entry || when.minutes.is_some();
    if is_said || scan.before(at).is_some_and(|c| words::is_number(c) || c == '第') {
        return None;
    }
    let (amount, end) = amounts(scan, at).into_iter().max_by_key(|(_, end)| *end)?;
    let is_long = scan.text(at, end).chars().filter(|c| c.is_alphabetic()).count() > 1;
    (!amount.is_of_days() && is_long).then_some((at, end))
}

/// A word of digits and names that is a date or a time: "20-Nov-2026", "Tue/Thu", "9:10", "Thu".
fn is_date_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| ",.;:!?()[]（），。；".contains(c));
    let small = word.to_ascii_lowercase();
    if words::SHORT_DAYS.contains(&word) || words::DAY_LISTS.contains(&small.as_str()) {
        return true;
    }
    if is_clock(&small) || is_circled(word) {
        return true;
    }
    let parts: Vec<&str> = small.split(['-', '/']).collect();
    let is_name = |part: &&str| {
        words::MONTH_NAMES.iter().any(|(name, _)| name == part)
            || words::SHORT_DAYS.iter().any(|name| name.eq_ignore_ascii_case(part))
    };
    let is_number = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    parts.len() > 1
        && parts.iter().any(is_name)
        && parts.iter().all(|part| is_name(part) || is_number(part))
}

/// "9:10", "5pm".
fn is_clock(word: &str) -> bool {
    let bare = word.strip_suffix("am").or_else(|| word.strip_suffix("pm")).unwrap_or(word);
    let is_led = bare.len() < word.len();
    let number = |text: &str, most: u32| text.parse::<u32>().is_ok_and(|n| n <= most);
    match bare.split_once(':') {
        Some((hour, minute)) => minute.len() == 2 && number(hour, 24) && number(minute, 59),
        None => is_led && number(bare, 12),
    }
}

/// "周⑤".
fn is_circled(word: &str) -> bool {
    let mut chars = word.chars().zip(word.chars().skip(1));
    chars.any(|(one, two)| words::WEEK_LETTERS.contains(one) && ('①'..='⑳').contains(&two))
}

/// The length in brackets: "(30 min)", "（2小时）".
pub(super) fn bracketed(title: &str) -> Option<(i64, String)> {
    let ends = [('(', ')'), ('（', '）'), ('[', ']'), ('【', '】')];
    ends.into_iter().find_map(|(open, close)| {
        let (head, rest) = title.split_once(open)?;
        let (inside, tail) = rest.split_once(close)?;
        let minutes = super::lengths::minutes(inside).filter(|n| (1..=24 * 60).contains(n));
        let is_unit = inside.chars().any(char::is_alphabetic);
        let rest = format!("{} {}", head.trim_end(), tail.trim_start());
        minutes.filter(|_| is_unit).map(|minutes| (minutes, rest.trim().to_owned()))
    })
}

/// Whether a text says several times of day for one thing: "早晚八点", "at 9am and 5pm".
#[must_use]
pub fn says_several_times(text: &str) -> bool {
    let scan = Scan::new(text);
    let mut starts = (0..scan.len()).filter(|at| may_start(&scan, *at));
    starts.any(|at| {
        let is_said = scan.any(at, words::SEVERAL_TIMES).is_some();
        is_said
            || times(&scan, at, TimeContext::Day).into_iter().any(|(spoken, end)| {
                let next = scan.any(end, words::TIMES_AND).filter(|_| spoken.clock.is_some());
                next.is_some_and(|next| {
                    let is_number = scan.number_in(next, 0..=24).is_some();
                    is_number || !times(&scan, next, TimeContext::Nothing).is_empty()
                })
            })
    })
}
