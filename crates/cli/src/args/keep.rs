//! The arguments of `todo`, `view`, `schedule` and `inbox`: the verbs of the slash commands.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct TodoCommandArgs {
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
        said: TodoOptionArgs,
    },
    List {
        #[command(flatten)]
        filter: TodoFilterArgs,
        #[arg(long)]
        view: Option<String>,
    },
    Get {
        #[arg(value_parser = number)]
        id: String,
    },
    Update {
        #[arg(value_parser = number)]
        id: String,
        text: Vec<String>,
        #[command(flatten)]
        said: TodoOptionArgs,
    },
    Done {
        #[arg(required = true, value_parser = number)]
        id: Vec<String>,
    },
    Reopen {
        #[arg(required = true, value_parser = number)]
        id: Vec<String>,
    },
    #[command(visible_alias = "rm")]
    Delete {
        #[arg(required = true, value_parser = number)]
        id: Vec<String>,
    },
    Search {
        #[arg(required = true)]
        word: Vec<String>,
        #[command(flatten)]
        filter: TodoFilterArgs,
    },
    Export {
        file: Option<PathBuf>,
    },
    Import {
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TodoOptionArgs {
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
pub(crate) struct TodoFilterArgs {
    #[arg(long)]
    pub(crate) tag: Option<String>,
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) filter: TodoFilterArgs,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScheduleCommandArgs {
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
        said: EntryOptionArgs,
    },
    List,
    Get {
        #[arg(value_parser = number)]
        id: String,
    },
    View {
        stretch: String,
        date: Vec<String>,
    },
    Update {
        #[arg(value_parser = number)]
        id: String,
        words: Vec<String>,
        #[command(flatten)]
        said: EntryOptionArgs,
    },
    Repeat {
        #[arg(value_parser = number)]
        id: String,
        switch: OnOff,
    },
    #[command(visible_alias = "rm")]
    Delete {
        #[arg(required = true, value_parser = number)]
        id: Vec<String>,
    },
    Export {
        file: Option<PathBuf>,
    },
    Import {
        file: PathBuf,
    },
    Simulate(SimulateArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct EntryOptionArgs {
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
pub(crate) struct SimulateArgs {
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
pub(crate) struct InboxArgs {
    #[arg(long)]
    pub(crate) read: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ChatArgs {
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) how: super::RunOptionArgs,
}

// A number, or several with commas between them, as input methods write them: `１，#2`.
fn number(text: &str) -> Result<String, std::num::ParseIntError> {
    let plain = |c: char| match c {
        '\u{ff10}'..='\u{ff19}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    };
    for part in text.split([',', '\u{ff0c}', '\u{3001}']) {
        let digits: String =
            part.trim_start_matches(['#', '\u{ff03}']).chars().map(plain).collect();
        digits.parse::<i64>()?;
    }
    Ok(text.to_owned())
}
