//! The arguments of `runs undo`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    pub(crate) id: String,
    #[arg(long, value_name = "STEP", conflicts_with_all = ["list", "redo"])]
    pub(crate) to: Option<usize>,
    #[arg(long, conflicts_with = "redo")]
    pub(crate) list: bool,
    #[arg(long)]
    pub(crate) redo: bool,
    #[arg(long)]
    pub(crate) json: bool,
}
