use super::*;
use everloop_types::{ItemState, PlanItem};

fn view() -> RunView {
    RunView::new(RunId::new("run_1"))
}

fn durable(seq: i64, kind: EventKind) -> RunEvent {
    RunEvent { kind, run_id: RunId::new("run_1"), seq, ts: Some(seq * 10) }
}

fn delta(seq: i64, text: &str) -> RunEvent {
    let kind = EventKind::MessageDelta { text: text.to_owned() };
    RunEvent { ts: None, ..durable(seq, kind) }
}

fn asked(seq: i64) -> RunEvent {
    durable(seq, EventKind::StepStarted { purpose: Purpose::Think, step: 1, steps_max: 5 })
}

fn completed(seq: i64, text: &str) -> RunEvent {
    let usage = TokenCounts { input_tokens: 3, output_tokens: 2, cached_tokens: 0 };
    let text = text.to_owned();
    durable(seq, EventKind::MessageCompleted { text, usage, tool_calls: 0, duration_ms: 1 })
}

fn started(seq: i64, id: &str) -> RunEvent {
    let (call_id, tool) = (CallId::new(id), "shell".to_owned());
    durable(seq, EventKind::ToolStarted { call_id, tool, arguments: "{}".to_owned() })
}

fn failed(seq: i64, id: &str) -> RunEvent {
    let outcome = ToolOutcome {
        call_id: CallId::new(id),
        tool: "shell".to_owned(),
        ending: Ending::Error,
        result: "no".to_owned(),
        duration_ms: 1,
        labels: Vec::new(),
        change: None,
    };
    durable(seq, EventKind::ToolFailed(outcome))
}

fn applied(events: &[RunEvent]) -> RunView {
    let mut view = view();
    events.iter().for_each(|event| view.apply(event));
    view
}

#[test]
fn a_reply_grows_by_its_deltas_and_is_replaced_by_the_complete_one() {
    let mut view = applied(&[asked(2), delta(2, "he"), delta(2, "llo")]);
    let reply = view.reply.clone().expect("on its way");
    assert_eq!((reply.text.as_str(), reply.chars, view.status), ("hello", 5, Status::Running));
    view.apply(&completed(3, "hello!"));
    assert_eq!((view.reply.as_ref(), view.message.text.as_str()), (None, "hello!"));
    assert_eq!((view.counts.model_calls, view.counts.usage.input_tokens), (1, 3));
}

#[test]
fn a_delta_of_another_call_or_of_one_that_is_over_is_passed_over() {
    let events = [asked(2), delta(9, "x"), completed(3, "a"), delta(2, "late"), asked(4)];
    assert_eq!(applied(&events).reply, Some(ReplyView::new(4, Purpose::Think, 40)));
}

#[test]
fn an_attempt_that_failed_leaves_nothing_of_its_text() {
    let retrying = EventKind::StepRetrying { error: "away".to_owned(), wait_ms: 5, attempt: 1 };
    let events = [asked(2), delta(2, "half"), durable(3, retrying), delta(2, "whole")];
    let view = applied(&events);
    assert_eq!(view.reply.expect("on its way").text, "whole");
    assert_eq!(view.counts.wasted_attempts, 1);
}

#[test]
fn calls_are_open_until_their_outcome_comes() {
    let mut view = applied(&[started(2, "a"), started(3, "b")]);
    assert_eq!(view.open_calls().count(), 2);
    view.apply(&failed(4, "a"));
    let open: Vec<&str> = view.open_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(open, ["b"]);
    assert_eq!(view.calls[0].outcome, Some((Ending::Error, "no".to_owned())));
    assert_eq!((view.counts.tool_calls, view.counts.tool_failures), (2, 1));
}

#[test]
fn a_long_run_keeps_a_bounded_number_of_calls_and_notes() {
    let mut view = view();
    for seq in 0..1_000 {
        let id = seq.to_string();
        let note = EventKind::RoundSummarized { round: 1, rounds: 1, text: id.clone() };
        [started(seq, &id), failed(seq, &id), durable(seq, note)].iter().for_each(|event| {
            view.apply(event);
        });
    }
    assert_eq!((view.calls.len(), view.notes.len()), (ENDED_CALLS_MAX, NOTES_MAX));
    assert_eq!(view.notes.back().map(String::as_str), Some("999"));
    assert_eq!(view.counts.tool_calls, 1_000);
}

#[test]
fn a_question_is_open_until_it_is_answered() {
    let opened = EventKind::QuestionOpened {
        interrupt_id: "q".to_owned(),
        kind: QuestionKind::Ask,
        message: "when?".to_owned(),
        request: None,
    };
    let mut view =
        applied(&[durable(2, EventKind::RunWaiting(WaitingFor::User)), durable(2, opened)]);
    assert_eq!(view.status, Status::Waiting);
    assert_eq!(view.question.as_ref().map(|question| question.text.as_str()), Some("when?"));
    let (interrupt_id, text) = ("q".to_owned(), "now".to_owned());
    let by = "user".to_owned();
    view.apply(&durable(3, EventKind::QuestionAnswered { interrupt_id, text, by }));
    assert_eq!((view.status, view.question, view.waiting), (Status::Running, None, None));
}

#[test]
fn plan_children_and_ending_are_kept_and_other_runs_passed_over() {
    let plan = Progress {
        items: vec![PlanItem::new("one", ItemState::Completed)],
        version: 2,
        steps: 4,
        ..Progress::default()
    };
    let child = RunId::new("run_2");
    let ended = EventKind::ChildEnded {
        child: child.clone(),
        status: Status::Succeeded,
        text: String::new(),
        usage: TokenCounts { input_tokens: 9, output_tokens: 0, cached_tokens: 0 },
        model_calls: 2,
        tool_calls: 1,
    };
    let ending = RunEnding { status: Status::Failed, reason: None, note: None };
    let others = RunEvent { run_id: child.clone(), ..asked(99) };
    let events = [
        durable(2, EventKind::PlanCreated { plan: plan.clone() }),
        durable(3, EventKind::ChildStarted { child: child.clone() }),
        durable(4, ended),
        others,
        durable(5, ending.clone().into()),
    ];
    let view = applied(&events);
    assert_eq!((view.plan, view.counts.steps), (plan, 4));
    assert_eq!(view.children, [ChildView { run: child, status: Some(Status::Succeeded) }]);
    assert_eq!((view.counts.model_calls, view.counts.usage.input_tokens), (2, 9));
    assert_eq!((view.status, view.ending, view.seq), (Status::Failed, Some(ending), 5));
}

#[test]
fn the_reasoning_belongs_to_the_reply_that_it_came_with() {
    let reasoned = EventKind::ReasoningCompleted { text: "because".to_owned() };
    let mut view = applied(&[asked(2), durable(3, reasoned), completed(3, "so")]);
    assert_eq!((view.message.reasoning.as_str(), view.message.text.as_str()), ("because", "so"));
    view.apply(&completed(5, "and"));
    assert_eq!((view.message.reasoning.as_str(), view.message.text.as_str()), ("", "and"));
}
