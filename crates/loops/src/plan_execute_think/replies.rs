//! The two tools that the model is forced to call, and what it may say with them (PET-2, PET-6).

use super::refs;
use crate::contract::ContractFault;
use everloop_types::{
    EffectClass, Frame, Handling, Reply, RoundLimits, ToolCall, ToolSpec, check_args,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) const PLAN: &str = "plan_tool_call";
pub(crate) const THINK: &str = "think";
/// How the complaint about too many steps begins.
pub(super) const TOO_MANY: &str = "steps: at most";
/// Steps of a round, whatever the settings say.
const STEPS_MAX: u32 = 8;

/// A tool of this loop. None of them is ever performed.
pub(crate) fn own(name: &str, frame: &Frame) -> Option<ToolSpec> {
    let (description, schema) = match name {
        PLAN => (
            "Plans the steps of this round. They are run in order, without you.",
            plan_schema(frame),
        ),
        THINK => ("Looks at what the round has brought, and tells the user.", think_schema()),
        _ => return None,
    };
    Some(spec(name, description, schema))
}

fn spec(name: &str, description: &str, schema: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        text_arg: None,
        handling: Handling { class: EffectClass::Pure, ..Handling::default() },
    }
}

/// A plan of any tools, however many steps it has.
fn any_plan() -> ToolSpec {
    let mut schema = plan_schema(&Frame::default());
    if let Some(fields) = schema["properties"]["steps"].as_object_mut() {
        fields.remove("maxItems");
    }
    spec(PLAN, "", schema)
}

fn plan_schema(frame: &Frame) -> Value {
    let names: Vec<&str> = frame.tools.iter().map(|tool| tool.name.as_str()).collect();
    let tool = match names.is_empty() {
        true => json!({"type": "string"}),
        false => json!({"type": "string", "enum": names}),
    };
    json!({
        "type": "object",
        "properties": {
            "steps": {"type": "array", "minItems": 1, "maxItems": steps_most(frame.limits.steps.rounds), "items": {
                "type": "object",
                "properties": {
                    "tool": tool,
                    "arguments": {"type": "object"},
                    "independent": {"type": "boolean"},
                },
                "required": ["tool", "arguments"],
                "additionalProperties": false,
            }},
            "reasoning": {"type": "string"},
            "estimated_steps": {"type": "integer"},
        },
        "required": ["reasoning", "steps"],
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
        "required": ["task_completed", "user_summary"],
        "additionalProperties": false,
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct RoundPlan {
    pub(super) steps: Vec<WantedStep>,
    pub(super) reasoning: String,
}

/// One step as the model wants it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WantedStep {
    pub(super) tool: String,
    pub(super) arguments: Value,
    #[serde(default)]
    pub(super) independent: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct RoundThought {
    pub(super) user_summary: String,
    pub(super) task_completed: bool,
}

/// The one call that the model was forced to make.
fn forced<'r>(reply: &'r Reply, tool: &str) -> Result<&'r ToolCall, ContractFault> {
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

fn read<T: for<'a> Deserialize<'a>>(args: &str, spec: &ToolSpec) -> Result<T, ContractFault> {
    let args = check_args(spec, args)?;
    serde_json::from_value(args).map_err(|error| error.to_string())
}

/// Which tools there are, how many steps may be planned and which arguments fit is said here, step
/// by step; the schema that the model is held to says the same in one word.
pub(super) fn read_plan(reply: &Reply, frame: &Frame) -> Result<RoundPlan, ContractFault> {
    let call = forced(reply, PLAN)?;
    let args = with_arguments(&call.args);
    let count = args.as_ref().and_then(|args| args["steps"].as_array()).map_or(0, Vec::len);
    let most = steps_most(frame.limits.steps.rounds);
    if count > most as usize {
        return Err(format!("{TOO_MANY} {most} steps may be planned a round, not {count}"));
    }
    let text = args.map_or_else(|| call.args.clone(), |args| args.to_string());
    let plan: RoundPlan = read(&text, &any_plan())?;
    let wrong = plan.steps.iter().enumerate().filter_map(|(place, step)| {
        let wrong = fits(step, place, frame).err()?;
        Some(format!("steps[{place}]: {wrong}"))
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(plan) } else { Err(wrong.join("; ")) }
}

/// The arguments with `arguments` in each step: the source has `args` as well.
fn with_arguments(args: &str) -> Option<Value> {
    let mut args: Value = serde_json::from_str(args).ok()?;
    for step in args.get_mut("steps")?.as_array_mut()? {
        if let Some(step) = step.as_object_mut()
            && !step.contains_key("arguments")
            && let Some(same) = step.remove("args")
        {
            step.insert("arguments".to_owned(), same);
        }
    }
    Some(args)
}

pub(super) fn steps_most(limits: RoundLimits) -> u32 {
    limits.steps_most.clamp(1, STEPS_MAX)
}

/// Whether a step can be run, as far as can be said before the steps that it refers to.
fn fits(step: &WantedStep, place: usize, frame: &Frame) -> Result<(), ContractFault> {
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

pub(super) fn read_thought(reply: &Reply) -> Result<RoundThought, ContractFault> {
    let call = forced(reply, THINK)?;
    let thought: RoundThought = read(&call.args, &spec(THINK, "", think_schema()))?;
    match thought.user_summary.trim() {
        "" => Err("user_summary: must not be empty".to_owned()),
        _ => Ok(thought),
    }
}
