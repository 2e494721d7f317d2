//! The arguments of `conversations`.

use clap::{Args, Subcommand, ValueEnum};
use everloop_app::conversations::ConversationFormat;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConversationsArgs {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<ConversationsVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConversationsVerb {
    List {
        #[arg(long)]
        here: bool,
        #[arg(long)]
        all: bool,
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
    Show {
        id: String,
        #[arg(long, default_value_t = 200)]
        limit: usize,
        #[arg(long, value_name = "POSITION")]
        before: Option<i64>,
        #[arg(long)]
        json: bool,
    },
    Search {
        #[arg(required = true)]
        words: Vec<String>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[arg(long)]
        messages: bool,
        #[arg(long, value_name = "CURSOR", requires = "messages", allow_negative_numbers = true)]
        next: Option<i64>,
        #[arg(long)]
        json: bool,
    },
    Read {
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Vec<String>,
        #[arg(long)]
        all: bool,
        #[arg(long, value_name = "MESSAGE", conflicts_with = "all")]
        upto: Option<String>,
        #[arg(long)]
        json: bool,
    },
    Rename {
        id: String,
        #[arg(required_unless_present = "auto", conflicts_with = "auto")]
        title: Vec<String>,
        #[arg(long)]
        auto: bool,
        #[arg(long)]
        json: bool,
    },
    Archive {
        id: String,
        #[arg(long)]
        undo: bool,
        #[arg(long)]
        json: bool,
    },
    Memory {
        id: String,
        #[arg(value_parser = ["on", "off"])]
        state: String,
        #[arg(long)]
        json: bool,
    },
    Unarchive {
        id: String,
        #[arg(long)]
        json: bool,
    },
    Delete {
        id: String,
        #[arg(long)]
        yes: bool,
        #[arg(long)]
        json: bool,
    },
    Export {
        id: String,
        #[arg(long, value_enum, default_value_t = ExportForm::Md)]
        format: ExportForm,
        #[arg(long, visible_alias = "output", value_name = "FILE", default_value = "-")]
        out: PathBuf,
        #[arg(long, conflicts_with = "format")]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    Md,
    Json,
    Jsonl,
}

impl From<ExportForm> for ConversationFormat {
    fn from(form: ExportForm) -> Self {
        match form {
            ExportForm::Md => Self::Markdown,
            ExportForm::Json => Self::Json,
            ExportForm::Jsonl => Self::JsonLines,
        }
    }
}
