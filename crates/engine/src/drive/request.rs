//! What a person is asked to allow, as data: the call, why it is asked about, what "always" covers.

use super::review::CallReview;
use crate::permission::{Concern, PermissionFacts};
use everloop_ports::{CallPolicy, UnsandboxedReason};
use everloop_types::{
    Approval, ApprovalCause, ApprovalRequest, ApprovalScope, CallPreview, Egress, ToolCall,
};
use serde_json::Value;

impl CallReview<'_> {
    /// The request that goes with the question about a call.
    pub(super) async fn approval_request(
        &self,
        call: &ToolCall,
        facts: &PermissionFacts,
        concern: &Concern,
    ) -> ApprovalRequest {
        let preview = match self.tools.get(&call.tool) {
            Some(tool) => tool.preview(&call.args).await,
            None => CallPreview::Call,
        };
        ApprovalRequest {
            tool: call.tool.clone(),
            folder: self.run.frame().workspace.clone(),
            cause: self.cause(facts, concern),
            scopes: self.scopes(call, facts, concern, &preview),
            editable: self.editable_arg(call),
            preview,
        }
    }

    fn cause(&self, facts: &PermissionFacts, concern: &Concern) -> ApprovalCause {
        match (concern, &facts.rule, &facts.policy) {
            (Concern::Labels(way, unsandboxed), ..) => {
                self.labels_cause(way, unsandboxed.as_ref().map(words_of))
            }
            (Concern::Unsandboxed(reason), ..) => {
                ApprovalCause::Unsandboxed { why: words_of(reason) }
            }
            (Concern::Unclear(part), ..) => ApprovalCause::Unclear { part: part.clone() },
            (Concern::Call, Some((Approval::Ask, rule)), _)
            | (Concern::Call, _, CallPolicy::Ask(rule)) => {
                ApprovalCause::Rule { rule: rule.clone() }
            }
            (Concern::Call, _, CallPolicy::Sensitive) => ApprovalCause::SensitiveFile,
            (Concern::Call, ..) => ApprovalCause::Tool,
        }
    }

    fn labels_cause(&self, way: &Egress, unsandboxed: Option<String>) -> ApprovalCause {
        let holding = self.run.holding();
        ApprovalCause::Labels {
            untrusted: holding.untrusted.join("; "),
            private: holding.private.join("; "),
            place: way.place.clone(),
            to_later_runs: way.to_later_runs,
            unsandboxed,
        }
    }

    fn scopes(
        &self,
        call: &ToolCall,
        facts: &PermissionFacts,
        concern: &Concern,
        preview: &CallPreview,
    ) -> Vec<ApprovalScope> {
        match concern {
            Concern::Call => {}
            Concern::Labels(way, None) => {
                return vec![ApprovalScope::Place { place: way.place.clone() }];
            }
            Concern::Labels(_, Some(_)) | Concern::Unsandboxed(_) | Concern::Unclear(_) => {
                return Vec::new();
            }
        }
        let resource = self.standing_approval(call, "", 0).resource;
        let mut scopes = vec![ApprovalScope::Exact { resource }];
        if facts.allows_wide_approval() {
            if let CallPreview::Command { pattern: Some(pattern), .. } = preview {
                scopes.push(ApprovalScope::Prefix { pattern: pattern.clone() });
            }
            scopes.push(ApprovalScope::Conversation);
        }
        scopes
    }

    /// The pattern that the tool proposes for commands like this one.
    pub(super) async fn pattern(&self, call: &ToolCall) -> Option<String> {
        match self.tools.get(&call.tool)?.preview(&call.args).await {
            CallPreview::Command { pattern, .. } => pattern,
            _ => None,
        }
    }

    /// The one argument that a person may change: the text that the tool takes.
    fn editable_arg(&self, call: &ToolCall) -> Option<String> {
        let name = self.tools.get(&call.tool)?.spec().text_arg.clone()?;
        let args: Value = serde_json::from_str(&call.args).ok()?;
        args.get(&name)?.is_string().then_some(name)
    }
}

/// The same call with one argument changed.
pub(super) fn edited_call(call: &ToolCall, arg: &str, value: &str) -> Option<ToolCall> {
    let mut args: Value = serde_json::from_str(&call.args).ok()?;
    args[arg] = Value::String(value.to_owned());
    Some(ToolCall { args: args.to_string(), ..call.clone() })
}

fn words_of(reason: &UnsandboxedReason) -> String {
    match reason {
        UnsandboxedReason::Off => String::new(),
        UnsandboxedReason::Unavailable(why) => why.clone(),
    }
}
