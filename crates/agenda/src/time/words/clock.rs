//! Times of day.

use super::super::clock::Part;
use super::{List, Table};

pub(in super::super) const PARTS: Table<Part> = &[
    ("凌晨", Part::Night),
    ("清晨", Part::Morning),
    ("早晨", Part::Morning),
    ("早上", Part::Morning),
    ("一早", Part::Morning),
    ("一大早", Part::Morning),
    ("早", Part::Morning),
    ("上午", Part::Forenoon),
    ("中午", Part::Noon),
    ("正午", Part::Noon),
    ("下午", Part::Afternoon),
    ("午后", Part::Afternoon),
    ("傍晚", Part::Dusk),
    ("晚上", Part::Evening),
    ("晚间", Part::Evening),
    ("晚", Part::Evening),
    ("夜里", Part::Evening),
    ("夜晚", Part::Evening),
    ("深夜", Part::Late),
    ("午夜", Part::Midnight),
    ("半夜", Part::Midnight),
    ("大半夜", Part::Midnight),
    ("noon", Part::Noon),
    ("midday", Part::Noon),
    ("midnight", Part::Midnight),
    ("eod", Part::EndOfDay),
    ("end of day", Part::EndOfDay),
    ("end of the day", Part::EndOfDay),
    ("cob", Part::CloseOfBusiness),
    ("close of business", Part::CloseOfBusiness),
    ("close of play", Part::CloseOfBusiness),
];
/// Parts that need a clock or a day beside them.
pub(in super::super) const SHY_PARTS: Table<Part> = &[
    ("早", Part::Morning),
    ("晚", Part::Evening),
    ("morning", Part::Morning),
    ("afternoon", Part::Afternoon),
    ("evening", Part::Evening),
    ("night", Part::Evening),
    ("first thing", Part::Morning),
    ("晨", Part::Morning),
    ("夜", Part::Evening),
];
/// The parts of one character, which are other words elsewhere.
pub(in super::super) const SHY_ENDS: &str = "早晚晨夜";
/// Behind a part of one character these make another word of it.
pub(in super::super) const NO_PART_BEFORE: &str = "饭餐会期点晚早安睡课班自训读操市报";
pub(in super::super) const TRAILING_PARTS: Table<Part> = &[
    ("am", Part::Am),
    ("a.m.", Part::Am),
    ("a.m", Part::Am),
    ("pm", Part::Pm),
    ("p.m", Part::Pm),
    ("p.m.", Part::Pm),
    ("in the morning", Part::Morning),
    ("in the afternoon", Part::Afternoon),
    ("in the evening", Part::Evening),
    ("at night", Part::Evening),
    ("tonight", Part::Evening),
];
pub(in super::super) const IN_THE_PARTS: Table<Part> = &[
    ("in the morning", Part::Morning),
    ("in the afternoon", Part::Afternoon),
    ("in the evening", Part::Evening),
    ("at night", Part::Evening),
];
pub(in super::super) const HOUR: List = &["点", "点钟", "时"];
pub(in super::super) const HALF_PAST: List = &["半"];
/// Marks of what a clock shows; with 钟 behind them they are lengths.
pub(in super::super) const CLOCK_QUARTER: List = &["刻"];
pub(in super::super) const CLOCK_MINUTE: List = &["分"];
pub(in super::super) const NO_MARK: &str = "钟享析";
pub(in super::super) const QUARTER: List = &["刻", "刻钟"];
pub(in super::super) const MINUTE: List = &["分", "分钟"];
pub(in super::super) const SHARP: List = &["整", "正", "sharp", "on the dot"];
pub(in super::super) const SHARP_LATIN: List = &["sharp", "on the dot"];
/// The last letters of `7p`, `8a`.
pub(in super::super) const LETTER_PARTS: Table<Part> = &[("a", Part::Am), ("p", Part::Pm)];
/// The parts of a day that are said behind it: "at 7 Friday evening".
pub(in super::super) const DAY_PARTS: Table<Part> = &[
    ("morning", Part::Morning),
    ("afternoon", Part::Afternoon),
    ("evening", Part::Evening),
    ("night", Part::Evening),
    ("in the morning", Part::Morning),
    ("in the afternoon", Part::Afternoon),
    ("in the evening", Part::Evening),
    ("at night", Part::Evening),
];
/// Before the end of a span that goes over midnight.
pub(in super::super) const NEXT_DAY: List = &["次日", "第二天", "翌日", "隔天"];
/// What is done in the evening, and what is done in the morning.
pub(in super::super) const EVENING_THINGS: List =
    &["dinner", "supper", "晚饭", "晚餐", "晚会", "夜宵", "宵夜", "晚自习", "晚宴"];
pub(in super::super) const MORNING_THINGS: List =
    &["breakfast", "wake up", "起床", "早饭", "早餐", "早会", "晨跑", "晨会", "早操", "早读"];
pub(in super::super) const SHORT_OF: List = &["差", "还差"];
pub(in super::super) const AT: List = &["at", "@"];
pub(in super::super) const O_CLOCK: List = &["o'clock", "oclock", "o clock"];
pub(in super::super) const BETWEEN: List = &["的", "从", "在", "from", ",", "，", "between"];
pub(in super::super) const PAST: List = &["past", "after"];
pub(in super::super) const TO: List = &["to", "till", "before", "of"];
pub(in super::super) const MINUTES_PAST: Table<i8> = &[
    ("half", 30),
    ("quarter", 15),
    ("a quarter", 15),
    ("five", 5),
    ("ten", 10),
    ("twenty", 20),
    ("twenty-five", 25),
    ("twenty five", 25),
];
pub(in super::super) const DIGITS_PAST: Table<i8> =
    &[("5", 5), ("10", 10), ("15", 15), ("20", 20), ("25", 25)];
/// Before a time that is meant roughly, and behind one.
pub(in super::super) const ROUGHLY: List = &[
    "大概",
    "大约",
    "约",
    "差不多",
    "around",
    "about",
    "approximately",
    "approx",
    "approx.",
    "roughly",
    "circa",
    "at around",
    "at about",
];
pub(in super::super) const OR_SO: List = &["左右", "前后", "上下", "ish", "-ish", "or so"];
/// Between the begin and the end of a span of time.
pub(in super::super) const SPAN_TO: List =
    &["到", "至", "~", "-", "--", "to", "until", "till", "til", "一直到", "直到", "through"];
