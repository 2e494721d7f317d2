//! The walls around shell commands: each is tried, and what they come to.

use super::machine::version_of;
use super::{Check, Report, State};
use crate::app::App;
use everloop_tools::{Level, Standing, own_program};

pub(super) fn walls(app: &App, report: &mut Report) {
    let Some(helper) = own_program() else { return };
    let standing = Standing::here(&helper);
    let version = version_of("bwrap");
    report.note("bubblewrap", version.clone());
    let stands = app.text("doctor.wall_stands", &[]);
    let outer = standing.bubblewrap.as_ref().map(|_| version.unwrap_or_else(|| stands.clone()));
    let inner = |wall: &Result<(), String>| wall.clone().map(|()| stands.clone());
    for (name, title, found, advice) in [
        (
            "bubblewrap",
            "doctor.bubblewrap",
            outer.map_err(Clone::clone),
            "doctor.bubblewrap_advice",
        ),
        ("landlock", "doctor.landlock", inner(&standing.landlock), "doctor.landlock_advice"),
        ("seccomp", "doctor.seccomp", inner(&standing.seccomp), "doctor.seccomp_advice"),
    ] {
        report.note(&format!("wall_{name}"), found.is_ok());
        report.checks.push(match found {
            Ok(detail) => Check::good(app, name, title, detail),
            Err(why) => {
                let check = Check::good(app, name, title, why);
                check.but(State::Missing, app.text(advice, &[]))
            }
        });
    }
    sandbox(app, report, standing.level());
    label_guard(app, report);
}

/// What happens to private data after others' words were read.
fn label_guard(app: &App, report: &mut Report) {
    let setting = app.settings.text("tools.label_guard");
    report.note("label_guard", setting);
    let check =
        |key: &str| Check::good(app, "label_guard", "doctor.label_guard", app.text(key, &[]));
    report.checks.push(match setting {
        "off" => {
            let advice = app.text("doctor.label_guard_advice", &[]);
            check("doctor.label_guard_off").but(State::Note, advice)
        }
        "deny" => check("doctor.label_guard_deny"),
        _ => check("doctor.label_guard_ask"),
    });
}

/// What it means for a command.
fn sandbox(app: &App, report: &mut Report, level: Level) {
    let setting = app.settings.text("tools.shell_sandbox");
    let (level, key, stands) = match (setting, level) {
        ("off", _) => ("off", "doctor.sandbox_off", false),
        (_, Level::Full) => (level.name(), "doctor.sandbox_full", true),
        (_, Level::Inner) => (level.name(), "doctor.sandbox_inner", true),
        (_, Level::None) => (level.name(), "doctor.sandbox_none", false),
    };
    report.note("sandbox", level);
    let check = Check::good(app, "sandbox", "doctor.sandbox", app.text(key, &[]));
    let advice = match setting {
        "require" => "doctor.sandbox_required",
        _ => "doctor.sandbox_advice",
    };
    report.checks.push(match stands {
        true => check,
        false => check.but(State::Missing, app.text(advice, &[])),
    });
}
