//! What a line led to, as data. A surface makes words of it.

use crate::answers::AnswerMeaning;
use crate::error::AppError;
use crate::runs::RunDetails;
use crate::settling::SettleReport;
use crate::slash::SlashCommand;
use everloop_agenda::commands::CommandError;
use everloop_agenda::portable::ImportSummary;
use everloop_engine::OpenUnknown;
use everloop_store::{ConversationMessage, Firing, RunRow};
use everloop_types::RunId;
use std::path::PathBuf;

/// What a line led to.
pub enum Reaction {
    /// Something to show.
    Reply(ChatReply),
    /// A run to look at until it stops, and what to show before.
    Follow(RunId, Option<ChatReply>),
    /// A sentence that rules understood: the command, carried out after a yes.
    Confirm(String),
    /// The run in front goes on without being looked at.
    Background,
    /// The screen is to be cleared.
    Clear,
    /// The tour is wanted.
    Tour,
    /// The person leaves.
    Quit,
}

impl From<ChatReply> for Reaction {
    fn from(reply: ChatReply) -> Self {
        Self::Reply(reply)
    }
}

/// Something to show.
pub enum ChatReply {
    /// The line was empty.
    Empty,
    /// A command that cannot be carried out, and why.
    Wrong(CommandError),
    /// A word for a running task, while none runs.
    NothingToSteer,
    /// There is nothing to cancel.
    NothingToCancel,
    /// The current task was canceled.
    Canceled,
    /// No model is configured, and rules do not understand the line.
    NoModel,
    /// What a command about todos or the schedule did.
    Agenda(AgendaReply),
    /// An answer was accepted, and how it was understood.
    Answered(AnswerMeaning),
    /// An answer to a permission that is neither a yes nor a no.
    UnclearPermission(String),
    /// The question was answered elsewhere; the line that was meant for it.
    AnsweredElsewhere(String),
    /// The question was answered before.
    AlreadyAnswered,
    /// All commands, or one.
    Help(Option<&'static SlashCommand>),
    /// How a command is written.
    Usage(&'static SlashCommand),
    /// Reminders that nobody has read; whether they are marked as read now.
    Inbox(Vec<Firing>, InboxChange),
    /// The plan of a run.
    Plan(Box<RunDetails>),
    /// The run has no plan.
    NoPlan(RunId),
    /// The conversation has no run.
    NoRun,
    /// Runs, the newest first.
    Runs(Vec<RunRow>),
    /// Messages, the oldest first.
    History(Vec<ConversationMessage>),
    /// All loops are to be listed.
    Loops,
    /// New goals use this loop.
    LoopChosen(String),
    /// A run was asked to go on under another loop, and the loop of new goals, if it changed.
    Switch {
        /// The run.
        run: RunId,
        /// The loop that it goes on under, or why not.
        requested: Result<String, AppError>,
        /// The loop of new goals from now on.
        chosen: Option<String>,
    },
    /// The model of new goals.
    ModelIs(String),
    /// New goals use this model.
    ModelChosen(String),
    /// All personas are to be listed.
    Personas,
    /// New goals use this persona.
    PersonaChosen(String),
    /// An image goes with the next goal; how many do now.
    ImageAttached(PathBuf, usize),
    /// The language was changed.
    LanguageChosen,
    /// The model does not see earlier messages from now on.
    BeganAnew,
    /// A run works in the background.
    InBackground(RunId),
    /// The text of other programs' files, or the messages.
    Exported(String),
    /// The same, written to a new file.
    Written(PathBuf),
    /// What became of a file that was taken in.
    Imported(ImportSummary),
    /// No call has an unknown outcome.
    NothingToSettle,
    /// A call with an unknown outcome, and how to settle it.
    ToSettle(OpenUnknown),
    /// The line does not say what happened.
    UnclearSettling(String, OpenUnknown),
    /// It is settled later.
    SettleLater,
    /// What came of a word on a call, and the next call that is open.
    Settled(Box<SettleReport>, Option<OpenUnknown>),
}

/// Whether `/inbox` marked reminders as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxChange {
    /// They stay unread.
    Kept,
    /// They are read now.
    MarkedRead,
}

/// What a command about todos or the schedule did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgendaReply {
    /// The command as it was understood, where its dates were said in other words.
    pub understood: Option<String>,
    /// The year of its date, where it is another one.
    pub other_year: Option<i16>,
    /// The answer, in the person's language.
    pub answer: String,
}
