//! The one way to write a journal: entries and everything that belongs to them, in one transaction.
//!
//! ```text
//!   report to the parent ─► advance (compare-and-set) ─► entries ─► inbox messages taken
//!                        ─► messages to the user ─► snapshot ─► outbox ─► the caller's writes
//!                        ─► successor ─► child ─► children stopped ─► runs started
//!                        ─► the status of this run
//! ```

use crate::{
    conversation_rows,
    create::{self, NewRun},
    db::{DbError, Urgency},
    dialect,
    error::{StoreError, StoreLimit},
    facets::Journal,
    family::{self, Relations},
    fork::{self, NewFork},
    outbox::{self, NewOutbox},
    queue::Claim,
    read::SNAPSHOT_FMT,
    row,
    statement::{CLOSE_INBOX, INSERT_MESSAGE, NEVER, any, hold_conversation, int, one, params},
};
use everloop_types::{
    Statement, Status, UtcMs, Write,
    journal::{Entry, EntryDraft, EntryKind},
};

/// One step of a run: all of it becomes durable, or nothing.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The next entries of the journal.
    pub drafts: Vec<EntryDraft>,
    /// Inbox messages that these drafts take.
    pub taken: Vec<TakenMessage>,
    /// Messages for the user.
    pub messages: Vec<NewMessage>,
    /// The digest of the state and its text, as of the last draft.
    pub snapshot: Option<(String, String)>,
    /// Writes to other tables, by transactional effects.
    pub writes: Vec<Write>,
    /// Messages for channels outside.
    pub outbox: Vec<NewOutbox>,
    /// A run that continues in place of this one.
    pub successor: Option<Box<NewFork>>,
    /// What changes for the parent and the children of the run.
    pub relations: Relations,
    /// How the run's conversation is called from now on, if it only tells of the run's end and
    /// nobody gave it a title.
    pub title: Option<String>,
    /// Runs that begin with this commit.
    pub started: Vec<NewRun>,
    /// The status of the run afterwards.
    pub then: NextStatus,
    /// The present time.
    pub now: UtcMs,
}

impl Commit {
    /// Entries and nothing else; the run continues.
    #[must_use]
    pub fn new(drafts: Vec<EntryDraft>, now: UtcMs) -> Self {
        Self {
            drafts,
            taken: Vec::new(),
            messages: Vec::new(),
            snapshot: None,
            writes: Vec::new(),
            outbox: Vec::new(),
            successor: None,
            relations: Relations::default(),
            title: None,
            started: Vec::new(),
            then: NextStatus::GoOn,
            now,
        }
    }

    /// The same commit with another status afterwards.
    #[must_use]
    pub fn then(mut self, then: NextStatus) -> Self {
        self.then = then;
        self
    }
}

/// An inbox message that a draft takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenMessage {
    /// The key of the message.
    pub dedupe: String,
    /// The index of that draft.
    pub draft: usize,
}

/// A message of the run to its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// `final`, `stopped`, or `ask:` or `answer:` and the question's id: one message per slot.
    pub slot: String,
    /// `assistant`, `user`.
    pub role: String,
    /// What it says.
    pub body: String,
    /// Unique among all messages.
    pub message_id: String,
}

/// What the slots of questions begin with.
const QUESTION_SLOT: &str = "ask:";

/// The status of a run after a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStatus {
    /// It stays claimed by this worker.
    GoOn,
    /// It waits for a message or a time. It is queued instead if a message arrived meanwhile.
    Park {
        /// When it wakes by itself.
        wake_at: Option<UtcMs>,
        /// What it waits for.
        note: String,
    },
    /// Back to the queue, for any worker.
    Release,
    /// It has ended with this final status.
    Finish(Status),
}

/// The compare-and-set on the run's row comes first: its row lock orders us against every
/// other claimer. Also refuses to let the journal grow past `$6` bytes.
pub(crate) const ADVANCE: Statement = Statement::screened(
    "
    UPDATE runs
       SET next_seq = next_seq + $4, bytes = bytes + $5, snap_seq = COALESCE($7, snap_seq),
           stalls = CASE WHEN $8 = 1 THEN 0 ELSE stalls END, updated_at = $9
     WHERE run_id = $1 AND epoch = $2 AND next_seq = $3 AND status = 'running'
       AND bytes + $5 <= $6
",
);

const TAKE_MESSAGE: Statement = Statement::screened(
    "
    UPDATE inbox SET taken_seq = $3 WHERE run_id = $1 AND dedupe = $2 AND taken_seq IS NULL
",
);

const INSERT_SNAPSHOT: Statement = Statement::sealed(
    "
    INSERT INTO snapshots (run_id, seq, loop_ver, fmt, state_hash, state)
    VALUES ($1, $2, $3, $4, $5, $6)
",
);

/// The previous snapshot stays, in case the new one is damaged.
const DROP_SNAPSHOTS: Statement =
    Statement::screened("DELETE FROM snapshots WHERE run_id = $1 AND seq < $2");

/// The sender raises the counter in the same row, so the later of the two sees the earlier.
pub(crate) const PARK: Statement = Statement::screened(
    "
    UPDATE runs
       SET status = CASE WHEN inbox_ctr = $2 THEN 'waiting' ELSE 'queued' END,
           wake_at = CASE WHEN inbox_ctr = $2 THEN CAST($3 AS BIGINT) ELSE $4 END,
           note = $5, lease_owner = NULL
     WHERE run_id = $1
",
);

const RELEASE: Statement = Statement::screened(
    "
    UPDATE runs SET status = 'queued', wake_at = $2, lease_owner = NULL WHERE run_id = $1
",
);

pub(crate) const FINISH: Statement = Statement::screened(
    "
    UPDATE runs SET status = $2, wake_at = $3, note = NULL, lease_owner = NULL WHERE run_id = $1
",
);

impl Journal<'_> {
    /// Appends to the journal of a claimed run, together with everything that belongs to it.
    ///
    /// `claim.next_seq` moves only if it succeeded. A commit that finishes the run may go beyond
    /// the limits, so that a run at its limit can still end.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another worker claimed the run, or it has ended;
    /// [`StoreError::Unknown`] if the commit may have taken place; [`StoreError::OverLimit`],
    /// [`StoreError::Violation`] and [`StoreError::WriteRefused`] if nothing was written.
    ///
    /// # Panics
    /// If a snapshot comes without drafts, or [`NextStatus::Finish`] without a final status.
    pub async fn append(self, claim: &mut Claim, commit: Commit) -> Result<Vec<Entry>, StoreError> {
        let mut plan = AppendPlan::make(claim, commit)?;
        let writes = std::mem::take(&mut plan.writes);
        match self.store.db.commit(writes, Urgency::Critical).await {
            Ok(_) => {
                claim.next_seq += int(plan.entries.len());
                claim.snap_seq = plan.snap_seq.unwrap_or(claim.snap_seq);
                Ok(plan.entries)
            }
            Err(error) => Err(self.explain(claim, &plan, error).await),
        }
    }

    async fn explain(self, claim: &Claim, plan: &AppendPlan, error: DbError) -> StoreError {
        let (DbError::Expectation { index, .. } | DbError::Unique { index, .. }) = error else {
            return error.into();
        };
        match (plan.parts.get(index), error) {
            (Some(WritePurpose::Advance), DbError::Expectation { .. }) => {
                self.lost_or_full(claim).await
            }
            (Some(WritePurpose::Start), DbError::Expectation { .. }) => {
                StoreError::TaskRunning { run: claim.run.clone() }
            }
            (Some(WritePurpose::Own(index)), _) => StoreError::WriteRefused { index: *index },
            (Some(WritePurpose::Entry(phase)), DbError::Unique { rule, .. }) => {
                self.store.violation(dialect::index_name(&rule, *phase))
            }
            (_, DbError::Unique { rule, .. }) => {
                self.store.violation(dialect::index_name(&rule, None))
            }
            (Some(WritePurpose::InboxMessage), _) => self.store.violation("inbox_taken"),
            (_, error) => error.into(),
        }
    }

    /// Why the first statement touched no row: if the claim holds, only the size is left.
    async fn lost_or_full(self, claim: &Claim) -> StoreError {
        let run = claim.run.clone();
        match self.store.runs().position(&run).await {
            Ok(Some(at)) if at.is_held_by(claim) => {
                StoreError::OverLimit { run, limit: StoreLimit::Bytes }
            }
            Ok(_) => StoreError::LeaseLost { run },
            Err(error) => error,
        }
    }
}

/// What a write of the transaction is for, to explain its failure.
enum WritePurpose {
    Advance,
    Entry(Option<i64>),
    InboxMessage,
    Own(usize),
    /// Creates a run, unless one is there.
    Start,
    Other,
}

/// The transaction of one append.
struct AppendPlan {
    writes: Vec<Write>,
    parts: Vec<WritePurpose>,
    entries: Vec<Entry>,
    snap_seq: Option<i64>,
}

impl AppendPlan {
    fn make(claim: &Claim, commit: Commit) -> Result<Self, StoreError> {
        let count = int(commit.drafts.len());
        let finishes = matches!(commit.then, NextStatus::Finish(_));
        if !finishes && claim.next_seq - 1 + count > int(StoreLimit::Events.most()) {
            return Err(StoreError::OverLimit {
                run: claim.run.clone(),
                limit: StoreLimit::Events,
            });
        }
        let progress = commit.drafts.iter().any(|d| !matches!(d.kind, EntryKind::EpochStarted(_)));
        let snap_seq = commit.snapshot.as_ref().map(|_| claim.next_seq + count - 1);
        let room = 8 + commit.drafts.len() + commit.writes.len();
        let mut plan = Self {
            writes: Vec::with_capacity(room),
            parts: Vec::with_capacity(room),
            entries: Vec::with_capacity(commit.drafts.len()),
            snap_seq,
        };
        for write in commit.relations.report.iter().flat_map(|it| family::report(it, commit.now)) {
            plan.push(WritePurpose::Other, write);
        }
        let place = plan.writes.len();
        plan.push(WritePurpose::Advance, one(ADVANCE, Vec::new()));
        let bytes = plan.add_entries(claim, commit.drafts)?;
        plan.writes[place].params = params![
            claim.run.as_str(),
            claim.epoch,
            claim.next_seq,
            count,
            int(bytes),
            if finishes { i64::MAX } else { int(StoreLimit::Bytes.most()) },
            snap_seq,
            i64::from(progress),
            commit.now,
        ];
        plan.add_taken(claim, &commit.taken);
        if !commit.messages.is_empty() || !commit.outbox.is_empty() {
            plan.push(WritePurpose::Other, hold_conversation(claim.conversation.as_str()));
        }
        plan.add_messages(claim, commit.messages, commit.now);
        plan.add_title(claim, commit.title.as_deref(), commit.now);
        plan.add_snapshot(claim, commit.snapshot);
        for new in commit.outbox {
            plan.push(WritePurpose::Other, outbox::insert(claim, new, commit.now));
        }
        for (index, write) in commit.writes.into_iter().enumerate() {
            plan.push(WritePurpose::Own(index), write);
        }
        let successor = commit.successor.map(|successor| fork::writes(&successor)).transpose()?;
        let children = family::of_children(&commit.relations, &claim.run, commit.now)?;
        for write in successor.into_iter().flatten().chain(children) {
            plan.push(WritePurpose::Other, write);
        }
        plan.add_started(&commit.started)?;
        plan.add_ending(claim, commit.then, commit.now);
        Ok(plan)
    }

    fn push(&mut self, part: WritePurpose, write: Write) {
        self.parts.push(part);
        self.writes.push(write);
    }

    /// Returns the bytes of all bodies.
    fn add_entries(&mut self, claim: &Claim, drafts: Vec<EntryDraft>) -> Result<usize, StoreError> {
        let mut bytes = 0;
        for (seq, EntryDraft { at, effect, kind }) in (claim.next_seq..).zip(drafts) {
            let entry = Entry { seq, epoch: claim.epoch, at, effect, kind };
            let laid = row::writes(&claim.run, &entry)?;
            bytes += laid.bytes;
            if let Some(blob) = laid.blob {
                self.push(WritePurpose::Other, blob);
            }
            self.push(WritePurpose::Entry(entry.kind.phase()), laid.row);
            self.entries.push(entry);
        }
        Ok(bytes)
    }

    /// The first write of each fails if the run exists, or if another one works on the same.
    fn add_started(&mut self, started: &[NewRun]) -> Result<(), StoreError> {
        for new in started {
            for (index, write) in create::writes(new)?.into_iter().enumerate() {
                let purpose = if index == 0 { WritePurpose::Start } else { WritePurpose::Other };
                self.push(purpose, write);
            }
        }
        Ok(())
    }

    fn add_taken(&mut self, claim: &Claim, taken: &[TakenMessage]) {
        for TakenMessage { dedupe, draft } in taken {
            let seq = claim.next_seq + int(*draft);
            let params = params![claim.run.as_str(), dedupe.as_str(), seq];
            self.push(WritePurpose::InboxMessage, one(TAKE_MESSAGE, params));
        }
    }

    fn add_messages(&mut self, claim: &Claim, messages: Vec<NewMessage>, now: UtcMs) {
        for NewMessage { slot, role, body, message_id } in messages {
            let (conversation, run) = (claim.conversation.as_str(), claim.run.as_str());
            let params = params![conversation, message_id, run, slot.as_str(), role, body, now];
            self.push(WritePurpose::Other, one(INSERT_MESSAGE, params));
            if slot.starts_with(QUESTION_SLOT) {
                self.push(WritePurpose::Other, outbox::question(&claim.run, &slot, now));
            }
        }
    }

    fn add_title(&mut self, claim: &Claim, title: Option<&str>, now: UtcMs) {
        let Some(title) = title else { return };
        let entitled = conversation_rows::entitle(claim.conversation.as_str(), title, now);
        self.push(WritePurpose::Other, entitled);
    }

    fn add_snapshot(&mut self, claim: &Claim, snapshot: Option<(String, String)>) {
        let Some((state_hash, state)) = snapshot else { return };
        let seq = self.entries.last().expect("a snapshot belongs to an entry").seq;
        let ver = i64::from(claim.loop_ver);
        let params = params![claim.run.as_str(), seq, ver, SNAPSHOT_FMT, state_hash, state];
        self.push(WritePurpose::Other, one(INSERT_SNAPSHOT, params));
        if claim.snap_seq > 0 {
            let older = params![claim.run.as_str(), claim.snap_seq];
            self.push(WritePurpose::Other, any(DROP_SNAPSHOTS, older));
        }
    }

    /// The row was already compared and set, so its id is enough here.
    fn add_ending(&mut self, claim: &Claim, then: NextStatus, now: UtcMs) {
        let run = claim.run.as_str();
        match then {
            NextStatus::GoOn => {}
            NextStatus::Park { wake_at, note } => {
                let wake_at = wake_at.unwrap_or(NEVER);
                let params = params![run, claim.inbox_ctr, wake_at, now, note];
                self.push(WritePurpose::Other, one(PARK, params));
            }
            NextStatus::Release => self.push(WritePurpose::Other, one(RELEASE, params![run, now])),
            NextStatus::Finish(status) => {
                assert!(status.is_final(), "a run finishes with a final status, not {status}");
                self.push(WritePurpose::Other, one(FINISH, params![run, status.as_str(), NEVER]));
                self.push(WritePurpose::Other, any(CLOSE_INBOX, params![run]));
                self.push(WritePurpose::Other, outbox::reply(&claim.run, now));
            }
        }
    }
}
