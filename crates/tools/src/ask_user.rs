//! `ask_user`: a question to the person. The run waits without holding a worker.

use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_types::{Approval, DataFlow, EffectClass, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `ask_user`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUserArgs {
    /// The question.
    pub question: String,
}

/// Asks the person.
#[derive(Debug)]
pub struct AskUser;

impl Tool for AskUser {
    const NAME: &'static str = "ask_user";
    type Args = AskUserArgs;

    fn description(&self) -> &'static str {
        "Ask the user what you cannot find out, and wait."
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 0,
            flow: Some(DataFlow::NOTHING),
            ..Handling::default()
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("question")
    }

    async fn call(&self, args: AskUserArgs, _context: &CallContext) -> ToolReturn {
        match args.question.trim() {
            "" => ToolReturn::Seen(Observation::error("question: is empty")),
            question => ToolReturn::Ask(question.to_owned()),
        }
    }
}
