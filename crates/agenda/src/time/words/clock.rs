//! Times of day.

use super::super::clock::DayPart;
use super::{WordList, WordTable};

pub(in super::super) const PARTS: WordTable<DayPart> = &[
    ("凌晨", DayPart::Night),
    ("拂晓", DayPart::Night),
    ("黎明", DayPart::Night),
    ("破晓", DayPart::Night),
    ("天亮前", DayPart::Night),
    ("子夜", DayPart::Midnight),
    ("清晨", DayPart::Morning),
    ("早晨", DayPart::Morning),
    ("早上", DayPart::Morning),
    ("一早", DayPart::Morning),
    ("一大早", DayPart::Morning),
    ("早", DayPart::Morning),
    ("上午", DayPart::Forenoon),
    ("中午", DayPart::Noon),
    ("正午", DayPart::Noon),
    ("下午", DayPart::Afternoon),
    ("午后", DayPart::Afternoon),
    ("傍晚", DayPart::Dusk),
    ("晚上", DayPart::Evening),
    ("晚间", DayPart::Evening),
    ("晚", DayPart::Evening),
    ("夜里", DayPart::Evening),
    ("夜晚", DayPart::Evening),
    ("深夜", DayPart::Late),
    ("午夜", DayPart::Midnight),
    ("半夜", DayPart::Midnight),
    ("大半夜", DayPart::Midnight),
    ("noon", DayPart::Noon),
    ("midday", DayPart::Noon),
    ("midnight", DayPart::Midnight),
    ("eod", DayPart::EndOfDay),
    ("end of day", DayPart::EndOfDay),
    ("end of the day", DayPart::EndOfDay),
    ("cob", DayPart::CloseOfBusiness),
    ("close of business", DayPart::CloseOfBusiness),
    ("close of play", DayPart::CloseOfBusiness),
];
/// Parts that need a clock or a day next to them.
pub(in super::super) const SHY_PARTS: WordTable<DayPart> = &[
    ("早", DayPart::Morning),
    ("晚", DayPart::Evening),
    ("morning", DayPart::Morning),
    ("afternoon", DayPart::Afternoon),
    ("evening", DayPart::Evening),
    ("night", DayPart::Evening),
    ("first thing", DayPart::Morning),
    ("晨", DayPart::Morning),
    ("夜", DayPart::Evening),
];
/// The parts of one character, which are other words elsewhere.
pub(in super::super) const SHY_ENDS: &str = "早晚晨夜";
/// After a part of one character these form another word.
pub(in super::super) const NO_PART_BEFORE: &str = "饭餐会期点晚早安睡课班自训读操市报";
pub(in super::super) const TRAILING_PARTS: WordTable<DayPart> = &[
    ("am", DayPart::Am),
    ("a.m.", DayPart::Am),
    ("a.m", DayPart::Am),
    ("pm", DayPart::Pm),
    ("p.m", DayPart::Pm),
    ("p.m.", DayPart::Pm),
    ("in the morning", DayPart::Morning),
    ("in the afternoon", DayPart::Afternoon),
    ("in the evening", DayPart::Evening),
    ("at night", DayPart::Evening),
    ("tonight", DayPart::Evening),
];
pub(in super::super) const IN_THE_PARTS: WordTable<DayPart> = &[
    ("in the morning", DayPart::Morning),
    ("in the afternoon", DayPart::Afternoon),
    ("in the evening", DayPart::Evening),
    ("at night", DayPart::Evening),
];
pub(in super::super) const HOUR: WordList = &["点", "点钟", "时"];
pub(in super::super) const HALF_PAST: WordList = &["半"];
/// Marks of a clock reading; followed by 钟 they are lengths.
pub(in super::super) const CLOCK_QUARTER: WordList = &["刻"];
pub(in super::super) const CLOCK_MINUTE: WordList = &["分"];
pub(in super::super) const NO_MARK: &str = "钟享析";
pub(in super::super) const QUARTER: WordList = &["刻", "刻钟"];
pub(in super::super) const MINUTE: WordList = &["分", "分钟"];
pub(in super::super) const SHARP: WordList = &["整", "正", "sharp", "on the dot"];
pub(in super::super) const SHARP_LATIN: WordList = &["sharp", "on the dot"];
/// The last letters of `7p`, `8a`.
pub(in super::super) const LETTER_PARTS: WordTable<DayPart> =
    &[("a", DayPart::Am), ("p", DayPart::Pm)];
/// The parts of a day that follow it: "at 7 Friday evening".
pub(in super::super) const DAY_PARTS: WordTable<DayPart> = &[
    ("morning", DayPart::Morning),
    ("afternoon", DayPart::Afternoon),
    ("evening", DayPart::Evening),
    ("night", DayPart::Evening),
    ("in the morning", DayPart::Morning),
    ("in the afternoon", DayPart::Afternoon),
    ("in the evening", DayPart::Evening),
    ("at night", DayPart::Evening),
];
/// Before the end of a span that goes over midnight.
pub(in super::super) const NEXT_DAY: WordList = &["次日", "第二天", "翌日", "隔天"];
/// Activities of the evening, and of the morning.
pub(in super::super) const EVENING_THINGS: WordList = &[
    "dinner",
    "supper",
    "bedtime",
    "晚饭",
    "晚餐",
    "晚会",
    "夜宵",
    "宵夜",
    "晚自习",
    "晚宴",
    "睡觉",
    "就寝",
    "入睡",
    "上床",
    "熄灯",
    "关灯睡",
    "早睡",
];
pub(in super::super) const MORNING_THINGS: WordList =
    &["breakfast", "wake up", "起床", "早饭", "早餐", "早会", "晨跑", "晨会", "早操", "早读"];
pub(in super::super) const SHORT_OF: WordList = &["差", "还差"];
pub(in super::super) const AT: WordList = &["at", "@"];
pub(in super::super) const O_CLOCK: WordList = &["o'clock", "oclock", "o clock"];
pub(in super::super) const BETWEEN: WordList = &["的", "从", "在", "from", ",", "，", "between"];
pub(in super::super) const PAST: WordList = &["past", "after"];
pub(in super::super) const TO: WordList = &["to", "till", "before", "of"];
pub(in super::super) const MINUTES_PAST: WordTable<i8> = &[
    ("half", 30),
    ("quarter", 15),
    ("a quarter", 15),
    ("five", 5),
    ("ten", 10),
    ("twenty", 20),
    ("twenty-five", 25),
    ("twenty five", 25),
];
pub(in super::super) const DIGITS_PAST: WordTable<i8> =
    &[("5", 5), ("10", 10), ("15", 15), ("20", 20), ("25", 25)];
/// Right after one of these a clock alone is the name of a thing: "买三点一刻奶茶".
pub(in super::super) const BOUGHT_BY: WordList =
    &["买", "喝", "吃", "尝", "订购", "购买", "下单", "卖", "囤"];
/// Before an approximate time, and after one.
pub(in super::super) const ROUGHLY: WordList = &[
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
pub(in super::super) const OR_SO: WordList = &["左右", "前后", "上下", "ish", "-ish", "or so"];
/// Between the start and the end of a span of time.
pub(in super::super) const SPAN_TO: WordList =
    &["到", "至", "~", "-", "--", "to", "until", "till", "til", "一直到", "直到", "through"];
