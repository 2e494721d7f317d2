//! Words that move something to another time: "改到周三", "postpone 1 hour".

use super::update::TimeShift;
use super::words::typed;
use crate::time::ahead;

/// The amount that all of a text moves something by.
pub(super) fn amount(text: &str) -> Option<TimeShift> {
    let begins = |list| after(text, list).into_iter().find_map(ahead::amount);
    let ends = |list: &[&str]| list.iter().find_map(|end| ahead::amount(text.strip_suffix(end)?));
    let text_later =
        || begins(typed::LATER).or_else(|| ends(typed::LATER_ENDS)).map(TimeShift::Later);
    text_later().or_else(|| {
        begins(typed::EARLIER).or_else(|| ends(typed::EARLIER_ENDS)).map(TimeShift::Earlier)
    })
}

/// The text after words that move something to a date.
pub(super) fn target(text: &str) -> Option<&str> {
    after(text, typed::TO).into_iter().min_by_key(|rest| rest.len())
}

/// The text after each of these words at the start, without a word for "a bit".
fn after<'a>(text: &'a str, list: &[&str]) -> Vec<&'a str> {
    let rest = |word: &&str| {
        let (head, tail) = text.trim().split_at_checked(word.len())?;
        let is_border = !word.is_ascii() || tail.starts_with(' ');
        (head.eq_ignore_ascii_case(word) && is_border).then(|| tail.trim_start())
    };
    list.iter().filter_map(rest).filter(|rest| !rest.is_empty()).collect()
}
