//! Staged: planning, execution and reporting, one after the other, each with its own tools.
//!
//! ```text
//!   Planning ──list──► Working on item 1 ──words──► on item 2 … ──► Reporting ──► Finished
//! ```
//!
//! The list is fixed once it is planned; the code closes its items.

use crate::stages::{Planning, Stages, Turn};
use crate::{AgentLoop, Transcript};
use everloop_types::{Event, Frame, ItemState, Next, Progress, Reason, TodoList};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const INSTRUCTIONS: &str = include_str!("prompts/staged.md");
const PLANNING: Planning = Planning::Forced;

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    stages: Stages,
}

impl AgentLoop for Staged {
    const NAME: &'static str = "staged";
    const VERSION: u32 = 1;

    fn evolve(&mut self, event: &Event) {
        let turn = match event {
            Event::Started { goal, frame, .. } => self.stages.start(INSTRUCTIONS, goal, frame),
            Event::Replied { reply, .. } => {
                let offer = self.stages.talk.without_list();
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
        self.stages.next(PLANNING, &self.stages.talk.without_list())
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

impl Staged {
    fn take(&mut self, turn: &Turn) {
        match turn {
            // Without a list the whole request is the work.
            Turn::Begun if self.list().items().is_empty() => {
                self.stages.talk.say("phase: execution");
            }
            Turn::Begun => self.work(),
            Turn::Said(_) => {
                let list = &mut self.stages.talk.list;
                if let Some(place) = list.in_progress() {
                    list.mark(place, ItemState::Completed);
                }
                self.work();
            }
            Turn::Acted | Turn::Nothing => {}
        }
    }

    /// On to the first open item, or to the report.
    fn work(&mut self) {
        let talk = &mut self.stages.talk;
        let Some(place) = talk.list.first_open() else { return self.stages.report() };
        talk.list.mark(place, ItemState::InProgress);
        let (number, total) = (place + 1, talk.list.items().len());
        let text = talk.list.items()[place].text.clone();
        talk.say(format!("phase: execution\nitem {number} of {total}: {text}"));
    }
}
