//! The chat without a terminal: one line is one input; what is said goes to stdout, and only that.

use crate::support::{
    Home, ask, asked, done, goes_on, held_answers, plan, replanned, says, short, slow, thought,
};
use everloop_models::testing::ReplyGate;
use serde_json::{Value, json};

/// A home that speaks Chinese, with a model that plays this script.
fn chinese(replies: &[Value]) -> Home {
    Home::scripted(replies).with("EVERLOOP_LANG", "zh-CN").with("TZ", "Asia/Shanghai")
}

/// A home without a model.
fn alone(lang: &str) -> Home {
    Home::new().with("EVERLOOP_LANG", lang)
}

fn todo(command: &str) -> Value {
    goes_on("todo", json!(command))
}

fn schedule(command: &str) -> Value {
    goes_on("schedule", json!(command))
}

/// The texts of all todos, oldest first.
fn todos(home: &Home) -> Vec<String> {
    let list = home.run(["todo", "list", "--json"]).ends_with(0).json();
    let mut rows = list["todos"].as_array().unwrap().clone();
    rows.sort_by_key(|row| row["id"].as_i64());
    rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

fn two_questions() -> Vec<Value> {
    vec![
        plan(&["约时间"]),
        ask("哪天？"),
        replanned(&[("再问几点", false)]),
        ask("几点？"),
        done("好的，周一九点。"),
    ]
}

#[test]
fn one_goal_makes_a_todo_and_an_entry() {
    let home = chinese(&[
        plan(&["记下周报", "约会议"]),
        todo("/todo add 写周报 --tag 工作 --due \"2030-05-06 18:00\""),
        thought("记下了"),
        replanned(&[("记下周报", true), ("约会议", false)]),
        schedule("/schedule add 2030-05-06 15:00 评审 --duration 30"),
        thought("约好了"),
        done("周报和评审都安排好了。"),
    ]);
    let chat = home.chat(&["安排 5 月 6 日的周报和评审"]).ends_with(0);
    assert_eq!(chat.stdout, "周报和评审都安排好了。\n");
    chat.says(&["计划 v1", "✔ todo：已添加待办 #1：写周报", "✔ schedule：已添加日程 #1：评审"]);
    let list = home.run(["todo", "list", "--json"]).ends_with(0).json();
    let row = &list["todos"][0];
    assert_eq!((&row["text"], &row["tag"]), (&json!("写周报"), &json!("工作")));
    assert_eq!(row["due"], "2030-05-06T18:00:00+08:00");
    let day = home.run(["schedule", "view", "day", "2030-05-06", "--json"]).ends_with(0).json();
    assert_eq!(day["entries"].as_array().unwrap().len(), 1);
    assert_eq!(day["entries"][0]["title"], "评审");
    home.verified(&home.newest());
}

#[test]
fn a_first_action_that_fails_is_put_right_after_a_replan() {
    let home = chinese(&[
        plan(&["约评审"]),
        schedule("/schedule add 2030-05-06 15:30 评审"),
        schedule("评审在十七点"),
        thought("三点半有冲突"),
        replanned(&[("改到五点", false)]),
        schedule("/schedule add 2030-05-06 17:00 评审"),
        thought("好"),
        done("三点半有冲突，评审改在五点。"),
    ]);
    home.run(["schedule", "add", "2030-05-06 15:00", "例会"]).ends_with(0);
    let chat = home.chat(&["5 月 6 日三点半评审"]).ends_with(0);
    assert_eq!(chat.stdout, "三点半有冲突，评审改在五点。\n");
    chat.says(&["✖ schedule：没有保存：与下列日程时间冲突", "必须是以 /schedule 开头的完整命令"]);
    let day = home.run(["schedule", "view", "day", "2030-05-06", "--json"]).ends_with(0).json();
    let titles: Vec<&Value> =
        day["entries"].as_array().unwrap().iter().map(|entry| &entry["title"]).collect();
    assert_eq!(titles, ["例会", "评审"]);
    home.verified(&home.newest());
}

#[test]
fn questions_in_a_row_are_each_answered_by_the_next_line() {
    let home = chinese(&two_questions());
    let chat = home.chat(&["约时间", "周一", "九点"]).ends_with(0);
    assert_eq!(chat.stdout, "请确认：哪天？\n请确认：几点？\n好的，周一九点。\n");
    let answers = home.events(&home.newest());
    let answers: Vec<&Value> = answers
        .iter()
        .filter(|event| event["type"] == "interrupt.answered")
        .map(|event| &event["text"])
        .collect();
    assert_eq!(answers, ["周一", "九点"]);
    home.verified(&home.newest());
}

#[test]
fn a_question_outlives_the_chat_and_the_only_line_of_the_next_one_answers_it() {
    let home = chinese(&two_questions());
    let first = home.chat(&["约时间"]).ends_with(3);
    let run = home.newest();
    assert_eq!(first.stdout, format!("请确认：哪天？\n{run}\n"));
    let second = home.chat(&["周一"]).ends_with(3);
    let again = format!("请确认：哪天？\n请确认：几点？\n{run}\n");
    assert_eq!(second.stdout, again, "it is asked again");
    let third = home.chat(&["九点"]).ends_with(0);
    assert_eq!(third.stdout, "请确认：几点？\n好的，周一九点。\n");
    assert_eq!((home.newest(), home.status(&run).as_str()), (run.clone(), "succeeded"));
    home.verified(&run);
}

#[test]
fn commands_do_not_touch_a_question_that_waits() {
    let home = chinese(&two_questions());
    let lines = ["约时间", "/todo add 买牛奶", "/view all", "/plan", "/nosuch", "", "周一", "九点"];
    let chat = home.chat(&lines).ends_with(0).stdout;
    assert!(chat.starts_with("请确认：哪天？\n已添加待办 #1：买牛奶\n"), "{chat}");
    assert!(chat.contains("约时间\n") && chat.contains("没有命令 /nosuch"), "{chat}");
    assert!(chat.ends_with("请确认：几点？\n好的，周一九点。\n"), "{chat}");
    assert_eq!(todos(&home), ["买牛奶"]);
}

#[test]
fn the_cancel_phrase_cancels_what_waits_and_says_when_nothing_does() {
    let home = chinese(&two_questions());
    let lines = ["取消当前任务", "约时间", "取消当前任务", "/cancel", "／取消"];
    let chat = home.chat(&lines).ends_with(0).stdout;
    let none = "当前没有进行中的任务。\n";
    assert_eq!(chat, format!("{none}请确认：哪天？\n已取消当前任务。\n{none}{none}"));
    assert_eq!(home.status(&home.newest()), "canceled");
    home.verified(&home.newest());
}

#[test]
fn the_cancel_phrase_is_a_setting() {
    let home = chinese(&two_questions());
    home.run(["config", "set", "chat.cancel_phrase", "算了"]).ends_with(0);
    let chat = home.chat(&["约时间", "取消当前任务", "算了"]).ends_with(0).stdout;
    assert_eq!(
        chat, "请确认：哪天？\n请确认：几点？\n已取消当前任务。\n",
        "only the phrase cancels"
    );
}

/// Ten actions: twenty steps.
fn ten_actions(then: &[Value]) -> Vec<Value> {
    let mut replies = vec![plan(&["看十次"])];
    replies.extend((0..10).map(|n| todo(&format!("/todo list --tag t{n}"))));
    replies.extend_from_slice(then);
    replies
}

#[test]
fn at_the_step_limit_the_person_may_let_it_go_on() {
    let home = chinese(&ten_actions(&[thought("看完了"), done("看完了十次。")]));
    let chat = home.chat(&["看十次", "继续"]).ends_with(0);
    let told = &chat.stdout;
    let parts = ["已达到最大执行步数（20）", "已完成部分", "未完成原因", "下一步建议"];
    let at: Vec<usize> = parts.iter().map(|part| told.find(part).unwrap()).collect();
    assert!(at.is_sorted() && at[0] == 0, "{told}");
    assert!(told.ends_with("\n看完了十次。\n"), "{told}");
    chat.says(&["输入“继续”", "“现在回答”"]);
    home.verified(&home.newest());
}

#[test]
fn at_the_step_limit_the_person_may_have_the_answer_now() {
    let home = chinese(&ten_actions(&[says("没有带标签的待办。")]));
    let chat = home.chat(&["看十次", "现在回答"]).ends_with(0).stdout;
    assert!(chat.ends_with("\n没有带标签的待办。\n"), "{chat}");
    home.verified(&home.newest());
}

#[test]
fn a_line_after_the_limit_that_is_no_choice_is_a_new_goal() {
    let home = chinese(&ten_actions(&[]));
    let chat = home.chat(&["看十次", "再看一次"]).ends_with(0).stdout;
    assert_eq!(chat.matches("已达到最大执行步数（20）").count(), 2, "{chat}");
    assert_eq!(home.show(&home.newest())["goal"], "再看一次");
}

#[test]
fn replies_that_are_no_json_are_asked_for_again() {
    let home = chinese(&[
        says("好的，我来计划"),
        plan(&["回答"]),
        says("```json\n{\"status\":\"fly\"}\n```"),
        thought("你好！"),
        done("你好！"),
    ]);
    let chat = home.chat(&["你好"]).ends_with(0);
    assert_eq!(chat.stdout, "你好！\n");
    assert_eq!(home.show(&home.newest())["model_calls"], 5);
    home.verified(&home.newest());
}

#[test]
fn a_model_that_never_keeps_its_contract_ends_in_fixed_words_and_the_chat_goes_on() {
    let home = chinese(&vec![says("{\"status\":\"fly\"}"); 9]);
    let chat = home.chat(&["你好", "/todo add 照样能用"]).ends_with(0).stdout;
    assert!(chat.starts_with("抱歉，当前计划执行服务暂时不可用"), "{chat}");
    assert!(chat.contains("/todo") && chat.contains("/schedule"), "{chat}");
    assert!(chat.ends_with("已添加待办 #1：照样能用\n"), "{chat}");
}

#[test]
fn thoughts_that_are_never_json_end_the_run_after_two_rounds() {
    let mut replies = vec![plan(&["想"])];
    replies.extend(vec![says("嗯"); 9]);
    let home = chinese(&replies);
    let chat = home.chat(&["想一想"]).ends_with(0);
    assert!(chat.stdout.starts_with("抱歉，当前计划执行服务暂时不可用"), "{}", chat.stdout);
    chat.says(&["思考失败，准备重试"]);
    assert_eq!(home.show(&home.newest())["model_calls"], 7);
}

#[test]
fn plain_talk_gets_a_plain_answer_and_the_next_goal_hears_of_it() {
    let home = chinese(&[plan(&["回答"]), thought("我是助手。"), done("我是助手。")]);
    let chat = home.chat(&["你是谁？", "//todo 是什么？"]).ends_with(0);
    assert_eq!(chat.stdout, "我是助手。\n我是助手。\n");
    let run = home.show(&home.newest());
    assert_eq!(run["goal"], "/todo 是什么？", "two slashes send one");
    let history = home.chat(&["/history"]).ends_with(0).stdout;
    for said in ["你：你是谁？", "助手：我是助手。", "你：/todo 是什么？"] {
        assert!(history.contains(said), "{said} is not in {history}");
    }
}

#[test]
fn without_a_model_one_line_says_so_and_how_to_configure_one() {
    let chat = alone("zh-CN").chat(&["你好"]).ends_with(0).stdout;
    assert!(chat.starts_with("当前未配置 LLM") && chat.lines().count() == 1, "{chat}");
    assert!(chat.contains("everloop config setup"), "{chat}");
    let chat = alone("en").chat(&["hello"]).ends_with(0).stdout;
    assert!(chat.starts_with("No LLM is configured") && chat.lines().count() == 1, "{chat}");
}

#[test]
fn without_a_model_common_sentences_are_shown_as_commands_and_done_after_a_yes() {
    let home = alone("zh-CN");
    let chat =
        home.chat(&["2030年5月6日下午3点开会", "y", "提醒我买牛奶", "n"]).ends_with(0).stdout;
    assert!(chat.starts_with("理解为：/schedule add 2030-05-06 15:00 开会\n"), "{chat}");
    assert!(chat.contains("已添加日程 #1：开会") && chat.ends_with("没有执行\n"), "{chat}");
    assert_eq!(todos(&home), Vec::<String>::new());
    let home = alone("en");
    let lines = ["remind me to buy milk tomorrow", "yes", "remind me to call Bob tomorrow", "no"];
    let chat = home.chat(&lines).ends_with(0).stdout;
    assert!(chat.starts_with("I read this as: /todo add buy milk --due "), "{chat}");
    assert!(chat.ends_with("Not run\n"), "{chat}");
    assert_eq!(todos(&home), ["buy milk"]);
}

#[test]
fn an_empty_line_gets_a_hint_and_a_mistyped_command_the_nearest_one() {
    let chat = alone("zh-CN").chat(&["", "  ", "/scedule list", "/xyzzy"]).ends_with(0).stdout;
    let hint = "请输入内容；/help 查看命令。\n";
    let rest = chat.strip_prefix(&format!("{hint}{hint}")).unwrap();
    assert!(rest.starts_with("没有命令 /scedule。是否想写 /schedule？\n"), "{rest}");
    assert!(rest.ends_with("没有命令 /xyzzy。/help 列出全部命令。\n"), "{rest}");
}

#[test]
fn the_end_of_the_input_leaves_and_asks_nothing_on_a_first_run() {
    let home = alone("zh-CN");
    let chat = home.chat(&[]).ends_with(0);
    assert_eq!((chat.stdout.as_str(), chat.stderr.as_str()), ("", ""));
    assert!(!home.data().join("config.toml").exists());
    let chat = home.chat(&["/quit", "/todo add 从未读到"]).ends_with(0);
    assert_eq!((chat.stdout.as_str(), todos(&home).len()), ("", 0));
}

#[test]
fn a_reminder_whose_time_passed_unseen_is_shown_late_and_once() {
    let home = alone("zh-CN");
    let args = ["todo", "add", "交税", "--due", "2030-05-06 10:00", "--remind", "2030-05-06 09:00"];
    home.run(args).ends_with(0);
    assert_eq!(home.chat(&[]).ends_with(0).stdout, "", "its time has not come");
    // Nobody was there at nine: the clock of the row is put back instead of ours forward.
    let database = rusqlite::Connection::open(home.database()).unwrap();
    let put_back = "UPDATE todos SET remind_at = 1577955600000, remind_next = 1577955600000";
    assert_eq!(database.execute(put_back, []).unwrap(), 1);
    drop(database);
    let late = home.chat(&[]).ends_with(0).stdout;
    assert!(late.starts_with("⏰ 迟到的提醒（原定 2020-01-02 ") && late.contains("交税"), "{late}");
    assert_eq!(late.lines().count(), 1, "{late}");
    assert_eq!(home.chat(&[]).ends_with(0).stdout, "", "once");
    let inbox = home.chat(&["/inbox read", "/inbox"]).ends_with(0).stdout;
    assert!(inbox.contains("交税") && inbox.ends_with("没有未读的提醒\n"), "{inbox}");
}

#[test]
fn a_chat_killed_during_a_run_goes_on_with_it_and_nothing_is_added_twice() {
    let goes = |last: Value| {
        let first = todo("/todo add 第一件");
        [plan(&["两件事"]), first, last, thought("好"), done("两件都记下了。")]
    };
    let home = chinese(&goes(slow(todo("/todo add 第二件"))));
    let mut first = home.piped(["chat"]);
    first.hears(&["记两件事"]);
    first.until("已添加待办 #1");
    first.kill9();
    let run = home.newest();
    assert_eq!(home.status(&run), "running");
    home.rewrite(&goes(todo("/todo add 第二件")));
    let second = home.chat(&["/todo search 件"]).ends_with(0);
    assert!(second.stdout.starts_with("两件都记下了。\n"), "{}", second.stdout);
    second.says(&[
        "↻ 上次异常退出（",
        &format!("任务 {} 记两件事：完成 0/1 项，继续执行", short(&run)),
    ]);
    assert_eq!(todos(&home), ["第一件", "第二件"]);
    home.verified(&run);
}

#[test]
fn a_chat_killed_again_and_again_adds_every_todo_exactly_once() {
    let mut replies = vec![plan(&["六件事"])];
    replies.extend((1..7).map(|n| todo(&format!("/todo add 第{n}件"))));
    replies.extend([thought("好"), done("六件都记下了。")]);
    replies.iter_mut().for_each(|reply| reply["delay_ms"] = json!(60));
    let home = chinese(&replies);
    let mut first = home.piped(["chat"]);
    first.hears(&["记六件事"]);
    first.until("计划 v1");
    first.kill9();
    let run = home.newest();
    for n in 1..6 {
        let mut next = home.piped(["chat"]);
        next.until("上次异常退出");
        next.until(&format!("已添加待办 #{n}："));
        next.kill9();
    }
    let last = home.chat(&[]).ends_with(0);
    assert_eq!((last.stdout.as_str(), home.newest()), ("六件都记下了。\n", run.clone()));
    assert_eq!(todos(&home), ["第1件", "第2件", "第3件", "第4件", "第5件", "第6件"]);
    home.verified(&run);
}

#[test]
fn input_that_ends_on_an_open_question_exits_3_with_the_run() {
    let home = chinese(&[plan(&["问"]), ask("哪天？"), done("好，周一。")]);
    let chat = home.chat(&["约时间"]).ends_with(3);
    let run = home.newest();
    assert_eq!(chat.stdout, format!("请确认：哪天？\n{run}\n"));
    chat.says(&[&format!("everloop runs resume {} --answer", short(&run))]);
    // Whoever leaves by a word has seen the question.
    home.chat(&["/quit"]).ends_with(0);
    assert_eq!(home.chat(&["周一"]).ends_with(0).stdout.lines().last(), Some("好，周一。"));
}

/// The end comes while another run is looked at, and is told after it.
#[test]
fn a_run_in_the_background_is_announced_when_it_ends_during_another_one() {
    let gates = [ReplyGate::default(), ReplyGate::default()];
    let server = held_answers(&gates, &["The cellar is dry.", "Nothing there."]);
    let home = Home::new().with("AGENT_MODE", "react").endpoint(&server.url());
    let mut chat = home.piped(["chat"]);
    chat.hears(&["/bg look into the cellar"]);
    asked(&server, 1);
    let cellar = home.newest();
    chat.hears(&["look around"]);
    asked(&server, 2);
    gates[0].open();
    home.until_status(&cellar, "succeeded");
    gates[1].open();
    chat.until("Nothing there.");
    chat.until("Background run ");
    chat.until("The cellar is dry.");
    let told = chat.ended().ends_with(0).stdout;
    assert_eq!(told.matches("The cellar is dry.").count(), 1, "{told}");
}
