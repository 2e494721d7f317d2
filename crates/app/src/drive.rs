//! Driving one run in this process: to its end, its next question, or a signal. While another
//! process drives it, it is followed.

use crate::app::App;
use crate::delivery;
use crate::error::{AppError, RunError, chain};
use crate::following::{FollowNews, Following};
use crate::runs::{self, RunDetails};
use everloop_engine::{
    DriveEnd, DriveError, Engine, Membership, MembershipPolicy, RunEvent, RunView,
};
use everloop_store::{Claim, ClaimLockError, Holder, Orphan, Store};
use everloop_types::journal::WaitingOn;
use everloop_types::{ModelError, Question, RunId, Status};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How often a process that may not drive looks whether it may.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Looks between two searches for workers that have died: five seconds.
const LOOKS_PER_REAP: u64 = 25;

/// Failures of a database that answers, one after the other, before they are told.
const FAILURES_MAX: u32 = 5;

/// What asks a process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// Ctrl-C: the run is canceled. A second one leaves it as it is.
    Interrupt,
    /// The process is to end; the run is given back.
    Terminate,
}

/// What is worth saying while a run is driven.
pub enum DriveNotice<'a> {
    /// A worker drives the run.
    WorkerDrives,
    /// Another process drives all runs of the database.
    OtherDrives(&'a Holder),
    /// A run whose process has died was taken up.
    TookUp(&'a Orphan),
    /// The run is being canceled.
    Canceling,
    /// The database does not answer; why.
    DatabaseAway(String),
    /// Another worker has the run now.
    LeaseLost,
}

/// Who watches a run that is driven.
pub trait DriveWatcher {
    /// Shows an event of the run.
    fn show(&mut self, event: &RunEvent);

    /// Says something.
    fn say(&self, notice: DriveNotice<'_>);

    /// The next signal. Dropping the future loses nothing.
    fn signal(&mut self) -> impl Future<Output = StopSignal>;
}

/// Where the driving of a run came to a stop.
pub enum DriveStop {
    /// The run is over.
    Over,
    /// The run, or one below it, asks.
    Asks(RunId, Question),
    /// The run waits for its model.
    NoModel(ModelError),
    /// A signal came.
    Signal(StopSignal),
}

/// What a process does beside a run that it drives: it sends messages and keeps its lease.
pub struct DriveServices {
    engine: Arc<Engine>,
    policy: MembershipPolicy,
    keeping: JoinHandle<()>,
}

impl DriveServices {
    /// Begins with it.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn start(app: &App, engine: &Arc<Engine>) -> Result<Self, AppError> {
        tokio::spawn(engine.clone().poll_inboxes());
        delivery::deliver(app, engine);
        let policy = app.membership();
        policy.register(engine).await?;
        let (kept, keeper) = (policy.clone(), engine.clone());
        let keeping = tokio::spawn(async move { kept.keep(keeper).await });
        Ok(Self { engine: engine.clone(), policy, keeping })
    }

    /// Ends it.
    pub async fn stop(self) {
        self.keeping.abort();
        // If this fails the lease expires by itself.
        let _ = self.policy.unregister(&self.engine).await;
    }
}

/// One run that this process drives or follows.
pub struct RunDriver<'a> {
    app: &'a App,
    engine: Arc<Engine>,
    run: RunId,
    /// Absent where nothing is shown.
    following: Option<Following>,
    interrupts: u32,
    failures: u32,
}

/// What one round came to.
enum DriveRound {
    Stop(DriveStop),
    /// A run of the tree came to a stop, and another one goes on.
    Again,
}

impl<'a> RunDriver<'a> {
    /// Begins to follow a run; its events are shown if somebody watches.
    pub async fn begin(app: &'a App, engine: &Arc<Engine>, run: &RunId, is_watched: bool) -> Self {
        let following = match is_watched {
            true => Some(Following::from_now_on(engine, run).await),
            false => None,
        };
        let (engine, run) = (engine.clone(), run.clone());
        Self { app, engine, run, following, interrupts: 0, failures: 0 }
    }

    /// Goes on with another run, whose events are shown as those of the first one were.
    pub async fn go_on_with(&mut self, run: &RunId) {
        self.run = run.clone();
        if self.following.is_some() {
            self.following = Some(Following::from_now_on(&self.engine, run).await);
        }
    }

    /// The run as it was before the first event.
    #[must_use]
    pub fn past(&self) -> RunView {
        let past = self.following.as_ref().map(|following| following.past().clone());
        past.unwrap_or_else(|| RunView::new(self.run.clone()))
    }

    /// Drives the run until it needs somebody, or a signal comes.
    ///
    /// # Errors
    /// If the store fails, and goes on failing.
    pub async fn drive(&mut self, watcher: &mut impl DriveWatcher) -> Result<DriveStop, AppError> {
        let is_shared = self.app.database.is_shared();
        loop {
            match self.round(watcher).await {
                Ok(DriveRound::Stop(stop)) => {
                    self.failures = 0;
                    return Ok(stop);
                }
                Ok(DriveRound::Again) => self.failures = 0,
                Err(error) if self.failures >= FAILURES_MAX || !is_shared => return Err(error),
                Err(error) if !is_of_the_store(&error) => return Err(error),
                // A server that was started anew is waited for, as every worker waits.
                Err(_) => {
                    self.failures += 1;
                    if let Some(signal) = self.await_database(watcher).await {
                        return Ok(DriveStop::Signal(signal));
                    }
                }
            }
        }
    }

    /// Asks the run to stop.
    async fn cancel(&self) -> Result<(), AppError> {
        self.engine.cancel(&self.run, "ctrl-c").await?;
        Ok(())
    }

    fn store(&self) -> &Store {
        self.engine.store()
    }

    /// One claim of the run, or one stretch of following another process.
    async fn round(&mut self, watcher: &mut impl DriveWatcher) -> Result<DriveRound, AppError> {
        let worker = self.engine.identity().worker.clone();
        let policy = self.app.membership();
        let is_shared = self.app.database.is_shared();
        let mut told = false;
        for look in 0_u64.. {
            if let StandStill::Sleeps = self.waiting_on().await? {
                if let Some(stop) = self.sleep_a_while(watcher).await? {
                    return Ok(DriveRound::Stop(stop));
                }
                continue;
            }
            match policy.acquire(&worker) {
                Ok(membership) => {
                    if look % LOOKS_PER_REAP == 0 || !is_shared {
                        self.take_up(&membership, watcher).await?;
                    }
                    let round = self.claim_and_drive(watcher).await;
                    drop(membership);
                    if let Some(round) = round? {
                        return Ok(round);
                    }
                    if is_shared && !std::mem::replace(&mut told, true) {
                        watcher.say(DriveNotice::WorkerDrives);
                    }
                }
                Err(ClaimLockError::Store(error)) => return Err(error.into()),
                Err(ClaimLockError::Held(holder)) => {
                    if !std::mem::replace(&mut told, true) {
                        watcher.say(DriveNotice::OtherDrives(&holder));
                    }
                    match self.waiting_on().await? {
                        StandStill::Over => return Ok(DriveRound::Stop(DriveStop::Over)),
                        StandStill::On(run, WaitingOn::Person { question }) => {
                            return Ok(DriveRound::Stop(DriveStop::Asks(run, question)));
                        }
                        StandStill::On(_, WaitingOn::Model { error }) => {
                            return Ok(DriveRound::Stop(DriveStop::NoModel(error)));
                        }
                        StandStill::On(..) | StandStill::Sleeps | StandStill::No => {}
                    }
                }
            }
            if let Some(signal) = self.show_for_a_while(watcher).await {
                if signal == StopSignal::Interrupt {
                    self.cancel().await?;
                }
                return Ok(DriveRound::Stop(DriveStop::Signal(signal)));
            }
        }
        unreachable!("nobody looks that often")
    }

    /// Waits beside a run that sleeps; or why no longer. A cancel wakes the run, and then it is
    /// driven to its end.
    async fn sleep_a_while(
        &mut self,
        watcher: &mut impl DriveWatcher,
    ) -> Result<Option<DriveStop>, AppError> {
        let Some(signal) = self.show_for_a_while(watcher).await else { return Ok(None) };
        self.interrupts += 1;
        if signal == StopSignal::Terminate || self.interrupts > 1 {
            return Ok(Some(DriveStop::Signal(signal)));
        }
        watcher.say(DriveNotice::Canceling);
        self.cancel().await?;
        Ok(None)
    }

    /// Having the lock proves that every earlier driver is dead, and on a shared database leases
    /// tell: their runs go back to the queue.
    async fn take_up(
        &self,
        membership: &Membership,
        watcher: &impl DriveWatcher,
    ) -> Result<(), AppError> {
        let orphans = membership.recover_orphans(&self.engine).await?;
        for orphan in orphans.iter().filter(|orphan| orphan.run != self.run) {
            watcher.say(DriveNotice::TookUp(orphan));
        }
        Ok(())
    }

    async fn claim_and_drive(
        &mut self,
        watcher: &mut impl DriveWatcher,
    ) -> Result<Option<DriveRound>, AppError> {
        let now = self.engine.clock().now();
        match self.waiting_on().await? {
            StandStill::Over => return Ok(Some(DriveRound::Stop(DriveStop::Over))),
            StandStill::On(run, WaitingOn::Person { question }) => {
                return Ok(Some(DriveRound::Stop(DriveStop::Asks(run, question))));
            }
            StandStill::On(..) | StandStill::Sleeps | StandStill::No => {}
        }
        let worker = &self.engine.identity().worker;
        let front = runs::front(self.store(), &self.run).await?;
        match self.store().queue().claim_run(worker, &front, now).await? {
            Some(claim) => self.drive_claim(claim, watcher).await,
            None => Ok(None),
        }
    }

    /// What the run waits for, without our help.
    async fn waiting_on(&self) -> Result<StandStill, AppError> {
        let front = runs::front(self.store(), &self.run).await?;
        let at = self.store().runs().position(&front).await?;
        let status = at.map_or(Status::Failed, |at| at.status);
        if status.is_final() {
            return Ok(if front == self.run { StandStill::Over } else { StandStill::No });
        }
        if status != Status::Waiting {
            return Ok(StandStill::No);
        }
        let details = RunDetails::read(self.app, self.store(), &front).await?;
        let is_due = details.row.times.wake_at.is_some_and(|at| at <= self.engine.clock().now());
        Ok(match details.waiting_on {
            Some(WaitingOn::Timer { .. }) if is_due => StandStill::No,
            Some(WaitingOn::Timer { .. }) => StandStill::Sleeps,
            Some(on) => StandStill::On(front, on),
            None => StandStill::No,
        })
    }

    async fn drive_claim(
        &mut self,
        claim: Claim,
        watcher: &mut impl DriveWatcher,
    ) -> Result<Option<DriveRound>, AppError> {
        let held = claim.clone();
        let engine = self.engine.clone();
        let mut driving = std::pin::pin!(engine.drive(claim));
        let mut is_stopping = false;
        let driven = loop {
            tokio::select! {
                biased;
                event = next_event(&mut self.following) => watcher.show(&event),
                driven = &mut driving => break driven,
                signal = watcher.signal() => {
                    if signal == StopSignal::Terminate {
                        // What runs is stopped and written down, then the run is given back.
                        is_stopping = true;
                        self.engine.stop();
                        continue;
                    }
                    self.interrupts += 1;
                    if self.interrupts > 1 {
                        return Ok(Some(DriveRound::Stop(DriveStop::Signal(signal))));
                    }
                    watcher.say(DriveNotice::Canceling);
                    self.cancel().await?;
                }
            }
        };
        if let Some(following) = &mut self.following {
            following.rest().await.iter().for_each(|event| watcher.show(event));
        }
        match driven {
            Ok(driven) => self.after(driven, held.run, is_stopping).await.map(Some),
            // Somebody else has it, or the database was out of reach: it is followed from here.
            Err(error) if self.app.database.is_shared() && is_passing(&error) => {
                let signal = self.give_back(&held, &error, watcher).await?;
                Ok(signal.map(|signal| DriveRound::Stop(DriveStop::Signal(signal))))
            }
            // A run below was put aside; its parent has been told, and goes on.
            Err(DriveError::Quarantined { .. }) if held.run != self.run => {
                Ok(Some(DriveRound::Again))
            }
            Err(source) => Err(RunError::Drive { run: self.run.clone(), source }.into()),
        }
    }

    /// What to do after a run of the tree was driven.
    async fn after(
        &self,
        driven: DriveEnd,
        run: RunId,
        is_stopping: bool,
    ) -> Result<DriveRound, AppError> {
        let terminated = DriveStop::Signal(StopSignal::Terminate);
        Ok(match driven {
            DriveEnd::Finished(_) if runs::is_over(self.store(), &self.run).await? => {
                DriveRound::Stop(DriveStop::Over)
            }
            DriveEnd::Parked(WaitingOn::Timer { .. }) if is_stopping => {
                DriveRound::Stop(terminated)
            }
            DriveEnd::Finished(_)
            | DriveEnd::Parked(WaitingOn::Child { .. } | WaitingOn::Timer { .. }) => {
                DriveRound::Again
            }
            DriveEnd::Released => DriveRound::Stop(terminated),
            // Its question waits for the process that takes the run up.
            DriveEnd::Parked(WaitingOn::Person { .. }) if is_stopping => {
                DriveRound::Stop(terminated)
            }
            DriveEnd::Parked(WaitingOn::Person { question }) => {
                DriveRound::Stop(DriveStop::Asks(run, question))
            }
            DriveEnd::Parked(WaitingOn::Model { error }) => {
                DriveRound::Stop(DriveStop::NoModel(error))
            }
        })
    }

    /// Gives back a run whose drive broke off, once the database answers; or the signal that came.
    async fn give_back(
        &self,
        held: &Claim,
        error: &DriveError,
        watcher: &mut impl DriveWatcher,
    ) -> Result<Option<StopSignal>, AppError> {
        if let Some(signal) = self.await_database(watcher).await {
            return Ok(Some(signal));
        }
        if let DriveError::LeaseLost(_) = error {
            watcher.say(DriveNotice::LeaseLost);
        }
        // If it is still ours nobody else could have it; if not, this does nothing.
        self.store().queue().release(held, self.engine.clock().now()).await?;
        Ok(None)
    }

    /// Waits until the database answers, or a signal comes.
    async fn await_database(&self, watcher: &mut impl DriveWatcher) -> Option<StopSignal> {
        let mut told = false;
        while let Err(error) = self.store().workers().time().await {
            if !std::mem::replace(&mut told, true) {
                watcher.say(DriveNotice::DatabaseAway(chain(&error)));
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                signal = watcher.signal() => return Some(signal),
            }
        }
        None
    }

    /// Shows what another process does, until it is time to look whether this one may drive; or
    /// the signal that came.
    async fn show_for_a_while(&mut self, watcher: &mut impl DriveWatcher) -> Option<StopSignal> {
        let mut pause = std::pin::pin!(tokio::time::sleep(LOOK_AGAIN));
        loop {
            tokio::select! {
                () = &mut pause => return None,
                event = next_event(&mut self.following) => watcher.show(&event),
                signal = watcher.signal() => return Some(signal),
            }
        }
    }
}

/// Whether a run stands still.
enum StandStill {
    /// It is over.
    Over,
    /// This run of its tree waits.
    On(RunId, WaitingOn),
    /// It waits for a moment that has not come: nobody needs to drive it.
    Sleeps,
    /// It does not.
    No,
}

/// The next event; never where nothing is shown. Dropping the future loses nothing.
async fn next_event(following: &mut Option<Following>) -> Box<RunEvent> {
    let Some(following) = following else { return std::future::pending().await };
    loop {
        if let FollowNews::Event(event) = following.next().await {
            return event;
        }
    }
}

/// Whether a drive may be taken up again: somebody else has the run, or the server was away.
fn is_passing(error: &DriveError) -> bool {
    match error {
        DriveError::LeaseLost(_) => true,
        DriveError::Store { source, .. } => source.is_transient(),
        DriveError::Quarantined { .. } | DriveError::Newer { .. } => false,
    }
}

/// Whether the store failed, so that it is worth trying again.
fn is_of_the_store(error: &AppError) -> bool {
    use AppError::{Home, Run, Store};
    matches!(error, Store(_) | Home(_) | Run(RunError::Drive { .. }))
}
