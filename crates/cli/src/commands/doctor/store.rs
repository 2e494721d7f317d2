//! The database, looked at without opening the store.

use super::{Check, Report, State};
use crate::console::Console;
use crate::exit::Exit;
use everloop_app::error::chain;
use everloop_store::{
    ClaimLock, Inspection, PgOptions, RunCheck, SCHEMA_VERSION, Store, StoreError,
};
use everloop_text as text;
use serde_json::{Value, json};
use std::time::Duration;

/// Time for the checksums of runs.
const CHECK_TIME: Duration = Duration::from_secs(3);

/// Damaged runs that are named.
const SHOWN_MAX: usize = 10;

pub(super) async fn database(app: &Console, report: &mut Report) {
    let shown = app.database.shown();
    report.note("database", shown.as_str());
    let holder = app.database.lock_file().and_then(ClaimLock::signed_by);
    report.note("driven_by_pid", holder.as_ref().map_or(Value::Null, |holder| json!(holder.pid)));
    let good = |detail| Check::good(app, "database", text::doctor::database(), detail);
    let exists = app.database.file().is_none_or(std::path::Path::exists);
    report.note("database_exists", exists);
    if !exists {
        let detail = app.text(text::doctor::no_database(&shown));
        return report.checks.push(good(detail));
    }
    let mut journals = None;
    let check = match look(app).await {
        Ok((seen, runs)) => {
            fields(report, &seen);
            journals = runs.map(|runs| checksums(app, report, runs));
            let mut detail = summary(app, &shown, &seen);
            if let Some(holder) = holder {
                let pid = holder.pid.to_string();
                detail = format!("{detail} {}", app.text(text::doctor::driven(&pid)));
            }
            verdict(app, good(detail), &seen)
        }
        Err(error) => {
            let cause = chain(&error);
            report.note("store_error", cause.as_str());
            let detail = format!("{shown}: {cause}");
            let advice = app.text(text::doctor::no_good_database());
            good(detail).but(State::Wrong(Exit::Data), advice)
        }
    };
    report.checks.push(check);
    report.checks.extend(journals);
}

type Checksums = Result<RunCheck, StoreError>;

/// The database, and its runs if their tables are those of this program.
async fn look(app: &Console) -> Result<(Inspection, Option<Checksums>), StoreError> {
    let Some(file) = app.database.file() else {
        let url = app.database.address().unwrap_or_default();
        let seen =
            everloop_store::copies::look_at_server(url, PgOptions::default(), CHECK_TIME).await;
        return seen.map(|(seen, runs)| (seen, Some(Ok(runs))));
    };
    // Nothing else is under way in this process that could be held up.
    let seen = everloop_store::copies::look(file)?;
    if seen.quick_check != "ok" || seen.schema_version != SCHEMA_VERSION {
        return Ok((seen, None));
    }
    let runs = match Store::open_read_only(file) {
        Ok(store) => store.maintenance().check_runs(CHECK_TIME).await,
        Err(error) => Err(error),
    };
    Ok((seen, Some(runs)))
}

/// What the checksums of the runs say.
fn checksums(app: &Console, report: &mut Report, runs: Checksums) -> Check {
    let good = |detail| Check::good(app, "journals", text::doctor::journals(), detail);
    let runs = match runs {
        Ok(runs) => runs,
        Err(error) => {
            let detail = app.text(text::doctor::journals_unread(&chain(&error)));
            return Check { state: State::Note, ..good(detail) };
        }
    };
    report.note("runs_checked", runs.checked);
    report.note("runs_not_checked", runs.left);
    report.note("damaged_runs", json!(runs.damaged));
    let shown = runs.damaged.iter().take(SHOWN_MAX).map(|run| run.as_str());
    let more = if runs.damaged.len() > SHOWN_MAX { ", …" } else { "" };
    let all = shown.collect::<Vec<_>>().join(", ") + more;
    let (checked, left) = (runs.checked, runs.left);
    match (runs.damaged.is_empty(), runs.left) {
        (true, 0) => good(app.text(text::doctor::journals_detail(&checked))),
        (true, _) => {
            let detail = app.text(text::doctor::journals_part(&checked, &left));
            Check { state: State::Note, ..good(detail) }
        }
        (false, _) => {
            let advice = app.text(text::doctor::journals_advice());
            good(app.text(
                text::doctor::JournalsDamaged { all: &all, checked: &checked, left: &left }.text(),
            ))
            .but(State::Wrong(Exit::Data), advice)
        }
    }
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

fn summary(app: &Console, shown: &str, seen: &Inspection) -> String {
    let engine = format!("{} {}", seen.engine, seen.version);
    let size = super::machine::megabytes(seen.bytes_on_disk);
    let schema = seen.schema_version.to_string();
    let all: u64 = seen.runs_by_status.iter().map(|(_, count)| count).sum();
    let (all, open) = (all.to_string(), open_runs(seen).to_string());
    app.text(
        text::doctor::DatabaseDetail {
            database: &shown,
            engine: &engine,
            schema: &schema,
            size: &size,
            runs: &all,
            open: &open,
            check: &seen.quick_check,
        }
        .text(),
    )
}

fn verdict(app: &Console, check: Check, seen: &Inspection) -> Check {
    if seen.quick_check != "ok" {
        return check.but(State::Wrong(Exit::Data), app.text(text::doctor::no_good_database()));
    }
    match seen.schema_version {
        0 => check,
        older if older < SCHEMA_VERSION => {
            check.but(State::Note, app.text(text::doctor::will_be_upgraded()))
        }
        _ => check,
    }
}
