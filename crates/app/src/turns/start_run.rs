//! `start_run`: the one call of a decision. No model is offered it; the loop plans it.
//!
//! ```text
//!   works somebody on it? ──yes──► which run
//!        └──no──► what the run is made of ──► it begins in the commit of the outcome
//! ```
//!
//! Conversation and folder are those of the decision, whatever the model wrote.

use super::context::TurnContext;
use super::decision;
use crate::app::App;
use crate::error::{AppError, RunError, chain};
use crate::facts;
use crate::frames::RunOptions;
use crate::run_types::{self, RunRequest, TITLE_CHARS_MAX};
use everloop_engine::{EndedTask, RunStart, Submission};
use everloop_ports::{CallContext, Tool, ToolReturn, erase};
use everloop_store::Store;
use everloop_types::{
    Approval, DataFlow, EffectClass, FollowUpTerms, Frame, Handling, Lang, Observation, OnUnknown,
    RunId, START_RUN, Taint, ToolSpec, Unattended, digest_bytes,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tracing::warn;

/// How long the call may take: it reads a few rows and files.
const TIMEOUT_MS: u64 = 30_000;

/// Fields of inputs that a decision does not fill in: they are its own.
const OWN_FIELDS: [&str; 2] = ["conversation_id", "workspace"];

/// What is needed to start runs for a decision.
#[derive(Clone)]
pub(crate) struct RunStarter {
    pub(crate) app: App,
    pub(crate) store: Store,
}

impl RunStarter {
    /// The decision that follows the end of a run. One that cannot be made is missed by nobody but
    /// the operator: the run has ended, and its message is there.
    pub(crate) async fn follow_up(&self, ended: EndedTask<'_>) -> Option<Submission> {
        match decision::follow_up(&self.app, &self.store, ended).await {
            Ok(submission) => submission,
            Err(error) => {
                let (conversation, turn) = (ended.conversation, ended.turn);
                warn!(%conversation, turn_id = %turn, error = %chain(&error), "no follow-up");
                None
            }
        }
    }
}

/// The tool, for one decision.
pub(crate) struct StartRun {
    /// None where the tool is only described.
    starter: Option<RunStarter>,
    workspace: PathBuf,
    lang: Lang,
    depth: u32,
    /// What becomes of questions, and what the decision held when it began: those of the message.
    unattended: Unattended,
    held: Taint,
    /// The model that the person chose for this message.
    model: Option<String>,
}

/// The arguments of `start_run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartRunArgs {
    /// The type of the run.
    r#type: String,
    /// What people call it.
    title: String,
    /// What it works on.
    input: Map<String, Value>,
}

/// The tool as frames have it.
pub(crate) fn spec() -> ToolSpec {
    let described = StartRun {
        starter: None,
        workspace: PathBuf::new(),
        lang: Lang::default(),
        depth: 0,
        model: None,
        unattended: Unattended::Wait,
        held: Taint::default(),
    };
    erase(described).spec().clone()
}

/// What a run works on, as a key: equal inputs have equal keys, in whatever order their fields are.
fn task_key(run_type: &str, input: &Map<String, Value>) -> String {
    let written = sorted(&Value::Object(input.clone())).to_string();
    digest_bytes(format!("{run_type}\n{written}").as_bytes())
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, one)| (name.clone(), sorted(one))).collect()
        }
        Value::Array(all) => all.iter().map(sorted).collect(),
        plain => plain.clone(),
    }
}

impl StartRun {
    /// The tool of a decision with this frame; none for any other run.
    pub(crate) fn of(starter: &RunStarter, frame: &Frame) -> Option<Self> {
        let terms = frame.decision.as_deref()?;
        let (workspace, lang) = (PathBuf::from(&frame.workspace), frame.language);
        let (depth, model) = (terms.depth, terms.model.clone());
        let (unattended, held) = (frame.policy.unattended, frame.policy.inherited.clone());
        let starter = Some(starter.clone());
        Some(Self { starter, workspace, lang, depth, unattended, held, model })
    }

    async fn start(&self, mut args: StartRunArgs, run: &RunId) -> Result<ToolReturn, AppError> {
        let Some(RunStarter { app, store }) = &self.starter else {
            return Ok(ToolReturn::Seen(Observation::error("no run can be started here")));
        };
        let Some(row) = store.runs().get(run).await? else {
            return Ok(ToolReturn::Seen(Observation::error("the decision is gone")));
        };
        let conversation = row.conversation;
        args.input.retain(|name, _| !OWN_FIELDS.contains(&name.as_str()));
        let task_key = task_key(&args.r#type, &args.input);
        if let Some(running) = store.runs().works_on(&conversation, &task_key).await? {
            let seen = json!({ "already_running": running }).to_string();
            return Ok(ToolReturn::Seen(Observation::ok(seen)));
        }
        let title: String = args.title.trim().chars().take(TITLE_CHARS_MAX).collect();
        let workspace = Some(self.workspace.clone());
        let request = RunRequest {
            run_type: args.r#type.clone(),
            title: Some(title).filter(|title| !title.is_empty()),
            input: Value::Object(args.input),
            conversation: Some(conversation.clone()),
            options: RunOptions { workspace, model: self.model.clone(), ..RunOptions::default() },
            ..RunRequest::default()
        };
        let mut submission = run_types::submission(app, store, &request).await?;
        let history = TurnContext::of_history(app, store, &conversation).await?;
        let frame = &mut submission.frame;
        frame.policy.inherited.join(&history.held);
        frame.policy.inherited.join(&self.held);
        frame.policy.unattended = self.unattended;
        if submission.profile.is_agent() {
            facts::brief(app, store, frame).await?;
            submission.goal.context += &history.told;
        }
        if self.depth < app.settings.agent.followup_depth {
            let (run_type, title) = (args.r#type, args.title);
            let terms = FollowUpTerms { run_type, title, depth: self.depth };
            frame.follow_up = Some(Box::new(terms));
        }
        Ok(ToolReturn::Start(Box::new(RunStart { submission, task_key })))
    }
}

impl Tool for StartRun {
    const NAME: &'static str = START_RUN;
    type Args = StartRunArgs;

    fn description(&self) -> &'static str {
        "Start a background run in this conversation."
    }

    /// Run and outcome are one transaction, so whether there is a run is never unknown.
    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: TIMEOUT_MS,
            flow: Some(DataFlow::NOTHING),
            ..Handling::default()
        }
    }

    async fn call(&self, args: StartRunArgs, context: &CallContext) -> ToolReturn {
        let Some(effect) = &context.effect else {
            return ToolReturn::Seen(Observation::error("only a run can start another"));
        };
        match self.start(args, &effect.run).await {
            Ok(done) => done,
            Err(AppError::Run(RunError::Type(error))) => {
                ToolReturn::Seen(Observation::error(error.text().in_lang(self.lang)))
            }
            Err(error) => ToolReturn::Seen(Observation::error(chain(&error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(run_type: &str, input: &Value) -> String {
        task_key(run_type, input.as_object().unwrap())
    }

    #[test]
    fn equal_tasks_have_equal_keys_in_whatever_order_they_are_written() {
        let one = key("agent", &json!({"goal": "x", "more": {"a": 1, "b": [2]}}));
        let other: Value =
            serde_json::from_str(r#"{"more": {"b": [2], "a": 1}, "goal": "x"}"#).unwrap();
        assert_eq!(one, key("agent", &other));
        assert_ne!(one, key("fetch_web", &other));
        assert_ne!(one, key("agent", &json!({"goal": "y"})));
    }

    #[test]
    fn the_calls_of_the_loop_fit_the_tool() {
        let args = json!({"type": "agent", "title": "t", "input": {"goal": "x"}}).to_string();
        assert!(everloop_types::check_args(&spec(), &args).is_ok());
    }
}
