//! Dates, times of day and years that stand where years stand.

use super::WrittenNumber;

/// Words before a year that leave no doubt.
const BEFORE_YEAR: [&str; 10] =
    ["in", "since", "until", "during", "year", "early", "late", "mid", "spring", "autumn"];

/// The names of months and their short forms.
const MONTHS: [&str; 24] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
];

/// Where a date or a time of day ends that starts here.
pub(super) fn date_end(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start..];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(rest);
    if let Some(end) = day_end(text, start, start + first) {
        return Some(end);
    }
    let own: u32 = rest[..first].parse().ok()?;
    let after = &rest[first..];
    // `2025 年` is written as often as `2025年`.
    let blank = blank_before(after, &['\u{5e74}', '\u{6708}', '\u{65e5}', '\u{53f7}']);
    let after = &after[blank..];
    let separator = after.chars().next()?;
    let next = &after[separator.len_utf8()..];
    let second = digits(next);
    let is_year = first == 4 && (1_000..3_000).contains(&own);
    let minute = || next[..second].parse::<u32>().is_ok_and(|minute| minute < 60);
    match separator {
        '-' | '/' | '.' if is_year && (1..=2).contains(&second) && is_month(&next[..second]) => {
            let tail = &next[second..];
            let end = start + first + 1 + second;
            let third = tail.strip_prefix(separator).map_or(0, digits);
            if (1..=2).contains(&third) {
                return Some(end + 1 + third);
            }
            // `2024.5` is a number, `2024-05` is a month.
            (separator != '.' && !tail.starts_with(|c: char| c.is_ascii_digit())).then_some(end)
        }
        // `05/03/2024`
        '/' | '.' if first <= 2 && (1..=2).contains(&second) => {
            let tail = next[second..].strip_prefix(separator)?;
            let year = digits(tail);
            let is_date = (1..=31).contains(&own)
                && (1..=31).contains(&next[..second].parse::<u32>().ok()?)
                && year == 4
                && (1_000..3_000).contains(&tail[..4].parse::<u32>().ok()?);
            is_date.then_some(start + first + 1 + second + 1 + year)
        }
        ':' if first <= 2 && second == 2 && own <= 24 && minute() => {
            Some(start + first + 1 + second)
        }
        // `3年` is a time that something takes, `2024年` is a year.
        '\u{5e74}' if is_year => Some(chinese_date_end(text, start + first)),
        '\u{5e74}' if first == 2 && next[second..].trim_start().starts_with('\u{6708}') => {
            Some(chinese_date_end(text, start + first))
        }
        '\u{6708}' if first <= 2 && is_month(&rest[..first]) => {
            Some(chinese_date_end(text, start + first))
        }
        '\u{65e5}' | '\u{53f7}' if first <= 2 && (1..=31).contains(&own) => {
            Some(start + first + blank + separator.len_utf8())
        }
        _ => None,
    }
}

fn is_month(digits: &str) -> bool {
    digits.parse::<u32>().is_ok_and(|month| (1..=12).contains(&month))
}

/// `May 3` and `3 May`, with a year if it follows.
fn day_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let own = &text[start..end];
    let is_day = own.len() <= 2 && own.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day));
    let rest = &text[end..];
    let is_amount =
        rest.starts_with(['.', ',']) && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if !is_day || is_amount || rest.starts_with(['%', '％']) {
        return None;
    }
    let after: String = rest.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    // "3 may" is no day: the name has a capital letter.
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && MONTHS.contains(&word.to_lowercase().as_str())
    };
    if is_name(&after) && rest.starts_with(' ') {
        return Some(end);
    }
    let is_free = rest.is_empty() || rest.starts_with([',', '.', ')', ';', ':', '-', '–', '|']);
    let is_time = ["to", "and", "until", "with", "was", "is"].contains(&after.as_str());
    (is_name(&word_before(text, start)) && (is_free || is_time)).then_some(end)
}

/// The word before a place, with blanks between.
fn word_before(text: &str, at: usize) -> String {
    let before = text[..at].trim_end_matches([' ', '.', '-']);
    let word: String = before.chars().rev().take_while(char::is_ascii_alphanumeric).collect();
    word.chars().rev().collect()
}

/// The length of one blank, if one of these signs is behind it.
fn blank_before(text: &str, signs: &[char]) -> usize {
    match text.strip_prefix(' ') {
        Some(rest) if rest.starts_with(signs) => 1,
        _ => 0,
    }
}

/// Goes on over year, month and day, with or without blanks between them.
fn chinese_date_end(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let sign_at = at + blank_before(&text[at..], &['年', '月', '日', '号']);
        let sign = text[sign_at..].chars().next();
        let Some(sign) = sign.filter(|c| ['年', '月', '日', '号'].contains(c)) else {
            return at;
        };
        at = sign_at + sign.len_utf8();
        let start = at + usize::from(text[at..].starts_with(' '));
        let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
        let rest = &text[start + digits..];
        let blank = blank_before(rest, &['月', '日', '号']);
        let follows = rest[blank..].starts_with(['月', '日', '号']);
        if digits == 0 || digits > 2 || !follows {
            return at;
        }
        at = start + digits;
    }
}

/// A year that stands where only years stand. One that stands elsewhere is a number, unless the
/// data have that year.
pub(super) fn is_year(text: &str, number: &WrittenNumber) -> bool {
    let is_one = number.as_label(text).is_some_and(|year| (1_900..2_100).contains(&year));
    if !is_one || number.at.len() != 4 {
        return false;
    }
    let word = word_before(text, number.at.start).to_lowercase();
    let is_half = |word: &str| {
        let mut chars = word.chars();
        matches!(chars.next(), Some('q' | 'h'))
            && chars.next().is_some_and(|c| c.is_ascii_digit())
            && chars.next().is_none()
    };
    let after: String =
        text[number.at.end..].trim_start().chars().take(2).collect::<String>().to_lowercase();
    let is_month = MONTHS.contains(&word.as_str());
    // After "5 May," too.
    let day = text[..number.at.start].trim_end().strip_suffix(',').map(|own| own.len());
    let is_dated = day.is_some_and(|at| {
        let own = word_before(text, at);
        own.len() <= 2 && own.parse::<u32>().is_ok() && {
            let earlier = at - own.len();
            MONTHS.contains(&word_before(text, earlier).to_lowercase().as_str())
        }
    });
    BEFORE_YEAR.contains(&word.as_str())
        || is_half(&word)
        || is_month
        || is_half(&after)
        || is_dated
}
