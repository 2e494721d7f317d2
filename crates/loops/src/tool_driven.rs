//! Tool-driven: the model keeps its own list, picks the order and says when it is finished.
//!
//! ```text
//!   Working ──calls, outcomes──► Working
//!      └──words──► items open, or no mark? ──► Working, reminded
//!                            └──no, or reminded enough──► Finished
//! ```
//!
//! Deliberately absent: choosing items, setting states, judging results. That is the model's.

use crate::spec::{LoopAudience, LoopSpec, ReplyForm, StepUnit, golden};
use crate::tool_dialogue::{BatchOutcome, ToolDialogue};
use crate::{AgentLoop, Transcript, replies};
use everloop_types::{
    Answer, Event, Frame, Next, Progress, Purpose, Reason, TODO_WRITE, TodoList, ToolChoice,
    ToolOffer,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const INSTRUCTIONS: &str = include_str!("prompts/tool_driven.md");
const OPEN: &str = include_str!("prompts/open_items.md");
const NO_MARK: &str = include_str!("prompts/no_mark.md");
const UNLISTED: &str = include_str!("prompts/unlisted_work.md");
const IDLE: &str = include_str!("prompts/idle_list.md");

/// The loop's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolDriven {
    phase: ToolDrivenPhase,
    dialogue: ToolDialogue,
    reminded: ReminderCounts,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToolDrivenPhase {
    #[default]
    Working,
    Stuck(Reason),
    Finished(Answer),
}

/// What the soft guards count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ReminderCounts {
    /// Answers that were sent back.
    early: u32,
    /// Iterations of work with no item in progress, in a row.
    unlisted: u32,
    /// Iterations in which the list stayed as it is, in a row.
    idle: u32,
}

impl AgentLoop for ToolDriven {
    const SPEC: LoopSpec = LoopSpec {
        name: "tool-driven",
        version: 1,
        audience: LoopAudience::People,
        step_unit: StepUnit::Iteration,
        max_steps: 50,
        settings: &[
            "loop.reminders",
            "loop.unlisted_work",
            "loop.idle_list",
            "loop.completion_mark",
        ],
        keeps_list: true,
        delegates: true,
        reply_form: ReplyForm::NativeCalls,
        alternative: "react",
        golden: golden!["v0.1/tool-driven-1-errand"],
        sample: replies::closing_items,
    };

    fn evolve(&mut self, event: &Event) {
        match event {
            Event::Started { goal, frame, .. } => {
                self.dialogue.open(&instructions(frame), goal, frame)
            }
            Event::Replied { reply, .. } => {
                if let Some(words) = self.dialogue.take_reply(reply) {
                    match self.dialogue.retry_truncated(reply) {
                        Ok(true) => {}
                        Ok(false) => self.take_answer(words),
                        Err(reason) => self.phase = ToolDrivenPhase::Stuck(reason),
                    }
                }
            }
            Event::ModelFailed { error, .. } => {
                self.phase = ToolDrivenPhase::Stuck(Reason::Model(error.clone()));
            }
            Event::Observed { call, seen, .. } => {
                if let Some(batch) = self.dialogue.observe(call, seen) {
                    self.take_batch(batch);
                }
            }
            Event::Forked { word, .. } => self.fork(word.as_deref()),
            // `Run` has already informed the model and rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => {}
        }
    }

    fn decide(&self) -> Next {
        match &self.phase {
            ToolDrivenPhase::Working => {
                self.dialogue.next(Purpose::Think, ToolOffer::All, ToolChoice::Auto)
            }
            ToolDrivenPhase::Stuck(reason) => Next::GiveUp(reason.clone()),
            ToolDrivenPhase::Finished(answer) => Next::Finish(answer.clone()),
        }
    }

    fn transcript(&self) -> &Transcript {
        &self.dialogue.transcript
    }

    fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.dialogue.transcript
    }

    fn list(&self) -> &TodoList {
        &self.dialogue.list
    }

    fn progress(&self) -> Progress {
        self.dialogue.progress()
    }

    fn attach(&mut self, frame: Arc<Frame>) {
        self.dialogue.frame = frame;
    }
}

impl ToolDriven {
    /// A failed step is tried again; an answer stays unless the user adds something.
    fn fork(&mut self, word: Option<&str>) {
        self.dialogue.renew();
        self.reminded = ReminderCounts::default();
        let goes_on = match &self.phase {
            ToolDrivenPhase::Working => false,
            ToolDrivenPhase::Stuck(_) => true,
            ToolDrivenPhase::Finished(answer) => word.is_some() || answer.words.is_empty(),
        };
        if goes_on {
            self.phase = ToolDrivenPhase::Working;
        }
    }

    /// Open items weigh more than the mark (TD-4).
    fn take_answer(&mut self, words: String) {
        let open = self.dialogue.list.open_lines();
        let mark = self.dialogue.frame.completion_mark.as_str();
        let unmarked = !mark.is_empty() && !words.contains(mark);
        let again = match (open.is_empty(), unmarked) {
            (false, _) => Some(OPEN.replace("{items}", &open)),
            (true, true) => Some(NO_MARK.replace("{mark}", mark)),
            (true, false) => None,
        };
        match again {
            Some(reminder) if self.reminded.early < self.limits().reminders => {
                self.reminded.early += 1;
                self.dialogue.push_user(reminder.trim_end());
            }
            _ => self.phase = ToolDrivenPhase::Finished(self.dialogue.answer(words, None)),
        }
    }

    fn limits(&self) -> everloop_types::ListLimits {
        self.dialogue.frame.limits.steps.list
    }

    /// The soft guards (TD-5): each reminds, none forbids.
    fn take_batch(&mut self, batch: BatchOutcome) {
        let (limits, list) = (self.limits(), &self.dialogue.list);
        let unlisted = batch.work && list.in_progress().is_none();
        if unlisted {
            self.reminded.unlisted += 1;
        } else if list.in_progress().is_some() {
            self.reminded.unlisted = 0;
        }
        self.reminded.idle = match batch.listed || list.first_open().is_none() {
            true => 0,
            false => self.reminded.idle + 1,
        };
        if !self.dialogue.has_tool(TODO_WRITE) {
            return;
        }
        if limits.unlisted > 0 && self.reminded.unlisted >= limits.unlisted {
            self.reminded.unlisted = 0;
            self.dialogue.push_user(UNLISTED.trim_end());
        } else if limits.idle > 0 && self.reminded.idle >= limits.idle {
            self.reminded.idle = 0;
            let text = IDLE.replace("{times}", &limits.idle.to_string());
            self.dialogue
                .push_user(text.replace("{items}", &self.dialogue.list.open_lines()).trim_end());
        }
    }
}

fn instructions(frame: &Frame) -> String {
    match frame.completion_mark.as_str() {
        "" => INSTRUCTIONS.to_owned(),
        mark => format!("{INSTRUCTIONS}- End your final answer with {mark}.\n"),
    }
}
