//! The models: which there are, and whether they work.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ModelsArgs {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<ModelsVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsVerb {
    Test {
        name: Option<String>,
        #[arg(long)]
        json: bool,
    },
    Forget {
        name: String,
        #[arg(long)]
        json: bool,
    },
}
