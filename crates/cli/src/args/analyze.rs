// The arguments of `everloop analyze`.

use super::{OutputFormat, RunOptionArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    // Files, and last the question, unless it is a profile or a check.
    #[arg(required_unless_present = "check", value_name = "FILE… QUESTION")]
    pub(crate) words: Vec<String>,
    #[arg(long, conflicts_with = "check")]
    pub(crate) profile: bool,
    #[arg(long, value_name = "DIR", conflicts_with = "words")]
    pub(crate) check: Option<PathBuf>,
    #[arg(long, value_name = "DIR", requires = "check")]
    pub(crate) data: Option<PathBuf>,
    #[arg(long, requires = "check")]
    pub(crate) with_code: bool,
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) out: Option<PathBuf>,
    #[arg(long, conflicts_with_all = ["profile", "check"])]
    pub(crate) background: bool,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) how: RunOptionArgs,
}
