//! The same messages in both languages.

use crate::support::{Home, ask, calls, done, plan, says, short};
use serde_json::json;

fn asking() -> Home {
    Home::scripted(&[plan(&["问颜色"]), ask("什么颜色？"), done("蓝色。")])
}

#[test]
fn a_question_begins_with_the_exact_prefix_in_chinese() {
    let home = asking().with("EVERLOOP_LANG", "zh-CN");
    let asked = home.run(["run", "刷墙"]).ends_with(3);
    let id = asked.stdout.trim().to_owned();
    let short = short(&id).to_owned();
    asked.says(&[
        &format!("任务 {short} 已开始"),
        &format!("任务 {short} 需要有人回答：请确认：什么颜色？"),
        &format!("回答：everloop runs resume {short} --answer"),
    ]);
    assert_eq!(home.show(&id)["text"], "请确认：什么颜色？");
    let ended = home.run(["runs", "resume", &id, "--answer", "蓝"]).ends_with(0);
    assert_eq!(ended.stdout, "蓝色。\n");
    home.verified(&id);
}

#[test]
fn the_same_question_in_english() {
    let home = asking();
    let asked = home.run(["run", "paint"]).ends_with(3);
    let id = asked.stdout.trim().to_owned();
    let short = short(&id).to_owned();
    asked.says(&[
        &format!("Run {short} started"),
        &format!("Run {short} needs a person to answer: 什么颜色？"),
        &format!("Answer with: everloop runs resume {short} --answer"),
    ]);
}

#[test]
fn the_flag_goes_before_the_variable_and_the_variable_before_the_file() {
    let told =
        |home: &Home, more: &[&str]| home.run(["run", " "].iter().chain(more)).ends_with(2).stderr;
    let mut home = Home::scripted(&[]);
    std::fs::write(home.data().join("config.toml"), "[ui]\nlanguage = \"zh-CN\"\n").unwrap();
    assert!(told(&home, &[]).starts_with("The goal is empty"));
    assert!(told(&home, &["--lang", "zh-CN"]).starts_with("目标是空的"));
    home.set("EVERLOOP_LANG", "zh-CN");
    assert!(told(&home, &["--lang", "en"]).starts_with("The goal is empty"));
    home.unset("EVERLOOP_LANG");
    assert!(told(&home, &[]).starts_with("目标是空的"));
}

#[test]
fn a_resumed_run_tells_of_its_recovery_in_the_language_of_the_reader() {
    for (language, words) in [("zh-CN", "已从日志恢复"), ("en", "Recovered from the journal")]
    {
        let home = Home::scripted(&[json!({"text": "done", "delay_ms": 600_000})])
            .with("EVERLOOP_LANG", language);
        let args = ["run", "--loop", "react", "--output-format", "stream-json", "go"];
        let mut run = home.spawn(args);
        run.until("step.started");
        run.kill9();
        home.rewrite(&[says("done")]);
        home.run(["runs", "resume", &home.newest()]).ends_with(0).says(&[words]);
    }
}

#[test]
fn limits_and_unknown_outcomes_are_told_in_chinese() {
    let home = Home::scripted(&[calls("list_dir", json!({"path": "."})), says("到此为止")])
        .with("EVERLOOP_LANG", "zh-CN");
    let args = ["run", "--loop", "react", "--set", "loop.max_steps=1", "看看"];
    let ran = home.run(args).ends_with(4);
    assert!(ran.stdout.contains("[达到最大工具调用次数 1]"), "{}", ran.stdout);
    home.run(["run", "--set", "loop.max_stepz=1", "x"])
        .ends_with(2)
        .says(&["是否想写 loop.max_steps？"]);
}

/// What the system, the store and the tools say is read by people as well.
#[test]
fn in_chinese_no_english_stands_beside_the_words() {
    let write = calls("write_file", json!({"path": "a.txt", "content": "x"}));
    let read = calls("read_file", json!({"path": "b.txt"}));
    let home = Home::scripted(&[write, read, says("好了。")]).with("EVERLOOP_LANG", "zh-CN");
    let bad = home.run(["run", "--workspace", "/no/such/folder", "看看"]).ends_with(2);
    assert!(bad.stderr.contains("没有这个文件或文件夹"), "{}", bad.stderr);
    assert!(!bad.stderr.contains("No such file"), "{}", bad.stderr);
    home.run(["run", "--loop", "react", "--yes", "写一个"]).ends_with(0);
    let run = home.newest();
    let audit = home.run(["audit", "--run", &run]).ends_with(0).stdout;
    assert!(audit.contains("  成功  ") && audit.contains("已写入 a.txt（1 字节）"), "{audit}");
    assert!(audit.contains("  失败  ") && audit.contains("b.txt 不存在"), "{audit}");
    let last = home.events(&run).last().unwrap()["seq"].to_string();
    let at = home.run(["replay", &run, "--at", &last]).ends_with(0).stdout;
    assert!(at.contains("\n[用户]\n") && at.contains("\n[工具]\n"), "{at}");
    let folder = home.path("file");
    std::fs::write(&folder, "").unwrap();
    let home = home.with("EVERLOOP_HOME", folder.join("home").to_str().unwrap());
    let bad = home.run(["runs", "list"]).stderr;
    assert!(bad.contains("不是文件夹") && !bad.contains("os error"), "{bad}");
}
