//! The two tools that the model is forced to call, and what it may say with them (PET-2, PET-6).

use super::refs;
use crate::contract::Broken;
use everloop_types::{
    EffectClass, Frame, Handling, Reply, RoundLimits, ToolCall, ToolSpec, check_args,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) const PLAN: &str = "plan_tool_call";
pub(super) const THINK: &str = "think";
/// Steps of a round, whatever the settings say.
const STEPS_MAX: u32 = 8;

/// A tool of this loop. None of them is ever performed.
pub(crate) fn own(name: &str) -> Option<ToolSpec> {
    let (description, schema) = match name {
        PLAN => {
            ("Plans the steps of this round. They are run in order, without you.", plan_schema())
        }
        THINK => ("Looks at what the round has brought, and tells the user.", think_schema()),
        _ => return None,
    };
    Some(ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        text_arg: None,
        handling: Handling { class: EffectClass::Pure, ..Handling::default() },
    })
}

fn plan_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "steps": {"type": "array", "minItems": 1, "maxItems": STEPS_MAX, "items": {
                "type": "object",
                "properties": {
                    "tool": {"type": "string"},
                    "arguments": {"type": "object"},
                    "independent": {"type": "boolean"},
                },
                "required": ["tool", "arguments"],
                "additionalProperties": false,
            }},
            "reasoning": {"type": "string"},
            "estimated_steps": {"type": "integer"},
        },
        "required": ["steps", "reasoning"],
        "additionalProperties": false,
    })
}

fn think_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "internal_analysis": {"type": "string"},
            "user_summary": {"type": "string", "minLength": 1},
            "task_completed": {"type": "boolean"},
            "next_steps_preview": {"type": "string"},
        },
        "required": ["user_summary", "task_completed"],
        "additionalProperties": false,
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct Planned {
    pub(super) steps: Vec<Wanted>,
    pub(super) reasoning: String,
}

/// One step as the model wants it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) tool: String,
    pub(super) arguments: Value,
    #[serde(default)]
    pub(super) independent: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Thought {
    pub(super) user_summary: String,
    pub(super) task_completed: bool,
}

/// The one call that the model was forced to make.
fn forced<'r>(reply: &'r Reply, tool: &str) -> Result<&'r ToolCall, Broken> {
    match reply.calls.as_slice() {
        [call] if call.tool == tool => Ok(call),
        [] => Err(format!("`{tool}` has to be called; words alone are not read")),
        [other] => {
            let name: String = other.tool.chars().take(64).collect();
            Err(format!("only `{tool}` can be called in this phase, not {name:?}"))
        }
        many => Err(format!("`{tool}` has to be called once, not {} times", many.len())),
    }
}

fn read<T: for<'a> Deserialize<'a>>(reply: &Reply, tool: &str) -> Result<T, Broken> {
    let call = forced(reply, tool)?;
    let Some(spec) = own(tool) else { return Err(format!("there is no {tool}")) };
    let args = check_args(&spec, &call.args)?;
    serde_json::from_value(args).map_err(|error| error.to_string())
}

pub(super) fn read_plan(reply: &Reply, frame: &Frame) -> Result<Planned, Broken> {
    let plan: Planned = read(reply, PLAN)?;
    let most = steps_most(frame.limits.steps.rounds);
    if plan.steps.len() > most as usize {
        return Err(format!("steps: must be at most {most} items, not {}", plan.steps.len()));
    }
    let wrong = plan.steps.iter().enumerate().filter_map(|(place, step)| {
        let wrong = fits(step, place, frame).err()?;
        Some(format!("steps[{place}]: {wrong}"))
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(plan) } else { Err(wrong.join("; ")) }
}

pub(super) fn steps_most(limits: RoundLimits) -> u32 {
    limits.steps_most.clamp(1, STEPS_MAX)
}

/// Whether a step can be run, as far as can be said before the steps that it refers to.
fn fits(step: &Wanted, place: usize, frame: &Frame) -> Result<(), Broken> {
    let Some(spec) = frame.tool(&step.tool) else {
        let known: Vec<&str> = frame.tools.iter().map(|tool| tool.name.as_str()).collect();
        let name: String = step.tool.chars().take(64).collect();
        return Err(format!(
            "there is no tool called {name:?}; the tools are: {}",
            known.join(", ")
        ));
    };
    refs::check(&step.arguments, place)?;
    // What an argument with a reference will be is not known yet.
    let mut spec = spec.clone();
    let properties = spec.schema.get_mut("properties").and_then(Value::as_object_mut);
    if let (Some(properties), Some(args)) = (properties, step.arguments.as_object()) {
        for (name, _) in args.iter().filter(|(_, value)| refs::has(value)) {
            if let Some(schema) = properties.get_mut(name) {
                *schema = Value::Bool(true);
            }
        }
    }
    check_args(&spec, &step.arguments.to_string())
        .map(drop)
        .map_err(|wrong| format!("the arguments of {} do not fit ({wrong})", step.tool))
}

pub(super) fn read_thought(reply: &Reply) -> Result<Thought, Broken> {
    let thought: Thought = read(reply, THINK)?;
    match thought.user_summary.trim() {
        "" => Err("user_summary: must not be empty".to_owned()),
        _ => Ok(thought),
    }
}
