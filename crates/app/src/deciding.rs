//! Decisions tried out: what would become of a message. Nothing is started and nothing is written.
//!
//! ```text
//!   message, running tasks ──► the loop itself, with the configured model ──► DecisionTrial
//!   labelled messages ──► evaluate ──► EvaluationReport
//! ```

mod cases;
mod report;

pub use cases::{CaseError, DecisionCase, read_cases, shipped_cases};
pub use report::{CountRight, EvaluationReport, WrongCase, evaluate};

use crate::app::App;
use crate::error::AppError;
use crate::frames;
use crate::turns::{decision_frame, task_line};
use everloop_engine::{Clock, SystemClock};
use everloop_loops::{
    AnyRun, DECISION_LOOP, Decision, DecisionKind, DecisionReply, output_schema, read_decision,
};
use everloop_ports::{Model, Request, WirePrompt};
use everloop_types::journal::{
    EffectFinished, EffectPlanned, Entry, EntryKind, Outcome, RunCreated,
};
use everloop_types::{
    EffectId, Frame, Goal, ModelCall, ModelError, ModelErrorKind, Reply, RunId, Usage, digest_json,
};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What would become of a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionTrial {
    /// What the program would do; none if nothing could be decided.
    pub got: Option<DecisionKind>,
    /// The type of run that would begin.
    pub run_type: Option<String>,
    /// What the model decided, whether or not it is allowed.
    pub decision: Option<DecisionReply>,
    /// What the person would read; what follows the start of a run is not known here.
    pub reply: Option<String>,
    /// Why nothing could be decided.
    pub error: Option<String>,
    /// Model calls that it took.
    pub calls: u32,
    /// Tokens that it took.
    pub usage: Usage,
}

/// Decides on a message as a turn would, while these tasks run. Without a model, that of the
/// settings decides.
///
/// # Errors
/// If the model or something else that is configured cannot be used. A model that fails is a trial
/// without a decision.
pub async fn try_message(
    app: &App,
    model: Option<&str>,
    message: &str,
    running: &[String],
) -> Result<DecisionTrial, AppError> {
    let workspace = frames::workspace(None)?;
    let frame = Arc::new(decision_frame(app, &workspace, model, 0)?);
    let environment = app.environment(&app.settings);
    let connected = environment.connected(&frame.model);
    let (model, name) = connected.map_err(crate::error::ModelChoiceError::NotConnected)?;
    let mut trial = Trial::begin(frame, goal(message, running, &workspace));
    loop {
        let (effect, call) = match trial.run.decide() {
            Decision::Finish { words, .. } => {
                return Ok(trial.finish(everloop_text::render(&words, app.lang)));
            }
            Decision::Do(effects) => match effects.into_iter().next().map(|it| it.planned) {
                Some(planned @ EffectPlanned::CallModel(_)) => trial.plan(planned),
                // The one call of a decision: here it would begin.
                _ => return Ok(trial.start()),
            },
        };
        let replied = trial.ask(model.as_ref(), &name, &call).await;
        trial.take(effect, replied);
    }
}

/// The message as a decision reads it.
fn goal(message: &str, running: &[String], workspace: &Path) -> Goal {
    let tasks: Vec<String> =
        running.iter().map(|task| task_line("running", "run_trial", task)).collect();
    let tasks = if tasks.is_empty() { "none".to_owned() } else { tasks.join("\n") };
    let context = frames::place_of(workspace)
        + &format!("\n[tasks of this conversation, the newest first]\n{tasks}");
    Goal { text: message.to_owned(), context, images: Vec::new() }
}

/// A decision that no store knows of.
struct Trial {
    run: AnyRun,
    frame: Arc<Frame>,
    wire: WirePrompt,
    last: Option<DecisionReply>,
    error: Option<String>,
    calls: u32,
    usage: Usage,
}

impl Trial {
    fn begin(frame: Arc<Frame>, goal: Goal) -> Self {
        let created = RunCreated {
            goal,
            loop_name: DECISION_LOOP.to_owned(),
            loop_ver: AnyRun::version(DECISION_LOOP).unwrap_or_default(),
            frame: digest_json(frame.as_ref()),
            build: String::new(),
            policy_hash: String::new(),
            turn: None,
        };
        let run = AnyRun::new(&created, frame.clone());
        let run = run.unwrap_or_else(|_| unreachable!("the loop is registered"));
        let wire = WirePrompt::default();
        let (last, error, calls, usage) = (None, None, 0, Usage::default());
        let mut trial = Self { run, frame, wire, last, error, calls, usage };
        trial.apply(None, EntryKind::RunCreated(created));
        trial
    }

    fn apply(&mut self, effect: Option<EffectId>, kind: EntryKind) {
        let (seq, at) = (self.run.last_seq() + 1, SystemClock.now());
        self.run.apply(&Entry { seq, epoch: 1, at, effect, kind });
    }

    fn plan(&mut self, planned: EffectPlanned) -> (EffectId, ModelCall) {
        let EffectPlanned::CallModel(model) = &planned else {
            unreachable!("only model calls are planned here")
        };
        let call = model.call.clone();
        let cause = self.run.last_seq();
        let effect = EffectId { run: RunId::new("run_trial"), cause, index: 0 };
        self.apply(Some(effect.clone()), EntryKind::EffectPlanned(planned));
        (effect, call)
    }

    async fn ask(
        &mut self,
        model: &dyn Model,
        name: &str,
        call: &ModelCall,
    ) -> Result<Reply, ModelError> {
        self.calls += 1;
        let output = call.output.map(|contract| output_schema(contract, &self.frame));
        let request = Request {
            model: name,
            messages: self.run.messages(),
            wire: &mut self.wire,
            tools: Vec::new(),
            choice: &call.choice,
            output: output.as_ref(),
            temperature_milli: self.frame.model.temperature_milli,
            max_tokens: self.frame.model.max_tokens,
        };
        let within_ms = self.frame.decision.as_ref().map_or(0, |terms| terms.reply_within_ms);
        let mut unseen = |_: everloop_ports::Delta<'_>| ();
        let asked = model.ask(request, &mut unseen);
        match tokio::time::timeout(Duration::from_millis(within_ms), asked).await {
            Ok(replied) => replied,
            Err(_) => Err(ModelError::new(ModelErrorKind::TimedOut, "it took too long")),
        }
    }

    fn take(&mut self, effect: EffectId, replied: Result<Reply, ModelError>) {
        let outcome = match replied {
            Ok(reply) => {
                self.usage.add(reply.usage);
                match read_decision(&reply.text) {
                    Ok(decision) => self.last = Some(decision),
                    Err(wrong) => self.error = Some(wrong),
                }
                Outcome::Replied(reply)
            }
            Err(error) => {
                self.error = Some(error.detail.clone());
                Outcome::ModelFailed(error)
            }
        };
        let finished = EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 0));
        self.apply(Some(effect), finished);
    }

    /// A run would begin.
    fn start(self) -> DecisionTrial {
        let decision = self.last;
        let run_type =
            decision.as_ref().and_then(|it| it.run.as_ref()).map(|it| it.run_type.clone());
        let got = decision.as_ref().map(|it| it.decision);
        let reply = decision.as_ref().and_then(|it| it.reply.clone());
        let (calls, usage) = (self.calls, self.usage);
        DecisionTrial { got, run_type, decision, reply, error: None, calls, usage }
    }

    /// Only a reply would go out.
    fn finish(self, words: String) -> DecisionTrial {
        let got = self.last.as_ref().map(|_| DecisionKind::Reply);
        let error = self.error.filter(|_| got.is_none());
        let (decision, calls, usage) = (self.last, self.calls, self.usage);
        DecisionTrial { got, run_type: None, decision, reply: Some(words), error, calls, usage }
    }
}
