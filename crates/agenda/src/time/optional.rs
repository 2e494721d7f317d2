//! A date or a repetition in an option, without other text.

use jiff::Zoned;

use super::dates::{self, ParsedDate, longest};
use super::every::SpokenRepeat;
use super::offsets::amounts;
use super::scan::Scan;
use super::texts::UnclearPhrase;
use super::titles::is_border;

/// Parses an option that is one date phrase. A bare amount is from now.
///
/// # Errors
/// With the piece that was not understood.
pub fn read_option(text: &str, now: &Zoned) -> Result<ParsedDate, UnclearPhrase> {
    let text = text.trim();
    if let Some(when) = dates::parse(text, now) {
        return Ok(when);
    }
    let scan = Scan::new(text);
    let is_amount = amounts(&scan, 0).iter().any(|(_, end)| *end == scan.len());
    if let Some(when) = dates::parse(&format!("in {text}"), now).filter(|_| is_amount) {
        return Ok(when);
    }
    let start = scan.skip_spaces(0);
    let piece = match longest(&scan, start, now) {
        Some((_, end)) => text[scan.offset(end)..].trim_matches(is_border),
        None => text,
    };
    Err(UnclearPhrase(if piece.is_empty() { text.to_owned() } else { piece.to_owned() }))
}

/// A repetition in an option, without its own time.
#[must_use]
pub fn read_every(text: &str) -> Option<SpokenRepeat> {
    let scan = Scan::new(text.trim());
    let all = super::every::repetitions(&scan, 0).into_iter();
    let every = all.filter(|(_, end)| *end == scan.len()).map(|(every, _)| every).next();
    let amount = || {
        let all = super::every::repetitions(&Scan::new(&format!("every {}", text.trim())), 0);
        let is_amount = amounts(&scan, 0).iter().any(|(_, end)| *end == scan.len());
        all.into_iter().find(|(_, end)| *end == scan.len() + 6 && is_amount).map(|(every, _)| every)
    };
    every.or_else(amount)
}
