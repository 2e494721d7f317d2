//! Shortens text to what the model is shown: by whole lines, with a line that says what is missing.
//!
//! The notice counts towards the limit, so a result never has more characters than asked for.
//! A line is cut in itself, between two graphemes, only where whole lines would leave most of
//! the room empty.

use std::borrow::Cow;
use std::sync::OnceLock;
use unicode_segmentation::UnicodeSegmentation;

/// What takes secrets out of a text before it is cut.
static SCREEN: OnceLock<fn(&str) -> String> = OnceLock::new();

/// Sets what takes secrets out of a text: a secret that was cut in half cannot be recognised. The
/// first call counts for the whole process, which has one redactor.
pub fn screen_with(redact: fn(&str) -> String) {
    let _ = SCREEN.set(redact);
}

fn screened(text: &str) -> Cow<'_, str> {
    SCREEN.get().map_or(Cow::Borrowed(text), |redact| Cow::Owned(redact(text)))
}

/// Keeps the beginning.
#[must_use]
pub fn head(text: &str, chars_max: usize) -> String {
    if fits(text, chars_max) {
        return text.to_owned();
    }
    let text = &*screened(text);
    let Some(room) = room(text.chars().count(), chars_max) else {
        return from_start(text, chars_max, Cut::Anywhere).to_owned();
    };
    let kept = from_start(text, room, Cut::Lines);
    join(kept, &left_out(&text[kept.len()..], ends_line(kept)), "")
}

/// Keeps the beginning and the end.
#[must_use]
pub fn ends(text: &str, chars_max: usize) -> String {
    if fits(text, chars_max) {
        return text.to_owned();
    }
    let text = &*screened(text);
    let Some(room) = room(text.chars().count(), chars_max) else {
        return from_start(text, chars_max, Cut::Anywhere).to_owned();
    };
    let start = from_start(text, room / 2, Cut::Lines);
    let end = from_end(&text[start.len()..], room - room / 2, Cut::Lines);
    let missing = &text[start.len()..text.len() - end.len()];
    let whole = ends_line(start) && (end.is_empty() || ends_line(missing));
    join(start, &left_out(missing, whole), end)
}

/// What was dropped from the middle of a text before it got here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClipGap {
    /// Bytes.
    pub bytes: u64,
    /// Newlines among them.
    pub lines: u64,
}

/// Joins the beginning and the end of a text whose middle is gone, and says how much is.
#[must_use]
pub fn around(start: &str, gap: ClipGap, end: &str, chars_max: usize) -> String {
    if gap.bytes == 0 {
        return ends(&format!("{start}{end}"), chars_max);
    }
    let (start, end) = (&*screened(start), &*screened(end));
    let most = gap.bytes.max(gap.lines) + (start.len() + end.len()) as u64;
    let notice_max = gap_notice(most, most).len() + 2;
    let Some(room) = chars_max.checked_sub(notice_max) else {
        return from_start(start, chars_max, Cut::Anywhere).to_owned();
    };
    let kept_start = from_start(start, room / 2, Cut::Lines);
    let kept_end = from_end(end, room - room / 2, Cut::Lines);
    let missing = [&start[kept_start.len()..], &end[..end.len() - kept_end.len()]];
    let lines: usize = missing.iter().map(|part| part.matches('\n').count()).sum();
    let bytes: usize = missing.iter().map(|part| part.len()).sum();
    join(kept_start, &gap_notice(gap.lines + lines as u64, gap.bytes + bytes as u64), kept_end)
}

/// A number of things, in English.
pub(crate) fn counted(count: u64, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {one}{plural}")
}

fn gap_notice(lines: u64, bytes: u64) -> String {
    format!("[{}, {} left out]", counted(lines, "line"), counted(bytes, "byte"))
}

/// Whether lines stay whole.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    Lines,
    Anywhere,
}

fn fits(text: &str, chars_max: usize) -> bool {
    text.len() <= chars_max || text.chars().count() <= chars_max
}

/// What remains beside the longest possible notice and its two newlines.
fn room(chars: usize, chars_max: usize) -> Option<usize> {
    chars_max.checked_sub(characters_left_out(chars).len() + 2)
}

fn left_out(missing: &str, whole_lines: bool) -> String {
    match (whole_lines, missing.lines().count()) {
        (false, _) => characters_left_out(missing.chars().count()),
        (true, lines) => format!("[{} left out]", counted(lines as u64, "line")),
    }
}

fn characters_left_out(chars: usize) -> String {
    format!("[{} left out]", counted(chars as u64, "character"))
}

fn ends_line(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

fn join(start: &str, notice: &str, end: &str) -> String {
    let before = if ends_line(start) { "" } else { "\n" };
    let after = if end.is_empty() { "" } else { "\n" };
    format!("{start}{before}{notice}{after}{end}")
}

fn from_start(text: &str, chars_max: usize, cut: Cut) -> &str {
    let mut end = 0;
    let mut left = chars_max;
    let pieces = text.split_inclusive('\n').take_while(|line| take(line, &mut left));
    pieces.for_each(|line| end += line.len());
    if cut == Cut::Lines && left <= chars_max / 2 {
        return &text[..end];
    }
    let line = &text[end..];
    let pieces = line.graphemes(true).take_while(|grapheme| take(grapheme, &mut left));
    pieces.for_each(|grapheme| end += grapheme.len());
    &text[..end]
}

fn from_end(text: &str, chars_max: usize, cut: Cut) -> &str {
    let mut start = text.len();
    let mut left = chars_max;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let pieces = lines.iter().rev().take_while(|line| take(line, &mut left));
    pieces.for_each(|line| start -= line.len());
    if cut == Cut::Lines && left <= chars_max / 2 {
        return &text[start..];
    }
    let line = &text[..start];
    let pieces = line.graphemes(true).rev().take_while(|grapheme| take(grapheme, &mut left));
    pieces.for_each(|grapheme| start -= grapheme.len());
    &text[start..]
}

fn take(piece: &str, left: &mut usize) -> bool {
    match left.checked_sub(piece.chars().count()) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

#[cfg(test)]
#[path = "clip_tests.rs"]
mod tests;
