//! What people allowed for good.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ApprovalsArgs {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<ApprovalsVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsVerb {
    #[command(alias = "ls")]
    List {
        #[arg(long)]
        json: bool,
    },
    #[command(aliases = ["rm", "delete"])]
    Remove {
        id: String,
        #[arg(long)]
        json: bool,
    },
}
