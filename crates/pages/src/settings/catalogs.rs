//! Tools, skills, MCP servers and approvals, as settings show them.

use crate::layout::PageFrame;
use crate::parts::{coded, icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// Tools or skills.
#[derive(Debug, Clone, Default)]
pub struct CatalogView {
    /// What is to be said of all of them.
    pub facts: Vec<(String, String)>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub items: Vec<CatalogItem>,
    /// What is said if there is none.
    pub none: String,
}

/// A tool or a skill.
#[derive(Debug, Clone)]
pub struct CatalogItem {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: String,
    /// How it stands, a cell each.
    pub cells: Vec<String>,
}

/// An MCP server.
#[derive(Debug, Clone)]
pub struct ServerItem {
    /// Its name.
    pub name: String,
    /// Its command or address.
    pub way: String,
    /// `approved`, `new`, `off`, …, as programs read it.
    pub state: &'static str,
    /// The word for it.
    pub words: String,
    /// Whether its command is known, so that it may be run.
    pub knows_command: bool,
    /// The tools that were approved, or those that it offers now and that nobody has approved.
    pub tools: Vec<ServerToolItem>,
    /// Whether the tools were listed now and wait for a decision.
    pub waits: bool,
    /// What went wrong.
    pub problem: Option<String>,
}

/// A tool of a server.
#[derive(Debug, Clone)]
pub struct ServerToolItem {
    /// As a model calls it.
    pub name: String,
    /// In the server's words.
    pub about: String,
    /// What a crash means for it, and whether a person is asked.
    pub state: String,
}

/// Approvals that stand, and the rules of the file.
#[derive(Debug, Clone, Default)]
pub struct ApprovalsView {
    /// What a person has allowed for good.
    pub standing: Vec<ApprovalItem>,
    /// The rules: tool, what it says, when.
    pub rules: Vec<(String, String, String)>,
}

/// Something that is allowed for good.
#[derive(Debug, Clone)]
pub struct ApprovalItem {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it covers.
    pub covers: String,
    /// Where it counts.
    pub place: String,
    /// Since when.
    pub since: String,
}

pub(super) fn catalog(frame: &PageFrame, view: &CatalogView) -> Markup {
    html! {
        @if !view.facts.is_empty() {
            dl.facts.sm.card-s { @for (name, value) in &view.facts {
                dt { (name) } dd { (coded(value)) } } }
        }
        @if view.items.is_empty() { p.hint { (view.none) } }
        @else {
            div.table-box.gap tabindex="0" role="region"
                aria-label=(frame.say(words::settings_page::tools())) {
                table.table {
                    thead { tr { @for name in &view.columns { th scope="col" { (name) } } } }
                    tbody { @for item in &view.items {
                        tr { th scope="row" { span.mono { (item.name) }
                                small.faint.block { (item.about) } }
                            @for cell in &item.cells { td { (cell) } } }
                    } }
                }
            }
        }
    }
}

pub(super) fn servers(frame: &PageFrame, all: &[ServerItem]) -> Markup {
    html! {
        p.dim { (frame.say(words::settings_page::servers_about())) }
        @if all.is_empty() { p.hint { (frame.say(words::settings_page::no_servers())) } }
        @for server in all { (server_card(frame, server)) }
    }
}

fn server_card(frame: &PageFrame, server: &ServerItem) -> Markup {
    let to = |verb: &str| format!("/do/mcp/{}/{verb}", server.name);
    let state = match server.state {
        "approved" => "succeeded",
        "off" => "canceled",
        _ => "waiting",
    };
    html! {
        article.card.mcp id={ "mcp-" (server.name) } {
            div.row.wrap {
                span.st data-s=(state) { (state_icon(state)) }
                h3 { (server.name) } span.grow {} span.faint.sm { (server.words) }
            }
            p.hint { (frame.say(words::settings_page::server_way())) }
            div.code { pre tabindex="0" { (server.way) } }
            @if let Some(problem) = &server.problem {
                p.hint.bad role="alert" { (icon("warn")) span.pre { (problem) } }
            }
            @if !server.tools.is_empty() {
                @let heading = if server.waits { words::settings_page::tools_offered() }
                    else { words::settings_page::tools_approved() };
                h4.sub { (frame.say(heading)) " " (server.tools.len()) }
                ul.mcp-tools { @for tool in &server.tools {
                    li { b.mono { (tool.name) } " " span.faint.sm { (tool.state) }
                        p.hint.pre { (tool.about) } }
                } }
            }
            div.row.wrap {
                @if server.waits {
                    (frame.form(&to("approve")).button("btn ink sm", &[],
                        html! { (frame.say(words::settings_page::approve_tools())) }))
                    (frame.form(&to("deny")).button("btn sm", &[],
                        html! { (frame.say(words::settings_page::deny_tools())) }))
                } @else if server.state != "off" {
                    @let label = if server.knows_command { words::settings_page::list_tools() }
                        else { words::settings_page::run_and_list() };
                    (frame.form(&to("look")).button("btn sm", &[],
                        html! { (icon("play")) (frame.say(label)) }))
                }
            }
        }
    }
}

pub(super) fn approvals(frame: &PageFrame, view: &ApprovalsView) -> Markup {
    html! {
        h3.sub { (frame.say(words::settings_page::standing())) }
        @if view.standing.is_empty() {
            p.hint { (frame.say(words::settings_page::no_standing())) }
        } @else {
            div.table-box tabindex="0" role="region"
                aria-label=(frame.say(words::settings_page::standing())) {
                table.table { tbody { @for one in &view.standing {
                    @let to = format!("/do/approvals/{}/remove", one.id);
                    tr {
                        th.mono scope="row" { (one.tool) }
                        td { span.mono { (one.covers) } small.faint.block { (one.place) } }
                        td.faint.nowrap { (one.since) }
                        td.num {
                            form.one method="post" action=(to) data-do {
                                (frame.form(&to).hidden())
                                button.btn.ghost.sm aria-label={
                                    (frame.say(words::settings_page::withdraw())) ": " (one.tool) " "
                                    (one.covers) } {
                                    (frame.say(words::settings_page::withdraw()))
                                }
                            }
                        }
                    }
                } } }
            }
        }
        h3.sub { (frame.say(words::settings_page::rules())) }
        @if view.rules.is_empty() { p.hint { (frame.say(words::settings_page::no_rules())) } }
        @else {
            div.table-box tabindex="0" role="region"
                aria-label=(frame.say(words::settings_page::rules())) {
                table.table { tbody { @for (tool, decision, when) in &view.rules {
                    tr { th.mono scope="row" { (tool) } td { (decision) } td.mono.faint { (when) } }
                } } }
            }
        }
        h3.sub { (frame.say(words::settings_page::all_settings())) }
    }
}
