//! Days with their own name.

use jiff::civil::Weekday::{Monday, Sunday, Thursday};

use super::super::holidays::Holiday::{
    self, AfterNth, Easter, Fixed, Lunar, LunarEve, Nth, Qingming, Solstice, Term,
};
use super::{WordList, WordTable};

/// Names that mean nothing else.
pub(in super::super) const HOLIDAYS: WordTable<Holiday> = &[
    ("元旦", Fixed(1, 1)),
    ("元旦节", Fixed(1, 1)),
    ("情人节", Fixed(2, 14)),
    ("妇女节", Fixed(3, 8)),
    ("三八节", Fixed(3, 8)),
    ("三八妇女节", Fixed(3, 8)),
    ("植树节", Fixed(3, 12)),
    ("消费者日", Fixed(3, 15)),
    ("愚人节", Fixed(4, 1)),
    ("劳动节", Fixed(5, 1)),
    ("五一劳动节", Fixed(5, 1)),
    ("五一节", Fixed(5, 1)),
    ("青年节", Fixed(5, 4)),
    ("五四青年节", Fixed(5, 4)),
    ("儿童节", Fixed(6, 1)),
    ("六一儿童节", Fixed(6, 1)),
    ("六一节", Fixed(6, 1)),
    ("建党节", Fixed(7, 1)),
    ("建军节", Fixed(8, 1)),
    ("教师节", Fixed(9, 10)),
    ("国庆", Fixed(10, 1)),
    ("国庆节", Fixed(10, 1)),
    ("十一国庆", Fixed(10, 1)),
    ("十一国庆节", Fixed(10, 1)),
    ("万圣节", Fixed(10, 31)),
    ("光棍节", Fixed(11, 11)),
    ("双十一", Fixed(11, 11)),
    ("双11", Fixed(11, 11)),
    ("双十二", Fixed(12, 12)),
    ("双12", Fixed(12, 12)),
    ("平安夜", Fixed(12, 24)),
    ("圣诞夜", Fixed(12, 24)),
    ("圣诞", Fixed(12, 25)),
    ("圣诞节", Fixed(12, 25)),
    ("跨年", Fixed(12, 31)),
    ("跨年夜", Fixed(12, 31)),
    ("母亲节", Nth(5, 2, Sunday)),
    ("父亲节", Nth(6, 3, Sunday)),
    ("感恩节", Nth(11, 4, Thursday)),
    ("复活节", Easter(0)),
    ("春节", Lunar(1, 1)),
    ("过年", Lunar(1, 1)),
    ("大年三十", LunarEve),
    ("腊月三十", LunarEve),
    ("年三十", LunarEve),
    ("大年夜", LunarEve),
    ("除夕", LunarEve),
    ("除夕夜", LunarEve),
    ("大年初一", Lunar(1, 1)),
    ("大年初二", Lunar(1, 2)),
    ("大年初三", Lunar(1, 3)),
    ("大年初四", Lunar(1, 4)),
    ("大年初五", Lunar(1, 5)),
    ("大年初六", Lunar(1, 6)),
    ("大年初七", Lunar(1, 7)),
    ("大年初八", Lunar(1, 8)),
    ("元宵", Lunar(1, 15)),
    ("元宵节", Lunar(1, 15)),
    ("龙抬头", Lunar(2, 2)),
    ("清明", Qingming),
    ("清明节", Qingming),
    ("端午", Lunar(5, 5)),
    ("端午节", Lunar(5, 5)),
    ("七夕", Lunar(7, 7)),
    ("七夕节", Lunar(7, 7)),
    ("中元节", Lunar(7, 15)),
    ("中秋", Lunar(8, 15)),
    ("中秋节", Lunar(8, 15)),
    ("重阳", Lunar(9, 9)),
    ("重阳节", Lunar(9, 9)),
    ("冬至", Solstice),
    ("立春", Term(2, 387)),
    ("春分", Term(3, 2065)),
    ("立夏", Term(5, 552)),
    ("夏至", Term(6, 2137)),
    ("立秋", Term(8, 750)),
    ("秋分", Term(9, 2304)),
    ("腊八", Lunar(12, 8)),
    ("腊八节", Lunar(12, 8)),
    ("小年", Lunar(12, 23)),
    ("new year's day", Fixed(1, 1)),
    ("new years day", Fixed(1, 1)),
    ("new year's", Fixed(1, 1)),
    ("valentine's day", Fixed(2, 14)),
    ("valentines day", Fixed(2, 14)),
    ("valentine's", Fixed(2, 14)),
    ("st patrick's day", Fixed(3, 17)),
    ("st. patrick's day", Fixed(3, 17)),
    ("april fools' day", Fixed(4, 1)),
    ("april fools day", Fixed(4, 1)),
    ("april fool's day", Fixed(4, 1)),
    ("independence day", Fixed(7, 4)),
    ("fourth of july", Fixed(7, 4)),
    ("halloween", Fixed(10, 31)),
    ("veterans day", Fixed(11, 11)),
    ("singles' day", Fixed(11, 11)),
    ("singles day", Fixed(11, 11)),
    ("christmas eve", Fixed(12, 24)),
    ("xmas eve", Fixed(12, 24)),
    ("christmas", Fixed(12, 25)),
    ("christmas day", Fixed(12, 25)),
    ("xmas", Fixed(12, 25)),
    ("xmas day", Fixed(12, 25)),
    ("boxing day", Fixed(12, 26)),
    ("new year's eve", Fixed(12, 31)),
    ("new years eve", Fixed(12, 31)),
    ("nye", Fixed(12, 31)),
    ("mother's day", Nth(5, 2, Sunday)),
    ("mothers day", Nth(5, 2, Sunday)),
    ("memorial day", Nth(5, -1, Monday)),
    ("father's day", Nth(6, 3, Sunday)),
    ("fathers day", Nth(6, 3, Sunday)),
    ("labor day", Nth(9, 1, Monday)),
    ("columbus day", Nth(10, 2, Monday)),
    ("thanksgiving", Nth(11, 4, Thursday)),
    ("thanksgiving day", Nth(11, 4, Thursday)),
    ("good friday", Easter(-2)),
    ("easter", Easter(0)),
    ("easter sunday", Easter(0)),
    ("easter monday", Easter(1)),
    ("chinese new year", Lunar(1, 1)),
    ("lunar new year", Lunar(1, 1)),
    ("spring festival", Lunar(1, 1)),
    ("lantern festival", Lunar(1, 15)),
    ("dragon boat festival", Lunar(5, 5)),
    ("mid-autumn festival", Lunar(8, 15)),
    ("mid autumn festival", Lunar(8, 15)),
    ("black friday", AfterNth(11, 4, Thursday, 1)),
    ("cyber monday", AfterNth(11, 4, Thursday, 4)),
];
/// Names that are also numbers; they need a separator or one of some words after them.
pub(in super::super) const SHY_HOLIDAYS: WordTable<Holiday> = &[
    ("五一", Fixed(5, 1)),
    ("十一", Fixed(10, 1)),
    ("六一", Fixed(6, 1)),
    ("三八", Fixed(3, 8)),
    ("五四", Fixed(5, 4)),
];
/// What may follow the name of a holiday that is a date and not an attribute.
pub(in super::super) const BEHIND_HOLIDAYS: WordList = &[
    "当天", "那天", "这天", "前", "后", "之前", "之后", "去", "回", "买", "给", "和", "跟", "请",
    "打", "看", "吃", "放", "聚", "约", "陪", "送", "开", "要", "提醒", "记得", "我", "到", "交",
    "订", "出", "休", "办", "做", "写", "发", "带", "见", "拜", "寄", "取", "包", "扫墓", "赏",
    "祭", "上坟", "踏青", "喝", "煮", "贴", "值班", "加班", "旅游", "登山", "爬山", "逛", "划",
    "团圆", "在", "体检", "值",
];
/// Activities of holidays, and what is written about them: "国庆旅游攻略".
pub(in super::super) const ACTIVITIES: WordList = &[
    "旅游", "旅行", "放假", "送礼", "出行", "出游", "值班", "加班", "聚会", "聚餐", "团圆", "登山",
    "爬山", "踏青", "赏月", "体检", "扫墓", "拜年", "回家", "回乡", "开门", "看房", "看展",
];
pub(in super::super) const DOCUMENTS: &[&str] = &[
    "攻略", "计划", "安排", "清单", "方案", "名单", "通知", "预算", "活动", "照片", "总结", "表",
    "路线", "须知", "行程", "报名", "文案", "海报", "费用", "机票", "车票", "酒店",
];
/// The ends of names that are an evening.
pub(in super::super) const EVES: &[&str] = &["夜", "year's eve", "years eve", "christmas eve"];
/// What may go with the name of a holiday.
pub(in super::super) const HOLIDAY_DAYS: WordList =
    &["当天", "那天", "这天", "那一天", "当日", "day itself"];
pub(in super::super) const LUNAR: WordList = &["农历", "阴历", "旧历", "lunar"];
pub(in super::super) const LUNAR_LEAP: WordList = &["闰"];
pub(in super::super) const LUNAR_MONTHS: WordTable<i8> =
    &[("正月", 1), ("冬月", 11), ("腊月", 12), ("臘月", 12)];
/// They begin a day of a lunar month.
pub(in super::super) const LUNAR_MARKS: &str = "初廿";
/// Activities of lunar holidays.
pub(in super::super) const LUNAR_THINGS: WordList =
    &["赏月", "月饼", "中秋", "团圆", "元宵", "灯会", "花灯", "粽", "龙舟", "乞巧", "登高", "重阳"];
pub(in super::super) const LUNAR_FIRST: WordList = &["初"];
