//! `everloop mcp`: the servers of the settings, how they stand, and what they offer.
//!
//! ```text
//!   mcp           reads settings and approvals; runs nothing
//!   mcp test      runs a server that is approved, and compares what it offers
//!   mcp approve   shows the command, runs it once a person agreed, shows its tools, keeps the word
//! ```

mod approve;
mod test;

use crate::args;
use everloop_app::error::chain;
use everloop_app::mcp_servers::{McpError, McpServerInfo, McpServerState, shown_way};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_mcp::{ApprovalStatus, Listing, Server, SkipReason, SkippedTool};
use everloop_text::{self as text, Text};
use everloop_types::{Approval, EffectClass, ToolSpec, one_line};
use serde_json::json;

pub(crate) async fn mcp(app: &Console, args: args::McpArgs) -> Result<Exit, Failure> {
    match args.verb {
        Some(args::McpVerb::Test { name, json }) => test::test(app, &name, json).await,
        Some(args::McpVerb::Approve { name, yes }) => approve::approve(app, &name, yes).await,
        None => Ok(list(app, args.json)),
    }
}

fn list(app: &Console, as_json: bool) -> Exit {
    if as_json {
        terminal::print_json(&json!({ "servers": McpServerInfo::all(app) }));
        return Exit::Done;
    }
    let servers = app.servers(&app.settings);
    if servers.all().is_empty() {
        let file = app.home.config_file().display().to_string();
        terminal::print_line(&app.text(text::mcp::none(&file)));
    }
    for server in servers.all() {
        print(app, server);
    }
    Exit::Done
}

/// How a server stands, in words.
fn state_text(name: &str, state: McpServerState) -> Text {
    match state {
        McpServerState::Off => text::mcp::off(),
        McpServerState::New => text::mcp::new(&name),
        McpServerState::OtherCommand => text::mcp::other_command(&name),
        McpServerState::OtherTools => text::mcp::other_tools(&name),
        McpServerState::Approved => text::mcp::approved(),
    }
}

fn print(app: &Console, server: &Server) {
    let (marks, setting, standing) =
        (terminal::marks(), server.setting(), server.approval_status());
    let mark = match standing {
        ApprovalStatus::Good(_) => marks.done,
        ApprovalStatus::Off => marks.skipped,
        ApprovalStatus::New | ApprovalStatus::OtherCommand(_) | ApprovalStatus::OtherTools(..) => {
            marks.open
        }
    };
    let words = app.text(state_text(&setting.name, McpServerState::of(&standing)));
    terminal::print_line(&format!("{mark} {}  {words}", one_line(&setting.name)));
    terminal::print_line(&format!("    {}", one_line(&shown_way(setting))));
    if let ApprovalStatus::Good(approved) = &standing {
        print_tools(app, server, &approved.listing);
    }
}

/// Each tool with how it is treated, and those that are left out.
fn print_tools(app: &Console, server: &Server, listing: &Listing) {
    for offer in &listing.offers {
        let spec = offer.spec(server.setting());
        terminal::print_line(&format!("    {}  {}", one_line(&spec.name), treatment(app, &spec)));
    }
    for out in &listing.left_out {
        terminal::print_line(&format!("    {}", out_words(app, out)));
    }
}

fn treatment(app: &Console, spec: &ToolSpec) -> String {
    let key = match (spec.handling.class, spec.handling.approval) {
        (EffectClass::Pure, Approval::Allow) => text::mcp::tool_pure(),
        (EffectClass::Keyed, _) => text::mcp::tool_repeatable(),
        _ => text::mcp::tool_dangerous(),
    };
    app.text(key)
}

fn out_words(app: &Console, out: &SkippedTool) -> String {
    let key = match out.why {
        SkipReason::NameTooLong => text::mcp::out_name,
        SkipReason::SameName => text::mcp::out_same,
        SkipReason::TooLarge => text::mcp::out_large,
        SkipReason::TooMany => text::mcp::out_many,
        SkipReason::NoObject => text::mcp::out_schema,
        SkipReason::HiddenText => text::mcp::out_hidden,
    };
    app.text(key(&one_line(&out.name)))
}

/// Why a server cannot be used.
fn failure(app: &Console, error: &McpError) -> Failure {
    let (exit, text) = match error {
        McpError::UnknownServer { name, all } => {
            (Exit::Usage, text::mcp::no_server(name, &all.join(", ")))
        }
        McpError::NotApproved { name, state } => match state {
            McpServerState::Off => (Exit::Usage, text::mcp::off_advice(name)),
            McpServerState::New => (Exit::NeedsPerson, text::mcp::new_advice(name)),
            McpServerState::OtherCommand => {
                (Exit::NeedsPerson, text::mcp::other_command_advice(name))
            }
            McpServerState::OtherTools | McpServerState::Approved => {
                (Exit::NeedsPerson, text::mcp::other_tools_advice(name))
            }
        },
        McpError::Unreachable { name, log, source } => {
            let detail = &chain(source);
            let text = match log {
                Some(log) => text::mcp::NoStart { name, detail, log: &log.display() }.text(),
                None => text::mcp::no_answer(name, detail),
            };
            (Exit::Failed, text)
        }
        McpError::NotKept(error) => (Exit::Data, text::mcp::not_kept(error)),
    };
    app.failure(exit, text)
}
