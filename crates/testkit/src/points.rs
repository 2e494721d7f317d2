//! Points: every place where a process may die, counted and named.

use everloop_store::{DatabaseKind, Db, DbError, DbFuture, SqlRow, Urgency, WriteResult};
use everloop_types::{SqlValue, Write};
use rustix::process::Signal;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The kind of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointKind {
    /// A commit is about to be made.
    BeforeCommit,
    /// A commit was made, and the caller does not know yet.
    AfterCommit,
    /// The outside is about to be touched.
    BeforeEffect,
    /// The outside was touched, and the caller does not know yet.
    AfterEffect,
    /// A probe is about to look.
    BeforeProbe,
    /// A probe has looked, and the caller does not know the result yet.
    AfterProbe,
}

/// Controls when a process may touch the outside.
pub trait PointGate: Send + Sync {
    /// Returns when the process may continue, and whether it may still act.
    fn pass(&self, point: PointKind) -> GateWait<'_>;
}

/// A wait at a gate.
pub type GateWait<'a> = Pin<Box<dyn Future<Output = GateDecision> + Send + 'a>>;

/// Whether the outside may still be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateDecision {
    /// It may.
    Yes,
    /// The call's deadline has passed.
    No,
}

/// What happens at the chosen point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Disturbance {
    #[default]
    None,
    /// The process halts until its driver is dropped.
    Halt(usize),
    /// The commit takes place, and the caller gets an error with an unknown outcome.
    LoseReply(usize),
    /// The commit does not take place, and the caller gets an error with an unknown outcome.
    LoseRequest(usize),
    /// The commit fails because the disk is full, and so does every later one.
    Full(usize),
    /// The process gets a signal: only for processes that run nothing else.
    Signal(usize, Signal),
}

/// Counts the points that a process passes, and stops it at one of them.
#[derive(Debug, Default)]
pub struct Points {
    passed: AtomicUsize,
    disturbance: Mutex<Disturbance>,
    seen: Mutex<Vec<PointKind>>,
    troubles: AtomicUsize,
    reached: Notify,
    gate: Notify,
}

impl Points {
    /// Stops the process at the `n`-th point from now, counted from 0.
    pub fn halt_at(&self, n: usize) {
        self.set(Disturbance::Halt(self.passed() + n));
    }

    /// Loses the reply of the commit at the `n`-th point from now.
    pub fn lose_reply_at(&self, n: usize) {
        self.set(Disturbance::LoseReply(self.passed() + n));
    }

    /// Loses the commit at the `n`-th point from now on its way to the database.
    pub fn lose_request_at(&self, n: usize) {
        self.set(Disturbance::LoseRequest(self.passed() + n));
    }

    /// Fills the disk at the `n`-th point from now.
    pub fn fill_at(&self, n: usize) {
        self.set(Disturbance::Full(self.passed() + n));
    }

    /// Sends this very process a signal at its `n`-th point from now.
    pub fn signal_at(&self, n: usize, signal: Signal) {
        self.set(Disturbance::Signal(self.passed() + n, signal));
    }

    /// Removes the disturbance.
    pub fn stop_disturbing(&self) {
        self.set(Disturbance::None);
    }

    fn set(&self, disturbance: Disturbance) {
        *self.disturbance.lock().unwrap_or_else(PoisonError::into_inner) = disturbance;
    }

    fn disturbance(&self) -> Disturbance {
        *self.disturbance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many points were passed in all.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }

    /// The kinds of all points passed, in order.
    #[must_use]
    pub fn seen(&self) -> Vec<PointKind> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many commits the database itself refused temporarily, or left with an unknown outcome.
    #[must_use]
    pub fn troubles(&self) -> usize {
        self.troubles.load(Ordering::SeqCst)
    }

    /// Returns when the process has halted at its chosen point.
    pub async fn reached(&self) {
        self.reached.notified().await;
    }

    /// Lets a halted process go on.
    pub fn wake(&self) {
        self.stop_disturbing();
        self.gate.notify_one();
    }

    /// Lets a halted process go on, to the `n`-th point from now.
    pub fn wake_until(&self, n: usize) {
        self.halt_at(n);
        self.gate.notify_one();
    }

    /// A point at which the process may die. Returns its number.
    pub async fn pass(&self, point: PointKind) -> usize {
        let n = self.passed.fetch_add(1, Ordering::SeqCst);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(point);
        match self.disturbance() {
            Disturbance::Halt(at) if at == n => {
                self.reached.notify_one();
                self.gate.notified().await;
            }
            Disturbance::Signal(at, signal) if at == n => {
                rustix::process::kill_process(rustix::process::getpid(), signal)
                    .expect("a process may signal itself");
            }
            _ => {}
        }
        n
    }
}

impl PointGate for Points {
    fn pass(&self, point: PointKind) -> GateWait<'_> {
        Box::pin(async move {
            Self::pass(self, point).await;
            GateDecision::Yes
        })
    }
}

fn lost(what: &str) -> DbError {
    DbError::CommitUnknown { source: Arc::new(std::io::Error::other(what)) }
}

/// A database that passes a point before and after every commit.
pub(crate) struct PointDb {
    pub(crate) inner: Arc<dyn Db>,
    pub(crate) points: Arc<Points>,
}

impl Db for PointDb {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            let n = self.points.pass(PointKind::BeforeCommit).await;
            match self.points.disturbance() {
                Disturbance::Full(at) if at <= n => {
                    return Err(DbError::Full { file: Path::new("made-up").into() });
                }
                Disturbance::LoseRequest(at) if at == n => {
                    return Err(lost("the request was lost"));
                }
                _ => {}
            }
            let done = self.inner.commit(writes, urgency).await;
            if done.as_ref().is_err_and(DbError::is_transient) {
                self.points.troubles.fetch_add(1, Ordering::SeqCst);
            }
            self.points.pass(PointKind::AfterCommit).await;
            if self.points.disturbance() == Disturbance::LoseReply(n) {
                return Err(lost("the reply was lost"));
            }
            done
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.inner.query(sql, params)
    }

    fn engine(&self) -> DatabaseKind {
        self.inner.engine()
    }
}
