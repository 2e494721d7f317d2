//! The command line, as fixed as an API.

use clap::{Args, Parser, Subcommand, ValueEnum};
use everloop_types::Lang;
use std::path::PathBuf;

/// Agent loops that cannot be lost.
#[derive(Debug, Parser)]
#[command(name = "everloop", version = crate::build::VERSION, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Change a setting for this call: section.key=value.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Language of the host's own words.
    #[arg(long, global = true, value_name = "zh-CN|en", value_parser = language)]
    pub(crate) lang: Option<Lang>,
    /// Never ask anything.
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Show less progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

fn language(name: &str) -> Result<Lang, String> {
    Lang::parse(name).ok_or_else(|| "zh-CN | en".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Work on one goal until it is done.
    Run(Run),
    /// List, show, cancel and resume runs.
    #[command(subcommand)]
    Runs(Runs),
    /// Read a run's journal as a story.
    Replay(Replay),
    /// Drive every run that is ready, until stopped.
    Worker(Worker),
    /// Watch a run survive a kill, offline, with a scripted model.
    Tour,
    /// Look at the installation; changes nothing.
    Doctor(Doctor),
    /// Runs a command whose processes die with everloop.
    #[command(name = "__guard", hide = true)]
    Guard {
        /// The command.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<std::ffi::OsString>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What is to be done.
    pub(crate) goal: String,
    /// The loop that decides: plan-replan or react.
    #[arg(long = "loop", value_name = "LOOP")]
    pub(crate) loop_name: Option<String>,
    /// How the answer is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output_format: Format,
    /// The folder that tools are confined to; the current one by default.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Approve every tool request of this run.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    StreamJson,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
        /// Only runs in this state; may be given several times.
        #[arg(long, value_name = "STATUS")]
        status: Vec<String>,
        /// How many at most.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Go on after this run.
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show one run.
    Show {
        /// Its id, or the end of it.
        id: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a run's events, one JSON object a line.
    Events {
        /// Its id, or the end of it.
        id: String,
        /// Only what came after this event.
        #[arg(long, default_value_t = 0)]
        after: i64,
    },
    /// End a run.
    Cancel {
        /// Its id, or the end of it.
        id: String,
    },
    /// Go on with a run, here, to its end or its next question.
    Resume {
        /// Its id, or the end of it.
        id: String,
        /// The answer to its open question.
        #[arg(long)]
        answer: Option<String>,
        /// How the answer is printed.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        output_format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The run's id, or the end of it.
    pub(crate) id: String,
    /// The state after this event instead of the story.
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<i64>,
    /// Recompute every decision and say whether it agrees.
    #[arg(long, conflicts_with = "at")]
    pub(crate) verify: bool,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Stop once nothing is ready any more.
    #[arg(long)]
    pub(crate) drain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
