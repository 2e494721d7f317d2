//! The words of the sentence rules in both languages. They are what people type.

pub(super) type PhraseList = &'static [&'static str];

/// Politeness before a request.
pub(super) const POLITE: PhraseList = &[
    "请你",
    "请",
    "麻烦你",
    "麻烦",
    "帮我",
    "给我",
    "帮忙",
    "please",
    "can you",
    "could you",
    "would you",
    "can you please",
    "could you please",
    "hey",
];
/// Politeness after one.
pub(super) const POLITE_ENDS: PhraseList =
    &["please", "谢谢", "thanks", "thank you", "吧", "哦", "啊"];

// Items to add.

/// Asks to be reminded; a due date alone is not enough.
pub(super) const REMIND: PhraseList = &[
    "提醒我",
    "提醒一下我",
    "提醒我要",
    "记得提醒我",
    "叫我",
    "记得",
    "别忘了",
    "不要忘了",
    "别忘记",
    "remind me to",
    "remind me that",
    "remind me about",
    "remind me of",
    "remind me",
    "don't forget",
    "don't forget to",
    "don't let me forget to",
    "set a reminder to",
    "set a reminder for",
    "reminder to",
    "reminder:",
    "提醒",
    "请提醒我",
    "到时提醒我",
    "记得叫我",
    "通知我",
];
/// The text of a reminder that names none.
pub(super) const BARE_REMIND: [&str; 3] = ["提醒我", "叫我", "remind me"];
pub(super) const TODO: PhraseList = &[
    "create a todo",
    "create a todo to",
    "待办 ",
    "待办:",
    "待办：",
    "添加待办",
    "添加待办:",
    "添加待办：",
    "新建待办",
    "新增待办",
    "加个待办",
    "加一个待办",
    "添加一个待办",
    "新建待办：",
    "新增待办：",
    "加个待办：",
    "记一下",
    "记一下：",
    "记一下:",
    "记下",
    "add todo",
    "add todo:",
    "add a todo",
    "add a todo:",
    "add a todo to",
    "new todo",
    "new todo:",
    "todo:",
    "add a task",
    "add a task to",
    "add task",
    "task:",
];
/// Of the reminders, those that are clear without a date; they become plain todos.
pub(super) const CLEAR_REMIND: PhraseList =
    &["提醒我", "提醒我要", "remind me to", "don't forget to", "别忘了", "不要忘了"];
pub(super) const SCHEDULE: PhraseList = &[
    "add",
    "add a",
    "add an",
    "put",
    "create a",
    "安排",
    "预约",
    "添加日程",
    "添加日程：",
    "新建日程",
    "新建日程：",
    "创建日程",
    "加个日程",
    "日程：",
    "日程:",
    "schedule",
    "schedule a",
    "schedule an",
    "book",
    "book a",
    "book an",
    "set up a",
    "set up",
    "plan a",
    "add an event",
    "add event",
    "create an event",
    "new event",
    "new event:",
];
/// Between the day of a reminder and what it is about.
pub(super) const ABOUT: PhraseList = &["about", "of", "to", "to do"];
/// Stated as a fact, meant as an entry.
pub(super) const TOLD: PhraseList = &[
    "我要",
    "我想",
    "我得",
    "我需要",
    "我有个",
    "我有",
    "我",
    "要",
    "有个",
    "有一个",
    "需要",
    "i have a",
    "i have an",
    "i have",
    "i need to",
    "i have to",
    "i must",
    "i want to",
    "i've got a",
    "we have a",
    "we have",
    "there is a",
    "there's a",
];
pub(super) const CALENDAR_ENDS: PhraseList =
    &["to my calendar", "to my schedule", "in my calendar"];
/// After a text, they ask to save it as a todo; one of the words below is before it.
pub(super) const TODO_ENDS: PhraseList = &[
    "to my list",
    "to the list",
    "on my list",
    "to my tasks",
    "to my todos",
    "to my todo list",
    "to the todo list",
    "to my to-do list",
    "on my todo list",
    "on my to-do list",
];
pub(super) const PUTS: PhraseList = &["add", "put"];
/// An alarm is a reminder without a text.
pub(super) const ALARMS: &[(&str, &str)] = &[
    ("set an alarm for", "alarm"),
    ("set an alarm at", "alarm"),
    ("set an alarm", "alarm"),
    ("set alarm for", "alarm"),
    ("alarm for", "alarm"),
    ("定个闹钟", "闹钟"),
    ("定闹钟", "闹钟"),
    ("设个闹钟", "闹钟"),
    ("设置闹钟", "闹钟"),
];
/// To be woken is to be reminded to wake up.
pub(super) const WAKE: PhraseList = &["wake me up", "wake me"];
/// Words between a date and its text.
pub(super) const TITLE_STARTS: PhraseList =
    &["要", "去参加", "的", "把", "to", "that", "about", "i have a", "i have", "for"];
pub(super) const TITLE_ENDS: PhraseList =
    &["在", "于", "at", "on", "by", "的时候", "on my calendar for", "on my calendar"];

/// They describe an entry, and do not ask for one.
pub(super) const TOLD_OF: PhraseList = &[" is ", " was ", " are ", "太晚", "太早", "建议"];
/// Marks that a title may share with a date.
pub(super) const DATE_MARKS: PhraseList = &[
    "点", "号", "日", "月", "周", "天", "年", "节", "早", "晚", "到", "至", "day", "week", "month",
    "am", "pm", ":", "to ", "and ", "every", "前", "后", "分", "时", "tomorrow", "at ", "on ",
    "in ", "for ", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "次", "每",
];
/// These change an entry that is there; the rules only add.
pub(super) const CHANGES: PhraseList = &[
    "取消",
    "改到",
    "改成",
    "改为",
    "推迟",
    "延期",
    "挪到",
    "cancel",
    "reschedule",
    "postpone",
    "move",
];

/// Without a clock only these make a sentence an entry.
pub(super) const EVENTS: PhraseList = &[
    "开会",
    "会议",
    "例会",
    "开例会",
    "面试",
    "体检",
    "出差",
    "约会",
    "聚餐",
    "聚会",
    "培训",
    "上课",
    "考试",
    "看医生",
    "看牙",
    "交",
    "买",
    "去",
    "还",
    "打电话",
    "给",
    "取",
    "寄",
    "跑步",
    "吃药",
    "复习",
    "开工",
    "大扫除",
    "打扫",
    "搬家",
    "值班",
    "加班",
    "吃饭",
    "看电影",
    "见面",
    "睡觉",
    "起床",
    "出发",
    "集合",
    "叫我",
    "meeting",
    "lunch",
    "dinner",
    "breakfast",
    "dentist",
    "doctor",
    "appointment",
    "interview",
    "call",
    "exam",
    "class",
    "buy",
    "pay",
    "submit",
    "visit",
    "pick up",
    "send",
    "gym",
    "party",
    "flight",
];
/// They begin a question, a statement or a greeting.
pub(super) const ASKING: PhraseList = &[
    "吗",
    "呢",
    "什么",
    "怎么",
    "怎样",
    "为什么",
    "为啥",
    "谁",
    "哪",
    "几点",
    "多少",
    "是否",
    "有没有",
    "能不能",
    "会不会",
    "是不是",
    "如何",
    "天气",
];
pub(super) const ASKING_STARTS: PhraseList = &[
    "what", "what's", "why", "how", "who", "when", "where", "which", "is", "are", "was", "were",
    "do", "does", "did", "can", "could", "will", "would", "should", "i", "i'm", "he", "she", "it",
    "it's", "they", "you", "we", "the", "that", "this", "tell", "explain", "write", "好", "了",
    "是", "都", "很", "太", "真",
];
