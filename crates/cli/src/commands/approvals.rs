//! `everloop approvals`: what was allowed for good, and how to withdraw it.

use crate::args::{self, ApprovalsVerb};
use everloop_app::approvals::{ApprovalCoverage, ApprovalInfo, list_approvals, remove_approval};
use everloop_console::show::ApprovalTable;
use everloop_console::show::approval::short_folder;
use everloop_console::{Console, Exit, Failure, terminal};
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
        terminal::print_json(&json!({ "data": all }));
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        terminal::print_line(&app.text(text::approvals::none()));
        return Ok(Exit::Done);
    }
    let mut table = ApprovalTable::new(app);
    all.iter().for_each(|one| table.row(one, &covers(app, one)));
    table.print();
    app.note(text::approvals::how_to_remove());
    Ok(Exit::Done)
}

/// What an approval covers, in words.
fn covers(app: &Console, one: &ApprovalInfo) -> String {
    let (tool, folder) = (&one_line(&one.tool), &short_folder(&one.workspace));
    app.text(match one.coverage() {
        ApprovalCoverage::Command(command) => {
            text::approvals::covers_command(&one_line(&command), folder)
        }
        ApprovalCoverage::Arguments(args) => {
            text::approvals::CoversArgs { tool, args: &one_line(&args), folder }.text()
        }
        ApprovalCoverage::Pattern(pattern) => {
            text::approvals::covers_pattern(&one_line(&pattern), folder)
        }
        ApprovalCoverage::Path(path) => {
            text::approvals::CoversPath { tool, path: &one_line(&path), folder }.text()
        }
        ApprovalCoverage::Host(host) => {
            text::approvals::CoversHost { tool, host: &one_line(&host), folder }.text()
        }
        ApprovalCoverage::Conversation(id) => {
            let conversation = &one_line(&id);
            text::approvals::CoversConversation { tool, conversation, folder }.text()
        }
    })
}

async fn remove(app: &Console, store: &Store, id: &str, as_json: bool) -> Result<Exit, Failure> {
    let removed = app.checked(remove_approval(store, id).await)?;
    if as_json {
        terminal::print_json(&json!({ "removed": removed }));
    } else {
        app.note(text::approvals::removed(&one_line(&removed.tool), &covers(app, &removed)));
    }
    Ok(Exit::Done)
}
