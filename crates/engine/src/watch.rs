//! Watchers in this process. They never change a run, and a slow one never delays a driver: what it
//! missed it reads from the journal.

use crate::screen::Screen;
use everloop_store::Redactor;
use everloop_types::journal::Entry;
use everloop_types::{EffectId, RunId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// Updates that are kept for a watcher that is slow.
const KEPT_UPDATES: usize = 4_096;

/// Something that happened to a run that this process drives.
#[derive(Debug, Clone)]
pub enum Update {
    /// A driver of this process has taken the run.
    Taken(RunId),
    /// An entry is durable.
    Entry(RunId, Box<Entry>),
    /// A piece of a call under way, not yet final and never journaled.
    Delta(EffectId, Fragment),
    /// The driver is done with the run: it is over, waits, or goes back to the queue.
    Released(RunId),
}

impl Update {
    /// The run that it is about.
    #[must_use]
    pub fn run(&self) -> &RunId {
        match self {
            Self::Taken(run) | Self::Entry(run, _) | Self::Released(run) => run,
            Self::Delta(effect, _) => &effect.run,
        }
    }
}

/// A piece of a call under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fragment {
    /// Of a reply's text.
    Text(String),
    /// Of a reply's reasoning.
    Reasoning(String),
    /// A tool call begins in a reply.
    Call(String),
    /// Of a tool call's arguments in a reply, or of what a running tool prints.
    Output(String),
}

/// The receiving end.
#[derive(Debug)]
pub struct Watch(Receiver<Arc<Update>>);

/// The result of polling for an update.
#[derive(Debug)]
pub(crate) enum WatchPoll {
    Update(Arc<Update>),
    /// Some updates were dropped because this watcher was too slow.
    Missed,
    /// Nothing, now.
    Nothing,
}

impl Watch {
    /// The next update; those that came while this watcher was too slow are left out.
    pub async fn recv(&mut self) -> Option<Arc<Update>> {
        loop {
            match self.0.recv().await {
                Ok(update) => return Some(update),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// The next update, if it is there.
    ///
    /// # Errors
    /// If there is none now.
    pub fn try_recv(&mut self) -> Result<Arc<Update>, TryRecvError> {
        loop {
            match self.0.try_recv() {
                Err(TryRecvError::Lagged(_)) => {}
                found => return found,
            }
        }
    }

    /// The next update, or that some are missing. Dropping the future loses nothing.
    pub(crate) async fn watched(&mut self) -> WatchPoll {
        match self.0.recv().await {
            Ok(update) => WatchPoll::Update(update),
            Err(RecvError::Lagged(_)) => WatchPoll::Missed,
            Err(RecvError::Closed) => WatchPoll::Nothing,
        }
    }

    /// What is there now.
    pub(crate) fn watched_now(&mut self) -> WatchPoll {
        match self.0.try_recv() {
            Ok(update) => WatchPoll::Update(update),
            Err(TryRecvError::Lagged(_)) => WatchPoll::Missed,
            Err(TryRecvError::Empty | TryRecvError::Closed) => WatchPoll::Nothing,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Watchers(Arc<Audience>);

#[derive(Debug)]
struct Audience {
    sender: Sender<Arc<Update>>,
    /// Held while an update is sent: what the screen holds back keeps its place.
    screen: Mutex<Screen>,
    /// Runs that this process drives, and by how many drivers: an old one may not know yet that
    /// it has lost its run.
    driven: Mutex<BTreeMap<RunId, usize>>,
}

impl Watchers {
    /// Watchers that never see a secret that `redactor` knows.
    pub(crate) fn with_redactor(redactor: Redactor) -> Self {
        let (sender, _) = channel(KEPT_UPDATES);
        let screen = Mutex::new(Screen::new(redactor));
        Self(Arc::new(Audience { sender, screen, driven: Mutex::default() }))
    }

    pub(crate) fn subscribe(&self) -> Watch {
        Watch(self.0.sender.subscribe())
    }

    /// Sends an update. It is built only if there is a watcher.
    pub(crate) fn send(&self, update: impl FnOnce() -> Update) {
        if self.0.sender.receiver_count() == 0 {
            return;
        }
        let screen = self.0.screen.lock().unwrap_or_else(PoisonError::into_inner);
        for update in screen.pass(update()) {
            // There may be no watcher any more.
            let _ = self.0.sender.send(Arc::new(update));
        }
    }

    /// Notes that this process drives the run, until the result is dropped.
    pub(crate) fn driving(&self, run: &RunId) -> Driving {
        let mut driven = self.0.driven.lock().unwrap_or_else(PoisonError::into_inner);
        *driven.entry(run.clone()).or_default() += 1;
        drop(driven);
        self.send(|| Update::Taken(run.clone()));
        Driving { watchers: self.clone(), run: run.clone() }
    }

    /// Whether this process drives the run.
    pub(crate) fn drives(&self, run: &RunId) -> bool {
        self.0.driven.lock().unwrap_or_else(PoisonError::into_inner).contains_key(run)
    }
}

/// This process drives a run.
#[derive(Debug)]
pub(crate) struct Driving {
    watchers: Watchers,
    run: RunId,
}

impl Drop for Driving {
    fn drop(&mut self) {
        let mut driven = self.watchers.0.driven.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(drivers) = driven.get_mut(&self.run) {
            *drivers -= 1;
            if *drivers == 0 {
                driven.remove(&self.run);
            }
        }
        drop(driven);
        self.watchers.send(|| Update::Released(self.run.clone()));
    }
}
