//! What the last process left in the middle, in words.

use crate::app::App;
use crate::commands::runs::shown;
use crate::exit::Failure;
use crate::show::preview;
use everloop_store::{Orphan, Store};
use everloop_types::Status;

/// One line when it was, one for each run.
pub(super) async fn words(
    app: &App,
    store: &Store,
    orphans: &[Orphan],
) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    let mut left_at = 0;
    for orphan in orphans {
        let shown = shown(app, store, &orphan.run).await?;
        left_at = left_at.max(shown.history.entries.last().map_or(0, |entry| entry.at));
        let done = shown.progress.items.iter().filter(|item| item.is_done()).count();
        let (done, all) = (done.to_string(), shown.progress.items.len().to_string());
        let goal = preview(&orphan.goal);
        let args = [
            ("id", orphan.run.as_str()),
            ("goal", goal.as_str()),
            ("done", done.as_str()),
            ("all", all.as_str()),
        ];
        let key = match orphan.status_now {
            Status::Quarantined => "recovered.put_aside",
            _ if shown.progress.items.is_empty() => "recovered.run",
            _ => "recovered.run_at",
        };
        lines.push(app.text(key, &args));
    }
    if !lines.is_empty() {
        let reader = app.reader();
        let now = reader.now.strftime("%Y-%m-%d %H:%M").to_string();
        let args = [("left", reader.moment(left_at)), ("now", now)];
        let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
        lines.insert(0, app.text("recovered.head", &args));
    }
    Ok(lines)
}
