//! The crash sweep: every scenario of every loop, disturbed at every point.
//!
//! The numbers that are printed are those of docs/evidence.md; run with `--no-capture` to see them.

use everloop_loops::LOOPS;
use everloop_testkit::{
    Scenario, SweepReport, families, scenarios, sweep_cancels, sweep_crashes, sweep_double_crashes,
    sweep_living_owners, sweep_lost_replies, sweep_messages, sweep_stale_owners, sweep_switches,
    sweep_takeovers, tasks,
};

async fn all<F>(what: &str, least: usize, sweep: impl Fn(Scenario) -> F)
where
    F: Future<Output = Result<SweepReport, String>>,
{
    let all = scenarios().into_iter().chain(families()).chain(tasks());
    sweep_all(what, least, all, sweep).await;
}

async fn sweep_all<F>(
    what: &str,
    least: usize,
    all: impl Iterator<Item = Scenario>,
    sweep: impl Fn(Scenario) -> F,
) where
    F: Future<Output = Result<SweepReport, String>>,
{
    let mut total = SweepReport::default();
    for scenario in all {
        total.add(sweep(scenario).await.unwrap_or_else(|broken| panic!("{broken}")));
    }
    println!("{what}: {} points, {} ended unsettled, 0 violations", total.points, total.unsettled);
    assert!(total.points >= least, "only {} points were swept", total.points);
}

#[tokio::test(start_paused = true)]
async fn row_02_a_crash_at_any_point_loses_nothing_and_repeats_nothing() {
    all("crashes", 400, async |scenario| sweep_crashes(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn row_02_a_second_crash_during_recovery_changes_nothing() {
    all("double crashes", 4_000, async |scenario| sweep_double_crashes(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn row_19_a_cancel_at_any_point_ends_the_run_once() {
    all("cancels", 400, async |scenario| sweep_cancels(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_reply_is_lost_is_read_back_and_not_repeated() {
    all("lost replies", 100, async |scenario| sweep_lost_replies(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn row_10_an_owner_that_wakes_after_a_takeover_can_do_nothing() {
    all("stale owners", 200, async |scenario| sweep_stale_owners(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn row_12_an_owner_that_wakes_between_a_claim_and_its_first_entry_can_do_nothing() {
    all("takeovers", 150, async |scenario| sweep_takeovers(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn row_17_a_letter_at_any_point_is_read_and_no_run_waits_with_unread_mail() {
    all("letters", 400, async |scenario| sweep_messages(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_lives_inside_a_call_is_reckoned_with() {
    all("living owners", 150, async |scenario| sweep_living_owners(&scenario).await).await;
}

#[tokio::test(start_paused = true)]
async fn a_switch_to_another_loop_survives_a_crash_at_any_point_and_never_leaves_two_at_work() {
    // A task goes on under no other loop.
    let played = scenarios().into_iter().chain(families());
    sweep_all("switches", 3_000, played, async |scenario| sweep_switches(&scenario).await).await;
}

/// The sweeps, the random kills and the simulator play these: a new loop cannot be forgotten.
#[test]
fn every_loop_has_its_scenarios() {
    let mut played: Vec<&str> = scenarios().iter().map(|scenario| scenario.loop_name).collect();
    played.sort_unstable();
    played.dedup();
    let mut all = LOOPS.to_vec();
    all.sort_unstable();
    assert_eq!(played, all);
    for name in LOOPS {
        let errand = everloop_testkit::errand(name, "strike", "anvil");
        assert_eq!((errand.loop_name, heirs(name)), (name, LOOPS.len()));
    }
}

/// How many loops take over until it is this one's turn again.
fn heirs(name: &str) -> usize {
    let mut heir = everloop_testkit::heir_of(name);
    let mut count = 1;
    while heir != name && count <= LOOPS.len() {
        heir = everloop_testkit::heir_of(heir);
        count += 1;
    }
    count
}
