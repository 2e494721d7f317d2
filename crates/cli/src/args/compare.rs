// The same tasks under chosen loops and models.

use clap::Args;
use everloop_app::settings::Millis;
use everloop_compare::Latency;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[arg(long, value_name = "LOOP,…", value_delimiter = ',', default_value = "all")]
    pub(crate) loops: Vec<String>,
    #[arg(long, value_name = "MODEL,…", value_delimiter = ',', default_value = "competent")]
    pub(crate) models: Vec<String>,
    #[arg(long, value_name = "DIR")]
    pub(crate) tasks: Option<PathBuf>,
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Vec<String>,
    #[command(flatten)]
    pub(crate) each: CompareRunArgs,
    #[arg(long, value_name = "PERCENT",
          value_parser = clap::value_parser!(u64).range(0..=100))]
    pub(crate) min_success: Option<u64>,
    #[command(flatten)]
    pub(crate) output: CompareOutputArgs,
    #[arg(long)]
    pub(crate) yes: bool,
}

// How each run is made.
#[derive(Debug, Args)]
pub(crate) struct CompareRunArgs {
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) runs: u64,
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub(crate) timeout: Duration,
    #[arg(long, value_name = "CALL,TOKEN", value_parser = latency)]
    pub(crate) latency: Option<Latency>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareOutputArgs {
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
    let time = Millis::parse(text).filter(|time| time.ms() > 0);
    time.map(Millis::duration).ok_or_else(Millis::example)
}

/// A duration for each call, and one for each token.
fn latency(text: &str) -> Result<Latency, String> {
    let ms = |text: &str| Millis::parse(text.trim()).map(Millis::ms);
    let parts = text.split_once(',').and_then(|(call, token)| Some((ms(call)?, ms(token)?)));
    let (call_ms, token_ms) = parts.ok_or("1s,20ms")?;
    Ok(Latency { call_ms, token_ms })
}
