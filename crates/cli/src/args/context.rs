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
    #[command(subcommand)]
    pub(crate) verb: Option<MemoryVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    Show,
    Edit,
    Clear {
        #[arg(long)]
        yes: bool,
    },
    Path,
}
