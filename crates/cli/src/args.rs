//! The command line, as fixed as an API.
//!
//! Its words are in the catalog (`help.*`). No item here has a doc comment: clap would show it.

mod analyze;
mod approvals;
mod clean;
mod compare;
mod context;
mod conversations;
mod decide;
mod keep;
mod mcp;
mod migrate;
mod models;
mod runs;
mod secrets;
mod serve;
mod undo;

pub(crate) use analyze::AnalyzeArgs;
pub(crate) use approvals::{ApprovalsArgs, ApprovalsVerb};
pub(crate) use clean::{CleanArgs, DeleteRunsArgs};
pub(crate) use compare::{CompareArgs, CompareOutputArgs};
pub(crate) use context::{MemoryArgs, MemoryVerb, PersonasArgs, SkillsArgs};
pub(crate) use conversations::{ConversationsArgs, ConversationsVerb};
pub(crate) use decide::DecideArgs;
pub(crate) use keep::{
    ChatArgs, EntryOptionArgs, InboxArgs, OnOff, ScheduleCommandArgs, ScheduleVerb, SimulateArgs,
    TodoCommandArgs, TodoFilterArgs, TodoMarkArgs, TodoOptionArgs, TodoVerb, ViewArgs,
};
pub(crate) use mcp::{McpArgs, McpVerb};
pub(crate) use migrate::MigrateArgs;
pub(crate) use models::{ModelsArgs, ModelsVerb};
pub(crate) use runs::{RunsArgs, RunsVerb, SettleArg};
pub(crate) use secrets::{AuditArgs, SecretsArgs, SecretsVerb};
pub(crate) use serve::{ServeArgs, TokenArgs, TokenVerb};
pub(crate) use undo::UndoArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use everloop_app::forks::ForkOptions;
use everloop_app::frames::RunOptions;
use everloop_types::{ApprovalMode, Lang};
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(name = "everloop", disable_help_subcommand = true)]
#[command(version = crate::build::NUMBER, long_version = crate::build::VERSION)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    // A first message, or with `--print` the question.
    pub(crate) message: Option<String>,
    #[arg(short, long)]
    pub(crate) print: bool,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    // The same as `--output-format json`, here and wherever there is one.
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) json: bool,
    // The newest conversation of this folder; with `--print` that of the last such question.
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub(crate) continued: bool,
    #[arg(short, long, value_name = "ID|TITLE", num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) how: RunOptionArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct CommonArgs {
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[arg(long, global = true, value_name = "URL|PATH")]
    pub(crate) database: Option<String>,
    #[arg(long, global = true, value_name = "zh-CN|en", value_parser = language)]
    pub(crate) lang: Option<Lang>,
    #[arg(long, global = true, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    // An Everloop server elsewhere.
    #[arg(long, global = true, value_name = "URL", conflicts_with = "database")]
    pub(crate) server: Option<String>,
    // Something else encrypts the connection.
    #[arg(long, global = true)]
    pub(crate) insecure: bool,
}

// How a goal is worked on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunOptionArgs {
    #[arg(long = "loop", value_name = "LOOP")]
    pub(crate) loop_name: Option<String>,
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[arg(long, value_name = "NAME")]
    pub(crate) persona: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Vec<PathBuf>,
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long, value_name = "MODE", value_parser = approval_mode, conflicts_with = "yes")]
    pub(crate) approve: Option<ApprovalMode>,
}

impl RunOptionArgs {
    // What is said here, and what is said before the command where nothing is.
    pub(crate) fn or(self, before: Self) -> Self {
        Self {
            loop_name: self.loop_name.or(before.loop_name),
            model: self.model.or(before.model),
            workspace: self.workspace.or(before.workspace),
            persona: self.persona.or(before.persona),
            image: if self.image.is_empty() { before.image } else { self.image },
            yes: self.yes || before.yes,
            approve: self.approve.or(before.approve),
        }
    }
}

impl From<&RunOptionArgs> for RunOptions {
    fn from(how: &RunOptionArgs) -> Self {
        Self {
            loop_name: how.loop_name.clone(),
            model: how.model.clone(),
            workspace: how.workspace.clone(),
            persona: how.persona.clone(),
            images: how.image.clone(),
            approve_all: how.yes,
            approval_mode: how.approve,
        }
    }
}

fn approval_mode(name: &str) -> Result<ApprovalMode, String> {
    ApprovalMode::parse(name).ok_or_else(|| "ask | edits | plan | all".to_owned())
}

fn language(name: &str) -> Result<Lang, String> {
    Lang::parse(name).ok_or_else(|| "zh-CN | en".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(ChatArgs),
    Run(RunArgs),
    Analyze(AnalyzeArgs),
    Runs(RunsArgs),
    Conversations(ConversationsArgs),
    Loops(LoopsArgs),
    Decide(DecideArgs),
    Tools(ToolsArgs),
    Replay(ReplayArgs),
    Fork(ForkArgs),
    Diff(DiffArgs),
    Compare(CompareArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Todo(TodoCommandArgs),
    View(ViewArgs),
    Schedule(ScheduleCommandArgs),
    Inbox(InboxArgs),
    Approvals(ApprovalsArgs),
    Worker(WorkerArgs),
    Serve(ServeArgs),
    Token(TokenArgs),
    Tour(TourArgs),
    Models(ModelsArgs),
    Mcp(McpArgs),
    Skills(SkillsArgs),
    Personas(PersonasArgs),
    Memory(MemoryArgs),
    Doctor(DoctorArgs),
    Config(ConfigArgs),
    Secrets(SecretsArgs),
    Audit(AuditArgs),
    Clean(CleanArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Migrate(MigrateArgs),
    Completion(CompletionArgs),
    Man(ManArgs),
    Help(HelpArgs),
    // What `--print` becomes.
    #[command(name = "__print", hide = true)]
    Print(PrintArgs),
    // Runs a command whose processes die with everloop; for everloop itself.
    #[command(name = "__guard", hide = true)]
    Guard {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<std::ffi::OsString>,
    },
    // Becomes a command in a sandbox; for everloop itself.
    #[command(name = "__sandbox", hide = true)]
    Sandbox {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<std::ffi::OsString>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PrintArgs {
    pub(crate) question: Option<String>,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    #[arg(long = "continue")]
    pub(crate) continued: bool,
    #[arg(long, num_args = 0..=1)]
    pub(crate) resume: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) how: RunOptionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    pub(crate) topic: Vec<String>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    #[arg(required_unless_present = "run_type")]
    pub(crate) goal: Option<String>,
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "goal")]
    pub(crate) run_type: Option<String>,
    #[arg(long, value_name = "JSON", requires = "run_type")]
    pub(crate) input: Option<String>,
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    #[arg(long)]
    pub(crate) background: bool,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) how: RunOptionArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    #[default]
    Text,
    Json,
    StreamJson,
}

impl OutputFormat {
    // What `--json` makes of it.
    pub(crate) fn or_json(self, json: bool) -> Self {
        if json { Self::Json } else { self }
    }
}

#[derive(Debug, Args)]
pub(crate) struct LoopsArgs {
    pub(crate) name: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    pub(crate) name: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    // An id, here and elsewhere, may also be the end of one.
    pub(crate) id: String,
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<i64>,
    #[arg(long, conflicts_with = "at")]
    pub(crate) verify: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TourArgs {
    #[arg(long)]
    pub(crate) fast: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    pub(crate) id: String,
    pub(crate) message: Option<String>,
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<i64>,
    #[arg(long = "loop", value_name = "LOOP")]
    pub(crate) loop_name: Option<String>,
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) json: bool,
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[arg(long)]
    pub(crate) yes: bool,
}

impl From<&ForkArgs> for ForkOptions {
    fn from(fork: &ForkArgs) -> Self {
        Self {
            message: fork.message.clone().unwrap_or_default(),
            at: fork.at,
            loop_name: fork.loop_name.clone(),
            model: fork.model.clone(),
            workspace: fork.workspace.clone(),
            approve_all: fork.yes,
            idem_key: None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    pub(crate) one: String,
    pub(crate) other: String,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) id: Vec<String>,
    #[arg(long)]
    pub(crate) all: bool,
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    pub(crate) file: PathBuf,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    #[arg(long)]
    pub(crate) drain: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[arg(long)]
    pub(crate) json: bool,
}

// Without a verb it shows all settings.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigArgs {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<ConfigVerb>,
}

impl ConfigArgs {
    pub(crate) fn verb(self) -> ConfigVerb {
        self.verb.unwrap_or(ConfigVerb::Show { origin: false, json: self.json })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    Get {
        key: String,
        #[arg(long)]
        json: bool,
    },
    Set {
        key: String,
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[arg(long)]
        json: bool,
    },
    #[command(alias = "rm")]
    Unset {
        key: String,
        #[arg(long)]
        json: bool,
    },
    #[command(aliases = ["list", "ls"])]
    Show {
        #[arg(long)]
        origin: bool,
        #[arg(long)]
        json: bool,
    },
    Edit,
    Path {
        #[arg(long)]
        json: bool,
    },
    Setup,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    pub(crate) file: Option<PathBuf>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    pub(crate) file: PathBuf,
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
