//! What the scripted model of the tour answers.

use everloop_loops::LoopSpec;
use everloop_loops::replies::SampleTask;
use everloop_text as text;
use everloop_types::{Lang, Reply, ToolCall};
use serde_json::{Value, json};

/// How long the scripted model takes where the tour kills it: long enough to be caught.
const DELAY_MS: u64 = 1_500;

/// A poem is written and read; the run is killed before the last words.
pub(super) fn poem(lang: Lang) -> Value {
    let poem = text::tour::poem().in_lang(lang);
    let answer = text::tour::poem_answer().in_lang(lang);
    json!({"replies": [
        {"calls": [{"tool": "write_file", "args": {"path": "poem.txt", "content": poem}}]},
        {"calls": [{"tool": "read_file", "args": {"path": "poem.txt"}}]},
        {"text": answer, "delay_ms": DELAY_MS},
    ]})
}

/// Something is paid by a command that cannot be repeated; the run is killed while it works.
pub(super) fn pay(lang: Lang) -> Value {
    let pay = "echo paid >> ledger.txt; sleep 60";
    json!({"replies": [
        {"calls": [{"tool": "shell", "args": {"command": pay}}]},
        {"calls": [{"tool": "read_file", "args": {"path": "ledger.txt"}}]},
        {"text": text::tour::pay_answer().in_lang(lang)},
    ]})
}

/// The poem is read once, and its lines are counted.
pub(super) fn count(spec: &LoopSpec, lang: Lang) -> Value {
    let read = ("read_file".to_owned(), json!({"path": "poem.txt"}));
    let item = text::tour::count_item().in_lang(lang);
    let answer = text::tour::count_answer().in_lang(lang);
    let task = SampleTask::single(&item, vec![vec![read]], &answer);
    let replies: Vec<Value> = (spec.sample)(&task).iter().map(scripted).collect();
    json!({ "replies": replies })
}

/// A reply in the form of a scripted model's file.
fn scripted(reply: &Reply) -> Value {
    let args = |call: &ToolCall| serde_json::from_str(&call.args).unwrap_or(Value::Null);
    let call = |call: &ToolCall| json!({"tool": call.tool, "args": args(call)});
    let calls: Vec<Value> = reply.calls.iter().map(call).collect();
    if calls.is_empty() { json!({ "text": reply.text }) } else { json!({ "calls": calls }) }
}
