//! `everloop mcp test`: whether an approved server works and still offers what was approved.

use super::{difference_lines, failure, find, unreached};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_mcp::{ApprovalStatus, ListingDifference, Server, ServerApproval};
use everloop_text as text;
use serde_json::json;
use std::time::Instant;

pub(super) async fn test(app: &Console, name: &str, as_json: bool) -> Result<Exit, Failure> {
    let server = find(app, name)?;
    let approved = approved(app, &server)?;
    let begun = Instant::now();
    let seen = server.introduce().await.map_err(|error| unreached(app, &server, &error))?;
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let same = server.compare(&seen);
    let same = same.map_err(|error| app.failure(Exit::Data, text::mcp::not_kept(&error)))?;
    let difference = approved.listing.difference(&seen);
    match as_json {
        true => print_json(name, &difference, seen.offers.len(), took_ms, same),
        false => {
            let (tools, ms) = (seen.offers.len().to_string(), took_ms.to_string());
            terminal::answer(
                &app.text(text::mcp::Works { name: &name, tools: &tools, ms: &ms }.text()),
            );
            difference_lines(app, &difference).iter().for_each(|line| terminal::answer(line));
        }
    }
    match same {
        true => Ok(Exit::Done),
        false => Err(failure(app, Exit::NeedsPerson, text::mcp::other_tools_advice, &server)),
    }
}

/// Only a command that a person has approved is run.
fn approved(app: &Console, server: &Server) -> Result<ServerApproval, Failure> {
    let needs = |key| Err(failure(app, Exit::NeedsPerson, key, server));
    match server.approval_status() {
        ApprovalStatus::Good(approved) | ApprovalStatus::OtherTools(approved, _) => Ok(approved),
        ApprovalStatus::Off => Err(failure(app, Exit::Usage, text::mcp::off_advice, server)),
        ApprovalStatus::New => needs(text::mcp::new_advice),
        ApprovalStatus::OtherCommand(_) => needs(text::mcp::other_command_advice),
    }
}

fn print_json(name: &str, difference: &ListingDifference, tools: usize, took_ms: u64, same: bool) {
    let ListingDifference { added, removed, changed } = difference;
    let told = json!({"name": name, "tools": tools, "took_ms": took_ms, "as_approved": same,
                      "added": added, "removed": removed, "changed": changed});
    terminal::answer(&told.to_string());
}
