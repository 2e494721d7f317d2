//! Runs as a list, page by page.

use crate::app::App;
use crate::error::{AppError, ChoiceError};
use crate::run_json;
use crate::runs::RunDetails;
use everloop_store::{RunFilter, RunRow, RunScope, Store};
use everloop_types::{RunId, Status};
use serde_json::{Value, json};

/// Most runs of one page.
const PAGE_MAX: usize = 1_000;

/// Which runs are wanted.
#[derive(Debug, Clone, Default)]
pub struct RunListRequest {
    /// Names of statuses; empty for all.
    pub statuses: Vec<String>,
    /// Most runs of the page.
    pub limit: usize,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// One page of the list.
pub struct RunPage {
    /// The runs, newest first.
    pub runs: Vec<ListedRun>,
    /// Where the next page begins; none if this is the last.
    pub next_cursor: Option<RunId>,
}

/// A run of the list.
pub struct ListedRun {
    /// Its row in the store.
    pub row: RunRow,
    /// How many of its calls are still to be settled; none if no call ever was.
    pub open_unknowns: Option<usize>,
}

impl RunPage {
    /// Reads one page.
    ///
    /// # Errors
    /// [`ChoiceError::UnknownStatus`], or if the store fails.
    pub async fn read(app: &App, store: &Store, request: RunListRequest) -> Result<Self, AppError> {
        Self::read_of(app, store, request, &RunScope::default()).await
    }

    /// Reads one page of some of the runs.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_of(
        app: &App,
        store: &Store,
        request: RunListRequest,
        scope: &RunScope,
    ) -> Result<Self, AppError> {
        let most = request.limit.clamp(1, PAGE_MAX);
        let statuses = read_statuses(&request.statuses)?;
        let before = request.cursor.map(RunId::new);
        // One more than is shown tells whether anything follows.
        let filter = RunFilter { statuses, before, most: most + 1 };
        let mut rows = store.runs().list_of(&filter, scope).await?;
        let is_last = rows.len() <= most;
        rows.truncate(most);
        let next_cursor = rows.last().filter(|_| !is_last).map(|row| row.run.clone());
        let mut runs = Vec::with_capacity(rows.len());
        for row in rows {
            let open_unknowns = count_open_unknowns(app, store, &row).await?;
            runs.push(ListedRun { row, open_unknowns });
        }
        Ok(Self { runs, next_cursor })
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let runs: Vec<Value> = self.runs.iter().map(ListedRun::to_json).collect();
        json!({ "data": runs, "next_cursor": self.next_cursor })
    }
}

impl ListedRun {
    /// Whether every outcome that was unknown at the end is known now.
    #[must_use]
    pub fn is_settled_since(&self) -> bool {
        self.open_unknowns == Some(0)
    }

    fn to_json(&self) -> Value {
        let mut object = run_json::row(&self.row);
        if let Some(open) = self.open_unknowns {
            object["open_unknowns"] = json!(open);
        }
        object
    }
}

fn read_statuses(names: &[String]) -> Result<Vec<Status>, ChoiceError> {
    let read =
        |name: &String| Status::parse(name).ok_or_else(|| ChoiceError::UnknownStatus(name.clone()));
    names.iter().map(read).collect()
}

async fn count_open_unknowns(
    app: &App,
    store: &Store,
    row: &RunRow,
) -> Result<Option<usize>, AppError> {
    if row.status != Status::Unsettled {
        return Ok(None);
    }
    let details = RunDetails::read(app, store, &row.run).await?;
    let open = details.open_unknowns().count();
    Ok((!details.unknowns.is_empty()).then_some(open))
}
