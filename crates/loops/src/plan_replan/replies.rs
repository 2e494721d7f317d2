//! The contracts of the three phases, read strictly (PR-3 to PR-5, PR-8).

use crate::contract::{self, Broken};
use serde::Deserialize;
use serde_json::Value;

/// The reply to `phase: thought`.
#[derive(Debug, PartialEq)]
pub(super) enum Thought {
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
pub(super) enum Replan {
    Replanned(Vec<Task>),
    Done(String),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Task {
    pub(super) task: String,
    pub(super) completed: bool,
}

pub(super) fn read_plan(reply: &str) -> Result<Vec<String>, Broken> {
    #[derive(Deserialize)]
    struct Contract {
        status: String,
        plan: Vec<String>,
    }
    let read: Contract = contract::read(reply)?;
    if read.status != "planned" {
        return Err(format!("status must be \"planned\", not {:?}", read.status));
    }
    if read.plan.is_empty() || read.plan.iter().any(|item| item.trim().is_empty()) {
        return Err("plan must have at least one item and no empty one".to_owned());
    }
    Ok(read.plan)
}

pub(super) fn read_thought(reply: &str) -> Result<Thought, Broken> {
    #[derive(Deserialize)]
    struct Contract {
        status: String,
        #[serde(default)]
        next_action: Option<Value>,
        #[serde(default)]
        question: Option<String>,
        #[serde(default)]
        response: Option<String>,
    }
    let read: Contract = contract::read(reply)?;
    let (question, response) = (filled(read.question), filled(read.response));
    match read.status.as_str() {
        "continue" if question.is_some() || response.is_some() => {
            Err("status \"continue\" must have neither question nor response".to_owned())
        }
        "continue" => read_action(read.next_action.unwrap_or(Value::Null)),
        "done" if read.next_action.is_some() => {
            Err("status \"done\" must have next_action null".to_owned())
        }
        "done" => Ok(Thought::Done { response }),
        "ask_user" => Ok(Thought::AskUser { question }),
        other => Err(format!("status must be continue, done or ask_user, not {other:?}")),
    }
}

fn read_action(action: Value) -> Result<Thought, Broken> {
    const SHAPE: &str = "next_action must be {\"tool\":\"name\",\"input\":…}";
    let Value::Object(mut action) = action else { return Err(SHAPE.to_owned()) };
    let tool = match action.remove("tool") {
        Some(Value::String(tool)) if !tool.trim().is_empty() => tool,
        _ => return Err(format!("{SHAPE}; tool is missing or not a name")),
    };
    match action.remove("input") {
        Some(input @ (Value::String(_) | Value::Object(_))) => {
            Ok(Thought::Continue { tool, input })
        }
        _ => Err(format!("{SHAPE}; input must be an object or a string")),
    }
}

pub(super) fn read_replan(reply: &str) -> Result<Replan, Broken> {
    #[derive(Deserialize)]
    struct Contract {
        status: String,
        #[serde(default)]
        plan: Option<Vec<Task>>,
        #[serde(default)]
        response: Option<String>,
    }
    let read: Contract = contract::read(reply)?;
    match (read.status.as_str(), read.plan, filled(read.response)) {
        ("done", _, Some(response)) => Ok(Replan::Done(response)),
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
            Ok(Replan::Replanned(plan))
        }
        ("replanned", None, _) => Err("status \"replanned\" needs a plan".to_owned()),
        (other, ..) => Err(format!("status must be replanned or done, not {other:?}")),
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}
