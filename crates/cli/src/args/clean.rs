//! The arguments of `clean` and `runs delete`.

use super::secrets::milliseconds;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    #[arg(long, value_name = "90d", value_parser = milliseconds)]
    pub(crate) older_than: Option<u64>,
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteRunsArgs {
    #[arg(required = true)]
    pub(crate) id: Vec<String>,
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long)]
    pub(crate) json: bool,
}
