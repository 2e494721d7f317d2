//! Driving a run in the foreground: to its end, its next question, or a signal.

mod asking;
mod printing;
mod waiting;

use crate::args::Format;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::reminding;
use crate::show::{Manner, Printer};
use crate::signals::Signals;
use crate::terminal;
use asking::Heard;
use everloop_app::delivery;
use everloop_app::error::chain;
use everloop_app::following::{Followed, Following};
use everloop_app::runs::{self as tree, RunDetails};
use everloop_engine::{DriveError, Driven, Engine, EventKind, Membership, Projector, RunEvent};
use everloop_store::{Claim, ClaimLockError, Holder, Store};
use everloop_text as text;
use everloop_types::journal::WaitingOn;
use everloop_types::{ModelError, Question, RunId, Status};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How often a process that may not drive looks whether it may.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Looks between two searches for workers that have died: five seconds.
const LOOKS_PER_REAP: u64 = 25;

/// Failures of a database that answers, one after the other, before they are told.
const FAILURES_MAX: u32 = 5;

/// One run that this process follows.
pub(crate) struct Foreground<'a> {
    pub(crate) app: &'a Console,
    pub(crate) engine: Arc<Engine>,
    pub(crate) run: RunId,
    pub(crate) format: Format,
}

/// What one round of following came to.
enum Round {
    Over,
    /// A run of the tree came to a stop, and another one goes on.
    Again,
    /// The run, or one below it, asks.
    Asks(RunId, Question),
    NoModel(ModelError),
    Signal(Exit),
}

/// How long a process that has done its work waits for its messages to arrive.
const LAST_MOMENT: Duration = Duration::from_secs(3);

/// Drives the run here, or follows it while another process does, and sends what it has queued.
pub(crate) async fn drive_here(mut foreground: Foreground<'_>) -> Result<Exit, Failure> {
    let (app, engine) = (foreground.app, foreground.engine.clone());
    tokio::spawn(engine.clone().deliver_mail());
    delivery::deliver(app, &engine);
    reminding::begin(app, engine.store());
    let policy = app.membership();
    policy.register(&engine).await.map_err(|error| app.store_failure(&error))?;
    let (kept, keeper) = (policy.clone(), engine.clone());
    let keeping = tokio::spawn(async move { kept.keep(keeper).await });
    let exit = follow_and_send(&mut foreground).await;
    keeping.abort();
    // If this fails the lease expires by itself.
    let _ = policy.unregister(&engine).await;
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
    if foreground.format == Format::StreamJson {
        let first = json!({"type": "session", "run_id": foreground.run,
                           "needs_person": frame.tools_that_ask()});
        terminal::answer(&first.to_string());
        foreground.show_beginning().await?;
    }
    let mut shown = ShownProgress::begin(foreground).await;
    let mut failures = 0;
    let shared = app.database.is_shared();
    loop {
        let round = match foreground.round(&mut signals, &mut shown).await {
            Err(failure) if failures >= FAILURES_MAX || !shared => return Err(failure),
            Err(failure) if failure.exit != Exit::Data => return Err(failure),
            // A server that was started anew is waited for, as every worker waits.
            Err(_) => {
                failures += 1;
                match foreground.await_database(&mut signals).await {
                    Some(exit) => return Ok(foreground.leave(exit)),
                    None => continue,
                }
            }
            Ok(round) => round,
        };
        failures = 0;
        match round {
            Round::Again => {}
            Round::Over if foreground.goes_on().await? => {
                shown = ShownProgress::begin(foreground).await;
            }
            Round::Over => return foreground.finish().await,
            Round::Signal(exit) => return Ok(foreground.leave(exit)),
            Round::NoModel(error) => return foreground.no_model(&error).await,
            Round::Asks(run, question) if app.interactive => {
                match foreground.ask(&run, &question, &mut signals).await? {
                    Heard::Answer => {}
                    Heard::Nothing => return foreground.needs_person(&run, &question).await,
                    Heard::Terminated => return Ok(foreground.leave(Exit::Terminated)),
                }
            }
            Round::Asks(run, question) => return foreground.needs_person(&run, &question).await,
        }
    }
}

/// The events of the run that is followed, on their way to the screen.
struct ShownProgress<'a> {
    /// Absent where nothing is shown.
    following: Option<Following>,
    printer: Printer<'a>,
}

impl<'a> ShownProgress<'a> {
    async fn begin(foreground: &Foreground<'a>) -> Self {
        let Foreground { app, engine, run, .. } = foreground;
        let manner = foreground.manner();
        if manner == Manner::Silent {
            return Self { following: None, printer: Printer::Silent };
        }
        let following = Following::from_now_on(engine, run).await;
        let printer = Printer::new(app, manner, following.past().clone());
        Self { following: Some(following), printer }
    }

    /// Shows the next event. Dropping the future loses nothing.
    async fn show_next(&mut self) {
        match &mut self.following {
            Some(following) => {
                if let Followed::Event(event) = following.next().await {
                    self.printer.show(&event);
                }
            }
            None => std::future::pending().await,
        }
    }

    /// Shows what has happened already.
    async fn show_rest(&mut self) {
        if let Some(following) = &mut self.following {
            following.rest().await.iter().for_each(|event| self.printer.show(event));
        }
    }
}

impl<'a> Foreground<'a> {
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
        events.iter().for_each(|event| terminal::answer(&event.to_json()));
        Ok(())
    }

    /// One claim of the run, or one stretch of following another process.
    async fn round(
        &self,
        signals: &mut Signals,
        shown: &mut ShownProgress<'a>,
    ) -> Result<Round, Failure> {
        let worker = &self.engine.identity().worker;
        let policy = self.app.membership();
        let shared = self.app.database.is_shared();
        let mut told = false;
        for look in 0_u64.. {
            match policy.acquire(worker) {
                Ok(membership) => {
                    if look % LOOKS_PER_REAP == 0 || !shared {
                        self.take_up(&membership).await?;
                    }
                    let round = self.claim_and_drive(signals, shown).await;
                    drop(membership);
                    if let Some(round) = round? {
                        return Ok(round);
                    }
                    if shared && !std::mem::replace(&mut told, true) {
                        self.app.note(text::run::worker_drives(&self.run.as_str()));
                    }
                }
                Err(ClaimLockError::Store(error)) => return Err(self.app.store_failure(&error)),
                Err(ClaimLockError::Held(holder)) => {
                    if !std::mem::replace(&mut told, true) {
                        self.tell_of_holder(&holder);
                    }
                    if let Some(round) = self.look().await? {
                        return Ok(round);
                    }
                    if let Some(error) = self.waits_for_model().await? {
                        return Ok(Round::NoModel(error));
                    }
                }
            }
            if let Some(exit) = show_for_a_while(shown, signals).await {
                if exit == Exit::Interrupted {
                    self.cancel().await?;
                }
                return Ok(Round::Signal(exit));
            }
        }
        unreachable!("nobody looks that often")
    }

    async fn cancel(&self) -> Result<(), Failure> {
        let sent = self.engine.cancel(&self.run, "ctrl-c").await;
        sent.map(drop).map_err(|error| self.app.store_failure(&error))
    }

    fn tell_of_holder(&self, holder: &Holder) {
        let pid = holder.pid.to_string();
        self.app.note(text::run::other_drives(&pid, &self.run));
    }

    /// Having the lock proves that every earlier driver is dead, and on a shared database leases
    /// tell: their runs go back to the queue.
    async fn take_up(&self, membership: &Membership) -> Result<(), Failure> {
        let app = self.app;
        let orphans = membership.recover_orphans(&self.engine).await;
        let orphans = orphans.map_err(|error| app.store_failure(&error))?;
        for orphan in orphans.iter().filter(|orphan| orphan.run != self.run) {
            let text = match orphan.status_now {
                Status::Quarantined => text::worker::put_aside,
                _ => text::run::interrupted,
            };
            app.note(text(&orphan.run, &orphan.goal));
        }
        Ok(())
    }

    async fn claim_and_drive(
        &self,
        signals: &mut Signals,
        shown: &mut ShownProgress<'a>,
    ) -> Result<Option<Round>, Failure> {
        let (app, now) = (self.app, self.engine.clock().now());
        if let Some(round) = self.look().await? {
            return Ok(Some(round));
        }
        let worker = &self.engine.identity().worker;
        let front = app.checked(tree::front(self.store(), &self.run).await)?;
        let claim = self.store().queue().claim_run(worker, &front, now).await;
        match claim.map_err(|error| app.store_failure(&error))? {
            Some(claim) => self.drive(claim, signals, shown).await,
            None => Ok(None),
        }
    }

    /// Whether the run stands still without our help.
    async fn look(&self) -> Result<Option<Round>, Failure> {
        let front = self.app.checked(tree::front(self.store(), &self.run).await)?;
        let at = self.store().runs().position(&front).await;
        let at = at.map_err(|error| self.app.store_failure(&error))?;
        let status = at.map_or(Status::Failed, |at| at.status);
        if status.is_final() {
            return Ok(Some(Round::Over).filter(|_| front == self.run));
        }
        if status != Status::Waiting {
            return Ok(None);
        }
        let shown = super::runs::details(self.app, self.store(), &front).await?;
        Ok(match shown.waiting_on {
            Some(WaitingOn::Person { question }) => Some(Round::Asks(front, question)),
            _ => None,
        })
    }

    fn manner(&self) -> Manner {
        match self.format {
            Format::Text if self.app.quiet => Manner::Silent,
            Format::Text => Manner::Lines,
            Format::Json => Manner::Silent,
            Format::StreamJson => Manner::Events,
        }
    }

    async fn drive(
        &self,
        claim: Claim,
        signals: &mut Signals,
        shown: &mut ShownProgress<'a>,
    ) -> Result<Option<Round>, Failure> {
        let held = claim.clone();
        let mut driving = std::pin::pin!(self.engine.drive(claim));
        let mut is_stopping = false;
        let driven = loop {
            tokio::select! {
                biased;
                () = shown.show_next() => {}
                driven = &mut driving => break driven,
                exit = signals.next() => {
                    match exit {
                        // What runs is stopped and written down, then the run is given back.
                        Exit::Terminated => {
                            is_stopping = true;
                            self.engine.stop();
                            continue;
                        }
                        _ if signals.interrupts > 1 => return Ok(Some(Round::Signal(exit))),
                        _ => {}
                    }
                    self.app.note(text::run::canceling());
                    self.cancel().await?;
                }
            }
        };
        shown.show_rest().await;
        let round = match driven {
            Ok(Driven::Finished(_))
                if self.app.checked(tree::is_over(self.store(), &self.run).await)? =>
            {
                Round::Over
            }
            Ok(Driven::Finished(_) | Driven::Parked(WaitingOn::Child { .. })) => Round::Again,
            Ok(Driven::Released) => Round::Signal(Exit::Terminated),
            // Its question waits for whoever takes the run up.
            Ok(Driven::Parked(WaitingOn::Person { .. })) if is_stopping => {
                Round::Signal(Exit::Terminated)
            }
            Ok(Driven::Parked(WaitingOn::Person { question })) => Round::Asks(held.run, question),
            Ok(Driven::Parked(WaitingOn::Model { error })) => Round::NoModel(error),
            // Somebody else has it, or the database was out of reach: it is followed from here.
            Err(error) if self.app.database.is_shared() && waiting::is_passing(&error) => {
                let exit = self.give_back(&held, &error, signals).await?;
                return Ok(exit.map(Round::Signal));
            }
            // A run below was put aside; its parent has its letter, and goes on.
            Err(DriveError::Quarantined { .. }) if held.run != self.run => Round::Again,
            Err(error) => return Err(self.drive_failure(&error)),
        };
        Ok(Some(round))
    }

    fn drive_failure(&self, error: &DriveError) -> Failure {
        let words = chain(error);
        let text = match error {
            DriveError::Quarantined { .. } => text::run::put_aside,
            _ => text::run::stopped,
        };
        self.app.failure(Exit::Data, text(&self.run, &words))
    }

    /// A signal ends the process, not the run; after Ctrl-C its cancel waits in the inbox.
    fn leave(&self, exit: Exit) -> Exit {
        let key = if exit == Exit::Interrupted { text::run::cancel_waits } else { text::run::left };
        self.app.note(key(&self.run));
        exit
    }

    async fn shown(&self) -> Result<RunDetails, Failure> {
        super::runs::details(self.app, self.store(), &self.run).await
    }
}

/// Shows what another process does, until it is time to look whether this one may drive; or the
/// signal that came.
async fn show_for_a_while(shown: &mut ShownProgress<'_>, signals: &mut Signals) -> Option<Exit> {
    let mut pause = std::pin::pin!(tokio::time::sleep(LOOK_AGAIN));
    loop {
        tokio::select! {
            () = &mut pause => return None,
            () = shown.show_next() => {}
            exit = signals.next() => return Some(exit),
        }
    }
}
