//! Runs that decisions start on a testbed, and the decision that follows their end.

use crate::points::{GateDecision, PointGate, PointKind};
use everloop_engine::{EndedTask, RunStart, Submission};
use everloop_loops::DECISION_LOOP;
use everloop_ports::{CallContext, Registry, Tool, ToolReturn};
use everloop_types::{
    Approval, DataFlow, DecisionTerms, EffectClass, FollowUpTerms, Frame, Goal, Handling,
    Observation, RunTypeOffer, START_RUN, ToolSpec,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The arguments of the simulated `start_run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskArgs {
    r#type: String,
    title: String,
    input: Map<String, Value>,
}

/// Starts a run under react whose goal is the title. A decision follows its end.
struct StartTask {
    gate: Arc<dyn PointGate>,
    tools: Vec<ToolSpec>,
}

impl Tool for StartTask {
    const NAME: &'static str = START_RUN;
    type Args = TaskArgs;

    fn description(&self) -> &'static str {
        "starts a task"
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Allow,
            timeout_ms: 60_000,
            grace_ms: 1_000,
            flow: Some(DataFlow::NOTHING),
            ..Handling::default()
        }
    }

    async fn call(&self, args: TaskArgs, _: &CallContext) -> ToolReturn {
        if self.gate.pass(PointKind::BeforeEffect).await == GateDecision::No {
            return ToolReturn::Seen(Observation::error("ended by its deadline; nothing done"));
        }
        let task_key = format!("{} {}", args.r#type, Value::Object(args.input));
        let (run_type, title) = (args.r#type, args.title);
        let goal = Goal { text: title.clone(), ..Goal::default() };
        let terms = FollowUpTerms { run_type, title, depth: 0 };
        let frame = Frame {
            tools: self.tools.clone(),
            follow_up: Some(Box::new(terms)),
            ..Frame::default()
        };
        let loop_name = "react".to_owned();
        let submission =
            Submission { loop_name, goal, frame, idem_key: None, profile: Default::default() };
        self.gate.pass(PointKind::AfterEffect).await;
        ToolReturn::Start(Box::new(RunStart { submission, task_key }))
    }
}

/// The one tool of a decision.
pub(crate) fn decision_tools(gate: &Arc<dyn PointGate>, tools: Vec<ToolSpec>) -> Registry {
    Registry::default().with(StartTask { gate: gate.clone(), tools })
}

/// What a decision on a testbed may start.
pub(crate) fn terms(depth: u32) -> Box<DecisionTerms> {
    let offer = RunTypeOffer { name: "agent".to_owned(), about: "works".to_owned() };
    Box::new(DecisionTerms {
        run_types: vec![offer],
        reply_within_ms: 30_000,
        depth,
        ..DecisionTerms::default()
    })
}

/// The decision that follows the end of a task.
pub(crate) fn follow_up(ended: EndedTask<'_>, tools: Vec<ToolSpec>) -> Option<Submission> {
    let terms_before = ended.frame.follow_up.as_deref()?;
    let text = format!("the task {} has ended: {}", terms_before.title, ended.text);
    let goal = Goal { text, ..Goal::default() };
    let frame = Frame { tools, decision: Some(terms(terms_before.depth + 1)), ..Frame::default() };
    let (loop_name, profile) = (DECISION_LOOP.to_owned(), Default::default());
    Some(Submission { loop_name, goal, frame, idem_key: None, profile })
}
