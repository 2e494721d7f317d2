//! The walls around shell commands: each is tried, and what they come to.

use super::machine::version_of;
use super::{Check, Report, State};
use crate::console::Console;
use everloop_app::settings::SettingValue;
use everloop_ports::{CallPolicy, UnsandboxedReason};
use everloop_text as text;
use everloop_tools::{Level, Sandbox, Standing, holds_home, own_program};
use everloop_types::LabelGuard;

/// A command that does nothing.
const IDLE: &str = r#"{"command": "true"}"#;

pub(super) async fn walls(app: &Console, report: &mut Report) {
    let Some(helper) = own_program() else { return };
    let standing = Standing::here(&helper);
    let version = version_of("bwrap");
    report.note("bubblewrap", version.clone());
    let stands = app.text(text::doctor::wall_stands());
    let outer = standing.bubblewrap.as_ref().map(|_| version.unwrap_or_else(|| stands.clone()));
    let inner = |wall: &Result<(), String>| wall.clone().map(|()| stands.clone());
    for (name, title, found, advice) in [
        (
            "bubblewrap",
            text::doctor::bubblewrap(),
            outer.map_err(Clone::clone),
            text::doctor::bubblewrap_advice(),
        ),
        (
            "landlock",
            text::doctor::landlock(),
            inner(&standing.landlock),
            text::doctor::landlock_advice(),
        ),
        (
            "seccomp",
            text::doctor::seccomp(),
            inner(&standing.seccomp),
            text::doctor::seccomp_advice(),
        ),
    ] {
        report.note(&format!("wall_{name}"), found.is_ok());
        report.checks.push(match found {
            Ok(detail) => Check::good(app, name, title, detail),
            Err(why) => {
                let check = Check::good(app, name, title, why);
                check.but(State::Missing, app.text(advice))
            }
        });
    }
    sandbox(app, report, standing.level());
    here(app, report).await;
    label_guard(app, report);
}

/// What happens to a command in this folder: walls that stand elsewhere may not stand here.
async fn here(app: &Console, report: &mut Report) {
    let Ok(folder) = std::env::current_dir() else { return };
    let registry =
        app.environment(&app.settings).registry(folder.clone(), &app.zone_name(), app.lang);
    let Some(shell) = registry.and_then(|registry| registry.get("shell").cloned()) else { return };
    let folder = folder.display().to_string();
    let good = |detail| Check::good(app, "workspace", text::doctor::workspace(), detail);
    let (held, check) = match shell.judge(IDLE).await {
        // The line above has said so.
        CallPolicy::Unsandboxed(UnsandboxedReason::Off) => return,
        CallPolicy::Unsandboxed(UnsandboxedReason::NoWall(why)) => {
            let check = good(app.text(text::doctor::workspace_bare(&folder, &why)));
            (false, check.but(State::Missing, app.text(text::doctor::sandbox_advice())))
        }
        CallPolicy::Deny(why) => {
            let check = good(app.text(text::doctor::workspace_bare(&folder, &why)));
            (false, check.but(State::Missing, app.text(text::doctor::sandbox_required())))
        }
        _ if holds_home(std::path::Path::new(&folder)) => {
            let check = good(app.text(text::doctor::workspace_walls(&folder)));
            (true, check.but(State::Note, app.text(text::doctor::workspace_home())))
        }
        _ => (true, good(app.text(text::doctor::workspace_walls(&folder)))),
    };
    report.note("sandbox_here", held);
    report.checks.push(check);
}

/// What happens to private data after others' words were read.
fn label_guard(app: &Console, report: &mut Report) {
    let setting = app.settings.tools.label_guard;
    report.note("label_guard", setting.write());
    let check = |text| Check::good(app, "label_guard", text::doctor::label_guard(), app.text(text));
    report.checks.push(match setting {
        LabelGuard::Off => {
            let advice = app.text(text::doctor::label_guard_advice());
            check(text::doctor::label_guard_off()).but(State::Note, advice)
        }
        LabelGuard::Deny => check(text::doctor::label_guard_deny()),
        LabelGuard::Ask => check(text::doctor::label_guard_ask()),
    });
}

/// What it means for a command.
fn sandbox(app: &Console, report: &mut Report, level: Level) {
    let setting = app.settings.tools.shell_sandbox;
    let (level, key, stands) = match (setting, level) {
        (Sandbox::Off, _) => ("off", text::doctor::sandbox_off(), false),
        (_, Level::Full) => (level.name(), text::doctor::sandbox_full(), true),
        (_, Level::Inner) => (level.name(), text::doctor::sandbox_inner(), true),
        (_, Level::None) => (level.name(), text::doctor::sandbox_none(), false),
    };
    report.note("sandbox", level);
    let check = Check::good(app, "sandbox", text::doctor::sandbox(), app.text(key));
    let advice = match setting {
        Sandbox::Require => text::doctor::sandbox_required(),
        _ => text::doctor::sandbox_advice(),
    };
    report.checks.push(match stands {
        true => check,
        false => check.but(State::Missing, app.text(advice)),
    });
}
