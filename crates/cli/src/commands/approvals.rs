//! `everloop approvals`: what was allowed for good, and how to withdraw it.

use crate::args::{self, ApprovalsVerb};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::timestamp;
use crate::terminal;
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{StandingApproval, one_line};
use serde_json::{Value, json};

pub(crate) async fn approvals(app: &Console, args: args::Approvals) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    match args.verb {
        None => list(app, &store, args.json).await,
        Some(ApprovalsVerb::List { json }) => list(app, &store, json).await,
        Some(ApprovalsVerb::Remove { id, json }) => remove(app, &store, &id, json).await,
    }
}

async fn all(app: &Console, store: &Store) -> Result<Vec<StandingApproval>, Failure> {
    store.approvals().all().await.map_err(|error| app.store_failure(&error))
}

async fn list(app: &Console, store: &Store, as_json: bool) -> Result<Exit, Failure> {
    let all = all(app, store).await?;
    if as_json {
        let data: Vec<Value> = all.iter().map(object).collect();
        terminal::answer(&json!({ "data": data }).to_string());
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        app.note(text::approvals::none());
    }
    for standing in &all {
        let StandingApproval { id, tool, resource, workspace, at, .. } = standing;
        let cells = [id, &timestamp(*at), tool, resource, workspace];
        terminal::answer(&cells.map(|cell| one_line(cell)).join("  "));
    }
    Ok(Exit::Done)
}

/// An id may be given by its beginning, if only one begins so.
async fn remove(app: &Console, store: &Store, id: &str, as_json: bool) -> Result<Exit, Failure> {
    let all = all(app, store).await?;
    let found: Vec<&StandingApproval> =
        all.iter().filter(|standing| !id.is_empty() && standing.id.starts_with(id)).collect();
    let [standing] = found[..] else {
        let words = app.text(text::approvals::not_found(&id));
        return Err(Failure { exit: Exit::Usage, words });
    };
    store.approvals().withdraw(&standing.id).await.map_err(|error| app.store_failure(&error))?;
    match as_json {
        true => terminal::answer(&json!({ "removed": object(standing) }).to_string()),
        false => {
            let (tool, resource) = (one_line(&standing.tool), one_line(&standing.resource));
            app.note(text::approvals::removed(&tool, &resource));
        }
    }
    Ok(Exit::Done)
}

fn object(standing: &StandingApproval) -> Value {
    let StandingApproval { id, workspace, tool, resource, by, at } = standing;
    json!({"id": id, "tool": tool, "resource": resource, "workspace": workspace, "by": by,
           "at": timestamp(*at)})
}
