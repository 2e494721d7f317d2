//! The end of a repetition after its text: "每天跑步 直到12月1日", "…，共8次".

use jiff::Zoned;

use super::dates::{self, ParsedDate, may_start};
use super::scan::Scan;
use super::titles::is_border;
use super::words;

/// The repetition with its end, and the text before it.
pub(super) fn behind(
    when: &ParsedDate,
    title: &str,
    phrase: &str,
    now: &Zoned,
) -> Option<(ParsedDate, String)> {
    if when.repeat.is_none() || when.times.is_some() {
        return None;
    }
    let scan = Scan::new(title);
    let mut starts = (1..scan.len()).filter(|at| may_start(&scan, *at));
    starts.find_map(|at| {
        scan.any(at, words::IN_ALL).or_else(|| scan.any(at, words::UNTIL))?;
        let (rest, tail) = title.split_at(scan.offset(at));
        let limited = dates::parse(&format!("{phrase} {}", tail.trim_end_matches(is_border)), now)?;
        Some((limited, rest.trim_end_matches(is_border).to_owned()))
    })
}
