//! Planted bugs: each is switched on, and the sweeps must find it and say what broke.
//!
//! A sweep that passes proves little until it is known to fail. With no bug the same sweeps pass.

use everloop_testkit::{
    Scenario, SweepReport, families, scenarios, sweep_cancels, sweep_crashes, sweep_double_crashes,
    sweep_living_owners, sweep_lost_replies, sweep_messages, sweep_stale_owners, sweep_takeovers,
};
use everloop_types::planted::{Bug, plant};
use tokio::sync::{Mutex, MutexGuard};

/// Between them they act, wait, ask and take snapshots; `sweep.rs` has all the others.
const SCENARIOS: [&str; 6] = [
    "one dangerous act",
    "every class in one batch",
    "asks a person",
    "needs permission twice",
    "a child acts",
    "a child asks and needs permission",
];

/// The one that also gets two crashes in a row, which are many.
const TWICE: &str = "one dangerous act";

/// Bugs are switched on for the whole process: one at a time.
static FIELD: Mutex<()> = Mutex::const_new(());

/// Switches the bug off again, however the test ends.
struct Planted {
    _alone: MutexGuard<'static, ()>,
}

impl Planted {
    async fn with(bug: Option<Bug>) -> Self {
        let alone = FIELD.lock().await;
        plant(bug);
        Self { _alone: alone }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        plant(None);
    }
}

const SWEEPS: usize = 8;

async fn sweep(scenario: &Scenario, which: usize) -> Result<SweepReport, String> {
    match which {
        0 => sweep_crashes(scenario).await,
        1 => sweep_cancels(scenario).await,
        2 => sweep_lost_replies(scenario).await,
        3 => sweep_stale_owners(scenario).await,
        4 => sweep_takeovers(scenario).await,
        5 => sweep_messages(scenario).await,
        6 => sweep_living_owners(scenario).await,
        _ if scenario.name == TWICE => sweep_double_crashes(scenario).await,
        _ => Ok(SweepReport::default()),
    }
}

fn chosen() -> impl Iterator<Item = (Scenario, usize)> {
    let all = scenarios().into_iter().chain(families());
    let scenarios = all.filter(|one| SCENARIOS.contains(&one.name));
    scenarios.flat_map(|one| (0..SWEEPS).map(move |which| (one.clone(), which)))
}

/// The sweeps find the bug: what one of them says names what broke.
async fn is_found(bug: Bug, named: &str) {
    let _planted = Planted::with(Some(bug)).await;
    let mut said = Vec::new();
    for (scenario, which) in chosen() {
        match sweep(&scenario, which).await {
            Err(words) if words.contains(named) => return println!("{bug:?}: {words}"),
            Err(words) => said.push(words),
            Ok(_) => {}
        }
    }
    panic!("{bug:?}: no sweep says {named:?}; they said {said:#?}");
}

#[tokio::test(start_paused = true)]
async fn without_a_bug_nothing_is_found() {
    let _planted = Planted::with(None).await;
    let mut total = SweepReport::default();
    for (scenario, which) in chosen() {
        total.add(sweep(&scenario, which).await.unwrap_or_else(|broken| panic!("{broken}")));
    }
    println!("{} points, 0 violations", total.points);
}

#[tokio::test(start_paused = true)]
async fn an_intent_that_is_written_after_the_effect_is_found() {
    is_found(Bug::IntentAfterEffect, "happened without its intent").await;
}

#[tokio::test(start_paused = true)]
async fn an_append_without_the_fence_of_the_epoch_is_found() {
    is_found(Bug::EpochFenceRemoved, "the stale owner wrote or acted after the takeover").await;
}

#[tokio::test(start_paused = true)]
async fn a_second_outcome_is_found() {
    is_found(Bug::OutcomeNotUnique, "kept out by the index journal_outcome").await;
}

#[tokio::test(start_paused = true)]
async fn a_naive_look_into_the_inbox_is_found() {
    is_found(Bug::NaiveInboxCheck, "waiting with unread mail").await;
}

#[tokio::test(start_paused = true)]
async fn a_recovery_that_repeats_a_dangerous_call_is_found() {
    is_found(Bug::DangerousRepeated, "strike (Dangerous) happened 2 times").await;
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_ahead_of_the_journal_is_found() {
    is_found(Bug::SnapshotAhead, "snapshot and journal disagree").await;
}

#[tokio::test(start_paused = true)]
async fn a_final_message_in_a_second_transaction_is_found() {
    is_found(Bug::FinalMessageLater, "0 final messages while succeeded").await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_counted_twice_is_found() {
    is_found(Bug::BudgetCountedTwice, "the budget counts 2 model").await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_that_is_hidden_in_a_plain_success_is_found() {
    is_found(Bug::UnknownHidden, "plain success over an unknown").await;
}

#[tokio::test(start_paused = true)]
async fn an_act_long_after_its_intent_is_found() {
    is_found(Bug::StartWindowUnchecked, "the stale owner wrote or acted after the takeover").await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_that_is_not_read_back_is_found() {
    is_found(Bug::LostReplyNotReadBack, "lost the lease").await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_is_forgotten_is_found() {
    is_found(Bug::CancelForgotten, "a cancel was taken, and the run ended as").await;
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_is_taken_for_other_arguments_is_found() {
    is_found(Bug::ApprovalForOtherArguments, "that nobody gave for it").await;
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_not_written_down_is_found() {
    is_found(Bug::ProbeNotJournaled, "no probe in the journal says so").await;
}

#[tokio::test(start_paused = true)]
async fn an_heir_that_forgets_a_living_owner_is_found() {
    is_found(Bug::LivingOwnerForgotten, "(Probeable) happened 2 times").await;
}

#[tokio::test(start_paused = true)]
async fn a_child_that_is_made_outside_of_its_parents_transaction_is_found() {
    is_found(Bug::ChildOutsideTransaction, "and there are").await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_leaves_a_child_at_work_is_found() {
    is_found(Bug::CancelNotCascaded, "works for a run that is over").await;
}
