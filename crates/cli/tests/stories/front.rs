//! One front door for `-p`, `run` and pipes.

use crate::support::{Home, ask, done, plan, says};

fn alone(lang: &str) -> Home {
    Home::new().with("EVERLOOP_LANG", lang)
}

#[test]
fn the_question_may_come_through_the_pipe() {
    let home = Home::scripted(&[says("Blue.")]).with("AGENT_MODE", "react");
    let mut asks = home.piped(["-p"]);
    asks.hears(&["what colour is the sea?"]);
    assert_eq!(asks.ended().ends_with(0).stdout, "Blue.\n");
    assert_eq!(home.show(&home.newest())["goal"], "what colour is the sea?");
    home.run(["-p"]).ends_with(2).says(&["There is no question"]);
}

#[test]
fn without_a_model_every_surface_says_the_same_fixed_text() {
    for args in [&["-p", "你好"][..], &["run", "你好"]] {
        let told = alone("zh-CN").run(args).ends_with(5);
        assert!(told.stderr.starts_with("当前未配置 LLM") && told.stdout.is_empty(), "{told:?}");
        assert_eq!(told.stderr.lines().count(), 1);
    }
}

#[test]
fn commands_and_the_cancel_phrase_need_no_model() {
    for verb in ["-p", "run"] {
        let home = alone("zh-CN");
        home.run([verb, "/todo add 买牛奶"]).ends_with(0);
        let list = home.run([verb, "、todo list"]).ends_with(0).stdout;
        assert!(list.contains("买牛奶"), "{list}");
        let none = home.run([verb, "取消当前任务。"]).ends_with(0).stdout;
        assert_eq!(none, "当前没有进行中的任务。\n");
        home.run([verb, "/cancel"]).ends_with(0);
        home.run([verb, "/history"]).ends_with(2).says(&["只在对话里可用"]);
    }
}

#[test]
fn a_sentence_is_shown_as_its_command_and_only_looking_is_done_at_once() {
    let home = alone("zh-CN");
    let told = home.run(["-p", "2030年5月6日下午3点开会"]).ends_with(3);
    assert_eq!(told.stdout, "/schedule add 2030-05-06 15:00 开会\n");
    told.says(&["还没有执行", "everloop -p '/schedule add 2030-05-06 15:00 开会'"]);
    home.run(["-p", "/todo add 买牛奶"]).ends_with(0);
    let list = home.run(["-p", "我的待办"]).ends_with(0).stdout;
    assert!(list.contains("买牛奶"), "{list}");
}

#[test]
fn a_script_goes_on_with_its_own_last_question_only_if_it_says_so() {
    let home = Home::scripted(&[plan(&["ask"]), ask("Which colour?"), done("Blue it is.")]);
    home.chat(&["paint it"]).ends_with(3);
    let of_chat = home.newest();
    let first = home.run(["-p", "paint the door"]).ends_with(3).stdout.trim().to_owned();
    let second = home.run(["-p", "paint the roof"]).ends_with(3).stdout.trim().to_owned();
    assert_eq!(home.status(&first), "waiting", "each question has a conversation of its own");
    let told = home.run(["-p", "-c", "blue"]).ends_with(0);
    assert_eq!(told.stdout, "Blue it is.\n");
    assert_eq!(home.status(&second), "succeeded");
    let told = home.run(["-p", "blue", "-r", &first]).ends_with(0);
    assert_eq!(told.stdout, "Blue it is.\n");
    home.run(["-p", "-c", "paint once more"]).ends_with(3);
    let told = home.run(["-p", "-c", "cancel the current task."]).ends_with(0);
    assert_eq!(told.stdout, "The current task was canceled.\n");
    assert_eq!(home.status(&home.newest()), "canceled");
    assert_eq!(home.status(&of_chat), "waiting", "the chat's question is the chat's");
}

#[test]
fn a_continued_question_is_told_what_was_said_before() {
    let home = Home::scripted(&[says("Blue.")]).with("AGENT_MODE", "react");
    home.run(["-p", "what colour is the sky?"]).ends_with(0);
    home.chat(&["something else"]).ends_with(0);
    home.run(["-p", "-c", "and the sea?"]).ends_with(0);
    let first = home.run(["replay", &home.newest(), "--at", "1", "--json"]).ends_with(0).stdout;
    assert!(first.contains("what colour is the sky?") && !first.contains("something else"));
}

#[test]
fn a_script_without_a_last_question_goes_on_with_the_chat() {
    let home = Home::scripted(&[plan(&["ask"]), ask("Which colour?"), done("Blue it is.")]);
    home.chat(&["paint it"]).ends_with(3);
    let told = home.run(["-p", "-c", "blue"]).ends_with(0);
    assert_eq!(told.stdout, "Blue it is.\n");
}

#[test]
fn a_loop_a_model_and_a_folder_are_chosen_where_the_goal_is_said() {
    let home = Home::scripted(&[says("Hello.")]);
    let model = format!("scripted/{}", home.path("script.json").display());
    let mut bare = home;
    bare.unset("EVERLOOP_MODEL");
    let react = ["--loop", "react", "--model", &model];
    for args in [&["-p", "hi"][..], &["run", "hi"]] {
        let told = bare.run(args.iter().chain(&react)).ends_with(0);
        assert_eq!(told.stdout, "Hello.\n");
    }
    let before = react.iter().chain(&["run", "hi"]);
    assert_eq!(bare.run(before).ends_with(0).stdout, "Hello.\n");
    let mut chat = bare.piped(["chat"].iter().chain(&react));
    chat.hears(&["hi"]);
    assert_eq!(chat.ended().ends_with(0).stdout, "Hello.\n");
    bare.run(["-p", "hi", "--lop", "x"]).ends_with(2).says(&["Unknown option --lop", "--loop"]);
}

#[test]
fn the_mode_of_a_workspace_counts_once_the_folder_is_trusted() {
    let home = Home::scripted(&[says("Hello.")]);
    std::fs::write(home.work(".env"), "AGENT_MODE=React\n").unwrap();
    let told = home.run(["run", "hi"]);
    assert_ne!(told.code, Some(0), "plan-replan wants a plan");
    let folder = home.path("work").canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    told.says(&["AGENT_MODE=React", "not trusted", "workspaces.trusted", folder]);
    home.run(["config", "set", "workspaces.trusted", folder]).ends_with(0);
    assert_eq!(home.run(["run", "hi"]).ends_with(0).stdout, "Hello.\n");
    assert_eq!(home.show(&home.newest())["loop"], "react");
}

#[test]
fn a_mode_is_named_in_letters_of_any_size_and_a_wrong_one_as_it_was_written() {
    let home = Home::scripted(&[says("Hello.")]).with("AGENT_MODE", "ReAct");
    home.run(["run", "hi"]).ends_with(0);
    let home = home.with("AGENT_MODE", "Day_Dreaming");
    home.run(["run", "hi"]).ends_with(5).says(&["Day_Dreaming"]);
}
