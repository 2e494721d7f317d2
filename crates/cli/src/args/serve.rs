//! `serve` and `token`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    // What the flag of every command says.
    #[arg(skip)]
    pub(crate) insecure: bool,
    #[arg(long)]
    pub(crate) open: bool,
    #[arg(long)]
    pub(crate) print_unit: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<TokenVerb>,
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum TokenVerb {
    Show,
    Rotate,
}
