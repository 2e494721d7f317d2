//! How things look on the screen, what the status line says of a run, and keys that answer: what is
//! compared is what a terminal shows, with its colors.

use crate::support::{Home, Terminal, calls, done, held_answers, plan, says, short, thought};
use everloop_models::testing::ReplyGate;
use serde_json::{Value, json};
use vt100::Color;

const CTRL_D: u8 = 4;
const CTRL_U: u8 = 21;
const TAB: u8 = 9;
const PROMPT: &str = "You › ";
const GREEN: Color = Color::Idx(2);
const RED: Color = Color::Idx(1);
const MAGENTA: Color = Color::Idx(5);
const CHAT: [&str; 3] = ["chat", "--loop", "react"];

/// A home on a terminal with colors.
fn colored(replies: &[Value]) -> Home {
    Home::scripted(replies).with("TERM", "xterm-256color")
}

/// A model whose command waits until the test opens a gate.
fn gated() -> Home {
    let home = colored(&[calls("shell", json!({"command": "cat gate"})), says("Open.")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    home
}

fn open_gate(home: &Home) {
    std::fs::write(home.work("gate"), "open\n").unwrap();
}

fn left(mut chat: Terminal) {
    chat.until(PROMPT).presses(CTRL_D);
    chat.ended().ends_with(0);
}

/// The look of the first letter of these words on the screen.
#[track_caller]
fn look(screen: &Terminal, words: &str) -> vt100::Cell {
    let parser = screen.screen();
    let letter = words.chars().next().unwrap().to_string();
    let columns = parser.screen().size().1.get();
    for (row, text) in parser.screen().rows(0, columns).enumerate() {
        if !text.contains(words) {
            continue;
        }
        let row = u16::try_from(row).unwrap();
        let rest = |column| parser.screen().contents_between(row, column, row, columns);
        let column = (0..columns).find(|column| rest(*column).starts_with(words)).unwrap();
        let cell = parser.screen().cell(row, column).unwrap().clone();
        assert_eq!(cell.contents(), letter);
        return cell;
    }
    panic!("{words:?} is not on the screen: {:#?}", screen.rows());
}

#[test]
fn the_status_line_tells_how_the_run_works_and_not_what_new_goals_would_be() {
    let home = gated();
    let mut other = home.spawn(["run", "--loop", "react", "--yes", "wait for it"]);
    other.until("$ cat gate");
    let run = home.newest();
    let mut chat = home.on_terminal(["chat", "--loop", "plan-replan"]);
    chat.until(PROMPT).types(&format!("/resume {}", short(&run)));
    chat.until("running: $ cat gate").until("--yes: approves by itself").until("react");
    // What is chosen meanwhile is for new goals, and this is said.
    chat.types("/approve plan")
        .until("New goals use")
        .until("The current run keeps its own mode: all");
    chat.until("--yes: approves by itself");
    open_gate(&home);
    chat.until("Open.");
    left(chat);
}

#[test]
fn a_question_shows_its_command_and_its_diff_in_color() {
    let home = colored(&[calls("shell", json!({"command": "echo x > made"})), says("Done.")]);
    let mut run = home.on_terminal(["run", "--loop", "react", "do it"]);
    run.until("[y] allow once");
    assert!(look(&run, "Run this command?").bold());
    assert!(look(&run, "$ echo x > made").bold());
    assert!(look(&run, "sandboxed, no network").dim());
    run.until("› ").keys("n").until("Reason").types("").until("✖ Denied; it was not run");
    assert_eq!(look(&run, "✖ Denied").fgcolor(), RED);
    run.until("Done.");
    run.ended().ends_with(0);
    let write = json!({"path": "notes.md", "content": "one\nTWO\n"});
    let home = colored(&[calls("write_file", write), says("Done.")]);
    std::fs::write(home.work("notes.md"), "one\ntwo\n").unwrap();
    let mut chat = home.on_terminal(CHAT.iter().chain(&["--set", "approvals.ask_edits=on"]));
    chat.until(PROMPT).types("do it").until("Change notes.md?").until("[y] allow once");
    assert_eq!(look(&chat, "-two").fgcolor(), RED);
    assert_eq!(look(&chat, "+TWO").fgcolor(), GREEN);
    chat.until("Allow? › ").keys("y").until("✔ Allowed this once");
    assert_eq!(look(&chat, "✔ Allowed this once").fgcolor(), GREEN);
    chat.until("Done.");
    left(chat);
}

#[test]
fn a_plan_and_an_error_have_the_color_of_what_they_mean() {
    let home = colored(&[plan(&["Look"]), thought("seen"), done("All is well.")]);
    let mut chat = home.on_terminal(["chat", "--loop", "plan-replan"]);
    chat.until(PROMPT).types("look").until("All is well.").until("succeeded").until(PROMPT);
    assert_eq!(look(&chat, "✔ 1 Look").fgcolor(), GREEN);
    chat.types("/resume nothing-of-this-name").until("nothing-of-this-name").until(PROMPT);
    chat.presses(CTRL_D);
    chat.ended().ends_with(0);
    let mut wrong = home.on_terminal(["runs", "show", "zzzzzz"]);
    wrong.until("zzzzzz").until("\n");
    assert!(wrong.seen.contains("\x1b[31m"), "{:?}", wrong.seen);
    wrong.ended().ends_with(2);
}

#[test]
fn the_answer_of_a_run_in_the_background_is_laid_out() {
    let gates = [ReplyGate::default()];
    let server = held_answers(&gates, &["| cellar | state |\n|---|---|\n| left | dry |"]);
    let home = Home::new().with("AGENT_MODE", "react").with("TERM", "xterm-256color");
    let home = home.endpoint(&server.url());
    let mut chat = home.on_terminal(["chat"]);
    chat.until(PROMPT).types("/bg look at the cellar").until(PROMPT);
    gates[0].open();
    // Whoever looks elsewhere is called.
    chat.until("succeeded").until("\x1b]9;").until("dry");
    assert!(chat.rows().iter().any(|row| row.contains("cellar │ state")), "{:#?}", chat.rows());
    assert!(!chat.seen.contains("|---|"), "{}", chat.seen);
    chat.presses(CTRL_D);
    chat.ended().ends_with(0);
    let run = home.newest();
    let mut shown = home.on_terminal(["runs", "show", &run]);
    shown.until("dry");
    let shown = shown.ended().ends_with(0).stdout;
    assert!(!shown.contains("|---|"), "{shown}");
    let piped = home.run(["runs", "show", &run]).ends_with(0).stdout;
    assert!(piped.contains("| left | dry |"), "a pipe gets what was written: {piped}");
}

#[test]
fn a_list_of_runs_keeps_its_goals_on_a_narrow_terminal() {
    for (lang, prompt) in [("en", PROMPT), ("zh-CN", "你 › ")] {
        let home = colored(&[says("no form")]).with("EVERLOOP_LANG", lang);
        home.run(["run", "--loop", "plan-execute-think", "Tidy the garden shed"]);
        let mut chat = home.on_terminal(["chat"]);
        chat.resize(60);
        chat.until(prompt).types("/runs").until("Tidy").until(prompt);
        let rows = chat.rows();
        let row = rows.iter().find(|row| row.contains("Tidy the garden shed"));
        let row = row.unwrap_or_else(|| panic!("{rows:#?}"));
        assert!(row.contains(short(&home.newest())), "{rows:#?}");
        chat.presses(CTRL_D);
        chat.ended().ends_with(0);
    }
}

#[test]
fn a_command_of_the_person_has_a_status_and_lines_typed_meanwhile_are_kept() {
    let home = colored(&[says("Later it is.")]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut chat = home.on_terminal(CHAT);
    chat.until(PROMPT).types("!echo waiting; cat gate").until("running: $ echo waiting; cat gate");
    chat.until("Ctrl-C cancels").types("do it later").until("Queued: do it later");
    open_gate(&home);
    chat.until("open").until("Later it is.");
    left(chat);
}

#[test]
fn the_address_of_a_call_is_changed_with_one_key() {
    let fetch = calls("fetch_web", json!({"url": "http://one.example/page"}));
    let home = colored(&[fetch, says("I left it.")]);
    let rule = "[[approvals.rules]]\ntool = \"fetch_web\"\ndecision = \"ask\"\n";
    std::fs::write(home.data().join("config.toml"), rule).unwrap();
    let mut chat = home.on_terminal(CHAT);
    chat.until(PROMPT).types("read it").until("[e] edit").until("Allow? › ").keys("e");
    chat.until("New text › ").until("http://one.example/page").presses(CTRL_U);
    chat.types("http://127.0.0.1:1/other").until("changed to: http://127.0.0.1:1/other");
    chat.until("I left it.");
    left(chat);
}

#[test]
fn tab_names_what_is_imported_then_the_file_and_a_conversation_to_resume() {
    let home = colored(&[says("The cellar is dry.")]);
    std::fs::write(home.work("plans.ics"), "BEGIN:VCALENDAR\n").unwrap();
    let mut chat = home.on_terminal(CHAT);
    chat.until(PROMPT).types("look into the cellar").until("dry.").until(PROMPT);
    chat.keys("/import to").presses(TAB).until("/import todos ").keys("pla").presses(TAB);
    chat.until("/import todos plans.ics").presses(CTRL_U);
    chat.keys("/resume ").until("look into the cellar").presses(CTRL_U);
    chat.keys("/schedule p").presses(TAB).until("/schedule pause ").presses(CTRL_U);
    chat.types("/help todo").until("/todo snooze");
    left(chat);
}

#[test]
fn the_same_question_fits_every_width_in_both_languages() {
    let command = "printf 'a long command with many words %s\\n' one two three four five; ls -la";
    for lang in ["en", "zh-CN"] {
        for columns in [60, 80, 120] {
            let replies = [calls("shell", json!({ "command": command })), says("Done.")];
            let home = colored(&replies).with("EVERLOOP_LANG", lang);
            let mut chat = home.on_terminal(CHAT);
            chat.resize(columns);
            chat.until(" › ").types("do it").until("[y]").until(" › ");
            let rows = chat.rows();
            let start = rows.iter().position(|row| row.starts_with("  $ printf")).unwrap();
            // No word is broken: those of the command stand whole on one row each.
            for word in ["printf", "command", "three", "five; ls"] {
                let has = rows[start..].iter().any(|row| row.contains(word));
                assert!(has, "{word} at {columns} in {lang}: {rows:#?}");
            }
            chat.keys("y").until("✔").until("Done.");
        }
    }
}

#[test]
fn what_is_due_today_is_in_a_color_that_light_backgrounds_show_too() {
    let home = colored(&[]);
    let mut chat = home.on_terminal(["chat", "--approve", "all"]);
    chat.until(PROMPT).types("/todo add water the plants --due today").until("Added todo #1");
    chat.until(PROMPT).types("/todo list").until("water the plants").until(PROMPT);
    assert_eq!(look(&chat, "today  ").fgcolor(), MAGENTA);
    chat.presses(CTRL_D);
    chat.ended().ends_with(0);
}
