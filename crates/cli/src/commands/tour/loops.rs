//! The third scene: the same small task under every loop, one after the other.

use super::{Stage, indented};
use crate::exit::Failure;
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_loops::LoopSpec;
use everloop_loops::replies::SampleTask;
use everloop_text as text;
use everloop_types::{Reply, ToolCall};
use serde_json::{Value, json};

impl Stage<'_> {
    /// Each loop reads the poem once and says how long it is.
    pub(super) async fn every_loop(&self) -> Result<(), Failure> {
        let goal = self.text(text::tour::count_goal());
        let workspace = self.workspace().display().to_string();
        terminal::answer(&format!("$ everloop run --loop … \"{goal}\""));
        for spec in LoopSpec::all() {
            let name = spec.name;
            let path = self.folder.join(format!("{name}.json"));
            let script = json!({"replies": self.count_script(spec)});
            std::fs::write(&path, script.to_string()).map_err(|error| self.system(&error))?;
            let args = ["run", "--loop", name, "--workspace", &workspace, "--output-format"];
            let child = self.start(&path, &[&args[..], &["json", &goal]].concat())?;
            let output = child.wait_with_output().await.map_err(|error| self.system(&error))?;
            let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            terminal::answer(&indented(&self.told(name, &result)));
        }
        Ok(())
    }

    fn told(&self, name: &str, result: &Value) -> String {
        let number = |key: &str| result[key].as_u64().unwrap_or_default().to_string();
        let word = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
        self.app.text(
            text::tour::CountLine {
                name: &padded(name, 18),
                models: &number("model_calls"),
                tools: &number("tool_calls"),
                status: &word("status"),
                text: &word("text"),
            }
            .text(),
        )
    }

    /// What the scripted model says under this loop.
    fn count_script(&self, spec: &LoopSpec) -> Vec<Value> {
        let read = ("read_file".to_owned(), json!({"path": "poem.txt"}));
        let item = self.text(text::tour::count_item());
        let answer = self.text(text::tour::count_answer());
        let task = SampleTask::single(&item, vec![vec![read]], &answer);
        (spec.sample)(&task).iter().map(scripted).collect()
    }
}

/// A reply in the form of a scripted model's file.
fn scripted(reply: &Reply) -> Value {
    let args = |call: &ToolCall| serde_json::from_str(&call.args).unwrap_or(Value::Null);
    let call = |call: &ToolCall| json!({"tool": call.tool, "args": args(call)});
    let calls: Vec<Value> = reply.calls.iter().map(call).collect();
    if calls.is_empty() { json!({ "text": reply.text }) } else { json!({ "calls": calls }) }
}
