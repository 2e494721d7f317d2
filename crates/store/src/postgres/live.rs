//! Many machines: `LISTEN` and `NOTIFY`, on one connection of each process that needs it.
//!
//! ```text
//!   follower ──"I follow run_1"──► everloop_followers ──► every process that drives
//!   driver   ──pieces, "rows changed"──► everloop_run_1 ──► followers of run_1
//! ```
//!
//! A driver sends only while somebody follows, so a run that nobody watches costs nothing. Notices
//! are never part of a commit: one that notifies waits for all others that do. A notice that is
//! lost loses nothing but words that come whole with the journal, and rows are looked at anyway.

use super::address::PgAddress;
use super::tls::PgTls;
use crate::dialect;
use crate::live::{LiveBatch, LiveChannel, LiveFuture, LiveListener, OpenPieces, SEND_EVERY};
use everloop_types::{LiveMessage, RunId, StreamPiece};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use tokio_postgres::{AsyncMessage, Client, Error, Notification};

/// Where followers say whom they follow.
const FOLLOWERS: &str = "everloop_followers";

/// A follower says so again after this time.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// A follower that has not said so for this time is gone.
const FOLLOWED_FOR: Duration = Duration::from_secs(15);

/// A connection that is gone is made again after this time.
const AGAIN: Duration = Duration::from_secs(1);

/// Bytes of one notice. The server takes fewer than 8,000.
const NOTICE_BYTES_MAX: usize = 7_900;

/// Bytes of words in one message: escaped they are six times as long at worst.
const WORDS_BYTES_MAX: usize = 1_200;

/// Messages that are kept for a listener that is slow. What it misses it asks for again.
const KEPT_MESSAGES: usize = 1_024;

/// How often rows are looked at while notices arrive, and while they do not.
const ROWS_EVERY_MS: u64 = 1_000;
const ROWS_EVERY_MS_ALONE: u64 = 100;

/// The channel of a process.
pub(crate) struct PgLive {
    hub: Arc<Hub>,
}

impl fmt::Debug for PgLive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgLive").finish_non_exhaustive()
    }
}

struct Hub {
    address: PgAddress,
    patience: Duration,
    state: Mutex<HubState>,
    woken: Notify,
    /// Whether notices of this process come back to it.
    is_heard: AtomicBool,
    listeners: AtomicU64,
}

#[derive(Default)]
struct HubState {
    has_task: bool,
    is_closed: bool,
    waiting: LiveBatch,
    /// Runs that other processes follow, and until when.
    followed: BTreeMap<RunId, Instant>,
    /// Who listens in this process.
    heard_by: BTreeMap<RunId, Vec<(u64, mpsc::Sender<LiveMessage>)>>,
    /// Runs to listen to, or to ask about again.
    to_ask: Vec<RunId>,
    to_leave: Vec<RunId>,
    open: Option<OpenPieces>,
}

/// What is said on [`FOLLOWERS`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FollowerNotice {
    /// Somebody follows this run: what was said so far, please.
    Follows(RunId),
    /// A process that may drive has come.
    Hello,
}

impl PgLive {
    pub(super) fn new(address: PgAddress, patience: Duration) -> Self {
        let hub = Hub {
            address,
            patience,
            state: Mutex::default(),
            woken: Notify::new(),
            is_heard: AtomicBool::new(false),
            listeners: AtomicU64::new(0),
        };
        Self { hub: Arc::new(hub) }
    }
}

impl LiveChannel for PgLive {
    fn send(&self, message: LiveMessage) {
        let mut state = self.hub.lock();
        self.hub.start(&mut state);
        if state.is_followed(message.run()) {
            let was_empty = state.waiting.is_empty();
            state.waiting.add(message);
            if was_empty {
                self.hub.woken.notify_one();
            }
        }
    }

    fn attach(&self, open: OpenPieces) {
        self.hub.lock().open = Some(open);
    }

    fn listen(&self) -> Box<dyn LiveListener> {
        let id = self.hub.listeners.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel(KEPT_MESSAGES);
        Box::new(PgListener { hub: self.hub.clone(), id, runs: Vec::new(), sender, receiver })
    }

    /// Nothing is left of a dead process.
    fn clear(&self) {}
}

struct PgListener {
    hub: Arc<Hub>,
    id: u64,
    runs: Vec<RunId>,
    sender: mpsc::Sender<LiveMessage>,
    receiver: mpsc::Receiver<LiveMessage>,
}

impl LiveListener for PgListener {
    fn add(&mut self, run: &RunId) {
        let mut state = self.hub.lock();
        if !self.runs.contains(run) {
            self.runs.push(run.clone());
            let heard_by = state.heard_by.entry(run.clone()).or_default();
            heard_by.push((self.id, self.sender.clone()));
        }
        state.to_ask.push(run.clone());
        self.hub.start(&mut state);
        self.hub.woken.notify_one();
    }

    fn next(&mut self) -> LiveFuture<'_> {
        Box::pin(async move {
            let mut messages = Vec::new();
            if self.receiver.recv_many(&mut messages, KEPT_MESSAGES).await == 0 {
                std::future::pending::<()>().await;
            }
            messages
        })
    }

    fn look_every_ms(&self) -> u64 {
        let is_heard = self.hub.is_heard.load(Ordering::Relaxed);
        if is_heard { ROWS_EVERY_MS } else { ROWS_EVERY_MS_ALONE }
    }
}

impl Drop for PgListener {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        for run in &self.runs {
            let Some(heard_by) = state.heard_by.get_mut(run) else { continue };
            heard_by.retain(|(id, _)| *id != self.id);
            if heard_by.is_empty() {
                state.heard_by.remove(run);
                state.to_leave.push(run.clone());
            }
        }
        self.hub.woken.notify_one();
    }
}

impl HubState {
    fn is_followed(&mut self, run: &RunId) -> bool {
        match self.followed.get(run) {
            Some(until) if *until > Instant::now() => true,
            Some(_) => {
                self.followed.remove(run);
                false
            }
            None => false,
        }
    }

    /// Asks about every run that is followed here.
    fn ask_about_all(&mut self) {
        self.to_ask.extend(self.heard_by.keys().cloned());
    }

    fn deliver(&self, message: &LiveMessage) {
        for (_, sender) in self.heard_by.get(message.run()).into_iter().flatten() {
            // A listener that is slow sees that something is missing.
            let _ = sender.try_send(message.clone());
        }
    }
}

impl Drop for PgLive {
    fn drop(&mut self) {
        self.hub.lock().is_closed = true;
        self.hub.woken.notify_one();
    }
}

impl Hub {
    fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to connect, unless that was done. Without a runtime there is nobody to follow.
    fn start(self: &Arc<Self>, state: &mut HubState) {
        if state.has_task {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        state.has_task = true;
        runtime.spawn(keep_connected(self.clone()));
    }
}

/// Connects again and again, until the channel is dropped.
async fn keep_connected(hub: Arc<Hub>) {
    while !hub.is_closed() {
        if let Err(error) = serve(&hub).await {
            tracing::debug!(%error, "live notices are interrupted");
        }
        hub.is_heard.store(false, Ordering::Relaxed);
        if !hub.is_closed() {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
enum LiveError {
    #[error("the server cannot be asked")]
    Server(#[from] Error),
    #[error("the server does not answer")]
    Late(#[from] tokio::time::error::Elapsed),
    #[error("the connection is gone")]
    Gone,
}

/// One connection, until it breaks or the channel is dropped.
async fn serve(hub: &Hub) -> Result<(), LiveError> {
    let connected = hub.address.config.connect(PgTls);
    let (client, mut connection) = tokio::time::timeout(hub.patience, connected).await??;
    let (sender, mut notices) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(notice) = message
                && sender.send(notice).is_err()
            {
                return;
            }
        }
    });
    let mut session = LiveSession { pid: dialect::postgres_pid(&client).await?, client };
    session.begin(hub).await?;
    let mut send_at = tokio::time::Instant::now();
    let mut renew_at = send_at + RENEW_EVERY;
    let mut has_more = false;
    while !hub.is_closed() {
        tokio::select! {
            notice = notices.recv() => session.take(hub, &notice.ok_or(LiveError::Gone)?),
            () = hub.woken.notified() => has_more = true,
            () = tokio::time::sleep_until(renew_at) => {
                renew_at = tokio::time::Instant::now() + RENEW_EVERY;
                hub.lock().ask_about_all();
                has_more = true;
            }
            // What comes in the meantime is sent together.
            () = tokio::time::sleep_until(send_at), if has_more => {
                has_more = false;
                session.send_all(hub).await?;
                send_at = tokio::time::Instant::now() + SEND_EVERY;
            }
        }
    }
    Ok(())
}

struct LiveSession {
    client: Client,
    /// The server's process of this connection: its own notices come back.
    pid: i32,
}

impl LiveSession {
    /// Listens to all that is followed here. What was missed is in the rows.
    async fn begin(&mut self, hub: &Hub) -> Result<(), LiveError> {
        self.client.batch_execute(&dialect::postgres_listen(FOLLOWERS)).await?;
        {
            let mut state = hub.lock();
            for run in state.heard_by.keys() {
                state.deliver(&LiveMessage::Wrote { run: run.clone() });
            }
            state.ask_about_all();
        }
        self.say(&FollowerNotice::Hello).await?;
        self.send_all(hub).await
    }

    async fn say(&self, notice: &FollowerNotice) -> Result<(), LiveError> {
        let words = serde_json::to_string(notice).expect("notices have string keys only");
        self.notify(FOLLOWERS, &words).await
    }

    async fn notify(&self, channel: &str, words: &str) -> Result<(), LiveError> {
        self.client.execute(dialect::POSTGRES_NOTIFY, &[&channel, &words]).await?;
        Ok(())
    }

    async fn send_all(&mut self, hub: &Hub) -> Result<(), LiveError> {
        let (mut asked, left, waiting) = {
            let mut state = hub.lock();
            let left = std::mem::take(&mut state.to_leave);
            let left: Vec<RunId> =
                left.into_iter().filter(|run| !state.heard_by.contains_key(run)).collect();
            (std::mem::take(&mut state.to_ask), left, state.waiting.take())
        };
        asked.sort();
        asked.dedup();
        for run in &left {
            self.client.batch_execute(&dialect::postgres_unlisten(&channel_of(run))).await?;
        }
        for run in asked.iter().filter(|run| !left.contains(run)) {
            self.client.batch_execute(&dialect::postgres_listen(&channel_of(run))).await?;
            self.say(&FollowerNotice::Follows(run.clone())).await?;
        }
        self.send_messages(waiting).await
    }

    async fn send_messages(&self, messages: Vec<LiveMessage>) -> Result<(), LiveError> {
        for (run, words) in notices(messages) {
            self.notify(&channel_of(&run), &words).await?;
        }
        Ok(())
    }

    fn take(&self, hub: &Hub, notice: &Notification) {
        if notice.channel() != FOLLOWERS {
            if notice.process_id() != self.pid {
                let messages = notice.payload().lines().filter_map(LiveMessage::from_line);
                let state = hub.lock();
                messages.for_each(|message| state.deliver(&message));
            }
            return;
        }
        if notice.process_id() == self.pid {
            hub.is_heard.store(true, Ordering::Relaxed);
            return;
        }
        let Ok(notice) = serde_json::from_str(notice.payload()) else { return };
        let mut state = hub.lock();
        match notice {
            FollowerNotice::Hello => state.ask_about_all(),
            FollowerNotice::Follows(run) => {
                state.followed.insert(run.clone(), Instant::now() + FOLLOWED_FOR);
                let open = state.open.clone();
                drop(state);
                // The lock of the state is not held: the caller of `send` has that of the pieces.
                let open = open.map(|open| open(&run)).unwrap_or_default();
                let mut state = hub.lock();
                open.into_iter().for_each(|piece| state.waiting.add(LiveMessage::Piece(piece)));
            }
        }
        hub.woken.notify_one();
    }
}

/// The name of a run's channel. The server takes names of up to 63 bytes.
fn channel_of(run: &RunId) -> String {
    let id: String = run.as_str().chars().filter(char::is_ascii_alphanumeric).take(50).collect();
    format!("everloop_{id}")
}

/// The messages as notices, each for one run and none too long.
fn notices(messages: Vec<LiveMessage>) -> Vec<(RunId, String)> {
    let mut notices: Vec<(RunId, String)> = Vec::new();
    for message in messages.into_iter().flat_map(split) {
        let line = message.to_line();
        match notices.last_mut() {
            Some((run, words))
                if run == message.run() && words.len() + line.len() < NOTICE_BYTES_MAX =>
            {
                words.push('\n');
                words.push_str(&line);
            }
            _ => notices.push((message.run().clone(), line)),
        }
    }
    notices
}

/// A message in parts that fit, torn between characters only.
fn split(message: LiveMessage) -> Vec<LiveMessage> {
    let LiveMessage::Piece(piece) = message else { return vec![message] };
    let mut parts = Vec::new();
    let mut rest = piece;
    loop {
        let text = rest.fragment.text();
        let end = text.floor_char_boundary(WORDS_BYTES_MAX);
        let Some(after) = rest.fragment.after(end).filter(|_| end < text.len()) else {
            parts.push(LiveMessage::Piece(rest));
            return parts;
        };
        let fragment = rest.fragment.with_text(text[..end].to_owned());
        let StreamPiece { stream, offset, .. } = rest;
        let next = offset + end as u64;
        parts.push(LiveMessage::Piece(StreamPiece { stream: stream.clone(), offset, fragment }));
        rest = StreamPiece { stream, offset: next, fragment: after };
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
