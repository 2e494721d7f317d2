//! Watchers in this process, and the way to those in others. They never change a run, and a slow
//! one never delays a driver: what it missed it reads from the journal.

use crate::open_streams::OpenStreams;
use crate::stream_redactor::StreamRedactor;
use everloop_store::{LiveChannel, Store};
use everloop_types::journal::Entry;
use everloop_types::{CallStream, Fragment, LiveMessage, RunId, StreamPiece};
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
    Delta(StreamPiece),
    /// The driver is done with the run: it is over, waits, or goes back to the queue.
    Released(RunId),
}

impl Update {
    /// The run that it is about.
    #[must_use]
    pub fn run(&self) -> &RunId {
        match self {
            Self::Taken(run) | Self::Entry(run, _) | Self::Released(run) => run,
            Self::Delta(piece) => &piece.stream.effect.run,
        }
    }
}

/// What other processes are told of it.
fn told(update: &Update) -> LiveMessage {
    match update {
        Update::Delta(piece) => LiveMessage::Piece(piece.clone()),
        Update::Taken(run) | Update::Entry(run, _) => LiveMessage::Wrote { run: run.clone() },
        Update::Released(run) => LiveMessage::Left { run: run.clone() },
    }
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
    /// Held while an update is sent: what the redactor holds back keeps its place.
    redactor: Mutex<StreamRedactor>,
    /// What was sent of calls under way, for whoever begins to watch.
    open: Mutex<OpenStreams>,
    /// Runs that this process drives, and by how many drivers: an old one may not know yet that
    /// it has lost its run.
    driven: Mutex<BTreeMap<RunId, usize>>,
    /// The way to other processes.
    live: Option<Arc<dyn LiveChannel>>,
}

impl Audience {
    fn open_pieces(&self, run: &RunId) -> Vec<StreamPiece> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.pieces().filter(|piece| piece.stream.effect.run == *run).collect()
    }
}

impl Watchers {
    /// Watchers that never see a secret that the store's redactor knows, here and in the other
    /// processes that use the store.
    pub(crate) fn of_store(store: &Store) -> Self {
        let (sender, _) = channel(KEPT_UPDATES);
        let redactor = Mutex::new(StreamRedactor::new(store.redactor().clone()));
        let (open, driven, live) = (Mutex::default(), Mutex::default(), store.live().cloned());
        let audience = Arc::new(Audience { sender, redactor, open, driven, live });
        if let Some(live) = &audience.live {
            let weak = Arc::downgrade(&audience);
            live.attach(Arc::new(move |run| {
                let audience = weak.upgrade();
                audience.map(|audience| audience.open_pieces(run)).unwrap_or_default()
            }));
        }
        Self(audience)
    }

    pub(crate) fn subscribe(&self) -> Watch {
        Watch(self.0.sender.subscribe())
    }

    /// What happens from now on, and what was sent of the calls that are under way.
    pub(crate) fn subscribe_late(&self) -> (Watch, Vec<StreamPiece>) {
        let _sending = self.0.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        (self.subscribe(), open.pieces().collect())
    }

    /// Sends an update. A watcher that comes later gets what was sent of a call under way.
    pub(crate) fn send(&self, update: Update) {
        let redactor = self.0.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        // A call that was dropped may still print: its run is released, and nothing would ever
        // take these pieces away.
        if matches!(&update, Update::Delta(piece) if !self.drives(&piece.stream.effect.run)) {
            return;
        }
        for mut update in redactor.pass(update) {
            // One that lost its run and was slow to see it takes nothing from the driver after it.
            let is_another_at_work = matches!(&update, Update::Released(run) if self.drives(run));
            if !is_another_at_work {
                self.0.open.lock().unwrap_or_else(PoisonError::into_inner).take(&mut update);
                self.0.live.iter().for_each(|live| live.send(told(&update)));
            }
            // There may be no watcher.
            let _ = self.0.sender.send(Arc::new(update));
        }
    }

    /// Sends a piece of a call under way.
    pub(crate) fn send_piece(&self, stream: &CallStream, fragment: Fragment) {
        // Its place is known once it has passed the redactor.
        let piece = StreamPiece { stream: stream.clone(), offset: 0, fragment };
        self.send(Update::Delta(piece));
    }

    /// Notes that this process drives the run, until the result is dropped.
    pub(crate) fn driving(&self, run: &RunId) -> DrivingGuard {
        let mut driven = self.0.driven.lock().unwrap_or_else(PoisonError::into_inner);
        *driven.entry(run.clone()).or_default() += 1;
        drop(driven);
        self.send(Update::Taken(run.clone()));
        DrivingGuard { watchers: self.clone(), run: run.clone() }
    }

    /// What was sent of the calls under way of a run.
    pub(crate) fn open_pieces(&self, run: &RunId) -> Vec<StreamPiece> {
        self.0.open_pieces(run)
    }

    /// Whether this process drives the run.
    pub(crate) fn drives(&self, run: &RunId) -> bool {
        self.0.driven.lock().unwrap_or_else(PoisonError::into_inner).contains_key(run)
    }
}

/// This process drives a run.
#[derive(Debug)]
pub(crate) struct DrivingGuard {
    watchers: Watchers,
    run: RunId,
}

impl Drop for DrivingGuard {
    fn drop(&mut self) {
        let mut driven = self.watchers.0.driven.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(drivers) = driven.get_mut(&self.run) {
            *drivers -= 1;
            if *drivers == 0 {
                driven.remove(&self.run);
            }
        }
        drop(driven);
        self.watchers.send(Update::Released(self.run.clone()));
    }
}
