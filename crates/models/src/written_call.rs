//! Calls that a model writes as text, though it was offered tools by its provider's own interface.
//!
//! One that can be read in one way only is taken as that call. Either way the model is known not
//! to call tools natively from then on.

use everloop_ports::{Delta, OnDelta};
use everloop_types::{
    CallId, Reply, StopCause, ToolCall, ToolSpec, begins_as_call, check_args, only_markup,
    written_call, written_calls,
};
use serde_json::Value;

/// What the text of a reply is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WrittenCall {
    /// Plain text.
    Answer,
    /// Exactly one call of a tool on offer, with arguments that fit.
    Call(ToolCall),
    /// Tool markup that means nothing, or more than one thing.
    Unclear,
}

/// Reads the text of a reply to a request that offered these tools.
pub(crate) fn read(text: &str, tools: &[&ToolSpec]) -> WrittenCall {
    let offered = |name: &str| tools.iter().find(|tool| tool.name == name);
    if let Some((name, args)) = written_call(text).or_else(|| action(text))
        && let Some(tool) = offered(&name)
        && let args = args.to_string()
        && check_args(tool, &args).is_ok()
    {
        return WrittenCall::Call(ToolCall { id: CallId::new(""), tool: name, args });
    }
    let is_call = || {
        let calls = written_calls(text).into_iter().chain(action(text));
        calls.into_iter().any(|(name, _)| offered(&name).is_some())
    };
    match only_markup(text) || begins_as_call(text) || is_call() {
        true => WrittenCall::Unclear,
        false => WrittenCall::Answer,
    }
}

/// `Action: name` and `Action Input: {…}` on the last lines, as prompts of an older kind taught it.
fn action(text: &str) -> Option<(String, Value)> {
    let (before, input) = text.trim().split_once("\nAction Input:")?;
    let name = before.lines().last()?.trim().strip_prefix("Action:")?.trim();
    let args: Value = serde_json::from_str(input.trim()).ok()?;
    args.is_object().then(|| (name.to_owned(), args))
}

/// The reply with the call that its text is.
pub(crate) fn salvaged(reply: Reply, call: ToolCall) -> Reply {
    let (text, calls) = (String::new(), vec![call]);
    Reply { text, calls, stop: StopCause::ToolCalls, salvaged: true, ..reply }
}

/// Streamed text for watchers. Text that may begin a written call is held back until it is
/// complete.
pub(crate) struct HeldText<'a> {
    on_delta: OnDelta<'a>,
    begun: String,
    is_through: bool,
}

impl<'a> HeldText<'a> {
    pub(crate) fn new(on_delta: OnDelta<'a>) -> Self {
        Self { on_delta, begun: String::new(), is_through: false }
    }

    pub(crate) fn take(&mut self, delta: Delta<'_>) {
        let Delta::Text(piece) = delta else { return (self.on_delta)(delta) };
        if self.is_through {
            return (self.on_delta)(delta);
        }
        self.begun.push_str(piece);
        let begun = self.begun.trim_start();
        match begun.chars().next() {
            None => {}
            // Reasoning is for watchers, too.
            Some('<') if begun.starts_with("<think>") => self.let_go(),
            Some('{' | '[' | '<' | '`') => {}
            Some(_) => self.let_go(),
        }
    }

    /// Shows what was held back: it is words.
    pub(crate) fn let_go(&mut self) {
        self.is_through = true;
        if !self.begun.is_empty() {
            (self.on_delta)(Delta::Text(&std::mem::take(&mut self.begun)));
        }
    }

    /// Shows the call that it was.
    pub(crate) fn become_call(&mut self, call: &ToolCall) {
        (self.on_delta)(Delta::CallStarted { index: 0, tool: &call.tool });
        (self.on_delta)(Delta::CallArgs { index: 0, args: &call.args });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool() -> ToolSpec {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}},
            "required": ["path"], "additionalProperties": false});
        ToolSpec { name: "list_dir".to_owned(), schema, ..ToolSpec::default() }
    }

    #[test]
    fn one_call_that_fits_is_a_call_and_what_only_looks_like_one_is_unclear() {
        let tool = tool();
        let read = |text: &str| read(text, &[&tool]);
        for text in [
            r#"{"name": "list_dir", "arguments": {"path": "."}}"#,
            "```json\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}\n```",
            "<tool_call>\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}\n</tool_call>",
            "<function=list_dir><parameter=path>.</parameter></function>",
            r#"[TOOL_CALLS][{"name": "list_dir", "arguments": {"path": "."}}]"#,
            "Thought: I look.\nAction: list_dir\nAction Input: {\"path\": \".\"}",
        ] {
            let WrittenCall::Call(call) = read(text) else { panic!("{text}: {:?}", read(text)) };
            assert_eq!((call.tool.as_str(), call.args.as_str()), ("list_dir", r#"{"path":"."}"#));
        }
        for text in [
            "<tools></tools>",
            "<tool_call></tool_call>",
            r#"{"name": "list_dir", "arguments": {}}"#,
            r#"{"name": "list_dir", "arguments": {"path": ".", "depth": 2}}"#,
            r#"[{"name":"list_dir","arguments":{"path":"a"}},{"name":"list_dir","arguments":{"path":"b"}}]"#,
            "<tool_call>{\"name\": \"list",
            "Action: list_dir\nAction Input: {}",
        ] {
            assert_eq!(read(text), WrittenCall::Unclear, "{text}");
        }
        for text in [
            "There are 3 files.",
            r#"{"files": 3}"#,
            r#"{"name": "Bob", "arguments": {}}"#,
            r#"A call looks like {"name": "list_dir", "arguments": {"path": "."}} there."#,
        ] {
            assert_eq!(read(text), WrittenCall::Answer, "{text}");
        }
    }
}
