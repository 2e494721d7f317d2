//! `ask_user`: a question to the person. The run waits without holding a worker.

use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_types::{Approval, DataFlow, EffectClass, Handling, Observation, OnUnknown, one_line};
use schemars::JsonSchema;
use serde::Deserialize;

/// Answers to choose from: one digit each.
const CHOICES_MAX: usize = 9;

/// The arguments of `ask_user`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUserArgs {
    /// The question.
    pub question: String,
    /// Answers to offer.
    #[serde(default)]
    pub choices: Option<Vec<String>>,
}

impl AskUserArgs {
    /// The question, and below it the answers to choose from, by number.
    fn words(&self) -> String {
        let mut words = self.question.trim().to_owned();
        let choices = self.choices.iter().flatten().map(|choice| one_line(choice.trim()));
        let choices = choices.filter(|choice| !choice.is_empty()).take(CHOICES_MAX);
        for (number, choice) in choices.enumerate() {
            words.push_str(&format!("\n{}. {choice}", number + 1));
        }
        words
    }
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
            _ => ToolReturn::Ask(args.words()),
        }
    }
}
