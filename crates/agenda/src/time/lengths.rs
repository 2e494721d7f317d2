//! How long something takes.

use super::offsets::amounts;
use super::scan::Scan;

/// The minutes of a length: `45m`, `1h30m`, `90`, `一个半小时`, `two hours`.
#[must_use]
pub fn minutes(text: &str) -> Option<i64> {
    let scan = Scan::new(text.trim());
    let end = scan.len();
    let number = scan.number(0).filter(|(_, after)| *after == end);
    if let Some((minutes, _)) = number {
        return Some(i64::from(minutes));
    }
    let found = amounts(&scan, 0).into_iter().find(|(_, after)| *after == end);
    found.and_then(|(amount, _)| amount.minutes())
}
