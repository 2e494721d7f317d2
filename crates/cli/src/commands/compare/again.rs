//! What gives the figures of a comparison again: a command, and the limits in force.
//!
//! The words that were typed are shown to nobody: a database's password or the value of a setting
//! may be among them. Settings come from the file and the environment, too. So the command is made
//! from what is in force, and a value is shown only if its form leaves no room for a secret.

use crate::args;
use crate::build;
use everloop_app::comparison::{limits, quoted, shown_settings, withheld_settings};
use everloop_compare::report::ReportHeader;
use everloop_compare::{Contest, is_simulated};
use everloop_console::Console;
use everloop_console::show::timestamp;
use everloop_engine::{Clock, SystemClock};

/// What a report says about itself.
pub(super) fn about(app: &Console, args: &args::CompareArgs, contest: &Contest) -> ReportHeader {
    header(app, contest, command(app, args, contest))
}

/// The same for a comparison of tasks and policies that come with the program.
pub(in crate::commands) fn about_contest(app: &Console, contest: &Contest) -> ReportHeader {
    let mut words = vec!["everloop compare".to_owned()];
    let mut say = |option: &str, value: &str| words.extend([option.to_owned(), quoted(value)]);
    say("--loops", &contest.loops.join(","));
    say("--models", &contest.models.join(","));
    contest.tasks.iter().for_each(|task| say("--task", &task.name));
    say("--seed", &contest.seed.to_string());
    say("--runs", &contest.repeats.to_string());
    header(app, contest, words.join(" "))
}

fn header(app: &Console, contest: &Contest, command: String) -> ReportHeader {
    let asks_endpoints = contest.models.iter().any(|name| !is_simulated(name));
    let limits = contest.loops.iter().map(|name| (name.clone(), limits(app, name)));
    ReportHeader {
        command,
        withheld: withheld_settings(app, asks_endpoints),
        limits: limits.collect(),
        version: build::VERSION.to_owned(),
        date: timestamp(SystemClock.now()),
    }
}

fn command(app: &Console, args: &args::CompareArgs, contest: &Contest) -> String {
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
    shown_settings(app).iter().for_each(|setting| say("--set", setting));
    words.join(" ")
}
