//! What a run that was followed came to, as it is printed.

use super::Foreground;
use crate::args::OutputFormat;
use crate::exit::{Exit, Failure};
use crate::show::{PrintMode, summary};
use crate::terminal;
use crate::trouble;
use everloop_app::runs::RunDetails;
use everloop_app::trouble::{AdviceFor, ModelTrouble, final_words};
use everloop_text as text;
use everloop_types::ModelError;
use serde_json::json;

impl Foreground<'_> {
    pub(super) async fn finish(&self) -> Result<Exit, Failure> {
        let shown = self.shown().await?;
        self.print(&shown);
        if self.manner() == PrintMode::Lines {
            terminal::complain(&summary(self.app, &shown));
        }
        if shown.has_open_unknown() {
            self.app.note(text::settle::how(&self.run));
        }
        let Some(trouble) = ModelTrouble::of_run(self.app, &shown) else {
            return Ok(Exit::of(shown.row.status, shown.reason()));
        };
        // A program reads the events.
        if self.manner() != PrintMode::Events {
            terminal::complain(&trouble::words(self.app, &trouble, AdviceFor::Shell));
        }
        Ok(match trouble.error.is_about_the_key() {
            true => Exit::Configuration,
            false => Exit::of(shown.row.status, shown.reason()),
        })
    }

    /// The run waits for its model without this process.
    pub(super) async fn no_model(&self, error: &ModelError) -> Result<Exit, Failure> {
        let (app, shown) = (self.app, self.shown().await?);
        // It may be a run below that waits.
        let trouble = ModelTrouble::of_run(app, &shown)
            .unwrap_or_else(|| ModelTrouble::of(app, &shown.history.frame().model.name, error));
        let words = trouble::words(app, &trouble, AdviceFor::Shell);
        terminal::complain(&app.text(text::run::model_down(&words, &self.run.as_str())));
        self.print_result().await?;
        Ok(Exit::Failed)
    }

    pub(super) async fn print_result(&self) -> Result<(), Failure> {
        if self.format != OutputFormat::Text {
            self.print(&self.shown().await?);
        }
        Ok(())
    }

    fn print(&self, shown: &RunDetails) {
        let trouble = ModelTrouble::of_run(self.app, shown);
        let mut result = match self.format {
            OutputFormat::Text => {
                if let Some(text) = final_words(shown, trouble.as_ref()) {
                    terminal::answer(&text);
                }
                return;
            }
            OutputFormat::Json | OutputFormat::StreamJson => shown.result(),
        };
        result["error"] = json!(trouble.map(|trouble| trouble.report(self.app.lang)));
        if self.format == OutputFormat::StreamJson {
            result["type"] = json!("result");
        }
        terminal::answer(&result.to_string());
    }
}
