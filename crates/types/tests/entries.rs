//! Every form in which an entry is written, and what it is read as.
//!
//! `testdata/entries.jsonl` only grows: a `body` is history, its `reads` follows the present form.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use everloop_types::journal::{
    ApprovalAsked, ApprovalGiven, BudgetUse, ChildEnded, Delegated, EffectAttemptFailed,
    EffectFinished, EffectPlanned, EffectProbed, EffectStarted, EntryBodyError, EntryKind,
    EpochStarted, FORMATS, Forked, InboxMessage, Input, MessageEmitted, Outcome, PlannedModelCall,
    PlannedToolCall, ProbeFinding, RunCreated, RunFinished, SnapshotTaken, Spawned, Switch,
    Waiting, WaitingOn,
};
use everloop_types::{
    ApprovalCause, ApprovalRequest, ApprovalScope, BudgetKind, CallId, CallPreview, ContextLimits,
    Contract, EffectClass, EffectId, Ending, Goal, Image, Labels, Limits, ModelCall, ModelError,
    ModelErrorKind, Observation, OnUnknown, Purpose, Question, QuestionKind, Reason, Reply, RunId,
    Status, StopCause, ToolCall, ToolChoice, ToolOffer, Usage, WorkerId,
};
use serde_json::{Value, json};

struct Line {
    kind: String,
    fmt: i64,
    body: String,
    reads: Value,
}

fn corpus() -> Vec<Line> {
    let line = |text: &str| {
        let line: Value = serde_json::from_str(text).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        Line {
            kind: text("kind"),
            fmt: line["fmt"].as_i64().unwrap(),
            body: text("body"),
            reads: line["reads"].clone(),
        }
    };
    include_str!("../testdata/entries.jsonl").lines().map(line).collect()
}

fn text(word: &str) -> String {
    word.to_owned()
}

fn call() -> ToolCall {
    ToolCall { id: CallId::new("c1"), tool: text("shell"), args: text("{\"command\":\"ls\"}") }
}

fn model_error() -> ModelError {
    let error = ModelError::new(ModelErrorKind::Server, text("500"));
    ModelError { retry_after_ms: Some(2), status: Some(500), ..error }
}

fn goal() -> Goal {
    Goal { text: text("buy milk"), context: text("[today]"), images: Vec::new() }
}

fn pictured() -> Goal {
    let image = Image { mime: text("image/png"), base64: text("iVBORw0KGgo=") };
    Goal { images: vec![image], ..goal() }
}

/// Limits that format 1 of a fork has no room for.
fn newer_limits() -> Limits {
    let context = ContextLimits { messages: 300, least_freed: 20, ..ContextLimits::default() };
    Limits { context, ..Limits::default() }
}

fn approval_request() -> ApprovalRequest {
    ApprovalRequest {
        tool: text("shell"),
        preview: CallPreview::Command {
            command: text("git status"),
            sandboxed: true,
            network: false,
            pattern: Some(text("git status *")),
        },
        folder: text("/work"),
        cause: ApprovalCause::Rule { rule: text("shell") },
        scopes: vec![
            ApprovalScope::Exact { resource: text("args:{}") },
            ApprovalScope::Prefix { pattern: text("git status *") },
            ApprovalScope::Conversation,
            ApprovalScope::Place { place: text("http_get → a.example") },
        ],
        editable: Some(text("command")),
    }
}

/// Every kind with every field filled. A field that is added does not compile until it is here.
fn samples() -> Vec<EntryKind> {
    let mut all = vec![
        EntryKind::EpochStarted(EpochStarted { worker: WorkerId::new("w"), build: text("0.1.0") }),
        EntryKind::ApprovalAsked(ApprovalAsked { args_hash: text("h"), policy_hash: text("p") }),
        EntryKind::ApprovalGiven(ApprovalGiven {
            args_hash: text("h"),
            by: text("user"),
            policy_hash: text("p"),
            releases: Some(text("http_get → a.example")),
            edited_args: Some(text("{}")),
        }),
        EntryKind::EffectStarted(EffectStarted {
            attempt: 1,
            start_by: 5_000,
            over_by: Some(9_000),
            before: json!({"digest": "d"}),
        }),
        EntryKind::EffectAttemptFailed(EffectAttemptFailed {
            attempt: 1,
            error: text("busy"),
            retry_at: 2,
            may_have_acted: true,
        }),
        EntryKind::EffectProbed(EffectProbed {
            attempt: 1,
            found: ProbeFinding::DidNot,
            detail: text("no record"),
        }),
        EntryKind::MessageEmitted(MessageEmitted { slot: text("final") }),
        EntryKind::SnapshotTaken(SnapshotTaken { state_hash: text("h") }),
        EntryKind::Spawned(Spawned {
            by: EffectId { run: RunId::new("run_1"), cause: 4, index: 0 },
        }),
        EntryKind::Delegated(Delegated { to: RunId::new("run_2") }),
        EntryKind::RunFinished(RunFinished {
            status: Status::Failed,
            reason: Some(Reason::StepLimit { limit: 20 }),
        }),
        EntryKind::RunFinished(RunFinished {
            status: Status::Failed,
            reason: Some(Reason::Budget { what: BudgetKind::Money, limit: 1_500_000 }),
        }),
    ];
    let created = |goal, policy: &str| RunCreated {
        goal,
        loop_name: text("react"),
        loop_ver: 1,
        frame: text("f"),
        build: text("0.1.0"),
        policy_hash: text(policy),
        turn: None,
    };
    let forked = |limits, word| Forked {
        from: RunId::new("run_1"),
        at_seq: 9,
        limits,
        settled: vec![text("4:0")],
        word,
    };
    let runs = [created(goal(), ""), created(pictured(), ""), created(goal(), "p")];
    all.extend(runs.map(EntryKind::RunCreated));
    let mut newest = newer_limits();
    newest.budget.money.limit = 1_000_000;
    let forks = [(Limits::default(), goal()), (newer_limits(), pictured()), (newest, goal())];
    all.extend(forks.map(|(limits, word)| EntryKind::Forked(forked(limits, word))));
    let letters = [
        InboxMessage::Answer { question: text("q"), text: text("red"), by: text("user") },
        InboxMessage::Cancel { by: text("user") },
        InboxMessage::Steer { text: text("be brief") },
        InboxMessage::AnswerNow,
        InboxMessage::Switch(Box::new(Switch {
            to: RunId::new("run_2"),
            loop_name: text("react"),
            frame: json!({"system": "s"}),
            context: text("[today]"),
        })),
        InboxMessage::Child(Box::new(ChildEnded {
            child: RunId::new("run_2"),
            status: Status::Succeeded,
            text: text("three files"),
            used: BudgetUse {
                model_calls: 2,
                tool_calls: 1,
                usage: Usage { input_tokens: 3, output_tokens: 2, cached_tokens: 1 },
                work_ms: 9,
            },
            labels: Labels::ALL,
        })),
    ];
    all.extend(
        letters.map(|letter| EntryKind::Input(Input { dedupe: text("d"), message: letter })),
    );
    all.extend(planned().map(EntryKind::EffectPlanned));
    let finished = |outcome| EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 3));
    all.extend(outcomes().map(finished));
    let outcome = Outcome::Observed(Observation { ending: Ending::Ok, text: text("a.txt") });
    let labels = Labels::ALL;
    all.push(EntryKind::EffectFinished(EffectFinished {
        outcome,
        took_ms: 3,
        labels,
        change: None,
    }));
    let question = Question {
        id: text("q"),
        kind: QuestionKind::Ask,
        call: CallId::new("c1"),
        text: text("?"),
        request: None,
    };
    let asked = Question { request: Some(Box::new(approval_request())), ..question.clone() };
    let child = WaitingOn::Child { run: RunId::new("run_2") };
    let waits = [
        WaitingOn::Person { question },
        WaitingOn::Person { question: asked },
        WaitingOn::Model { error: model_error() },
        child,
        WaitingOn::Timer { call: CallId::new("c1") },
    ];
    all.extend(waits.map(|on| EntryKind::Waiting(Waiting { on, until: Some(8) })));
    all
}

fn planned() -> [EffectPlanned; 2] {
    [
        EffectPlanned::CallModel(PlannedModelCall {
            call: ModelCall {
                purpose: Purpose::Think,
                offer: ToolOffer::Only(vec![text("shell")]),
                choice: ToolChoice::Required,
                output: Some(Contract::Thought),
            },
            messages: 2,
            prompt: text("p"),
        }),
        EffectPlanned::CallTool(PlannedToolCall {
            call: call(),
            class: EffectClass::Keyed,
            on_unknown: OnUnknown::AskUser,
            key_until: Some(6),
            deadline: Some(7),
        }),
    ]
}

fn outcomes() -> [Outcome; 5] {
    let reply = Reply {
        text: text("I look."),
        reasoning: text("hm"),
        calls: vec![call()],
        usage: Usage { input_tokens: 3, output_tokens: 2, cached_tokens: 1 },
        stop: StopCause::ToolCalls,
        salvaged: false,
    };
    [
        Outcome::Replied(reply),
        Outcome::ModelFailed(model_error()),
        Outcome::Observed(Observation { ending: Ending::Ok, text: text("a.txt") }),
        Outcome::Superseded,
        Outcome::Canceled,
    ]
}

#[test]
fn every_form_that_was_ever_written_reads_as_recorded() {
    for line in corpus() {
        let read = EntryKind::read(&line.kind, line.fmt, &line.body);
        let read = read.unwrap_or_else(|why| panic!("{} {}: {why:?}", line.kind, line.fmt));
        assert_eq!(read.name(), line.kind);
        let now: Value = serde_json::from_str(&read.body()).unwrap();
        assert_eq!(now, line.reads, "{} in format {}: {}", line.kind, line.fmt, line.body);
    }
}

/// A format names one form for ever: whoever writes another form must give it another format.
#[test]
fn a_changed_form_raises_its_format() {
    let corpus = corpus();
    let mut lacking = Vec::new();
    for kind in samples() {
        let (name, fmt, body) = (kind.name(), kind.fmt(), kind.body());
        let known =
            |line: &Line| (line.kind.as_str(), line.fmt) == (name, fmt) && line.body == body;
        if !corpus.iter().any(known) {
            let reads: Value = serde_json::from_str(&body).unwrap();
            let line = json!({"kind": name, "fmt": fmt, "body": body, "reads": reads});
            lacking.push(line.to_string());
        }
    }
    assert!(
        lacking.is_empty(),
        "written in a form that is not in testdata/entries.jsonl. If it replaces one: raise the \
         kind's format in stored.rs and give what is added a default. Then add:\n{}",
        lacking.join("\n")
    );
}

#[test]
fn every_kind_has_a_stored_sample_in_its_format() {
    let corpus = corpus();
    for (kind, fmt) in FORMATS {
        let there = corpus.iter().any(|line| line.kind == *kind && line.fmt == *fmt);
        assert!(there, "no sample of {kind} in format {fmt}");
    }
}

/// A database of an earlier build opens: what was added since has a default, what is gone is
/// ignored.
#[test]
fn earlier_formats_are_read_as_the_present_form() {
    let bodies = [
        (
            "RunCreated",
            r#"{"goal":{"text":"x"},"loop":"react","loop_ver":1,"frame":"f","seed":7,"build":"b"}"#,
        ),
        ("ApprovalAsked", r#"{"args_hash":"h"}"#),
        ("ApprovalGiven", r#"{"args_hash":"h","by":"user"}"#),
        ("EffectStarted", r#"{"attempt":1,"start_by":5000}"#),
        ("EffectFinished", r#"{"outcome":"canceled","took_ms":3}"#),
    ];
    for (kind, body) in bodies {
        let read = EntryKind::read(kind, 1, body);
        assert!(read.is_ok(), "{kind}: {read:?}");
    }
    for sample in samples() {
        for fmt in 1..=sample.fmt() {
            assert_eq!(EntryKind::read(sample.name(), fmt, &sample.body()).as_ref(), Ok(&sample));
        }
    }
}

#[test]
fn row_24_a_format_of_the_next_version_is_refused_by_name() {
    for line in corpus() {
        for fmt in [0, 99] {
            let newer = EntryBodyError::Newer { kind: line.kind.clone(), fmt };
            assert_eq!(EntryKind::read(&line.kind, fmt, &line.body), Err(newer));
        }
    }
    let newer = EntryBodyError::Newer { kind: text("EffectTeleported"), fmt: 1 };
    assert_eq!(EntryKind::read("EffectTeleported", 1, "{}"), Err(newer));
}
