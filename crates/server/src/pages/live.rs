//! Says that something changed, on a WebSocket. What changed is read from the page itself.
//!
//! A browser opens at most six connections of HTTP/1.1 to a server, over all its tabs; WebSockets
//! are not among them.

use super::frame::{PageRequest, listed};
use super::live_news::news;
use crate::problem::Problem;
use crate::routes::event_stream::{PING, SocketRequest, send};
use crate::state::ServerState;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket};
use axum::response::Response;
use everloop_app::interrupts::OpenInterrupt;
use everloop_engine::Update;
use everloop_store::{FactFilter, RunFilter};
use everloop_types::{Status, digest_bytes};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How often other processes' changes are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// Changes that follow each other closely are one.
const GATHER: Duration = Duration::from_millis(80);

/// How long a page may be silent.
const SILENT_MAX: Duration = Duration::from_secs(45);

/// Runs that are looked at.
pub(super) const RUNS_MAX: usize = 40;

/// Facts that are looked at.
const FACTS_MAX: usize = 100;

pub(crate) async fn stream(
    State(state): State<ServerState>,
    request: PageRequest,
    socket: SocketRequest,
) -> Response {
    socket.accept(move |socket| tell(state, request, socket))
}

/// What the pages are told of.
pub(crate) struct Snapshot {
    /// Differs whenever something changed.
    stamp: String,
    /// What needs a person.
    asks: Vec<OpenInterrupt>,
    /// How far the newest runs have come, so that a page can say how much came while it did not
    /// look.
    runs: BTreeMap<String, i64>,
}

async fn snapshot(state: &ServerState) -> Result<Snapshot, Problem> {
    let (mut seen, mut runs) = (String::new(), BTreeMap::new());
    for statuses in [vec![Status::Queued, Status::Running, Status::Waiting], Vec::new()] {
        let filter = RunFilter { statuses, before: None, most: RUNS_MAX };
        for row in state.store().runs().list(&filter).await? {
            let (run, seq) = (&row.run, row.lease.next_seq);
            let _ = write!(seen, "{run} {seq} {} ", row.status.as_str());
            runs.insert(row.run.to_string(), seq);
        }
    }
    let listed = listed(state, None).await?;
    for one in &listed {
        let (row, title) = (&one.row, one.title());
        let _ = write!(seen, "{} {} {title} {} ", row.id, row.updated_at, one.has_unread());
    }
    seen.push_str(&state.behind.queues.stamp());
    let last = state.store().agenda().last_change().await?;
    let _ = write!(seen, "{last:?} {:?}", state.comparisons.stamp());
    let filter = FactFilter { most: FACTS_MAX, ..FactFilter::default() };
    for fact in everloop_app::facts::list(state.store(), &filter).await? {
        let _ = write!(seen, "{} {} ", fact.id, fact.updated_at);
    }
    let _ = write!(seen, "{}", state.settings_revision());
    let asks = super::asks::open_asks(state).await?;
    for ask in &asks {
        let _ = write!(seen, " {}", ask.question.id());
    }
    let stamp = digest_bytes(seen.as_bytes())[..16].to_owned();
    Ok(Snapshot { stamp, asks, runs })
}

/// What is told of a snapshot.
async fn message(state: &ServerState, request: &PageRequest, snapshot: &Snapshot) -> String {
    let Snapshot { stamp, asks, runs } = snapshot;
    // Without news the page still knows that something changed.
    let news = news(state, request, asks).await.unwrap_or_default();
    json!({"stamp": stamp, "needs": asks.len(), "runs": runs, "news": news}).to_string()
}

/// The snapshots for all open pages: one task makes them, for as long as somebody listens.
///
/// ```text
///   changes, time ──► one task ──Snapshot──► watch ──► a WebSocket for each page
/// ```
#[derive(Default)]
pub(crate) struct LiveSnapshots {
    latest: watch::Sender<Option<Arc<Snapshot>>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl LiveSnapshots {
    fn task(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens. The first one who does starts the task.
    fn subscribe(&self, state: &ServerState) -> watch::Receiver<Option<Arc<Snapshot>>> {
        let mut task = self.task();
        let mut receiver = self.latest.subscribe();
        // What is known already is new to this page.
        receiver.mark_changed();
        if task.as_ref().is_none_or(JoinHandle::is_finished) {
            *task = Some(tokio::spawn(keep_looking(state.clone())));
        }
        receiver
    }

    /// Whether nobody listens any more, so that the task ends.
    fn is_abandoned(&self) -> bool {
        let mut task = self.task();
        if self.latest.receiver_count() > 0 {
            return false;
        }
        // Whoever comes next must not be told of what was.
        self.latest.send_replace(None);
        *task = None;
        true
    }

    fn publish(&self, seen: Snapshot) {
        self.latest.send_if_modified(|latest| {
            let is_news = latest.as_ref().is_none_or(|latest| latest.stamp != seen.stamp);
            if is_news {
                *latest = Some(Arc::new(seen));
            }
            is_news
        });
    }
}

async fn keep_looking(state: ServerState) {
    let mut watch = state.engine().watch();
    while !state.behind.live.is_abandoned() {
        // A clone has the settings of now.
        if let Ok(seen) = snapshot(&state.clone()).await {
            state.behind.live.publish(seen);
        }
        tokio::select! {
            biased;
            () = state.stopping.cancelled() => return,
            () = changed(&mut watch) => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// Tells one page of every change until it leaves. A browser answers each ping: one that is silent
/// is gone, though its connection may look open for hours.
async fn tell(state: ServerState, request: PageRequest, mut socket: WebSocket) {
    let mut latest = state.behind.live.subscribe(&state);
    let ended = state.token.now().ended.clone();
    let mut heard_at = Instant::now();
    let mut pings = tokio::time::interval_at(heard_at + PING, PING);
    while heard_at.elapsed() < SILENT_MAX {
        let sent = tokio::select! {
            biased;
            () = ended.cancelled() => return,
            received = socket.recv() => match received {
                Some(Ok(Message::Close(_))) | None | Some(Err(_)) => return,
                Some(Ok(_)) => {
                    heard_at = Instant::now();
                    Some(())
                }
            },
            news = latest.changed() => {
                if news.is_err() {
                    return;
                }
                let seen = latest.borrow_and_update().clone();
                match seen {
                    Some(seen) => {
                        // A clone has the settings of now.
                        let text = message(&state.clone(), &request, &seen).await;
                        send(&mut socket, Message::Text(text.into())).await
                    }
                    None => Some(()),
                }
            }
            _ = pings.tick() => send(&mut socket, Message::Ping(Vec::new().into())).await,
        };
        if sent.is_none() {
            return;
        }
    }
}

/// Until an entry is durable or a run changes hands; pieces of replies do not count.
pub(super) async fn changed(watch: &mut everloop_engine::Watch) {
    loop {
        match watch.recv().await {
            Some(update) if matches!(*update, Update::Delta(..)) => {}
            Some(_) => return,
            None => std::future::pending().await,
        }
    }
}
