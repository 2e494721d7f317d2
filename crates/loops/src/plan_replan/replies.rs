//! The contracts of the three phases, read strictly (PR-3 to PR-5, PR-8).

use crate::contract::{self, ContractFault, Salvage};
use everloop_types::{Contract, Reply, StopCause};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What a reply says.
#[derive(Debug, PartialEq)]
pub(super) enum PhaseReply {
    Plan(PlanReply),
    Thought(ThoughtReply),
    Replan(ReplanReply),
}

/// The reply to `phase: plan`.
#[derive(Debug, PartialEq)]
pub(super) enum PlanReply {
    Planned(Vec<String>),
    /// Nothing is to be planned: this is the answer.
    Done(String),
}

/// The reply to `phase: thought`.
#[derive(Debug, PartialEq)]
pub(super) enum ThoughtReply {
    Continue {
        tool: String,
        input: Value,
    },
    Done {
        response: Option<String>,
    },
    /// A missing question is not a broken contract: it is pointed out and the loop goes on (PR-9).
    AskUser {
        question: Option<String>,
    },
}

/// The reply to `phase: replan`.
#[derive(Debug, PartialEq)]
pub(super) enum ReplanReply {
    Replanned(Vec<ReplannedTask>),
    Done(String),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(expecting = "struct Task")] // The model reads this in an error.
pub(super) struct ReplannedTask {
    pub(super) task: String,
    pub(super) completed: bool,
}

/// Reads a reply strictly.
pub(super) fn read(contract: Contract, reply: &str) -> Result<PhaseReply, ContractFault> {
    read_object(contract, contract::object(reply)?)
}

/// Reads a reply that is broken in a way that leaves exactly one reading, and says how it was.
pub(super) fn salvage(contract: Contract, reply: &Reply) -> Option<(PhaseReply, Vec<Salvage>)> {
    if reply.stop == StopCause::Length {
        return None;
    }
    let (object, mut how) = match contract::object(&reply.text) {
        Ok(object) => (object, Vec::new()),
        Err(_) => (contract::object_in_prose(&reply.text)?, vec![Salvage::Prose]),
    };
    if let Ok(said) = read_object(contract, object.clone()) {
        return Some((said, how));
    }
    let Value::Object(mut fields) = object else { return None };
    how.push(mend(contract, &mut fields)?);
    let said = read_object(contract, Value::Object(fields)).ok()?;
    Some((said, how))
}

/// Mends the one thing that is wrong, where it is one of those that are known.
fn mend(contract: Contract, fields: &mut Map<String, Value>) -> Option<Salvage> {
    let status = fields.get("status")?.as_str()?;
    match (contract, status) {
        (Contract::Thought, "continue") => {
            let action = fields.get_mut("next_action")?.as_object_mut()?;
            if !action.contains_key("input") {
                let other = ["arguments", "args", "parameters"];
                let mut others = other.into_iter().filter(|name| action.contains_key(*name));
                let (only, None) = (others.next()?, others.next()) else { return None };
                let input = action.remove(only)?;
                action.insert("input".to_owned(), input);
                return Some(Salvage::Renamed);
            }
            let extra = ["question", "response"].map(|name| fields.remove(name));
            extra.iter().any(Option::is_some).then_some(Salvage::Superfluous)
        }
        (Contract::Plan, "planned") => {
            let plan = fields.get_mut("plan")?.as_array_mut()?;
            let tasks: Option<Vec<ReplannedTask>> =
                plan.iter().map(|task| ReplannedTask::deserialize(task).ok()).collect();
            let tasks = tasks.filter(|tasks| tasks.iter().all(|task| !task.completed))?;
            *plan = tasks.into_iter().map(|task| Value::from(task.task)).collect();
            Some(Salvage::Items)
        }
        // The source's own section 5 has a replan as a list of strings: none of it is completed.
        (Contract::Replan, "replanned") => {
            let plan = fields.get_mut("plan")?.as_array_mut()?;
            for task in plan.iter_mut() {
                let text = task.as_str()?.to_owned();
                *task = serde_json::json!({ "task": text, "completed": false });
            }
            Some(Salvage::Items)
        }
        _ => None,
    }
}

fn read_object(contract: Contract, object: Value) -> Result<PhaseReply, ContractFault> {
    match contract {
        Contract::Plan => read_plan(object).map(PhaseReply::Plan),
        Contract::Thought => read_thought(object).map(PhaseReply::Thought),
        Contract::Replan => read_replan(object).map(PhaseReply::Replan),
        Contract::Decision => unreachable!("no phase of this loop decides on a message"),
    }
}

fn fields<T: for<'a> Deserialize<'a>>(object: Value) -> Result<T, ContractFault> {
    serde_json::from_value(object)
        .map_err(|error| format!("the object breaks the contract: {error}"))
}

fn read_plan(object: Value) -> Result<PlanReply, ContractFault> {
    #[derive(Deserialize)]
    struct PlanFields {
        status: String,
        #[serde(default)]
        plan: Option<Vec<String>>,
        #[serde(default)]
        response: Option<String>,
    }
    let read: PlanFields = fields(object)?;
    match (read.status.as_str(), read.plan, filled(read.response)) {
        ("planned", None, _) => Err("status \"planned\" needs a plan".to_owned()),
        ("planned", Some(plan), _) => {
            if plan.is_empty() || plan.iter().any(|item| item.trim().is_empty()) {
                return Err("plan must have at least one item and no empty one".to_owned());
            }
            Ok(PlanReply::Planned(plan))
        }
        ("done", Some(plan), _) if !plan.is_empty() => {
            Err("status \"done\" must have no plan; \"planned\" has one".to_owned())
        }
        ("done", _, Some(response)) => Ok(PlanReply::Done(response)),
        ("done", _, None) => Err("status \"done\" needs a response that is not empty".to_owned()),
        (other, ..) => Err(format!("status must be planned or done, not {other:?}")),
    }
}

fn read_thought(object: Value) -> Result<ThoughtReply, ContractFault> {
    #[derive(Deserialize)]
    struct ThoughtFields {
        status: String,
        #[serde(default)]
        next_action: Option<Value>,
        #[serde(default)]
        question: Option<String>,
        #[serde(default)]
        response: Option<String>,
    }
    let read: ThoughtFields = fields(object)?;
    let (question, response) = (filled(read.question), filled(read.response));
    match read.status.as_str() {
        "continue" if question.is_some() || response.is_some() => {
            Err("status \"continue\" must have neither question nor response".to_owned())
        }
        "continue" => read_action(read.next_action.unwrap_or(Value::Null)),
        "done" if read.next_action.is_some() => {
            Err("status \"done\" must have next_action null".to_owned())
        }
        "done" => Ok(ThoughtReply::Done { response }),
        "ask_user" => Ok(ThoughtReply::AskUser { question }),
        other => Err(format!("status must be continue, done or ask_user, not {other:?}")),
    }
}

fn read_action(action: Value) -> Result<ThoughtReply, ContractFault> {
    const SHAPE: &str = "next_action must be {\"tool\":\"name\",\"input\":…}";
    let Value::Object(mut action) = action else { return Err(SHAPE.to_owned()) };
    let tool = match action.remove("tool") {
        Some(Value::String(tool)) if !tool.trim().is_empty() => tool,
        _ => return Err(format!("{SHAPE}; tool is missing or not a name")),
    };
    match action.remove("input") {
        Some(input @ (Value::String(_) | Value::Object(_))) => {
            Ok(ThoughtReply::Continue { tool, input })
        }
        _ => Err(format!("{SHAPE}; input must be an object or a string")),
    }
}

fn read_replan(object: Value) -> Result<ReplanReply, ContractFault> {
    #[derive(Deserialize)]
    struct ReplanFields {
        status: String,
        #[serde(default)]
        plan: Option<Vec<ReplannedTask>>,
        #[serde(default)]
        response: Option<String>,
    }
    let read: ReplanFields = fields(object)?;
    match (read.status.as_str(), read.plan, filled(read.response)) {
        ("done", _, Some(response)) => Ok(ReplanReply::Done(response)),
        ("done", _, None) => Err("status \"done\" needs a response that is not empty".to_owned()),
        ("replanned", Some(plan), _) => {
            if plan.iter().any(|task| task.task.trim().is_empty()) {
                return Err("a task must not be empty".to_owned());
            }
            if plan.iter().all(|task| task.completed) {
                return Err("status \"replanned\" needs at least one item that is not completed; \
                            if nothing is left, reply with status \"done\""
                    .to_owned());
            }
            Ok(ReplanReply::Replanned(plan))
        }
        ("replanned", None, _) => Err("status \"replanned\" needs a plan".to_owned()),
        (other, ..) => Err(format!("status must be replanned or done, not {other:?}")),
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
#[path = "salvage_tests.rs"]
mod tests;
