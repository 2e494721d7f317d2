//! What another loop is given of a run: its transcript and its open plan, as plain messages.
//!
//! Calls and observations become text: a loop that speaks JSON contracts offers no tools, and
//! providers refuse tool messages where no tool is on offer.

use crate::AnyRun;
use everloop_types::{CallId, ItemState, Message, PlanItem, ToolCall};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CARRIED: &str = include_str!("prompts/carried.md");
const CLOSING: &str = include_str!("prompts/closing.md");

/// The messages with which a fork under another loop, or another version, begins.
#[must_use]
pub fn carried(run: &AnyRun) -> Vec<Message> {
    let mut calls = BTreeMap::new();
    let said = run.messages().iter().filter(|message| !matches!(message, Message::System { .. }));
    let mut messages: Vec<Message> = said.map(|message| plain(message, &mut calls)).collect();
    if messages.last().is_some_and(|last| last.text() == CLOSING) {
        messages.pop();
    }
    let plan = open_plan(&run.progress().items);
    messages.push(Message::user(format!("{}{plan}", CARRIED.trim_end())));
    messages
}

fn plain<'m>(message: &'m Message, calls: &mut BTreeMap<&'m CallId, &'m ToolCall>) -> Message {
    match message {
        Message::Assistant { text, calls: asked } => {
            calls.extend(asked.iter().map(|call| (&call.id, call)));
            let asked = asked.iter().map(|call| {
                json!({ "call": { "tool": call.tool, "input": input(call) } }).to_string()
            });
            let parts = [text.clone()].into_iter().filter(|text| !text.is_empty()).chain(asked);
            let text = parts.collect::<Vec<_>>().join("\n");
            Message::Assistant { text, calls: Vec::new() }
        }
        Message::Tool { call, text } => {
            let call = calls.get(call);
            let tool = call.map(|call| call.tool.as_str());
            let input = call.map(|call| input(call));
            let seen = json!({ "observation": { "tool": tool, "input": input, "result": text } });
            Message::user(seen.to_string())
        }
        other => other.clone(),
    }
}

fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.args).unwrap_or_else(|_| Value::from(call.args.as_str()))
}

fn open_plan(items: &[PlanItem]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let line = |item: &PlanItem| {
        let mark = if item.state == ItemState::Completed { "x" } else { " " };
        let claim = if item.is_only_claimed() { " (claimed, nothing behind it)" } else { "" };
        format!("\n- [{mark}] {}{claim}", item.text)
    };
    let lines: String = items.iter().map(line).collect();
    format!("\n\nThe plan so far:{lines}")
}
