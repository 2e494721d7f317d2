//! The third scene: the same small task under every loop, one after the other.

use super::{Stage, indented};
use crate::exit::Failure;
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_loops::LOOPS;
use everloop_text as text;
use serde_json::{Value, json};

impl Stage<'_> {
    /// Each loop reads the poem once and says how long it is.
    pub(super) async fn every_loop(&self) -> Result<(), Failure> {
        let goal = self.text(text::tour::count_goal());
        let workspace = self.workspace().display().to_string();
        terminal::answer(&format!("$ everloop run --loop … \"{goal}\""));
        for name in LOOPS {
            let path = self.folder.join(format!("{name}.json"));
            let script = json!({"replies": self.count_script(name)});
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

    /// What the scripted model says, in the manner of each loop.
    fn count_script(&self, name: &str) -> Vec<Value> {
        let says = |text: &str| json!({ "text": text });
        let calls = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
        let object = |value: Value| json!({ "text": value.to_string() });
        let (read, answer) = (json!({"path": "poem.txt"}), self.text(text::tour::count_answer()));
        let item = self.text(text::tour::count_item());
        let list = |status: &str| {
            let todos = json!([{"id": "1", "content": item, "status": status}]);
            calls("todo_write", json!({"todos": todos, "merge": status != "pending"}))
        };
        let reads = calls("read_file", read.clone());
        match name {
            "react" => vec![reads, says(&answer)],
            "plan-execute-think" => {
                let steps = json!([{"tool": "read_file", "arguments": read}]);
                let think = json!({"user_summary": answer, "task_completed": true});
                let plan = json!({"steps": steps, "reasoning": item});
                vec![calls("plan_tool_call", plan), calls("think", think)]
            }
            "tool-driven" | "task-driven" => {
                vec![list("pending"), reads, list("completed"), says(&answer)]
            }
            "staged" => vec![list("pending"), reads, says(&item), says(&answer)],
            "hybrid" => {
                vec![list("pending"), reads, list("completed"), says(&item), says(&answer)]
            }
            "autonomous" => {
                let tool = format!("<tool name=\"read_file\">{read}</tool>");
                vec![says(&tool), says(&format!("<final>{answer}</final>"))]
            }
            _ => {
                let action = json!({"tool": "read_file", "input": read});
                let thought = |status: &str, action: Value, response: Value| {
                    object(json!({"status": status, "current_step": item, "next_action": action,
                                  "question": null, "response": response}))
                };
                vec![
                    object(json!({"status": "planned", "plan": [item]})),
                    thought("continue", action, Value::Null),
                    thought("done", Value::Null, json!(answer)),
                    object(json!({"status": "done", "response": answer})),
                ]
            }
        }
    }
}
