//! The parts of a simulated process: a clock, a connection to the database, tools, and a gate at
//! each of them where the whole process can be held.
//!
//! Between two gates nothing takes time, so holding every gate is the same as stopping the
//! process.

use super::random::SimRandom;
use super::trace::SimTrace;
use crate::clock::VirtualClock;
use crate::points::{GateDecision, GateWait, PointGate, PointKind};
use everloop_engine::{Clock, Pause, Signal};
use everloop_store::{Db, DbError, DbFuture, MemoryDb, SqlRow, Urgency, WriteResult};
use everloop_types::{SqlValue, UtcMs, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::sleep;

/// The time limit of a simulated tool.
pub(super) const TOOL_MS: u64 = 2_000;

/// Whether the database can be reached, and whether the process is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LinkState {
    moves: bool,
    connected: bool,
    /// Whether calls fail at random.
    troubled: bool,
}

/// One process.
pub(super) struct SimProcess {
    pub(super) name: String,
    state: Signal<LinkState>,
    chance: Mutex<SimRandom>,
    pub(super) story: Arc<SimTrace>,
    /// Whether a write that was sent before the process died may still arrive.
    outlives: bool,
}

impl SimProcess {
    pub(super) fn new(
        name: String,
        chance: SimRandom,
        story: Arc<SimTrace>,
        outlives: bool,
    ) -> Arc<Self> {
        let state = LinkState { moves: true, connected: true, troubled: true };
        let (state, chance) = (Signal::new(state), Mutex::new(chance));
        Arc::new(Self { name, state, chance, story, outlives })
    }

    pub(super) fn hold(&self, held: bool) {
        self.state.change(|state| state.moves = !held);
    }

    pub(super) fn cut_off(&self, cut: bool) {
        self.state.change(|state| state.connected = !cut);
    }

    pub(super) fn stop_disturbing(&self) {
        self.state.change(|state| {
            *state = LinkState { moves: true, connected: true, troubled: false };
        });
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut SimRandom) -> T) -> T {
        draw(&mut self.chance.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_troubled(&self) -> bool {
        self.state.get().troubled
    }

    async fn moves(&self) {
        self.state.wait_for(|state| state.moves).await;
    }

    async fn reaches(&self) {
        self.state.wait_for(|state| state.moves && state.connected).await;
    }

    /// Waits for a random time, possibly none.
    async fn wait_randomly(&self, most_ms: u64) {
        let ms = self.draw(|chance| if chance.one_in(2) { 0 } else { chance.below(most_ms) });
        if ms > 0 {
            sleep(Duration::from_millis(ms)).await;
        }
    }
}

impl PointGate for SimProcess {
    fn pass(&self, point: PointKind) -> GateWait<'_> {
        Box::pin(async move {
            let begun = tokio::time::Instant::now();
            if matches!(point, PointKind::BeforeEffect | PointKind::AfterEffect) {
                self.wait_randomly(300).await;
            }
            self.moves().await;
            let late = begun.elapsed() >= Duration::from_millis(TOOL_MS);
            if late { GateDecision::No } else { GateDecision::Yes }
        })
    }
}

/// The clock of a process: shared with the database, or its machine's own.
pub(super) struct SimClock {
    time: VirtualClock,
    body: Arc<SimProcess>,
    /// The offset of the wall clock; a shared clock ignores it.
    off_ms: Mutex<i64>,
    shared: bool,
}

impl SimClock {
    pub(super) fn new(time: VirtualClock, body: Arc<SimProcess>, shared: bool) -> Arc<Self> {
        Arc::new(Self { time, body, off_ms: Mutex::new(0), shared })
    }

    pub(super) fn jump(&self, by_ms: i64) {
        *self.off_ms.lock().unwrap_or_else(PoisonError::into_inner) += by_ms;
    }
}

impl Clock for SimClock {
    fn now(&self) -> UtcMs {
        let off_ms = *self.off_ms.lock().unwrap_or_else(PoisonError::into_inner);
        self.time.now() + off_ms
    }

    fn since_boot_ms(&self) -> u64 {
        self.time.since_boot_ms()
    }

    fn pause(&self, ms: u64) -> Pause<'_> {
        Box::pin(async move {
            self.time.pause(ms).await;
            self.body.moves().await;
        })
    }

    /// The time of the database corrects a shared clock.
    fn agree(&self, _shown: UtcMs) {
        if self.shared {
            *self.off_ms.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        }
    }
}

/// The connection to the database: slow, cut off at times, and with wrong replies.
pub(super) struct SimDb {
    pub(super) inner: Arc<MemoryDb>,
    pub(super) body: Arc<SimProcess>,
}

enum LinkFault {
    None,
    /// Nothing is written.
    Refused,
    /// It is written, and the caller gets an error with an unknown outcome.
    ReplyLost,
    /// The caller gets an error with an unknown outcome, and then it is written.
    Late,
}

impl SimDb {
    fn fault(&self) -> LinkFault {
        if !self.body.is_troubled() {
            return LinkFault::None;
        }
        match self.body.draw(|chance| chance.below(60)) {
            0 => LinkFault::Refused,
            1 => LinkFault::ReplyLost,
            2 if self.body.outlives => LinkFault::Late,
            _ => LinkFault::None,
        }
    }

    fn write_later(&self, writes: Vec<Write>, urgency: Urgency) {
        let (inner, ms) = (self.inner.clone(), self.body.draw(|chance| chance.below(400)));
        tokio::spawn(async move {
            sleep(Duration::from_millis(ms)).await;
            // Its result is ignored.
            let _ = inner.commit(writes, urgency).await;
        });
    }

    /// A transaction that is under way may arrive after its sender has died.
    async fn write(
        &self,
        writes: Vec<Write>,
        urgency: Urgency,
    ) -> Result<Vec<WriteResult>, DbError> {
        if !self.body.outlives || self.body.draw(|chance| chance.one_in(2)) {
            self.body.wait_randomly(20).await;
            self.body.reaches().await;
            return self.inner.commit(writes, urgency).await;
        }
        let (inner, body) = (self.inner.clone(), self.body.clone());
        let arriving = tokio::spawn(async move {
            body.wait_randomly(20).await;
            body.reaches().await;
            inner.commit(writes, urgency).await
        });
        arriving.await.unwrap_or_else(|_| Err(locked()))
    }
}

impl Db for SimDb {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            self.body.reaches().await;
            let fault = self.fault();
            if let LinkFault::Refused = fault {
                self.body.story.tell(|| format!("{}: a commit is refused", self.body.name));
                return Err(locked());
            }
            if let LinkFault::Late = fault {
                self.body.story.tell(|| format!("{}: a commit comes late", self.body.name));
                self.write_later(writes, urgency);
                return Err(lost());
            }
            let done = self.write(writes, urgency).await;
            self.body.wait_randomly(20).await;
            self.body.reaches().await;
            if let LinkFault::ReplyLost = fault {
                self.body
                    .story
                    .tell(|| format!("{}: the reply to a commit is lost", self.body.name));
                return Err(lost());
            }
            done
        })
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        Box::pin(async move {
            self.body.reaches().await;
            let rows = self.inner.query(sql, params).await;
            self.body.wait_randomly(5).await;
            self.body.reaches().await;
            if self.body.is_troubled() && self.body.draw(|chance| chance.one_in(300)) {
                return Err(locked());
            }
            rows
        })
    }
}

fn lost() -> DbError {
    DbError::CommitUnknown { source: Arc::new(std::io::Error::other("the reply was lost")) }
}

fn locked() -> DbError {
    DbError::Locked { file: Path::new("simulated").into() }
}
