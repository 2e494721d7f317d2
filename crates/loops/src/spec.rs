//! What a loop says about itself. Other crates ask here, so none of them names a loop.

use crate::replies::SampleTask;
use everloop_text::{self as text, Text};
use everloop_types::{Reply, StepLimits};

/// The description of one loop. Every field has to be given: nothing is assumed about a new loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopSpec {
    /// The name in settings, SQL and pages.
    pub name: &'static str,
    /// Governs how journals are folded. Raise it when `evolve` changes what an old journal means.
    pub version: u32,
    /// Who chooses it.
    pub audience: LoopAudience,
    /// What the step limit counts.
    pub step_unit: StepUnit,
    /// The step limit where no setting gives one.
    pub max_steps: u32,
    /// Keys of the settings that it reads, beside those that bound every run and its steps.
    pub settings: &'static [&'static str],
    /// Whether the model keeps a list with `todo_write`. Where the loop keeps a plan, a second one
    /// confuses the model.
    pub keeps_list: bool,
    /// Whether it may hand a task to a child run. A round has a time of its own, which a child
    /// would use up.
    pub delegates: bool,
    /// How the model has to answer.
    pub reply_form: ReplyForm,
    /// The loop to try where a model does not keep to that form.
    pub alternative: &'static str,
    /// Recorded runs that show how this version folds journals.
    pub golden: &'static [GoldenRun],
    /// The replies with which a model does a task under this loop.
    pub sample: fn(&SampleTask) -> Vec<Reply>,
}

/// Who chooses a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopAudience {
    /// People, for their goals.
    People,
    /// The program itself: it is offered nowhere, and no goal of a person is given to it.
    Program,
}

/// What a step limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepUnit {
    /// Thoughts, replans and actions.
    Step,
    /// Rounds of planned steps.
    Round,
    /// Model calls that came back.
    Iteration,
}

/// How the model has to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyForm {
    /// One JSON object for each phase.
    JsonObjects,
    /// Tool calls of the provider, and words as the answer.
    NativeCalls,
    /// One forced call that plans a round, and one that thinks about it.
    Rounds,
    /// Tagged text.
    Tags,
}

/// A recorded run: its frame, and its journal line by line.
#[derive(Debug, Clone, Copy)]
pub struct GoldenRun {
    pub(crate) frame: &'static str,
    pub(crate) journal: &'static str,
}

/// The golden runs of these names in `tests/golden`.
macro_rules! golden {
    ($($name:literal),+ $(,)?) => {
        &[$($crate::spec::GoldenRun {
            frame: include_str!(concat!("../tests/golden/", $name, ".frame.json")),
            journal: include_str!(concat!("../tests/golden/", $name, ".jsonl")),
        }),+]
    };
}
pub(crate) use golden;

/// The texts that describe a loop to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopTexts {
    /// What it does, in a line.
    pub does: Text,
    /// A picture of its phases.
    pub picture: Text,
    /// What it is good for.
    pub good: Text,
}

impl LoopSpec {
    /// Its texts; none if one of them is missing, which a test of every loop notices.
    #[must_use]
    pub fn texts(&self) -> Option<LoopTexts> {
        let name = self.name.replace('-', "_");
        let named = |part: &str| text::loops::about::named(&format!("{name}.{part}"));
        Some(LoopTexts { does: named("does")?, picture: named("picture")?, good: named("good")? })
    }

    /// Whether runs under it have a plan: the loop's own, or the list that the model keeps.
    #[must_use]
    pub fn makes_plan(&self) -> bool {
        self.keeps_list || matches!(self.reply_form, ReplyForm::JsonObjects | ReplyForm::Rounds)
    }

    /// The settings that have a say in it alone; the one that bounds its steps first.
    #[must_use]
    pub fn setting_keys(&self) -> Vec<&'static str> {
        self.step_unit.setting_keys().iter().chain(self.settings).copied().collect()
    }

    /// The steps that a run may make under these limits.
    #[must_use]
    pub fn step_limit(&self, limits: &StepLimits) -> u32 {
        match self.step_unit {
            StepUnit::Round => limits.max_steps.min(limits.rounds.max_rounds),
            StepUnit::Step | StepUnit::Iteration => limits.max_steps,
        }
    }
}

impl StepUnit {
    /// Its name.
    #[must_use]
    pub fn text(self) -> Text {
        match self {
            Self::Step => text::loops::unit::step(),
            Self::Round => text::loops::unit::round(),
            Self::Iteration => text::loops::unit::iteration(),
        }
    }

    /// The settings that bound it, the first one that is set counts.
    #[must_use]
    pub fn setting_keys(self) -> &'static [&'static str] {
        match self {
            Self::Iteration => &["loop.max_iterations", "loop.max_steps"],
            Self::Step | Self::Round => &["loop.max_steps"],
        }
    }
}
