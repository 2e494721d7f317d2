//! Why the application could not do what it was asked to.

use crate::config::ConfigError;
use crate::context::images::ImageError;
use crate::conversations::{ListedConversation, TitleError};
use crate::copies::CopyError;
use crate::facts::FactError;
use crate::secrets::SecretError;
use crate::secrets::kept::KeptSecretError;
use crate::settings::SettingError;
use everloop_engine::{DriveError, ForkError, OpenUnknown};
use everloop_store::{Settlement, StoreError};
use everloop_types::{ModelError, RunId, Status};
use std::error::Error;
use std::io;
use std::path::PathBuf;

/// Every failure of the application. A surface makes sentences and exit codes of them.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// There is no home directory, or a file of it failed.
    #[error(transparent)]
    Home(io::Error),
    /// A setting cannot be used.
    #[error("the setting {} cannot be used", .0.key)]
    Setting(Box<SettingError>),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run cannot do what was asked of it.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelChoiceError),
    /// Something that was chosen for a run cannot be used.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A conversation cannot do what was asked of it.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
    /// A file of the person cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The settings were not changed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A copy was not made or not restored.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

impl AppError {
    /// Whether the same may succeed a moment later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_transient())
    }
}

/// The changes of a run cannot be undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The run has not ended.
    #[error("{0} is still working")]
    StillWorking(RunId),
    /// The run came in a file: what it says about files is not about this machine.
    #[error("{0} was imported; its changes were made elsewhere")]
    Imported(RunId),
}

/// A run cannot do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No run has this id.
    #[error("no run {0}")]
    NotFound(String),
    /// Several runs have an id that ends like this.
    #[error("{id} matches several runs")]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// The runs that match.
        all: Vec<RunId>,
    },
    /// The run has ended.
    #[error("{run} has ended: {}", status.as_str())]
    Finished {
        /// The run.
        run: RunId,
        /// How it ended.
        status: Status,
    },
    /// A run of a type cannot be made.
    #[error(transparent)]
    Type(#[from] RunTypeError),
    /// The run cannot be done again, or only that.
    #[error(transparent)]
    Retry(#[from] RetryError),
    /// The changes of the run cannot be undone.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The run is under that loop already.
    #[error("{run} runs under {loop_name} already")]
    SameLoop {
        /// The run.
        run: RunId,
        /// The loop.
        loop_name: String,
    },
    /// A fork could not be made.
    #[error("{parent} cannot be forked: {source}")]
    Fork {
        /// The run to be forked.
        parent: RunId,
        /// Why.
        source: ForkError,
    },
    /// A run could not be driven any further.
    #[error("{run}: {source}")]
    Drive {
        /// The run.
        run: RunId,
        /// Why.
        source: DriveError,
    },
    /// A call of the run cannot be settled.
    #[error(transparent)]
    Settle(#[from] SettlingError),
}

/// A run of a type cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RunTypeError {
    /// There is no such type.
    #[error("no run type {0}")]
    Unknown(String),
    /// The input is not JSON, or not what the type takes.
    #[error("the input of {run_type} cannot be used: {detail}")]
    BadInput {
        /// The type.
        run_type: &'static str,
        /// What is wrong with it.
        detail: String,
    },
}

impl From<RunTypeError> for AppError {
    fn from(error: RunTypeError) -> Self {
        Self::Run(RunError::Type(error))
    }
}

/// A run cannot be done again, or only that.
#[derive(Debug, thiserror::Error)]
pub enum RetryError {
    /// The run has not ended.
    #[error("{run} has not ended: {}", status.as_str())]
    NotOver {
        /// The run.
        run: RunId,
        /// Where it stands.
        status: Status,
    },
    /// The beginning of the run's journal is gone.
    #[error("the journal of {0} was trimmed")]
    NotWhole(RunId),
    /// The run is a task under no loop of people's: it can be done again, not continued.
    #[error("{0} is a task; it can only be retried")]
    IsTask(RunId),
}

impl From<RetryError> for AppError {
    fn from(error: RetryError) -> Self {
        Self::Run(RunError::Retry(error))
    }
}

/// A call whose outcome is unknown cannot be settled.
#[derive(Debug, thiserror::Error)]
pub enum SettlingError {
    /// The run has no call of this name whose outcome is unknown.
    #[error("{run} has no call {call} to settle")]
    UnknownCall {
        /// The run.
        run: RunId,
        /// What was asked for.
        call: String,
    },
    /// Several calls are to be settled, and none was named.
    #[error("{run} has several calls to settle")]
    Several {
        /// The run.
        run: RunId,
        /// The calls.
        calls: Vec<OpenUnknown>,
    },
    /// Nothing is left to settle in this run.
    #[error("nothing to settle in {0}")]
    Nothing(RunId),
    /// Somebody has settled the call before, otherwise.
    #[error("{call} is settled already")]
    AlreadySettled {
        /// The call.
        call: String,
        /// What was said first, if it is known.
        first: Option<Settlement>,
    },
}

/// A model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelChoiceError {
    /// No model is configured.
    #[error("no model is configured")]
    NoModel,
    /// There is no model behind the provider's name.
    #[error("{0} names no model")]
    NoModelName(String),
    /// The model's key could not be resolved.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The provider of a model is unknown and has no base URL; the model's name.
    #[error("unknown provider in {0}")]
    UnknownProvider(String),
    /// The model cannot be connected to.
    #[error("{name} cannot be used: {}", error.detail)]
    Unusable {
        /// Its name.
        name: String,
        /// Why.
        error: ModelError,
    },
    /// The model cannot be connected to.
    #[error("{}", .0.detail)]
    NotConnected(ModelError),
    /// A budget in money is set, and the model has no price.
    #[error("{model} has no price in {}", file.display())]
    NoPrice {
        /// The model.
        model: String,
        /// The table of prices.
        file: PathBuf,
    },
}

/// Something that was chosen for a run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// There is no such loop.
    #[error("no loop {0}")]
    UnknownLoop(String),
    /// The workspace cannot be used.
    #[error("the workspace {} cannot be used", folder.display())]
    Workspace {
        /// The folder.
        folder: PathBuf,
        /// Why, unless it is not a folder.
        source: Option<io::Error>,
    },
    /// There is no such persona.
    #[error("no persona {name}")]
    UnknownPersona {
        /// What was asked for.
        name: String,
        /// Those that there are.
        all: Vec<String>,
    },
    /// No approval has an id that begins so, or several have.
    #[error("no approval {0}")]
    UnknownApproval(String),
    /// There is no such status.
    #[error("no status {0}")]
    UnknownStatus(String),
    /// There is no such skill.
    #[error("no skill {name}")]
    UnknownSkill {
        /// What was asked for.
        name: String,
        /// Those that there are.
        all: Vec<String>,
    },
    /// There is no such built-in tool.
    #[error("no tool {name}")]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// The tool with the nearest name.
        nearest: &'static str,
    },
    /// A persona names a tool that does not exist.
    #[error("the persona {persona} names the unknown tool {tool}")]
    PersonaTool {
        /// The persona.
        persona: String,
        /// The tool.
        tool: String,
        /// The tool with the nearest name.
        nearest: &'static str,
    },
    /// More images than a goal may have; how many it may have.
    #[error("more than {0} images")]
    TooManyImages(usize),
    /// An image cannot be used.
    #[error("{}: {source}", file.display())]
    Image {
        /// The file.
        file: PathBuf,
        /// The most bytes an image may have.
        most: u64,
        /// Why.
        source: ImageError,
    },
}

/// A conversation cannot do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// No conversation has this id, this title or these words.
    #[error("no conversation {0}")]
    NotFound(String),
    /// Several conversations fit.
    #[error("{words} matches several conversations")]
    Ambiguous {
        /// What was asked for.
        words: String,
        /// The conversations that match.
        all: Vec<ListedConversation>,
    },
    /// The title is empty, or longer than so many characters.
    #[error("not a title of at most {0} characters")]
    BadTitle(usize),
    /// The id of a request is empty, or longer than so many characters.
    #[error("not a client_request_id of at most {0} characters")]
    RequestId(usize),
    /// It is open in a terminal.
    #[error("{0} is open in a terminal")]
    InUse(String),
    /// One of its runs has not ended.
    #[error("{run} of {title} has not ended")]
    Working {
        /// The conversation's title.
        title: String,
        /// The run.
        run: RunId,
    },
    /// No message has this id, or not in this conversation.
    #[error("no message {0}")]
    NoMessage(String),
    /// The model made no title.
    #[error(transparent)]
    NoTitle(TitleError),
    /// A fact, mostly of what was said in it, cannot be written or changed.
    #[error(transparent)]
    Fact(#[from] FactError),
}

impl From<FactError> for AppError {
    fn from(error: FactError) -> Self {
        Self::Conversation(ConversationError::Fact(error))
    }
}

/// A file of the person cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The audit file cannot be opened.
    #[error("{}: {source}", file.display())]
    Audit {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of the log cannot be opened.
    #[error("{}: {source}", file.display())]
    Log {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{}: {source}", file.display())]
    NotWritten {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("{}: {source}", file.display())]
    NotRead {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A secret was not kept or removed.
    #[error(transparent)]
    KeptSecret(#[from] KeptSecretError),
    /// Work beside the runtime was broken off.
    #[error(transparent)]
    BrokenOff(tokio::task::JoinError),
    /// A file is longer than this many bytes.
    #[error("longer than {0} bytes")]
    TooLong(u64),
}

impl From<KeptSecretError> for AppError {
    fn from(error: KeptSecretError) -> Self {
        Self::File(FileError::KeptSecret(error))
    }
}

/// An error with all its causes, in their own words.
pub fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        source = cause.source();
    }
    words
}
