//! `secrets` and `audit`. No item here has a doc comment: clap would show it.

use clap::{Args, Subcommand};
use everloop_app::settings::Millis;

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsVerb {
    Set {
        name: String,
        #[arg(long)]
        file: bool,
    },
    List {
        #[arg(long)]
        json: bool,
    },
    Remove {
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    #[arg(long, value_name = "2d", value_parser = milliseconds)]
    pub(crate) since: Option<u64>,
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    #[arg(long)]
    pub(crate) failed: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn milliseconds(text: &str) -> Result<u64, String> {
    Millis::parse(text).map(Millis::ms).ok_or_else(Millis::example)
}
