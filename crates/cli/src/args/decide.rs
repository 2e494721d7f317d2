//! The arguments of `everloop decide`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    #[arg(required_unless_present = "evaluate", conflicts_with = "evaluate")]
    pub(crate) message: Option<String>,
    // Without a file, the messages that come with the program.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) evaluate: Option<Option<PathBuf>>,
    #[arg(long, value_name = "TASK", conflicts_with = "evaluate")]
    pub(crate) running: Vec<String>,
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}
