//! What people do in a chat beside talking: their own commands, files that they name, commands from
//! Markdown files, the clipboard, what was used, the set-up in place.

use crate::support::{Home, Terminal};
use everloop_models::testing::{CannedReply, FakeServer};
use serde_json::json;
use std::path::Path;

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_U: u8 = 21;
const PROMPT: &str = "You › ";
const ZH_PROMPT: &str = "你 › ";

/// A reply in words, as a stream.
fn answers(text: &str) -> CannedReply {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    CannedReply::sse(format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n"))
}

fn offers(names: &[&str]) -> CannedReply {
    let data: Vec<_> = names.iter().map(|name| json!({ "id": name })).collect();
    CannedReply::json(&json!({ "data": data }).to_string())
}

/// A home whose model is this server, on a terminal without colours.
fn asking(server: &FakeServer) -> Home {
    Home::new().endpoint(&server.url()).with("TERM", "xterm").with("NO_COLOR", "1")
}

fn open(home: &Home) -> Terminal {
    let mut chat = home.on_terminal(["chat", "--loop", "react"]);
    chat.until(PROMPT);
    chat
}

fn left(mut chat: Terminal, prompt: &str) -> String {
    chat.until(prompt).presses(CTRL_D);
    chat.ended().ends_with(0).stdout
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// The whole request as text, to look for something that the model was told.
fn told(server: &FakeServer, at: usize) -> String {
    server.seen()[at].json().to_string()
}

#[test]
fn a_command_of_the_person_is_run_shown_and_told_to_the_model_once() {
    let server = FakeServer::start(vec![answers("I saw it."), answers("Nothing new.")]);
    let home = asking(&server);
    write(&home.work("apples.txt"), "red\ngreen\n");
    let mut chat = open(&home);
    chat.types("!cat apples.txt; echo end").until("red").until("green").until("end");
    chat.until("goes to the model with your next message").until(PROMPT);
    chat.types("!false").until("exit code 1").until(PROMPT);
    chat.types("what did I run?").until("I saw it.").until(PROMPT);
    chat.types("and now?").until("Nothing new.");
    left(chat, PROMPT);
    let first = told(&server, 0);
    for part in ["the user ran this command themselves", "cat apples.txt; echo end", "green"] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(!told(&server, 1).contains("the user ran this command"), "it goes along once");
}

#[test]
fn a_command_of_the_person_meets_the_rules_and_stops_at_ctrl_c() {
    let home = Home::new().with("TERM", "xterm").with("NO_COLOR", "1");
    write(
        &home.data().join("config.toml"),
        "[[tools.shell_rules]]\ndeny = \"rm -rf *\"\nmatch = [\"rm -rf x\"]\n",
    );
    write(&home.work("kept.txt"), "here\n");
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT).types("!echo waiting; cat gate").until("waiting");
    chat.presses(CTRL_C).until("canceled").until(PROMPT);
    chat.types("!rm -rf kept.txt").until("Not run: ").until("rm -rf").until(PROMPT);
    chat.types("!").until("! runs a command here").until(PROMPT).types("?");
    chat.until("/setup");
    left(chat, PROMPT);
    home.deserted();
    assert_eq!(home.read("kept.txt"), "here\n");
    let piped = home.chat(&["!echo never"]).ends_with(0);
    assert!(piped.stdout.contains("only in a chat on a terminal"), "{piped:?}");
    assert!(!piped.stdout.contains("never\n"), "{piped:?}");
}

#[test]
fn files_that_a_goal_names_go_with_it_and_one_that_is_missing_is_said() {
    let server = FakeServer::start(vec![answers("Read."), answers("Again.")]);
    let home = asking(&server);
    write(&home.work("notes.md"), "first line\nsecond line\nthird line\n");
    write(&home.work("my plan.txt"), "the plan\n");
    write(&home.work("sub/one.rs"), "fn main() {}\n");
    write(&home.path("secret.txt"), "not for you\n");
    let mut chat = open(&home);
    let goal = "compare @notes.md:2-3 with @\"my plan.txt\" and @sub, not @../secret.txt, for \
                me@host.example and @alice (@gone.txt).";
    chat.types(goal).until("@notes.md: 2 of 3 lines").until("@my plan.txt: 1 line goes");
    chat.until("@sub: a list with 1 entry").until("@../secret.txt is outside this folder");
    chat.until("No file @gone.txt; sent as text").until("Read.");
    let screen = left(chat, PROMPT);
    assert!(!screen.contains("No file @alice") && !screen.contains("No file @host"), "{screen}");
    let first = told(&server, 0);
    for part in ["[file notes.md, lines 2-3 of 3]", "third line", "the plan", "one.rs"] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(!first.contains("first line") && !first.contains("not for you"), "{first}");
    let shown = home.show(&home.newest());
    assert!(shown["goal"].as_str().unwrap().contains("@notes.md:2-3"), "as it was written");
    let printed = home.run(["-p", "look at @notes.md and @nix.md", "--loop", "react"]).ends_with(0);
    assert!(printed.says(&["No file @nix.md"]).stdout.contains("Again."));
    assert!(told(&server, 1).contains("[file notes.md, 3 lines]"), "{}", told(&server, 1));
}

#[test]
fn a_file_that_a_rule_denies_and_one_of_the_program_are_not_read() {
    let server = FakeServer::start(vec![answers("No.")]);
    let home = asking(&server);
    let rule = "[[approvals.rules]]\ntool = \"read_file\"\ndecision = \"deny\"\n\
                arg = \"path\"\nmatches = \"*.env\"\nmatch = [\"x.env\"]\n";
    write(&home.data().join("config.toml"), rule);
    write(&home.work("x.env"), "TOKEN=abc\n");
    let own = home.data().join("config.toml");
    let mut chat = open(&home);
    chat.types(&format!("see @x.env and @{}", own.display())).until("denies @x.env");
    chat.until("config.toml").until("sent as text").until("No.");
    left(chat, PROMPT);
    let told = told(&server, 0);
    assert!(!told.contains("TOKEN=abc") && !told.contains("[[approvals"), "{told}");
}

#[test]
fn a_command_from_a_file_is_a_goal_and_one_of_the_workspace_is_asked_about_once() {
    let server =
        FakeServer::start(vec![answers("Reviewed."), answers("Released."), answers("Once more.")]);
    let home = asking(&server);
    let own = "---\ndescription: look at a file\nargument-hint: FILE\n---\nReview $1 well.\n";
    write(&home.data().join("commands/review.md"), own);
    write(&home.path("user/.agents/commands/shared.md"), "Share $ARGUMENTS.\n");
    write(&home.work(".agents/commands/release.md"), "Release $ARGUMENTS now.\n");
    write(&home.work(".agents/commands/help.md"), "Never.\n");
    let mut chat = open(&home);
    chat.types("/help").until("(from this folder)").until("/review").until("look at a file FILE");
    chat.until("/shared");
    // The built-in command stays.
    chat.until("help.md is not used: /help is a built-in command").until(PROMPT);
    chat.types("/review lib.rs").until("Reviewed.").until(PROMPT);
    chat.types("/release v2 today").until("/release comes with this folder").until("release.md");
    chat.until("│ Release $ARGUMENTS now.").until("[y/N] › ").types("n").until("Not used");
    // On a narrow screen the keys are there too, and a message is no answer and is not lost.
    chat.resize(40);
    chat.until(PROMPT).types("/release v2 today").until("[y/N] › ").types("tell me more");
    chat.until("Not used").until("You › tell me more").presses(CTRL_U);
    chat.until(PROMPT).types("/release v2 today").until("[y/N] › ").types("y");
    chat.until("Released.").until(PROMPT).types("/release v3").until("Once more.");
    chat.until(PROMPT).types("/help xyz").until("Unknown command /xyz").until(PROMPT);
    chat.types("/help review").until("/review FILE");
    left(chat, PROMPT);
    assert!(told(&server, 0).contains("Review lib.rs well."), "{}", told(&server, 0));
    assert!(told(&server, 1).contains("Release v2 today now."), "{}", told(&server, 1));
    // Another text is another command.
    write(&home.work(".agents/commands/release.md"), "Delete everything.\n");
    let piped = home.chat(&["/release v4"]).ends_with(0);
    assert!(piped.stdout.contains("nobody has approved it"), "{piped:?}");
    assert_eq!(server.seen().len(), 3, "nobody was asked");
}

#[test]
fn the_last_answer_goes_to_the_clipboard_and_the_use_is_told() {
    let server = FakeServer::start(vec![answers("Do this:\n```sh\nls -l\n```\nDone.")]);
    let home = asking(&server);
    let mut chat = open(&home);
    chat.types("/copy").until("No answer to copy yet").until(PROMPT);
    chat.types("how?").until("Done.").until(PROMPT);
    // base64 of `ls -l`
    chat.types("/copy code").until("\x1b]52;c;bHMgLWw=\x07").until("Copied 5 characters");
    chat.until(PROMPT).types("/copy").until("\x1b]52;c;").until("Copied 30 characters");
    chat.until(PROMPT).types("/usage").until("This conversation").until("1 run · 1 model call · ");
    chat.until("Today, all conversations").until(PROMPT);
    chat.types("/plan").until("react makes no plan").until(PROMPT);
    chat.types("/fork").until("What should the new run do?").until(PROMPT);
    chat.types("/memory").until("Nothing is remembered").until(PROMPT);
    chat.types("/memory show").until("MEMORY.md").until(PROMPT);
    chat.types("/mcp").until("config.toml").until(PROMPT);
    chat.types("/doctor").until("config.toml").until(PROMPT).types("exit");
    chat.ended().ends_with(0);
}

#[test]
fn the_set_up_in_the_chat_ends_in_a_model_that_answers() {
    let server = FakeServer::start(vec![
        offers(&["m-1", "m-2"]),
        CannedReply::status(404, "", "{\"error\":{\"message\":\"no such model\"}}"),
        offers(&["m-1", "m-2"]),
        answers("ok"),
        answers("你好！"),
    ]);
    let home = Home::new().with("EVERLOOP_LANG", "zh-CN").with("TERM", "xterm");
    let home = home.with("NO_COLOR", "1").with("EVERLOOP_SETUP_PROBE", "http://127.0.0.1:1/v1");
    write(&home.data().join("config.toml"), "[ui]\nlanguage = \"zh-CN\"\n");
    let mut chat = home.on_terminal(["chat", "--loop", "react"]);
    chat.until(ZH_PROMPT).types("/设置").until("没有配置模型").until("15. 其他").until("› ");
    chat.types("sk-secret-at-the-wrong-place").until("看起来像密钥").until("› ").types("15");
    chat.until("接口地址").until("› ").types(&server.url());
    chat.until("密钥").until("› ").types("sk-right-one");
    chat.until("可用的模型：m-1, m-2").until("› ").types("m-1");
    chat.until("没有正常回答").until("可用的模型：m-1, m-2").until("› ").types("m-2");
    chat.until("✔ 已连通 m-2").until(ZH_PROMPT).types("你好").until("你好！");
    chat.until("成功").types("/quit");
    let screen = chat.ended().ends_with(0).stdout;
    assert!(!screen.contains("语言 Language"), "the language is known: {screen}");
    for secret in ["secret-at-the", "sk-right-one"] {
        assert!(!screen.contains(secret), "{secret} is on the screen: {screen}");
    }
    assert_eq!(server.seen()[4].json()["model"], "m-2");
}

#[test]
fn a_key_that_the_model_refuses_is_asked_for_again() {
    let wrong = CannedReply::status(401, "", "{\"error\":{\"message\":\"no such key\"}}");
    let server = FakeServer::start(vec![offers(&["m-1"]), wrong, offers(&["m-1"]), answers("ok")]);
    let home = Home::new().with("EVERLOOP_SETUP_PROBE", "http://127.0.0.1:1/v1");
    let mut terminal = home.on_terminal(["config", "setup"]);
    terminal.until("No model is configured").until("› ").types("15");
    terminal.until("Address").until("› ").types(&server.url());
    terminal.until("key for custom").until("› ").types("sk-first");
    terminal.until("did not answer as expected").until("key for custom").until("› ");
    terminal.types("sk-second").until("✔ The model m-1 works").until("Try:");
    let told = terminal.ended().ends_with(0).stdout;
    assert!(!told.contains("Language"), "EVERLOOP_LANG says it: {told}");
    assert!(server.seen()[3].head.contains("Bearer sk-second"), "{}", server.seen()[3].head);
}
