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

/// How long a connection may be silent. A server that lives sends something every 15 seconds.
const SILENT_MAX: Duration = Duration::from_secs(45);

/// How long a connection must last to count as one. A server that ends each one at once is away.
const STEADY_AFTER: Duration = Duration::from_secs(10);

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

/// A connection that events come over.
struct OpenFeed {
    response: Response,
    reader: SseReader,
    opened_at: Instant,
    /// When something came over it last.
    heard_at: Instant,
}

impl OpenFeed {
    fn new(response: Response) -> Self {
        let now = Instant::now();
        Self { response, reader: SseReader::default(), opened_at: now, heard_at: now }
    }

    /// The next events, none once the server has ended the stream.
    async fn next(&mut self, server: &RemoteServer) -> Result<Option<Vec<String>>, RemoteError> {
        // A moment and not a duration: a caller who looks elsewhere again and again drops this.
        let silent_at = self.heard_at + SILENT_MAX;
        let chunk = tokio::time::timeout_at(silent_at, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| server.silent())?;
        let Some(bytes) = chunk.map_err(|source| server.unreachable(source))? else {
            return Ok(None);
        };
        self.heard_at = Instant::now();
        let too_long = |_| RemoteError::NotEverloop(server.shown().to_owned());
        self.reader.push(&bytes).map(Some).map_err(too_long)
    }

    fn is_steady(&self) -> bool {
        self.opened_at.elapsed() > STEADY_AFTER
    }
}

/// The events of one run and those below it.
pub struct RunFeed {
    server: RemoteServer,
    run: RunId,
    open: Option<OpenFeed>,
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
            let Some(open) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            match open.next(&self.server).await {
                Ok(Some(events)) => {
                    if open.is_steady() || !events.is_empty() {
                        self.away_since = None;
                    }
                    events.iter().for_each(|data| self.take(data));
                }
                // The server stops, and will come back.
                Ok(None) => {
                    self.open = None;
                    if self.is_away_too_long() {
                        return Err(self.server.silent());
                    }
                }
                Err(error) if error.is_transient() => {
                    self.open = None;
                    self.lose(error)?;
                }
                Err(error) => return Err(error),
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
                self.open = Some(OpenFeed::new(response));
                self.to_skip = seen;
                self.repeated = self.shown.clone();
                if std::mem::take(&mut self.is_told) {
                    self.ready.push_back(FeedNews::Back);
                }
                Ok(())
            }
            Err(error) if error.is_transient() => self.lose(error),
            Err(error) => Err(error),
        }
    }

    /// A connection was lost, or could not be made. The person is told once.
    fn lose(&mut self, error: RemoteError) -> Result<(), RemoteError> {
        if self.is_away_too_long() {
            return Err(error);
        }
        if !std::mem::replace(&mut self.is_told, true) {
            self.ready.push_back(FeedNews::Lost(error));
        }
        Ok(())
    }

    /// The server is away, from now on or still.
    fn is_away_too_long(&mut self) -> bool {
        self.away_since.get_or_insert_with(Instant::now).elapsed() > AWAY_MAX
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
