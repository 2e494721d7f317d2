//! Driving a run in the foreground: to its end, its next question, or a signal.

mod asking;
mod printing;

use crate::args::OutputFormat;
use crate::reminding;
use asking::QuestionEnd;
use everloop_app::delivery;
use everloop_app::drive::{
    DriveNotice, DriveServices, DriveStop, DriveWatcher, RunDriver, StopSignal,
};
use everloop_app::runs::{self as tree, RunDetails};
use everloop_console::show::{PrintMode, Printer, StatusPlace};
use everloop_console::{Console, Exit, Failure, Signals, terminal};
use everloop_engine::{Engine, EventKind, Projector, RunEvent};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{RunId, Status};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// One run that this process follows.
pub(crate) struct Foreground<'a> {
    pub(crate) app: &'a Console,
    pub(crate) engine: Arc<Engine>,
    pub(crate) run: RunId,
    pub(crate) format: OutputFormat,
}

/// How long a process that has done its work waits for its messages to arrive.
const LAST_MOMENT: Duration = Duration::from_secs(3);

/// How often the status line moves.
const TICK: Duration = Duration::from_millis(250);

/// Drives the run here, or follows it while another process does, and sends what it has queued.
pub(crate) async fn drive_here(mut foreground: Foreground<'_>) -> Result<Exit, Failure> {
    let (app, engine) = (foreground.app, foreground.engine.clone());
    reminding::begin(app, engine.store());
    let services = app.checked(DriveServices::start(app, &engine).await)?;
    let exit = follow_and_send(&mut foreground).await;
    services.stop().await;
    exit
}

async fn follow_and_send(foreground: &mut Foreground<'_>) -> Result<Exit, Failure> {
    let exit = follow(foreground).await;
    let left_in_a_hurry = matches!(exit, Ok(Exit::Interrupted | Exit::Terminated));
    let patience = if left_in_a_hurry { Duration::ZERO } else { LAST_MOMENT };
    let waiting = delivery::await_delivery(&foreground.engine, &foreground.run, patience).await;
    if waiting > 0 {
        foreground.app.note(text::messages::waiting(&waiting));
    }
    exit
}

async fn follow(foreground: &mut Foreground<'_>) -> Result<Exit, Failure> {
    let app = foreground.app;
    let mut signals = Signals::new(app)?;
    let frame = foreground.store().journal().frame(&foreground.run).await;
    let frame = frame.map_err(|error| app.store_failure(&error))?.unwrap_or_default();
    if foreground.format == OutputFormat::StreamJson {
        let first = json!({"type": "session", "run_id": foreground.run,
                           "would_ask": frame.tools_that_ask()});
        terminal::print_line(&first.to_string());
        foreground.show_beginning().await?;
    }
    let is_watched = foreground.manner() != PrintMode::Silent;
    let mut driver = RunDriver::begin(app, &foreground.engine, &foreground.run, is_watched).await;
    let price = app.prices().of_model(&frame.model.name);
    let place = StatusPlace::of_frame(&frame, &driver.past().loop_name, price);
    let mut printer = Printer::new(app, foreground.manner(), driver.past()).at(place.clone());
    loop {
        let run = &foreground.run;
        let mut watcher = Watcher { app, run, printer: &mut printer, signals: &mut signals };
        match app.checked(driver.drive(&mut watcher).await)? {
            DriveStop::Over if foreground.goes_on().await? => {
                driver.go_on_with(&foreground.run).await;
                let (past, place) = (driver.past(), place.clone());
                printer = Printer::new(app, foreground.manner(), past).at(place);
            }
            DriveStop::Over => return foreground.finish(&printer).await,
            DriveStop::Signal(StopSignal::Interrupt) => {
                return Ok(foreground.leave(Exit::Interrupted));
            }
            DriveStop::Signal(StopSignal::Terminate) => {
                return Ok(foreground.leave(Exit::Terminated));
            }
            DriveStop::NoModel(error) => return foreground.no_model(&error).await,
            DriveStop::Asks(run, question) if app.interactive => {
                match foreground.ask(&run, &question, &mut signals).await? {
                    QuestionEnd::Answered => {}
                    QuestionEnd::Unanswered => {
                        return foreground.needs_person(&run, &question).await;
                    }
                    QuestionEnd::Terminated => return Ok(foreground.leave(Exit::Terminated)),
                }
            }
            DriveStop::Asks(run, question) => {
                return foreground.needs_person(&run, &question).await;
            }
        }
    }
}

/// The terminal, as it shows a run that is driven.
struct Watcher<'w, 'a> {
    app: &'a Console,
    run: &'w RunId,
    printer: &'w mut Printer<'a>,
    signals: &'w mut Signals,
}

impl DriveWatcher for Watcher<'_, '_> {
    fn show(&mut self, event: &RunEvent) {
        self.printer.show(event);
    }

    fn say(&self, notice: DriveNotice<'_>) {
        self.app.note(match notice {
            DriveNotice::WorkerDrives => text::run::worker_drives(&self.run.short()),
            DriveNotice::OtherDrives(holder) => {
                text::run::other_drives(&holder.pid, &self.run.short())
            }
            DriveNotice::TookUp(orphan) if orphan.status_now == Status::Quarantined => {
                text::worker::put_aside(&orphan.run.short(), &orphan.goal)
            }
            DriveNotice::TookUp(orphan) => {
                text::run::interrupted(&orphan.run.short(), &orphan.goal)
            }
            DriveNotice::Canceling => text::run::canceling(),
            DriveNotice::DatabaseAway(detail) => text::run::database_away(&detail),
            DriveNotice::LeaseLost => text::run::lease_lost(&self.run.short()),
        });
    }

    async fn signal(&mut self) -> StopSignal {
        loop {
            tokio::select! {
                exit = self.signals.next() => return match exit {
                    Exit::Interrupted => StopSignal::Interrupt,
                    _ => StopSignal::Terminate,
                },
                () = tokio::time::sleep(TICK) => self.printer.tick(),
            }
        }
    }
}

impl Foreground<'_> {
    fn store(&self) -> &Store {
        self.engine.store()
    }

    /// The run was created before anybody watched: its first entry comes from the journal, and of
    /// a fork the one that says where it comes from.
    pub(super) async fn show_beginning(&self) -> Result<(), Failure> {
        let history = self.app.checked(tree::history(self.store(), &self.run).await)?;
        let mut events = Projector::past(&history);
        let is_origin = |event: &RunEvent| {
            matches!(event.kind, EventKind::RunStarted { .. } | EventKind::RunForked { .. })
        };
        events.retain(is_origin);
        events.iter().for_each(|event| terminal::print_line(&event.to_json()));
        Ok(())
    }

    async fn cancel(&self) -> Result<(), Failure> {
        let sent = self.engine.cancel(&self.run, "ctrl-c").await;
        sent.map(drop).map_err(|error| self.app.store_failure(&error))
    }

    fn manner(&self) -> PrintMode {
        match self.format {
            OutputFormat::Text if self.app.quiet && terminal::answers_are_seen() => {
                PrintMode::Answer
            }
            OutputFormat::Text if self.app.quiet => PrintMode::Silent,
            OutputFormat::Text => PrintMode::Lines,
            OutputFormat::Json => PrintMode::Silent,
            OutputFormat::StreamJson => PrintMode::Events,
        }
    }

    /// A signal ends the process, not the run; after Ctrl-C its cancel waits in the inbox.
    fn leave(&self, exit: Exit) -> Exit {
        let text =
            if exit == Exit::Interrupted { text::run::cancel_waits } else { text::run::left };
        self.app.note(text(&self.run.short()));
        exit
    }

    async fn shown(&self) -> Result<RunDetails, Failure> {
        super::runs::details(self.app, self.store(), &self.run).await
    }
}
