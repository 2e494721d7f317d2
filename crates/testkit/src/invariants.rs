//! What must hold after any crash, cancel or lost reply.

use crate::stage::Stage;
use crate::world::Act;
use everloop_engine::{History, Verdict};
use everloop_types::journal::{EffectPlanned, Entry, Kind, Outcome};
use everloop_types::{EffectClass, EffectId, Observation, Status, digest_bytes};
use std::collections::BTreeMap;

/// How a run ended, for comparing a disturbed one with an undisturbed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The status.
    pub status: Status,
    /// The last words.
    pub text: String,
    /// How many effects have an unknown outcome.
    pub unknowns: usize,
}

/// Checks the whole invariant set on a finished run and returns how it ended.
///
/// # Errors
/// The first invariant that does not hold, in words.
pub async fn check(stage: &Stage) -> Result<Ending, String> {
    let history = History::read(&stage.store, &stage.run).await;
    let history = history.map_err(|error| format!("unreadable: {error}"))?.ok_or("no run")?;
    let row = stage.store.run(&stage.run).await.map_err(|error| error.to_string())?;
    let row = row.ok_or("no row")?;
    let violations = stage.store.violations();
    ensure(violations == 0, || format!("{violations} rows were kept out by a unique index"))?;
    gap_free(&history.entries)?;
    one_outcome_each(&history.entries)?;
    one_ending(&history.entries, row.status)?;
    one_final_message(stage).await?;
    acts_fit_journal(&history.entries, &stage.world.acts())?;
    let unknowns = unknown_count(&history.entries);
    ensure(row.status != Status::Succeeded || unknowns == 0, || {
        "plain success over an unknown".to_owned()
    })?;
    fold_agrees(stage, &history).await?;
    match history.verify() {
        Verdict::Verified { .. } => {}
        other => return Err(format!("replay does not verify: {other:?}")),
    }
    let text = history.final_text().unwrap_or_default().to_owned();
    Ok(Ending { status: row.status, text, unknowns })
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn gap_free(entries: &[Entry]) -> Result<(), String> {
    let gap = (1..).zip(entries).find(|(seq, entry)| entry.seq != *seq);
    ensure(gap.is_none(), || format!("gap in the journal: {gap:?}"))
}

fn one_outcome_each(entries: &[Entry]) -> Result<(), String> {
    let mut outcomes: BTreeMap<&EffectId, (u32, u32)> = BTreeMap::new();
    for entry in entries {
        let Some(effect) = &entry.effect else { continue };
        let counts = outcomes.entry(effect).or_default();
        match &entry.kind {
            Kind::EffectPlanned(_) => counts.0 += 1,
            Kind::EffectFinished(_) => counts.1 += 1,
            _ => {}
        }
    }
    let odd = outcomes.iter().find(|(_, counts)| **counts != (1, 1));
    ensure(odd.is_none(), || format!("planned and finished counts: {odd:?}"))
}

fn one_ending(entries: &[Entry], status: Status) -> Result<(), String> {
    let endings: Vec<&Entry> =
        entries.iter().filter(|entry| matches!(entry.kind, Kind::RunFinished(_))).collect();
    let [ending] = endings.as_slice() else {
        return Err(format!("{} endings", endings.len()));
    };
    ensure(ending.seq == entries.len() as i64, || "something follows the ending".to_owned())?;
    let said = match &ending.kind {
        Kind::RunFinished(finished) => finished.status,
        _ => unreachable!("filtered above"),
    };
    ensure(said == status, || format!("journal says {said}, row says {status}"))
}

async fn one_final_message(stage: &Stage) -> Result<(), String> {
    let messages = stage.store.messages(&stage.run).await.map_err(|error| error.to_string())?;
    let last: Vec<_> = messages.iter().filter(|message| message.slot == "final").collect();
    ensure(last.len() == 1, || format!("{} final messages", last.len()))?;
    ensure(!last[0].body.trim().is_empty(), || "the final message is empty".to_owned())
}

/// No dangerous effect twice, none without its durable intent, and no claim of one that never was.
fn acts_fit_journal(entries: &[Entry], acts: &[Act]) -> Result<(), String> {
    let key = |effect: &EffectId| digest_bytes(effect.to_string().as_bytes());
    let mut classes = BTreeMap::new();
    let mut intents = BTreeMap::new();
    for entry in entries {
        let Some(effect) = &entry.effect else { continue };
        match &entry.kind {
            Kind::EffectPlanned(EffectPlanned::CallTool { class, call, .. }) => {
                classes.insert(key(effect), (*class, call.tool.clone()));
            }
            Kind::EffectStarted(_) => *intents.entry(key(effect)).or_insert(0) += 1,
            Kind::EffectFinished(finished) => {
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

/// A person who settles is believed: their word is no claim of the runtime.
fn is_claim(seen: &Observation) -> bool {
    seen.is_ok() && !seen.text.contains("as the user says")
}

fn unknown_count(entries: &[Entry]) -> usize {
    let unknown = |entry: &&Entry| {
        matches!(&entry.kind, Kind::EffectFinished(finished)
            if matches!(&finished.outcome, Outcome::Observed(seen)
                if seen.ending == everloop_types::Ending::Unknown))
    };
    entries.iter().filter(unknown).count()
}

/// The newest snapshot and its tail give the same state as the whole journal.
async fn fold_agrees(stage: &Stage, history: &History) -> Result<(), String> {
    let whole = history.state_at(i64::MAX).map_err(|error| error.to_string())?;
    let loaded = stage.store.load(&stage.run).await.map_err(|error| error.to_string())?;
    let Some(snapshot) = loaded.snapshot else { return Ok(()) };
    let frame = history.frame().clone();
    let name = stage.scenario.loop_name;
    let mut short = everloop_loops::AnyRun::restore(name, &snapshot.state, frame)?;
    loaded.entries.iter().for_each(|entry| short.apply(entry));
    ensure(short.state() == whole.state(), || "snapshot and journal disagree".to_owned())
}
