//! The arguments of `runs`. No item here has a doc comment: clap would show it.

use super::{DeleteRunsArgs, OutputFormat, UndoArgs};
use clap::{Args, Subcommand, ValueEnum};
use everloop_app::settling::SettleWord;
use serde::Serialize;

// Without a verb it lists.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<RunsVerb>,
}

// Runs of one page of the list.
const PAGE: usize = 50;

impl RunsArgs {
    pub(crate) fn verb(self) -> RunsVerb {
        let list = RunsVerb::List { json: self.json, status: vec![], limit: PAGE, cursor: None };
        self.verb.unwrap_or(list)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsVerb {
    #[command(alias = "ls")]
    List {
        #[arg(long)]
        json: bool,
        #[arg(long, value_name = "STATUS")]
        status: Vec<String>,
        #[arg(long, default_value_t = PAGE)]
        limit: usize,
        #[arg(long)]
        cursor: Option<String>,
    },
    Show {
        id: String,
        #[arg(long)]
        json: bool,
        #[arg(long)]
        diff: bool,
    },
    Tree {
        id: String,
        #[arg(long)]
        json: bool,
    },
    Events {
        id: String,
        #[arg(long, default_value_t = 0)]
        after: i64,
    },
    Cancel {
        id: String,
        #[arg(long)]
        json: bool,
    },
    #[command(visible_alias = "rm")]
    Delete(DeleteRunsArgs),
    Resume {
        id: String,
        #[arg(long)]
        answer: Option<String>,
        #[arg(long, value_name = "QUESTION", requires = "answer")]
        to: Option<String>,
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        output_format: OutputFormat,
        #[arg(long, conflicts_with = "output_format")]
        json: bool,
    },
    Switch {
        id: String,
        #[arg(long = "loop", value_name = "LOOP")]
        loop_name: String,
        #[arg(long)]
        yes: bool,
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        output_format: OutputFormat,
        #[arg(long, conflicts_with = "output_format")]
        json: bool,
    },
    Undo(UndoArgs),
    Retry {
        id: String,
        #[arg(long)]
        background: bool,
        #[arg(short, long, value_name = "MODEL")]
        model: Option<String>,
        #[arg(long)]
        yes: bool,
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        output_format: OutputFormat,
        #[arg(long, conflicts_with = "output_format")]
        json: bool,
    },
    Settle {
        id: String,
        #[arg(value_enum)]
        word: SettleArg,
        #[arg(long)]
        effect: Option<String>,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SettleArg {
    Happened,
    Not,
    Probe,
}

impl From<SettleArg> for SettleWord {
    fn from(word: SettleArg) -> Self {
        match word {
            SettleArg::Happened => Self::Happened,
            SettleArg::Not => Self::DidNot,
            SettleArg::Probe => Self::Probe,
        }
    }
}
