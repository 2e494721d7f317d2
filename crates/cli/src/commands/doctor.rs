//! `everloop doctor`: what is there and whether it works, in lines or as JSON.

use crate::args;
use crate::build;
use everloop_app::doctor::{BuildFacts, CheckState, DoctorReport, TerminalFacts};
use everloop_console::show::doctor::{self as words, CheckWords};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use serde_json::{Value, json};
use std::io::IsTerminal;
use unicode_width::UnicodeWidthStr;

/// Columns below which titles and findings are not set in columns.
const NARROW_COLUMNS: usize = 72;

pub(crate) async fn doctor(app: &Console, args: &args::DoctorArgs) -> Result<Exit, Failure> {
    let facts = BuildFacts { version: build::VERSION, commit: build::COMMIT, date: build::DATE };
    let mut report = DoctorReport::read(app, facts, terminal_facts()).await;
    words::add_fields(app, &mut report);
    let wrong = report.checks.iter().filter_map(|check| match check.state {
        CheckState::WrongSetting => Some(Exit::Configuration),
        CheckState::WrongData => Some(Exit::Data),
        CheckState::Good | CheckState::Note | CheckState::Missing => None,
    });
    // Settings come first: with wrong ones the other findings may be about another place.
    let exit = wrong.min_by_key(|exit| exit.code()).unwrap_or(Exit::Done);
    match args.json {
        true => print_json(app, report, exit),
        false => print_text(app, &report),
    }
    Ok(exit)
}

fn terminal_facts() -> TerminalFacts {
    let is_there = std::io::stdout().is_terminal();
    TerminalFacts {
        is_there,
        width: crossterm::terminal::size().ok().filter(|_| is_there).map(|(width, _)| width),
        utf8: terminal::speaks_utf8(),
        color: is_there && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

fn print_json(app: &Console, report: DoctorReport, exit: Exit) {
    let checks = report.checks.iter().map(|check| {
        let words = CheckWords::of(app, check);
        json!({"name": check.name, "state": check.state, "detail": words.detail,
               "advice": words.advice})
    });
    let checks: Vec<Value> = checks.collect();
    let mut fields = report.fields;
    fields.insert("ok".to_owned(), json!(exit == Exit::Done));
    fields.insert("checks".to_owned(), json!(checks));
    terminal::print_line(&Value::Object(fields).to_string());
}

fn print_text(app: &Console, report: &DoctorReport) {
    let marks = terminal::marks();
    let worded: Vec<(&str, CheckWords)> = report
        .checks
        .iter()
        .map(|check| {
            let mark = match check.state {
                CheckState::Good => marks.done,
                CheckState::Note => marks.open,
                _ => marks.failed,
            };
            (mark, CheckWords::of(app, check))
        })
        .collect();
    let widest = worded.iter().map(|(_, words)| words.title.width()).max().unwrap_or(0);
    for (mark, words) in &worded {
        // Two columns need room; elsewhere a finding stands right behind its title.
        let is_narrow = terminal::line_style().width < NARROW_COLUMNS;
        let room = " ".repeat(if is_narrow { 0 } else { widest - words.title.width() });
        let line = format!("{mark} {}{room}  {}", words.title, words.detail);
        let start = if is_narrow { 4 } else { mark.width() + widest + 3 };
        terminal::print_styled(&StyledLine::new(Tone::Plain, &line).hanging(start));
        for line in words.advice.iter().flat_map(|advice| advice.lines()) {
            terminal::print_line(&format!("    {} {line}", marks.act));
        }
    }
    let all = |name: &str| report.fields.get(name).and_then(Value::as_array).into_iter().flatten();
    let tools: Vec<&str> = all("tools").filter_map(Value::as_str).collect();
    terminal::print_line(&app.text(text::doctor::tools(&tools.join(", "))));
    let changed = all("settings").map(|setting| {
        let of = |name: &str| setting[name].as_str().unwrap_or_default().to_owned();
        format!("\n  {} = {}  ({})", of("key"), of("value"), of("origin"))
    });
    let changed: String = changed.collect();
    if !changed.is_empty() {
        terminal::print_line(&app.text(text::doctor::settings(&changed)));
    }
}
