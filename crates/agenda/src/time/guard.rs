//! Text that must not be next to a parsed date, and text that only looks like a date.

use jiff::Zoned;

use super::clock::{TimeContext, times};
use super::clock_readings::is_counted;
use super::dates::longest;
use super::meaning::PhraseParts;
use super::scan::Scan;
use super::texts::TextSubject;
use super::titles::is_border;
use super::words;

type CharSpan = (usize, usize);

/// The end of a quotation that begins here.
pub(super) fn quoted(scan: &Scan, at: usize) -> Option<usize> {
    let end = match scan.get(at)? {
        '"' => '"',
        '“' => '”',
        '《' => '》',
        '「' => '」',
        _ => return None,
    };
    (at + 1..scan.len()).find(|at| scan.get(*at) == Some(end)).map(|at| at + 1)
}

/// "from 2 to 4" counts hours only where something takes place.
pub(super) fn is_bare_span(pieces: &PhraseParts, about: TextSubject) -> bool {
    let is_bare = pieces.spoken.is_some_and(super::clock::SpokenTime::is_bare_span);
    is_bare && about == TextSubject::Todo && !pieces.has_day()
}

/// "一点建议": a little of something, not one o'clock.
pub(super) fn is_a_little(scan: &Scan, from: usize, to: usize) -> bool {
    let is_event = scan.any(to, words::AT_ONE).is_some();
    scan.text(from, to) == words::A_LITTLE
        && scan.get(to).is_some_and(|c| !is_border(c))
        && !is_event
}

/// "at 10 Downing Street": a number after "at" that a name follows.
pub(super) fn is_house_number(scan: &Scan, from: usize, to: usize) -> bool {
    let number = scan.any(from, words::AT).and_then(|at| scan.number(at));
    let is_bare = number.is_some_and(|(_, end)| end == to);
    let is_free = scan.get(to).is_none_or(|c| is_border(c) && !c.is_whitespace());
    is_bare && !is_free && scan.any(to, words::GOES_ON).is_none()
}

/// "每日站会", "双周会", "weekly会": a repetition that a noun follows without a gap is its name.
pub(super) fn is_repeat_of_noun(scan: &Scan, end: usize) -> bool {
    let is_glued = scan.get(end).is_some_and(char::is_alphanumeric);
    is_glued && scan.any(end, words::REPEATED_VERBS).is_none()
}

/// "买三点一刻奶茶": a clock alone right after a verb is the name of a thing.
pub(super) fn is_bought(scan: &Scan, from: usize, pieces: &PhraseParts) -> bool {
    let is_bare = pieces.spoken.is_some_and(|spoken| spoken.part.is_none());
    let is_alone = !pieces.has_day() && !pieces.is_deadline && pieces.elapsed.is_none();
    is_bare && is_alone && scan.is_behind(from, words::BOUGHT_BY)
}

/// Digits with a slash or a point that are more often something else.
pub(super) fn is_fraction(scan: &Scan, from: usize, to: usize) -> bool {
    let text = scan.text(scan.skip_spaces(from), to);
    let is_slash = text.contains('/');
    let is_known =
        ["1/2", "1/3", "2/3", "1/4", "3/4", "1/5", "1/8", "24/7", "50/50", "9/11", "7/24"]
            .contains(&&*text);
    let is_of = scan.any(to, words::COUNTED).is_some();
    // "11.20交报告": a verb follows, so nothing is counted.
    let is_front = scan.skip_spaces(from) == scan.skip_spaces(0);
    if is_front && scan.any(to, words::BEHIND_HOLIDAYS).is_some() {
        return is_of;
    }
    !is_slash || is_known || is_of
}

/// Whether the words are only "now".
pub(super) fn is_now(scan: &Scan, from: usize, to: usize) -> bool {
    scan.any(from, words::NOW) == Some(to)
}

/// Whether the name of a holiday is the date of a text and not an attribute.
pub(super) fn is_free_holiday(scan: &Scan, from: usize, to: usize, pieces: &PhraseParts) -> bool {
    let is_latin = scan.text(from, to).is_ascii();
    if is_latin {
        let is_led = scan.any(from, words::ON).is_some() || pieces.is_deadline;
        let is_last = scan.text(to, scan.len()).trim_matches(is_border).is_empty();
        let after_for = scan.text(0, from).trim_end().ends_with(" for");
        return is_led
            || is_last && !after_for && !scan.text(0, from).trim_end().ends_with("before");
    }
    let Some(next) = scan.get(to) else { return true };
    // A month and a day are a date, in either calendar.
    if scan.text(from, to).contains(['月', '初']) {
        return true;
    }
    let is_verb = scan.any(to, words::BEHIND_HOLIDAYS).is_some() && !is_document(scan, to);
    is_border(next) || pieces.is_deadline || is_verb
}

/// "国庆旅游攻略": a text about an activity, not the activity.
fn is_document(scan: &Scan, from: usize) -> bool {
    let rest = scan.text(from, scan.len());
    let rest = rest.split(is_border).next().unwrap_or_default().to_owned();
    let is_activity = scan.any(from, words::ACTIVITIES).is_some();
    is_activity && words::DOCUMENTS.iter().any(|noun| rest.ends_with(noun))
}

/// "prepare 9am slides", "the 3pm call": a clock alone before a noun.
pub(super) fn is_clock_of_noun(scan: &Scan, from: usize, to: usize, pieces: &PhraseParts) -> bool {
    let is_latin = scan.text(from, to).is_ascii();
    let is_tied = scan.any(from, words::TIES).is_some()
        || scan.is_behind(from, words::TIES) && !scan.is_behind(from, words::NOUN_LEADS);
    let next = scan.get(to).filter(|c| c.is_whitespace()).and(scan.get(scan.skip_spaces(to)));
    let is_followed = next.is_some_and(|c| c.is_ascii_alphabetic());
    let goes_on = scan.any(to, words::GOES_ON).is_some();
    let is_alone = !pieces.has_day() && pieces.elapsed.is_none() && !pieces.is_deadline;
    is_latin && is_alone && is_followed && !is_tied && !goes_on
}

/// Whether a day in the middle of a text is separated from it.
pub(super) fn is_set_apart(scan: &Scan, from: usize, to: usize) -> bool {
    let before = scan.before(from).is_some_and(is_border);
    let after = scan.get(to).is_some_and(is_border);
    let is_latin = scan.text(from, to).is_ascii();
    let lead = scan.text(0, from);
    let lead = lead.trim_end().rsplit(' ').next().unwrap_or_default().to_owned();
    let is_of_noun = words::NOUN_LEADS.contains(&lead.as_str());
    before && after && !is_of_noun && (!is_latin || scan.any(to, words::GOES_ON).is_some())
}

/// The unclear piece of a date next to a phrase.
pub(super) fn unclear(
    scan: &Scan,
    place: CharSpan,
    pieces: &PhraseParts,
    now: &Zoned,
) -> Option<CharSpan> {
    let occasion = scan.any(place.1, words::OCCASIONS).filter(|_| pieces.day.is_none());
    let occasion = occasion.map(|end| (scan.skip_spaces(place.1), end));
    let beside = behind(scan, place.1, now).or(occasion);
    beside.or_else(|| before(scan, place.0, pieces))
}

/// A piece of a date right after a phrase.
fn behind(scan: &Scan, to: usize, now: &Zoned) -> Option<CharSpan> {
    let next = scan.skip_spaces(scan.maybe(to, words::COMMA));
    if let Some(end) = two_in_one(scan, to) {
        return Some((to, end));
    }
    if let Some(end) = date_number(scan, next).filter(|_| next == to || !is_length(scan, next)) {
        return Some((next, end));
    }
    // "3点5开会": a single digit that counts nothing.
    let digit = scan.digits(to, 1, 1).filter(|_| scan.before(to) == Some('点'));
    if let Some((_, end)) = digit.filter(|(_, end)| !is_counted(scan, *end, false)) {
        return Some((to, end));
    }
    if let Some(end) = loose_minutes(scan, to).or_else(|| glued_clock(scan, to)) {
        return Some((next, end));
    }
    if let Some(end) = scan.any(to, words::VAGUE) {
        return Some((next, end));
    }
    if let Some((word, end)) = scan.word(to, words::SUSPICIOUS_TAILS)
        && !scan.get(end).is_some_and(|c| word.contains(c))
    {
        let is_near = next == to || scan.text(next, end).is_ascii();
        if is_near {
            return Some((next, end));
        }
    }
    let next = scan.skip_spaces(to);
    let link = scan.any(to, words::LINKS)?;
    if let Some(end) = date_number(scan, link).filter(|_| !is_length(scan, link)) {
        return Some((next, end));
    }
    // "at 9 and 17" is ambiguous: another time of day, or the number of something.
    let other =
        scan.any(to, words::AND_LATIN).and_then(|at| scan.digits(scan.skip_spaces(at), 1, 2));
    if let Some((_, end)) = other {
        return Some((next, end));
    }
    let (_, end) = longest(scan, scan.skip_spaces(link), now)?;
    let is_every = scan.any(link, words::EVERY).is_some();
    let is_place = scan.any(to, words::TOWARDS).is_some()
        && !is_every
        && times(scan, link, TimeContext::Nothing).is_empty();
    let is_with = scan.any(to, words::WITH).is_some() && is_attribute(scan, end);
    (!is_with || is_place).then_some((next, end))
}

/// Minutes or quarters as a length, apart from the time: "下午3点 30分钟快走".
fn is_length(scan: &Scan, at: usize) -> bool {
    let unit = scan.number(at).and_then(|(_, end)| scan.any(end, words::LENGTH_UNITS));
    unit.is_some_and(|end| scan.any(end, words::AWAY).is_none())
}

/// "at 3 30 call mum": two digits after a bare hour are its minutes, or count something.
fn loose_minutes(scan: &Scan, to: usize) -> Option<usize> {
    let is_digit = |at: usize| scan.get(at).is_some_and(|c| c.is_ascii_digit());
    let hour = (to.saturating_sub(2)..to).find(|at| is_digit(*at) && !is_digit(at.wrapping_sub(1)));
    let is_bare = hour.is_some_and(|at| {
        scan.is_behind(at, words::AT) && scan.digits(at, 1, 2).is_some_and(|(_, end)| end == to)
    });
    let (minute, end) = scan.digits(scan.skip_spaces(to), 2, 2).filter(|_| is_bare)?;
    let is_clock = minute < 60 && minute % 5 == 0 && scan.get(to) == Some(' ');
    let is_length = || !super::offsets::amounts(scan, scan.skip_spaces(to)).is_empty();
    (is_clock && !is_length()).then_some(end)
}

/// "明天1730打电话": four digits right after a day that are a time, or count something.
fn glued_clock(scan: &Scan, to: usize) -> Option<usize> {
    let (n, end) = scan.digits(to, 4, 4).filter(|_| scan.get(to) != Some(' '))?;
    let is_free = scan.before(to).is_some_and(|c| !c.is_ascii());
    let is_more = scan.get(end).is_some_and(|c| c.is_ascii_digit() || c == '年');
    (n / 100 < 24 && n % 100 < 60 && is_free && !is_more).then_some(end)
}

/// "周三四", "三四点": two numbers that follow each other, either of them meant.
fn two_in_one(scan: &Scan, to: usize) -> Option<usize> {
    let number = |at| scan.get(at).and_then(words::numerals).filter(|n| n[0] < 10);
    let is_pair = |at: usize| {
        let pair = number(at).zip(number(at + 1));
        pair.is_some_and(|(one, two)| one[0] + 1 == two[0])
    };
    let next = scan.get(to + 1);
    let counts = next.is_some_and(|c| words::MEASURES.contains(c) || c == '时');
    if to > 0 && is_pair(to - 1) && !counts && words::is_number(scan.get(to)?) {
        return Some(to + 1);
    }
    let is_unit = scan.get(to + 2).is_some_and(|c| words::DATE_MARKS.contains(c));
    (is_pair(to) && is_unit).then_some(to + 3)
}

fn is_attribute(scan: &Scan, end: usize) -> bool {
    scan.any(end, words::POSSESSIVE).is_some()
}

/// A number with a unit of dates: "25点", "30号".
fn date_number(scan: &Scan, at: usize) -> Option<usize> {
    let at = scan.maybe(scan.maybe(at, words::BETWEEN), words::AT);
    let (_, end) = scan.number(at).filter(|(n, _)| *n < 100_000)?;
    if let Some(unit) = scan.any(end, words::DATE_UNITS) {
        let is_near =
            unit == end || scan.skip_spaces(end) == end || scan.text(end, unit).trim().is_ascii();
        let counts = scan.get(unit).is_some_and(|c| words::NOT_HOURS.contains(c))
            || scan.before(unit) == Some('号') && scan.any(unit, words::NUMBERED_THINGS).is_some();
        return (is_near && !counts).then_some(unit);
    }
    None
}

/// A piece of a date right before a phrase.
fn before(scan: &Scan, from: usize, pieces: &PhraseParts) -> Option<CharSpan> {
    let text = scan.text(0, from);
    let head = text.trim_end_matches(|c: char| c.is_whitespace() || ",，".contains(c));
    let end = head.chars().count();
    let last = head.chars().next_back()?;
    let is_glued = end == from;
    if let Some(begin) = broken_before(scan, end) {
        return Some((begin, end));
    }
    if is_glued
        && (words::is_number(last)
            && scan.get(from).is_some_and(|c| !c.is_ascii_digit() || last != ' ')
            && !last.is_ascii())
    {
        return Some((end - 1, end));
    }
    if let Some(begin) = nth_before(scan, end).filter(|_| is_glued) {
        return Some((begin, end));
    }
    if is_glued && words::LEADS.iter().any(|lead| head.ends_with(lead)) {
        return Some((end.saturating_sub(2), end));
    }
    if words::LATIN_LEADS.iter().any(|lead| {
        head.strip_suffix(lead)
            .is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
    }) {
        let begin = head.rfind(' ').map_or(0, |at| head[..at].chars().count() + 1);
        return Some((begin, end));
    }
    // "10 minutes before midnight".
    let amount = (0..end).find(|at| {
        let is_start = super::dates::may_start(scan, *at);
        is_start && super::offsets::amounts(scan, *at).iter().any(|(_, after)| *after == end)
    });
    if let Some(begin) = amount.filter(|_| pieces.is_deadline && head.is_ascii()) {
        return Some((begin, end));
    }
    let no_day = !pieces.has_day() && pieces.elapsed.is_none() && pieces.spoken.is_some();
    let is_day = words::UNKNOWN_DAY_ENDS.contains(last);
    let is_other = words::NO_UNKNOWN_DAYS.iter().any(|word| head.ends_with(word));
    if no_day && is_glued && is_day && !is_other {
        return Some((end.saturating_sub(3), end));
    }
    None
}

/// "第三个周五" without a month: where the count begins.
fn nth_before(scan: &Scan, end: usize) -> Option<usize> {
    let last = end.checked_sub(1).filter(|at| scan.get(*at) == Some('个'))?;
    let begin = (last.saturating_sub(3)..last).find(|at| scan.get(*at) == Some('第'));
    begin.or_else(|| scan.ends(end, words::LAST_ONE).then(|| end - 4))
}

/// Where a date or clock that does not exist begins, if one ends here.
fn broken_before(scan: &Scan, end: usize) -> Option<usize> {
    let (mut at, mut marks, mut numbers) = (end, 0, 0);
    while let Some(c) = scan.before(at) {
        if words::is_number(c) {
            numbers += 1;
        } else if words::DATE_MARKS.contains(c) {
            marks += 1;
        } else {
            break;
        }
        at -= 1;
    }
    let last = scan.before(end)?;
    if marks > 0
        && numbers > 0
        && words::DATE_MARKS.contains(last)
        && words::is_number(scan.get(at)?)
    {
        return Some(at);
    }
    let text = scan.text(0, end);
    let token = text.rsplit(char::is_whitespace).next()?;
    let begin = end - token.chars().count();
    if is_date_shaped(token) {
        return Some(begin);
    }
    let head = text[..text.len() - token.len()].trim_end();
    // A year after a day that it does not have: "Feb 29 2027".
    if token.len() == 4 && token.chars().all(|c| c.is_ascii_digit()) && !head.is_empty() {
        let day = head.trim_end_matches(',');
        return broken_before(scan, day.chars().count());
    }
    let month = head.rsplit(char::is_whitespace).next()?.trim_end_matches('.');
    let is_month = words::MONTH_NAMES.iter().any(|(name, _)| *name == month);
    let number = token.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    (is_month && is_number).then(|| head.chars().count() - month.chars().count())
}

/// A number with one unit is broken only beyond the last day or hour: "25点", but not "3号".
fn is_out_of_range(scan: &Scan, from: usize, end: usize) -> bool {
    let last = scan.before(end);
    match scan.number(from).filter(|(_, after)| after + 1 == end) {
        Some((n, _)) if matches!(last, Some('号' | '日')) => !(1..=31).contains(&n),
        Some((n, _)) if matches!(last, Some('点' | '时')) => n > 24,
        _ => true,
    }
}

fn is_date_shaped(token: &str) -> bool {
    let number = token.trim_end_matches("am").trim_end_matches("pm");
    let hour = number.parse::<u32>().ok().filter(|_| number.len() < token.len());
    if hour.is_some_and(|hour| !(1..=12).contains(&hour)) {
        return true;
    }
    if let Some((month, day)) = token.split_once('/')
        && let (Ok(month), Ok(day)) = (month.parse::<i8>(), day.parse::<i8>())
        && (1..=12).contains(&month)
        && (29..=31).contains(&day)
    {
        return jiff::civil::Date::new(2028, month, day).is_err();
    }
    let shape: String = token.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    let shape = shape.replace(['/', '.'], "-");
    ["9999-99-99", "9999-9-99", "9999-99-9", "9999-9-9", "99:99", "9:99"].contains(&shape.as_str())
}

/// A date or clock that does not exist, at the front or at the end of a text.
pub(super) fn broken(scan: &Scan, now: &Zoned) -> Option<CharSpan> {
    let last = (0..scan.len()).rev().find(|at| scan.get(*at).is_some_and(|c| !is_border(c)))? + 1;
    // A month or a year alone is not a date: "一月三次".
    let is_day = |end: usize| {
        let is_long = scan.before(end).is_some_and(|c| words::LONG_MARKS.contains(c));
        !is_long && broken_before(scan, end).is_some_and(|from| is_out_of_range(scan, from, end))
    };
    if let Some(from) = broken_before(scan, last).filter(|_| is_day(last)) {
        return Some((from, last));
    }
    let first = scan.skip_spaces(0);
    let mut ends = (first + 1..=last.min(first + 16)).rev();
    let front = ends.find(|end| is_day(*end) && broken_before(scan, *end) == Some(first))?;
    longest(scan, first, now).is_none().then_some((first, front))
}

/// A vague time word at either end of a text.
pub(super) fn vague_word(scan: &Scan) -> Option<CharSpan> {
    word_at_an_end(scan, &[words::VAGUE, words::OCCASIONS])
}

/// The same with words that begin no entry: a todo may keep them.
pub(super) fn unread_word(scan: &Scan) -> Option<CharSpan> {
    word_at_an_end(scan, &[words::VAGUE, words::UNREAD])
}

fn word_at_an_end(scan: &Scan, lists: &[words::WordList]) -> Option<CharSpan> {
    let starts = (0..scan.len()).filter(|at| super::dates::may_start(scan, *at));
    let mut all = starts.filter_map(|at| {
        let end = lists.iter().filter_map(|list| scan.any(at, list)).max()?;
        Some((at, end))
    });
    all.find(|(from, to)| {
        let is_last = scan.text(*to, scan.len()).trim_matches(is_border).is_empty();
        *from == scan.skip_spaces(0) || is_last
    })
}
