//! A run on a server elsewhere, shown as one that is driven here.

use super::RemoteConsole;
use crate::args::OutputFormat;
use everloop_console::Signals;
use everloop_console::show::{PrintMode, Printer};
use everloop_console::terminal;
use everloop_console::{Exit, Failure};
use everloop_engine::{EventKind, RunEvent, RunView, WaitingFor};
use everloop_markdown::{StyledLine, Tone};
use everloop_remote::FeedNews;
use everloop_text as text;
use everloop_types::{Reason, RunId, Status};
use serde_json::{Value, json};
use std::time::Duration;

/// How often the status line moves.
const TICK: Duration = Duration::from_millis(250);

/// Why a run is not followed any more.
enum FeedStop {
    Over,
    Asks { id: String, message: String },
    NoModel,
    Left(Exit),
}

impl RemoteConsole<'_> {
    /// Follows a run from the event after this one, to its end or its next question.
    pub(super) async fn follow(
        &self,
        run: &RunId,
        after: i64,
        format: OutputFormat,
    ) -> Result<Exit, Failure> {
        let manner = self.manner(format);
        if manner == PrintMode::Events {
            let result = self.result(run).await?;
            let would_ask = &result["result"]["would_ask"];
            let first = json!({"type": "session", "run_id": run, "would_ask": would_ask});
            terminal::print_line(&first.to_string());
        }
        let mut printer = Printer::new(self.app, manner, RunView::new(run.clone()));
        match self.watch(run, after, &mut printer).await? {
            FeedStop::Over => self.finish(run, format, &printer).await,
            FeedStop::Asks { id, message } => {
                let (short, asked) = (run.short(), message.as_str());
                let words = text::run::NeedsPerson { id: &short, question: &asked, to: &id };
                terminal::eprint_line(&self.app.text(words.text()));
                match format {
                    OutputFormat::Text => terminal::print_line(run.as_str()),
                    _ => self.print_result(&self.result(run).await?["result"], format),
                }
                Ok(Exit::NeedsPerson)
            }
            FeedStop::NoModel => {
                let answer = self.result(run).await?;
                self.report_model(&answer["result"]);
                terminal::eprint_line(&self.app.text(text::remote::model_down(&run.short())));
                if format != OutputFormat::Text {
                    self.print_result(&answer["result"], format);
                }
                Ok(Exit::Failed)
            }
            FeedStop::Left(exit) => {
                let left = match exit {
                    Exit::Interrupted => text::run::cancel_waits(&run.short()),
                    _ => text::remote::left(&run.short()),
                };
                self.app.note(left);
                Ok(exit)
            }
        }
    }

    async fn watch(
        &self,
        run: &RunId,
        after: i64,
        printer: &mut Printer<'_>,
    ) -> Result<FeedStop, Failure> {
        let mut signals = Signals::new(self.app)?;
        let mut feed = self.server.follow(run, after);
        loop {
            let news = tokio::select! {
                biased;
                news = feed.next() => self.checked(news)?,
                exit = signals.next() => {
                    if exit != Exit::Interrupted || signals.interrupts > 1 {
                        return Ok(FeedStop::Left(exit));
                    }
                    self.app.note(text::run::canceling());
                    let path = format!("v1/runs/{run}/cancel");
                    // One that is over by now needs no cancel.
                    let _ = self.server.post(&path, &json!({}), None).await;
                    continue;
                }
                () = tokio::time::sleep(TICK) => {
                    printer.tick();
                    continue;
                }
            };
            match news {
                None => return Ok(FeedStop::Over),
                Some(FeedNews::Lost(_)) => self.app.note(text::remote::lost(&self.server.shown())),
                Some(FeedNews::Back) => self.app.note(text::remote::back(&self.server.shown())),
                Some(FeedNews::Event(event)) => {
                    printer.show(&event);
                    if let Some(stop) = stop_of(&event) {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    pub(super) async fn result(&self, run: &RunId) -> Result<Value, Failure> {
        let path = format!("v1/records/runs/{run}/result");
        self.checked(self.server.get(&path).await)
    }

    /// What the run came to.
    pub(super) async fn finish(
        &self,
        run: &RunId,
        format: OutputFormat,
        printer: &Printer<'_>,
    ) -> Result<Exit, Failure> {
        let answer = self.result(run).await?;
        let result = &answer["result"];
        match format {
            OutputFormat::Text => {
                let last = result["text"].as_str().and_then(|text| printer.unshown(text));
                last.iter().for_each(|text| terminal::print_markdown(text));
            }
            _ => self.print_result(result, format),
        }
        let manner = self.manner(format);
        if manner == PrintMode::Lines {
            let line = StyledLine::new(Tone::Dim, &self.summary(result));
            terminal::eprint_styled(&line);
        }
        if answer["has_open_unknown"] == true {
            self.app.note(text::settle::how(&run.short()));
        }
        if manner != PrintMode::Events {
            self.report_model(result);
        }
        Ok(exit_of(&answer))
    }

    fn report_model(&self, result: &Value) {
        for key in ["message", "hint"] {
            if let Some(words) = result["error"][key].as_str() {
                terminal::eprint_line(words);
            }
        }
    }

    fn print_result(&self, result: &Value, format: OutputFormat) {
        let mut result = result.clone();
        if format == OutputFormat::StreamJson {
            result["type"] = json!("result");
        }
        terminal::print_line(&result.to_string());
    }

    fn manner(&self, format: OutputFormat) -> PrintMode {
        match format {
            OutputFormat::Text if self.app.quiet && terminal::answers_are_seen() => {
                PrintMode::Answer
            }
            OutputFormat::Text if self.app.quiet => PrintMode::Silent,
            OutputFormat::Text => PrintMode::Lines,
            OutputFormat::Json => PrintMode::Silent,
            OutputFormat::StreamJson => PrintMode::Events,
        }
    }
}

/// Whether the run stands still until somebody does something.
fn stop_of(event: &RunEvent) -> Option<FeedStop> {
    match &event.kind {
        EventKind::QuestionOpened { interrupt_id, message, .. } => {
            Some(FeedStop::Asks { id: interrupt_id.clone(), message: message.clone() })
        }
        EventKind::RunWaiting(WaitingFor::Model { .. }) => Some(FeedStop::NoModel),
        _ => None,
    }
}

/// The exit code of an ending, as it would be here.
pub(super) fn exit_of(answer: &Value) -> Exit {
    if answer["is_about_the_key"] == true {
        return Exit::Configuration;
    }
    let status = answer["result"]["status"].as_str().and_then(Status::parse);
    let reason: Option<Reason> = serde_json::from_value(answer["reason"].clone()).ok();
    status.map_or(Exit::Failed, |status| Exit::of(status, reason.as_ref()))
}
