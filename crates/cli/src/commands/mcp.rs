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
    ConnectError, Difference, LeftOut, Listing, Server, ServerSetting, Standing, Way, WhyOut,
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
fn state(server: &Server, standing: &Standing) -> (&'static str, Text) {
    let name = &server.setting().name;
    match standing {
        Standing::Off => ("off", text::mcp::off()),
        Standing::New => ("new", text::mcp::new(name)),
        Standing::OtherCommand(_) => ("other_command", text::mcp::other_command(name)),
        Standing::OtherTools(..) => ("other_tools", text::mcp::other_tools(name)),
        Standing::Good(_) => ("approved", text::mcp::approved()),
    }
}

/// How a server is reached, without the secrets that an address may hold.
fn way(setting: &ServerSetting) -> String {
    redact::shown(&setting.way.to_string())
}

/// What was approved, whether it still counts or not.
fn listing(standing: &Standing) -> Option<&Listing> {
    match standing {
        Standing::Good(approved)
        | Standing::OtherTools(approved, _)
        | Standing::OtherCommand(approved) => Some(&approved.listing),
        Standing::Off | Standing::New => None,
    }
}

fn shown(server: &Server) -> Value {
    let (setting, standing) = (server.setting(), server.standing());
    let kind = match setting.way {
        Way::Command { .. } => "command",
        Way::Address { .. } => "address",
    };
    let known = listing(&standing);
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
        "state": state(server, &standing).0,
        "trusted": setting.trusted,
        "tools": tools.collect::<Vec<_>>(),
        "left_out": left_out.map(|out| json!({"name": out.name, "why": out.why}))
            .collect::<Vec<_>>(),
    })
}

fn print(app: &Console, server: &Server) {
    let (marks, setting, standing) = (terminal::marks(), server.setting(), server.standing());
    let mark = match standing {
        Standing::Good(_) => marks.done,
        Standing::Off => marks.skipped,
        Standing::New | Standing::OtherCommand(_) | Standing::OtherTools(..) => marks.open,
    };
    let words = app.text(state(server, &standing).1);
    terminal::answer(&format!("{mark} {}  {words}", one_line(&setting.name)));
    terminal::answer(&format!("    {}", one_line(&way(setting))));
    if let Standing::Good(approved) = &standing {
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

fn out_words(app: &Console, out: &LeftOut) -> String {
    let key = match out.why {
        WhyOut::NameTooLong => text::mcp::out_name,
        WhyOut::SameName => text::mcp::out_same,
        WhyOut::TooLarge => text::mcp::out_large,
        WhyOut::TooMany => text::mcp::out_many,
        WhyOut::NoObject => text::mcp::out_schema,
        WhyOut::HiddenText => text::mcp::out_hidden,
    };
    app.text(key(&one_line(&out.name)))
}

/// What is new, gone or changed, one line each.
fn difference_lines(app: &Console, difference: &Difference) -> Vec<String> {
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
fn unreached(app: &Console, server: &Server, error: &ConnectError) -> Failure {
    let name = &server.setting().name;
    let detail = &everloop_app::error::chain(error);
    let text = match server.setting().way {
        Way::Command { .. } => {
            text::mcp::NoStart { name, detail, log: &server.log().display() }.text()
        }
        Way::Address { .. } => text::mcp::no_answer(name, detail),
    };
    app.failure(Exit::Failed, text)
}
