//! The same work under every loop: batches of calls, then an answer.

use super::{Scenario, asks, goal_done, item_done, lists_one, marks_one, plan, says, thinks};
use everloop_loops::LOOPS;
use everloop_models::Scripted;
use serde_json::{Value, json};

/// One call: a tool and its arguments.
pub(crate) type Wanted = (&'static str, Value);

/// Calls `tool` on `what` once, and says that it is done.
#[must_use]
pub fn errand(loop_name: &'static str, tool: &'static str, what: &str) -> Scenario {
    worked(loop_name, "an errand", &[vec![(tool, json!({ "what": what }))]])
}

/// Makes these calls, batch by batch, and says that it is done. A new loop has to say how it does
/// so.
///
/// # Panics
/// If there is no such loop.
pub(crate) fn worked(
    loop_name: &'static str,
    name: &'static str,
    batches: &[Vec<Wanted>],
) -> Scenario {
    let calls = batches.iter().map(|batch| called(batch));
    let done = || Scripted::says("done");
    let script: Vec<Scripted> = match loop_name {
        "plan-replan" => {
            let acts = batches.iter().flatten().flat_map(acted);
            let ends = [item_done("did it"), goal_done("done")];
            [plan(&["do it"])].into_iter().chain(acts).chain(ends).collect()
        }
        "react" => calls.chain([done()]).collect(),
        "plan-execute-think" => {
            let last = batches.len().saturating_sub(1);
            let round =
                |(n, batch): (usize, &Vec<Wanted>)| [stepped(batch), thinks("done", n == last)];
            batches.iter().enumerate().flat_map(round).collect()
        }
        "tool-driven" | "task-driven" => {
            let ends = [marks_one("completed"), done()];
            [lists_one()].into_iter().chain(calls).chain(ends).collect()
        }
        "staged" | "hybrid" => {
            let ends = [Scripted::says("did it"), done()];
            [lists_one()].into_iter().chain(calls).chain(ends).collect()
        }
        "autonomous" => {
            let end = Scripted::says("<final>done</final>");
            batches.iter().map(|batch| tagged(batch)).chain([end]).collect()
        }
        other => panic!("what would {other} do?"),
    };
    Scenario::new(name, loop_name, script)
}

fn called(batch: &[Wanted]) -> Scripted {
    let one = |reply: Scripted, (tool, args): &Wanted| reply.and_calls(*tool, args.clone());
    batch.iter().fold(Scripted::default(), one)
}

/// One action, or a question after which the plan is looked at again.
fn acted((tool, args): &Wanted) -> Vec<Scripted> {
    if *tool == "ask_user" {
        let again = json!([{"task": "do it", "completed": false}]);
        let question = args["question"].as_str().unwrap_or_default();
        return vec![asks(question), says(json!({"status": "replanned", "plan": again}))];
    }
    vec![says(json!({"status": "continue", "current_step": "act", "question": null,
        "response": null, "next_action": {"tool": tool, "input": args}}))]
}

fn stepped(batch: &[Wanted]) -> Scripted {
    let step = |(tool, args): &Wanted| json!({"tool": tool, "arguments": args});
    let steps: Vec<Value> = batch.iter().map(step).collect();
    Scripted::calls("plan_tool_call", json!({"steps": steps, "reasoning": "as asked"}))
}

fn tagged(batch: &[Wanted]) -> Scripted {
    let tag = |(tool, args): &Wanted| format!("<tool name=\"{tool}\">{args}</tool>");
    Scripted::says(format!("<think>hm</think>{}", batch.iter().map(tag).collect::<String>()))
}

/// The loop that takes over from another one in the sweeps: the next, so that each has its turn.
#[must_use]
pub fn heir_of(loop_name: &str) -> &'static str {
    let place = LOOPS.iter().position(|known| *known == loop_name).unwrap_or(0);
    LOOPS[(place + 1) % LOOPS.len()]
}
