//! Following a run: its past from the journal, then what happens, without a gap or a repetition.
//!
//! ```text
//!   journal ──entries──► Projector ──events──► followers
//!                            ▲
//!   driver of this process ──┤   entries and pieces, as they come
//!   driver of another one ───┘   pieces, and that rows have changed
//! ```
//!
//! While this process drives the run, nothing is polled: each update wakes the follower, and so
//! does the end of the drive. While it is not driven here, the store's live channel tells what
//! happens, and the position of the run is read at intervals. An update that was missed is read
//! from the journal; a lost piece is not, since the complete reply follows it. Who begins in the
//! middle of a call gets what was sent of it before.

use crate::events::{EventKind, RunEnding, RunEvent};
use crate::piece::PieceNews;
use crate::watch::{Watch, WatchPoll};
use crate::{Engine, Projector, RunView, Update};
use everloop_store::{LiveListener, StoreError};
use everloop_types::journal::Entry;
use everloop_types::{LiveMessage, RunId, Status, StreamPiece};
use std::collections::VecDeque;
use std::sync::Arc;

/// How often the position of a run is read that this process does not drive, if its store has no
/// live channel.
const LOOK_EVERY_MS: u64 = 100;

/// Entries that are read at once.
const ENTRIES_MAX: usize = 500;

/// Whose events are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those of the run alone.
    Run,
    /// Those of the runs below it, too. Of a run that was there before, what happens from now on.
    Tree,
}

/// Follows one run to its end.
pub struct Follower {
    engine: Arc<Engine>,
    scope: Scope,
    watch: Watch,
    /// The run, and the runs below it that are followed.
    tracks: Vec<Track>,
    /// Runs below that have begun and are not followed yet.
    begun: VecDeque<RunId>,
    ready: VecDeque<RunEvent>,
    /// The end of the run, which comes after all that is known of the runs below it.
    last: Option<RunEvent>,
    /// Whether the store may have something that was not delivered.
    is_behind: bool,
    /// Pieces that may be ahead of what was read: they are delivered when the store was looked at.
    early: Vec<StreamPiece>,
    /// What other processes tell, once one of them may drive.
    listener: Option<Box<dyn LiveListener>>,
    /// The run as it was where following began.
    past: RunView,
}

/// One run that is followed.
struct Track {
    projector: Projector,
    /// Events up to this place are not delivered.
    after: i64,
    is_over: bool,
    /// Whether the live channel tells of it.
    is_heard: bool,
}

impl Engine {
    /// Follows a run: first the events after entry `after`, then those to come.
    ///
    /// # Errors
    /// If the store fails. A run that does not exist has no events.
    pub async fn follow(
        self: &Arc<Self>,
        run: &RunId,
        after: i64,
        scope: Scope,
    ) -> Result<Follower, StoreError> {
        Follower::begin(self.clone(), run, after, scope).await
    }
}

impl Follower {
    async fn begin(
        engine: Arc<Engine>,
        run: &RunId,
        after: i64,
        scope: Scope,
    ) -> Result<Self, StoreError> {
        // Before anything is read: what comes in between is seen twice, and skipped.
        let (watch, early) = engine.watchers.subscribe_late();
        let mut follower = Self {
            scope,
            watch,
            tracks: Vec::new(),
            begun: VecDeque::new(),
            ready: VecDeque::new(),
            last: None,
            is_behind: true,
            early,
            listener: None,
            past: RunView::new(run.clone()),
            engine,
        };
        follower.track(run, after).await?;
        if scope == Scope::Tree {
            for child in follower.engine.store().runs().descendants(run).await? {
                let at = follower.engine.store().runs().position(&child).await?;
                let after = at.map_or(0, |at| at.next_seq - 1);
                follower.track(&child, after).await?;
            }
        }
        Ok(follower)
    }

    /// The run as it was at the entry after which its events are delivered.
    #[must_use]
    pub fn past(&self) -> &RunView {
        &self.past
    }

    /// The next event; none after the last one.
    ///
    /// Dropping the future loses nothing. A store that fails for a moment is asked again.
    ///
    /// # Errors
    /// If the store fails permanently, or the journal cannot be read.
    pub async fn next(&mut self) -> Result<Option<RunEvent>, StoreError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.is_behind || !self.begun.is_empty() {
                match self.catch_up().await {
                    Err(error) if error.is_transient() => {
                        self.engine.clock.pause(LOOK_EVERY_MS).await;
                    }
                    caught_up => caught_up?,
                }
                continue;
            }
            if self.is_over() {
                return Ok(self.last.take());
            }
            if self.is_driven_here() {
                let watched = self.watch.watched().await;
                self.take(watched);
            } else {
                self.listen().await;
            }
        }
    }

    /// Waits until another process tells something, this one takes the run, or it is time to look.
    async fn listen(&mut self) {
        let engine = self.engine.clone();
        self.listen_to_all();
        let look_ms = self.listener.as_ref().map_or(LOOK_EVERY_MS, |it| it.look_every_ms());
        let mut pause = std::pin::pin!(engine.clock.pause(look_ms));
        loop {
            tokio::select! {
                biased;
                watched = self.watch.watched() => {
                    // The updates of other runs must not put off the look.
                    if self.concerns(&watched) {
                        return self.take(watched);
                    }
                }
                messages = next_messages(&mut self.listener) => {
                    return messages.into_iter().for_each(|message| self.take_message(message));
                }
                () = &mut pause => return self.take(WatchPoll::Missed),
            }
        }
    }

    /// Listens to all runs that are not over.
    fn listen_to_all(&mut self) {
        let Some(live) = self.engine.store().live() else { return };
        let listener = self.listener.get_or_insert_with(|| live.listen());
        for track in self.tracks.iter_mut().filter(|track| !track.is_over && !track.is_heard) {
            listener.add(track.projector.run());
            track.is_heard = true;
        }
    }

    fn concerns(&self, watched: &WatchPoll) -> bool {
        match watched {
            WatchPoll::Update(update) => {
                self.tracks.iter().any(|track| track.projector.run() == update.run())
            }
            WatchPoll::Missed | WatchPoll::Nothing => true,
        }
    }

    /// The next event that has happened already; none if nothing has happened since.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn next_ready(&mut self) -> Result<Option<RunEvent>, StoreError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.is_behind || !self.begun.is_empty() {
                self.catch_up().await?;
                continue;
            }
            if self.is_over() {
                return Ok(self.last.take());
            }
            match self.watch.watched_now() {
                WatchPoll::Nothing => return Ok(None),
                watched => self.take(watched),
            }
        }
    }

    /// Whether nothing follows an event, which was just given out, that belongs to its entry.
    #[must_use]
    pub fn is_entry_complete(&self, event: &RunEvent) -> bool {
        let is_of_entry = |next: &RunEvent| {
            !next.is_delta() && next.seq == event.seq && next.run_id == event.run_id
        };
        !self.ready.iter().any(is_of_entry) && !self.last.as_ref().is_some_and(is_of_entry)
    }

    fn is_over(&self) -> bool {
        self.tracks.first().is_none_or(|root| root.is_over)
    }

    fn is_driven_here(&self) -> bool {
        let mut going = self.tracks.iter().filter(|track| !track.is_over);
        going.any(|track| self.engine.watchers.drives(track.projector.run()))
    }

    /// Begins to follow a run: what it was before `after` is folded, and not delivered.
    async fn track(&mut self, run: &RunId, after: i64) -> Result<(), StoreError> {
        let store = self.engine.store();
        let Some(frame) = store.journal().frame(run).await? else { return Ok(()) };
        let projector = Projector::new(run.clone(), Arc::new(frame));
        self.tracks.push(Track { projector, after, is_over: false, is_heard: false });
        self.is_behind = true;
        let place = self.tracks.len() - 1;
        // The past of the run is folded before the first event is requested.
        self.read_journal(place).await
    }

    /// Reads what the store has and was not delivered.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        while let Some(run) = self.begun.front().cloned() {
            if self.tracks.iter().all(|track| *track.projector.run() != run) {
                self.track(&run, 0).await?;
            }
            self.begun.pop_front();
        }
        for place in 0..self.tracks.len() {
            if !self.tracks[place].is_over {
                self.look_at(place).await?;
            }
        }
        self.is_behind = !self.begun.is_empty();
        // What is not under way by now is over.
        for piece in std::mem::take(&mut self.early) {
            let _ = self.take_piece(&piece);
        }
        Ok(())
    }

    fn take_message(&mut self, message: LiveMessage) {
        match message {
            LiveMessage::Piece(piece) if self.early.is_empty() => match self.take_piece(&piece) {
                PieceNews::OfAnotherTime => {
                    self.early.push(piece);
                    self.is_behind = true;
                }
                PieceNews::Missing => self.begin_again(&piece.stream.effect.run),
                PieceNews::Event(_) | PieceNews::Nothing => {}
            },
            LiveMessage::Piece(piece) => self.early.push(piece),
            LiveMessage::Wrote { .. } | LiveMessage::Left { .. } => self.is_behind = true,
        }
    }

    /// Gets what was sent of the calls under way of a run: here, or from who drives it.
    fn begin_again(&mut self, run: &RunId) {
        if self.engine.watchers.drives(run) {
            for piece in self.engine.watchers.open_pieces(run) {
                let _ = self.take_piece(&piece);
            }
        } else if let Some(listener) = &mut self.listener {
            listener.add(run);
        }
    }

    /// Shows what is new in a piece.
    fn take_piece(&mut self, piece: &StreamPiece) -> PieceNews {
        let of_run = |track: &&mut Track| *track.projector.run() == piece.stream.effect.run;
        let Some(track) = self.tracks.iter_mut().find(of_run) else { return PieceNews::Nothing };
        match track.projector.take_piece(piece) {
            PieceNews::Event(event) => {
                self.ready.push_back(*event);
                PieceNews::Nothing
            }
            other => other,
        }
    }

    async fn look_at(&mut self, place: usize) -> Result<(), StoreError> {
        let run = self.tracks[place].projector.run().clone();
        let at = self.engine.store().runs().position(&run).await?;
        let Some(at) = at else {
            // It was deleted.
            self.tracks[place].is_over = true;
            return Ok(());
        };
        if at.next_seq - 1 > self.tracks[place].projector.seq() {
            self.read_journal(place).await?;
        }
        if at.status == Status::Quarantined {
            let note = self.engine.store().runs().get(&run).await?.and_then(|row| row.note);
            self.quarantined(place, note);
        } else if at.status.is_final() {
            self.tracks[place].is_over = true;
        }
        Ok(())
    }

    async fn read_journal(&mut self, place: usize) -> Result<(), StoreError> {
        loop {
            let projector = &self.tracks[place].projector;
            let read = self.engine.store().journal().entries(
                projector.run(),
                projector.seq(),
                ENTRIES_MAX,
            );
            let entries = read.await?;
            let is_all = entries.len() < ENTRIES_MAX;
            entries.iter().for_each(|entry| self.deliver(place, entry));
            if is_all {
                return Ok(());
            }
        }
    }

    /// A quarantine is not in the journal, which could not be written.
    fn quarantined(&mut self, place: usize, note: Option<String>) {
        let track = &mut self.tracks[place];
        if std::mem::replace(&mut track.is_over, true) {
            return;
        }
        let ending = RunEnding { status: Status::Quarantined, reason: None, note };
        let event = RunEvent {
            kind: ending.into(),
            run_id: track.projector.run().clone(),
            seq: track.projector.seq(),
            ts: Some(self.engine.clock.now()),
        };
        self.push(place, event);
    }

    /// The end of the run waits until the runs below it were looked at once more.
    fn push(&mut self, place: usize, event: RunEvent) {
        if place == 0 && event.is_terminal() {
            self.is_behind |= self.tracks.iter().any(|track| !track.is_over);
            self.last = Some(event);
        } else {
            self.ready.push_back(event);
        }
    }

    fn take(&mut self, watched: WatchPoll) {
        let update = match watched {
            WatchPoll::Update(update) => update,
            WatchPoll::Missed | WatchPoll::Nothing => {
                self.is_behind = true;
                return;
            }
        };
        let is_about = |track: &Track| track.projector.run() == update.run();
        let Some(place) = self.tracks.iter().position(is_about) else { return };
        let seen = self.tracks[place].projector.seq();
        match update.as_ref() {
            Update::Entry(_, entry) if entry.seq <= seen => {}
            Update::Entry(_, entry) if entry.seq == seen + 1 => self.deliver(place, entry),
            // Something was missed, or the drive is over and may have ended without an entry.
            Update::Entry(..) | Update::Released(_) => self.is_behind = true,
            Update::Delta(piece) => self.take_message(LiveMessage::Piece(piece.clone())),
            Update::Taken(_) => {}
        }
    }

    fn deliver(&mut self, place: usize, entry: &Entry) {
        let track = &mut self.tracks[place];
        let events = track.projector.take_entry(entry);
        let is_past = entry.seq <= track.after;
        track.is_over |= events.iter().any(RunEvent::is_terminal);
        for event in events {
            if is_past {
                self.past.apply(&event);
                continue;
            }
            if let EventKind::ChildStarted { child } = &event.kind
                && self.scope == Scope::Tree
            {
                self.begun.push_back(child.clone());
            }
            self.push(place, event);
        }
    }
}

/// The next messages of other processes; never without a channel.
async fn next_messages(listener: &mut Option<Box<dyn LiveListener>>) -> Vec<LiveMessage> {
    match listener {
        Some(listener) => listener.next().await,
        None => std::future::pending().await,
    }
}
