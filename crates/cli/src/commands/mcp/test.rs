//! `everloop mcp test`: whether an approved server works and still offers what was approved.

use super::failure;
use everloop_app::mcp_servers::{
    McpError, McpServerState, McpTestReport, find_server, test_server,
};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text::{self as text, TextOf};
use everloop_types::one_line;

pub(super) async fn test(app: &Console, name: &str, as_json: bool) -> Result<Exit, Failure> {
    let server = find_server(app, name).map_err(|error| failure(app, &error))?;
    let report = test_server(&server).await.map_err(|error| failure(app, &error))?;
    if as_json {
        terminal::print_json(&report);
    } else {
        print(app, &report);
    }
    if report.as_approved {
        return Ok(Exit::Done);
    }
    let (name, state) = (report.name, McpServerState::OtherTools);
    Err(failure(app, &McpError::NotApproved { name, state }))
}

fn print(app: &Console, report: &McpTestReport) {
    let works = text::mcp::Works { name: &report.name, tools: &report.tools, ms: &report.took_ms };
    terminal::print_line(&app.text(works.text()));
    let kinds: [(TextOf, _); 3] = [
        (text::mcp::added, &report.added),
        (text::mcp::removed, &report.removed),
        (text::mcp::changed, &report.changed),
    ];
    for (key, names) in kinds {
        names.iter().for_each(|name| terminal::print_line(&app.text(key(&one_line(name)))));
    }
}
