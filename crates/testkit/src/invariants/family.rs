//! A run and all runs below it: records, messages and endings agree, within one budget.

use super::{ObservedRun, acts_fit_journal, ensure, holds_always, read};
use crate::testbed::tree;
use everloop_engine::History;
use everloop_store::Store;
use everloop_types::journal::{EffectPlanned, Entry, EntryKind, InboxMessage, Input};
use everloop_types::{RunId, Status};
use std::collections::BTreeSet;

/// One run of a family.
pub(super) struct FamilyMember {
    pub(super) run: RunId,
    pub(super) history: History,
    pub(super) status: Status,
}

/// Reads the run and all below it, the run first, and checks what must hold at any moment.
pub(super) async fn members(watched: &ObservedRun<'_>) -> Result<Vec<FamilyMember>, String> {
    let runs = tree(watched.store, watched.run).await.map_err(|error| error.to_string())?;
    let mut members = Vec::new();
    for run in runs {
        let row = watched.store.runs().get(&run).await.map_err(|error| error.to_string())?;
        let loop_name = row.ok_or("no row")?.loop_name;
        let one = ObservedRun { run: &run, loop_name: &loop_name, ..*watched };
        let (history, status) = read(&one).await?;
        holds_always(&one, &history, status).await.map_err(|why| match run == *watched.run {
            true => why,
            false => format!("{run}: {why}"),
        })?;
        members.push(FamilyMember { run, history, status });
    }
    let all: Vec<Entry> = members.iter().flat_map(|one| one.history.entries.clone()).collect();
    acts_fit_journal(&all, &watched.world.acts())?;
    for member in &members {
        children_are_on_record(watched.store, member).await?;
        ends_are_told(watched.store, member, &members).await?;
        within_one_budget(member, &members)?;
    }
    Ok(members)
}

/// A child exists if and only if its parent's journal says so.
async fn children_are_on_record(store: &Store, parent: &FamilyMember) -> Result<(), String> {
    let there = store.runs().children(&parent.run).await.map_err(|error| error.to_string())?;
    let there: BTreeSet<RunId> = there.into_iter().map(|child| child.run).collect();
    let said = parent.history.entries.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Delegated(delegated) => Some(delegated.to.clone()),
        _ => None,
    });
    let said: BTreeSet<RunId> = said.collect();
    let parent = &parent.run;
    ensure(said == there, || format!("{parent} says it has {said:?}, and there are {there:?}"))
}

/// A run that has ended has sent its result to its parent, and a cancel to its children.
async fn ends_are_told(
    store: &Store,
    member: &FamilyMember,
    all: &[FamilyMember],
) -> Result<(), String> {
    let of = |other: &&FamilyMember| parent_of(other) == Some(&member.run);
    for child in all.iter().filter(of) {
        let heard = inbox_messages(store, member).await?;
        let heard = heard.iter().any(|message| match message {
            InboxMessage::Child(ended) => ended.child == child.run,
            _ => false,
        });
        let (over, done) = (member.status.is_final(), child.status.is_final());
        ensure(!heard || done, || format!("{} is said to be over and is not", child.run))?;
        // The result of a quarantined run is sent a moment later.
        let silent = child.status == Status::Quarantined;
        ensure(heard || over || !done || silent, || {
            format!("nobody was told that {} is over", child.run)
        })?;
        let told = inbox_messages(store, child).await?;
        let told = told.iter().any(|message| matches!(message, InboxMessage::Cancel { .. }));
        ensure(told || !over || done, || format!("{} works for a run that is over", child.run))?;
    }
    Ok(())
}

/// The inbox messages of a run, taken and not taken.
async fn inbox_messages(store: &Store, member: &FamilyMember) -> Result<Vec<InboxMessage>, String> {
    let unread = store.inbox().unread(&member.run).await.map_err(|error| error.to_string())?;
    let taken = member.history.entries.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Input(Input { message, .. }) => Some(message.clone()),
        _ => None,
    });
    Ok(taken.chain(unread.messages.into_iter().map(|(_, message)| message)).collect())
}

/// All runs of a tree together make no more model calls than its first run may, without the calls
/// for final messages.
fn within_one_budget(member: &FamilyMember, all: &[FamilyMember]) -> Result<(), String> {
    let most = member.history.frame().limits.budget.model_calls;
    let below = |other: &FamilyMember| {
        let mut at = Some(other);
        while let Some(one) = at {
            if one.run == member.run {
                return true;
            }
            at = all.iter().find(|above| parent_of(one) == Some(&above.run));
        }
        false
    };
    let planned = |entry: &&Entry| {
        matches!(entry.kind, EntryKind::EffectPlanned(EffectPlanned::CallModel(_)))
    };
    let calls = |one: &FamilyMember| one.history.entries.iter().filter(planned).count();
    let calls: usize = all.iter().filter(|one| below(one)).map(calls).sum();
    let within = most == 0 || calls <= most as usize + 1;
    ensure(within, || format!("{} and those below made {calls} calls of {most}", member.run))
}

fn parent_of(member: &FamilyMember) -> Option<&RunId> {
    member.history.entries.iter().find_map(|entry| match &entry.kind {
        EntryKind::Spawned(spawned) => Some(&spawned.by.run),
        _ => None,
    })
}
