//! The events of a run on a server, across lost connections: nothing is missed and nothing comes
//! twice.
//!
//! Several events may share one number, so a reader that comes back asks for those after the
//! number before its last one and leaves out as many as it has seen. The server tells a reader who
//! comes in the middle of a reply its beginning: what was shown of it is left out, too.

use crate::error::RemoteError;
use crate::server::RemoteServer;
use crate::sse::SseReader;
use everloop_engine::{EventKind, RunEvent};
use everloop_types::RunId;
use reqwest::Response;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Instant;

/// How long between two attempts to come back.
const AGAIN: Duration = Duration::from_millis(500);

/// How long a server may be away before it is given up.
const AWAY_MAX: Duration = Duration::from_secs(300);

/// What comes next.
#[derive(Debug)]
pub enum FeedNews {
    /// Something happened.
    Event(Box<RunEvent>),
    /// The connection was lost; it is tried again.
    Lost(RemoteError),
    /// There is a connection again.
    Back,
}

/// A piece that was shown, by its run, the place of its call and its kind.
type ShownPieces = BTreeMap<(RunId, i64, u8), usize>;

type Opening = Pin<Box<dyn Future<Output = Result<Response, RemoteError>> + Send>>;

/// The events of one run and those below it.
pub struct RunFeed {
    server: RemoteServer,
    run: RunId,
    open: Option<(Response, SseReader)>,
    /// A connection that is being made: it goes on if the caller looks elsewhere for a moment.
    opening: Option<Opening>,
    ready: VecDeque<FeedNews>,
    /// The number of the run's last event, and how many had it.
    last: (i64, usize),
    /// Durable events to leave out after coming back: those of the last number that were seen.
    to_skip: usize,
    shown: ShownPieces,
    /// Bytes of pieces to leave out after coming back.
    repeated: ShownPieces,
    away_since: Option<Instant>,
    /// Whether it was said that the connection is lost.
    is_told: bool,
    is_over: bool,
}

impl RunFeed {
    pub(crate) fn new(server: RemoteServer, run: RunId, after: i64) -> Self {
        Self {
            server,
            run,
            open: None,
            opening: None,
            ready: VecDeque::new(),
            last: (after, 0),
            to_skip: 0,
            shown: ShownPieces::new(),
            repeated: ShownPieces::new(),
            away_since: None,
            is_told: false,
            is_over: false,
        }
    }

    /// The next news; none after the end of the run. Dropping the future loses nothing.
    ///
    /// # Errors
    /// If the server refuses, or is away for too long.
    pub async fn next(&mut self) -> Result<Option<FeedNews>, RemoteError> {
        loop {
            if let Some(news) = self.ready.pop_front() {
                return Ok(Some(news));
            }
            if self.is_over {
                return Ok(None);
            }
            let Some((response, reader)) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            let events = match response.chunk().await {
                Ok(Some(bytes)) => reader.push(&bytes),
                Ok(None) => None,
                Err(error) => {
                    let error = self.server.unreachable(error);
                    self.open = None;
                    self.lose(error)?;
                    continue;
                }
            };
            match events {
                Some(events) => events.iter().for_each(|data| self.take(data)),
                // The server stops, and will come back.
                None => {
                    self.open = None;
                    self.away_since = Some(Instant::now());
                }
            }
        }
    }

    /// Connects, at first or again. The last number is asked for once more if it was seen in part.
    async fn connect(&mut self) -> Result<(), RemoteError> {
        let (seq, seen) = self.last;
        let opening = self.opening.get_or_insert_with(|| {
            let (server, run) = (self.server.clone(), self.run.clone());
            let after = if seen > 0 { seq - 1 } else { seq };
            let pause = if self.away_since.is_some() { AGAIN } else { Duration::ZERO };
            Box::pin(async move {
                tokio::time::sleep(pause).await;
                server.open_events(&run, after).await
            })
        });
        let opened = opening.await;
        self.opening = None;
        match opened {
            Ok(response) => {
                self.open = Some((response, SseReader::default()));
                self.to_skip = seen;
                self.repeated = self.shown.clone();
                self.away_since = None;
                if std::mem::take(&mut self.is_told) {
                    self.ready.push_back(FeedNews::Back);
                }
                Ok(())
            }
            Err(error) if error.is_transient() => self.lose(error),
            Err(error) => Err(error),
        }
    }

    fn lose(&mut self, error: RemoteError) -> Result<(), RemoteError> {
        let since = *self.away_since.get_or_insert_with(Instant::now);
        if since.elapsed() > AWAY_MAX {
            return Err(error);
        }
        if !std::mem::replace(&mut self.is_told, true) {
            self.ready.push_back(FeedNews::Lost(error));
        }
        Ok(())
    }

    fn take(&mut self, data: &str) {
        // A newer server may know events that this client does not.
        let Ok(event) = serde_json::from_str::<RunEvent>(data) else { return };
        let event = match event.is_delta() {
            true => self.piece(event),
            false => self.durable(event),
        };
        self.ready.extend(event.map(|event| FeedNews::Event(Box::new(event))));
    }

    fn durable(&mut self, event: RunEvent) -> Option<RunEvent> {
        if starts_again(&event.kind) {
            self.shown.retain(|(run, ..), _| *run != event.run_id);
            self.repeated.retain(|(run, ..), _| *run != event.run_id);
        }
        if event.run_id != self.run {
            return Some(event);
        }
        let (seq, seen) = self.last;
        if event.seq < seq {
            return None;
        }
        if event.seq == seq && self.to_skip > 0 {
            self.to_skip -= 1;
            return None;
        }
        self.last = if event.seq == seq { (seq, seen + 1) } else { (event.seq, 1) };
        self.is_over = event.is_terminal();
        Some(event)
    }

    /// What is new in a piece of a call under way.
    fn piece(&mut self, mut event: RunEvent) -> Option<RunEvent> {
        let (kind, text) = match &mut event.kind {
            EventKind::MessageDelta { text } => (0, text),
            EventKind::ReasoningDelta { text } => (1, text),
            EventKind::ToolProgress { text: Some(text), .. } => (2, text),
            _ => return Some(event),
        };
        let key = (event.run_id.clone(), event.seq, kind);
        if let Some(left) = self.repeated.get_mut(&key) {
            let cut = text.floor_char_boundary((*left).min(text.len()));
            *left -= cut;
            text.drain(..cut);
            if *left == 0 {
                self.repeated.remove(&key);
            }
        }
        *self.shown.entry(key).or_default() += text.len();
        (!text.is_empty()).then_some(event)
    }
}

/// Whether a call under way is made again, so that its words begin anew.
fn starts_again(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::RunRecovered { .. }
            | EventKind::RunResumed {}
            | EventKind::StepRetrying { .. }
            | EventKind::StepFellBack { .. }
            | EventKind::ToolRetrying { .. }
    )
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
