// The same tasks under chosen loops and models.

use crate::settings::{Form, Value};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[arg(long, value_name = "LOOP,…", value_delimiter = ',', default_value = "all")]
    pub(crate) loops: Vec<String>,
    #[arg(long, value_name = "MODEL,…", value_delimiter = ',', default_value = "competent")]
    pub(crate) models: Vec<String>,
    #[arg(long, value_name = "DIR")]
    pub(crate) tasks: Option<PathBuf>,
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) runs: u64,
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub(crate) timeout: Duration,
    #[arg(long, value_name = "PERCENT",
          value_parser = clap::value_parser!(u64).range(0..=100))]
    pub(crate) min_success: Option<u64>,
    #[command(flatten)]
    pub(crate) output: CompareOutput,
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareOutput {
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    #[arg(long)]
    pub(crate) markdown: bool,
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[arg(long)]
    pub(crate) per_task: bool,
    #[arg(long)]
    pub(crate) list: bool,
}

fn duration(text: &str) -> Result<Duration, String> {
    match Form::Duration.read(text) {
        Ok(Value::Number(ms)) if ms > 0 => Ok(Duration::from_millis(ms)),
        _ => Err(Form::Duration.example()),
    }
}
