//! The rest of a text without its date: a title and a length.

use super::clock::DayPart;
use super::dates::may_start;
use super::offsets::amounts;
use super::scan::Scan;
use super::words;

/// Whether a character separates a date from its text.
pub(super) fn is_border(c: char) -> bool {
    c.is_whitespace() || ",，:：;；、。".contains(c)
}

/// Whether a character may be before a date at the front: a space or an opening bracket.
pub(super) fn is_opening(c: char) -> bool {
    is_border(c) || "([【".contains(c)
}

pub(super) fn is_end(c: char) -> bool {
    is_border(c) || ".!！?？)）]】".contains(c)
}

/// The half of the day in which something takes place, if its title says so.
pub(super) fn half_of_day(title: &str) -> Option<DayPart> {
    let scan = Scan::new(title);
    let has = |list| (0..scan.len()).any(|at| scan.any(at, list).is_some());
    match (has(words::EVENING_THINGS), has(words::MORNING_THINGS)) {
        (true, false) => Some(DayPart::Pm),
        (false, true) => Some(DayPart::Am),
        _ => None,
    }
}

/// Adds a piece of a text to a title, without the words around the date.
pub(super) fn join(title: &mut String, piece: &str) {
    let mut piece = unwrapped(piece.trim_matches(is_border));
    if piece.chars().all(is_end) {
        piece = "";
    }
    if title.is_empty() {
        piece = words::OPENERS
            .iter()
            .find(|word| piece.eq_ignore_ascii_case(word))
            .map_or(piece, |_| "");
    }
    loop {
        let before = piece;
        for word in words::TIES {
            let head =
                piece.len().checked_sub(word.len()).and_then(|at| piece.split_at_checked(at));
            if let Some((head, tail)) = head
                && tail.eq_ignore_ascii_case(word)
                && (!word.is_ascii() && head.is_empty() || head.ends_with(' ') || head.is_empty())
            {
                piece = head.trim_end_matches(is_border);
            }
        }
        if !title.is_empty() || piece.starts_with('的') {
            piece = piece.strip_prefix('的').unwrap_or(piece).trim_start_matches(is_border);
        }
        if piece == before {
            break;
        }
    }
    let is_latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii());
    let needs_space = is_latin(title.chars().next_back()) || is_latin(piece.chars().next());
    if !title.is_empty() && !piece.is_empty() && needs_space {
        title.push(' ');
    }
    title.push_str(piece);
}

/// A piece without the bracket or dash that separated the date from it.
fn unwrapped(piece: &str) -> &str {
    let is_space = |c: char| is_border(c);
    let mut piece = piece;
    for (open, close) in ["()", "（）", "[]", "【】"].iter().filter_map(|pair| {
        let mut both = pair.chars();
        both.next().zip(both.next())
    }) {
        let (opens, closes) = (piece.matches(open).count(), piece.matches(close).count());
        if opens > closes {
            piece = piece.strip_suffix(open).unwrap_or(piece).trim_end_matches(is_space);
        }
        if closes > opens {
            piece = piece.strip_prefix(close).unwrap_or(piece).trim_start_matches(is_space);
        }
    }
    for dash in [" -", " –", " —", " ——"] {
        piece = piece.strip_suffix(dash).unwrap_or(piece).trim_end_matches(is_space);
    }
    for dash in ["- ", "– ", "— ", "—— "] {
        piece = piece.strip_prefix(dash).unwrap_or(piece).trim_start_matches(is_space);
    }
    piece
}

/// The length that a text ends or begins with, in minutes, and the text without it.
pub(super) fn length(text: &str) -> (Option<i64>, String) {
    let scan = Scan::new(text);
    let minutes = |amount: super::offsets::Amount| {
        amount.minutes().filter(|minutes| (1..=24 * 60).contains(minutes))
    };
    for at in 1..scan.len() {
        if !may_start(&scan, at) || scan.before(at).is_some_and(words::is_number) {
            continue;
        }
        let begin = scan.maybe(at, words::LENGTH_STARTS);
        let found = amounts(&scan, begin).into_iter().find(|(_, end)| *end == scan.len());
        let rest = text[..scan.offset(at)].trim_end_matches(is_border);
        if let Some(minutes) = found.and_then(|(amount, _)| minutes(amount)) {
            return (Some(minutes), rest.to_owned());
        }
    }
    let begin = scan.maybe(0, words::LENGTH_STARTS);
    let found = amounts(&scan, begin).into_iter().max_by_key(|(_, end)| *end);
    if let Some((amount, end)) = found
        && (scan.get(end).is_some_and(char::is_whitespace) || is_glued_length(&scan, end))
        && let Some(minutes) = minutes(amount)
    {
        let end = scan.maybe(end, words::POSSESSIVE);
        return (Some(minutes), text[scan.offset(end)..].trim_start_matches(is_border).to_owned());
    }
    (None, text.to_owned())
}

/// "30分钟快走": a Chinese length needs no space, but "30分钟后" and "30分钟一次" are not lengths.
fn is_glued_length(scan: &Scan, end: usize) -> bool {
    let is_chinese = |c: Option<char>| c.is_some_and(|c| !c.is_ascii());
    let others = [words::AWAY, words::NO_LENGTH_BEFORE];
    let is_other = others.iter().any(|list| scan.any(end, list).is_some());
    is_chinese(scan.before(end)) && is_chinese(scan.get(end)) && !is_other
}
