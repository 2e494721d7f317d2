//! Answers in everyday words: what they mean, and that each is acknowledged.

use crate::support::{Home, Terminal, ask, calls, done, of_type, plan, says};
use serde_json::{Value, json};

const RUN: [&str; 4] = ["run", "--loop", "react", "touch a file"];
const REACT: [&str; 3] = ["chat", "--loop", "react"];

fn touching() -> Vec<Value> {
    vec![calls("shell", json!({"command": "echo touched | tee made"})), says("I am done.")]
}

/// A home that speaks Chinese on a terminal without colours.
fn chinese(replies: &[Value]) -> Home {
    let home = Home::scripted(replies).with("EVERLOOP_LANG", "zh-CN");
    home.with("TERM", "xterm").with("NO_COLOR", "1")
}

fn left(mut chat: Terminal, prompt: &str) -> String {
    chat.until(prompt).presses(4);
    chat.ended().ends_with(0).stdout
}

#[test]
fn everyday_words_allow_a_call_and_its_result_is_shown() {
    for word in ["是的，同意", "好。", "没问题！", "ｙ", "sure", "Go ahead."] {
        let home = Home::scripted(&touching());
        let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
        let ended = home.run(["runs", "resume", &run, "--answer", word]).ends_with(0);
        assert_eq!(home.read("made"), "touched\n", "{word}");
        ended.says(&["Allowed this once", "✔ shell: touched"]);
    }
}

#[test]
fn an_answer_that_is_not_understood_is_neither_a_yes_nor_a_no() {
    let home = Home::scripted(&touching());
    let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
    for word in ["是的吗", "maybe", "start on the readme"] {
        let again = home.run(["runs", "resume", &run, "--answer", word]).ends_with(2);
        again.says(&["was not understood", word, "y (allow once)"]);
        assert_eq!(home.status(&run), "waiting");
    }
    let denied = home.run(["runs", "resume", &run, "--answer", "n, use rm -i"]).ends_with(0);
    denied.says(&["Denied; not run", "use rm -i"]);
    assert!(!home.work("made").exists());
}

#[test]
fn a_yes_with_a_condition_allows_nothing_and_the_model_reads_it() {
    let home = Home::scripted(&touching());
    let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
    let word = "可以，但是先备份";
    home.run(["runs", "resume", &run, "--answer", word]).ends_with(0).says(&["Denied", word]);
    assert!(!home.work("made").exists());
    let events = home.events(&run);
    assert!(of_type(&events, "tool.failed")[0]["result"].as_str().unwrap().contains(word));
}

/// The same in a chat at a terminal, in both languages.
#[test]
fn in_a_chat_an_unclear_answer_is_asked_again_and_the_result_of_a_yes_is_shown() {
    let home = chinese(&touching());
    let mut chat = home.on_terminal(REACT);
    chat.until("你 › ").types("写文件").until("运行这条命令？").until("[y] 允许这一次");
    chat.until("允许吗 › ").types("写个说明").until("没有听懂“写个说明”");
    chat.until("允许吗 › ")
        .types("嗯，可以")
        .until("✔ 已允许这一次")
        .until("  ✔ ")
        .until("touched");
    chat.until("I am done.");
    let screen = left(chat, "你 › ");
    assert!(!screen.contains("always") && !screen.contains("yes"), "{screen}");
    assert_eq!(home.read("made"), "touched\n");
    let home = Home::scripted(&touching()).with("TERM", "xterm").with("NO_COLOR", "1");
    let mut chat = home.on_terminal(REACT);
    chat.until("You › ").types("write it").until("[y] allow once");
    chat.until("Allow? › ").types("nope, not today").until("Denied; not run");
    chat.until("not today").until("I am done.");
    let screen = left(chat, "You › ");
    assert!(!screen.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{screen}");
    assert!(!home.work("made").exists());
}

#[test]
fn always_is_acknowledged_and_holds() {
    let home = Home::scripted(&touching());
    let run = home.run(RUN).ends_with(3).stdout.trim().to_owned();
    let ended = home.run(["runs", "resume", &run, "--answer", "以后都允许"]).ends_with(0);
    ended.says(&["from now on", "✔ shell: touched"]);
    home.run(RUN).ends_with(0);
}

/// Keys that were pressed before the question was on the screen are no answer to it.
#[test]
fn a_line_typed_before_the_question_does_not_answer_it() {
    let home = Home::scripted(&{
        let mut replies = touching();
        replies[0]["delay_ms"] = json!(1_500);
        replies
    });
    let home = home.with("TERM", "xterm").with("NO_COLOR", "1");
    let mut run = home.on_terminal(RUN);
    run.until("started").keys("y\n");
    run.until("Run this command?").until("was not used as the answer");
    run.until("[y] allow once").types("n").until("✖ Denied; it was not run").until("I am done.");
    run.ended().ends_with(0);
    assert!(!home.work("made").exists());
}

#[test]
fn at_the_terminal_of_a_run_an_unclear_line_is_asked_again() {
    let home = chinese(&touching());
    let mut run = home.on_terminal(RUN);
    run.until("[y] 允许这一次").types("再说吧").until("没有听懂“再说吧”").until("[y] 允许这一次");
    run.types("")
        .until("请输入回答")
        .until("[y] 允许这一次")
        .types("好的")
        .until("已允许这一次")
        .until("  ✔ ")
        .until("touched");
    run.ended().ends_with(0);
}

#[test]
fn the_cancel_phrase_cancels_with_punctuation_and_bare_words_stop_a_question() {
    let asks = [plan(&["问"]), ask("哪天？"), done("好。")];
    for word in ["取消当前任务。", "取消当前任务！", "／cancel。", "、取消", "取消", "停！", "stop"]
    {
        let home = chinese(&asks);
        let chat = home.chat(&["约时间", word]).ends_with(0).stdout;
        assert_eq!(chat, "请确认：哪天？\n已取消当前任务。\n", "{word}");
        assert_eq!(home.status(&home.newest()), "canceled");
    }
    let home = chinese(&[plan(&["问"]), ask("继续还是停？"), done("好，停。")]);
    let chat = home.chat(&["问我", "停"]).ends_with(0).stdout;
    assert!(chat.ends_with("好，停。\n"), "what the question offers is an answer: {chat}");
}

#[test]
fn a_cancel_at_a_question_has_one_ending() {
    let home = chinese(&[plan(&["问"]), ask("哪天？"), done("好。")]);
    let mut chat = home.on_terminal(["chat"]);
    chat.until("你 › ").types("约时间").until("请确认：哪天？").until("回答 › ");
    chat.types("取消当前任务").until("已取消当前任务。").until("你 › ").types("/todo list");
    chat.until("没有待办");
    let screen = left(chat, "你 › ");
    assert!(!screen.contains("后台任务"), "{screen}");
}

#[test]
fn a_question_that_brings_its_own_prefix_has_it_once() {
    let home = chinese(&[plan(&["问"]), ask("请确认：几点出发？"), done("好。")]);
    let chat = home.chat(&["约时间", "九点"]).ends_with(0);
    assert!(chat.stdout.starts_with("请确认：几点出发？\n"), "{}", chat.stdout);
    chat.says(&["已回答：九点"]);
}

#[test]
fn bare_words_leave_or_help_and_a_steer_without_a_run_is_explained() {
    let home = chinese(&[]);
    let chat = home.chat(&["?", "!ls", "！快点", "exit", "从未读到"]).ends_with(0).stdout;
    assert!(
        chat.contains("/todo") && chat.matches("只能在终端的对话里执行命令").count() == 2,
        "{chat}"
    );
    assert!(home.run(["runs", "list", "--json"]).json()["data"].as_array().unwrap().is_empty());
}

#[test]
fn wide_commands_are_commands() {
    let home = Home::new().with("EVERLOOP_LANG", "zh-CN");
    let lines = ["、todo add 买牛奶", "、help", "／ｔｏｄｏ list", "、这是一句话"];
    let chat = home.chat(&lines).ends_with(0).stdout;
    assert!(chat.starts_with("已添加待办 #1：买牛奶\n"), "{chat}");
    assert!(chat.contains("买牛奶") && chat.matches("当前未配置 LLM").count() == 1, "{chat}");
}

#[test]
fn a_sentence_may_be_said_again_or_put_right_before_its_yes() {
    let home = Home::new().with("EVERLOOP_LANG", "zh-CN");
    let day = "2030年5月6日";
    let lines = [
        &format!("{day}下午三点开会"),
        "2030年5月7日下午三点开会",
        "改成下午四点",
        "",
        "说什么",
        "好的",
        &format!("{day}下午五点开会"),
        "取消当前任务",
        &format!("{day}下午六点开会"),
        "算了",
    ];
    let chat = home.chat(&lines).ends_with(0).stdout;
    for words in [
        "理解为：/schedule add 2030-05-06 15:00 开会",
        "理解为：/schedule add 2030-05-07 15:00 开会",
        "没有听懂“说什么”",
        "已添加日程 #1：开会（2030-05-07 16:00",
    ] {
        assert!(chat.contains(words), "{words} is not in {chat}");
    }
    assert_eq!(chat.matches("/schedule add 2030-05-07 16:00").count(), 3, "{chat}");
    // Two were replaced, one was canceled, one was dropped.
    assert_eq!(chat.matches("没有执行").count(), 4, "{chat}");
}

#[test]
fn a_correction_in_english_changes_the_time_and_not_the_title() {
    let home = Home::new().with("TZ", "UTC");
    let lines = ["meeting on 2030-05-06 at 3pm", "make it 5pm", "no, on 2030-05-07", "sounds good"];
    let chat = home.chat(&lines).ends_with(0).stdout;
    assert!(chat.contains("/schedule add 2030-05-06 17:00 meeting\n"), "{chat}");
    assert!(chat.contains("Added entry #1: meeting (2030-05-07 17:00"), "{chat}");
}

#[test]
fn escape_at_a_confirmation_says_that_nothing_was_done() {
    let home = chinese(&[]).with("EVERLOOP_MODEL", "");
    std::fs::write(home.data().join("config.toml"), "").unwrap();
    let mut chat = home.on_terminal(["chat"]);
    chat.until("你 › ").types("2030年5月6日下午三点开会").until("[e] 修改 › ").keys("\x1b");
    chat.until("没有执行");
    left(chat, "你 › ");
}

#[test]
fn what_only_shows_something_is_done_without_a_question() {
    let home = Home::new().with("EVERLOOP_LANG", "zh-CN");
    let chat = home.chat(&["/todo add 买牛奶", "我的待办"]).ends_with(0).stdout;
    assert!(!chat.contains("执行吗") && chat.matches("买牛奶").count() >= 2, "{chat}");
}
