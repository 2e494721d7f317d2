//! The same work under every loop: batches of calls, then an answer.

use super::Scenario;
use everloop_loops::replies::SampleTask;
use everloop_loops::{LOOPS, LoopSpec};
use everloop_models::ScriptedReply;
use everloop_types::{Reply, ToolCall};
use serde_json::{Value, json};

/// One call: a tool and its arguments.
pub(crate) type ErrandCall = (&'static str, Value);

/// Calls `tool` on `what` once, and says that it is done.
#[must_use]
pub fn errand(loop_name: &'static str, tool: &'static str, what: &str) -> Scenario {
    worked(loop_name, "an errand", &[vec![(tool, json!({ "what": what }))]])
}

/// Makes these calls, batch by batch, and says that it is done, in the form of the loop's sample.
///
/// # Panics
/// If there is no such loop.
pub(crate) fn worked(
    loop_name: &'static str,
    name: &'static str,
    batches: &[Vec<ErrandCall>],
) -> Scenario {
    let spec = LoopSpec::named(loop_name).expect("a loop of that name");
    let used = |(tool, args): &ErrandCall| ((*tool).to_owned(), args.clone());
    let batches = batches.iter().map(|batch| batch.iter().map(used).collect()).collect();
    let task = SampleTask::single("do it", batches, "done");
    let script = (spec.sample)(&task).into_iter().map(scripted).collect();
    Scenario::new(name, loop_name, script)
}

fn scripted(reply: Reply) -> ScriptedReply {
    let args = |call: &ToolCall| serde_json::from_str(&call.args).unwrap_or_default();
    let add = |said: ScriptedReply, call: &ToolCall| said.and_calls(call.tool.clone(), args(call));
    reply.calls.iter().fold(ScriptedReply::says(reply.text), add)
}

/// The loop that takes over from another one in the sweeps: the next, so that each gets a turn.
#[must_use]
pub fn heir_of(loop_name: &str) -> &'static str {
    let place = LOOPS.iter().position(|known| *known == loop_name).unwrap_or(0);
    LOOPS[(place + 1) % LOOPS.len()]
}
