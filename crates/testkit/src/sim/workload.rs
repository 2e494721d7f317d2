//! What the simulated runs are about: scripts that mix every class of effect with questions, so
//! that cancels, answers and parking meet on one run.

use super::chance::Chance;
use crate::scenario::{Scenario, scenarios};
use everloop_models::Scripted;
use serde_json::json;

const ACTS: &[&str] = &["look", "strike", "launch", "mail", "put", "post"];

/// A story of this seed's own, or one of those that the sweeps play.
pub(super) fn scenario(chance: &mut Chance) -> Scenario {
    if chance.one_in(3) {
        return chance.pick(&scenarios()).clone();
    }
    let steps = chance.between(1, 4);
    let mut script: Vec<Scripted> = (0..steps).map(|step| reply(chance, step)).collect();
    script.push(Scripted::says("that was all"));
    Scenario::react("made up", script)
}

fn reply(chance: &mut Chance, step: u64) -> Scripted {
    if chance.one_in(4) {
        let question = format!("question {step}?");
        return Scripted::calls("ask_user", json!({ "question": question }));
    }
    let mut reply = Scripted::calls(*chance.pick(ACTS), json!({"what": format!("thing {step}")}));
    for more in 0..chance.below(3) {
        let what = format!("thing {step}.{more}");
        reply = reply.and_calls(*chance.pick(ACTS), json!({ "what": what }));
    }
    reply
}
