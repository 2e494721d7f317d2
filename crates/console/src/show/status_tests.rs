//! The status line at moments of a run.

use super::*;
use everloop_app::prices::Prices;
use everloop_engine::{TokenCounts, ToolOutcome};
use everloop_types::{CallId, Ending, RunId};

const HINT: &str = "Ctrl-C cancels";

fn run() -> RunId {
    RunId::new("run_1".to_owned())
}

fn at(seconds: i64, seq: i64, kind: EventKind) -> RunEvent {
    RunEvent { kind, run_id: run(), seq, ts: Some(1_000_000 + seconds * 1000) }
}

fn delta(seq: i64, kind: EventKind) -> RunEvent {
    RunEvent { kind, run_id: run(), seq, ts: None }
}

fn place() -> StatusPlace {
    let (model, loop_name) = ("openai/gpt-x".to_owned(), "react".to_owned());
    let (folder, approval_mode) = ("~/proj".to_owned(), ApprovalMode::All);
    let together = ["fetch_web".to_owned()].into();
    StatusPlace { model, loop_name, folder, approval_mode, price: None, together }
}

fn line(events: &[RunEvent], seconds: i64, width: usize) -> String {
    line_in(Lang::En, events, seconds, width)
}

fn line_in(lang: Lang, events: &[RunEvent], seconds: i64, width: usize) -> String {
    let mut view = RunView::new(run());
    events.iter().for_each(|event| view.apply(event));
    status_line(lang, &view, &place(), HINT, 1_000_000 + seconds * 1000, width).plain()
}

fn step() -> RunEvent {
    at(0, 1, EventKind::StepStarted { purpose: Purpose::Think, step: 1, steps_max: 5 })
}

fn shell() -> RunEvent {
    began("c1", "shell", r#"{"command": "cargo test"}"#)
}

/// A call that is planned after ten seconds.
fn began(id: &str, tool: &str, arguments: &str) -> RunEvent {
    let (call_id, tool) = (CallId::new(id.to_owned()), tool.to_owned());
    at(10, 5, EventKind::ToolStarted { call_id, tool, arguments: arguments.to_owned() })
}

fn ended(seconds: i64, id: &str, tool: &str) -> RunEvent {
    let outcome = ToolOutcome {
        call_id: CallId::new(id.to_owned()),
        tool: tool.to_owned(),
        ending: Ending::Ok,
        result: String::new(),
        duration_ms: 1,
        labels: Vec::new(),
        change: None,
    };
    at(seconds, 6, EventKind::ToolCompleted(outcome))
}

#[test]
fn the_clock_of_a_command_is_its_own() {
    let fetch = |id| began(id, "fetch_web", r#"{"url": "https://a.example"}"#);
    // Calls that run together began together: the end of one is no beginning of the other.
    let together = [fetch("c1"), fetch("c2"), ended(30, "c1", "fetch_web")];
    assert!(line(&together, 40, 200).contains(" · 30 s"), "{}", line(&together, 40, 200));
    // Calls that wait for one another begin when the one before has ended.
    let apart = [shell(), began("c2", "shell", r#"{"command": "ls"}"#), ended(30, "c1", "shell")];
    assert!(line(&apart, 40, 200).starts_with("running: $ ls · 10 s"));
    // One that has not begun does not run.
    let both = [shell(), began("c2", "shell", r#"{"command": "ls"}"#)];
    assert!(line(&both, 40, 200).starts_with("running: $ cargo test · 30 s"));
    let both = [fetch("c1"), fetch("c2")];
    assert!(line(&both, 40, 200).contains(" and 1 other"), "{}", line(&both, 40, 200));
    // A word that is told meanwhile is no beginning either, nor is the time of a question.
    let steered = [shell(), at(35, 6, EventKind::RunSteered { text: "hurry".to_owned() })];
    assert!(line(&steered, 40, 200).starts_with("running: $ cargo test · 30 s"));
    let approved = EventKind::ToolApproved {
        call_id: Some(CallId::new("c1".to_owned())),
        tool: None,
        by: "user".to_owned(),
        releases: None,
        edited_args: None,
    };
    let line = line(&[shell(), at(35, 6, approved)], 40, 200);
    assert!(line.starts_with("running: $ cargo test · 5 s"), "{line}");
}

#[test]
fn tokens_never_become_fewer() {
    let usage = TokenCounts { input_tokens: 30_000, output_tokens: 4_000, cached_tokens: 0 };
    let (text, tool_calls) = (String::new(), 0);
    let kind = EventKind::MessageCompleted { text, usage, tool_calls, duration_ms: 5 };
    let text = "four".repeat(1200);
    let events = [step(), at(5, 3, kind), shell()];
    assert!(line(&events, 12, 200).contains(" · 34k tokens · "), "{}", line(&events, 12, 200));
    let next = at(11, 7, EventKind::StepStarted { purpose: Purpose::Think, step: 2, steps_max: 5 });
    let delta = delta(7, EventKind::MessageDelta { text });
    let events = [&events[..2], &[next, delta]].concat();
    assert!(line(&events, 12, 200).starts_with("writing 1 s · 35k tokens · "));
}

#[test]
fn the_model_that_answers_is_named_also_after_a_fallback() {
    let (error, model) = ("503".to_owned(), "local/small".to_owned());
    let events = [step(), at(3, 2, EventKind::StepFellBack { error, model })];
    let shown = line(&events, 4, 200);
    assert!(shown.contains(" · local/small · react"), "{shown}");
    let next = at(9, 7, EventKind::StepStarted { purpose: Purpose::Think, step: 2, steps_max: 5 });
    let shown = line(&[&events[..], &[next]].concat(), 10, 200);
    assert!(shown.contains(" · openai/gpt-x · react"), "{shown}");
}

#[test]
fn a_long_or_wide_command_leaves_room_for_its_time() {
    for command in ["cargo test --workspace ".repeat(9), "打印今天的天气和新闻".repeat(9)]
    {
        let call = began("c1", "shell", &serde_json::json!({ "command": command }).to_string());
        for width in [30, 60, 120] {
            let shown = line(std::slice::from_ref(&call), 41, width);
            assert!(shown.contains("… · 31 s"), "{shown}");
            assert!(display_width(&shown) <= width, "{shown} in {width}");
        }
    }
    let shown = own_command_line(Lang::ZhCn, &"打印".repeat(40), 65_000, 50).plain();
    assert!(
        shown.ends_with("… · 1 分 5 秒 · Ctrl-C 取消") && display_width(&shown) <= 50,
        "{shown}"
    );
}

#[test]
fn it_says_what_goes_on_and_for_how_long() {
    assert_eq!(
        line(&[step()], 4, 200),
        "thinking 4 s · --yes: approves by itself · openai/gpt-x · react · ~/proj · Ctrl-C cancels"
    );
    let text = "four".repeat(1200);
    let writing = [step(), delta(1, EventKind::MessageDelta { text })];
    assert!(line(&writing, 12, 200).starts_with("writing 12 s · 1.2k tokens · "));
    assert!(line_in(Lang::ZhCn, &writing, 12, 200).starts_with("正在回答 12 秒 · 1.2k token · "));
    assert!(
        line(&[step(), completed(), shell()], 41, 200)
            .starts_with("running: $ cargo test · 31 s · ")
    );
    assert!(line(&[step(), completed(), shell()], 101, 200).contains("· 1 min 31 s ·"));
}

fn completed() -> RunEvent {
    let usage = TokenCounts { input_tokens: 5, output_tokens: 2, cached_tokens: 0 };
    let text = String::new();
    at(5, 3, EventKind::MessageCompleted { text, usage, tool_calls: 1, duration_ms: 5 })
}

#[test]
fn it_says_what_the_run_has_cost_where_the_price_is_known() {
    let table = r#"{"currency": "USD", "models": {"openai/gpt-x": {"input": 2.0, "output": 8.0}}}"#;
    let prices: Prices = serde_json::from_str(table).unwrap();
    let place = StatusPlace { price: prices.of_model("openai/gpt-x"), ..place() };
    let usage = TokenCounts { input_tokens: 40_000, output_tokens: 2_500, cached_tokens: 0 };
    let kind =
        EventKind::MessageCompleted { text: String::new(), usage, tool_calls: 1, duration_ms: 5 };
    let mut view = RunView::new(run());
    [step(), at(5, 3, kind), shell()].iter().for_each(|event| view.apply(event));
    let shown = status_line(Lang::En, &view, &place, HINT, 1_041_000, 200);
    let shown = shown.plain();
    let expected = "running: $ cargo test · 31 s · 42k tokens · 0.1000 USD · ";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn it_says_whom_the_run_waits_for() {
    let retrying = EventKind::StepRetrying { error: "503".to_owned(), wait_ms: 8000, attempt: 2 };
    let events = [step(), at(3, 2, retrying)];
    assert!(line(&events, 3, 200).starts_with("waiting for the model (retry 2 in 8 s)"));
    assert!(line(&events, 12, 200).starts_with("thinking 9 s"), "{}", line(&events, 12, 200));
    let waiting = [step(), at(3, 2, EventKind::RunWaiting(WaitingFor::User))];
    assert!(line(&waiting, 9, 200).starts_with("waiting for your answer · "));
}

#[test]
fn what_does_not_fit_is_left_out_from_the_right() {
    let shown = line(&[step()], 4, 60);
    assert_eq!(shown, "thinking 4 s · --yes: approves by itself · openai/gpt-x");
    assert_eq!(line(&[step()], 4, 10), "thinking 4 s");
}

#[test]
fn the_end_of_what_a_command_prints_is_there_until_it_ends() {
    let mut view = RunView::new(run());
    view.apply(&shell());
    let lines: String = (1..=9).map(|n| format!("test {n} ... ok\n")).collect();
    let id = Some(CallId::new("c1".to_owned()));
    let text = Some(lines);
    view.apply(&delta(5, EventKind::ToolProgress { tool: None, text, call_id: id }));
    let tail: Vec<String> = output_tail(&view).iter().map(|line| line.plain()).collect();
    assert_eq!(tail.len(), 4);
    assert_eq!(tail[3], "    test 9 ... ok");
}

#[test]
fn the_mark_turns_where_it_can() {
    let turns: Vec<&str> = (0..4).map(|quarter| turning_mark("◐", quarter * 250)).collect();
    assert_eq!(turns, ["◐", "◓", "◑", "◒"]);
    assert_eq!(turning_mark("[~]", 250), "[~]");
}

#[test]
fn counts_and_folders_are_short() {
    let counts = [0, 950, 1_234, 34_999, 1_250_000].map(short_count);
    assert_eq!(counts, ["0", "950", "1.2k", "34k", "1.2M"]);
    let home = Some(Path::new("/me"));
    assert_eq!(short_folder(Path::new("/me/proj"), home), "~/proj");
    assert_eq!(short_folder(Path::new("/other/x"), home), "/other/x");
}
