//! `everloop approvals`: what was allowed for good, and how to withdraw it.

use crate::args::{self, ApprovalsVerb};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::approvals::{list_approvals, remove_approval};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::one_line;
use serde_json::json;

pub(crate) async fn approvals(app: &Console, args: args::ApprovalsArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    match args.verb {
        None => list(app, &store, args.json).await,
        Some(ApprovalsVerb::List { json }) => list(app, &store, json).await,
        Some(ApprovalsVerb::Remove { id, json }) => remove(app, &store, &id, json).await,
    }
}

async fn list(app: &Console, store: &Store, as_json: bool) -> Result<Exit, Failure> {
    let all = app.checked(list_approvals(store).await)?;
    if as_json {
        terminal::answer_json(&json!({ "data": all }));
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        app.note(text::approvals::none());
    }
    for one in &all {
        let cells = [&one.id, &one.at, &one.tool, &one.resource, &one.workspace];
        terminal::answer(&cells.map(|cell| one_line(cell)).join("  "));
    }
    Ok(Exit::Done)
}

async fn remove(app: &Console, store: &Store, id: &str, as_json: bool) -> Result<Exit, Failure> {
    let removed = app.checked(remove_approval(store, id).await)?;
    if as_json {
        terminal::answer_json(&json!({ "removed": removed }));
    } else {
        let (tool, resource) = (one_line(&removed.tool), one_line(&removed.resource));
        app.note(text::approvals::removed(&tool, &resource));
    }
    Ok(Exit::Done)
}
