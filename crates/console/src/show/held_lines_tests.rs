//! Which line of a call is shown when.

use super::*;
use everloop_engine::ToolOutcome;
use everloop_markdown::Tone;
use everloop_types::{ApprovalCause, ApprovalRequest, CallPreview, Ending, QuestionKind, RunId};

/// A run whose events are taken one after the other, a moment apart.
struct Watched {
    view: RunView,
    held: HeldLines,
    now: Instant,
}

impl Watched {
    fn new() -> Self {
        let view = RunView::new(RunId::new("run_1"));
        Self { view, held: HeldLines::default(), now: Instant::now() }
    }

    fn sees(&mut self, kind: EventKind, line: &str) -> Vec<String> {
        let event = RunEvent { kind, run_id: self.view.run.clone(), seq: 1, ts: Some(1) };
        self.view.apply(&event);
        let lines = match line {
            "" => Vec::new(),
            line => vec![StyledLine::new(Tone::Plain, line)],
        };
        let shown = self.held.take((&self.view, &together()), &event, lines, self.now);
        plain(shown)
    }

    /// What is shown after a moment without an event.
    fn waits(&mut self) -> Vec<String> {
        self.now += HOLD;
        plain(self.held.due(self.now))
    }
}

fn together() -> BTreeSet<String> {
    ["read_file".to_owned()].into()
}

fn plain(lines: Vec<StyledLine>) -> Vec<String> {
    lines.iter().map(StyledLine::plain).collect()
}

fn begins(id: &str, tool: &str) -> EventKind {
    let (call_id, tool) = (CallId::new(id), tool.to_owned());
    EventKind::ToolStarted { call_id, tool, arguments: arguments(id) }
}

fn arguments(id: &str) -> String {
    format!(r#"{{"command": "{id}"}}"#)
}

fn ended(id: &str) -> EventKind {
    EventKind::ToolCompleted(ToolOutcome {
        call_id: CallId::new(id),
        tool: "shell".to_owned(),
        ending: Ending::Ok,
        result: String::new(),
        duration_ms: 1,
        labels: Vec::new(),
        change: None,
    })
}

fn asks(id: &str) -> EventKind {
    let request = ApprovalRequest {
        tool: "shell".to_owned(),
        preview: CallPreview::Call,
        folder: "/work".to_owned(),
        cause: ApprovalCause::Tool,
        scopes: Vec::new(),
        editable: None,
    };
    EventKind::QuestionOpened {
        interrupt_id: "q1".to_owned(),
        kind: QuestionKind::Approve,
        message: arguments(id),
        request: Some(Box::new(request)),
    }
}

#[test]
fn a_call_that_waits_for_another_has_no_line_before_it_begins() {
    let mut run = Watched::new();
    assert!(run.sees(begins("a", "shell"), "→ a").is_empty());
    assert!(run.sees(begins("b", "shell"), "→ b").is_empty());
    assert!(run.sees(asks("a"), "").is_empty(), "the question shows a, and b has not begun");
    assert!(run.waits().is_empty());
    assert_eq!(run.sees(ended("a"), "✔ a"), ["✔ a"]);
    assert_eq!(run.waits(), ["→ b"], "nobody was asked about it");
}

#[test]
fn the_line_of_a_second_call_that_is_asked_about_is_in_its_question_alone() {
    let mut run = Watched::new();
    run.sees(begins("a", "shell"), "→ a");
    run.sees(begins("b", "shell"), "→ b");
    assert_eq!(run.waits(), ["→ a"]);
    assert_eq!(run.sees(ended("a"), "✔ a"), ["✔ a"]);
    assert!(run.sees(asks("b"), "").is_empty());
    assert!(run.waits().is_empty());
    assert_eq!(run.sees(ended("b"), "✔ b"), ["✔ b"]);
}

#[test]
fn of_two_equal_calls_the_question_shows_one() {
    let mut run = Watched::new();
    let equal = || EventKind::ToolStarted {
        call_id: CallId::new("b"),
        tool: "shell".to_owned(),
        arguments: arguments("a"),
    };
    run.sees(begins("a", "shell"), "→ a");
    run.sees(equal(), "→ a again");
    assert!(run.sees(asks("a"), "").is_empty());
    assert_eq!(run.sees(ended("a"), "✔ a"), ["✔ a"]);
    assert_eq!(run.waits(), ["→ a again"]);
}

#[test]
fn calls_that_run_side_by_side_are_shown_together() {
    let mut run = Watched::new();
    run.sees(begins("a", "read_file"), "→ a");
    run.sees(begins("b", "read_file"), "→ b");
    assert_eq!(run.waits(), ["→ a", "→ b"]);
}

#[test]
fn a_call_that_ends_without_having_begun_is_named_with_its_end() {
    let mut run = Watched::new();
    run.sees(begins("a", "shell"), "→ a");
    run.sees(begins("b", "shell"), "→ b");
    run.sees(asks("a"), "");
    assert_eq!(run.sees(ended("b"), "✘ b"), ["→ b", "✘ b"]);
}

#[test]
fn a_run_that_is_looked_at_from_its_middle_shows_the_calls_that_come() {
    let mut run = Watched::new();
    run.sees(begins("a", "shell"), "→ a");
    run.sees(begins("b", "shell"), "→ b");
    run.held = HeldLines::of(&run.view, &together(), |_, arguments| {
        vec![StyledLine::new(Tone::Plain, &format!("→ {arguments}"))]
    });
    assert_eq!(run.sees(ended("a"), "✔ a"), ["✔ a"]);
    assert_eq!(run.waits(), [format!("→ {}", arguments("b"))]);
}
