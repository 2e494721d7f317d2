//! `secrets` and `audit`. No item here has a doc comment: clap would show it.

use clap::{Args, Subcommand};
use everloop_app::audit_query::AuditEvent;
use everloop_app::settings::Millis;

// Without a verb it lists.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SecretsArgs {
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<SecretsVerb>,
}

impl SecretsArgs {
    pub(crate) fn verb(self) -> SecretsVerb {
        self.verb.unwrap_or(SecretsVerb::List { json: self.json })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsVerb {
    Set {
        name: String,
        #[arg(long)]
        file: bool,
        #[arg(long)]
        json: bool,
    },
    #[command(alias = "ls")]
    List {
        #[arg(long)]
        json: bool,
    },
    #[command(aliases = ["rm", "delete"])]
    Remove {
        name: String,
        #[arg(long)]
        json: bool,
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
    #[arg(long, value_parser = AuditEvent::ALL.map(AuditEvent::as_str))]
    pub(crate) event: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn milliseconds(text: &str) -> Result<u64, String> {
    Millis::parse(text).map(Millis::ms).ok_or_else(Millis::example)
}
