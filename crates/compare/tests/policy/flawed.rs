//! Flawed policies: every loop still ends within its limits and with a message.

use crate::play::{Played, play};
use crate::world::{World, frame};
use everloop_compare::policy::{Flaw, PolicyRules};
use everloop_loops::LOOPS;
use everloop_types::Status;

const SEEDS: u64 = 50;
const GOAL: &str = "Copy a.txt to b.txt. Run \"append log.txt tick\". Ask the user \"Why?\". Write \
                    the result to why.txt. Count the lines of a.txt. Say the result.";

fn played(name: &str, flaw: Flaw, seed: u64) -> Played {
    let mut world = World::with(&[("a.txt", "one\ntwo\n")]);
    world.answers.insert("Why?".to_owned(), "because".to_owned());
    let played = play(name, GOAL, world, PolicyRules { flaw, seed }, frame());
    let told = || format!("{name} {flaw:?} {seed}\n{}", played.told());
    assert!(!played.words.trim().is_empty(), "{}", told());
    assert!(played.status.is_final(), "{}", told());
    // Twenty steps, each with its retries, and a final message: no run is endless.
    assert!(played.asked.len() <= 65, "{} model calls: {}", played.asked.len(), told());
    played
}

fn is_solved(played: &Played) -> bool {
    played.status == Status::Succeeded
        && played.world.file("b.txt") == Some("one\ntwo\n")
        && played.world.file("log.txt") == Some("tick\n")
        && played.world.file("why.txt") == Some("because")
        && played.words.contains("The result is 2.")
}

fn solved(flaw: Flaw) -> Vec<(&'static str, usize)> {
    let count = |name: &'static str| {
        (name, (0..SEEDS).filter(|seed| is_solved(&played(name, flaw, *seed))).count())
    };
    LOOPS.map(count).to_vec()
}

#[test]
fn broken_forms_end_in_words_and_are_often_mended() {
    let solved = solved(Flaw::Format);
    assert!(solved.iter().any(|(_, times)| *times >= 25), "{solved:?}");
    assert!(solved.iter().any(|(_, times)| *times < 50), "{solved:?}");
}

#[test]
fn a_policy_that_forgets_ends_in_words() {
    let solved = solved(Flaw::Forgets);
    assert!(solved.iter().any(|(_, times)| *times < 25), "{solved:?}");
    assert!(solved.iter().any(|(_, times)| *times == 50), "{solved:?}");
}

const LONG: &str = "Run \"append log.txt tick\". Count the lines of log.txt. Write the result to \
                    one.txt. Run \"append log.txt tock\". Count the lines of log.txt. Write the \
                    result to two.txt. Run \"append log.txt tuck\". Say the result.";

fn played_long(name: &str, flaw: Flaw, seed: u64) -> Played {
    play(name, LONG, World::with(&[("a.txt", "one")]), PolicyRules { flaw, seed }, frame())
}

/// Work that is no longer shown is repeated, unless the loop guides it item by item.
#[test]
fn a_policy_that_forgets_does_work_again() {
    let log = |name: &str, flaw| {
        played_long(name, flaw, 1).world.file("log.txt").expect("a log").to_owned()
    };
    let once = "tick\ntock\ntuck\n";
    assert_eq!(log("plan-execute-think", Flaw::None), once);
    assert!(log("plan-execute-think", Flaw::Forgets).matches("tick").count() > 1);
    assert_eq!(log("staged", Flaw::Forgets), once);
}

#[test]
fn a_policy_that_repeats_ends_in_words_and_does_things_twice() {
    let solved = solved(Flaw::Repeats);
    assert!(solved.iter().all(|(_, times)| *times < 50), "{solved:?}");
    let twice = |seed| {
        let played = played("react", Flaw::Repeats, seed);
        played.world.count("shell") > 1 || played.world.count("write_file") > 2
    };
    assert!((0..SEEDS).any(twice));
}

#[test]
fn a_policy_that_claims_too_early_is_found_out_by_the_world() {
    let claimed = (0..SEEDS)
        .map(|seed| played("react", Flaw::Repeats, seed))
        .filter(|played| played.status == Status::Succeeded && played.words.contains("Everything"));
    let missing = claimed.filter(|played| played.world.file("why.txt").is_none());
    assert!(missing.count() > 0);
}

#[test]
fn about_every_third_reply_is_broken() {
    let (mut all, mut broken) = (0, 0);
    for seed in 0..SEEDS {
        let played = played("plan-replan", Flaw::Format, seed);
        for (asked, reply) in &played.asked {
            all += 1;
            broken += u32::from(asked.reply(PolicyRules { flaw: Flaw::None, seed }) != *reply);
        }
    }
    assert!((all / 4..=all * 2 / 5).contains(&broken), "{broken} of {all}");
}

/// The prompts of all tasks end the same way under a loop: a draw from only the end of a prompt
/// would give the same result for all tasks.
#[test]
fn each_task_draws_its_own_mistakes_at_the_same_place_of_a_loop() {
    for seed in 0..8 {
        let second_plan_is_wrong = |task: usize| {
            let file = format!("file-{task}.txt");
            let world = World::with(&[(&file, "old words")]);
            let goal = format!("Replace \"old\" by \"new\" in {file}.");
            let rules = PolicyRules { flaw: Flaw::Repeats, seed };
            let played = play("plan-execute-think", &goal, world, rules, frame());
            let is_wrong = |at: usize| {
                let (asked, reply) = played.asked.get(at)?;
                Some(asked.reply(PolicyRules { flaw: Flaw::None, seed }) != *reply)
            };
            // Earlier failures would make the prompts differ anyway.
            is_wrong(2).filter(|_| is_wrong(0) == Some(false) && is_wrong(1) == Some(false))
        };
        let wrong: Vec<bool> = (0..30).filter_map(second_plan_is_wrong).collect();
        let count = wrong.iter().filter(|wrong| **wrong).count();
        assert!(count > 0 && count < wrong.len(), "seed {seed}: {count} of {}", wrong.len());
    }
}

#[test]
fn with_another_seed_a_policy_forgets_something_else() {
    for name in ["react", "plan-replan", "tool-driven"] {
        let calls = |seed| played_long(name, Flaw::Forgets, seed).world.count("shell");
        let first = calls(0);
        assert!((1..SEEDS).any(|seed| calls(seed) != first), "{name}: always {first} commands");
    }
}
