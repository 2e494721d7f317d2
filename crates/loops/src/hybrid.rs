//! Hybrid: the code controls the stages, and within the work the model is free.
//!
//! ```text
//!   Planning ──list──► Working ──calls, outcomes──► Working ──words──► Reporting ──► Finished
//! ```

use crate::stages::{Planning, Stages, Turn};
use crate::{AgentLoop, Transcript};
use everloop_types::{Event, Frame, Next, Offer, Progress, Reason, TodoList};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const INSTRUCTIONS: &str = include_str!("prompts/hybrid.md");
const PLANNING: Planning = Planning::Forced;

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hybrid {
    stages: Stages,
}

impl AgentLoop for Hybrid {
    const NAME: &'static str = "hybrid";
    const VERSION: u32 = 1;

    fn evolve(&mut self, event: &Event) {
        let turn = match event {
            Event::Started { goal, frame, .. } => self.stages.start(INSTRUCTIONS, goal, frame),
            Event::Replied { reply, .. } => {
                let offer = Offer::All;
                self.stages.hear(reply, PLANNING, &offer)
            }
            Event::ModelFailed { error, .. } => {
                self.stages.fail(Reason::Model(error.clone()));
                Turn::Nothing
            }
            Event::Observed { call, seen, .. } => self.stages.observe(call, seen),
            Event::Forked { word, .. } => self.stages.fork(word.as_deref()),
            // `Run` has already told the model, and has already rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => Turn::Nothing,
        };
        self.take(&turn);
    }

    fn decide(&self) -> Next {
        self.stages.next(PLANNING, &Offer::All)
    }

    fn transcript(&self) -> &Transcript {
        &self.stages.talk.transcript
    }

    fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.stages.talk.transcript
    }

    fn list(&self) -> &TodoList {
        &self.stages.talk.list
    }

    fn progress(&self) -> Progress {
        self.stages.talk.progress()
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.stages.talk.frame = frame;
    }
}

impl Hybrid {
    fn take(&mut self, turn: &Turn) {
        match turn {
            Turn::Begun => self.stages.talk.say("phase: execution"),
            Turn::Said(_) => self.stages.report(),
            Turn::Acted | Turn::Nothing => {}
        }
    }
}
