//! The arguments of `migrate`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    #[arg(long, value_name = "DATABASE")]
    pub(crate) to: String,
    #[arg(long)]
    pub(crate) json: bool,
}
