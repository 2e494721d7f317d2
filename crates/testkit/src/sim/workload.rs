//! The scripts of the simulated runs: they mix every class of effect with questions, so that
//! cancels, answers and parking meet on one run, under every loop.

use super::random::SimRandom;
use crate::scenario::{Scenario, families, scenarios, worked};
use everloop_loops::LOOPS;
use serde_json::{Value, json};

const ACTS: &[&str] = &["look", "strike", "launch", "mail", "put", "post"];

/// A scenario made from this seed, or one of those that the sweeps play.
pub(super) fn scenario(chance: &mut SimRandom) -> Scenario {
    if chance.one_in(3) {
        // Those with children twice: more can meet there.
        return chance.pick(&[scenarios(), families(), families()].concat()).clone();
    }
    let steps = chance.between(1, 4);
    let batches: Vec<Vec<(&str, Value)>> = (0..steps).map(|step| batch(chance, step)).collect();
    let loop_name: &'static str = chance.pick::<&'static str>(&LOOPS);
    worked(loop_name, "made up", &batches)
}

fn batch(chance: &mut SimRandom, step: u64) -> Vec<(&'static str, Value)> {
    if chance.one_in(4) {
        let question = format!("question {step}?");
        return vec![("ask_user", json!({ "question": question }))];
    }
    let mut batch = vec![(*chance.pick(ACTS), json!({"what": format!("thing {step}")}))];
    for more in 0..chance.below(3) {
        let what = format!("thing {step}.{more}");
        batch.push((*chance.pick(ACTS), json!({ "what": what })));
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A new loop cannot be forgotten.
    #[test]
    fn every_loop_is_simulated() {
        let stories = (0..1_000).map(|seed| scenario(&mut SimRandom::new(seed)));
        let made_up = stories.filter(|story| story.name == "made up");
        let seen: BTreeSet<&str> = made_up.map(|story| story.loop_name).collect();
        assert_eq!(seen, BTreeSet::from(LOOPS));
    }
}
