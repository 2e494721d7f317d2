//! The database, looked at without opening the store.

use super::{CheckState, DoctorFinding, DoctorReport};
use crate::app::App;
use crate::error::chain;
use everloop_store::copies::{look, look_at_server};
use everloop_store::{
    ClaimLock, Inspection, OpenError, PgOptions, RunCheck, SCHEMA_VERSION, Store, StoreError,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Time for the checksums of runs.
const CHECK_TIME: Duration = Duration::from_secs(3);

type Checksums = Result<RunCheck, StoreError>;

impl DoctorReport {
    pub(super) async fn database(&mut self, app: &App) {
        let shown = app.database.shown();
        self.note("database", shown.as_str());
        let holder = app.database.lock_file().and_then(ClaimLock::signed_by);
        self.note("driven_by_pid", holder.as_ref().map_or(Value::Null, |holder| json!(holder.pid)));
        let exists = app.database.file().is_none_or(std::path::Path::exists);
        self.note("database_exists", exists);
        if !exists {
            return self.good("database", DoctorFinding::NoDatabase(shown));
        }
        match inspect(app).await {
            Ok((seen, runs)) => {
                self.inspection(&seen);
                let state = state_of(&seen);
                let driven_by = holder.map(|holder| holder.pid.to_string());
                let seen = Box::new(seen);
                let finding = DoctorFinding::Database { shown, seen, driven_by };
                self.check("database", state, finding);
                if let Some(runs) = runs {
                    self.checksums(runs);
                }
            }
            Err(error) => {
                let cause = chain(&error);
                self.note("store_error", cause.as_str());
                let finding = DoctorFinding::DatabaseUnread { shown, cause };
                self.check("database", CheckState::WrongData, finding);
            }
        }
    }

    /// What the checksums of the runs say.
    fn checksums(&mut self, runs: Checksums) {
        let runs = match runs {
            Ok(runs) => runs,
            // It cannot be opened twice in one process, and a chat has it open.
            Err(StoreError::Open(OpenError::AlreadyOpen { .. })) => {
                return self.good("journals", DoctorFinding::JournalsInUse);
            }
            Err(error) => {
                let finding = DoctorFinding::JournalsUnread(chain(&error));
                return self.check("journals", CheckState::Note, finding);
            }
        };
        self.note("runs_checked", runs.checked);
        self.note("runs_not_checked", runs.left);
        self.note("damaged_runs", json!(runs.damaged));
        let state = match (runs.damaged.is_empty(), runs.left) {
            (true, 0) => CheckState::Good,
            (true, _) => CheckState::Note,
            (false, _) => CheckState::WrongData,
        };
        self.check("journals", state, DoctorFinding::Journals(runs));
    }

    fn inspection(&mut self, seen: &Inspection) {
        self.note("engine", format!("{} {}", seen.engine, seen.version));
        self.note("schema", seen.schema_version);
        self.note("quick_check", seen.quick_check.as_str());
        self.note("quick_check_of", seen.checked);
        self.note("bytes_on_disk", seen.bytes_on_disk);
        let settings = seen.settings.iter().map(|(name, value)| format!("{name}={value}"));
        self.note("database_settings", settings.collect::<Vec<_>>());
        let runs = seen.runs_by_status.iter();
        let runs = runs.map(|(status, count)| (status.to_string(), json!(count)));
        self.note("runs", Value::Object(runs.collect()));
        self.note("open_runs", crate::copies::open_runs(seen));
    }
}

/// The database, and its runs if their tables are those of this program.
async fn inspect(app: &App) -> Result<(Inspection, Option<Checksums>), StoreError> {
    let Some(file) = app.database.file() else {
        let url = app.database.address().unwrap_or_default();
        let seen = look_at_server(url, PgOptions::default(), CHECK_TIME).await;
        return seen.map(|(seen, runs)| (seen, Some(Ok(runs))));
    };
    // Nothing else is under way in this process that could be held up.
    let seen = look(file)?;
    if seen.quick_check != "ok" || seen.schema_version != SCHEMA_VERSION {
        return Ok((seen, None));
    }
    let runs = match Store::open_read_only(file) {
        Ok(store) => store.maintenance().check_runs(CHECK_TIME).await,
        Err(error) => Err(error),
    };
    Ok((seen, Some(runs)))
}

fn state_of(seen: &Inspection) -> CheckState {
    match seen.schema_version {
        _ if seen.quick_check != "ok" => CheckState::WrongData,
        0 => CheckState::Good,
        older if older < SCHEMA_VERSION => CheckState::Note,
        _ => CheckState::Good,
    }
}
