//! What a run that was followed came to, as it is printed.

use super::Foreground;
use crate::args::Format;
use crate::exit::{Exit, Failure};
use crate::show::{Manner, Shown};
use crate::terminal;
use everloop_types::journal::{Kind, Outcome};
use everloop_types::{ModelError, Status};
use serde_json::json;

impl Foreground<'_> {
    pub(super) async fn finish(&self) -> Result<Exit, Failure> {
        let shown = self.shown().await?;
        self.print(&shown);
        if self.manner() == Manner::Lines {
            terminal::complain(&shown.summary(self.app));
        }
        if shown.has_open_unknown() {
            self.app.note("settle.how", &[("id", self.run.as_str())]);
        }
        let Some(error) = model_failure(&shown) else {
            return Ok(Exit::of(shown.row.status, shown.reason()));
        };
        // Whoever follows line by line has read it already, and a program reads the events.
        if self.manner() == Manner::Silent {
            let args = [("mark", terminal::marks().failed), ("detail", error.detail.as_str())];
            terminal::complain(&self.app.text("progress.model_failed", &args));
        }
        Ok(match error.is_about_the_key() {
            true => Exit::Configuration,
            false => Exit::of(shown.row.status, shown.reason()),
        })
    }

    pub(super) async fn print_result(&self) -> Result<(), Failure> {
        if self.format != Format::Text {
            self.print(&self.shown().await?);
        }
        Ok(())
    }

    fn print(&self, shown: &Shown) {
        match self.format {
            Format::Text => terminal::answer(&shown.text().unwrap_or_default()),
            Format::Json => terminal::answer(&shown.result().to_string()),
            Format::StreamJson => {
                let mut result = shown.result();
                result["type"] = json!("result");
                terminal::answer(&result.to_string());
            }
        }
    }
}

/// How the model failed last, if the run could not go on for that.
fn model_failure(shown: &Shown) -> Option<&ModelError> {
    if shown.row.status != Status::Failed {
        return None;
    }
    let last = shown.history.entries.iter().rev().find_map(|entry| match &entry.kind {
        Kind::EffectFinished(finished) => Some(&finished.outcome),
        _ => None,
    });
    match last {
        Some(Outcome::ModelFailed(error)) => Some(error),
        _ => None,
    }
}
