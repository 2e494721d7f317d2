//! `everloop audit`: every tool call, from the journals alone. One page at a time is in memory.

use crate::args::Audit;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::timestamp;
use crate::terminal;
use everloop_engine::{AuditCall, Auditor, Clock, SystemClock};
use everloop_store::{RunRow, Store};
use everloop_text::{self as text, Text};
use everloop_types::{RunId, UtcMs, canonical, one_line};

const RUNS_PER_PAGE: usize = 100;
const ENTRIES_PER_PAGE: usize = 500;

/// Characters of arguments and result in a line for people.
const SHOWN_CHARS: usize = 60;

pub(crate) async fn audit(app: &Console, args: &Audit) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let now = SystemClock.now();
    let since = args.since.map_or(0, |ms| now.saturating_sub_unsigned(ms));
    let failed = |error| app.store_failure(&error);
    if !args.json {
        terminal::answer(&app.text(text::audit::heading()));
    }
    if let Some(id) = &args.run {
        let run = app.find_run(&store, id).await?;
        let row = store.runs().get(&run).await.map_err(failed)?;
        return match row {
            Some(row) => one(app, &store, &row, args, since).await,
            None => Ok(Exit::Done),
        };
    }
    let (mut after, mut exit) = (None::<RunId>, Exit::Done);
    let mut left_out = 0_usize;
    loop {
        let page =
            store.runs().runs_since(since, after.as_ref(), RUNS_PER_PAGE).await.map_err(failed)?;
        for row in &page {
            // What a file says was done is no call of this machine.
            if row.origin.imported {
                left_out += 1;
                continue;
            }
            if one(app, &store, row, args, since).await? != Exit::Done {
                exit = Exit::Data;
            }
        }
        match page.last() {
            Some(last) => after = Some(last.run.clone()),
            None => break,
        }
    }
    if left_out > 0 {
        app.note(text::audit::left_out(&left_out));
    }
    Ok(exit)
}

/// The calls of one run. A journal that cannot be read is said to be so and passed over; the exit
/// code tells that something is missing.
async fn one(
    app: &Console,
    store: &Store,
    row: &RunRow,
    args: &Audit,
    since: UtcMs,
) -> Result<Exit, Failure> {
    let mut auditor = Auditor::new(row.origin.forked.as_ref());
    let wanted = |call: &AuditCall| {
        let named = args.tool.is_none() || args.tool == call.tool;
        // A copied call was made, and is told, by the run that it comes from.
        let own = !call.copied || args.run.is_some();
        call.at >= since && named && own && (!args.failed || call.has_failed())
    };
    let tell = |calls: Vec<AuditCall>| {
        for call in calls.iter().filter(|call| wanted(call)) {
            terminal::answer(&match args.json {
                true => json(row, call),
                false => line(app, row, call),
            });
        }
    };
    // A journal that was shortened has gaps.
    let is_short = row.times.trimmed_at.is_some();
    let (mut after, mut missing) = (0, false);
    loop {
        let page = match store.journal().entries(&row.run, after, ENTRIES_PER_PAGE).await {
            Ok(page) => page,
            Err(error) => {
                let (run, detail) = (row.run.as_str(), everloop_app::error::chain(&error));
                app.note(text::audit::unreadable(&run, &detail));
                return Ok(Exit::Data);
            }
        };
        let Some(last) = page.last() else { break };
        let (first, count) = (after + 1, i64::try_from(page.len()).unwrap_or(i64::MAX));
        after = last.seq;
        missing |= !is_short && first + count - 1 != after;
        for entry in &page {
            tell(auditor.entry(entry));
        }
    }
    tell(auditor.rest());
    // More may have come since the row was read; less means that something is gone.
    if missing || after + 1 < row.lease.next_seq {
        app.note(text::audit::gaps(&row.run));
        return Ok(Exit::Data);
    }
    Ok(Exit::Done)
}

fn json(row: &RunRow, call: &AuditCall) -> String {
    let mut told = call.json(row);
    told["time"] = timestamp(call.at).into();
    told.to_string()
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
