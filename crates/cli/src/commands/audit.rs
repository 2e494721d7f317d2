//! `everloop audit`: tool calls, decisions, runs, permissions and facts, in lines or as JSON.

use crate::args::AuditArgs;
use everloop_app::audit_query::{AuditEvent, AuditNews, AuditQuery};
use everloop_console::show::AuditTable;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_engine::{Clock, SystemClock};
use everloop_text as text;

pub(crate) async fn audit(app: &Console, args: &AuditArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let now = SystemClock.now();
    let since = args.since.map_or(0, |ms| now.saturating_sub_unsigned(ms));
    let mut table = AuditTable::new(app);
    let run = match &args.run {
        Some(id) => Some(app.find_run(&store, id).await?),
        None => None,
    };
    let (tool, only_failed) = (args.tool.clone(), args.failed);
    let event = args.event.as_deref().and_then(AuditEvent::parse);
    let query = AuditQuery { run, tool, only_failed, since, until: None, event };
    let tell = |news: AuditNews<'_>| match (args.json.then(|| news.json()).flatten(), news) {
        (Some(line), _) => terminal::print_json(&line),
        (None, AuditNews::Call(row, call)) => table.call(row, call),
        (None, AuditNews::Step(row, step)) => table.step(row, step),
        (None, AuditNews::Fact(change)) => table.fact(change),
        (None, AuditNews::Deleted(row)) => table.deleted(row),
        (None, AuditNews::Unreadable(run, why)) => app.note(text::audit::unreadable(run, &why)),
        (None, AuditNews::Gaps(run)) => app.note(text::audit::gaps(run)),
    };
    let summary = app.checked(query.read(&store, tell).await)?;
    if !args.json {
        table.print();
    }
    if summary.left_out > 0 {
        app.note(text::audit::left_out(&summary.left_out));
    }
    // A journal that cannot be read is passed over; the exit code tells that something is missing.
    Ok(if summary.is_whole { Exit::Done } else { Exit::Data })
}
