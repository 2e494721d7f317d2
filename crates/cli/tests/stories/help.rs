//! `--help` in both languages.

use crate::support::Home;

/// Help of these arguments in this language; it must be all that is said.
#[track_caller]
fn help(lang: &str, args: &[&str]) -> String {
    let home = Home::new().with("EVERLOOP_LANG", lang);
    let said = home.run(args).ends_with(0);
    assert_eq!(said.stderr, "");
    assert!(!said.stdout.contains("help."), "a key without its text: {}", said.stdout);
    said.stdout
}

#[track_caller]
fn holds(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
}

fn has_chinese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{4e00}'..='\u{9fff}'))
}

#[test]
fn the_overview_is_in_the_language_of_the_reader() {
    let en = help("en", &["--help"]);
    holds(
        &en,
        &[
            "An AI assistant whose work survives crashes",
            "Usage: everloop [OPTIONS] [MESSAGE] [COMMAND]",
        ],
    );
    holds(&en, &["Commands:\n  chat ", "Options:\n", "-h, --help", "Print the version"]);
    assert!(!has_chinese(&en) && !en.contains("__guard"), "{en}");
    let zh = help("zh-CN", &["--help"]);
    holds(&zh, &["终端里的 AI 助手", "用法：everloop [选项] [消息] [命令]", "命令：\n  chat "]);
    holds(&zh, &["选项：\n", "显示这份帮助", "显示版本", "只在这一次改变一个设置"]);
    for words in ["Usage", "Commands:", "Options:", "Print"] {
        assert!(!zh.contains(words), "{words:?} is in: {zh}");
    }
}

#[test]
fn a_group_of_commands_tells_of_each_of_them() {
    let en = help("en", &["runs", "--help"]);
    holds(
        &en,
        &[
            "List, show, cancel, resume, switch, settle and delete runs",
            "List runs, newest first",
            "End a run",
        ],
    );
    assert!(!has_chinese(&en), "{en}");
    let zh = help("zh-CN", &["runs", "--help"]);
    holds(
        &zh,
        &["列出、查看、取消、继续、换循环、确认和删除任务", "列出任务，最新的在前", "结束一个任务"],
    );
    // Without a command it lists.
    let home = Home::new().with("EVERLOOP_LANG", "zh-CN");
    assert!(home.run(["runs"]).ends_with(0).stdout.contains("还没有任务"));
}

#[test]
fn a_command_tells_of_its_arguments_their_values_and_their_defaults() {
    let en = help("en", &["run", "--help"]);
    holds(&en, &["Arguments:\n  [GOAL]  What is to be done", "Options:\n"]);
    holds(&en, &["How the answer is printed (one of text | json | stream-json; default text)"]);
    let zh = help("zh-CN", &["run", "--help"]);
    holds(&zh, &["参数：\n  [目标]  要做的事", "选项：\n", "允许这次任务的每个工具请求"]);
    holds(&zh, &["答案的输出格式（可选：text | json | stream-json；默认：text）"]);
    assert!(!zh.contains("possible values") && !zh.contains("[default"), "{zh}");
}

#[test]
fn the_flag_decides_wherever_it_stands_and_the_locale_when_nothing_else_does() {
    for args in [["--help", "--lang", "zh-CN"].as_slice(), &["--lang=zh-CN", "-h"]] {
        holds(&help("en", args), &["用法："]);
    }
    let mut home = Home::new();
    home.unset("EVERLOOP_LANG");
    home.set("LANG", "zh_CN.UTF-8");
    holds(&home.run(["--help"]).ends_with(0).stdout, &["用法："]);
    home.set("LC_ALL", "en_US.UTF-8");
    holds(&home.run(["--help"]).ends_with(0).stdout, &["Usage:"]);
}

#[test]
fn a_wrong_command_line_points_to_the_help_in_chinese() {
    let home = Home::new();
    let english = home.run(["run", "--nonsense"]).ends_with(2).stderr;
    assert!(!has_chinese(&english) && english.contains("--help"), "{english}");
    let chinese = home.run(["run", "--nonsense", "--lang", "zh-CN"]).ends_with(2).stderr;
    assert!(chinese.ends_with("用法见 everloop --help，或在任意命令后加 --help\n"), "{chinese}");
}

#[test]
fn a_mistyped_command_is_named_also_if_words_follow() {
    let home = Home::new();
    for args in [&["tod"][..], &["tod", "list"], &["scedule", "add", "x"]] {
        let nearest = if args[0] == "tod" { "everloop todo" } else { "everloop schedule" };
        home.run(args).ends_with(2).says(&[args[0], nearest]);
    }
}

#[test]
fn help_is_a_command_with_topics() {
    holds(&help("en", &["help"]), &["Usage: everloop", "Commands:\n  chat "]);
    holds(&help("zh-CN", &["help", "todo"]), &["用法：everloop todo", "add "]);
    let add = help("en", &["help", "todo", "add"]);
    holds(&add, &["Usage: everloop todo add", "--due"]);
    assert_eq!(help("en", &["todo", "help", "add"]), add);
    assert_eq!(help("en", &["todo", "help"]), help("en", &["help", "todo"]));
    holds(&help("en", &["help", "react"]), &["react"]);
}

#[test]
fn the_pages_of_the_manual_open_offline_in_both_languages() {
    let pages =
        ["guide", "commands", "settings", "json", "events", "permissions", "evidence", "logging"];
    for page in pages {
        let english = help("en", &["help", page]);
        let chinese = help("zh-CN", &["help", page]);
        assert!(english.starts_with("# ") && chinese.starts_with("# "), "{page}");
        assert!(has_chinese(&chinese), "{page}");
        holds(&help("en", &["help"]), &[page]);
    }
    let home = Home::new();
    let said = home.run(["help", "permisions"]).ends_with(2);
    said.says(&["No help on permisions", "Did you mean permissions?", "guide, commands"]);
}

#[test]
fn what_is_not_there_is_named_truly_with_the_nearest() {
    let home = Home::new();
    home.run(["hlep"]).ends_with(2).says(&["Unknown command hlep", "everloop help"]);
    home.run(["help", "todoo"]).ends_with(2).says(&["No help on todoo", "Did you mean todo?"]);
    home.run(["help", "xyzzy"]).ends_with(2).says(&["No help on xyzzy", "everloop help"]);
    let far = home.run(["xyzzyq"]).ends_with(2);
    assert!(!far.stderr.contains("Did you mean"), "{}", far.stderr);
    for args in [&["--foo"][..], &["-p", "hi", "--foo"], &["--set", "a.b=c", "--foo", "hi"]] {
        let told = home.run(args).ends_with(2);
        assert!(told.stderr.starts_with("Unknown option --foo"), "{}", told.stderr);
    }
}
