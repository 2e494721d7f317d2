//! Standing approvals: what a person allowed once and for all, as narrow as it was asked.

use crate::pattern::{host_of, path_within};
use crate::{ConversationId, Frame, ToolCall, UtcMs, canonical, digest_bytes, digest_json};
use serde_json::Value;

/// A standing approval: calls of one tool, in one workspace, on one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingApproval {
    /// Follows from what it covers, so that the same answer twice is one approval.
    pub id: String,
    /// The folder.
    pub workspace: String,
    /// The tool.
    pub tool: String,
    /// `path:…`, `host:…`, `args:…`, `prefix:…` or `conversation:…`.
    pub resource: String,
    /// Who allowed it.
    pub by: String,
    /// When.
    pub at: UtcMs,
}

/// Bytes of arguments that are kept whole; longer ones are named by digest.
const ARGS_BYTES_MAX: usize = 2_000;

impl StandingApproval {
    /// The narrowest approval that covers this call again: its file, its host, or its arguments.
    #[must_use]
    pub fn for_call(frame: &Frame, call: &ToolCall, by: &str, at: UtcMs) -> Self {
        Self::for_resource(frame, call, resource(frame, call), by, at)
    }

    /// The approval for commands that fit a pattern, which the call's tool proposed.
    #[must_use]
    pub fn for_pattern(frame: &Frame, call: &ToolCall, pattern: &str) -> Self {
        Self::for_resource(frame, call, format!("prefix:{pattern}"), "", 0)
    }

    /// The approval for every call of the call's tool in one conversation.
    #[must_use]
    pub fn for_conversation(frame: &Frame, call: &ToolCall, conversation: &ConversationId) -> Self {
        Self::for_resource(frame, call, format!("conversation:{conversation}"), "", 0)
    }

    /// The same approval, given by somebody at a time.
    #[must_use]
    pub fn given(self, by: &str, at: UtcMs) -> Self {
        Self { by: by.to_owned(), at, ..self }
    }

    fn for_resource(frame: &Frame, call: &ToolCall, resource: String, by: &str, at: UtcMs) -> Self {
        let (workspace, tool) = (frame.workspace.clone(), call.tool.clone());
        let digest = digest_json(&(&workspace, &tool, &resource));
        Self { id: digest[..12].to_owned(), workspace, tool, resource, by: by.to_owned(), at }
    }

    /// Whether it covers what another one covers.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        (&self.workspace, &self.tool, &self.resource)
            == (&other.workspace, &other.tool, &other.resource)
    }
}

fn resource(frame: &Frame, call: &ToolCall) -> String {
    let spec = frame.tool(&call.tool);
    let named = spec.and_then(|spec| spec.handling.resource_arg.as_deref());
    let args: Value = serde_json::from_str(&call.args).unwrap_or(Value::Null);
    let value = |name: &str| args.get(name).and_then(Value::as_str);
    let found = match named {
        Some("path") => value("path")
            .and_then(|path| path_within(path, &frame.workspace))
            .map(|path| format!("path:{path}")),
        Some("url") => value("url").and_then(host_of).map(|host| format!("host:{host}")),
        _ => None,
    };
    found.unwrap_or_else(|| {
        let args = canonical(&call.args);
        match args.len() > ARGS_BYTES_MAX {
            true => format!("args:{}", digest_bytes(args.as_bytes())),
            false => format!("args:{args}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallId, Handling, ToolSpec};

    fn frame() -> Frame {
        let tool = |name: &str, resource: Option<&str>| ToolSpec {
            name: name.into(),
            handling: Handling { resource_arg: resource.map(str::to_owned), ..Handling::default() },
            ..ToolSpec::default()
        };
        let tools = vec![
            tool("write_file", Some("path")),
            tool("http_send", Some("url")),
            tool("git_push", Some("remote")),
            tool("shell", None),
        ];
        Frame { tools, workspace: "/work".into(), ..Frame::default() }
    }

    fn standing(tool: &str, args: &str) -> StandingApproval {
        let call = ToolCall { id: CallId::new("c"), tool: tool.into(), args: args.into() };
        StandingApproval::for_call(&frame(), &call, "user", 1)
    }

    #[test]
    fn it_covers_the_same_file_host_or_arguments_and_nothing_beside() {
        let same = [
            (
                "write_file",
                r#"{"path":"a.txt","content":"x"}"#,
                r#"{"content":"y","path":"./a.txt"}"#,
            ),
            ("http_send", r#"{"url":"https://a.example/x"}"#, r#"{"url":"https://A.example/y"}"#),
            ("shell", r#"{"command":"ls"}"#, r#"{ "command" : "ls" }"#),
        ];
        for (tool, one, other) in same {
            assert!(standing(tool, one).covers(&standing(tool, other)), "{tool}");
            assert_eq!(standing(tool, one).id, standing(tool, other).id);
        }
        let apart = [
            ("write_file", r#"{"path":"a.txt"}"#, r#"{"path":"b.txt"}"#),
            ("write_file", r#"{"path":"../a"}"#, r#"{"path":"../a","content":"x"}"#),
            ("http_send", r#"{"url":"https://a.example"}"#, r#"{"url":"https://a.example:444"}"#),
            ("http_send", r#"{"url":"https://a@b.c/1"}"#, r#"{"url":"https://a@b.c/2"}"#),
            ("shell", r#"{"command":"ls"}"#, r#"{"command":"ls -a"}"#),
            ("git_push", r#"{"remote":"o","branch":"a"}"#, r#"{"remote":"o","branch":"b"}"#),
        ];
        for (tool, one, other) in apart {
            assert!(!standing(tool, one).covers(&standing(tool, other)), "{tool} {other}");
        }
    }
}
