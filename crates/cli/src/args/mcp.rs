//! MCP servers: which there are, whether they work, and what a person approves.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    Test {
        name: String,
        #[arg(long)]
        json: bool,
    },
    Approve {
        name: String,
        #[arg(long)]
        yes: bool,
    },
}
