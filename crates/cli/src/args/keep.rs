//! The arguments of `todo`, `view`, `schedule` and `inbox`: the verbs of the slash commands.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Todo {
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: TodoVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TodoVerb {
    Add {
        #[arg(required = true)]
        text: Vec<String>,
        #[command(flatten)]
        said: TodoOptions,
    },
    List {
        #[command(flatten)]
        filter: Filter,
        #[arg(long)]
        view: Option<String>,
    },
    Get {
        id: i64,
    },
    Update {
        id: i64,
        text: Vec<String>,
        #[command(flatten)]
        said: TodoOptions,
    },
    Done {
        #[arg(required = true)]
        id: Vec<i64>,
    },
    Reopen {
        #[arg(required = true)]
        id: Vec<i64>,
    },
    #[command(visible_alias = "rm")]
    Delete {
        #[arg(required = true)]
        id: Vec<i64>,
    },
    Search {
        #[arg(required = true)]
        word: Vec<String>,
        #[command(flatten)]
        filter: Filter,
    },
    Export {
        file: Option<PathBuf>,
    },
    Import {
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TodoOptions {
    #[arg(long)]
    pub(crate) tag: Option<String>,
    #[arg(long)]
    pub(crate) priority: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(crate) due: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(crate) remind: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Filter {
    #[arg(long)]
    pub(crate) tag: Option<String>,
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ViewTodos {
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) filter: Filter,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Schedule {
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: ScheduleVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleVerb {
    Add {
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        said: EntryOptions,
    },
    List,
    Get {
        id: i64,
    },
    View {
        stretch: String,
        date: Vec<String>,
    },
    Update {
        id: i64,
        words: Vec<String>,
        #[command(flatten)]
        said: EntryOptions,
    },
    Repeat {
        id: i64,
        switch: OnOff,
    },
    #[command(visible_alias = "rm")]
    Delete {
        #[arg(required = true)]
        id: Vec<i64>,
    },
    Export {
        file: Option<PathBuf>,
    },
    Import {
        file: PathBuf,
    },
    Simulate(Simulate),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct EntryOptions {
    #[arg(long, value_name = "MIN")]
    pub(crate) duration: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(crate) remind: Option<String>,
    #[arg(long, value_name = "MIN")]
    pub(crate) interval: Option<String>,
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    pub(crate) times: Option<String>,
    #[arg(long, value_name = "DATE")]
    pub(crate) remind_start: Option<String>,
    #[arg(long, value_name = "RULE")]
    pub(crate) repeat: Option<String>,
    #[arg(long, value_name = "once|skip|all")]
    pub(crate) catch_up: Option<String>,
    #[arg(long)]
    pub(crate) allow_conflict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[arg(long, value_name = "DATE")]
    pub(crate) from: String,
    #[arg(long, value_name = "DATE")]
    pub(crate) to: String,
    #[arg(long, value_name = "N,N|all")]
    pub(crate) crash_at: Option<String>,
    #[arg(long, value_name = "DATE..DATE")]
    pub(crate) down: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Inbox {
    #[arg(long)]
    pub(crate) read: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct Chat {
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) how: super::How,
}
