//! What must hold after any crash, cancel or lost reply.

mod family;

use crate::world::{World, WorldChange};
use everloop_engine::{History, ReplayVerdict};
use everloop_store::Store;
use everloop_types::journal::{
    EffectPlanned, Entry, EntryKind, InboxMessage, Input, Outcome, PlannedToolCall, ProbeFinding,
};
use everloop_types::{
    Approval, EffectClass, EffectId, Labels, Observation, RunId, Status, ToolCall, digest_bytes,
    digest_json,
};
use std::collections::{BTreeMap, BTreeSet};

/// How a run ended, to compare a disturbed run with an undisturbed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparableEnding {
    /// The status.
    pub status: Status,
    /// The last words.
    pub text: String,
    /// How many effects have an unknown outcome.
    pub unknowns: usize,
}

/// A run, and everything that it could have touched.
pub struct ObservedRun<'a> {
    /// Where its journal is.
    pub store: &'a Store,
    /// The run.
    pub run: &'a RunId,
    /// The outside, as this run alone could reach it.
    pub world: &'a World,
    /// The loop that decides.
    pub loop_name: &'a str,
    /// Rows that a unique index kept out.
    pub violations: u64,
}

/// Checks what must hold at any moment, also just after a crash or while the run is parked.
///
/// # Errors
/// The first invariant that does not hold, in words.
pub async fn check_midway(watched: &ObservedRun<'_>) -> Result<(), String> {
    family::members(watched).await.map(drop)
}

/// Checks the whole invariant set on a finished run and returns how it ended.
///
/// # Errors
/// The first invariant that does not hold, in words.
pub async fn check(watched: &ObservedRun<'_>) -> Result<ComparableEnding, String> {
    let mut members = family::members(watched).await?;
    let first = members.remove(0);
    // A quarantined run has a final message and no ending.
    for below in members.iter().filter(|one| one.status != Status::Quarantined) {
        ended(&below.history, below.status).map_err(|why| format!("{}: {why}", below.run))?;
    }
    ended(&first.history, first.status)
}

fn ended(history: &History, status: Status) -> Result<ComparableEnding, String> {
    all_finished(&history.entries)?;
    one_ending(&history.entries, status)?;
    cancel_obeyed(&history.entries, status)?;
    let unknowns = unknown_count(&history.entries);
    ensure(status != Status::Succeeded || unknowns == 0, || {
        "plain success over an unknown".to_owned()
    })?;
    match history.verify() {
        ReplayVerdict::Verified { .. } => {}
        other => return Err(format!("replay does not verify: {other:?}")),
    }
    let text = history.final_text().unwrap_or_default().to_owned();
    Ok(ComparableEnding { status, text, unknowns })
}

async fn read(watched: &ObservedRun<'_>) -> Result<(History, Status), String> {
    let history = History::read(watched.store, watched.run).await;
    let history = history.map_err(|error| format!("unreadable: {error}"))?.ok_or("no run")?;
    let row = watched.store.runs().get(watched.run).await.map_err(|error| error.to_string())?;
    Ok((history, row.ok_or("no row")?.status))
}

async fn holds_always(
    watched: &ObservedRun<'_>,
    history: &History,
    status: Status,
) -> Result<(), String> {
    let violations = watched.violations;
    ensure(violations == 0, || format!("{violations} rows were kept out by a unique index"))?;
    gap_free(&history.entries)?;
    epochs_rise(&history.entries)?;
    one_input_per_message(&history.entries)?;
    one_outcome_at_most(&history.entries)?;
    approvals_fit_calls(history)?;
    probes_are_on_record(&history.entries)?;
    final_message_with_ending(watched, status).await?;
    snapshot_agrees(watched, history).await?;
    counts_agree(history)?;
    no_unread_messages_while_waiting(watched, status).await
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn gap_free(entries: &[Entry]) -> Result<(), String> {
    let gap = (1..).zip(entries).find(|(seq, entry)| entry.seq != *seq);
    ensure(gap.is_none(), || format!("gap in the journal: {gap:?}"))
}

/// Epochs only rise, and each begins with its own entry.
fn epochs_rise(entries: &[Entry]) -> Result<(), String> {
    let mut epoch = 0;
    for entry in entries {
        ensure(entry.epoch >= epoch, || format!("an older owner wrote entry {}", entry.seq))?;
        let introduced =
            matches!(entry.kind, EntryKind::EpochStarted(_) | EntryKind::RunCreated(_));
        let fits = entry.epoch == epoch || introduced;
        ensure(fits, || format!("entry {} comes before its owner's name", entry.seq))?;
        epoch = entry.epoch;
    }
    Ok(())
}

/// A message that was sent several times is taken once.
fn one_input_per_message(entries: &[Entry]) -> Result<(), String> {
    let mut taken = BTreeSet::new();
    for entry in entries {
        if let EntryKind::Input(input) = &entry.kind {
            let first = taken.insert(&input.dedupe);
            ensure(first, || format!("the message {} was taken twice", input.dedupe))?;
        }
    }
    Ok(())
}

/// How often each effect was planned and finished.
fn plans_and_outcomes(entries: &[Entry]) -> BTreeMap<&EffectId, (u32, u32)> {
    let mut counts: BTreeMap<&EffectId, (u32, u32)> = BTreeMap::new();
    for entry in entries {
        let Some(effect) = &entry.effect else { continue };
        let counts = counts.entry(effect).or_default();
        match &entry.kind {
            EntryKind::EffectPlanned(_) => counts.0 += 1,
            EntryKind::EffectFinished(_) => counts.1 += 1,
            _ => {}
        }
    }
    counts
}

fn one_outcome_at_most(entries: &[Entry]) -> Result<(), String> {
    let counts = plans_and_outcomes(entries);
    let odd = counts.iter().find(|(_, (plans, outcomes))| *plans != 1 || *outcomes > 1);
    ensure(odd.is_none(), || format!("planned and finished counts: {odd:?}"))
}

fn all_finished(entries: &[Entry]) -> Result<(), String> {
    let counts = plans_and_outcomes(entries);
    let open = counts.iter().find(|(_, (_, outcomes))| *outcomes == 0);
    ensure(open.is_none(), || format!("over, and without an outcome: {open:?}"))
}

fn one_ending(entries: &[Entry], status: Status) -> Result<(), String> {
    let endings: Vec<&Entry> =
        entries.iter().filter(|entry| matches!(entry.kind, EntryKind::RunFinished(_))).collect();
    let [ending] = endings.as_slice() else {
        return Err(format!("{} endings", endings.len()));
    };
    ensure(ending.seq == entries.len() as i64, || "something follows the ending".to_owned())?;
    let said = match &ending.kind {
        EntryKind::RunFinished(finished) => finished.status,
        _ => unreachable!("filtered above"),
    };
    ensure(said == status, || format!("journal says {said}, row says {status}"))
}

/// A cancel that was taken from the inbox decides the ending.
fn cancel_obeyed(entries: &[Entry], status: Status) -> Result<(), String> {
    let cancel = |entry: &Entry| match &entry.kind {
        EntryKind::Input(input) => matches!(input.message, InboxMessage::Cancel { .. }),
        _ => false,
    };
    let obeyed = status == Status::Canceled || !entries.iter().any(cancel);
    ensure(obeyed, || format!("a cancel was taken, and the run ended as {status}"))
}

/// One final message if the run is over, and none before.
async fn final_message_with_ending(
    watched: &ObservedRun<'_>,
    status: Status,
) -> Result<(), String> {
    let messages =
        watched.store.runs().messages(watched.run).await.map_err(|error| error.to_string())?;
    let last: Vec<_> = messages.iter().filter(|message| message.slot == "final").collect();
    let due = usize::from(status.is_final());
    ensure(last.len() == due, || format!("{} final messages while {status}", last.len()))?;
    let empty = last.iter().any(|message| message.body.trim().is_empty());
    ensure(!empty, || "the final message is empty".to_owned())
}

/// A message wakes its run: a run that waits has read its whole inbox.
async fn no_unread_messages_while_waiting(
    watched: &ObservedRun<'_>,
    status: Status,
) -> Result<(), String> {
    let unread =
        watched.store.inbox().unread(watched.run).await.map_err(|error| error.to_string())?;
    let asleep = status == Status::Waiting && !unread.messages.is_empty();
    ensure(!asleep, || format!("waiting with unread mail: {:?}", unread.messages))
}

/// Nothing is counted twice: the budget's numbers are those of the plans.
fn counts_agree(history: &History) -> Result<(), String> {
    let counted = history.state_at(i64::MAX).map_err(|error| error.to_string())?.counts();
    let (mut models, mut tools) = (0, 0);
    for entry in &history.entries {
        match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallModel(_)) => models += 1,
            EntryKind::EffectPlanned(EffectPlanned::CallTool(_)) => tools += 1,
            EntryKind::Input(Input { message: InboxMessage::Child(ended), .. }) => {
                models += ended.used.model_calls;
                tools += ended.used.tool_calls;
            }
            _ => {}
        }
    }
    ensure((counted.model_calls, counted.tool_calls) == (models, tools), || {
        let (counted_models, counted_tools) = (counted.model_calls, counted.tool_calls);
        format!(
            "the budget counts {counted_models} model and {counted_tools} tool calls, \
             the journal plans {models} and {tools}"
        )
    })
}

/// Permission is for one call with its arguments: asked, answered, given, and only then begun.
fn approvals_fit_calls(history: &History) -> Result<(), String> {
    let (mut calls, mut asked) = (BTreeMap::new(), BTreeMap::new());
    let (mut answered, mut given) = (BTreeSet::new(), BTreeSet::new());
    let (mut for_good, mut held, mut opened) = (BTreeSet::new(), false, false);
    for entry in &history.entries {
        if let EntryKind::Input(input) = &entry.kind
            && let InboxMessage::Answer { question, .. } = &input.message
        {
            answered.insert(question.clone());
        }
        let Some(effect) = &entry.effect else { continue };
        match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall { call, .. })) => {
                calls.insert(effect, call);
            }
            EntryKind::ApprovalAsked(ask) => {
                asked.insert(effect, ask.args_hash.clone());
            }
            EntryKind::ApprovalGiven(allowed) => {
                // A person may have changed the call: the grant is for what they made of it.
                let hash = match (&allowed.edited_args, calls.get(effect)) {
                    (Some(args), Some(call)) => {
                        let edited = ToolCall { args: args.clone(), ..(*call).clone() };
                        asked.insert(effect, digest_json(&edited));
                        Some(digest_json(&edited))
                    }
                    (_, call) => call.map(digest_json),
                };
                // An unsandboxed call, and one that labels block, have their own question.
                let words = ["approve", "approve_bare", "approve_labels"];
                let asked_once = words.iter().any(|word| {
                    answered.contains(&format!("q{}.{}.{word}", effect.cause, effect.index))
                });
                let asked = asked.get(effect) == Some(&allowed.args_hash) && asked_once;
                let stands = for_good.contains(&allowed.by);
                let fits = hash.as_ref() == Some(&allowed.args_hash) && (asked || stands);
                ensure(fits, || format!("permission for {effect} that nobody gave for it"))?;
                if let Some((_, good)) = allowed.by.split_once(", always: ") {
                    for_good.insert(format!("always: {good}"));
                }
                opened |= allowed.releases.is_some();
                given.insert(effect);
            }
            EntryKind::EffectFinished(finished) => held |= finished.labels == Labels::ALL,
            EntryKind::EffectStarted(_) => {
                let spec = calls.get(effect).and_then(|call| history.frame().tool(&call.tool));
                let asks = spec.is_some_and(|spec| spec.handling.approval == Approval::Ask);
                let allowed = !(asks || held && !opened) || given.contains(effect);
                ensure(allowed, || format!("{effect} began without permission"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// If a later owner decides that a probeable call happened or may be repeated, the journal has a
/// probe with that result.
fn probes_are_on_record(entries: &[Entry]) -> Result<(), String> {
    let mut probeable = BTreeSet::new();
    let (mut begun, mut found) = (BTreeMap::new(), BTreeMap::new());
    for entry in entries {
        let Some(effect) = &entry.effect else { continue };
        let taken_over = begun.get(effect).is_some_and(|epoch| *epoch < entry.epoch);
        let rests_on = match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall {
                class: EffectClass::Probeable,
                ..
            })) => {
                probeable.insert(effect);
                continue;
            }
            EntryKind::EffectStarted(_) => {
                begun.insert(effect, entry.epoch);
                continue;
            }
            EntryKind::EffectProbed(probed) => {
                found.insert(effect, probed.found);
                continue;
            }
            EntryKind::EffectAttemptFailed(_) => ProbeFinding::DidNot,
            EntryKind::EffectFinished(finished) => match &finished.outcome {
                Outcome::Observed(seen) if is_claim(seen) => ProbeFinding::Happened,
                _ => continue,
            },
            _ => continue,
        };
        let fits = found.get(effect) == Some(&rests_on);
        ensure(!taken_over || !probeable.contains(effect) || fits, || {
            format!("{effect} is said to be {rests_on:?}, and no probe in the journal says so")
        })?;
    }
    Ok(())
}

/// No dangerous effect happens twice or without its durable intent, and none is claimed that never
/// happened.
fn acts_fit_journal(entries: &[Entry], acts: &[WorldChange]) -> Result<(), String> {
    let key = |effect: &EffectId| digest_bytes(effect.to_string().as_bytes());
    let mut classes = BTreeMap::new();
    let mut intents = BTreeMap::new();
    for entry in entries {
        let Some(effect) = &entry.effect else { continue };
        match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallTool(PlannedToolCall {
                class,
                call,
                ..
            })) => {
                classes.insert(key(effect), (*class, call.tool.clone()));
            }
            EntryKind::EffectStarted(_) => *intents.entry(key(effect)).or_insert(0) += 1,
            EntryKind::EffectFinished(finished) => {
                let Some((class, tool)) = classes.get(&key(effect)) else { continue };
                let claimed =
                    matches!(&finished.outcome, Outcome::Observed(seen) if is_claim(seen));
                let done = acts.iter().any(|act| act.key == key(effect));
                ensure(!claimed || !class.needs_intent() || done, || {
                    format!("{tool} {effect} is said to be done and never was")
                })?;
            }
            _ => {}
        }
    }
    for act in acts {
        let Some((class, tool)) = classes.get(&act.key) else {
            return Err(format!("{act:?} was never planned"));
        };
        let times = acts.iter().filter(|other| other.key == act.key).count();
        let twice = class.needs_intent() && times > 1;
        ensure(!twice, || format!("{tool} ({class:?}) happened {times} times: {act:?}"))?;
        let intent = !class.needs_intent() || intents.contains_key(&act.key);
        ensure(intent, || format!("{act:?} happened without its intent"))?;
        ensure(*class != EffectClass::Transactional, || format!("{act:?} is not an act"))?;
    }
    Ok(())
}

/// What a person reports is accepted as it is: it is not a claim of the runtime.
fn is_claim(seen: &Observation) -> bool {
    seen.is_ok() && !seen.text.contains("as the user says")
}

fn unknown_count(entries: &[Entry]) -> usize {
    let unknown = |entry: &&Entry| {
        matches!(&entry.kind, EntryKind::EffectFinished(finished)
            if matches!(&finished.outcome, Outcome::Observed(seen)
                if seen.ending == everloop_types::Ending::Unknown))
    };
    entries.iter().filter(unknown).count()
}

/// The newest snapshot and its tail give the same state as the whole journal.
async fn snapshot_agrees(watched: &ObservedRun<'_>, history: &History) -> Result<(), String> {
    let loaded =
        watched.store.journal().load(watched.run).await.map_err(|error| error.to_string())?;
    let Some(snapshot) = loaded.snapshot else { return Ok(()) };
    let whole = history.state_at(i64::MAX).map_err(|error| error.to_string())?;
    let frame = history.frame().clone();
    let name = watched.loop_name;
    let version = snapshot.loop_ver;
    let mut short = everloop_loops::AnyRun::restore(name, version, &snapshot.state, frame)?;
    loaded.entries.iter().for_each(|entry| short.apply(entry));
    ensure(short.state() == whole.state(), || "snapshot and journal disagree".to_owned())
}
