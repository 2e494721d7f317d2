//! What a line led to, as data. A surface makes words of it.

use super::commands::{ChatScreen, CopyPart, FactReply};
use super::{RewindReport, RewindTurn};
use crate::analysis::DataPreview;
use crate::answers::AnswerMeaning;
use crate::context::custom_commands::CustomCommand;
use crate::conversations::ListedConversation;
use crate::error::AppError;
use crate::mentions::MentionNote;
use crate::runs::RunDetails;
use crate::settling::SettleReport;
use crate::slash::SlashCommand;
use crate::undo::{RunChanges, UndoReport};
use crate::usage_report::UsageReport;
use everloop_agenda::commands::{CommandError, CommandNote};
use everloop_agenda::desk::AgendaResult;
use everloop_agenda::portable::ImportSummary;
use everloop_engine::OpenUnknown;
use everloop_store::{ConversationMessage, Firing, RunRow};
use everloop_types::{ApprovalMode, Question, RunId};
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
    /// The person picks the turn to go back to; the newest first.
    Rewind(Vec<RewindTurn>),
    /// The tour is wanted.
    Tour,
    /// Something that the surface shows as its own command does.
    Screen(ChatScreen),
    /// A text for the clipboard.
    Copy(String),
    /// A command of the person's own, to be run and watched.
    RunCommand(String),
    /// A command of the workspace that nobody has approved, and the line to send once it is.
    Approve(Box<CustomCommand>, String),
    /// Which conversation is to go on is for the person to say; the run that is meant where nobody
    /// can be asked.
    Pick(Vec<ListedConversation>, Option<RunId>),
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
    /// What the data of an analysis are, before any model sees them.
    DataPreview(Box<DataPreview>),
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
    /// "Always" may cover several things: the next line says which.
    WhichScope(Box<Question>),
    /// How the call of the question is changed, or that it cannot be.
    HowToEdit(Box<Question>),
    /// What new goals do without asking.
    ApprovalModeIs(ApprovalMode),
    /// The same, changed just now.
    ApprovalModeChosen(ApprovalMode),
    /// There is no such mode.
    UnknownApprovalMode(String),
    /// An answer to a permission that is neither a yes nor a no.
    UnclearPermission(String),
    /// The question was answered elsewhere; the line that was meant for it.
    AnsweredElsewhere(String),
    /// The question was answered before.
    AlreadyAnswered,
    /// All commands, or one.
    Help(Option<&'static SlashCommand>),
    /// How a command that somebody wrote is used.
    HelpCustom(Box<CustomCommand>),
    /// How a command is written.
    Usage(&'static SlashCommand),
    /// Reminders that nobody has read; whether they are marked as read now.
    Inbox(Vec<Firing>, InboxChange),
    /// The plan of a run.
    Plan(Box<RunDetails>),
    /// The run has no plan, yet or because its loop makes none.
    NoPlan {
        /// The run.
        run: RunId,
        /// Its loop, if that makes no plan.
        planless: Option<String>,
    },
    /// A run that ended well would be copied as it is: what is wanted of the new one?
    ForkAsks(RunId),
    /// What was used.
    Totals(Box<UsageReport>),
    /// The memory of the workspace: its file and text.
    Memory(PathBuf, String),
    /// What came of `/memory`.
    Facts(FactReply),
    /// There is no answer yet, or none with code.
    NothingToCopy(CopyPart),
    /// What came of the files that a goal names.
    Mentions(Vec<MentionNote>),
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
    /// The model of new goals, and what its provider offers.
    ModelIs {
        /// As in `provider/model`.
        name: String,
        /// Empty if it does not say.
        offered: Vec<String>,
    },
    /// New goals use this model.
    ModelChosen {
        /// As in `provider/model`.
        name: String,
        /// What its provider offers, if that model is not among it.
        others: Vec<String>,
    },
    /// All personas are to be listed.
    Personas,
    /// New goals use this persona.
    PersonaChosen(String),
    /// An image goes with the next goal; how many do now.
    ImageAttached(PathBuf, usize),
    /// The language was changed.
    LanguageChosen,
    /// A new conversation begins.
    BeganAnew,
    /// A new conversation with this title has begun.
    BeganAnewAs(String),
    /// A conversation goes on; what was said last in it.
    ConversationOpened(Box<ListedConversation>, Vec<ConversationMessage>),
    /// The conversation's folder is gone, so the chat stays in its own.
    FolderGone(Box<ListedConversation>, String),
    /// Conversations, the newest first.
    Conversations(Vec<ListedConversation>),
    /// The conversation was given this title.
    Renamed(String),
    /// A run works in the background.
    InBackground(RunId),
    /// The text of other programs' files, or the messages.
    Exported(String),
    /// The same, written to a new file.
    Written(PathBuf),
    /// What became of a file that was taken in.
    Imported(ImportSummary),
    /// What a run changed, by number.
    Changes(Box<RunChanges>),
    /// What became of files, run by run.
    Undone(Vec<UndoReport>),
    /// The conversation has no run whose changes could be undone.
    NothingToUndo,
    /// No undo can be taken back.
    NothingToRedo,
    /// Files, and perhaps the conversation, are as they were before a turn.
    Rewound(RewindReport),
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
    /// What its result does not show.
    pub notes: Vec<CommandNote>,
    /// What was done, or why it was not.
    pub result: AgendaResult,
}
