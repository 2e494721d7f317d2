//! `everloop loops`: what each loop is, how it goes round, and what bounds it.

use super::run;
use crate::app::App;
use crate::args;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_loops::{AnyRun, LOOPS};
use everloop_text as text;
use serde_json::{Map, Value, json};

/// Settings that bound every run, whatever loop decides it.
const OF_ALL: [&str; 11] = [
    "loop.calls_per_reply",
    "loop.repetitions",
    "loop.evidence",
    "budget.model_calls",
    "budget.tool_calls",
    "budget.tokens",
    "budget.work_time",
    "budget.money",
    "delegate.max_depth",
    "delegate.max_children",
    "context.tokens",
];

pub(crate) fn loops(app: &App, args: &args::Loops) -> Result<Exit, Failure> {
    let names: Vec<&str> = match &args.name {
        Some(name) => {
            let name = run::loop_name(app, name)?;
            LOOPS.into_iter().filter(|known| *known == name).collect()
        }
        None => LOOPS.to_vec(),
    };
    if args.json {
        let all: Vec<Value> = names.iter().map(|name| as_json(app, name)).collect();
        terminal::answer(&json!({ "loops": all }).to_string());
        return Ok(Exit::Done);
    }
    if args.name.is_none() {
        let count = LOOPS.len().to_string();
        terminal::answer(&app.text(text::loops::head(&count)));
    }
    for name in names {
        terminal::answer(&format!("\n{}", explained(app, name)));
        if args.name.is_some() {
            terminal::answer(&bounds(app, name));
        }
    }
    if args.name.is_none() {
        terminal::answer(&format!("\n{}", app.text(text::loops::more())));
    }
    Ok(Exit::Done)
}

/// One line for each loop, with a mark before the one that is chosen.
pub(crate) fn short_list(app: &App, chosen: &str) -> String {
    let line = |name: &str| {
        let mark = if name == chosen { "*" } else { " " };
        format!("{mark} {}  {}", padded(name, 18), part(app, name, "does"))
    };
    let mut lines: Vec<String> = LOOPS.into_iter().map(line).collect();
    lines.push(app.text(text::loops::now(&chosen)));
    lines.join("\n")
}

/// A text about a loop: what it does, its picture, what it is good for.
fn part(app: &App, name: &str, what: &str) -> String {
    let name = name.replace('-', "_");
    text::loops::about::named(&format!("{name}.{what}")).map(|it| app.text(it)).unwrap_or_default()
}

fn is_default(app: &App, name: &str) -> bool {
    app.settings.text("loop.default") == name
}

fn explained(app: &App, name: &str) -> String {
    let title = match is_default(app, name) {
        true => app.text(text::loops::default(&name)),
        false => name.to_owned(),
    };
    let good = app.text(text::loops::good(&part(app, name, "good")));
    let body = [part(app, name, "does"), part(app, name, "picture"), good].join("\n");
    let body: Vec<String> = body.lines().map(|line| format!("  {line}")).collect();
    format!("{title}\n{}", body.join("\n"))
}

/// The step limit and every setting that has a say.
fn bounds(app: &App, name: &str) -> String {
    let unit = match name {
        "plan-replan" => text::loops::unit::step(),
        "plan-execute-think" => text::loops::unit::round(),
        _ => text::loops::unit::iteration(),
    };
    let (limit, unit) = (step_limit(app, name).to_string(), app.text(unit));
    let mut lines = vec![
        app.text(
            text::loops::Steps { limit: &limit, unit: &unit, key: &settings_of(name)[0] }.text(),
        ),
        app.text(text::loops::settings()),
    ];
    for (key, value) in values(app, name) {
        let means = text::loops::setting::named(key).map(|it| app.text(it)).unwrap_or_default();
        lines.push(format!("  {}  {}  {means}", padded(key, 24), padded(&value, 12)));
    }
    lines.into_iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn step_limit(app: &App, name: &str) -> u32 {
    let steps = run::limits(app, name).steps;
    match name {
        "plan-execute-think" => steps.max_steps.min(steps.rounds.max_rounds),
        _ => steps.max_steps,
    }
}

/// The settings that a loop of its own reads; the one that bounds its steps first.
fn settings_of(name: &str) -> Vec<&'static str> {
    let steps = if run::iterates(name) { "loop.max_iterations" } else { "loop.max_steps" };
    let other = if run::iterates(name) { vec!["loop.max_steps"] } else { Vec::new() };
    let own: &[&str] = match name {
        "plan-replan" => &[
            "loop.contract_retries",
            "loop.failure_rounds",
            "loop.repeated_questions",
            "loop.max_clarifications",
        ],
        "plan-execute-think" => {
            &["loop.preset", "loop.round_time", "loop.contract_retries", "loop.failure_rounds"]
        }
        "tool-driven" => {
            &["loop.reminders", "loop.unlisted_work", "loop.idle_list", "loop.completion_mark"]
        }
        "task-driven" => &["loop.item_retries", "loop.contract_retries"],
        "staged" | "hybrid" | "autonomous" => &["loop.contract_retries"],
        _ => &[],
    };
    [vec![steps], other, own.to_vec()].concat()
}

/// Each setting that has a say, as it is in force.
fn values(app: &App, name: &str) -> Vec<(&'static str, String)> {
    let keys = [settings_of(name), OF_ALL.to_vec()].concat();
    let all = app.sources.effective(&app.settings);
    let found = |key: &'static str| {
        let setting = all.iter().find(|setting| setting.key == key)?;
        Some((key, setting.value.clone()))
    };
    keys.into_iter().filter_map(found).collect()
}

fn as_json(app: &App, name: &str) -> Value {
    let settings: Map<String, Value> =
        values(app, name).into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    json!({
        "name": name,
        "default": is_default(app, name),
        "version": AnyRun::version(name),
        "does": part(app, name, "does"),
        "picture": part(app, name, "picture"),
        "good_for": part(app, name, "good"),
        "step_limit": step_limit(app, name),
        "settings": settings,
    })
}
