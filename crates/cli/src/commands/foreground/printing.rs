//! What a run that was followed came to, as it is printed.

use super::Foreground;
use crate::args::OutputFormat;
use everloop_app::run_json;
use everloop_app::runs::RunDetails;
use everloop_app::trouble::{AdviceFor, ModelTrouble, final_words};
use everloop_console::show::{PrintMode, Printer, summary_line};
use everloop_console::{Exit, Failure, terminal, trouble};
use everloop_text as text;
use everloop_types::ModelError;
use serde_json::json;

impl Foreground<'_> {
    pub(super) async fn finish(&self, printer: &Printer<'_>) -> Result<Exit, Failure> {
        let shown = self.shown().await?;
        self.print(&shown, |text| printer.unshown(text));
        if self.manner() == PrintMode::Lines {
            terminal::eprint_styled(&summary_line(self.app, &shown));
        }
        if shown.has_open_unknown() {
            self.app.note(text::settle::how(&self.run.short()));
        }
        let Some(trouble) = ModelTrouble::of_run(self.app, &shown) else {
            return Ok(Exit::of(shown.row.status, shown.reason()));
        };
        // A program reads the events.
        if self.manner() != PrintMode::Events {
            terminal::eprint_line(&trouble::words(self.app, &trouble, AdviceFor::Shell));
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
        terminal::eprint_line(&app.text(text::run::model_down(&words, &self.run.short())));
        self.print_result().await?;
        Ok(Exit::Failed)
    }

    pub(super) async fn print_result(&self) -> Result<(), Failure> {
        if self.format != OutputFormat::Text {
            self.print(&self.shown().await?, |text| Some(text.to_owned()));
        }
        Ok(())
    }

    fn print(&self, shown: &RunDetails, unshown: impl Fn(&str) -> Option<String>) {
        if self.format == OutputFormat::Text {
            let trouble = ModelTrouble::of_run(self.app, shown);
            let last = final_words(shown, trouble.as_ref());
            if let Some(text) = last.and_then(|text| unshown(&text)) {
                terminal::print_markdown(&text);
            }
            return;
        }
        let mut result = run_json::printed_result(self.app, shown, self.app.lang);
        if self.format == OutputFormat::StreamJson {
            result["type"] = json!("result");
        }
        terminal::print_line(&result.to_string());
    }
}
