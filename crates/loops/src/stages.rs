//! Stages that the code controls: planning writes the list, work is the loop's own, reporting ends.

use crate::tool_dialogue::ToolDialogue;
use everloop_types::{
    CallId, Event, Frame, Goal, Next, Observation, Purpose, Reason, Reply, TODO_WRITE, ToolChoice,
    ToolOffer,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const EMPTY: &str =
    "contract error: the reply was empty. Call a tool, or say in plain text what came of the work.";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stages {
    pub(crate) dialogue: ToolDialogue,
    stage: WorkStage,
}

/// `tries` counts replies without a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkStage {
    Planning { tries: u32 },
    Working,
    Reporting,
    Stuck(Reason),
    Finished(String),
}

impl Default for WorkStage {
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
    WorkBegins,
    /// A batch of calls of the work is over.
    Acted,
    /// The model has said this while it works.
    Said(String),
    /// Nothing.
    Nothing,
}

impl Stages {
    /// Takes in one event. Returns what the loop has to do.
    pub(crate) fn evolve(
        &mut self,
        event: &Event,
        instructions: &str,
        planning: Planning,
        work: &ToolOffer,
    ) -> Turn {
        match event {
            Event::Started { goal, frame, .. } => self.start(instructions, goal, frame),
            Event::Replied { reply, .. } => self.hear(reply, planning, work),
            Event::ModelFailed { error, .. } => {
                self.fail(Reason::Model(error.clone()));
                Turn::Nothing
            }
            Event::Observed { call, seen, .. } => self.observe(call, seen),
            Event::Forked { word, .. } => self.fork(word.as_deref()),
            // `Run` has already informed the model and rewritten the transcript.
            Event::Noticed { .. } | Event::Compacted { .. } => Turn::Nothing,
        }
    }

    fn start(&mut self, instructions: &str, goal: &Goal, frame: &Arc<Frame>) -> Turn {
        self.dialogue.open(instructions, goal, frame);
        self.plan()
    }

    /// Without the tool for it there is no list, and the work begins at once.
    fn plan(&mut self) -> Turn {
        if !self.dialogue.has_tool(TODO_WRITE) {
            return self.begin();
        }
        self.dialogue.push_user("phase: planning");
        self.stage = WorkStage::Planning { tries: 0 };
        Turn::Nothing
    }

    fn begin(&mut self) -> Turn {
        self.stage = WorkStage::Working;
        Turn::WorkBegins
    }

    /// The work is over. What did not come off is named, so that the report can say so.
    pub(crate) fn report(&mut self) {
        let list = &self.dialogue.list;
        let mut text = "phase: reporting".to_owned();
        for (heading, lines) in [("failed", list.failed_lines()), ("still open", list.open_lines())]
        {
            if !lines.is_empty() {
                text.push_str(&format!("\n{heading}:\n{lines}"));
            }
        }
        self.dialogue.push_user(text);
        self.stage = WorkStage::Reporting;
    }

    /// A list with a failed item is not a success, whatever the report says: the model was asked
    /// for it until its tries were used up (TD-6). Items that stayed open are named (TD-4).
    fn trouble(&self) -> Option<Reason> {
        self.dialogue.list.has_failed().then_some(Reason::BrokenContract)
    }

    fn fail(&mut self, reason: Reason) {
        self.stage = WorkStage::Stuck(reason);
    }

    fn hear(&mut self, reply: &Reply, planning: Planning, work: &ToolOffer) -> Turn {
        if self.dialogue.reject_calls(reply, &self.offer(planning, work)) {
            return self.not_planned();
        }
        let Some(words) = self.dialogue.take_reply(reply) else { return Turn::Nothing };
        if let WorkStage::Planning { .. } = self.stage {
            self.dialogue.push_user(format!(
                "contract error: write the list first; `{TODO_WRITE}` has to be called, words \
                 alone are not read."
            ));
            return self.not_planned();
        }
        match self.dialogue.retry_truncated(reply) {
            Ok(false) => {}
            Ok(true) => return Turn::Nothing,
            Err(reason) => {
                self.fail(reason);
                return Turn::Nothing;
            }
        }
        match self.stage {
            WorkStage::Working if words.trim().is_empty() => {
                self.dialogue.push_user(EMPTY);
                Turn::Nothing
            }
            WorkStage::Working => Turn::Said(words),
            WorkStage::Reporting => {
                self.stage = WorkStage::Finished(words);
                Turn::Nothing
            }
            WorkStage::Planning { .. } | WorkStage::Stuck(_) | WorkStage::Finished(_) => {
                Turn::Nothing
            }
        }
    }

    /// A model that makes no list is given up; one that works may still mend its ways.
    fn not_planned(&mut self) -> Turn {
        let allowed = self.dialogue.frame.limits.steps.contract_retries;
        match &mut self.stage {
            WorkStage::Planning { tries } if *tries < allowed => *tries += 1,
            WorkStage::Planning { .. } => self.fail(Reason::BrokenContract),
            _ => {}
        }
        Turn::Nothing
    }

    fn observe(&mut self, id: &CallId, seen: &Observation) -> Turn {
        let Some(batch) = self.dialogue.observe(id, seen) else { return Turn::Nothing };
        match self.stage {
            WorkStage::Planning { .. }
                if batch.listed && self.dialogue.list.first_open().is_some() =>
            {
                self.begin()
            }
            // Looking around before the list does not break the contract; a failed list does.
            WorkStage::Planning { .. } if batch.work => Turn::Nothing,
            WorkStage::Planning { .. } => self.not_planned(),
            WorkStage::Working => Turn::Acted,
            _ => Turn::Nothing,
        }
    }

    /// A failed step is tried again; a report stays unless the user adds something.
    fn fork(&mut self, word: Option<&str>) -> Turn {
        self.dialogue.renew();
        match &self.stage {
            WorkStage::Stuck(_) if word.is_none() && self.dialogue.list.first_open().is_some() => {
                self.begin()
            }
            WorkStage::Stuck(_) => self.plan(),
            WorkStage::Finished(words) if word.is_some() || words.trim().is_empty() => self.plan(),
            _ => Turn::Nothing,
        }
    }

    fn offer(&self, planning: Planning, work: &ToolOffer) -> ToolOffer {
        match (&self.stage, planning) {
            (WorkStage::Planning { .. }, Planning::Forced) => {
                ToolOffer::Only(vec![TODO_WRITE.to_owned()])
            }
            (WorkStage::Planning { .. }, Planning::Free) => ToolOffer::All,
            (WorkStage::Working, _) => work.clone(),
            _ => ToolOffer::None,
        }
    }

    pub(crate) fn next(&self, planning: Planning, work: &ToolOffer) -> Next {
        let offer = self.offer(planning, work);
        let (purpose, choice) = match &self.stage {
            WorkStage::Planning { .. } => match planning {
                Planning::Forced => (Purpose::Plan, ToolChoice::Named(TODO_WRITE.to_owned())),
                Planning::Free => (Purpose::Plan, ToolChoice::Auto),
            },
            WorkStage::Working => (Purpose::Think, ToolChoice::Auto),
            WorkStage::Reporting => (Purpose::Think, ToolChoice::None),
            WorkStage::Stuck(reason) => return Next::GiveUp(reason.clone()),
            WorkStage::Finished(words) => {
                return Next::Finish(self.dialogue.answer(words.clone(), self.trouble()));
            }
        };
        self.dialogue.next(purpose, offer, choice)
    }
}

/// A loop in stages, of a type that has `stages`, `INSTRUCTIONS`, `PLANNING`, an `offer` for the
/// work, and takes each turn in its own way.
macro_rules! in_stages {
    ($kind:ident, $spec:expr $(,)?) => {
        impl $crate::AgentLoop for $kind {
            const SPEC: $crate::LoopSpec = $spec;

            fn evolve(&mut self, event: &everloop_types::Event) {
                let offer = self.offer();
                let turn = self.stages.evolve(event, Self::INSTRUCTIONS, Self::PLANNING, &offer);
                self.take(&turn);
            }

            fn decide(&self) -> everloop_types::Next {
                self.stages.next(Self::PLANNING, &self.offer())
            }

            fn transcript(&self) -> &$crate::Transcript {
                &self.stages.dialogue.transcript
            }

            fn transcript_mut(&mut self) -> &mut $crate::Transcript {
                &mut self.stages.dialogue.transcript
            }

            fn list(&self) -> &everloop_types::TodoList {
                &self.stages.dialogue.list
            }

            fn progress(&self) -> everloop_types::Progress {
                self.stages.dialogue.progress()
            }

            fn attach(&mut self, frame: std::sync::Arc<everloop_types::Frame>) {
                self.stages.dialogue.frame = frame;
            }
        }
    };
}
pub(crate) use in_stages;
