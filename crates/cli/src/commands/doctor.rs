//! `everloop doctor`: what is there and whether it works. Reads only, and shows no key.

use super::run::endpoint;
use crate::app::App;
use crate::args;
use crate::exit::{Exit, Failure};
use crate::{build, terminal};
use everloop_loops::{AnyRun, LOOPS};
use everloop_store::{ClaimLock, without_password};
use serde_json::{Value, json};

pub(crate) async fn doctor(app: &App, args: &args::Doctor) -> Result<Exit, Failure> {
    let exists = app.database.file().is_none_or(std::path::Path::exists);
    let mut report = json!({
        "version": build::VERSION,
        "config_file": app.home.config_file().display().to_string(),
        "config_file_exists": app.home.config_file().exists(),
        "database": app.database.shown(),
        "database_exists": exists,
        "model": model(app),
        "base_url": endpoint(app),
        "key_env": app.settings.text("model.key_env"),
        "key_is_set": std::env::var_os(app.settings.text("model.key_env")).is_some(),
        "sandbox": "none",
        "tools": tools(app),
        "loops": LOOPS.map(known_loop),
        "driven_by_pid": Value::Null,
    });
    let changed = app.settings.all().filter(|(_, _, origin)| origin.to_string() != "default");
    report["settings"] = changed
        .map(|(key, value, origin)| {
            let value = if key == "store.database" { without_password(&value) } else { value };
            json!({"key": key, "value": value, "origin": origin.to_string()})
        })
        .collect();
    let mut exit = Exit::Done;
    if exists {
        exit = look_into(app, &mut report).await;
    }
    if args.json {
        terminal::answer(&report.to_string());
    } else {
        for (name, value) in report.as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            terminal::answer(&format!("{name:<20} {value}"));
        }
    }
    Ok(exit)
}

/// What the database says about itself; a failure is part of the report.
async fn look_into(app: &App, report: &mut Value) -> Exit {
    let store = match app.database.open().await {
        Ok(store) => store,
        Err(error) => {
            report["store_error"] = json!(crate::app::chain(&error));
            return Exit::Data;
        }
    };
    if let Some(holder) = app.database.lock_file().and_then(ClaimLock::signed_by) {
        report["driven_by_pid"] = json!(holder.pid);
    }
    match store.inspect().await {
        Ok(seen) => {
            let healthy = seen.quick_check == "ok";
            report["engine"] = json!(format!("{} {}", seen.engine, seen.version));
            report["schema"] = json!(seen.schema_version);
            report["quick_check"] = json!(seen.quick_check);
            report["quick_check_of"] = json!(seen.checked);
            report["bytes_on_disk"] = json!(seen.bytes_on_disk);
            report["database_settings"] =
                seen.settings.iter().map(|(k, v)| json!(format!("{k}={v}"))).collect();
            report["runs"] = seen
                .runs_by_status
                .iter()
                .map(|(status, count)| (status.to_string(), json!(count)))
                .collect();
            if healthy { Exit::Done } else { Exit::Data }
        }
        Err(error) => {
            report["store_error"] = json!(crate::app::chain(&error));
            Exit::Data
        }
    }
}

/// The tools that a run in this folder would have.
fn tools(app: &App) -> Vec<String> {
    let here = std::env::current_dir().ok();
    let registry = here.and_then(|here| app.means(&app.settings).registry(here));
    registry.unwrap_or_default().specs().into_iter().map(|spec| spec.name).collect()
}

/// The version governs how journals are folded; the fingerprint shows that two builds fold alike.
fn known_loop(name: &str) -> Value {
    let (version, fingerprint) = (AnyRun::version(name), AnyRun::fingerprint(name));
    json!({"name": name, "version": version, "fingerprint": fingerprint})
}

fn model(app: &App) -> String {
    match std::env::var("EVERLOOP_MODEL") {
        Ok(name) if !name.is_empty() => name,
        _ => app.settings.text("model.default").to_owned(),
    }
}
