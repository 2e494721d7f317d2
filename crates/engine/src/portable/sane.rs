//! Validates the rows of an export.
//!
//! Digest and checksums only prove that the file is unchanged, and its author chose every value. So
//! each value must be valid for its column: a name is a name, a time lies in a plausible year, and
//! a row has the types that this program writes.

use super::read::is_run_id;
use everloop_store::portable::{TableRow, blob};
use everloop_types::{EffectId, RunId, SettledOutcome, SqlValue, Status};
use std::ops::RangeInclusive;

/// 1970 to 9999.
const MOMENTS: RangeInclusive<i64> = 0..=253_402_300_799_999;

/// Counters: as far as JSON's numbers are exact.
const COUNTS: RangeInclusive<i64> = 0..=9_007_199_254_740_991;

const PRIORITIES: RangeInclusive<i64> = -2_147_483_648..=2_147_483_647;

const VERSIONS: RangeInclusive<i64> = 0..=4_294_967_295;

/// Longest name of a loop, a kind or a slot.
const NAME_CHARS_MAX: usize = 200;

/// Whether a row is one that this program could have written for this run.
pub(super) fn is_sane(row: &TableRow, run: &RunId) -> bool {
    let own = row.get("run_id") == Some(&SqlValue::from(run.as_str()));
    let cells = RowCells { row, run };
    match row.table {
        "blobs" => blob(row).is_some(),
        "runs" => own && is_run(&cells),
        "journal" => own && is_entry(&cells),
        "messages" => own && is_message(&cells),
        "inbox" => {
            own && cells.all_text(&["dedupe", "body"])
                && cells.name("kind")
                && cells.all(&["pos"], &COUNTS)
                && cells.all(&["created_at"], &MOMENTS)
                && cells.none_or("taken_seq", &COUNTS)
        }
        "snapshots" => {
            own && cells.all_text(&["state_hash", "state"])
                && cells.all(&["seq", "fmt"], &COUNTS)
                && cells.all(&["loop_ver"], &VERSIONS)
        }
        "settlements" => {
            own && cells.place("effect_id")
                && cells.text("verdict").is_some_and(|word| SettledOutcome::parse(word).is_some())
                && cells.all_text(&["by_whom"])
                && cells.all(&["at"], &MOMENTS)
        }
        "outbox" => {
            own && cells.all_text(&["outbox_id", "conversation_id", "channel", "body"])
                && cells.all(&["pos", "tries"], &COUNTS)
                && cells.all(&["next_try_at"], &MOMENTS)
                && cells.none_or("sent_at", &MOMENTS)
        }
        _ => false,
    }
}

fn is_run(cells: &RowCells<'_>) -> bool {
    let forked = match (cells.text("forked_from"), cells.is_null("forked_from")) {
        (Some(from), _) => is_run_id(from) && cells.all(&["forked_at_seq"], &COUNTS),
        (None, is_null) => is_null && cells.is_null("forked_at_seq"),
    };
    forked
        && cells.all_text(&["conversation_id", "goal", "frame_ref"])
        && cells.name("loop_name")
        && cells.text("status").is_some_and(|word| Status::parse(word).is_some())
        && (cells.is_null("note") || cells.text("note").is_some())
        && cells.all(&["loop_ver"], &VERSIONS)
        && cells.all(&["priority"], &PRIORITIES)
        && cells.all(&["epoch", "next_seq", "snap_seq", "bytes", "inbox_ctr"], &COUNTS)
        && cells.all(&["wake_at", "created_at", "updated_at"], &MOMENTS)
        && cells.none_or("trimmed_at", &MOMENTS)
        && cells.name("run_type")
        && (cells.is_null("title") || cells.text("title").is_some())
        && (cells.is_null("retry_of") || cells.text("retry_of").is_some_and(is_run_id))
}

/// The rest of an entry is checked where it is read.
fn is_entry(cells: &RowCells<'_>) -> bool {
    cells.all(&["seq", "epoch", "fmt", "crc"], &COUNTS)
        && cells.all(&["ts"], &MOMENTS)
        && cells.all_text(&["kind", "body"])
        && (cells.is_null("effect_id") || cells.place("effect_id"))
}

fn is_message(cells: &RowCells<'_>) -> bool {
    let slot = cells.text("slot").unwrap_or_default();
    let known = match slot.split_once(':') {
        None => matches!(slot, "goal" | "word" | "stopped" | "final"),
        Some((what, id)) => matches!(what, "ask" | "answer") && is_name(id),
    };
    // A message must not have the id of another run's message.
    let ids = [format!("{}:{slot}", cells.run), format!("msg_{}_{slot}", cells.run)];
    known
        && cells.text("message_id").is_some_and(|id| ids.iter().any(|own| own == id))
        && cells.text("role").is_some_and(|role| matches!(role, "user" | "assistant"))
        && cells.all_text(&["conversation_id", "body"])
        && cells.all(&["pos"], &COUNTS)
        && cells.all(&["created_at"], &MOMENTS)
}

/// Whether a text has only letters, digits and the signs of names, on one line.
fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic();
    (1..=NAME_CHARS_MAX).contains(&text.len()) && text.chars().all(plain)
}

/// The cells of one row.
struct RowCells<'r> {
    row: &'r TableRow,
    run: &'r RunId,
}

impl<'r> RowCells<'r> {
    fn text(&self, column: &str) -> Option<&'r str> {
        match self.row.get(column) {
            Some(SqlValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn is_null(&self, column: &str) -> bool {
        self.row.get(column) == Some(&SqlValue::Null)
    }

    fn all_text(&self, columns: &[&str]) -> bool {
        columns.iter().all(|column| self.text(column).is_some())
    }

    fn all(&self, columns: &[&str], range: &RangeInclusive<i64>) -> bool {
        let within = |column: &&str| match self.row.get(column) {
            Some(SqlValue::Int(number)) => range.contains(number),
            _ => false,
        };
        columns.iter().all(within)
    }

    fn none_or(&self, column: &str, range: &RangeInclusive<i64>) -> bool {
        self.is_null(column) || self.all(&[column], range)
    }

    fn name(&self, column: &str) -> bool {
        self.text(column).is_some_and(is_name)
    }

    /// The place of an effect of this run.
    fn place(&self, column: &str) -> bool {
        let read = |place| EffectId::at_place(self.run.clone(), place);
        self.text(column).is_some_and(|place| read(place).is_some())
    }
}
