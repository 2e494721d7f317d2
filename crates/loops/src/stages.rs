//! Stages that the code controls: planning writes the list, work is the loop's own, reporting ends.

use crate::talk::Talk;
use everloop_types::{
    Answer, CallId, Frame, Goal, Next, Observation, Offer, Purpose, Reason, Reply, TODO_WRITE,
    ToolChoice, Words,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const EMPTY: &str =
    "contract error: the reply was empty. Call a tool, or say in plain text what came of the work.";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stages {
    pub(crate) talk: Talk,
    stage: Stage,
}

/// `tries` counts replies without a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Planning { tries: u32 },
    Working,
    Reporting,
    Stuck(Reason),
    Finished(String),
}

impl Default for Stage {
    fn default() -> Self {
        Self::Planning { tries: 0 }
    }
}

/// With what the list is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planning {
    /// With `todo_write`, which the model must call.
    Forced,
    /// With all tools: it may look around first.
    Free,
}

/// What the loop has to see to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The list is there, or none can be: the work begins.
    Begun,
    /// A batch of calls of the work is over.
    Acted,
    /// The model has said this while it works.
    Said(String),
    /// Nothing.
    Nothing,
}

impl Stages {
    pub(crate) fn start(&mut self, instructions: &str, goal: &Goal, frame: &Arc<Frame>) -> Turn {
        self.talk.open(instructions, goal, frame);
        self.plan()
    }

    /// Without the tool for it there is no list, and the work begins at once.
    fn plan(&mut self) -> Turn {
        if !self.talk.has_tool(TODO_WRITE) {
            return self.begin();
        }
        self.talk.say("phase: planning");
        self.stage = Stage::Planning { tries: 0 };
        Turn::Nothing
    }

    fn begin(&mut self) -> Turn {
        self.stage = Stage::Working;
        Turn::Begun
    }

    /// The work is over.
    pub(crate) fn report(&mut self) {
        let open = self.talk.list.open_lines();
        self.talk.say(match open.is_empty() {
            true => "phase: reporting".to_owned(),
            false => format!("phase: reporting\nstill open:\n{open}"),
        });
        self.stage = Stage::Reporting;
    }

    pub(crate) fn fail(&mut self, reason: Reason) {
        self.stage = Stage::Stuck(reason);
    }

    pub(crate) fn hear(&mut self, reply: &Reply, planning: Planning, work: &Offer) -> Turn {
        if self.talk.refuse(reply, &self.offer(planning, work)) {
            return self.not_planned();
        }
        let Some(words) = self.talk.hear(reply) else { return Turn::Nothing };
        match self.stage {
            Stage::Planning { .. } => {
                self.talk.say(format!("contract error: write the list with `{TODO_WRITE}` first."));
                self.not_planned()
            }
            // A reply that was cut off before its first word says nothing about the work.
            Stage::Working if words.trim().is_empty() => {
                self.talk.say(EMPTY);
                Turn::Nothing
            }
            Stage::Working => Turn::Said(words),
            Stage::Reporting => {
                self.stage = Stage::Finished(words);
                Turn::Nothing
            }
            Stage::Stuck(_) | Stage::Finished(_) => Turn::Nothing,
        }
    }

    /// A model that makes no list is given up; one that works may still mend its ways.
    fn not_planned(&mut self) -> Turn {
        let allowed = self.talk.frame.limits.steps.contract_retries;
        match &mut self.stage {
            Stage::Planning { tries } if *tries < allowed => *tries += 1,
            Stage::Planning { .. } => self.fail(Reason::BrokenContract),
            _ => {}
        }
        Turn::Nothing
    }

    pub(crate) fn observe(&mut self, id: &CallId, seen: &Observation) -> Turn {
        let Some(batch) = self.talk.observe(id, seen) else { return Turn::Nothing };
        match self.stage {
            Stage::Planning { .. } if batch.listed && self.talk.list.first_open().is_some() => {
                self.begin()
            }
            // What was looked at before the list is no broken contract; a list that failed is.
            Stage::Planning { .. } if batch.work => Turn::Nothing,
            Stage::Planning { .. } => self.not_planned(),
            Stage::Working => Turn::Acted,
            _ => Turn::Nothing,
        }
    }

    /// What failed is tried again; a report stands unless the user adds something.
    pub(crate) fn fork(&mut self, word: Option<&str>) -> Turn {
        self.talk.renew();
        match &self.stage {
            Stage::Stuck(_) if word.is_none() && self.talk.list.first_open().is_some() => {
                self.begin()
            }
            Stage::Stuck(_) => self.plan(),
            Stage::Finished(words) if word.is_some() || words.trim().is_empty() => self.plan(),
            _ => Turn::Nothing,
        }
    }

    fn offer(&self, planning: Planning, work: &Offer) -> Offer {
        match (&self.stage, planning) {
            (Stage::Planning { .. }, Planning::Forced) => Offer::Only(vec![TODO_WRITE.to_owned()]),
            (Stage::Planning { .. }, Planning::Free) => Offer::All,
            (Stage::Working, _) => work.clone(),
            _ => Offer::None,
        }
    }

    pub(crate) fn next(&self, planning: Planning, work: &Offer) -> Next {
        let offer = self.offer(planning, work);
        let (purpose, choice) = match &self.stage {
            Stage::Planning { .. } => match planning {
                Planning::Forced => (Purpose::Plan, ToolChoice::Named(TODO_WRITE.to_owned())),
                Planning::Free => (Purpose::Plan, ToolChoice::Auto),
            },
            Stage::Working => (Purpose::Think, ToolChoice::Auto),
            Stage::Reporting => (Purpose::Think, ToolChoice::None),
            Stage::Stuck(reason) => return Next::GiveUp(reason.clone()),
            Stage::Finished(words) => {
                let words = Words::Said(words.clone());
                return Next::Finish(Answer { words, trouble: None });
            }
        };
        self.talk.next(purpose, offer, choice)
    }
}
