//! Task: one call that the frame fixes, then its result in words. Nothing is left to a model.
//!
//! ```text
//!   Calling ──outcome, or the model's answer──► Done
//!      └──an error, a refusal──► Failed, with its reason
//! ```
//!
//! Nobody chooses this loop: runs of a fixed type (`sleep`, `fetch_web`, …) are under it.

use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::truncation::{ReplyCheck, TruncationRetry};
use crate::{AgentLoop, Transcript, Voice, replies};
use everloop_text as text;
use everloop_types::{
    Answer, CallId, Event, Frame, Message, ModelCall, Next, Observation, Progress, Purpose, Reason,
    Reply, TaskCall, TaskSpec, TodoList, ToolCall, ToolChoice, ToolOffer, Words,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The id of the one call.
const CALL: &str = "task";

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    phase: TaskPhase,
    transcript: Transcript,
    /// Calls that came back; a reply that was cut short is asked for again.
    calls: u32,
    #[serde(default, skip_serializing_if = "TruncationRetry::is_none")]
    truncation: TruncationRetry,
    /// A task keeps no list; it is here because every loop shows one.
    #[serde(skip)]
    list: TodoList,
    #[serde(skip)]
    frame: Arc<Frame>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TaskPhase {
    #[default]
    Calling,
    /// What came back.
    Done(String),
    Failed(Reason),
}

impl AgentLoop for Task {
    const SPEC: LoopSpec = LoopSpec {
        name: "task",
        version: 1,
        audience: LoopAudience::Program,
        step_unit: StepUnit::Iteration,
        max_steps: 1,
        settings: &[],
        keeps_list: false,
        delegates: false,
        reply_form: ReplyForm::NativeCalls,
        alternative: "react",
        golden: golden!["v0.1/task-1-tool", "v0.1/task-1-failed", "v0.1/task-1-model"],
        sample: replies::freely,
    };

    fn evolve(&mut self, event: &Event) {
        match event {
            Event::Started { goal, frame, .. } => {
                self.frame = frame.clone();
                let system = match self.call() {
                    Some(TaskCall::Model { instructions }) => {
                        format!("{}\n\n{instructions}", frame.system)
                    }
                    Some(TaskCall::Tool { .. }) | None => frame.system.clone(),
                };
                self.transcript.open(Voice::Gathered, system, &frame.carried, goal);
            }
            Event::Replied { reply, .. } => self.take_reply(reply),
            Event::ModelFailed { error, .. } => {
                self.phase = TaskPhase::Failed(Reason::Model(error.clone()));
            }
            Event::Observed { seen, .. } => self.take_observation(seen),
            Event::Forked { .. } => self.fork(),
            Event::Noticed { .. } | Event::Compacted { .. } => {}
        }
    }

    fn decide(&self) -> Next {
        match (&self.phase, self.call()) {
            (TaskPhase::Calling, Some(TaskCall::Tool { tool, args })) => {
                let id = CallId::new(CALL);
                Next::run_tools(&[ToolCall { id, tool: tool.clone(), args: args.clone() }])
            }
            (TaskPhase::Calling, Some(TaskCall::Model { .. })) => Next::AskModel(ModelCall {
                purpose: Purpose::Think,
                offer: ToolOffer::None,
                choice: ToolChoice::None,
                output: None,
            }),
            (TaskPhase::Calling, None) => {
                failed(&Reason::TaskFailed { detail: "the run has no task".to_owned() })
            }
            (TaskPhase::Done(result), _) => {
                let words = self.frame.task.as_ref().map(|task| words_of(task, result));
                let words = words.unwrap_or_else(|| Words::Said(result.clone()));
                Next::Finish(Answer { words, trouble: None })
            }
            (TaskPhase::Failed(reason @ Reason::TaskFailed { .. }), _) => failed(reason),
            (TaskPhase::Failed(reason), _) => Next::GiveUp(reason.clone()),
        }
    }

    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    fn list(&self) -> &TodoList {
        &self.list
    }

    fn progress(&self) -> Progress {
        Progress {
            items: Vec::new(),
            current: None,
            version: 0,
            steps: self.calls,
            steps_max: 1,
            failed: 0,
            note: None,
            round: None,
        }
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.frame = frame;
    }
}

impl Task {
    fn call(&self) -> Option<&TaskCall> {
        self.frame.task.as_ref().map(|task| &task.call)
    }

    /// What failed is tried again; a result stays.
    fn fork(&mut self) {
        (self.calls, self.truncation) = (0, TruncationRetry::default());
        if matches!(self.phase, TaskPhase::Failed(_)) {
            self.phase = TaskPhase::Calling;
        }
    }

    /// No tool is offered, so calls in a reply are left out: they would never be answered.
    fn take_reply(&mut self, reply: &Reply) {
        self.calls += 1;
        self.transcript.push_reply(&Reply { calls: Vec::new(), ..reply.clone() });
        self.phase = match self.truncation.take(reply, &self.frame) {
            ReplyCheck::Usable => TaskPhase::Done(reply.text.clone()),
            ReplyCheck::Retry(told) => {
                self.transcript.push(Message::user(told));
                TaskPhase::Calling
            }
            ReplyCheck::GiveUp(reason) => TaskPhase::Failed(reason),
        };
    }

    fn take_observation(&mut self, seen: &Observation) {
        self.calls += 1;
        self.phase = match seen.is_ok() {
            true => TaskPhase::Done(seen.text.clone()),
            false => TaskPhase::Failed(Reason::TaskFailed { detail: seen.text.clone() }),
        };
    }
}

/// The ending of a task that did not do what was asked. No model is asked for words.
fn failed(reason: &Reason) -> Next {
    let words = match reason {
        Reason::TaskFailed { detail } => text::tasks::failed(&detail).words(),
        _ => text::tasks::failed(&"").words(),
    };
    Next::Finish(Answer { words, trouble: Some(reason.clone()) })
}

/// The result of a task, as people read it.
fn words_of(task: &TaskSpec, result: &str) -> Words {
    let input = |name: &str| match &task.input[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    match task.run_type.as_str() {
        "sleep" => text::tasks::slept(&input("seconds")).words(),
        "fetch_web" => {
            let head = text::tasks::fetched(&input("url")).words();
            Words::All(vec![head, Words::Said(result.to_owned())])
        }
        "index_repo" => indexed(result).unwrap_or_else(|| Words::Said(result.to_owned())),
        _ => Words::Said(result.to_owned()),
    }
}

/// What `index_repo` counted.
fn indexed(result: &str) -> Option<Words> {
    let counts: Value = serde_json::from_str(result).ok()?;
    let count = |name: &str| counts[name].as_u64();
    let numbers = text::tasks::Indexed {
        path: &counts["path"].as_str()?,
        files: &count("files")?,
        added: &count("added")?,
        changed: &count("changed")?,
        removed: &count("removed")?,
    };
    let mut words = vec![numbers.text().words()];
    if counts["complete"] == Value::Bool(false) {
        words.push(text::tasks::indexed_partly().words());
    }
    Some(Words::All(words))
}
