//! What the checks have in common: small runs, and a way around the front door.

use crate::{Claim, Commit, Deleter, NewMessage, NewRun, NextStatus, RunCreation, Store, Urgency};
use everloop_types::{
    CallId, ConversationId, EffectClass, EffectId, Frame, Goal, Observation, OnUnknown, Rows,
    RunId, RunProfile, SqlValue, Statement, Status, ToolCall, WorkerId, Write, digest_json,
    journal::{
        EffectFinished, EffectPlanned, EffectStarted, EntryDraft, EntryKind, EpochStarted,
        InboxMessage, Input, MessageEmitted, Outcome, PlannedToolCall, RunCreated, RunFinished,
    },
};

pub(super) const NOW: i64 = 1_000_000;

pub(super) const BY: Deleter<'static> = Deleter { by: "user", now: NOW };

pub(super) fn worker(name: &str) -> WorkerId {
    WorkerId::new(name)
}

pub(super) fn run_id(name: &str) -> RunId {
    RunId::new(name)
}

pub(super) fn new_run(name: &str) -> NewRun {
    let frame = Frame { system: "be brief".to_owned(), ..Frame::default() };
    NewRun {
        run: run_id(name),
        conversation: ConversationId::new("conv_1"),
        created: RunCreated {
            goal: Goal { text: format!("goal of {name}"), ..Goal::default() },
            loop_name: "react".to_owned(),
            loop_ver: 3,
            frame: digest_json(&frame),
            build: "test".to_owned(),
            policy_hash: String::new(),
            turn: None,
        },
        frame,
        idem_key: None,
        profile: RunProfile::default(),
        opens: None,
        now: NOW,
        link: crate::RunLink::default(),
    }
}

pub(super) async fn create(store: &Store, name: &str) {
    assert_eq!(store.queue().create_run(&new_run(name)).await.unwrap(), RunCreation::New);
}

/// A new run that we drive.
pub(super) async fn claimed(store: &Store, name: &str) -> Claim {
    create(store, name).await;
    claim(store, name).await
}

pub(super) async fn claim(store: &Store, name: &str) -> Claim {
    store.queue().claim_run(&worker("w1"), &run_id(name), NOW).await.unwrap().unwrap()
}

pub(super) fn effect(claim: &Claim, cause: i64) -> EffectId {
    EffectId { run: claim.run.clone(), cause, index: 0 }
}

pub(super) fn draft(effect: Option<EffectId>, kind: EntryKind) -> EntryDraft {
    EntryDraft { at: NOW, effect, kind }
}

pub(super) fn epoch_started() -> EntryDraft {
    let started = EpochStarted { worker: worker("w1"), build: "test".to_owned() };
    draft(None, EntryKind::EpochStarted(started))
}

pub(super) fn planned(id: EffectId) -> EntryDraft {
    let call = ToolCall {
        id: CallId::new("c1"),
        tool: "shell".to_owned(),
        args: r#"{"command":"ls"}"#.to_owned(),
    };
    let planned = EffectPlanned::CallTool(PlannedToolCall {
        call,
        class: EffectClass::Dangerous,
        on_unknown: OnUnknown::AskUser,
        key_until: None,
        deadline: None,
    });
    draft(Some(id), EntryKind::EffectPlanned(planned))
}

pub(super) fn started(id: EffectId) -> EntryDraft {
    let started = EffectStarted {
        attempt: 1,
        start_by: NOW + 5_000,
        over_by: None,
        before: serde_json::Value::Null,
    };
    draft(Some(id), EntryKind::EffectStarted(started))
}

pub(super) fn finished(id: EffectId, text: &str) -> EntryDraft {
    let outcome = Outcome::Observed(Observation::ok(text));
    draft(Some(id), EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 3)))
}

pub(super) fn run_finished(status: Status) -> EntryDraft {
    draft(None, EntryKind::RunFinished(RunFinished { status, reason: None }))
}

pub(super) fn emitted(slot: &str) -> EntryDraft {
    draft(None, EntryKind::MessageEmitted(MessageEmitted { slot: slot.to_owned() }))
}

pub(super) fn input(dedupe: &str, message: InboxMessage) -> EntryDraft {
    draft(None, EntryKind::Input(Input { dedupe: dedupe.to_owned(), message }))
}

pub(super) fn answer(text: &str) -> InboxMessage {
    InboxMessage::Answer { question: "q1".to_owned(), text: text.to_owned(), by: "user".to_owned() }
}

pub(super) fn message(claim: &Claim, slot: &str, body: &str) -> NewMessage {
    NewMessage {
        slot: slot.to_owned(),
        role: "assistant".to_owned(),
        body: body.to_owned(),
        message_id: format!("{}:{slot}:{body}", claim.run),
    }
}

/// The last commit of a run, with its final message.
pub(super) fn ending(claim: &Claim, status: Status) -> Commit {
    let mut commit = Commit::new(vec![emitted("final"), run_finished(status)], NOW);
    commit.messages.push(message(claim, "final", "done"));
    commit.then(NextStatus::Finish(status))
}

pub(super) fn parking(wake_at: Option<i64>) -> Commit {
    Commit::new(Vec::new(), NOW).then(NextStatus::Park { wake_at, note: "an answer".to_owned() })
}

pub(super) async fn status(store: &Store, name: &str) -> Status {
    store.runs().position(&run_id(name)).await.unwrap().unwrap().status
}

/// Goes around the store, to damage what it has written.
pub(super) async fn raw(store: &Store, sql: &'static str, params: Vec<SqlValue>) {
    let write = Write { statement: Statement::screened(sql), params, expect: Rows::Exactly(1) };
    store.db().commit(vec![write], Urgency::Critical).await.unwrap();
}

/// The content of a blob, as it is stored.
pub(super) async fn blob(store: &Store, hash: &str) -> Option<Vec<u8>> {
    let sql = "SELECT bytes FROM blobs WHERE hash = $1";
    let rows = store.db().query(sql, vec![SqlValue::from(hash)]).await.unwrap();
    rows.into_iter().next().and_then(|row| row.cells().opt_bytes().unwrap())
}
