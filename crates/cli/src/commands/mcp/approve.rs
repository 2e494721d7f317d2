//! `everloop mcp approve`: a person sees the command before it runs, and the tools before a model
//! is offered them.

use super::{failure, out_words, treatment};
use everloop_app::mcp_servers::{
    McpError, McpServerState, approved_listing, find_server, list_tools, shown_way,
};
use everloop_console::{Agreement, Console, Exit, Failure, terminal};
use everloop_mcp::{ApprovalStatus, Listing, OfferedTool, Server, ServerTransport};
use everloop_text::{self as text, Text};
use everloop_types::visible;

pub(super) async fn approve(app: &Console, name: &str, yes: bool) -> Result<Exit, Failure> {
    let fail = |error: McpError| failure(app, &error);
    let server = find_server(app, name).map_err(fail)?;
    let standing = server.approval_status();
    let state = McpServerState::of(&standing);
    if state == McpServerState::Off {
        return Err(fail(McpError::NotApproved { name: name.to_owned(), state }));
    }
    show_command(app, &server, &standing);
    let command_is_known = state.knows_command();
    if !command_is_known {
        app.agree(yes, agreement(name, text::mcp::ask_command())).await?;
    }
    let seen = list_tools(&server).await.map_err(fail)?;
    let was = approved_listing(&standing);
    show_tools(app, &server, was, &seen);
    let same = was.is_some_and(|was| was.digest() == seen.digest());
    if !(same && command_is_known) {
        app.agree(yes, agreement(name, text::mcp::ask_tools())).await?;
    }
    let tools = seen.offers.len().to_string();
    server.approve(seen).map_err(|error| fail(McpError::NotKept(error)))?;
    terminal::eprint_line(&app.text(text::mcp::kept(&name, &tools)));
    Ok(Exit::Done)
}

fn show_command(app: &Console, server: &Server, standing: &ApprovalStatus) {
    let way = &server.setting().way;
    let key = match way {
        ServerTransport::Command { .. } => text::mcp::command,
        ServerTransport::Address { .. } => text::mcp::address,
    };
    terminal::print_line(&app.text(key(&shown_way(server.setting()))));
    if let ApprovalStatus::OtherCommand(approved) = standing {
        terminal::print_line(&app.text(text::mcp::command_was(&approved.shown)));
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
                terminal::print_line(&format!("{line}  {}", treatment(app, &spec)));
                show_part("    ", &offer.description);
                // A model reads the words about parameters in every prompt.
                show_part("    ", &offer.schema.to_string());
            }
        }
    }
    let gone = was.into_iter().flat_map(|was| &was.offers);
    for known in gone.filter(|known| seen.offer(&known.name).is_none()) {
        terminal::print_line(&app.text(text::mcp::removed(&known.name)));
    }
    for out in &seen.left_out {
        terminal::print_line(&out_words(app, out));
    }
}

fn show_change(app: &Console, known: &OfferedTool, now: &OfferedTool) {
    terminal::print_line(&app.text(text::mcp::changed(&now.name)));
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
        terminal::print_line(&format!("{before}{line}"));
    }
}

fn agreement(name: &str, question: Text) -> Agreement {
    Agreement { question, needs_yes: text::mcp::needs_yes(&name), declined: text::mcp::left(&name) }
}
