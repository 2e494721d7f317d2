//! Says that something changed, on a WebSocket. What changed is read from the page itself.
//!
//! A browser opens at most six connections of HTTP/1.1 to a server, over all its tabs; WebSockets
//! are not among them.

use super::frame::{PageRequest, listed};
use super::live_news::news;
use crate::problem::{Problem, ProblemCode};
use crate::routes::interrupts::interrupt_id;
use crate::state::ServerState;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use everloop_app::interrupts::OpenInterrupt;
use everloop_engine::Update;
use everloop_store::{FactFilter, RunFilter};
use everloop_types::{Status, digest_bytes};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// How often other processes' changes are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// Changes that follow each other closely are one.
const GATHER: Duration = Duration::from_millis(80);

/// How long a reader may take for one message.
const SEND_MAX: Duration = Duration::from_secs(30);

/// Runs that are looked at.
pub(super) const RUNS_MAX: usize = 40;

/// Facts that are looked at.
const FACTS_MAX: usize = 100;

pub(crate) async fn stream(
    State(state): State<ServerState>,
    request: PageRequest,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade =
        upgrade.map_err(|refused| ProblemCode::BadRequest.because(refused.body_text()))?;
    Ok(upgrade.on_upgrade(move |socket| tell(state, request, socket)))
}

/// What the pages are told of.
struct Snapshot {
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
    // Settings that were read again are others; a clone of the state has those of now.
    let _ = write!(seen, "{:p}", Arc::as_ptr(&state.clone().app));
    let asks = super::asks::open_asks(state).await?;
    for ask in &asks {
        let _ = write!(seen, " {}", interrupt_id(ask));
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

async fn tell(state: ServerState, request: PageRequest, mut socket: WebSocket) {
    let mut watch = state.engine().watch();
    let mut last = String::new();
    loop {
        if let Ok(seen) = snapshot(&state).await
            && seen.stamp != last
        {
            let told = message(&state, &request, &seen).await;
            let sent = socket.send(Message::Text(told.into()));
            if !matches!(tokio::time::timeout(SEND_MAX, sent).await, Ok(Ok(()))) {
                return;
            }
            last = seen.stamp;
        }
        let stopping = state.stopping.clone();
        tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            said = socket.recv() => match said {
                Some(Ok(Message::Close(_))) | None | Some(Err(_)) => return,
                Some(Ok(_)) => {}
            },
            () = changed(&mut watch) => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep(LOOK) => {}
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
