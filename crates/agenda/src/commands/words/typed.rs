//! The words for moving something and for reminders.

/// Before a date.
pub(in super::super) const TO: &[&str] = &[
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
pub(in super::super) const LATER: &[&str] = &[
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
pub(in super::super) const EARLIER: &[&str] = &[
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

/// After an amount.
pub(in super::super) const LATER_ENDS: &[&str] = &["later", "后移"];
pub(in super::super) const EARLIER_ENDS: &[&str] = &["earlier", "sooner"];

/// They ask for a reminder of what follows.
pub(in super::super) const ASKS: [&str; 9] = [
    "提醒我一下",
    "提醒我",
    "提醒一下我",
    "记得提醒我",
    "请提醒我",
    "remind me to ",
    "remind me about ",
    "remind me of ",
    "remind me ",
];

/// They say that a date is in another year.
pub(in super::super) const YEARS: &[&str] = &["明年", "后年", "後年", "next year"];
