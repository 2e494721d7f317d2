//! `update` with one value: that value changes, and the rest stays.

use crate::support::{person, person_in};

const NOW: &str = "2026-11-16T11:15[Asia/Shanghai]";

#[tokio::test]
async fn a_time_alone_keeps_the_day_of_an_entry() {
    for (said, expected) in [
        ("16:30", "2026-11-20 16:30 Asia/Shanghai，60 分钟"),
        ("晚上8点", "2026-11-20 20:00 Asia/Shanghai，60 分钟"),
        ("下午3点到5点", "2026-11-20 15:00 Asia/Shanghai，120 分钟"),
        ("4pm", "2026-11-20 16:00 Asia/Shanghai，60 分钟"),
        ("10-11:30am", "2026-11-20 10:00 Asia/Shanghai，90 分钟"),
        ("改到下午4点", "2026-11-20 16:00 Asia/Shanghai，60 分钟"),
        ("move to 4pm", "2026-11-20 16:00 Asia/Shanghai，60 分钟"),
    ] {
        let p = person_in(NOW);
        p.say("/schedule add 2026-11-20 14:00 开会").await;
        let told = p.say(&format!("/schedule update 1 {said}")).await;
        assert!(told.starts_with(&format!("已修改日程 #1：开会（{expected}")), "{said}: {told}");
    }
}

/// Dinner at 7 that is moved to 8 is still dinner.
#[tokio::test]
async fn a_bare_hour_stays_in_the_half_of_the_day() {
    for (was, said, expected) in [
        ("19:00", "八点", "20:00"),
        ("19:00", "改到八点半", "20:30"),
        ("19:00", "at 8", "20:00"),
        ("19:00", "上午八点", "08:00"),
        ("19:00", "08:00", "08:00"),
        ("09:00", "八点", "08:00"),
        ("09:00", "三点", "15:00"),
    ] {
        let p = person_in(NOW);
        p.say(&format!("/schedule add 2026-11-20 {was} 吃饭")).await;
        let told = p.say(&format!("/schedule update 1 {said}")).await;
        assert!(told.contains(&format!("吃饭（2026-11-20 {expected}")), "{was} {said}: {told}");
    }
    let p = person_in(NOW);
    p.say("/schedule add 2026-11-20 19:00 吃饭").await;
    assert!(!p.say("/schedule update 1 8").await.contains("已修改"));
    p.say("/todo add 吃饭 --due \"2026-11-20 19:00\"").await;
    assert!(p.say("/todo update 1 --due 八点").await.contains("2026-11-20 20:00"));
}

#[tokio::test]
async fn a_time_alone_keeps_the_rule_of_an_entry() {
    for (rule, shown) in
        [("weekly:fri", "2026-11-20"), ("monthly:20", "2026-11-20"), ("monthly:3fri", "2026-11-20")]
    {
        let p = person_in(NOW);
        p.say(&format!("/schedule add 2026-11-20 14:00 开会 --repeat {rule}")).await;
        let before = p.say("/schedule get 1").await;
        let told = p.say("/schedule update 1 16:30").await;
        assert!(told.contains(&format!("开会（{shown} 16:30")), "{rule}: {told}");
        let after = p.say("/schedule get 1").await;
        let rule =
            |text: &str| text.lines().find(|line| line.starts_with("重复")).map(str::to_owned);
        assert_eq!(rule(&before), rule(&after));
    }
}

#[tokio::test]
async fn a_day_alone_keeps_the_time_of_an_entry() {
    for (said, expected) in [
        ("周六", "2026-11-21 14:00"),
        ("Saturday", "2026-11-21 14:00"),
        ("改到下周三", "2026-11-25 14:00"),
        ("改到下周三上午10点", "2026-11-25 10:00"),
        ("move to Saturday 3pm", "2026-11-21 15:00"),
        ("reschedule to Saturday", "2026-11-21 14:00"),
        ("推迟1小时", "2026-11-20 15:00"),
        ("提前半小时", "2026-11-20 13:30"),
        ("推迟一天", "2026-11-21 14:00"),
        ("postpone 1 hour", "2026-11-20 15:00"),
        ("postpone by 2 days", "2026-11-22 14:00"),
    ] {
        let p = person_in(NOW);
        p.say("/schedule add 2026-11-20 14:00 开会").await;
        let told = p.say(&format!("/schedule update 1 {said}")).await;
        let expected = format!("已修改日程 #1：开会（{expected} Asia/Shanghai，60 分钟");
        assert!(told.starts_with(&expected), "{said}: {told}");
    }
    let p = person_in(NOW);
    p.say("/schedule add 2026-11-20 14:00 开会").await;
    let told = p.say("/schedule update 1 改到周三左右吧看看").await;
    assert!(told.contains("看不懂时间"), "{told}");
    assert!(p.say("/schedule update 1 move to Berlin").await.contains("move to Berlin"));
}

#[tokio::test]
async fn a_part_of_a_due_date_keeps_the_rest_of_it() {
    for (said, expected) in [
        ("--due 5pm", "买面包（截止 2026-11-20 17:00）"),
        ("--due 周六", "买面包（截止 2026-11-21 14:00）"),
        ("Saturday", "买面包（截止 2026-11-21 14:00）"),
        ("周六上午9点", "买面包（截止 2026-11-21 09:00）"),
        ("tomorrow", "买面包（截止 2026-11-17 14:00）"),
        ("buy bread on Sunday", "buy bread（截止 2026-11-22 14:00）"),
        ("推迟1小时", "买面包（截止 2026-11-20 15:00）"),
        ("买牛奶", "买牛奶（截止 2026-11-20 14:00）"),
    ] {
        let p = person_in(NOW);
        p.say("/todo add 买面包 --due \"2026-11-20 14:00\"").await;
        let told = p.say(&format!("/todo update 1 {said}")).await;
        assert_eq!(told, format!("已修改待办 #1：{expected}"), "{said}");
    }
    let p = person_in(NOW);
    p.say("/todo add 买面包").await;
    assert!(p.say("/todo update 1 推迟1小时").await.contains("没有截止时间"));
    assert_eq!(
        p.say("/todo update 1 --due 周六").await,
        "已修改待办 #1：买面包（截止 2026-11-21 23:59）"
    );
}

#[tokio::test]
async fn without_a_due_date_the_reminder_goes_too_and_that_is_told() {
    for remind in ["提前1小时", "\"2026-11-20 09:00\""] {
        let p = person();
        p.say(&format!("/todo add x --due \"2026-11-20 14:00\" --remind {remind}")).await;
        let told = p.say("/todo update 1 --due none").await;
        assert!(told.starts_with("已修改待办 #1：x\n"), "{told}");
        assert!(told.contains("提醒也一并取消"), "{told}");
    }
}

#[tokio::test]
async fn a_clock_in_remind_is_of_the_day_of_the_thing() {
    let p = person_in(NOW);
    assert_eq!(
        p.say("/todo add 交报告 --due \"2026-11-20 14:00\" --remind 9am").await,
        "已添加待办 #1：交报告（截止 2026-11-20 14:00，提醒 2026-11-20 09:00）"
    );
    let told = p.say("/schedule add 2026-11-20 14:00 开会 --remind 上午9点").await;
    assert!(told.contains("下次提醒 2026-11-20 09:00"), "{told}");
    let late = p.say("/schedule add 2026-11-21 14:00 开会 --remind 晚上8点").await;
    assert!(late.contains("在事情之后"), "{late}");
    assert_eq!(p.say("/todo update 1 --tag none").await.matches("标签").count(), 0);
}

#[tokio::test]
async fn every_update_means_itself_when_its_echo_is_read() {
    let p = person_in(NOW);
    for line in [
        "/schedule update 1 16:30",
        "/schedule update 1 周六",
        "/schedule update 1 推迟1小时",
        "/schedule update 1 提前30分钟",
        "/todo update 1 --due 5pm",
        "/todo update 1 周六 买面包",
        "/todo update 1 推迟2天",
    ] {
        let canonical = p.echo(line);
        assert_eq!(p.echo(&canonical), canonical, "{line}");
    }
}
