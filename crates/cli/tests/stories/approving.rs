//! Answers to questions for permission: how far they go, what they change, and the modes.

use crate::support::{Home, Terminal, calls, of_type, says};
use serde_json::{Value, json};

const RUN: [&str; 4] = ["run", "--loop", "react", "do it"];
const CTRL_U: u8 = 21;
const ESC: u8 = 27;
const CHAT: [&str; 3] = ["chat", "--loop", "react"];

fn command(line: &str) -> Value {
    calls("shell", json!({ "command": line }))
}

fn commanding(line: &str) -> Vec<Value> {
    vec![command(line), says("I am done.")]
}

fn writing(path: &str, content: &str) -> Vec<Value> {
    vec![calls("write_file", json!({ "path": path, "content": content })), says("I am done.")]
}

/// A home on a terminal without colours.
fn at_terminal(replies: &[Value]) -> Home {
    Home::scripted(replies).with("TERM", "xterm").with("NO_COLOR", "1")
}

fn asked(home: &Home) -> String {
    home.run(RUN).ends_with(3).stdout.trim().to_owned()
}

fn answer(home: &Home, run: &str, text: &str) -> crate::support::Finished {
    home.run(["runs", "resume", run, "--answer", text])
}

fn left(mut chat: Terminal, prompt: &str) {
    chat.until(prompt).presses(4);
    chat.ended().ends_with(0);
}

#[test]
fn a_question_shows_the_command_its_folder_and_its_sandbox_in_chat_and_run() {
    let lines = ["Run this command?", "  $ echo x > made", "  in ", "sandboxed, no network"];
    let answers = "[y] allow once   [a] always   [n] no (you can add a reason)   [e] edit";
    for args in [&RUN[..], &CHAT[..]] {
        let home = at_terminal(&commanding("echo x > made"));
        let mut screen = home.on_terminal(args);
        if args == CHAT {
            screen.until("You › ").types("do it");
        }
        for line in lines.iter().chain([&answers]) {
            screen.until(line);
        }
        screen.until("› ").types("y").until("✔ Allowed this once").until("I am done.");
        if args == CHAT {
            left(screen, "You › ");
        } else {
            screen.ended().ends_with(0);
        }
        assert_eq!(home.read("made"), "x\n");
    }
    let chinese = at_terminal(&commanding("echo x > made")).with("EVERLOOP_LANG", "zh-CN");
    let mut screen = chinese.on_terminal(RUN);
    screen.until("运行这条命令？").until("$ echo x > made").until("有沙箱，").until("不能联网");
    screen.until("[e] 修改").types("n 先备份").until("理由会告诉模型：先备份");
    screen.ended().ends_with(0);
    assert!(!chinese.work("made").exists());
}

#[test]
fn a_change_of_a_file_is_asked_about_with_its_diff_where_the_settings_want_it() {
    let home = Home::scripted(&writing("notes.md", "one\nTWO\n"));
    std::fs::write(home.work("notes.md"), "one\ntwo\n").unwrap();
    let ask = ["--set", "approvals.ask_edits=on"];
    let asked = home.run(RUN.iter().chain(&ask)).ends_with(3);
    let run = asked.stdout.trim().to_owned();
    asked.says(&["Change notes.md?", "  -two", "  +TWO", "+1 −1"]);
    assert_eq!(home.read("notes.md"), "one\ntwo\n");
    answer(&home, &run, "y").ends_with(0);
    assert_eq!(home.read("notes.md"), "one\nTWO\n");
    // Without the setting, and where the mode accepts edits, nobody is asked.
    home.run(RUN).ends_with(0);
    home.run(RUN.iter().chain(&ask).chain(&["--approve", "edits"])).ends_with(0);
    // A file that others obey is asked about in that mode too.
    home.rewrite(&writing("AGENTS.md", "x"));
    home.run(RUN.iter().chain(&["--approve", "edits"])).ends_with(3).says(&["Create AGENTS.md?"]);
}

#[test]
fn always_by_prefix_covers_commands_that_begin_alike_and_nothing_beside() {
    for word in ["a 2", "always prefix", "总是 前缀"] {
        let home = Home::scripted(&commanding("ls -a"));
        let run = asked(&home);
        answer(&home, &run, word).ends_with(0).says(&["✔ Always: ls *"]);
        home.verified(&run);
        for line in ["ls", "ls -l made 'a b'"] {
            home.rewrite(&commanding(line));
            home.run(RUN).ends_with(0);
        }
        for line in [
            "ls; touch made",
            "ls && touch made",
            "ls | tee made",
            "ls $(touch made)",
            "ls `touch made`",
            "ls > made",
            "ls & touch made",
            "ls\ntouch made",
            "ls $X",
            "X=1 ls",
            "./ls",
            "lsof",
        ] {
            home.rewrite(&commanding(line));
            home.run(RUN).ends_with(3);
            assert!(!home.work("made").exists(), "{line}");
        }
        home.rewrite(&commanding("ls"));
        let list = home.run(["approvals", "list", "--json"]).ends_with(0).json();
        assert_eq!(list["data"][0]["scope"], "prefix");
        let id = list["data"][0]["id"].as_str().unwrap().to_owned();
        let shown = home.run(["approvals"]).ends_with(0);
        assert!(shown.stdout.contains("commands like ls * in "), "{}", shown.stdout);
        home.run(["approvals", "remove", &id]).ends_with(0).says(&["commands like ls *"]);
        home.run(RUN).ends_with(3);
    }
}

#[test]
fn a_command_that_may_do_anything_has_no_prefix_to_allow() {
    let home = Home::scripted(&commanding("rm -rf x"));
    let run = asked(&home);
    answer(&home, &run, "always prefix").ends_with(2).says(&["was not understood"]);
    let scopes = home.show(&run)["waiting_for"]["question"]["request"]["scopes"].clone();
    let words: Vec<&Value> = scopes.as_array().unwrap().iter().map(|it| &it["scope"]).collect();
    assert_eq!(words, ["exact", "conversation"]);
}

#[test]
fn always_here_covers_the_tool_in_this_conversation_until_it_ends() {
    let home = Home::scripted(&commanding("echo a >> made"));
    let chat = |lines: &[&str]| home.chat(&[&["/loop react"], lines].concat());
    let first = chat(&["do it", "a 2"]).ends_with(0);
    first.says(&["Always in this conversation: shell"]);
    home.rewrite(&commanding("echo b >> made"));
    chat(&["do it again"]).ends_with(0);
    assert_eq!(home.read("made"), "a\nb\n");
    let list = home.run(["approvals", "list", "--json"]).ends_with(0).json();
    assert_eq!(list["data"][0]["scope"], "conversation");
    // Another conversation is asked, and a rule that asks is not covered.
    home.run(RUN).ends_with(3);
    let rule = "[[tools.shell_rules]]\nask = \"echo c *\"\nmatch = [\"echo c d\"]\n";
    std::fs::write(home.data().join("config.toml"), rule).unwrap();
    home.rewrite(&commanding("echo c d"));
    let asked = chat(&["do it"]).ends_with(3);
    assert!(asked.stdout.contains("asks because of the rule echo c *"), "{}", asked.stdout);
    std::fs::write(home.data().join("config.toml"), "").unwrap();
    home.rewrite(&commanding("echo e >> made"));
    chat(&["n", "/new", "do it"]).ends_with(3);
    assert_eq!(home.read("made"), "a\nb\n");
}

#[test]
fn at_a_terminal_always_alone_is_asked_about() {
    let home = at_terminal(&commanding("ls -a"));
    let mut run = home.on_terminal(RUN);
    run.until("[y] allow once").types("a").until("Always allow what?");
    run.until("[1] exactly this command, in this folder").until("[2] commands like ls *");
    run.until("[3] every shell call in this conversation").until("› ").keys("2");
    run.until("✔ Always: ls *").until("I am done.");
    run.ended().ends_with(0);
    let home = at_terminal(&commanding("ls -a")).with("EVERLOOP_LANG", "zh-CN");
    let mut chat = home.on_terminal(CHAT);
    chat.until("你 › ").types("看看").until("[y] 允许这一次").until("允许吗 › ").types("总是");
    chat.until("以后都允许哪些？").until("[1] 只允许这条命令").until("[2] ls * 这类命令");
    chat.until("允许吗 › ").types("1").until("✔ 已允许，同样的操作以后不再问").until("I am done.");
    left(chat, "你 › ");
    let list = home.run(["approvals", "list", "--json"]).ends_with(0).json();
    assert_eq!(list["data"][0]["scope"], "exact");
}

/// A number means a choice from the list on the screen, and nothing anywhere else.
#[test]
fn a_number_after_the_list_of_scopes_was_left_allows_nothing() {
    let home = at_terminal(&commanding("echo x >> made"));
    let mut chat = home.on_terminal(CHAT);
    chat.until("You › ").types("do it").until("[e] edit").until("Allow? › ").keys("a");
    chat.until("Always allow what?").until("[2] every shell call").until("Allow? › ").presses(ESC);
    chat.until("still waiting for your answer: Run this command? $ echo x >> made");
    chat.until("[e] edit").until("Allow? › ").types("/new").until("You › ");
    // The question of the next run has the same id.
    chat.types("do more").until("[e] edit").until("Allow? › ").types("2");
    chat.until("“2” was not understood").until("Allow? › ").keys("n").presses(b'\r');
    chat.until("Denied; it was not run").until("I am done.");
    left(chat, "You › ");
    assert!(!home.work("made").exists());
    let allowed = home.run(["approvals", "list", "--json"]).ends_with(0).json();
    assert_eq!(allowed["data"], json!([]));
}

/// Two calls in one reply: the second has not begun while the first is asked about.
#[test]
fn a_call_that_waits_for_another_is_not_shown_as_begun() {
    let both = json!({"calls": [
        {"tool": "shell", "args": {"command": "echo one"}},
        {"tool": "shell", "args": {"command": "echo two"}},
    ]});
    let home = at_terminal(&[both, says("I am done.")]);
    let mut chat = home.on_terminal(CHAT);
    chat.until("You › ").types("do it").until("$ echo one").until("Allow? › ").types("y");
    chat.until("Run this command?").until("$ echo two").until("Allow? › ").types("y");
    chat.until("I am done.");
    chat.until("You › ").presses(4);
    let seen = chat.ended().ends_with(0).stdout;
    assert!(!seen.contains("→ $ echo"), "each is shown by its question: {seen}");
}

#[test]
fn a_command_that_the_person_changed_runs_as_changed_and_the_model_is_told() {
    let home = Home::scripted(&commanding("echo model > made"));
    let run = asked(&home);
    let ended = answer(&home, &run, "e echo person > made").ends_with(0);
    ended.says(&["✔ Allowed once, changed to: echo person > made"]);
    assert_eq!(home.read("made"), "person\n");
    let events = home.events(&run);
    let approved = &of_type(&events, "tool.approved")[0];
    assert_eq!(approved["by"], "user, edited");
    assert!(approved["edited_args"].as_str().unwrap().contains("echo person > made"));
    let told = of_type(&events, "tool.completed")[0]["result"].as_str().unwrap().to_owned();
    assert!(told.contains("the user changed the arguments of this call"), "{told}");
    assert!(told.contains("echo person > made"), "{told}");
    home.verified(&run);
    let audit = home.run(["audit", "--json"]).ends_with(0).stdout;
    assert!(audit.contains("echo person > made") && audit.contains("user, edited"), "{audit}");
    // The change is for this once.
    home.run(RUN).ends_with(3).says(&["$ echo model > made"]);
}

#[test]
fn in_a_chat_a_command_is_changed_in_the_input_line() {
    let home = at_terminal(&commanding("echo model > made"));
    let mut chat = home.on_terminal(CHAT);
    chat.until("You › ").types("do it").until("[e] edit").until("Allow? › ").keys("e");
    chat.until("New command › echo model > made").presses(CTRL_U).types("echo person > made");
    chat.until("changed to: echo person").until("I am done.");
    left(chat, "You › ");
    assert_eq!(home.read("made"), "person\n");
}

#[test]
fn a_changed_command_is_checked_again() {
    let home = Home::scripted(&commanding("echo x > made"));
    let rule = "[[tools.shell_rules]]\ndeny = \"touch *\"\nmatch = [\"touch a\"]\n";
    std::fs::write(home.data().join("config.toml"), rule).unwrap();
    for changed in ["e touch made", "e $X made"] {
        let run = asked(&home);
        answer(&home, &run, changed).ends_with(0);
        assert!(!home.work("made").exists());
        let events = home.events(&run);
        let told = of_type(&events, "tool.failed")[0]["result"].as_str().unwrap().to_owned();
        assert!(told.contains("that was not done either"), "{told}");
        home.verified(&run);
    }
    let write = Home::scripted(&writing("AGENTS.md", "x"));
    let run = asked(&write);
    answer(&write, &run, "e something").ends_with(2);
    assert_eq!(write.status(&run), "waiting");
}

#[test]
fn a_question_and_its_scopes_survive_a_kill_before_the_answer() {
    for (word, made) in [("e echo person > made", "person\n"), ("a 2", "model\n"), ("n", "")] {
        let home = Home::scripted(&commanding("echo model > made"));
        let mut first = home.spawn(RUN.iter().chain(&["--output-format", "stream-json"]));
        first.until("interrupt.opened");
        let _ = first.kill9_if_alive();
        let run = home.newest();
        assert_eq!(home.status(&run), "waiting");
        answer(&home, &run, word).ends_with(0);
        let found = std::fs::read_to_string(home.work("made")).unwrap_or_default();
        assert_eq!(found, made, "{word}");
        home.verified(&run);
    }
}

#[test]
fn json_has_the_request_as_data() {
    let home = Home::scripted(&commanding("git status -s"));
    let object = home.run(RUN.iter().chain(&["--output-format", "json"])).ends_with(3).json();
    let request = &object["approval"]["request"];
    assert_eq!(request["tool"], "shell");
    assert_eq!(
        request["preview"],
        json!({"kind": "command", "command": "git status -s", "sandboxed": true,
               "network": false, "pattern": "git status *"})
    );
    assert_eq!(request["cause"]["kind"], "tool");
    assert_eq!(request["editable"], "command");
    let run = object["run_id"].as_str().unwrap();
    assert_eq!(&home.show(run)["waiting_for"]["question"]["request"], request);
    let events = home.events(run);
    assert_eq!(&of_type(&events, "interrupt.opened")[0]["request"], request);
}

#[test]
fn a_run_that_only_plans_changes_nothing_and_the_model_is_told() {
    let replies = [
        calls("write_file", json!({"path": "made", "content": "x"})),
        command("echo x > made"),
        calls("todo", json!({"command": "/todo add x"})),
        calls("read_file", json!({"path": "notes.md"})),
        says("I would write made."),
    ];
    let home = Home::scripted(&replies);
    std::fs::write(home.work("notes.md"), "secret plan").unwrap();
    home.run(RUN.iter().chain(&["--approve", "plan"])).ends_with(0);
    assert!(!home.work("made").exists());
    let run = home.newest();
    let events = home.events(&run);
    let denied = of_type(&events, "tool.failed");
    assert_eq!(denied.len(), 3, "{denied:?}");
    for event in denied {
        assert!(event["result"].as_str().unwrap().contains("only plans"), "{event}");
    }
    assert_eq!(of_type(&events, "tool.completed").len(), 1);
    home.verified(&run);
    // Neither a fork of it nor a rule that allows changes that.
    let rule = "[[approvals.rules]]\ntool = \"write_file\"\ndecision = \"allow\"\n";
    std::fs::write(home.data().join("config.toml"), rule).unwrap();
    home.run(["fork", &run, "go on"]);
    assert!(!home.work("made").exists());
    home.run(RUN.iter().chain(&["--set", "approvals.mode=plan"])).ends_with(0);
    assert!(!home.work("made").exists());
}

#[test]
fn modes_are_shown_and_changed_in_the_chat() {
    let home = Home::scripted(&commanding("echo x >> made"));
    let chat = home.chat(&["/loop react", "/approve", "/approve all", "do it", "/approve maybe"]);
    let said = chat.ends_with(0).stdout;
    for words in
        ["Approvals: ask", "* ask ", "  plan ", "approval mode all", "Unknown approval mode"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(home.read("made"), "x\n");
    home.chat(&["/loop react", "/approve all", "/approve ask", "do it"]).ends_with(3);
    home.chat(&["n", "/loop react", "/批准 plan", "do it"]).ends_with(0);
    assert_eq!(home.read("made"), "x\n");
    home.run(RUN.iter().chain(&["--approve", "all"])).ends_with(0);
    assert_eq!(home.read("made"), "x\nx\n");
    // It is said when a chat begins with another mode than the default.
    let home = at_terminal(&commanding("true"));
    let chat = home.on_terminal(CHAT.iter().chain(&["--approve", "plan"]));
    let mut chat = chat;
    chat.until("Approvals: plan (plan only");
    left(chat, "You › ");
    home.run(RUN.iter().chain(&["--approve", "maybe"])).ends_with(2);
    home.run(RUN.iter().chain(&["--approve", "ask", "--yes"])).ends_with(2);
}
