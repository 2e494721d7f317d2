//! One journal row: how an entry is written, and how damage is detected when it is read.

use crate::{
    db::{DbError, SqlCells, SqlRow},
    error::{StoreError, StoreLimit},
    statement::{any, int, one, params},
};
use everloop_types::{
    EffectId, RunId, SqlValue, Statement, UtcMs, Write, digest_bytes,
    journal::{Entry, EntryBodyError, EntryKind},
};

/// Larger bodies are stored in `blobs`.
const INLINE_MAX: usize = 16 << 10;

const INSERT: Statement = Statement::sealed(
    "
    INSERT INTO journal
           (run_id, seq, epoch, kind, fmt, effect_id, attempt, phase, ts, crc, body, blob_ref)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
",
);

/// Shares the lock of the sweep: an existing blob stays until this transaction refers to it.
const INSERT_BLOB: Statement = Statement::sealed(
    "
    INSERT INTO blobs (hash, size, bytes) SELECT $1, $2, $3 WHERE {share 'blobs'} IS NOT NULL
    ON CONFLICT (hash) DO NOTHING
",
);

/// The columns that [`read`] expects.
pub(crate) const SELECT: &str = "
    SELECT j.seq, j.epoch, j.kind, j.fmt, j.effect_id, j.ts, j.crc, j.body, j.blob_ref, b.bytes
      FROM journal j LEFT JOIN blobs b ON b.hash = j.blob_ref
     WHERE j.run_id = $1 AND j.seq > $2
     ORDER BY j.seq LIMIT $3
";

/// The writes of one entry: a blob if the body is large, and the row.
pub(crate) struct EntryWrites {
    pub(crate) blob: Option<Write>,
    pub(crate) row: Write,
    /// Bytes of the body, inline or in a blob.
    pub(crate) bytes: usize,
}

/// The writes that store an entry.
pub(crate) fn writes(run: &RunId, entry: &Entry) -> Result<EntryWrites, StoreError> {
    let body = entry.kind.body();
    let bytes = body.len();
    if bytes > StoreLimit::Blob.most() {
        return Err(StoreError::OverLimit { run: run.clone(), limit: StoreLimit::Blob });
    }
    let (body, blob_ref, blob) = if bytes > INLINE_MAX {
        let hash = digest_bytes(body.as_bytes());
        (String::new(), Some(hash.clone()), Some(insert_blob(hash, body.into_bytes())))
    } else {
        (body, None, None)
    };
    // The row names its run already, so the effect is stored by its place alone.
    let effect = entry.effect.as_ref().map(EffectId::place);
    let covered = ChecksumInput {
        run: run.as_str(),
        numbers: [entry.seq, entry.epoch, entry.kind.fmt(), entry.at],
        kind: entry.kind.name(),
        effect: effect.as_deref(),
        body: &body,
        blob_ref: blob_ref.as_deref(),
    };
    let crc = covered.crc();
    let row = one(
        INSERT,
        params![
            run.as_str(),
            entry.seq,
            entry.epoch,
            entry.kind.name(),
            entry.kind.fmt(),
            effect,
            entry.kind.attempt().map(i64::from),
            entry.kind.phase(),
            entry.at,
            crc,
            body,
            blob_ref,
        ],
    );
    Ok(EntryWrites { blob, row, bytes })
}

/// Content by its digest; the same content is stored once.
pub(crate) fn insert_blob(hash: String, bytes: Vec<u8>) -> Write {
    any(INSERT_BLOB, params![hash, int(bytes.len()), bytes])
}

/// What the checksum covers: the whole entry, as it is stored.
struct ChecksumInput<'a> {
    run: &'a str,
    /// seq, epoch, fmt, ts
    numbers: [i64; 4],
    kind: &'a str,
    effect: Option<&'a str>,
    body: &'a str,
    blob_ref: Option<&'a str>,
}

impl ChecksumInput<'_> {
    /// Each text goes in with its length, so that no two rows have the same bytes.
    fn crc(&self) -> i64 {
        let mut crc = 0;
        for number in self.numbers {
            crc = crc32c::crc32c_append(crc, &number.to_le_bytes());
        }
        let effect = self.effect.unwrap_or("");
        let blob_ref = self.blob_ref.unwrap_or("");
        for text in [self.run, self.kind, effect, self.body, blob_ref] {
            crc = crc32c::crc32c_append(crc, &int(text.len()).to_le_bytes());
            crc = crc32c::crc32c_append(crc, text.as_bytes());
        }
        i64::from(crc)
    }
}

/// A row as it was read, before it is verified.
struct StoredRow {
    seq: i64,
    epoch: i64,
    kind: String,
    fmt: i64,
    effect: Option<String>,
    at: UtcMs,
    crc: i64,
    body: String,
    blob_ref: Option<String>,
    blob: Option<Vec<u8>>,
}

impl StoredRow {
    fn take(cells: &mut SqlCells) -> Result<Self, DbError> {
        Ok(Self {
            seq: cells.int()?,
            epoch: cells.int()?,
            kind: cells.text()?,
            fmt: cells.int()?,
            effect: cells.opt_text()?,
            at: cells.int()?,
            crc: cells.int()?,
            body: cells.text()?,
            blob_ref: cells.opt_text()?,
            blob: cells.opt_bytes()?,
        })
    }

    fn crc(&self, run: &RunId) -> i64 {
        let covered = ChecksumInput {
            run: run.as_str(),
            numbers: [self.seq, self.epoch, self.fmt, self.at],
            kind: &self.kind,
            effect: self.effect.as_deref(),
            body: &self.body,
            blob_ref: self.blob_ref.as_deref(),
        };
        covered.crc()
    }

    /// The body, inline or from its blob. `None` if the blob is missing or altered.
    fn body(&mut self) -> Option<String> {
        let Some(hash) = &self.blob_ref else { return Some(std::mem::take(&mut self.body)) };
        let blob = self.blob.take()?;
        if digest_bytes(&blob) != *hash {
            return None;
        }
        String::from_utf8(blob).ok()
    }
}

/// Reads an entry back, and verifies it.
pub(crate) fn read(run: &RunId, row: SqlRow) -> Result<Entry, StoreError> {
    let seq = match row.0.first() {
        Some(SqlValue::Int(seq)) => *seq,
        _ => 0,
    };
    let damaged = || StoreError::Damaged { run: run.clone(), seq };
    let mut stored = StoredRow::take(&mut row.cells()).map_err(|_| damaged())?;
    if stored.crc(run) != stored.crc {
        return Err(damaged());
    }
    let body = stored.body().ok_or_else(damaged)?;
    let kind = EntryKind::read(&stored.kind, stored.fmt, &body).map_err(|error| match error {
        EntryBodyError::Newer { kind, fmt } => {
            StoreError::NewerEntry { run: run.clone(), seq, kind, fmt }
        }
        EntryBodyError::Malformed { .. } => damaged(),
    })?;
    let effect = match stored.effect {
        Some(place) => Some(EffectId::at_place(run.clone(), &place).ok_or_else(damaged)?),
        None => None,
    };
    Ok(Entry { seq, epoch: stored.epoch, at: stored.at, effect, kind })
}

/// Writes a row that only a newer program would write, with a checksum that fits.
#[cfg(any(test, feature = "conformance"))]
pub(crate) async fn write_raw_for_checks(
    store: &crate::Store,
    run: &RunId,
    seq: i64,
    kind: &'static str,
    fmt: i64,
) {
    let numbers = [seq, 1, fmt, 0];
    let covered = ChecksumInput {
        run: run.as_str(),
        numbers,
        kind,
        effect: None,
        body: "{}",
        blob_ref: None,
    };
    let (crc, none) = (covered.crc(), None::<i64>);
    let params = params![run.as_str(), seq, 1, kind, fmt, none, none, none, 0, crc, "{}", none];
    let done = store.db.commit(vec![one(INSERT, params)], crate::Urgency::Critical).await;
    done.expect("a row like any other");
}
