//! `everloop doctor`: what is there and whether it works. Reads only, and shows no key.
//!
//! Deliberately absent: opening the store, which would make a file or bring one up to date, and
//! asking the model, which costs tokens.

mod machine;
mod mcp;
mod model;
mod secrets;
mod store;
mod walls;

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::{build, terminal};
use everloop_loops::{AnyRun, LOOPS};
use everloop_text::{self as text, Text};
use serde_json::{Map, Value, json};

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Not wrong, but good to know.
    Note,
    /// Not there; everloop works all the same.
    Missing,
    /// Wrong, with the exit code that fits.
    Wrong(Exit),
}

/// One thing that was looked at.
struct Check {
    /// For scripts; never changes.
    name: &'static str,
    /// For people.
    title: String,
    state: State,
    detail: String,
    /// What to do about it, unless all is well.
    advice: Option<String>,
}

impl Check {
    fn good(app: &Console, name: &'static str, title: Text, detail: impl Into<String>) -> Self {
        let (title, detail) = (app.text(title), detail.into());
        Self { name, title, state: State::Good, detail, advice: None }
    }

    fn but(self, state: State, advice: String) -> Self {
        Self { state, advice: Some(advice), ..self }
    }
}

/// All that was seen: checks for people, fields for scripts.
#[derive(Default)]
struct Report {
    checks: Vec<Check>,
    fields: Map<String, Value>,
}

impl Report {
    fn note(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }
}

pub(crate) async fn doctor(app: &Console, args: &args::Doctor) -> Result<Exit, Failure> {
    let mut report = Report::default();
    itself(app, &mut report);
    machine::data_folder(app, &mut report);
    config_file(app, &mut report);
    store::database(app, &mut report).await;
    machine::language(app, &mut report);
    machine::time_zone(app, &mut report);
    machine::terminal(app, &mut report);
    model::model(app, &mut report).await;
    secrets::secrets(app, &mut report);
    machine::programs(app, &mut report);
    walls::walls(app, &mut report).await;
    mcp::servers(app, &mut report);
    machine::clock(app, &mut report);
    settings(app, &mut report);
    let wrong = report.checks.iter().filter_map(|check| match check.state {
        State::Wrong(exit) => Some(exit),
        State::Good | State::Note | State::Missing => None,
    });
    // Settings come first: with wrong ones the other findings may be about another place.
    let exit = wrong.min_by_key(|exit| exit.code()).unwrap_or(Exit::Done);
    match args.json {
        true => print_json(report, exit),
        false => print_text(app, &report),
    }
    Ok(exit)
}

fn itself(app: &Console, report: &mut Report) {
    report.checks.push(Check::good(app, "version", text::doctor::version(), build::VERSION));
    report.note("version", build::VERSION);
    report.note("commit", build::COMMIT);
}

fn config_file(app: &Console, report: &mut Report) {
    let path = app.sources.path.display().to_string();
    let mut loaded = app.sources.read();
    // Which database is meant is found out later than what the settings say.
    loaded.errors.clone_from(&app.faults);
    let text = app.sources.text.clone().unwrap_or_default();
    let words = super::config::fault_lines(app, &loaded, &text);
    let good =
        |detail: String| Check::good(app, "config_file", text::doctor::config_file(), detail);
    let check = match (words.is_empty(), app.sources.text.is_some()) {
        (true, true) => good(path.clone()),
        (true, false) => good(app.text(text::doctor::no_config_file(&path))),
        (false, _) => {
            let state = match loaded.errors.is_empty() {
                true => State::Note,
                false => State::Wrong(Exit::Configuration),
            };
            let detail = format!("{path}: {}", words.join("; "));
            good(detail).but(state, app.text(text::doctor::repair_config()))
        }
    };
    report.checks.push(check);
    report.note("config_file", path);
    report.note("config_file_exists", app.sources.path.exists());
    report.note("config_faults", words);
}

/// What differs from the defaults, and what a run here would have.
fn settings(app: &Console, report: &mut Report) {
    let all = app.sources.effective(&app.settings);
    let changed = all.iter().filter(|setting| setting.layer != "default");
    let changed = changed.map(|setting| {
        json!({"key": setting.key.as_str(), "value": setting.value, "layer": setting.layer,
               "origin": setting.origin})
    });
    report.note("settings", changed.collect::<Vec<_>>());
    report.note("tools", tools(app));
    report.note("loops", LOOPS.map(known_loop).to_vec());
}

/// The tools that a run in this folder would have.
fn tools(app: &Console) -> Vec<String> {
    let here = std::env::current_dir().ok();
    let registry = here
        .and_then(|here| app.environment(&app.settings).registry(here, &app.zone_name(), app.lang));
    let offered = everloop_app::environment::offered(&app.settings, &registry.unwrap_or_default());
    offered.into_iter().map(|spec| spec.name).collect()
}

/// The version governs how journals are folded; the fingerprint shows that two builds fold alike.
fn known_loop(name: &str) -> Value {
    let (version, fingerprint) = (AnyRun::version(name), AnyRun::fingerprint(name));
    json!({"name": name, "version": version, "fingerprint": fingerprint})
}

fn print_json(report: Report, exit: Exit) {
    let checks = report.checks.iter().map(|check| {
        let state = match check.state {
            State::Good => "ok",
            State::Note | State::Missing => "note",
            State::Wrong(_) => "wrong",
        };
        json!({"name": check.name, "state": state, "detail": check.detail,
               "advice": check.advice})
    });
    let checks: Vec<Value> = checks.collect();
    let mut fields = report.fields;
    fields.insert("ok".to_owned(), json!(exit == Exit::Done));
    fields.insert("checks".to_owned(), json!(checks));
    terminal::answer(&Value::Object(fields).to_string());
}

fn print_text(app: &Console, report: &Report) {
    use unicode_width::UnicodeWidthStr;
    let marks = terminal::marks();
    let widest = report.checks.iter().map(|check| check.title.width()).max().unwrap_or(0);
    for check in &report.checks {
        let mark = match check.state {
            State::Good => marks.done,
            State::Note => marks.open,
            State::Missing | State::Wrong(_) => marks.failed,
        };
        let room = " ".repeat(widest - check.title.width());
        terminal::answer(&format!("{mark} {}{room}  {}", check.title, check.detail));
        for line in check.advice.iter().flat_map(|advice| advice.lines()) {
            terminal::answer(&format!("    {} {line}", marks.act));
        }
    }
    let texts = |name: &str, show: &dyn Fn(&Value) -> String| {
        let values = report.fields.get(name).and_then(Value::as_array);
        values.into_iter().flatten().map(show).collect::<Vec<_>>().join(", ")
    };
    let plain = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = texts("tools", &plain);
    terminal::answer(&app.text(text::doctor::tools(&tools)));
    let setting = |it: &Value| {
        let of = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
        format!("\n  {} = {}  ({})", of("key"), of("value"), of("origin"))
    };
    let changed = texts("settings", &setting).replace(", \n", "\n");
    if !changed.is_empty() {
        terminal::answer(&app.text(text::doctor::settings(&changed)));
    }
}
