//! What gives the figures of a comparison again: a command, and the limits in force.
//!
//! The words that were typed are shown to nobody: a database's password or the value of a setting
//! may be among them. Settings come from the file and the environment, too. So the command is made
//! from what is in force, and a value is shown only if its form leaves no room for a secret.

use crate::args;
use crate::build;
use crate::console::Console;
use crate::show::timestamp;
use everloop_app::frames;
use everloop_app::settings::{RoundPreset, SettingKey, SettingKind, SettingSpec, keys};
use everloop_compare::report::About;
use everloop_compare::{Contest, is_simulated};
use everloop_engine::{Clock, SystemClock};
use serde_json::{Value, json};

/// Settings of these sections have a part in what a run does.
const SECTIONS: &[&str] = &["loop", "budget", "context", "delegate", "model"];
/// And these, for models read them.
const READ: &[SettingKey] =
    &[keys::persona::name(), keys::persona::address(), keys::ui::answer_language()];
/// Free texts of those sections that have a part; where models are, in that of endpoints alone.
const TEXTS: &[SettingKey] =
    &[keys::loops::completion_mark(), keys::persona::name(), keys::persona::address()];
const PLACE: SettingKey = keys::model::base_url();

/// What a report says about itself.
pub(super) fn about(app: &Console, args: &args::Compare, contest: &Contest) -> About {
    let limits = contest.loops.iter().map(|name| (name.clone(), limits(app, name)));
    About {
        command: command(app, args, contest),
        withheld: withheld(app, contest),
        limits: limits.collect(),
        version: build::VERSION.to_owned(),
        date: timestamp(SystemClock.now()),
    }
}

fn command(app: &Console, args: &args::Compare, contest: &Contest) -> String {
    let mut words = vec!["everloop".to_owned(), "compare".to_owned()];
    let mut say = |option: &str, value: &str| words.extend([option.to_owned(), quoted(value)]);
    say("--loops", &args.loops.join(","));
    say("--models", &args.models.join(","));
    if let Some(folder) = &args.tasks {
        say("--tasks", &folder.to_string_lossy());
    }
    args.task.iter().for_each(|name| say("--task", name));
    say("--seed", &args.each.seed.to_string());
    say("--runs", &args.each.runs.to_string());
    say("--timeout", &format!("{}ms", contest.timeout.as_millis()));
    if let Some(latency) = contest.latency {
        say("--latency", &format!("{}ms,{}ms", latency.call_ms, latency.token_ms));
    }
    for (setting, value) in app.settings.changed().filter(|(setting, _)| is_shown(setting)) {
        say("--set", &format!("{}={value}", setting.key));
    }
    words.join(" ")
}

/// Whether a setting has a part in the figures, and a value that cannot be a secret.
fn is_shown(setting: &SettingSpec) -> bool {
    let has_part = SECTIONS.contains(&setting.key.section()) || READ.contains(&setting.key);
    let is_plain = matches!(
        setting.kind,
        SettingKind::Count | SettingKind::Decimal | SettingKind::Duration | SettingKind::OneOf(_)
    );
    has_part && is_plain && setting.key != keys::loops::default()
}

/// The settings with a part in the figures whose values may be secrets.
fn withheld(app: &Console, contest: &Contest) -> Vec<&'static str> {
    let asks = contest.models.iter().any(|name| !is_simulated(name));
    let keys = app.settings.changed().map(|(setting, _)| setting.key);
    let keys = keys.filter(|key| TEXTS.contains(key) || (asks && *key == PLACE));
    keys.map(SettingKey::as_str).collect()
}

/// The limits of a loop, all of them: those that are as usual are left out of a frame.
fn limits(app: &Console, loop_name: &str) -> Value {
    let limits = frames::limits(app, loop_name);
    let mut all = json!(limits);
    all["steps"]["list"] = json!(limits.steps.list);
    all["delegate"] = json!(limits.delegate);
    all["steps"]["rounds"] = match app.settings.loops.preset {
        RoundPreset::Auto => json!("fitted to each goal"),
        _ => json!(limits.steps.rounds),
    };
    all
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
