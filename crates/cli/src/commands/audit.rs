//! `everloop audit`: every tool call, in lines or as JSON.

use crate::args::AuditArgs;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::timestamp;
use crate::terminal;
use everloop_app::audit_query::{AuditNews, AuditQuery, call_json};
use everloop_engine::{AuditCall, Clock, SystemClock};
use everloop_store::RunRow;
use everloop_text::{self as text, Text};
use everloop_types::{canonical, one_line};

/// Characters of arguments and result in a line for people.
const SHOWN_CHARS: usize = 60;

pub(crate) async fn audit(app: &Console, args: &AuditArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let now = SystemClock.now();
    let since = args.since.map_or(0, |ms| now.saturating_sub_unsigned(ms));
    if !args.json {
        terminal::answer(&app.text(text::audit::heading()));
    }
    let run = match &args.run {
        Some(id) => Some(app.find_run(&store, id).await?),
        None => None,
    };
    let query = AuditQuery { run, tool: args.tool.clone(), only_failed: args.failed, since };
    let tell = |news: AuditNews<'_>| match news {
        AuditNews::Call(row, call) if args.json => terminal::answer_json(&call_json(row, call)),
        AuditNews::Call(row, call) => terminal::answer(&line(app, row, call)),
        AuditNews::Unreadable(run, detail) => app.note(text::audit::unreadable(run, &detail)),
        AuditNews::Gaps(run) => app.note(text::audit::gaps(run)),
    };
    let summary = app.checked(query.read(&store, tell).await)?;
    if summary.left_out > 0 {
        app.note(text::audit::left_out(&summary.left_out));
    }
    // A journal that cannot be read is passed over; the exit code tells that something is missing.
    Ok(if summary.is_whole { Exit::Done } else { Exit::Data })
}

fn line(app: &Console, row: &RunRow, call: &AuditCall) -> String {
    let took = call.end.duration_ms.map_or("-".to_owned(), |ms| format!("{ms}ms"));
    let run = row.run.as_str();
    let end = run.char_indices().rev().nth(7).map_or(run, |(at, _)| &run[at..]);
    let (end, tool) = (one_line(end), one_line(call.tool.as_deref().unwrap_or("?")));
    let by = match call.approved_by.as_deref() {
        Some("user") => app.text(text::by::user()),
        Some(by) => one_line(by),
        None => "-".to_owned(),
    };
    let imported = match row.origin.imported {
        true => app.text(text::audit::imported()),
        false => String::new(),
    };
    let ending = app.text(ending_text(call.end.ending));
    let result = short(&everloop_text::observed(app.lang, &call.end.result));
    let (at, args) = (timestamp(call.at), short(&canonical(&call.args)));
    let attempt = call.attempt;
    format!("{at}  {end}  {imported}{tool}  #{attempt}  {ending}  {took}  {by}  {args}  {result}")
}

fn ending_text(ending: &str) -> Text {
    match ending {
        "ok" => text::audit::ending::ok(),
        "error" => text::audit::ending::error(),
        "denied" => text::audit::ending::denied(),
        "timed_out" => text::audit::ending::timed_out(),
        "canceled" => text::audit::ending::canceled(),
        "open" => text::audit::ending::open(),
        "retried" => text::audit::ending::retried(),
        _ => text::audit::ending::unknown(),
    }
}

fn short(text: &str) -> String {
    let line = one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "-".to_owned(),
        None => line,
    }
}
