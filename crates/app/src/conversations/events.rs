//! Everything that happens in a conversation, as one stream: the events of all its runs, its
//! messages, and changes of its title and of what was read.
//!
//! ```text
//!   journals of its runs ──┐
//!   messages ──────────────┼──► ConversationFollower ──► events, each with its cursor
//!   its own row ───────────┘
//! ```
//!
//! A run ends in the commit that writes its final message. So the position of the last message that
//! was given out tells which runs were given out whole, and a cursor names only the others. The
//! events of a run come before its final message.

use super::reader_place::{ReaderPlace, RunPosition};
use super::{MessageRecord, PAGE_MAX};
use crate::error::chain;
use everloop_engine::{Engine, Follower, RunEvent, Scope, Update, Watch};
use everloop_store::{
    ConversationHeader, ConversationMessage, MessageRange, RunStanding, StoreError,
};
use everloop_types::{ConversationId, RunId, UtcMs, digest_bytes};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// How often the conversation is looked at while nothing tells that it changed.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The shortest time between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// Hex digits of the digest of what can be changed about a conversation.
const DIGEST_LEN: usize = 12;

/// Where a stream of events begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventsFrom {
    /// With the first message and the first event of every run.
    Start,
    /// With the runs that are open, each from its first event, and what comes after now.
    Open,
    /// After the event that had this cursor.
    Cursor(String),
}

/// Why a stream cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum ConversationEventsError {
    /// There is no such conversation.
    #[error("no such conversation")]
    NotFound,
    /// The cursor is none of this stream.
    #[error("the cursor does not belong to the events of this conversation")]
    BadCursor,
    /// The cursor is after the last event.
    #[error("the cursor is after the last event: {0}")]
    Ahead(String),
    /// Events after the cursor were deleted to save space.
    #[error("events of {0} after the cursor are not kept any more")]
    Trimmed(RunId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationEvent {
    /// What happened.
    pub kind: ConversationEventKind,
    /// Leads to what follows this event; a delta has none.
    pub cursor: Option<String>,
}

/// What happened in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationEventKind {
    /// Something happened to one of its runs.
    Run {
        /// The event.
        event: Box<RunEvent>,
        /// The turn of the run.
        turn: RunId,
    },
    /// Something was said.
    Message(Box<MessageRecord>),
    /// This is what it is called and how far it was read: first of all, and after each change.
    Header {
        /// Title, archive, memory and what was read.
        header: ConversationHeader,
        /// Its runs that have not ended.
        open_runs: Vec<RunId>,
    },
    /// It was deleted; nothing follows.
    Deleted,
}

/// One run that is followed.
struct RunTrack {
    run: RunId,
    turn: RunId,
    follower: Follower,
    /// Events of this entry that the reader has already.
    known: RunPosition,
    is_over: bool,
}

impl RunTrack {
    async fn begin(
        engine: &Arc<Engine>,
        standing: &RunStanding,
        known: RunPosition,
    ) -> Result<Self, StoreError> {
        let after = known.seq.saturating_sub(1).max(0);
        let follower = engine.follow(&standing.run, after, Scope::Run).await?;
        let (run, turn) = (standing.run.clone(), standing.turn.clone());
        Ok(Self { run, turn, follower, known, is_over: false })
    }

    /// The next event that the reader does not have. Dropping the future loses nothing.
    async fn next(&mut self) -> Result<Option<RunEvent>, StoreError> {
        loop {
            let event = self.follower.next().await?;
            if !self.is_known(event.as_ref()) {
                return Ok(event);
            }
        }
    }

    /// The same, without waiting.
    async fn next_ready(&mut self) -> Result<Option<RunEvent>, StoreError> {
        loop {
            let event = self.follower.next_ready().await?;
            if !self.is_known(event.as_ref()) {
                return Ok(event);
            }
        }
    }

    fn is_known(&mut self, event: Option<&RunEvent>) -> bool {
        let is_durable = |event: &&RunEvent| !event.is_delta();
        let Some(event) = event.filter(is_durable) else { return false };
        let is_known = event.seq == self.known.seq && self.known.events > 0;
        self.known.events -= i64::from(is_known);
        is_known
    }
}

/// What to do about a store that failed for a moment, and about having nothing to give out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Waits,
    TakesWhatIsThere,
}

/// Follows a conversation until it is deleted.
pub struct ConversationFollower {
    engine: Arc<Engine>,
    id: ConversationId,
    watch: Watch,
    place: ReaderPlace,
    tracks: Vec<RunTrack>,
    /// Messages that were read and not given out.
    messages: VecDeque<ConversationMessage>,
    /// Changes that were seen and not given out.
    news: VecDeque<ConversationEventKind>,
    looked_at: Instant,
    is_behind: bool,
    is_over: bool,
}

impl ConversationFollower {
    /// Begins to follow a conversation.
    ///
    /// # Errors
    /// See [`ConversationEventsError`].
    pub async fn begin(
        engine: &Arc<Engine>,
        id: &ConversationId,
        from: EventsFrom,
    ) -> Result<Self, ConversationEventsError> {
        let watch = engine.watch();
        let header = engine.store().conversations().header(id).await?;
        let header = header.ok_or(ConversationEventsError::NotFound)?;
        let mut place = match from {
            EventsFrom::Start => ReaderPlace::default(),
            EventsFrom::Open => ReaderPlace { pos: header.last_pos, ..ReaderPlace::default() },
            EventsFrom::Cursor(text) => {
                let place = ReaderPlace::parse(&text).ok_or(ConversationEventsError::BadCursor)?;
                place.check(engine.store(), id, &header).await?;
                place
            }
        };
        place.tag = Some(ReaderPlace::tag_of(id));
        Ok(Self {
            engine: engine.clone(),
            id: id.clone(),
            watch,
            place,
            tracks: Vec::new(),
            messages: VecDeque::new(),
            news: VecDeque::new(),
            looked_at: Instant::now(),
            is_behind: true,
            is_over: false,
        })
    }

    /// Leads to what follows the last event that was given out.
    #[must_use]
    pub fn cursor(&self) -> String {
        self.place.to_string()
    }

    /// The next event; none once the conversation is deleted. Dropping the future loses nothing. A
    /// store that fails for a moment is asked again.
    ///
    /// # Errors
    /// If the store fails permanently, or a journal cannot be read.
    pub async fn next(&mut self) -> Result<Option<ConversationEvent>, StoreError> {
        loop {
            match self.known_next(Patience::Waits).await {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) if self.is_over => return Ok(None),
                Ok(None) => {}
                Err(error) if error.is_transient() => {
                    tracing::debug!(error = %chain(&error), "events are read again in a moment");
                    tokio::time::sleep(LOOK_EVERY).await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if let Some((place, event)) = self.wait().await? {
                return Ok(Some(self.give_event(place, event)));
            }
        }
    }

    /// The next event that has happened already; none if nothing has happened since.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn next_ready(&mut self) -> Result<Option<ConversationEvent>, StoreError> {
        if let Some(event) = self.known_next(Patience::TakesWhatIsThere).await? {
            return Ok(Some(event));
        }
        for place in 0..self.tracks.len() {
            let track = &mut self.tracks[place];
            if track.is_over {
                continue;
            }
            if let Some(event) = track.next_ready().await? {
                return Ok(Some(self.give_event(place, event)));
            }
        }
        Ok(None)
    }

    /// What is known to have happened: changes and messages, each final one after its run.
    async fn known_next(
        &mut self,
        patience: Patience,
    ) -> Result<Option<ConversationEvent>, StoreError> {
        loop {
            if let Some(kind) = self.news.pop_front() {
                return Ok(Some(self.with_cursor(kind)));
            }
            if let Some(message) = self.messages.front() {
                let of = |track: &RunTrack| {
                    message.slot == "final" && Some(&track.run) == message.run.as_ref()
                };
                let open = self.tracks.iter().position(|track| of(track) && !track.is_over);
                let Some(place) = open else { return Ok(self.give_message()) };
                // The run has ended: its last event is there, or about to be.
                match self.tracks[place].next().await? {
                    Some(event) => return Ok(Some(self.give_event(place, event))),
                    None => self.tracks[place].is_over = true,
                }
                continue;
            }
            if !self.is_behind || self.is_over {
                return Ok(None);
            }
            self.look().await?;
            if patience == Patience::TakesWhatIsThere && self.is_over {
                return Ok(None);
            }
        }
    }

    /// Reads what the store has and was not given out.
    async fn look(&mut self) -> Result<(), StoreError> {
        let engine = self.engine.clone();
        let all = engine.store().conversations();
        let Some(header) = all.header(&self.id).await? else {
            self.is_over = true;
            self.news.push_back(ConversationEventKind::Deleted);
            return Ok(());
        };
        let after = self.place.pos;
        let range = MessageRange { before: None, after: Some(after), most: PAGE_MAX };
        let page = all.messages_page(&self.id, range).await?;
        let upto = page.messages.last().map_or(after, |last| last.pos);
        // After the messages: a final message that was read has a run that is seen to be over.
        let standings = all.run_standings(&self.id, after, upto).await?;
        for standing in &standings {
            self.track(standing).await?;
        }
        if page.messages.is_empty() {
            self.forget_deleted_runs();
        }
        self.note_header(header, &standings);
        self.is_behind = page.has_more;
        self.messages = page.messages.into();
        self.looked_at = Instant::now();
        Ok(())
    }

    async fn track(&mut self, standing: &RunStanding) -> Result<(), StoreError> {
        let is_tracked = self.tracks.iter().any(|track| track.run == standing.run);
        // A run that came in a file may have ended without a message here.
        let has_no_end = standing.status.is_final() && standing.final_pos.is_none();
        if is_tracked || standing.is_trimmed || has_no_end {
            return Ok(());
        }
        let known = self.place.runs.get(&standing.run).copied().unwrap_or_default();
        self.tracks.push(RunTrack::begin(&self.engine, standing, known).await?);
        Ok(())
    }

    /// A run that is over and whose final message does not come was deleted.
    fn forget_deleted_runs(&mut self) {
        let gone = self.tracks.extract_if(.., |track| track.is_over);
        for track in gone {
            self.place.runs.remove(&track.run);
        }
    }

    fn note_header(&mut self, header: ConversationHeader, standings: &[RunStanding]) {
        let digest = Some(header_digest(&header));
        if self.place.digest == digest {
            return;
        }
        self.place.digest = digest;
        let is_open = |standing: &&RunStanding| !standing.status.is_final();
        let open_runs = standings.iter().filter(is_open).map(|standing| standing.run.clone());
        let open_runs = open_runs.collect();
        self.news.push_back(ConversationEventKind::Header { header, open_runs });
    }

    /// Waits for an event of a run, or until it is time to look.
    async fn wait(&mut self) -> Result<Option<(usize, RunEvent)>, StoreError> {
        let mut look_at = self.looked_at + LOOK_EVERY;
        let known: Vec<RunId> = self.tracks.iter().map(|track| track.run.clone()).collect();
        loop {
            let (place, next) = tokio::select! {
                biased;
                update = self.watch.recv() => {
                    // A run that begins or stops may be one of ours.
                    if update.is_some_and(|update| is_news(&update, &known)) {
                        look_at = look_at.min(self.looked_at + LOOK_PAUSE);
                    }
                    continue;
                }
                next = first_event(&mut self.tracks) => next,
                () = tokio::time::sleep_until(look_at) => {
                    self.is_behind = true;
                    return Ok(None);
                }
            };
            match next {
                Ok(Some(event)) => return Ok(Some((place, event))),
                Ok(None) => {
                    self.tracks[place].is_over = true;
                    self.is_behind = true;
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn give_event(&mut self, place: usize, event: RunEvent) -> ConversationEvent {
        let track = &mut self.tracks[place];
        let turn = track.turn.clone();
        if event.is_terminal() {
            track.is_over = true;
            self.is_behind = true;
        }
        // A question, too, comes with a message.
        self.is_behind |= event.is_stop();
        if !event.is_delta() {
            let at = self.place.runs.entry(track.run.clone()).or_default();
            let events = if at.seq == event.seq { at.events + 1 } else { 1 };
            *at = RunPosition { seq: event.seq, events };
        }
        let is_delta = event.is_delta();
        let kind = ConversationEventKind::Run { event: Box::new(event), turn };
        if is_delta { ConversationEvent { kind, cursor: None } } else { self.with_cursor(kind) }
    }

    fn give_message(&mut self) -> Option<ConversationEvent> {
        let message = self.messages.pop_front()?;
        self.place.pos = message.pos;
        if let Some(run) = message.run.as_ref().filter(|_| message.slot == "final") {
            self.tracks.retain(|track| track.run != *run);
            self.place.runs.remove(run);
        }
        let record = MessageRecord::from(&message);
        Some(self.with_cursor(ConversationEventKind::Message(Box::new(record))))
    }

    fn with_cursor(&self, kind: ConversationEventKind) -> ConversationEvent {
        ConversationEvent { kind, cursor: Some(self.cursor()) }
    }
}

fn header_digest(header: &ConversationHeader) -> String {
    let ConversationHeader { title, archived_at, out_of_memory, read_pos, .. } = header;
    let archived: Option<UtcMs> = *archived_at;
    let said = format!("{title:?}|{}|{out_of_memory}|{read_pos}", archived.is_some());
    digest_bytes(said.as_bytes())[..DIGEST_LEN].to_owned()
}

fn is_news(update: &Update, known: &[RunId]) -> bool {
    match update {
        Update::Taken(run) | Update::Released(run) => !known.contains(run),
        Update::Entry(..) | Update::Delta(..) => false,
    }
}

/// The first event of any run that is followed; never, if there is none.
async fn first_event(tracks: &mut [RunTrack]) -> (usize, Result<Option<RunEvent>, StoreError>) {
    let open = tracks.iter_mut().enumerate().filter(|(_, track)| !track.is_over);
    let mut waits: Vec<_> = open.map(|(place, track)| (place, Box::pin(track.next()))).collect();
    poll_fn(|context| {
        for (place, wait) in &mut waits {
            if let Poll::Ready(next) = pin!(wait).poll(context) {
                return Poll::Ready((*place, next));
            }
        }
        Poll::Pending
    })
    .await
}
