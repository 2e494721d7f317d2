//! The arguments of `skills`, `personas` and `memory`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SkillsArgs {
    pub(crate) name: Option<String>,
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PersonasArgs {
    pub(crate) name: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<MemoryVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    Show {
        id: Option<String>,
    },
    Edit {
        id: Option<String>,
        #[arg(requires = "id")]
        text: Vec<String>,
    },
    Facts {
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        #[arg(long)]
        everywhere: bool,
        #[arg(long, default_value_t = 100)]
        limit: usize,
    },
    Add {
        #[arg(required = true)]
        text: Vec<String>,
        #[arg(long)]
        global: bool,
    },
    Accept {
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    Reject {
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    #[command(alias = "forget")]
    Withdraw {
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    Search {
        #[arg(required = true)]
        words: Vec<String>,
    },
    Clear {
        #[arg(long)]
        yes: bool,
    },
    Path,
}
