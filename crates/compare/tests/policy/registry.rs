//! A loop that is added to the registry has a script for the tour and a dialect for the policies.

use crate::play::play;
use crate::world::{World, frame};
use everloop_compare::policy::{Flaw, PolicyRules};
use everloop_loops::replies::{PLAN_ROUND, SampleTask};
use everloop_loops::{LoopSpec, ReplyForm};
use everloop_types::{Reply, Status};
use serde_json::{Value, json};

/// The form of a run's replies, by the first of them that is not a plain sentence.
fn form_of(replies: &[Reply]) -> Option<ReplyForm> {
    replies.iter().find_map(|reply| {
        if let Some(call) = reply.calls.first() {
            let is_round = call.tool == PLAN_ROUND;
            return Some(if is_round { ReplyForm::Rounds } else { ReplyForm::NativeCalls });
        }
        if reply.text.contains("<tool name=") {
            return Some(ReplyForm::Tags);
        }
        let is_object = serde_json::from_str::<Value>(&reply.text).is_ok_and(|it| it.is_object());
        is_object.then_some(ReplyForm::JsonObjects)
    })
}

/// The tour plays the sample of each loop.
#[test]
fn every_loop_of_the_registry_has_a_tour_script_in_its_reply_form() {
    let read = ("read_file".to_owned(), json!({"path": "poem.txt"}));
    let task = SampleTask::single("Read poem.txt", vec![vec![read]], "Two lines.");
    for spec in LoopSpec::all() {
        let script = (spec.sample)(&task);
        assert_eq!(form_of(&script), Some(spec.reply_form), "{}: {script:?}", spec.name);
    }
}

/// A prompt that no dialect recognizes is answered in plain words, which match no reply form.
#[test]
fn every_loop_of_the_registry_has_a_dialect_of_the_policies() {
    let world = World::with(&[("a.txt", "red and blue\n")]);
    let competent = PolicyRules { flaw: Flaw::None, seed: 1 };
    for spec in LoopSpec::all() {
        let played = play(spec.name, "Copy a.txt to b.txt.", world.clone(), competent, frame());
        let replies: Vec<Reply> = played.asked.iter().map(|(_, reply)| reply.clone()).collect();
        assert_eq!(form_of(&replies), Some(spec.reply_form), "{}\n{}", spec.name, played.told());
        assert_eq!(played.status, Status::Succeeded, "{}\n{}", spec.name, played.told());
        assert_eq!(played.world.file("b.txt"), Some("red and blue\n"), "{}", spec.name);
    }
}
