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
pub(in super::super) const YEARS: &[&str] =
    &["明年", "后年", "後年", "次年", "翌年", "来年", "next year", "the year after"];

/// They count from today, so that no year is missing.
pub(in super::super) const FROM_TODAY: &[&str] = &[
    "天后",
    "日后",
    "周后",
    "星期后",
    "礼拜后",
    "个月后",
    "月后",
    "年后",
    "以后",
    "之后",
    "天內",
    "天内",
    "下周",
    "下个月",
    "下下",
    "下月",
    "明天",
    "后天",
    "明晚",
    "本周",
    "这周",
    "周末",
    "下个季度",
    "下季度",
    "next ",
    "tomorrow",
    "from now",
    "later",
    "days",
    "weeks",
    "months",
    "years",
];

/// How a year of two digits begins a word.
pub(in super::super) fn short_years(year: i16) -> [String; 3] {
    ["年", "-", "/"].map(|mark| format!("{:02}{mark}", year % 100))
}

/// A year in Chinese digits, as people write it.
pub(in super::super) fn written_year(year: i16) -> [String; 2] {
    ["〇一二三四五六七八九", "零一二三四五六七八九"].map(|digits| {
        let place = |c: char| c.to_digit(10).and_then(|n| digits.chars().nth(n as usize));
        year.to_string().chars().filter_map(place).collect()
    })
}
