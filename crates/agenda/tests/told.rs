//! Messages about dates, unambiguous and in the user's language.

use crate::support::{Person, person_in};
use everloop_agenda::{commands, show};
use everloop_types::Lang;

const NOW: &str = "2026-11-16T11:15[Asia/Shanghai]";

fn echoed(p: &Person, line: &str, lang: Lang) -> String {
    commands::echo(line, &p.parsed(line), &p.reader.now, lang).unwrap_or_default()
}

#[test]
fn a_reminder_is_echoed_in_the_language_of_the_person_and_read_back_in_either() {
    let p = person_in(NOW);
    for (said, zh, en) in [
        ("15m", "提前15分钟", "15 minutes before"),
        ("提前2天", "提前2天", "2 days before"),
        ("准时", "准时", "on time"),
        ("前一天晚上8点", "\"提前1天 20:00\"", "1 day before at 20:00"),
        ("the same day at 9:30", "\"当天 09:30\"", "the same day at 09:30"),
        ("1 month before", "提前1个月", "1 month before"),
    ] {
        let line = format!("/todo add 开会 --due \"2026-12-20 15:00\" --remind \"{said}\"");
        let in_zh = echoed(&p, &line, Lang::ZhCn);
        assert!(in_zh.ends_with(&format!("--remind {zh}")), "{said}: {in_zh}");
        let in_en = echoed(&p, &line, Lang::En);
        assert!(in_en.ends_with(&format!("--remind \"{en}\"")), "{said}: {in_en}");
        assert_eq!(p.parsed(&in_zh), p.parsed(&line), "{in_zh}");
        assert_eq!(p.parsed(&in_en), p.parsed(&line), "{in_en}");
    }
}

#[test]
fn a_date_in_another_year_that_was_not_said_is_told() {
    let p = person_in(NOW);
    for (line, year) in [
        ("/todo add 交税 3月1日", Some(2027)),
        ("/todo add pay tax Jan 3", Some(2027)),
        ("/schedule add 1月3日 9:00 体检", Some(2027)),
        ("/todo add 交税 --due 2月29日", Some(2028)),
        ("/todo add 交税 2027年3月1日", None),
        ("/todo add 交税 明年3月1日", None),
        ("/todo add pay tax March 1 2027", None),
        ("/todo add 交税 12月1日", None),
        ("/todo add 交税", None),
    ] {
        assert_eq!(commands::other_year(line, &p.parsed(line), &p.reader.now), year, "{line}");
    }
}

#[tokio::test]
async fn a_day_that_short_months_do_not_have_says_that_they_are_skipped() {
    for (rule, is_told) in [
        ("monthly:31", true),
        ("每月30号", true),
        ("monthly:1,29", true),
        ("monthly:28", false),
        ("monthly:last", false),
    ] {
        let p = person_in(NOW);
        let told = p.say(&format!("/schedule add 2026-12-28 9:00 交房租 --repeat {rule}")).await;
        assert_eq!(told.contains("的月份跳过"), is_told, "{rule}: {told}");
    }
}

#[tokio::test]
async fn a_repeat_is_taken_away_by_none_and_nothing_else_changes() {
    for none in ["none", "无", "off"] {
        let p = person_in(NOW);
        p.say("/schedule add 2026-11-20 14:00 开会 --repeat weekly:fri --duration 30").await;
        let told = p.say(&format!("/schedule update 1 --repeat {none}")).await;
        assert!(told.contains("2026-11-20 14:00 Asia/Shanghai，30 分钟"), "{told}");
        assert!(!told.contains("每周"), "{told}");
    }
}

#[tokio::test]
async fn an_option_with_one_dash_is_no_text() {
    let p = person_in(NOW);
    for line in [
        "/todo add 买菜 -due 明天",
        "/todo add buy milk -due=tomorrow",
        "/schedule add 明天9点 开会 -remind 15m",
        "/todo list -tag home",
    ] {
        let told = p.say(line).await;
        assert!(told.contains("两个减号"), "{line}: {told}");
    }
    assert!(p.say("/todo add \"buy -due\"").await.contains("buy -due"));
    assert!(p.say("/todo add 学习 -v 选项").await.contains("-v"));
}

#[tokio::test]
async fn numbers_are_taken_as_input_methods_write_them() {
    let p = person_in(NOW);
    for text in ["一", "二", "三", "四"] {
        p.say(&format!("/todo add 第{text}件")).await;
    }
    assert!(p.say("/todo done １，＃2").await.contains("第二件"));
    assert!(p.say("/todo done #3、4").await.contains("第四件"));
    assert!(p.say("/todo update ＃１ ——priority １").await.contains("第一件"));
}

#[test]
fn several_times_a_day_are_refused_with_what_to_do() {
    let p = person_in(NOW);
    for line in [
        "/schedule add 每天早晚八点 吃药",
        "/schedule add 每天9点和18点 吃药",
        "/schedule add daily at 9 and 17 pills",
        "/schedule add every day at 9am and 5pm pills",
        "/schedule add take pills twice a day",
    ] {
        let wrong = commands::parse(line, &p.reader.now).expect_err(line);
        assert!(show::wrong(&p.reader, &wrong).contains("每个时间添加一条"), "{line}: {wrong:?}");
        assert_eq!(show::wrong_json(&p.reader, &wrong)["error"], "several_times", "{line}");
    }
}

#[test]
fn an_entry_late_in_the_evening_is_asked_for_its_time_with_one_that_is_ahead() {
    let p = person_in("2026-11-16T22:10[Asia/Shanghai]");
    let wrong = commands::parse("/schedule add 今晚 打电话", &p.reader.now).expect_err("no time");
    assert!(show::wrong(&p.reader, &wrong).ends_with("例如 今晚 23:00"));
}
