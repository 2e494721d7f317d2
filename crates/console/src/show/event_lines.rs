//! Events as lines for people. The live part of a chat and the lines of a log say the same; a
//! terminal gets more lines of a result than a log does.

use super::call_words::call_line;
use super::{replanned, seen_line};
use crate::console::Console;
use crate::terminal::Marks;
use everloop_app::call_words::{
    RESULT_LINES_SHOWN, ResultWords, result_lines, result_words, unfolded_text,
};
use everloop_engine::{EventKind, EventNote, RunEvent, RunView, ToolOutcome};
use everloop_markdown::{StyledLine, Tone};
use everloop_text::{self as text, is_persons_no, observed};
use everloop_types::{Ending, Purpose, Words};

/// Where the lines go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinesFor {
    /// A screen whose reader can unfold what is folded.
    Chat,
    /// A screen.
    Screen,
    /// A pipe or a log.
    Log,
}

/// The lines about an event of the run that is looked at; `view` has taken it in.
pub fn event_lines(
    app: &Console,
    marks: &Marks,
    view: &RunView,
    event: &RunEvent,
    to: LinesFor,
) -> Vec<StyledLine> {
    match &event.kind {
        EventKind::ToolCompleted(outcome) if outcome.tool == "todo_write" => Vec::new(),
        EventKind::ToolStarted { tool, arguments, .. } => {
            call_lines(app, marks, (tool, arguments), to)
        }
        EventKind::ToolCompleted(outcome) | EventKind::ToolFailed(outcome) => match to {
            LinesFor::Log => vec![StyledLine::new(Tone::Plain, &logged(app, marks, outcome))],
            // Whoever said no has read so in the answer's own line.
            _ if is_persons_no(&outcome.result) => Vec::new(),
            _ => came_back(app, marks, view, outcome, to),
        },
        EventKind::StepNoted(said) if to == LinesFor::Chat && is_small_talk(view, said) => {
            Vec::new()
        }
        // A chat acknowledges the words of its own person where they are typed.
        EventKind::RunSteered { .. } | EventKind::RunAnswerRequested {} if to == LinesFor::Chat => {
            Vec::new()
        }
        kind => other_line(app, marks, event, kind).into_iter().collect(),
    }
}

/// Whether a note says only that a reply came in another form, where nothing was planned or done
/// yet: who says hello need not know of forms.
fn is_small_talk(view: &RunView, said: &EventNote) -> bool {
    let sent_back = text::progress::sent_back(&"1", &"").key();
    let is_first = said.args.as_ref().is_some_and(|args| args.get("n").is_some_and(|n| n == "1"));
    said.note.as_ref() == Some(&sent_back)
        && is_first
        && view.plan.version == 0
        && view.calls.is_empty()
}

/// The line about anything but a tool call.
fn other_line(
    app: &Console,
    marks: &Marks,
    event: &RunEvent,
    kind: &EventKind,
) -> Option<StyledLine> {
    let (tone, words) = match kind {
        EventKind::RunRecovered { interrupted } => {
            let (id, count) = (event.run_id.short(), interrupted.to_string());
            (Tone::Warning, app.text(text::run::recovered(&id, &count)))
        }
        EventKind::StepStarted { purpose: Purpose::Compact, .. } => {
            (Tone::Dim, app.text(text::progress::compacting()))
        }
        EventKind::StepRetrying { error, wait_ms, .. } => {
            let wait = format!("{:.1}", *wait_ms as f64 / 1000.0);
            (Tone::Warning, app.text(text::run::retrying(&observed(app.lang, error), &wait)))
        }
        EventKind::StepFellBack { error, model } => {
            (Tone::Warning, app.text(text::run::fell_back(&model, &observed(app.lang, error))))
        }
        EventKind::StepFailed { error, .. } => {
            let error = observed(app.lang, error);
            (Tone::Bad, app.text(text::progress::model_failed(&marks.failed, &error)))
        }
        EventKind::StepNoted(said) | EventKind::StepSalvaged { said, .. } => {
            (Tone::Dim, note(app, said))
        }
        EventKind::RoundSummarized { text, .. } => (Tone::Plain, text.clone()),
        EventKind::ToolRetrying { tool, attempt, error, .. } => {
            let mark = &marks.failed;
            let words = text::progress::ToolRetry { mark, tool, attempt, seen: error }.text();
            (Tone::Warning, app.text(words))
        }
        EventKind::RunSwitching { loop_name, .. } => {
            (Tone::Dim, app.text(text::progress::switching(loop_name)))
        }
        EventKind::RunSteered { text } => (Tone::Dim, app.text(text::progress::steered(text))),
        EventKind::RunAnswerRequested {} => {
            (Tone::Dim, app.text(text::progress::answer_requested()))
        }
        kind => {
            debug_assert!(is_shown_elsewhere(kind), "{kind:?} has no line");
            return None;
        }
    };
    Some(StyledLine::new(tone, &words))
}

/// Whether an event has no line of its own. Each kind is named: one that is added has to be given a
/// line, or to be listed here with the reason why it has none.
fn is_shown_elsewhere(kind: &EventKind) -> bool {
    match kind {
        // Shown in another form: the goal above, the answer and its end below, the plan as a list,
        // a question as a block, a call by its own lines, a child by its events.
        EventKind::RunStarted { .. }
        | EventKind::RunSucceeded(_)
        | EventKind::RunUnsettled(_)
        | EventKind::RunFailed(_)
        | EventKind::RunCanceled(_)
        | EventKind::RunQuarantined(_)
        | EventKind::PlanCreated { .. }
        | EventKind::PlanUpdated { .. }
        | EventKind::PlanClosed { .. }
        | EventKind::QuestionOpened { .. }
        | EventKind::QuestionAnswered { .. }
        | EventKind::ToolApproved { .. }
        | EventKind::ToolStarted { .. }
        | EventKind::ToolCompleted(_)
        | EventKind::ToolFailed(_)
        | EventKind::ChildStarted { .. }
        | EventKind::ChildEnded { .. }
        | EventKind::MessageDelta { .. }
        | EventKind::MessageCompleted { .. }
        | EventKind::ReasoningDelta { .. }
        | EventKind::ReasoningCompleted { .. } => true,
        // In the line that says what goes on.
        EventKind::RunWaiting(_)
        | EventKind::ToolProgress { .. }
        | EventKind::RunCancelRequested { .. } => true,
        // What led to another line that says it: the outcome of the call, the end of the run.
        EventKind::StepSkipped { .. } | EventKind::ToolProbed { .. } => true,
        // Of interest to those who look into a run: `runs show` tells it.
        EventKind::RunResumed {} | EventKind::RunForked { .. } | EventKind::RunSpawned { .. } => {
            true
        }
        // The line that says what goes on tells it; that the prompt is made shorter is said.
        EventKind::StepStarted { purpose, .. } => *purpose != Purpose::Compact,
        EventKind::RunRecovered { .. }
        | EventKind::RunSwitching { .. }
        | EventKind::RunSteered { .. }
        | EventKind::RunAnswerRequested {}
        | EventKind::StepRetrying { .. }
        | EventKind::StepFellBack { .. }
        | EventKind::StepFailed { .. }
        | EventKind::StepNoted(_)
        | EventKind::StepSalvaged { .. }
        | EventKind::RoundSummarized { .. }
        | EventKind::ToolRetrying { .. } => false,
    }
}

/// The line of a call that begins. In a log it names its tool, for those who search it.
pub fn call_lines(
    app: &Console,
    marks: &Marks,
    (tool, arguments): (&str, &str),
    to: LinesFor,
) -> Vec<StyledLine> {
    // The list itself is shown where the plan is.
    if tool == "todo_write" {
        return Vec::new();
    }
    let mut words = call_line(app, tool, arguments);
    if to == LinesFor::Log && !words.starts_with(tool) {
        words = format!("{tool}: {words}");
    }
    let line = StyledLine::new(Tone::Accent, &format!("{} ", marks.act));
    vec![line.with(Tone::Strong, &words).hanging(2)]
}

/// What came back, below its call: a mark, a few lines, and how many there are beside.
fn came_back(
    app: &Console,
    marks: &Marks,
    view: &RunView,
    outcome: &ToolOutcome,
    to: LinesFor,
) -> Vec<StyledLine> {
    let words = result_words(app.lang, &outcome.tool, outcome.ending, &outcome.result);
    let is_ok = outcome.ending == Ending::Ok;
    let mark = if is_ok { marks.done } else { marks.failed };
    let tone = if is_ok { Tone::Good } else { Tone::Bad };
    let head_tone = if is_ok { Tone::Dim } else { Tone::Bad };
    let mut head = StyledLine::new(tone, &format!("  {mark} "));
    if let Some(call) = other_call(app, view, outcome) {
        head = head.with(Tone::Plain, &format!("{call}: "));
    }
    let mut lines = vec![head.with(head_tone, &words.head).hanging(4)];
    let ResultWords { lines: more, left_out, is_end, .. } = words;
    let dim = |text: &String| StyledLine::new(Tone::Dim, &format!("    {text}")).hanging(4);
    let rest = (left_out > 0).then(|| match to {
        LinesFor::Chat => app.text(text::call::more_lines(&left_out)),
        _ => app.text(text::call::more_lines_kept(&left_out)),
    });
    lines.extend(rest.iter().filter(|_| is_end).map(dim));
    lines.extend(more.iter().map(dim));
    lines.extend(rest.iter().filter(|_| !is_end).map(dim));
    lines
}

/// The call that came back, if its own line is not the last one above.
fn other_call(app: &Console, view: &RunView, outcome: &ToolOutcome) -> Option<String> {
    let is_last = view.calls.back().is_some_and(|call| call.id == outcome.call_id);
    let call = view.calls.iter().rev().find(|call| call.id == outcome.call_id)?;
    (!is_last).then(|| call_line(app, &call.tool, &call.arguments))
}

/// The same on one line that names its tool, for those who search a log.
fn logged(app: &Console, marks: &Marks, outcome: &ToolOutcome) -> String {
    let mark = if outcome.ending == Ending::Ok { marks.done } else { marks.failed };
    let text = seen_line(app, &outcome.result);
    app.text(
        text::progress::CameBack { mark: &mark, tool: &outcome.tool.as_str(), text: &text }.text(),
    )
}

/// The line about an event of a run below the one that is looked at.
pub fn child_line(app: &Console, marks: &Marks, event: &RunEvent) -> Option<StyledLine> {
    let text = match &event.kind {
        EventKind::ToolStarted { tool, arguments, .. } => {
            format!("{} {}", marks.act, call_line(app, tool, arguments))
        }
        EventKind::ToolCompleted(outcome) => {
            format!("{} {}", marks.done, seen_line(app, &outcome.result))
        }
        EventKind::ToolFailed(outcome) => {
            format!("{} {}", marks.failed, seen_line(app, &outcome.result))
        }
        kind => {
            let status = kind.ending()?.status;
            app.text(text::progress::child_ended(&status))
        }
    };
    let words = app.text(text::progress::child(&text));
    Some(StyledLine::new(Tone::Dim, &words).hanging(4))
}

/// The line about a plan that this event replaces by another; `view` has not taken it in yet.
pub fn replanned_line(app: &Console, view: &RunView, event: &RunEvent) -> Option<StyledLine> {
    let words = replanned(app, &view.plan, event.kind.plan()?)?;
    Some(StyledLine::new(Tone::Warning, &words).hanging(2))
}

/// What was folded last: the reasoning of the last reply, and what the last call brought.
pub fn unfolded_lines(app: &Console, view: &RunView) -> Vec<StyledLine> {
    const LINES_MAX: usize = 400;
    let mut lines = Vec::new();
    let reasoning = match &view.reply {
        Some(reply) if !reply.reasoning.trim().is_empty() => &reply.reasoning,
        _ => &view.message.reasoning,
    };
    for line in unfolded_text(reasoning) {
        lines.push(StyledLine::new(Tone::Dim, &format!("  {line}")).hanging(2));
    }
    let last = view.calls.iter().rev().find(|call| call.outcome.is_some());
    if let Some((call, (_, result))) = last.and_then(|call| Some((call, call.outcome.as_ref()?))) {
        let seen = observed(app.lang, result);
        let shown = result_lines(&seen);
        if shown.len() > RESULT_LINES_SHOWN || !lines.is_empty() || call.tool == "read_file" {
            lines.push(StyledLine::new(Tone::Strong, &call_line(app, &call.tool, &call.arguments)));
            let line = |line: &String| StyledLine::new(Tone::Dim, &format!("  {line}")).hanging(2);
            lines.extend(unfolded_text(&seen).iter().map(line));
        }
    }
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    if left_out > 0 {
        lines.push(StyledLine::new(Tone::Dim, &app.text(text::call::more_lines_kept(&left_out))));
    }
    if lines.is_empty() {
        lines.push(StyledLine::new(Tone::Dim, &app.text(text::call::nothing_folded())));
    }
    lines
}

/// The tool of a call that begins or ends with this event.
pub fn tool_of(event: &RunEvent) -> Option<&str> {
    match &event.kind {
        EventKind::ToolStarted { tool, .. } => Some(tool),
        EventKind::ToolCompleted(outcome) | EventKind::ToolFailed(outcome) => Some(&outcome.tool),
        _ => None,
    }
}

/// A note in the language of the person, who may read another one than the run speaks.
fn note(app: &Console, said: &EventNote) -> String {
    match (&said.note, &said.args) {
        (Some(key), Some(args)) => {
            everloop_text::render(&Words::Key(key.clone(), args.clone()), app.lang)
        }
        _ => said.text.clone(),
    }
}
