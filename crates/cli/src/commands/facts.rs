//! `everloop memory facts`, `add`, `accept` and the rest: what later runs are told.

use everloop_app::facts::{self as all, FactAuthor, FactDecision, FactEditor};
use everloop_console::show::facts::{decided, detail_lines, table};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_store::{FactFilter, FactRow, Store};
use everloop_text::{self as text, Text};
use everloop_types::FactStatus;
use serde_json::json;

/// Facts of one folder, or of all.
pub(crate) struct FactListing<'a> {
    pub(crate) status: Option<&'a str>,
    pub(crate) workspace: Option<&'a str>,
    pub(crate) limit: usize,
    pub(crate) json: bool,
}

pub(crate) async fn list(app: &Console, listing: FactListing<'_>) -> Result<Exit, Failure> {
    let statuses: Vec<FactStatus> = match listing.status {
        None => vec![FactStatus::Proposed, FactStatus::Active],
        Some("all") => FactStatus::ALL.to_vec(),
        Some(name) => {
            let unknown = || app.failure(Exit::Usage, text::facts::status::unknown(&name));
            vec![FactStatus::parse(name).ok_or_else(unknown)?]
        }
    };
    let store = app.open_to_read().await?;
    let mut rows = Vec::new();
    for status in statuses {
        let filter = FactFilter {
            status: Some(status),
            workspace: listing.workspace.map(str::to_owned),
            before: None,
            most: listing.limit,
        };
        rows.extend(app.checked(all::list(&store, &filter).await)?);
    }
    tell(app, &rows, listing.json, text::facts::none())
}

pub(crate) async fn search(
    app: &Console,
    workspace: &str,
    words: &str,
    as_json: bool,
) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let rows = app.checked(all::search(app, &store, Some(workspace), words).await)?;
    tell(app, &rows, as_json, text::facts::none_found(&words))
}

fn tell(app: &Console, rows: &[FactRow], as_json: bool, none: Text) -> Result<Exit, Failure> {
    if as_json {
        terminal::print_json(&json!({ "data": rows }));
    } else if rows.is_empty() {
        app.note(none);
    } else {
        terminal::print_line(&table(app, rows));
    }
    Ok(Exit::Done)
}

pub(crate) async fn add(
    app: &Console,
    workspace: Option<&str>,
    words: &str,
    as_json: bool,
) -> Result<Exit, Failure> {
    let store = app.open_store().await?;
    let author = FactAuthor { by: "user", workspace, conversation: None };
    let fact = app.checked(all::add(app, &store, author, words).await)?;
    changed(app, &[fact], as_json)
}

/// All of them are found before the first is changed.
pub(crate) async fn decide(
    app: &Console,
    ids: &[String],
    decision: FactDecision,
    as_json: bool,
) -> Result<Exit, Failure> {
    let store = app.open_store().await?;
    let mut found = Vec::new();
    for id in ids {
        found.push(find(app, &store, id).await?.id);
    }
    let mut rows = Vec::new();
    for id in found {
        let done = all::decide(app, &store, &id, decision, FactEditor::USER).await;
        rows.push(app.checked(done)?);
    }
    changed(app, &rows, as_json)
}

pub(crate) async fn edit(
    app: &Console,
    id: &str,
    words: &str,
    as_json: bool,
) -> Result<Exit, Failure> {
    let store = app.open_store().await?;
    let found = find(app, &store, id).await?;
    let fact = all::edit(app, &store, &found.id, words, FactEditor::USER).await;
    changed(app, &[app.checked(fact)?], as_json)
}

async fn find(app: &Console, store: &Store, id: &str) -> Result<FactRow, Failure> {
    app.checked(all::find(store, id).await)
}

fn changed(app: &Console, rows: &[FactRow], as_json: bool) -> Result<Exit, Failure> {
    if as_json {
        terminal::print_json(&json!({ "data": rows }));
    } else {
        rows.iter().for_each(|fact| terminal::print_line(&decided(app, fact)));
    }
    Ok(Exit::Done)
}

pub(crate) async fn show(app: &Console, id: &str, as_json: bool) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let fact = find(app, &store, id).await?;
    let details = app.checked(all::details(&store, fact).await)?;
    match as_json {
        true => terminal::print_json(&json!(details)),
        false => detail_lines(app, &details).iter().for_each(|line| terminal::print_line(line)),
    }
    Ok(Exit::Done)
}
