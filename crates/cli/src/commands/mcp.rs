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
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::settings::redact;
use everloop_mcp::{
    ApprovalStatus, Listing, ListingDifference, McpConnectError, Server, ServerSetting,
    ServerTransport, SkipReason, SkippedTool,
};
use everloop_text::{self as text, Text, TextOf};
use everloop_types::{Approval, EffectClass, ToolSpec, one_line};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) async fn mcp(app: &Console, args: args::Mcp) -> Result<Exit, Failure> {
    match args.verb {
        Some(args::McpVerb::Test { name, json }) => test::test(app, &name, json).await,
        Some(args::McpVerb::Approve { name, yes }) => approve::approve(app, &name, yes).await,
        None => Ok(list(app, args.json)),
    }
}

fn list(app: &Console, as_json: bool) -> Exit {
    let servers = app.servers(&app.settings);
    if as_json {
        let all: Vec<Value> = servers.all().iter().map(|server| shown(server)).collect();
        terminal::answer(&json!({ "servers": all }).to_string());
        return Exit::Done;
    }
    if servers.all().is_empty() {
        let file = app.home.config_file().display().to_string();
        terminal::answer(&app.text(text::mcp::none(&file)));
    }
    for server in servers.all() {
        print(app, server);
    }
    Exit::Done
}

/// The word for scripts and the words for people.
fn state(server: &Server, status: &ApprovalStatus) -> (&'static str, Text) {
    let name = &server.setting().name;
    match status {
        ApprovalStatus::Off => ("off", text::mcp::off()),
        ApprovalStatus::New => ("new", text::mcp::new(name)),
        ApprovalStatus::OtherCommand(_) => ("other_command", text::mcp::other_command(name)),
        ApprovalStatus::OtherTools(..) => ("other_tools", text::mcp::other_tools(name)),
        ApprovalStatus::Good(_) => ("approved", text::mcp::approved()),
    }
}

/// How a server is reached, without the secrets that an address may hold.
fn way(setting: &ServerSetting) -> String {
    redact::shown(&setting.way.to_string())
}

/// What was approved, whether it still counts or not.
fn listing(status: &ApprovalStatus) -> Option<&Listing> {
    match status {
        ApprovalStatus::Good(approved)
        | ApprovalStatus::OtherTools(approved, _)
        | ApprovalStatus::OtherCommand(approved) => Some(&approved.listing),
        ApprovalStatus::Off | ApprovalStatus::New => None,
    }
}

fn shown(server: &Server) -> Value {
    let (setting, status) = (server.setting(), server.approval_status());
    let kind = match setting.way {
        ServerTransport::Command { .. } => "command",
        ServerTransport::Address { .. } => "address",
    };
    let known = listing(&status);
    let tools = known.into_iter().flat_map(|known| &known.offers).map(|offer| {
        let spec = offer.spec(setting);
        json!({"name": spec.name, "class": spec.handling.class,
               "approval": spec.handling.approval, "description": offer.description})
    });
    let left_out = known.into_iter().flat_map(|known| &known.left_out);
    json!({
        "name": setting.name,
        "kind": kind,
        "way": way(setting),
        "state": state(server, &status).0,
        "trusted": setting.trusted,
        "tools": tools.collect::<Vec<_>>(),
        "left_out": left_out.map(|out| json!({"name": out.name, "why": out.why}))
            .collect::<Vec<_>>(),
    })
}

fn print(app: &Console, server: &Server) {
    let (marks, setting, status) = (terminal::marks(), server.setting(), server.approval_status());
    let mark = match status {
        ApprovalStatus::Good(_) => marks.done,
        ApprovalStatus::Off => marks.skipped,
        ApprovalStatus::New | ApprovalStatus::OtherCommand(_) | ApprovalStatus::OtherTools(..) => {
            marks.open
        }
    };
    let words = app.text(state(server, &status).1);
    terminal::answer(&format!("{mark} {}  {words}", one_line(&setting.name)));
    terminal::answer(&format!("    {}", one_line(&way(setting))));
    if let ApprovalStatus::Good(approved) = &status {
        print_tools(app, server, &approved.listing);
    }
}

/// Each tool with how it is treated, and those that are left out.
fn print_tools(app: &Console, server: &Server, listing: &Listing) {
    for offer in &listing.offers {
        let spec = offer.spec(server.setting());
        terminal::answer(&format!("    {}  {}", one_line(&spec.name), treatment(app, &spec)));
    }
    for out in &listing.left_out {
        terminal::answer(&format!("    {}", out_words(app, out)));
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

/// What is new, gone or changed, one line each.
fn difference_lines(app: &Console, difference: &ListingDifference) -> Vec<String> {
    let kinds: [(TextOf, _); 3] = [
        (text::mcp::added, &difference.added),
        (text::mcp::removed, &difference.removed),
        (text::mcp::changed, &difference.changed),
    ];
    let lines = kinds
        .into_iter()
        .flat_map(|(key, names)| names.iter().map(move |name| app.text(key(&one_line(name)))));
    lines.collect()
}

fn find(app: &Console, name: &str) -> Result<Arc<Server>, Failure> {
    let servers = app.servers(&app.settings);
    servers.get(name).cloned().ok_or_else(|| {
        let all: Vec<&str> = servers.all().iter().map(|it| it.setting().name.as_str()).collect();
        let words = app.text(text::mcp::no_server(&name, &all.join(", ")));
        Failure { exit: Exit::Usage, words }
    })
}

/// A failure that names the server.
fn failure(app: &Console, exit: Exit, text: TextOf, server: &Server) -> Failure {
    app.failure(exit, text(&server.setting().name))
}

/// Why a server could not be reached, and where its log is.
fn unreached(app: &Console, server: &Server, error: &McpConnectError) -> Failure {
    let name = &server.setting().name;
    let detail = &everloop_app::error::chain(error);
    let text = match server.setting().way {
        ServerTransport::Command { .. } => {
            text::mcp::NoStart { name, detail, log: &server.log().display() }.text()
        }
        ServerTransport::Address { .. } => text::mcp::no_answer(name, detail),
    };
    app.failure(Exit::Failed, text)
}
