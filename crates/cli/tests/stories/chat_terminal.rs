//! The chat as a person at a terminal has it.

use crate::support::{
    Home, Terminal, ask, asked, calls, done, eventually, goes_on, held_answers, plan, replanned,
    says, short, slow, thought,
};
use everloop_models::testing::{CannedReply, FakeServer, ReplyGate};
use serde_json::{Value, json};

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_J: u8 = 10;
const LEFT: &str = "\x1b[D";
const UP: &str = "\x1b[A";
const PROMPT: &str = "你 › ";

/// A home that speaks Chinese on a terminal without colours.
fn chinese(replies: &[Value]) -> Home {
    let home = Home::scripted(replies).with("EVERLOOP_LANG", "zh-CN");
    home.with("TERM", "xterm").with("NO_COLOR", "1")
}

/// A chat whose prompt waits.
fn open(home: &Home, args: &[&str]) -> Terminal {
    let mut chat = home.on_terminal(std::iter::once(&"chat").chain(args));
    chat.until(PROMPT);
    chat
}

/// Leaves a chat whose prompt waits; all that was on its screen.
fn left(mut chat: Terminal) -> String {
    chat.until(PROMPT).presses(CTRL_D);
    chat.ended().ends_with(0).stdout
}

/// A model whose command waits until the test opens a gate.
fn gated() -> Home {
    let home = chinese(&[calls("shell", json!({"command": "cat gate"})), says("门开了。")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    home
}

const GATED: [&str; 3] = ["--loop", "react", "--yes"];

fn open_gate(home: &Home) {
    std::fs::write(home.work("gate"), "open\n").unwrap();
}

#[test]
fn the_first_run_asks_two_questions_and_then_it_is_a_chat() {
    let home = Home::new().with("EVERLOOP_SETUP_PROBE", "http://127.0.0.1:1/v1");
    let mut home = home.with("TERM", "xterm").with("NO_COLOR", "1");
    home.unset("EVERLOOP_LANG");
    let mut chat = home.on_terminal::<&str>([]);
    chat.until("[1] 简体中文  [2] English").until("› ").types("1");
    chat.until("0. 先不配置").until("› ").types("0");
    chat.until("试试：").until("输入目标").until(PROMPT).types("/todo add 买牛奶");
    chat.until("已添加待办 #1：买牛奶").until(PROMPT).types("你好");
    chat.until("当前未配置 LLM").until(PROMPT).types("2030年5月6日下午3点开会");
    chat.until("理解为：/schedule add 2030-05-06 15:00 开会").until("[e] 修改 › ").types("y");
    chat.until("已添加日程 #1：开会");
    left(chat);
    let again = left(home.on_terminal::<&str>([]));
    assert!(!again.contains("简体中文") && again.contains("输入目标"), "{again}");
}

#[test]
fn a_goal_shows_its_plan_redrawn_in_place_and_its_answer() {
    let mut replies = vec![
        plan(&["记下", "回答"]),
        goes_on("todo", json!("/todo add 写周报")),
        thought("记下了"),
        replanned(&[("记下", true), ("回答", false)]),
        thought("好"),
        done("周报记下了。"),
    ];
    replies.iter_mut().for_each(|reply| reply["delay_ms"] = json!(120));
    let home = chinese(&replies);
    let mut chat = open(&home, &[]);
    chat.types("记下周报").until("正在制定计划").until("  ◐ 1 记下").until("  ○ 2 回答");
    chat.until("→ ").until("已添加待办 #1：写周报").until("  ✔ 1 记下");
    chat.until("  ✔ 2 回答").until("周报记下了。").until("成功");
    let screen = left(chat);
    let redrawn = screen.matches("A\r \x1b[J").count();
    assert!(redrawn > 3, "drawn over {redrawn} times: {screen}");
    let end = screen.rfind("\x1b[J▸ 计划").or_else(|| screen.rfind("▸ 计划")).unwrap();
    assert!(!screen[end..].contains("○"), "the plan that stays is the finished one: {screen}");
    home.verified(&home.newest());
}

#[test]
fn lines_begin_at_the_edge_though_a_killed_program_left_the_terminal_otherwise() {
    let home = chinese(&[says("一行。")]);
    let mut chat = home.on_torn_terminal(["chat", "--loop", "react"]);
    chat.until(PROMPT).types("说一行").until("一行。");
    let seen = left(chat);
    let is_torn = |(at, _): (usize, &str)| !seen[..at].ends_with('\r');
    assert!(!seen.match_indices('\n').any(is_torn), "{seen:?}");
}

#[test]
fn ctrl_c_on_an_empty_line_warns_and_a_second_one_leaves() {
    let home = chinese(&[]);
    let mut chat = open(&home, &[]);
    chat.keys("这行不要了").presses(CTRL_C).until(PROMPT).types("/todo list");
    chat.until("没有待办").until(PROMPT).presses(CTRL_C);
    chat.until("再按一次退出").until(PROMPT).presses(CTRL_C);
    chat.ended().ends_with(0);
    assert!(home.run(["runs", "list", "--json"]).json()["data"].as_array().unwrap().is_empty());
}

/// No prompt is waited for: each line is typed at the moment at which nobody reads.
#[test]
fn a_line_typed_between_two_prompts_is_a_line_all_the_same() {
    let home = chinese(&[]);
    let mut chat = open(&home, &[]);
    for _ in 0..100 {
        chat.types("/todo list").until("没有待办");
    }
    left(chat);
}

#[test]
fn ctrl_c_during_a_run_cancels_it_and_says_what_is_kept() {
    let home = chinese(&[
        plan(&["记下", "等待"]),
        goes_on("todo", json!("/todo add 写周报")),
        slow(thought("从未说到")),
    ]);
    let mut chat = open(&home, &[]);
    chat.types("记下周报").until("已添加待办").until("正在").presses(CTRL_C);
    chat.until("正在取消").until("已取消").until("想接着做：/fork ");
    left(chat);
    assert_eq!(home.status(&home.newest()), "canceled");
    let list = home.run(["todo", "list", "--json"]).ends_with(0).json();
    assert_eq!(list["todos"].as_array().unwrap().len(), 1);
    home.verified(&home.newest());
}

#[test]
fn tab_completes_a_command() {
    let home = chinese(&[]);
    let mut chat = open(&home, &[]);
    chat.keys("/sch\t").until("/schedule").types("list").until("这段时间没有日程");
    left(chat);
}

#[test]
fn a_line_typed_ahead_is_queued_and_sent_after() {
    let home = gated();
    let mut chat = open(&home, &GATED);
    chat.types("第一句").until("$ cat gate").types("第二句").until("已排队：第二句");
    open_gate(&home);
    chat.until("门开了。").until("你 › 第二句").until("$ cat gate");
    open_gate(&home);
    chat.until("门开了。");
    left(chat);
    assert_eq!(home.show(&home.newest())["goal"], "第二句");
}

/// Both replies are held back until the word is told: one is an answer, the other asks for a tool.
#[test]
fn a_word_that_comes_too_late_for_the_answer_is_the_next_message() {
    let streamed = |delta: Value, stop: &str| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": stop});
        format!("data: {}\n\ndata: [DONE]\n\n", json!({ "choices": [choice] }))
    };
    let answer = |text: &str| streamed(json!({ "content": text }), "stop");
    let call = json!({"index": 0, "id": "c1", "type": "function",
                      "function": {"name": "list_dir", "arguments": "{\"path\":\".\"}"}});
    let listing = streamed(json!({ "tool_calls": [call] }), "tool_calls");
    for (held_back, seen_by) in [(answer("第一个回答。"), 1), (listing, 2)] {
        let gate = ReplyGate::default();
        let server = FakeServer::start(vec![
            CannedReply::stream().behind(&gate).then(held_back).end(),
            CannedReply::sse(answer("第二个回答。")),
        ]);
        let home = chinese(&[]).endpoint(&server.url());
        let mut chat = open(&home, &["--loop", "react"]);
        chat.types("慢慢想").until("正在思考");
        eventually("the model is asked", || server.seen().pop());
        chat.types("!要简短").until("已转告模型：要简短");
        gate.open();
        if seen_by == 1 {
            chat.until("第一个回答。").until("没赶上这次回答").until("你 › 要简短");
        }
        chat.until("第二个回答。");
        let screen = left(chat);
        assert_eq!(screen.contains("没赶上这次回答"), seen_by == 1);
        assert!(server.seen()[1].json()["messages"].to_string().contains("要简短"));
        assert_eq!(home.show(&home.newest())["model_calls"], if seen_by == 1 { 1 } else { 2 });
    }
}

#[test]
fn a_run_in_the_background_leaves_the_prompt_free_and_its_end_is_announced() {
    let home = gated();
    let mut chat = open(&home, &GATED);
    chat.types("慢慢来").until("$ cat gate").types("/bg").until("已转到后台").until(PROMPT);
    chat.types("/todo add 同时").until("已添加待办 #1：同时").until(PROMPT);
    open_gate(&home);
    chat.until("● 后台任务 ").until("结束：成功").until("门开了。");
    left(chat);
}

#[test]
fn a_run_in_the_background_that_ends_during_another_one_is_announced_after_it() {
    let gates = [ReplyGate::default(), ReplyGate::default()];
    let server = held_answers(&gates, &["地窖是干的。", "没有什么。"]);
    let home = Home::new().with("EVERLOOP_LANG", "zh-CN").with("AGENT_MODE", "react");
    let home = home.endpoint(&server.url());
    let mut chat = open(&home, &[]);
    chat.types("/bg 看看地窖").until(PROMPT);
    asked(&server, 1);
    let cellar = home.newest();
    chat.types("四处看看");
    asked(&server, 2);
    gates[0].open();
    home.until_status(&cellar, "succeeded");
    gates[1].open();
    chat.until("没有什么。");
    chat.until("● 后台任务 ").until("结束：成功").until("地窖是干的。");
    left(chat);
}

#[test]
fn a_question_is_shown_again_after_a_kill_and_answered() {
    let home = chinese(&[plan(&["问"]), ask("哪天？"), done("好，周一。")]);
    let mut first = open(&home, &[]);
    first.types("约时间").until("请确认：哪天？").until("回答 › ");
    first.kill9();
    let run = home.newest();
    let mut second = home.on_terminal(["chat"]);
    second
        .until(&format!("↻ 任务 {} 还在等你的回答（约时间）", short(&run)))
        .until("请确认：哪天？");
    second.until("回答 › ").types("周一").until("好，周一。");
    left(second);
    home.verified(&run);
}

#[test]
fn a_run_that_was_killed_is_taken_up_and_shown_again() {
    let mut script =
        vec![plan(&["记下"]), goes_on("todo", json!("/todo add 写周报")), slow(thought("好"))];
    script.push(done("记下了。"));
    let home = chinese(&script);
    let mut first = open(&home, &[]);
    first.types("记下周报").until("已添加待办 #1");
    first.kill9();
    let run = home.newest();
    script[2] = thought("好");
    home.rewrite(&script);
    let mut second = home.on_terminal(["chat"]);
    second
        .until("↻ 上次异常退出（")
        .until(&format!("任务 {} 记下周报：完成 0/1 项，继续执行", short(&run)));
    second.until("记下了。");
    left(second);
    home.verified(&run);
}

#[test]
fn a_chinese_line_is_edited_in_its_middle_and_over_several_lines() {
    let home = chinese(&[plan(&["回答"]), thought("好"), done("好。")]);
    let mut chat = open(&home, &[]);
    chat.keys("你好界").keys(LEFT).keys("世").keys(LEFT).keys(LEFT).keys("x\x7f，").keys("\x1b[F");
    chat.presses(CTRL_J).types("第二行").until("好。").until("成功");
    left(chat);
    assert_eq!(home.show(&home.newest())["goal"], "你，好世界\n第二行");
}

#[test]
fn lines_of_earlier_chats_are_remembered() {
    let home = chinese(&[]);
    let mut chat = open(&home, &[]);
    chat.types("/todo add 买牛奶").until("已添加待办 #1：买牛奶");
    left(chat);
    let mut chat = open(&home, &[]);
    chat.keys(UP).until("/todo add 买牛奶").types("").until("已添加待办 #2：买牛奶");
    left(chat);
}

#[test]
fn the_language_is_switched_for_the_next_words() {
    let home = chinese(&[]);
    let mut chat = open(&home, &[]);
    chat.types("/lang en").until("The interface speaks English").until("You › ");
    chat.types("/todo list").until("There are no todos").until("You › ").types("/lang zh-CN");
    chat.until("界面语言：简体中文").until(PROMPT).types("/todo list").until("没有待办");
    left(chat);
}

#[test]
fn a_chat_that_is_asked_to_end_leaves_its_run_and_a_terminal_that_can_be_used() {
    let home = gated();
    let mut idle = open(&home, &[]);
    idle.keys("打到一半").until("半").terminate();
    idle.ended().ends_with(143);
    let mut busy = open(&home, &GATED);
    busy.types("慢慢来").until("$ cat gate").terminate();
    busy.ended().ends_with(143);
    assert_eq!(home.status(&home.newest()), "queued");
}
