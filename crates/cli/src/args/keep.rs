//! The arguments of `todo`, `view`, `schedule` and `inbox`: the verbs of the slash commands.

use clap::{Args, Subcommand, ValueEnum};
use everloop_chat::ChatTarget;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct TodoCommandArgs {
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<TodoVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TodoVerb {
    Add {
        #[arg(required = true)]
        text: Vec<String>,
        #[command(flatten)]
        said: TodoOptionArgs,
    },
    #[command(alias = "ls")]
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
    Done(TodoMarkArgs),
    Reopen(TodoMarkArgs),
    #[command(visible_alias = "rm", aliases = ["del", "remove"])]
    Delete(TodoMarkArgs),
    Undo {
        count: Option<String>,
    },
    Snooze {
        words: Vec<String>,
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

// Numbers, or what selects the todos.
#[derive(Debug, Args)]
pub(crate) struct TodoMarkArgs {
    #[arg(value_parser = number, required_unless_present_any = ["tag", "view", "open"])]
    pub(crate) id: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: TodoFilterArgs,
    #[arg(long)]
    pub(crate) view: Option<String>,
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TodoOptionArgs {
    #[arg(long)]
    pub(crate) tag: Vec<String>,
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
    pub(crate) tag: Vec<String>,
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    pub(crate) name: Option<String>,
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
    pub(crate) verb: Option<ScheduleVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleVerb {
    Add {
        #[arg(required_unless_present = "cron")]
        words: Vec<String>,
        #[command(flatten)]
        said: EntryOptionArgs,
    },
    #[command(alias = "ls")]
    List,
    #[command(visible_alias = "show")]
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
    #[command(visible_alias = "rm", aliases = ["del", "remove"])]
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
    Pause {
        #[arg(value_parser = number)]
        id: String,
    },
    Resume {
        #[arg(value_parser = number)]
        id: String,
    },
    Run {
        #[arg(value_parser = number)]
        id: String,
    },
    Runs {
        #[arg(value_parser = number)]
        id: String,
    },
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
    #[arg(long, visible_alias = "force")]
    pub(crate) allow_conflict: bool,
    #[command(flatten)]
    pub(crate) run: Box<ScheduledRunArgs>,
}

// What an entry starts.
#[derive(Debug, Args)]
pub(crate) struct ScheduledRunArgs {
    #[arg(long, value_name = "GOAL")]
    pub(crate) run: Option<String>,
    #[arg(long, value_name = "EXPR")]
    pub(crate) cron: Option<String>,
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    #[arg(long = "loop", value_name = "LOOP")]
    pub(crate) run_loop: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub(crate) persona: Option<String>,
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<String>,
    #[arg(long, value_name = "own|ID|new")]
    pub(crate) conversation: Option<String>,
    #[arg(long, value_name = "skip|queue_one|cancel_previous|allow")]
    pub(crate) overlap: Option<String>,
    #[arg(long, value_name = "N")]
    pub(crate) pause_after: Option<String>,
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
    // What `-c` and `-r` before it mean.
    #[arg(skip)]
    pub(crate) wanted: ChatTarget,
}

// A number, a range, or several with commas between them, as input methods write them: `１，#2`.
fn number(text: &str) -> Result<String, std::num::ParseIntError> {
    let plain = |c: char| match c {
        '\u{ff10}'..='\u{ff19}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    };
    for part in text.split([',', '\u{ff0c}', '\u{3001}']) {
        for bound in part.splitn(2, ['-', '~']) {
            let digits: String =
                bound.trim_start_matches(['#', '\u{ff03}']).chars().map(plain).collect();
            digits.parse::<i64>()?;
        }
    }
    Ok(text.to_owned())
}
