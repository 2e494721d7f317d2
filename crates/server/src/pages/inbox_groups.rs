//! The groups of the inbox, one page of each at a time.
//!
//! What stands elsewhere in the inbox is left out while the rows are read, so that a page is full
//! although most of what was read is not on it.

use crate::problem::Problem;
use crate::state::ServerState;
use everloop_pages::inbox::{InboxGroup, InboxRow};
use everloop_store::{RunFilter, RunRow};
use everloop_types::{RunId, Status};

/// Rows of a group on one page.
pub(super) const GROUP_MAX: usize = 50;

/// How often rows are read for one page.
const READS_MAX: usize = 20;

/// Runs of a page, the newest first.
#[derive(Default)]
pub(super) struct RunPiece {
    pub(super) runs: Vec<RunRow>,
    /// Whether newer ones stand on a page before.
    is_later: bool,
    /// The last run that was looked at, if older ones follow.
    last: Option<RunId>,
}

/// The runs of some statuses that are older than one and are shown here.
pub(super) async fn runs_before(
    state: &ServerState,
    statuses: &[Status],
    mut before: Option<RunId>,
    is_here: impl Fn(&RunRow) -> bool,
) -> Result<RunPiece, Problem> {
    let is_later = before.is_some();
    let mut runs = Vec::new();
    for _ in 0..READS_MAX {
        let filter = RunFilter { statuses: statuses.to_vec(), before, most: GROUP_MAX };
        let rows = state.store().runs().list(&filter).await?;
        let are_all = rows.len() < GROUP_MAX;
        before = filter.before;
        for row in rows {
            let (run, is_shown) = (row.run.clone(), is_here(&row));
            if is_shown && runs.len() == GROUP_MAX {
                return Ok(RunPiece { runs, is_later, last: before });
            }
            runs.extend(is_shown.then_some(row));
            before = Some(run);
        }
        if are_all {
            return Ok(RunPiece { runs, is_later, last: None });
        }
    }
    Ok(RunPiece { runs, is_later, last: before })
}

/// A group of runs, and the way to its older ones.
pub(super) fn run_group(
    part: &str,
    piece: &RunPiece,
    row: impl Fn(&RunRow) -> InboxRow,
) -> InboxGroup {
    let plus = if piece.last.is_some() { "+" } else { "" };
    InboxGroup {
        count: if piece.is_later { String::new() } else { format!("{}{plus}", piece.runs.len()) },
        rows: piece.runs.iter().map(row).collect(),
        more: piece.last.as_ref().map(|run| format!("/inbox?part={part}&from={run}")),
    }
}

/// A group of what was read whole: its rows from a place on.
pub(super) fn listed_group(
    part: &str,
    from: usize,
    total: usize,
    rows: Vec<InboxRow>,
) -> InboxGroup {
    let next = from + rows.len();
    InboxGroup {
        count: total.to_string(),
        rows,
        more: (next < total).then(|| format!("/inbox?part={part}&from={next}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_leads_on_until_its_last_row() {
        let rows = |count| vec![InboxRow::default(); count];
        let first = listed_group("unread", 0, 120, rows(GROUP_MAX));
        assert_eq!(
            (first.count.as_str(), first.more.as_deref()),
            ("120", Some("/inbox?part=unread&from=50"))
        );
        let last = listed_group("unread", 100, 120, rows(20));
        assert_eq!((last.rows.len(), last.more), (20, None));
    }
}
