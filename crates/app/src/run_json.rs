//! Runs as JSON objects with fixed fields, for scripts and the API.

use crate::app::App;
use crate::runs::RunDetails;
use crate::show::timestamp;
use crate::trouble::{ModelTrouble, final_words};
use everloop_engine::OpenUnknown;
use everloop_store::{ForkOrigin, OutboxCount, Relative, RunRow};
use everloop_types::journal::WaitingOn;
use everloop_types::{Lang, Status, Taint};
use serde_json::{Value, json};

pub(crate) fn result(details: &RunDetails) -> Value {
    let usage = details.counts.usage;
    let is_whole = details.history.is_whole();
    let mut result = json!({
        "status": details.row.status,
        "run_id": details.row.run,
        "loop": details.row.loop_name,
        "text": details.text(),
        "success": details.row.status == Status::Succeeded,
        "message": details.text(),
        "steps": is_whole.then_some(details.counts.steps),
        "model_calls": details.counts.model_calls,
        "tool_calls": details.counts.tool_calls,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
        },
        "duration_ms": details.duration_ms(),
        "model": details.history.frame().model.name,
        "workspace": details.history.frame().workspace,
        "would_ask": details.history.frame().tools_that_ask(),
        "needs_person": needs_person(details),
    });
    if let Some(WaitingOn::Person { question }) = &details.waiting_on {
        result["question"] =
            json!({"id": question.id, "kind": question.kind, "text": question.text});
        if let Some(request) = &question.request {
            result["approval"] = json!({"question": question.id, "request": request});
        }
    }
    if let Some(round) = details.progress.round.filter(|_| is_whole) {
        result["rounds"] = json!(details.counts.steps);
        result["steps"] = json!(round.steps_run);
    }
    if let Some(cost) = &details.cost {
        result["cost"] = json!({"amount": cost.amount, "currency": cost.currency});
    }
    result
}

/// The object that a command prints about a run that it followed.
#[must_use]
pub fn printed_result(app: &App, details: &RunDetails, lang: Lang) -> Value {
    let trouble = ModelTrouble::of_run(app, details);
    let mut printed = result(details);
    // An apology of the loop says less than the error.
    if let Some(trouble) =
        trouble.as_ref().filter(|_| final_words(details, trouble.as_ref()).is_none())
    {
        printed["text"] = json!(null);
        printed["message"] = json!(trouble.message(lang));
    }
    printed["error"] = json!(trouble.map(|trouble| trouble.report(lang)));
    printed
}

/// The tool whose call waits for a person; none if the run needs nobody.
fn needs_person(details: &RunDetails) -> Vec<&str> {
    let Some(WaitingOn::Person { question }) = &details.waiting_on else { return Vec::new() };
    let tool = question.request.as_ref().map(|request| request.tool.as_str());
    vec![tool.unwrap_or("ask_user")]
}

pub(crate) fn whole(details: &RunDetails) -> Value {
    let mut whole = row(&details.row);
    let result = result(details);
    for key in ["text", "steps", "model_calls", "tool_calls", "usage", "cost", "duration_ms"] {
        whole[key] = result[key].clone();
    }
    if let Some(rounds) = result.get("rounds") {
        whole["rounds"] = rounds.clone();
    }
    whole["plan"] = json!(details.progress.items);
    whole["reason"] = json!(details.reason());
    whole["unknowns"] = details.unknowns.iter().map(unknown).collect();
    whole["settled_since"] = json!(details.is_settled_since());
    whole["waiting_for"] = json!(details.waiting_on);
    whole["events"] = json!(details.row.lease.next_seq.saturating_sub(1));
    let fork = |fork: &ForkOrigin| json!({"run_id": fork.run, "at": fork.at_seq});
    let OutboxCount { sent, waiting } = details.messages;
    whole["messages"] = json!({"sent": sent, "waiting": waiting});
    whole["forks"] = details.forks.iter().map(fork).collect();
    whole["retries"] = json!(details.retries);
    whole["wakes_at"] = json!(details.row.times.wake_at.map(timestamp));
    whole["labels"] = labels(&details.history.holding());
    for key in ["needs_person", "would_ask", "workspace", "model"] {
        whole[key] = result[key].clone();
    }
    whole
}

/// The object of one run in a list.
#[must_use]
pub fn row(row: &RunRow) -> Value {
    json!({
        "run_id": row.run,
        "status": row.status,
        "loop": row.loop_name,
        "goal": row.goal,
        "created_at": timestamp(row.times.created_at),
        "updated_at": timestamp(row.times.updated_at),
        "note": row.note,
        "forked_from": row.origin.forked.as_ref().map(|origin| &origin.run),
        "parent": row.origin.parent,
        "imported": row.origin.imported,
        "run_type": row.profile.run_type,
        "title": row.profile.title,
        "retry_of": row.profile.retry_of,
        "conversation_id": row.conversation,
        "forked_at": row.origin.forked.as_ref().map(|origin| origin.at_seq),
    })
}

/// A run with all that were ever below it, from the rows of [`runs::tree`](crate::runs::tree).
#[must_use]
pub fn tree(rows: &[(usize, RunRow)]) -> Value {
    nested(rows, 0)
}

/// The run at a place of the rows of a tree, with its children in it.
fn nested(rows: &[(usize, RunRow)], at: usize) -> Value {
    let Some((depth, run)) = rows.get(at) else { return Value::Null };
    let below = (at + 1..rows.len()).take_while(|place| rows[*place].0 > *depth);
    let children = below.filter(|place| rows[*place].0 == depth + 1);
    let mut object = row(run);
    object["children"] = json!(children.map(|place| nested(rows, place)).collect::<Vec<_>>());
    object
}

/// A child of a run.
#[must_use]
pub fn child(child: &Relative) -> Value {
    json!({"run_id": child.run, "status": child.status, "goal": child.goal})
}

/// A call whose outcome the journal does not know.
#[must_use]
pub fn unknown(open: &OpenUnknown) -> Value {
    let settled = open
        .settled
        .as_ref()
        .map(|one| json!({"verdict": one.settled, "by": one.by, "at": timestamp(one.at)}));
    json!({
        "effect": open.effect.place(),
        "tool": open.call.tool,
        "arguments": open.call.args,
        "resource": open.resource,
        "at": timestamp(open.at),
        "asked": open.question.is_some(),
        "settled": settled,
    })
}

fn labels(taint: &Taint) -> Value {
    let [privacy, trust] = taint.labels().names();
    json!({"privacy": privacy, "trust": trust, "private": taint.private,
           "untrusted": taint.untrusted, "released": taint.released})
}
