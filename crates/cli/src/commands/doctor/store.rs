//! The database, looked at without opening the store.

use super::{Check, Report, State};
use crate::app::{App, chain};
use crate::exit::Exit;
use everloop_store::{ClaimLock, Inspection, PgOptions, SCHEMA_VERSION, Store, StoreError};
use serde_json::{Value, json};

pub(super) async fn database(app: &App, report: &mut Report) {
    let shown = app.database.shown();
    report.note("database", shown.as_str());
    let holder = app.database.lock_file().and_then(ClaimLock::signed_by);
    report.note("driven_by_pid", holder.as_ref().map_or(Value::Null, |holder| json!(holder.pid)));
    let good = |detail| Check::good(app, "database", "doctor.database", detail);
    let exists = app.database.file().is_none_or(std::path::Path::exists);
    report.note("database_exists", exists);
    if !exists {
        let detail = app.text("doctor.no_database", &[("file", &shown)]);
        return report.checks.push(good(detail));
    }
    let check = match look(app).await {
        Ok(seen) => {
            fields(report, &seen);
            let mut detail = summary(app, &shown, &seen);
            if let Some(holder) = holder {
                let pid = holder.pid.to_string();
                detail = format!("{detail} {}", app.text("doctor.driven", &[("pid", &pid)]));
            }
            verdict(app, good(detail), &seen)
        }
        Err(error) => {
            let cause = chain(&error);
            report.note("store_error", cause.as_str());
            let detail = format!("{shown}: {cause}");
            let advice = app.text("doctor.no_good_database", &[]);
            good(detail).but(State::Wrong(Exit::Data), advice)
        }
    };
    report.checks.push(check);
}

async fn look(app: &App) -> Result<Inspection, StoreError> {
    let Some(file) = app.database.file() else {
        let url = app.database.address().unwrap_or_default();
        return Store::look_at_server(url, PgOptions::default()).await;
    };
    // Nothing else is under way in this process that could be held up.
    Store::look(file)
}

fn open_runs(seen: &Inspection) -> u64 {
    let open = seen.runs_by_status.iter().filter(|(status, _)| !status.is_final());
    open.map(|(_, count)| count).sum()
}

fn fields(report: &mut Report, seen: &Inspection) {
    report.note("engine", format!("{} {}", seen.engine, seen.version));
    report.note("schema", seen.schema_version);
    report.note("quick_check", seen.quick_check.as_str());
    report.note("quick_check_of", seen.checked);
    report.note("bytes_on_disk", seen.bytes_on_disk);
    let settings = seen.settings.iter().map(|(name, value)| format!("{name}={value}"));
    report.note("database_settings", settings.collect::<Vec<_>>());
    let runs = seen.runs_by_status.iter().map(|(status, count)| (status.to_string(), json!(count)));
    report.note("runs", Value::Object(runs.collect()));
    report.note("open_runs", open_runs(seen));
}

fn summary(app: &App, shown: &str, seen: &Inspection) -> String {
    let engine = format!("{} {}", seen.engine, seen.version);
    let size = super::machine::megabytes(seen.bytes_on_disk);
    let schema = seen.schema_version.to_string();
    let all: u64 = seen.runs_by_status.iter().map(|(_, count)| count).sum();
    let (all, open) = (all.to_string(), open_runs(seen).to_string());
    let args = [
        ("database", shown),
        ("engine", &engine),
        ("schema", &schema),
        ("size", &size),
        ("runs", &all),
        ("open", &open),
        ("check", &seen.quick_check),
    ];
    app.text("doctor.database_detail", &args)
}

fn verdict(app: &App, check: Check, seen: &Inspection) -> Check {
    if seen.quick_check != "ok" {
        return check.but(State::Wrong(Exit::Data), app.text("doctor.no_good_database", &[]));
    }
    match seen.schema_version {
        0 => check,
        older if older < SCHEMA_VERSION => {
            check.but(State::Note, app.text("doctor.will_be_upgraded", &[]))
        }
        _ => check,
    }
}
