//! Scripts: what the model says, reply by reply.

use serde_json::{Value, json};

/// The text of a script file.
pub(crate) fn script(replies: &[Value]) -> String {
    json!({ "replies": replies }).to_string()
}

/// Says a text.
pub(crate) fn says(text: &str) -> Value {
    json!({ "text": text })
}

/// Calls one tool.
pub(crate) fn calls(tool: &str, args: Value) -> Value {
    json!({ "calls": [{ "tool": tool, "args": args }] })
}

/// A reply that is a JSON object, as plan-replan wants it.
pub(crate) fn reply(object: &Value) -> Value {
    says(&object.to_string())
}

/// The reply to `phase: plan`.
pub(crate) fn plan(items: &[&str]) -> Value {
    reply(&json!({ "status": "planned", "plan": items }))
}

/// A thought that wants a tool.
pub(crate) fn goes_on(tool: &str, input: Value) -> Value {
    reply(&json!({ "status": "continue", "current_step": "now",
                   "next_action": { "tool": tool, "input": input },
                   "question": null, "response": null }))
}

/// A thought that closes the current item.
pub(crate) fn thought(response: &str) -> Value {
    reply(&json!({ "status": "done", "current_step": "now", "next_action": null,
                   "question": null, "response": response }))
}

/// A thought that needs the user.
pub(crate) fn ask(question: &str) -> Value {
    reply(&json!({ "status": "ask_user", "current_step": "now", "next_action": null,
                   "question": question, "response": null }))
}

/// The reply to `phase: replan` that ends the run.
pub(crate) fn done(response: &str) -> Value {
    reply(&json!({ "status": "done", "response": response }))
}

/// The reply to `phase: replan` that goes on with other items; each says whether it is done.
pub(crate) fn replanned(items: &[(&str, bool)]) -> Value {
    let item = |(task, completed): &(&str, bool)| json!({"task": task, "completed": completed});
    let plan: Vec<Value> = items.iter().map(item).collect();
    reply(&json!({"status": "replanned", "plan": plan}))
}

/// The same reply, so slow that nothing but a kill or a cancel ends it.
pub(crate) fn slow(mut reply: Value) -> Value {
    reply["delay_ms"] = json!(600_000);
    reply
}
