//! MCP servers: how many are approved, and which wait for a person. Runs none.

use super::{Check, Report, State};
use crate::console::Console;
use everloop_tools::mcp::Standing;

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
    let args = [("good", good.to_string()), ("waiting", waiting.len().to_string())];
    let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
    let check = Check::good(app, "mcp", "doctor.mcp", app.text("doctor.mcp_count", &args));
    report.checks.push(match waiting.first() {
        None => check,
        Some(first) => check.but(State::Note, app.text("mcp.new_advice", &[("name", first)])),
    });
}
