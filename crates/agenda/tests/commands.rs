//! Every command of PR-17 and PR-18, as a person types it.

use crate::support::{Person, person};
use everloop_agenda::commands::{self, AgendaVerb, CommandError};

#[tokio::test]
async fn todos_are_added_shown_changed_done_and_deleted() {
    let p = person();
    assert_eq!(p.say("/todo add 买牛奶").await, "已添加待办 #1：买牛奶");
    let added = p.say("/todo add 交周报 --tag work --priority 1 --due 2026-11-16 15:00 --remind 2026-11-16 14:30").await;
    assert_eq!(
        added,
        "已添加待办 #2：交周报（截止 2026-11-16 15:00，提醒 2026-11-16 14:30，优先级 1，标签 work）"
    );
    assert_eq!(p.say("/todo done 1").await, "已完成待办 #1：买牛奶");
    assert!(p.say("/todo get 1").await.contains("完成时间  2026-11-15 09:00"));
    assert_eq!(
        p.say("/todo update 2 交月报 --tag home").await,
        "已修改待办 #2：交月报（截止 2026-11-16 15:00，提醒 2026-11-16 14:30，优先级 1，标签 home）"
    );
    assert_eq!(
        p.say("/todo update 2 交月报 --remind none --due none").await,
        "已修改待办 #2：交月报（优先级 1，标签 home）"
    );
    assert_eq!(p.say("/todo reopen 1").await, "已重新打开待办 #1：买牛奶");
    assert_eq!(p.say("/todo delete 1").await, "已删除待办 #1：买牛奶");
    assert_eq!(p.say("/todo delete 1").await, "没有编号为 1 的待办");
    assert_eq!(p.say("/todo add 第三个").await, "已添加待办 #3：第三个", "a number is not reused");
}

#[tokio::test]
async fn a_text_with_an_option_inside_is_kept_whole() {
    let now = person().reader.now;
    for text in ["pay --due friday", "pay rent --priority 1", "交房租 --截止 周五"] {
        // The shell gives the words of a quoted text as one.
        let words = commands::CommandWords::default().text("add").text(text);
        let command = commands::parse_words(AgendaVerb::Todo, words, &now).unwrap();
        let commands::AgendaCommand::Todo(commands::TodoCommand::Add(todo)) = &command else {
            panic!("it adds a todo")
        };
        assert_eq!((todo.text.as_deref(), todo.due), (Some(text), None));
        let notes = commands::notes(&format!("add {text}"), &command, &now);
        assert!(matches!(&notes[..], [commands::CommandNote::OptionInText(_)]), "{notes:?}");
        let canonical = commands::canonical(&command, &now);
        assert_eq!(commands::parse(&canonical, &now).unwrap(), command, "{canonical}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_answered_with_the_usage_line() {
    let p = person();
    for line in [
        "/todo add",
        "/todo add --tag x",
        "/todo get",
        "/todo get abc",
        "/todo done",
        "/todo update",
        "/todo update 1",
        "/todo delete x",
        "/todo search",
        "/todo nonsense",
        "/snooze abc",
        "/view",
        "/view nonsense",
        "/todo list nonsense",
        "/schedule add",
        "/schedule get x",
        "/schedule view",
        "/schedule view year",
        "/schedule repeat 1",
        "/schedule repeat 1 maybe",
        "/schedule nonsense",
        "/schedule add 2026-11-16 10:00 x --times 3",
        "/schedule add 2026-11-16 10:00",
    ] {
        let answer = p.say(line).await;
        assert!(answer.starts_with("用法："), "{line}: {answer}");
        assert!(!answer.contains("usage."), "{line}: {answer}");
    }
    for (line, word) in [
        ("/todo add x --priority -1", "--priority"),
        ("/todo add x --priority a", "--priority"),
        ("/schedule add 2026-11-16 10:00 x --duration -1", "--duration"),
        ("/schedule add 2026-11-16 10:00 x --duration soon", "--duration"),
        ("/todo add x --due 2026-11-20 --due 2026-11-21", "--due"),
        ("/schedule add 2026-11-16 10:00 x --interval 0", "--interval"),
        ("/schedule add 2026-11-16 10:00 x --interval 5 --times 1", "--times"),
        ("/schedule add 2026-11-16 10:00 x --interval 5 --times 0", "--times"),
        ("/schedule add 2026-11-16 10:00 x --repeat sometimes", "--repeat"),
        ("/todo list --view nope", "--view"),
        ("/todo add x --colour red", "--colour"),
    ] {
        let answer = p.say(line).await;
        assert!(answer.contains(word) && answer.contains("用法："), "{line}: {answer}");
    }
    assert!(p.say("/todo add x --due 明年的某天").await.contains("看不懂时间"));
    let tail = p.say("/todo add x --due last friday of the moon").await;
    assert!(tail.contains("“of the moon”"), "{tail}");
    assert!(p.say("/schedule add 2026-11-16 开会").await.contains("没有说几点"));
    assert_eq!(
        p.say("/todo add x --remind 2026-11-16 10:00").await,
        "提醒需要截止时间：请加上 --due"
    );
    assert_eq!(p.say("/todo list").await, "没有待办。添加：/todo add 内容", "nothing was saved");
}

#[tokio::test]
async fn unknown_commands_suggest_the_nearest() {
    let p = person();
    assert_eq!(p.say("/tood add x").await, "没有命令 /tood。是否想写 /todo？");
    assert_eq!(p.say("/sched").await, "没有命令 /sched。是否想写 /schedule？");
    assert_eq!(p.say("/zzzzzzzz").await, "没有命令 /zzzzzzzz。/help 列出全部命令。");
}

#[tokio::test]
async fn a_command_about_the_conversation_is_not_the_agendas() {
    let p = person();
    for line in ["/help", "/quit", "/cancel", "/取消", "/loop react", "/export todos"] {
        let parsed = commands::parse(line, &p.reader.now);
        assert!(matches!(parsed, Err(CommandError::NoSuchCommand(..))), "{line}: {parsed:?}");
    }
    for verb in AgendaVerb::ALL {
        assert_eq!(AgendaVerb::find(&verb.name().to_uppercase()), Some(verb));
    }
}

#[tokio::test]
async fn chinese_names_and_wide_characters_work_and_the_english_form_is_canonical() {
    let p = person();
    assert_eq!(p.say("／待办　add　买牛奶").await, "已添加待办 #1：买牛奶");
    assert_eq!(
        p.say("　/日程 add 明天下午三点 开会").await,
        "已添加日程 #1：开会（2026-11-16 15:00 Asia/Shanghai，60 分钟，下次提醒 2026-11-16 15:00）"
    );
    assert_eq!(
        p.echo("/待办 add 明天下午三点 交周报"),
        "/todo add 交周报 --due \"2026-11-16 15:00\""
    );
    assert_eq!(
        p.echo("/todo add 明天开会"),
        "/todo add 开会 --due \"2026-11-16 23:59\"",
        "a day alone is due at its end"
    );
    assert!(p.say("/查看 all").await.contains("买牛奶"));
}

#[tokio::test]
async fn quotes_within_a_text_stay_and_quotes_around_all_of_it_go() {
    let p = person();
    for (said, canonical) in [
        ("/todo add say \"hi there\" now", "/todo add say \"hi there\" now"),
        ("/todo add “三体”看完 写书评", "/todo add “三体”看完 写书评"),
        ("/todo add \"buy milk\" --tag \"my home\"", "/todo add buy milk --tag \"my home\""),
        ("/todo add \"a\" and \"b\"", "/todo add \"a\" and \"b\""),
        ("/todo add \"one", "/todo add \"one"),
        (
            "/schedule add \"2026-11-16 15:00\" \"team meeting\" --duration 30",
            "/schedule add 2026-11-16 15:00 team meeting --duration 30",
        ),
        (
            "/schedule add 2026-11-16 15:00 谈“三体”改编 --duration 30",
            "/schedule add 2026-11-16 15:00 谈“三体”改编 --duration 30",
        ),
    ] {
        assert_eq!(p.echo(said), canonical, "{said}");
        assert_eq!(p.echo(canonical), canonical, "the canonical form means itself");
    }
    assert!(p.say("/todo add \"\"").await.starts_with("用法："));
}

#[tokio::test]
async fn views_show_what_they_say() {
    let p = person();
    for line in [
        "/todo add 无日期",
        "/todo add 有标签 --tag w",
        "/todo add 今天 --due 今天 18:00",
        "/todo add 昨天 --due 2026-11-14",
        "/todo add 后天 --due 后天 10:00",
        "/todo add 昨天做完 --due 2026-11-14",
        "/todo done 6",
    ] {
        p.say(line).await;
    }
    let ids = |view: &'static str| {
        let p = &p;
        async move { p.ids(&format!("/view {view}")).await }
    };
    assert_eq!(ids("today").await, [3]);
    assert_eq!(ids("overdue").await, [4]);
    assert_eq!(ids("upcoming").await, [5]);
    assert_eq!(ids("inbox").await, [1]);
    assert_eq!(ids("all").await, [4, 3, 5, 1, 2, 6], "pressing first, done last");
    assert_eq!(ids("all --tag w").await, [2]);
    assert_eq!(ids("all --open").await, [4, 3, 5, 1, 2]);
    assert_eq!(p.ids("/todo list --view today").await, [3]);
    assert_eq!(p.ids("/todo search 昨天").await, [4, 6]);
    assert_eq!(p.ids("/todo search 昨天 --open").await, [4]);
    assert_eq!(p.say("/todo search 没有的").await, "没有包含“没有的”的待办");
    assert_eq!(p.say("/view list").await.lines().count(), 5);
    assert!(p.say("/todo list").await.contains("完成"), "done ones are shown, marked");
}

#[tokio::test]
async fn entries_are_added_viewed_moved_and_deleted() {
    let p = person();
    assert_eq!(
        p.say("/schedule add 2026-11-16 10:00 站会 --duration 30 --remind 2026-11-16 09:50 --interval 1440 --times 3").await,
        "已添加日程 #1：站会（2026-11-16 10:00 Asia/Shanghai，30 分钟，每天，共 3 次，下次提醒 2026-11-16 09:50）"
    );
    let list = p.say("/schedule list").await;
    assert_eq!(list.lines().count(), 2, "a head and one row: {list}");
    assert_eq!(
        p.say("/schedule repeat 1 off").await,
        "已修改日程 #1：站会（2026-11-16 10:00 Asia/Shanghai，30 分钟，重复已关闭，下次提醒 2026-11-16 09:50）"
    );
    assert_eq!(p.say("/schedule list").await.lines().count(), 2);
    p.say("/schedule repeat 1 on").await;
    let moved = p.say("/schedule update 1 2026-11-17 11:00 晨会").await;
    assert_eq!(
        moved,
        "已修改日程 #1：晨会（2026-11-17 11:00 Asia/Shanghai，30 分钟，每天，共 3 次，下次提醒 2026-11-17 10:50）"
    );
    assert!(p.say("/schedule view day 2026-11-18").await.contains("11:00-11:30  #1 晨会"));
    let week = p.say("/schedule view week 2026-11-18").await;
    assert_eq!(week.matches("晨会").count(), 3, "{week}");
    let month = p.say("/schedule view month 2026-11").await;
    assert!(month.starts_with("2026-11\n周一") && month.contains("17(1)"), "{month}");
    assert!(p.say("/schedule get 1").await.contains("下一次    2026-11-17 11:00"));
    assert_eq!(p.say("/schedule delete 1").await, "已删除日程 #1：晨会");
    assert_eq!(p.say("/schedule get 1").await, "没有编号为 1 的日程");
    assert_eq!(p.say("/schedule repeat 1 on").await, "没有编号为 1 的日程");
    p.say("/schedule add 明天 9:00 一次").await;
    assert!(p.say("/schedule repeat 2 on").await.contains("没有重复规则"));
}

#[tokio::test]
async fn overlapping_entries_are_refused_and_named() {
    let p = person();
    p.say("/schedule add 2026-11-16 10:00 站会 --repeat weekdays --duration 30").await;
    p.say("/schedule add 2026-11-17 14:00 评审").await;
    let refused = p.say("/schedule add 2026-11-17 10:15 面谈 --duration 300").await;
    assert_eq!(
        refused,
        "没有保存：与下列日程时间冲突\n  #1  2026-11-17 10:00（30 分钟）  站会\n  #2  2026-11-17 14:00（60 分钟）  评审\n\
         最近的空闲时间：2026-11-17 15:00（300 分钟）\n仍要保存，请加上 --allow-conflict"
    );
    assert_eq!(
        p.say("/schedule add 2026-11-17 10:30 面谈").await,
        "已添加日程 #3：面谈（2026-11-17 10:30 Asia/Shanghai，60 分钟，下次提醒 2026-11-17 10:30）",
        "end to end is no overlap"
    );
    assert!(p.say("/schedule update 3 2026-11-17 14:30 面谈").await.contains("冲突"));
    assert!(
        p.say("/schedule update 3 2026-11-17 10:45 面谈").await.starts_with("已修改"),
        "it is not in its own way"
    );
    // An endless repetition is checked for 31 days.
    assert!(
        p.say("/schedule add 2026-11-15 14:30 巡检 --repeat daily --duration 10")
            .await
            .contains("#2")
    );
    p.say("/schedule add 2027-06-01 08:00 远").await;
    assert!(p.say("/schedule add 2026-11-15 08:00 早 --repeat daily").await.starts_with("已添加"));
    assert!(
        p.say("/schedule add 2026-11-15 12:00 自叠 --interval 30 --duration 45")
            .await
            .contains("与自己重叠")
    );
}

#[tokio::test]
async fn dates_are_echoed_as_absolute_times_before_anything_is_saved() {
    let p = person();
    for (said, canonical) in [
        (
            "/todo add 买票 --due 明天下午三点 --remind 半小时后",
            "/todo add 买票 --due \"2026-11-16 15:00\" --remind \"2026-11-15 09:30\"",
        ),
        (
            "/todo add call mum --due tomorrow at 3pm",
            "/todo add call mum --due \"2026-11-16 15:00\"",
        ),
        ("/todo add 报税 --due 月底", "/todo add 报税 --due \"2026-11-30 23:59\""),
        (
            "/todo add 报税 --due 月底 --remind 月底",
            "/todo add 报税 --due \"2026-11-30 23:59\" --remind \"2026-11-30 09:00\"",
        ),
        (
            "/schedule add 每周一早上9点 例会",
            "/schedule add 2026-11-16 09:00 例会 --repeat weekly:mon",
        ),
        (
            "/schedule add every weekday at 8am standup --duration 15",
            "/schedule add 2026-11-16 08:00 standup --duration 15 --repeat weekdays",
        ),
        ("/schedule view day 明天", "/schedule view day 2026-11-16"),
        ("/todo list", "/view all"),
    ] {
        assert_eq!(p.echo(said), canonical, "{said}");
        assert_eq!(p.echo(canonical), canonical, "the canonical form means itself");
    }
}

#[tokio::test]
async fn the_same_key_does_the_same_thing_once() {
    let p = person();
    for _ in 0..3 {
        assert_eq!(p.say_keyed("/todo add 一次", "k1").await, "已添加待办 #1：一次");
        assert!(
            p.say_keyed("/schedule add 明天 9:00 一次", "k2").await.starts_with("已添加日程 #1")
        );
    }
    assert_eq!(p.ids("/view all").await, [1]);
    assert_eq!(p.say_keyed("/todo delete 1", "k3").await, "已删除待办 #1：一次");
    assert_eq!(p.say_keyed("/todo delete 1", "k3").await, "已删除待办 #1");
}

#[tokio::test]
async fn a_thousand_todos_and_five_hundred_repeating_entries_are_no_burden() {
    let p: Person = person();
    for n in 0..1_000 {
        p.say(&format!(
            "/todo add 待办{n} --priority {} --due 2026-12-{:02} 10:00",
            n % 5,
            1 + n % 28
        ))
        .await;
    }
    for n in 0..500 {
        let (hour, minute) = (n / 60, n % 60);
        let line = format!(
            "/schedule add 2026-11-16 {hour:02}:{minute:02} e{n} --duration 1 --repeat daily"
        );
        assert!(p.say(&line).await.starts_with("已添加"), "{line}");
    }
    let began = std::time::Instant::now();
    assert_eq!(p.say("/todo list").await.lines().count(), 1_002);
    assert!(p.say("/schedule view month").await.contains("30(500)"));
    assert!(p.say("/schedule add 2026-11-16 20:00 new --repeat daily").await.starts_with("已添加"));
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(5), "{took:?} for three commands");
}
