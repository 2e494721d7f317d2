//! The frame: all that a fold needs to rebuild prompts, frozen when the run is created.

use crate::{CarriedMessages, DataFlow, EffectClass, Lang, Limits, Policy, RunId, TaskSpec};
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
    /// The one call of a run of a fixed kind (loop `task`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskSpec>,
    /// What a decision may start; only runs that decide on a message have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Box<DecisionTerms>>,
    /// What is to be decided once the run has ended; only runs that a decision started have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<Box<FollowUpTerms>>,
    /// What is analyzed and where the report goes; only analyses have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Box<AnalysisTerms>>,
    /// What a program asked with that speaks to the assistant as to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Box<CallerTerms>>,
}

/// What a program asked with, besides the goal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerTerms {
    /// The name of the assistant as a model.
    pub model: String,
    /// How the assistant is to answer; empty for nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// The request that this one follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<RunId>,
}

/// The terms of a data analysis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisTerms {
    /// The name of the folder that holds its tables and results.
    pub session: String,
    /// The files that the person named.
    pub files: Vec<String>,
    /// What the person wants to know.
    pub question: String,
    /// The folder of the report; empty for `reports/` and the run's id in the workspace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub out: String,
    /// What of the data the model sees without asking: `schema`, `aggregates` or `samples`.
    pub share: String,
    /// What the run that it is a fork of called, so that its results can be made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<PastCall>,
}

/// The tools of an analysis whose results have names that reports refer to, and the one that loads.
pub const RESULT_TOOLS: [&str; 4] = ["read_dataset", "query_dataset", "make_chart", "run_code"];

/// A call of a run that another one goes on from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastCall {
    /// The tool.
    pub tool: String,
    /// Its arguments as JSON.
    pub args: String,
    /// Whether it ended well.
    pub is_ok: bool,
    /// What the model saw of it.
    pub seen: String,
}

/// The tool with which a decision starts a run. No model is ever offered it.
pub const START_RUN: &str = "start_run";

/// The terms of a decision, as the settings had them when its message came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionTerms {
    /// The types of run that may be started, in the order of the settings.
    pub run_types: Vec<RunTypeOffer>,
    /// How long the model may take in all for one reply.
    pub reply_within_ms: u64,
    /// How many follow-up decisions led to this one.
    #[serde(default)]
    pub depth: u32,
    /// The model that the person chose for what is started; that of the settings if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A type of run that a decision may start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTypeOffer {
    /// Its name.
    pub name: String,
    /// What it does and what its input is, for the model.
    pub about: String,
}

/// What is known of a run that a decision started, for the decision that follows its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUpTerms {
    /// The type of the run.
    pub run_type: String,
    /// What people call it.
    pub title: String,
    /// How many follow-up decisions came before the one that follows.
    pub depth: u32,
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
