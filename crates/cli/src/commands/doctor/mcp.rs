//! MCP servers: how many are approved, and which wait for a person. Runs none.

use super::{Check, Report, State};
use crate::console::Console;
use everloop_mcp::Standing;
use everloop_text as text;

pub(super) fn servers(app: &Console, report: &mut Report) {
    let servers = app.servers(&app.settings);
    let (mut good, mut waiting) = (0_u32, Vec::new());
    for server in servers.all() {
        match server.standing() {
            Standing::Good(_) => good += 1,
            Standing::Off => {}
            Standing::New | Standing::OtherCommand(_) | Standing::OtherTools(..) => {
                waiting.push(server.setting().name.clone());
            }
        }
    }
    report.note("mcp_waiting", waiting.clone());
    let check = Check::good(
        app,
        "mcp",
        text::doctor::mcp(),
        app.text(text::doctor::mcp_count(&good, &waiting.len())),
    );
    report.checks.push(match waiting.first() {
        None => check,
        Some(first) => check.but(State::Note, app.text(text::mcp::new_advice(&first))),
    });
}
