//! `everloop mcp approve`: a person sees the command before it runs, and the tools before a model
//! is offered them.

use super::{failure, find, out_words, treatment, unreached};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_mcp::{ApprovalStatus, Listing, OfferedTool, Server, ServerTransport};
use everloop_text::{self as text, Text};
use everloop_types::visible;

pub(super) async fn approve(app: &Console, name: &str, yes: bool) -> Result<Exit, Failure> {
    let server = find(app, name)?;
    let status = server.approval_status();
    if status == ApprovalStatus::Off {
        return Err(failure(app, Exit::Usage, text::mcp::off_advice, &server));
    }
    show_command(app, &server, &status);
    let command_is_known =
        matches!(status, ApprovalStatus::Good(_) | ApprovalStatus::OtherTools(..));
    if !command_is_known {
        agree(app, yes, text::mcp::ask_command(), &server).await?;
    }
    let seen = server.introduce().await.map_err(|error| unreached(app, &server, &error))?;
    let was = match &status {
        ApprovalStatus::Good(approved)
        | ApprovalStatus::OtherTools(approved, _)
        | ApprovalStatus::OtherCommand(approved) => Some(&approved.listing),
        ApprovalStatus::New | ApprovalStatus::Off => None,
    };
    show_tools(app, &server, was, &seen);
    let same = was.is_some_and(|was| was.digest() == seen.digest());
    if !(same && command_is_known) {
        agree(app, yes, text::mcp::ask_tools(), &server).await?;
    }
    let tools = seen.offers.len().to_string();
    let kept = server.approve(seen);
    kept.map_err(|error| app.failure(Exit::Data, text::mcp::not_kept(&error)))?;
    terminal::complain(&app.text(text::mcp::kept(&name, &tools)));
    Ok(Exit::Done)
}

fn show_command(app: &Console, server: &Server, status: &ApprovalStatus) {
    let way = &server.setting().way;
    let key = match way {
        ServerTransport::Command { .. } => text::mcp::command,
        ServerTransport::Address { .. } => text::mcp::address,
    };
    terminal::answer(&app.text(key(&super::way(server.setting()))));
    if let ApprovalStatus::OtherCommand(approved) = status {
        terminal::answer(&app.text(text::mcp::command_was(&approved.shown)));
    }
}

/// New and changed tools in the server's own words, because these are what a model will read.
fn show_tools(app: &Console, server: &Server, was: Option<&Listing>, seen: &Listing) {
    for offer in &seen.offers {
        match was.and_then(|was| was.offer(&offer.name)) {
            Some(known) if known.digest == offer.digest => {}
            Some(known) => show_change(app, known, offer),
            None => {
                let spec = offer.spec(server.setting());
                let line = app.text(text::mcp::added(&offer.name));
                terminal::answer(&format!("{line}  {}", treatment(app, &spec)));
                show_part("    ", &offer.description);
                // A model reads the words about parameters in every prompt.
                show_part("    ", &offer.schema.to_string());
            }
        }
    }
    let gone = was.into_iter().flat_map(|was| &was.offers);
    for known in gone.filter(|known| seen.offer(&known.name).is_none()) {
        terminal::answer(&app.text(text::mcp::removed(&known.name)));
    }
    for out in &seen.left_out {
        terminal::answer(&out_words(app, out));
    }
}

fn show_change(app: &Console, known: &OfferedTool, now: &OfferedTool) {
    terminal::answer(&app.text(text::mcp::changed(&now.name)));
    let hints = |offer: &OfferedTool| serde_json::to_string(&offer.hints).unwrap_or_default();
    let parts = [
        (known.description.clone(), now.description.clone()),
        (known.schema.to_string(), now.schema.to_string()),
        (hints(known), hints(now)),
    ];
    for (was, now) in parts.iter().filter(|(was, now)| was != now) {
        show_part("  - ", was);
        show_part("  + ", now);
    }
}

/// All of it: what is not shown here is not what a model may read. The listing has its own bounds.
fn show_part(before: &str, text: &str) {
    for line in visible(text).lines() {
        terminal::answer(&format!("{before}{line}"));
    }
}

/// Asks, unless `--yes` has answered.
async fn agree(app: &Console, yes: bool, question: Text, server: &Server) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !app.interactive {
        return Err(failure(app, Exit::NeedsPerson, text::mcp::needs_yes, server));
    }
    let question = app.text(question);
    match terminal::ask(&question).await.is_some_and(|said| everloop_text::means_yes(&said)) {
        true => Ok(()),
        false => Err(failure(app, Exit::NeedsPerson, text::mcp::left, server)),
    }
}
