//! What a run that was followed came to, as it is printed.

use super::Foreground;
use crate::args::Format;
use crate::exit::{Exit, Failure};
use crate::show::{Manner, Shown};
use crate::terminal;
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
        Ok(Exit::of(shown.row.status, shown.reason()))
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
