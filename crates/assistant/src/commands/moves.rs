//! Words that move something to another time: "改到周三", "postpone 1 hour".

use super::update::Shift;
use crate::time::ahead;

/// Before a date.
const TO: &[&str] = &[
    "改到",
    "改成",
    "改为",
    "改在",
    "改至",
    "挪到",
    "移到",
    "移至",
    "推迟到",
    "推迟至",
    "延期到",
    "延后到",
    "延到",
    "推到",
    "提前到",
    "提早到",
    "调到",
    "调整到",
    "调至",
    "换到",
    "换成",
    "顺延到",
    "move to",
    "move it to",
    "moved to",
    "reschedule to",
    "reschedule for",
    "reschedule it to",
    "reschedule it for",
    "rescheduled to",
    "push to",
    "push it to",
    "push back to",
    "postpone to",
    "postpone until",
    "postpone till",
    "postponed to",
    "delay to",
    "delay until",
    "change to",
    "change it to",
    "shift to",
    "bring forward to",
    "make it",
    "set to",
];

/// Before an amount, which makes it later.
const LATER: &[&str] = &[
    "推迟",
    "延后",
    "延迟",
    "延期",
    "顺延",
    "往后推",
    "往后推迟",
    "往后移",
    "向后推",
    "后移",
    "晚",
    "postpone",
    "postpone by",
    "postpone it by",
    "postpone for",
    "delay",
    "delay by",
    "delay it by",
    "push",
    "push by",
    "push back",
    "push back by",
    "push it back",
    "push it back by",
    "move back",
    "move back by",
    "snooze",
    "snooze for",
];

/// Before an amount, which makes it earlier.
const EARLIER: &[&str] = &[
    "提前",
    "提早",
    "往前",
    "往前移",
    "往前挪",
    "向前移",
    "前移",
    "早",
    "bring forward",
    "bring forward by",
    "bring it forward",
    "bring it forward by",
    "move up",
    "move up by",
    "move forward",
    "move forward by",
    "advance by",
];

/// Behind an amount.
const LATER_ENDS: &[&str] = &["later", "后移"];
const EARLIER_ENDS: &[&str] = &["earlier", "sooner"];

/// The amount that all of a text moves something by.
pub(super) fn amount(text: &str) -> Option<Shift> {
    let begins = |list| after(text, list).into_iter().find_map(ahead::amount);
    let ends = |list: &[&str]| list.iter().find_map(|end| ahead::amount(text.strip_suffix(end)?));
    let text_later = || begins(LATER).or_else(|| ends(LATER_ENDS)).map(Shift::Later);
    text_later().or_else(|| begins(EARLIER).or_else(|| ends(EARLIER_ENDS)).map(Shift::Earlier))
}

/// What follows words that move something to a date.
pub(super) fn target(text: &str) -> Option<&str> {
    after(text, TO).into_iter().min_by_key(|rest| rest.len())
}

/// What follows each of these words at the start, without a word for a bit.
fn after<'a>(text: &'a str, list: &[&str]) -> Vec<&'a str> {
    let rest = |word: &&str| {
        let (head, tail) = text.trim().split_at_checked(word.len())?;
        let is_border = !word.is_ascii() || tail.starts_with(' ');
        (head.eq_ignore_ascii_case(word) && is_border).then(|| tail.trim_start())
    };
    list.iter().filter_map(rest).filter(|rest| !rest.is_empty()).collect()
}
