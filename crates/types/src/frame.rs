//! The frame: all that a fold needs to rebuild prompts, frozen when the run is created.

use crate::{CarriedMessages, DataFlow, EffectClass, Lang, Limits, Policy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything about a run that never changes. Stored once per content, shared by runs that agree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The system parts, rendered: identity, tool principles, safety rules, `AGENTS.md`.
    pub system: String,
    /// The tools this run may use, in a fixed order.
    pub tools: Vec<ToolSpec>,
    /// What bounds the run.
    pub limits: Limits,
    /// What it may do without asking.
    pub policy: Policy,
    /// The model that answers.
    pub model: ModelChoice,
    /// The language of the host's own words.
    pub language: Lang,
    /// IANA name.
    pub time_zone: String,
    /// The folder that file tools and shell are confined to.
    pub workspace: String,
    /// What an earlier run knew, for a fork.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: CarriedMessages,
    /// The mark without which an answer is not taken for the last one (TD-4); empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub completion_mark: String,
}

/// The mark with which a model ends an analysis. No user ever sees it.
pub const COMPLETION_MARK: &str = "[ANALYSIS_COMPLETE]";

impl Frame {
    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The mark that is taken out of whatever a user is shown.
    #[must_use]
    pub fn mark(&self) -> &str {
        match self.completion_mark.as_str() {
            "" => COMPLETION_MARK,
            own => own,
        }
    }
}

/// Which model answers, and how it is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelChoice {
    /// `provider/model`.
    pub name: String,
    /// Sampling temperature in thousandths, so that equal frames have equal bytes.
    pub temperature_milli: u32,
    /// Most tokens of one reply.
    pub max_tokens: u32,
    /// Who is asked when this one refuses, or stays out of reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// The machine that was asked when the run began; empty if none was, and in older frames. What
    /// a run has read goes to no other one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
}

/// A second model. Which one an attempt goes to follows from the attempts that failed before it,
/// so the journal says who has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// `provider/model`.
    pub name: String,
    /// How many failed attempts of one call there are before it is asked. A refusal of the first
    /// model counts as that many.
    pub after_attempts: u32,
    /// The machine that it is on, as for the first one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
}

impl ModelChoice {
    /// The fallback, if it is the one to ask after so many failed attempts.
    #[must_use]
    pub fn fallback_after(&self, failed_attempts: u32) -> Option<&Fallback> {
        self.fallback.as_ref().filter(|fallback| failed_attempts >= fallback.after_attempts)
    }

    /// Who is asked after so many failed attempts of the same call.
    #[must_use]
    pub fn after(&self, failed_attempts: u32) -> Self {
        match self.fallback_after(failed_attempts) {
            Some(Fallback { name, host, .. }) => {
                let (name, host) = (name.clone(), host.clone());
                Self { name, host, fallback: None, ..self.clone() }
            }
            None => self.clone(),
        }
    }
}

/// A tool as the model and the runtime know it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name that the model calls.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
    /// The argument that takes a plain string where a loop has no structured arguments (PR-15).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_arg: Option<String>,
    /// How the runtime treats it.
    pub handling: Handling,
}

/// How the runtime treats a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handling {
    /// What a crash means for it.
    pub class: EffectClass,
    /// Whether a person is asked first.
    pub approval: Approval,
    /// What an unknown outcome means.
    pub on_unknown: OnUnknown,
    /// How long one attempt may take; 0 for tools that wait for a person.
    pub timeout_ms: u64,
    /// How long it may take to stop after a cancel.
    pub grace_ms: u64,
    /// How long a key is honoured by the other side (keyed tools only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_lifetime_ms: Option<u64>,
    /// The argument that names the resource it acts on; without one, tool and arguments are the
    /// resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_arg: Option<String>,
    /// Attempts after the first, for errors that may pass and acted on nothing.
    #[serde(default)]
    pub retries: u32,
    /// Whether calling it again and again is its purpose (RA-8).
    #[serde(default)]
    pub polls: bool,
    /// What it brings into a run and can take out; a tool that does not say may do anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<DataFlow>,
}

/// Whether a person is asked before a tool runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Never.
    Allow,
    /// Every time.
    #[default]
    Ask,
    /// It may not run at all.
    Deny,
}

/// What an unknown outcome of a tool means for the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnUnknown {
    /// The model reads that it is unknown, and inspects before it continues.
    TellModel,
    /// A person says what happened.
    #[default]
    AskUser,
}
