use proptest::prelude::*;

use super::*;

fn now() -> Zoned {
    "2026-11-15T09:00[Asia/Shanghai]".parse().unwrap()
}

fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(sentence, expected)| {
            let got = match understand(sentence, &now()) {
                None => "none".to_owned(),
                Some(Ok(line)) => line,
                Some(Err(wrong)) => format!("{wrong:?}"),
            };
            (got != *expected).then(|| format!("{sentence}: {got}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sentences_become_schedule_entries() {
    check(&[
        ("明天下午3点开会", "/schedule add 2026-11-16 15:00 开会"),
        ("明天下午3点开会。", "/schedule add 2026-11-16 15:00 开会"),
        ("我明天下午3点要开会", "/schedule add 2026-11-16 15:00 开会"),
        ("我要在周五晚上7点和老王吃饭", "/schedule add 2026-11-20 19:00 和老王吃饭"),
        ("安排明天上午10点面试", "/schedule add 2026-11-16 10:00 面试"),
        ("请帮我安排下周三下午两点的体检", "/schedule add 2026-11-18 14:00 体检"),
        ("添加日程：11月20日15:00 牙医", "/schedule add 2026-11-20 15:00 牙医"),
        ("两小时后开会", "/schedule add 2026-11-15 11:00 开会"),
        ("晚上去跑步", "/schedule add 2026-11-15 20:00 去跑步"),
        (
            "meeting with Bob next Tuesday at 2pm for 30 minutes",
            "/schedule add 2026-11-17 14:00 meeting with Bob --duration 30",
        ),
        ("11月20号下午2点 面试 90分钟", "/schedule add 2026-11-20 14:00 面试 --duration 90"),
        ("明天下午3点开会两小时", "/schedule add 2026-11-16 15:00 开会 --duration 120"),
        ("明天下午3点开会一个半小时", "/schedule add 2026-11-16 15:00 开会 --duration 90"),
        (
            "meeting tomorrow at 3pm for 1.5h",
            "/schedule add 2026-11-16 15:00 meeting --duration 90",
        ),
        ("meeting with Bob tomorrow at 3pm", "/schedule add 2026-11-16 15:00 meeting with Bob"),
        ("tomorrow at 3pm meeting with Bob", "/schedule add 2026-11-16 15:00 meeting with Bob"),
        ("Schedule a meeting on Friday at 10:30", "/schedule add 2026-11-20 10:30 meeting"),
        (
            "I have a dentist appointment next Monday 9am",
            "/schedule add 2026-11-16 09:00 dentist appointment",
        ),
        (
            "Please add an event lunch tomorrow at noon to my calendar",
            "/schedule add 2026-11-16 12:00 lunch",
        ),
        ("我和老王明天下午3点开会", "/schedule add 2026-11-16 15:00 和老王开会"),
        ("明早8点前往机场", "/schedule add 2026-11-16 08:00 前往机场"),
        ("lunch tomorrow at noon with Anna", "/schedule add 2026-11-16 12:00 lunch with Anna"),
        ("下午3点在会议室开会", "/schedule add 2026-11-15 15:00 在会议室开会"),
        ("add a meeting tomorrow at 3pm", "/schedule add 2026-11-16 15:00 meeting"),
        ("put dentist on my calendar for Friday at 3pm", "/schedule add 2026-11-20 15:00 dentist"),
        ("明天上午10点到11点半开会", "/schedule add 2026-11-16 10:00 开会 --duration 90"),
        ("明天从下午3点到5点培训", "/schedule add 2026-11-16 15:00 培训 --duration 120"),
        (
            "meeting tomorrow from 3pm to 5pm",
            "/schedule add 2026-11-16 15:00 meeting --duration 120",
        ),
        ("tomorrow 3pm to 5pm workshop", "/schedule add 2026-11-16 15:00 workshop --duration 120"),
        ("明天下午3点到机场接人", "/schedule add 2026-11-16 15:00 到机场接人"),
        ("每周一早上9点开例会", "/schedule add 2026-11-16 09:00 开例会 --repeat weekly:mon"),
        ("每个工作日上午9点站会", "/schedule add 2026-11-16 09:00 站会 --repeat weekdays"),
        ("每月1号上午10点交房租", "/schedule add 2026-12-01 10:00 交房租 --repeat monthly:1"),
        (
            "standup every weekday at 9:30am",
            "/schedule add 2026-11-16 09:30 standup --repeat weekdays",
        ),
        (
            "每天早上8点提醒我吃药",
            "/schedule add 2026-11-16 08:00 吃药 --duration 0 --remind \"2026-11-16 08:00\" \
             --repeat daily",
        ),
        (
            "remind me to drink water every 30 minutes",
            "/schedule add 2026-11-15 09:30 drink water --duration 0 --remind \"2026-11-15 09:30\" \
             --repeat minutes:30",
        ),
        (
            "every 30 minutes drink water",
            "/schedule add 2026-11-15 09:30 drink water --duration 0 --remind \"2026-11-15 09:30\" \
             --repeat minutes:30",
        ),
        (
            "remind me every Friday to water the plants",
            "/schedule add 2026-11-20 09:00 water the plants --duration 0 --remind \"2026-11-20 09:00\" \
             --repeat weekly:fri",
        ),
    ]);
}

#[test]
fn sentences_become_todos() {
    check(&[
        (
            "remind me to buy milk tomorrow",
            "/todo add buy milk --due \"2026-11-16 23:59\" --remind \"2026-11-16 09:00\"",
        ),
        (
            "Remind me tomorrow to buy milk.",
            "/todo add buy milk --due \"2026-11-16 23:59\" --remind \"2026-11-16 09:00\"",
        ),
        (
            "提醒我后天上午10点交房租",
            "/todo add 交房租 --due \"2026-11-17 10:00\" --remind \"2026-11-17 10:00\"",
        ),
        (
            "后天上午10点提醒我交房租",
            "/todo add 交房租 --due \"2026-11-17 10:00\" --remind \"2026-11-17 10:00\"",
        ),
        (
            "半小时后提醒我关火",
            "/todo add 关火 --due \"2026-11-15 09:30\" --remind \"2026-11-15 09:30\"",
        ),
        (
            "记得明天买牛奶",
            "/todo add 买牛奶 --due \"2026-11-16 23:59\" --remind \"2026-11-16 09:00\"",
        ),
        (
            "今天提醒我买菜",
            "/todo add 买菜 --due \"2026-11-15 23:59\" --remind \"2026-11-15 14:00\"",
        ),
        (
            "don't forget to call mum on Friday at 6pm",
            "/todo add call mum --due \"2026-11-20 18:00\" --remind \"2026-11-20 18:00\"",
        ),
        ("待办：买牛奶", "/todo add 买牛奶"),
        ("待办:买牛奶", "/todo add 买牛奶"),
        ("add todo buy milk", "/todo add buy milk"),
        ("记一下 买牛奶", "/todo add 买牛奶"),
        ("添加待办 写周报", "/todo add 写周报"),
        ("todo: write the report", "/todo add write the report"),
        ("待办：周五前交报告", "/todo add 交报告 --due \"2026-11-20 23:59\""),
        ("add a todo to pay rent by Friday", "/todo add pay rent --due \"2026-11-20 23:59\""),
        ("明天下午3点前交报告", "/todo add 交报告 --due \"2026-11-16 15:00\""),
        ("submit the form by Friday 5pm", "/todo add submit the form --due \"2026-11-20 17:00\""),
        ("提醒我买牛奶", "/todo add 买牛奶 --remind none"),
        ("remind me to buy milk", "/todo add buy milk --remind none"),
        (
            "remind me to call Bob at 5 p.m.",
            "/todo add call Bob --due \"2026-11-15 17:00\" --remind \"2026-11-15 17:00\"",
        ),
        ("明天开会", "/todo add 开会 --due \"2026-11-16 23:59\""),
        ("buy milk tomorrow", "/todo add buy milk --due \"2026-11-16 23:59\""),
    ]);
}

#[test]
fn questions_about_entries_become_views() {
    check(&[
        ("今天有什么安排", "/schedule view day"),
        ("今天有什么安排？", "/schedule view day"),
        ("我今天有什么日程", "/schedule view day"),
        ("what's on today", "/schedule view day"),
        ("What’s on today?", "/schedule view day"),
        ("today's schedule", "/schedule view day"),
        ("明天有什么安排", "/schedule view day 2026-11-16"),
        ("what do I have on Friday?", "/schedule view day 2026-11-20"),
        ("这周的日程", "/schedule view week"),
        ("this week's schedule", "/schedule view week"),
        ("what's on this week", "/schedule view week"),
        ("本月日程", "/schedule view month"),
        ("下周有什么安排", "/schedule view week 2026-11-16"),
        ("next month's schedule", "/schedule view month 2026-12"),
        ("what is my schedule today", "/schedule view day"),
        ("我的日程", "/schedule list"),
        ("我的待办", "/todo list"),
        ("show my todos", "/todo list"),
        ("list todos", "/todo list"),
        ("过期的待办", "/view overdue"),
        ("overdue todos", "/view overdue"),
        ("今天的待办", "/view today"),
        ("完成3号待办", "/todo done 3"),
        ("done 3", "/todo done 3"),
        ("mark 3 as done", "/todo done 3"),
        ("Mark todo #12 as done.", "/todo done 12"),
        ("删除待办3", "/todo delete 3"),
        ("delete todo 3", "/todo delete 3"),
        ("搜索待办 牛奶", "/todo search 牛奶"),
        ("search todos for milk", "/todo search milk"),
    ]);
}

#[test]
fn anything_else_stays_chat() {
    let chat = [
        "",
        "你好",
        "早上好",
        "晚上好",
        "good morning",
        "写一首诗",
        "what is rust",
        "明天天气怎么样",
        "明天会下雨吗",
        "明天下午3点开会吗？",
        "今天很累",
        "I was there at 5pm",
        "what happened yesterday",
        "提醒我",
        "remind me",
        "明天",
        "tomorrow at 3pm",
        "待办：",
        "/todo list",
        "done",
        "delete everything",
        "3点建议是什么",
        "为什么每天早上8点要吃药",
        "tell me a joke at 5pm",
        "5pm is too late",
        "remind me to run foo --bar tomorrow",
        "explain quantum physics",
        "删除所有待办",
        "can you meet tomorrow at 3pm?",
        "how do I get up at 6am every day",
        "翻译一下 tomorrow",
        "总结这篇文章",
        "把明天下午3点的会议取消",
        "取消明天的会议",
        "明天下午3点的会议改到4点",
        "cancel the meeting tomorrow at 3pm",
        "the meeting tomorrow at 3pm is cancelled",
        "meeting tomorrow at 3pm is cancelled",
        "todo lists are great",
        "待办很多",
        "叫我小王",
        "记得我说过的话",
    ];
    let wrong: Vec<String> = chat
        .iter()
        .filter_map(|text| understand(text, &now()).map(|got| format!("{text}: {got:?}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #[test]
    fn no_sentence_makes_the_rules_panic(text in "(提醒我|明天|remind me|待办：|'s| |[\\PC])*") {
        if let Some(Ok(command)) = understand(&text, &now()) {
            prop_assert!(command.starts_with('/') && !command.contains('\n'));
        }
    }
}

#[test]
fn common_sentences_are_not_taken_for_others() {
    check(&[
        ("添加待办 写周报 明天截止", "/todo add 写周报 --due \"2026-11-16 23:59\""),
        (
            "wake me up at 7am tomorrow",
            "/todo add wake up --due \"2026-11-16 07:00\" --remind \"2026-11-16 07:00\"",
        ),
        ("add buy milk to my todo list", "/todo add buy milk"),
        ("put call mum tomorrow on my to-do list", "/todo add call mum --due \"2026-11-16 23:59\""),
        ("把待办1标记为完成", "/todo done 1"),
        // A todo has no length, so the words for it stay in the text.
        (
            "提醒我明天早上7点跑步30分钟",
            "/todo add 跑步30分钟 --due \"2026-11-16 07:00\" --remind \"2026-11-16 07:00\"",
        ),
    ]);
}

#[test]
fn what_is_wrong_with_a_date_is_said() {
    for (sentence, wrong) in [
        ("昨天下午3点开会", CommandError::Past("昨天下午3点".to_owned())),
        ("今天早上8点提醒我跑步", CommandError::Past("今天早上8点".to_owned())),
        ("明天25点开会", CommandError::NotADate("25点".to_owned())),
        ("2月30日下午3点开会", CommandError::NotADate("2月30日".to_owned())),
        ("下周一到下周三出差", CommandError::NotADate("到下周三".to_owned())),
        ("提醒我明天晚饭后吃药", CommandError::NotADate("晚饭后".to_owned())),
    ] {
        assert_eq!(understand(sentence, &now()), Some(Err(wrong)), "{sentence}");
    }
}
