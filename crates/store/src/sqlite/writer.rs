//! The only thread that writes: it puts all transactions that wait into one commit.
//!
//! ```text
//!   requests ──► first ──► drain ──► BEGIN, a SAVEPOINT each, COMMIT ──► answer all ──► checkpoint
//! ```
//!
//! No timer: a batch forms while the previous one is made durable. Only lazy requests wait, for a
//! critical one or 200 ms.

use super::session::SqliteSession;
use crate::db::{DbError, Urgency, WriteResult};
use everloop_types::{SqlValue, Write};
use rusqlite::hooks::Wal;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

const BATCH_REQUESTS_MAX: usize = 256;
const BATCH_BYTES_MAX: usize = 4 << 20;
const LAZY_WAIT: Duration = Duration::from_millis(200);
/// Pages in the log (16 MB) at which it is copied back: rarely enough that many batches share it.
const CHECKPOINT_PAGES: i32 = 4_000;

/// One logical transaction, and where its result goes.
pub(super) struct WriteRequest {
    pub(super) writes: Vec<Write>,
    pub(super) urgency: Urgency,
    pub(super) answer: oneshot::Sender<WriteReply>,
}

type WriteReply = Result<Vec<WriteResult>, DbError>;

/// Runs until every sender is gone.
pub(super) fn run(
    mut session: SqliteSession,
    requests: &Receiver<WriteRequest>,
    commits: &Arc<AtomicU64>,
) {
    let log_pages = Arc::new(AtomicI32::new(0));
    let seen = Arc::clone(&log_pages);
    let hooked = session.conn.wal_hook(Some(move |_: &mut Wal, pages| {
        seen.store(pages, Ordering::Relaxed);
        Ok(())
    }));
    hooked.expect("a hook needs no disk");
    let mut waiting = PendingBatch::default();
    while waiting.fill(requests) {
        let batch = std::mem::take(&mut waiting.batch);
        perform(&mut session, batch, commits);
        checkpoint(&mut session, &log_pages);
    }
}

/// The requests of the next commit.
#[derive(Default)]
struct PendingBatch {
    batch: Vec<WriteRequest>,
    bytes: usize,
    due: Option<Instant>,
}

impl PendingBatch {
    /// Waits until there is a batch to commit. `false` when no more can come and none is left.
    fn fill(&mut self, requests: &Receiver<WriteRequest>) -> bool {
        (self.bytes, self.due) = (0, None);
        loop {
            let next = match self.due {
                None => requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => requests.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match next {
                Ok(request) => {
                    if self.take(request, requests) == Urgency::Critical {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return !self.batch.is_empty(),
            }
        }
    }

    /// Takes a request and all that are queued behind it. Critical if any is, or if the batch is
    /// full.
    fn take(&mut self, first: WriteRequest, requests: &Receiver<WriteRequest>) -> Urgency {
        let mut next = Some(first);
        let mut urgency = Urgency::Lazy;
        while let Some(request) = next {
            if request.urgency == Urgency::Critical {
                urgency = Urgency::Critical;
            }
            self.bytes += size(&request.writes);
            self.batch.push(request);
            if self.batch.len() >= BATCH_REQUESTS_MAX || self.bytes >= BATCH_BYTES_MAX {
                return Urgency::Critical;
            }
            next = requests.try_recv().ok();
        }
        self.due.get_or_insert_with(|| Instant::now() + LAZY_WAIT);
        urgency
    }
}

fn size(writes: &[Write]) -> usize {
    let value = |value: &SqlValue| match value {
        SqlValue::Null | SqlValue::Int(_) => 8,
        SqlValue::Text(text) => text.len(),
        SqlValue::Bytes(bytes) => bytes.len(),
    };
    writes.iter().flat_map(|write| &write.params).map(value).sum()
}

fn perform(session: &mut SqliteSession, batch: Vec<WriteRequest>, commits: &AtomicU64) {
    let began = Instant::now();
    let answers = match grouped(session, &batch) {
        Some(answers) => answers,
        // SQLite gave the whole transaction up, so nothing took place: each one on its own.
        None => batch.iter().map(|request| session.transaction(&request.writes)).collect(),
    };
    commits.fetch_add(1, Ordering::Relaxed);
    log_commit(&batch, &answers, began);
    for (request, answer) in batch.into_iter().zip(answers) {
        // The caller may have dropped the future.
        let _ = request.answer.send(answer);
    }
}

fn log_commit(batch: &[WriteRequest], answers: &[WriteReply], began: Instant) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let rows: u64 = answers.iter().flatten().flatten().map(|result| result.touched).sum();
    let transactions = batch.len();
    let failed = answers.iter().filter(|answer| answer.is_err()).count();
    let us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    tracing::debug!(transactions, rows, failed, us, "commit");
}

/// All requests in one commit, each with an answer of its own. `None` if they must be repeated.
fn grouped(session: &mut SqliteSession, batch: &[WriteRequest]) -> Option<Vec<WriteReply>> {
    if let [only] = batch {
        return Some(vec![session.transaction(&only.writes)]);
    }
    if let Err(error) = session.begin() {
        return Some(vec![Err(error); batch.len()]);
    }
    let mut answers = Vec::with_capacity(batch.len());
    for request in batch {
        answers.push(savepoint(session, &request.writes));
        if session.conn.is_autocommit() {
            return None;
        }
    }
    if let Err(unknown) = session.commit() {
        for answer in &mut answers {
            if answer.is_ok() {
                *answer = Err(unknown.clone());
            }
        }
    }
    Some(answers)
}

/// Leaves autocommit on, so that all are repeated, if a savepoint cannot be undone.
fn savepoint(session: &mut SqliteSession, writes: &[Write]) -> WriteReply {
    session.control("SAVEPOINT one")?;
    let answer = session.run_all(writes);
    if session.conn.is_autocommit() {
        return answer;
    }
    let undone = if answer.is_err() { session.control("ROLLBACK TO one") } else { Ok(()) };
    if undone.and_then(|()| session.control("RELEASE one")).is_err() {
        session.roll_back();
    }
    answer
}

/// After the results are sent, so that no caller waits for it. Passive: readers are never
/// disturbed.
fn checkpoint(session: &mut SqliteSession, log_pages: &AtomicI32) {
    if log_pages.load(Ordering::Relaxed) < CHECKPOINT_PAGES {
        return;
    }
    log_pages.store(0, Ordering::Relaxed);
    // An error here costs nothing but space: the log stays and is copied the next time.
    let _ = session.query("PRAGMA wal_checkpoint(PASSIVE)", &[]);
}
