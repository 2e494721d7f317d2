//! Reviews one call against the run's frame and today's tools, before permission is decided.
//!
//! Everything here only reads. What is journaled or asked is in `permit`.

use super::judge::BARE;
use crate::permission::{self, Concern, FreedomFacts, GrantFacts, PermissionFacts, StandingMatch};
use everloop_loops::{AnyRun, OpenToolCall};
use everloop_ports::{CallPolicy, Registry, UnsandboxedReason};
use everloop_text as text;
use everloop_types::{
    Approval, CallSandbox, Egress, LabelGuard, SendTarget, StandingApproval, ToolCall, UtcMs,
    Words, canonical, digest_json, one_line, stricter, visible, visible_call,
};
use serde_json::{Map, Value};

/// The last word of the id of a question about labels.
pub(super) const LABELS: &str = "approve_labels";

/// The last word of the id of a question about a call of which no rule can be sure.
pub(super) const VEILED: &str = "approve_veiled";

/// Reads the facts about calls of one run.
#[derive(Clone, Copy)]
pub(super) struct CallReview<'d> {
    pub(super) run: &'d AnyRun,
    pub(super) tools: &'d Registry,
}

impl CallReview<'_> {
    /// The standing approval that "always" would create for a call.
    pub(super) fn standing_approval(
        &self,
        call: &ToolCall,
        by: &str,
        now: UtcMs,
    ) -> StandingApproval {
        let real = self.with_resolved_path(call);
        StandingApproval::for_call(self.run.frame(), real.as_ref().unwrap_or(call), by, now)
    }

    /// The policy of a call's tool; the default if the tool is gone.
    pub(super) async fn call_policy(&self, call: &ToolCall) -> CallPolicy {
        match self.tools.get(&call.tool) {
            Some(tool) => tool.judge(&call.args).await,
            None => CallPolicy::Default,
        }
    }

    /// Whether the frame lets the call go without permission.
    pub(super) fn is_free(&self, open: &OpenToolCall) -> bool {
        let call = &open.planned.call;
        let tool = self.tools.get(&call.tool);
        permission::is_free(FreedomFacts {
            handling: self.handling_of(call),
            rule: self.policy_says(call).map(|(decision, _)| decision),
            is_sensitive: tool.is_some_and(|tool| tool.is_delicate(&call.args)),
            is_blocked: self.blocked_egress(call).is_some(),
            only_plans: self.run.frame().only_plans(call),
        })
    }

    /// What the tool's handling says in this run.
    fn handling_of(&self, call: &ToolCall) -> Option<Approval> {
        self.run.frame().tool(&call.tool).map(|tool| tool.handling.approval)
    }

    /// The rules about a call, and about the file that its path resolves to.
    fn policy_says(&self, call: &ToolCall) -> Option<(Approval, String)> {
        let frame = self.run.frame();
        let said = frame.policy.says(call, &frame.workspace);
        match self.with_resolved_path(call) {
            Some(real) => stricter(said, frame.policy.says(&real, &frame.workspace)),
            None => said,
        }
    }

    /// The same call with its path resolved through links, if that differs.
    pub(super) fn with_resolved_path(&self, call: &ToolCall) -> Option<ToolCall> {
        let path = self.tools.get(&call.tool)?.leads_to(&call.args)?;
        let mut args: Value = serde_json::from_str(&call.args).ok()?;
        args["path"] = Value::String(path);
        Some(ToolCall { args: args.to_string(), ..call.clone() })
    }

    /// The egress that the run's labels block.
    pub(super) fn blocked_egress(&self, call: &ToolCall) -> Option<Egress> {
        self.egress_of(call, CallSandbox::Active)
    }

    fn egress_of(&self, call: &ToolCall, sandbox: CallSandbox) -> Option<Egress> {
        let (frame, holding) = (self.run.frame(), self.run.holding());
        if holding.untrusted.is_empty() {
            return None;
        }
        let guarded = !matches!(frame.policy.label_guard, None | Some(LabelGuard::Off));
        // A tool may have more reach now than when the run was created.
        let today = self.tools.get(&call.tool).and_then(|tool| tool.spec().handling.flow.clone());
        let reaches = today.is_some_and(|flow| flow.sends == SendTarget::Anywhere);
        let sandbox = if reaches { CallSandbox::None } else { sandbox };
        if !guarded {
            return None;
        }
        let real = self.with_resolved_path(call);
        let calls = [Some(call), real.as_ref()].into_iter().flatten();
        let mut ways = calls.filter_map(|call| frame.way_out(call, sandbox));
        ways.find(|way| holding.blocks(way))
    }

    /// Whether policy or tool changed since permission was asked for.
    pub(super) fn has_lapsed(&self, open: &OpenToolCall) -> bool {
        let call = &open.planned.call;
        let now = self.tools.get(&call.tool).map(|_| self.policy_hash(call));
        permission::has_lapsed(GrantFacts {
            granted_under: &open.policy_hash,
            now: now.as_deref(),
            failed_attempts: open.failed_attempts,
        })
    }

    /// What a grant depends on beside the arguments: the policy, and the tool as it is now.
    pub(super) fn policy_hash(&self, call: &ToolCall) -> String {
        let tool = self.tools.get(&call.tool).map(|tool| {
            let spec = tool.spec();
            let flow = &spec.handling.flow;
            (&spec.description, &spec.schema, spec.handling.approval, flow)
        });
        let policy = &self.run.frame().policy;
        match self.with_resolved_path(call) {
            None => digest_json(&(policy, tool)),
            Some(real) => digest_json(&(policy, tool, real.args)),
        }
    }

    /// The facts that permission for a call depends on, without standing approvals.
    pub(super) async fn permission_facts(&self, call: &ToolCall) -> PermissionFacts {
        let policy = self.call_policy(call).await;
        let sandbox = match policy {
            CallPolicy::Unsandboxed(_) => CallSandbox::None,
            _ => CallSandbox::Active,
        };
        let of_run = &self.run.frame().policy;
        PermissionFacts {
            handling: self.handling_of(call),
            rule: self.policy_says(call),
            blocked: self.egress_of(call, sandbox),
            policy,
            label_guard: of_run.label_guard,
            standing: StandingMatch::Unread,
            approve_all: of_run.approve_all,
            unattended: of_run.unattended,
            only_plans: self.run.frame().only_plans(call),
        }
    }

    /// What "always" would cover, if that is more than this call.
    fn scope_of_always(&self, call: &ToolCall) -> Option<Words> {
        let wide = self.standing_approval(call, "", 0);
        let (kind, what) = wide.resource.split_once(':')?;
        let key = match kind {
            "path" => text::approve::always_path,
            "host" => text::approve::always_host,
            _ => return None,
        };
        Some(key(&one_line(&call.tool), &one_line(what)).words())
    }

    /// What a person is asked, and the last word of the question's id.
    pub(super) fn permission_question(
        &self,
        call: &ToolCall,
        concern: Concern,
    ) -> (&'static str, Words) {
        match concern {
            Concern::Call => {
                let mut words = vec![question(call)];
                words.extend(self.scope_of_always(call));
                ("approve", Words::All(words))
            }
            Concern::Labels(way, None) => (LABELS, self.labels_question(call, &way)),
            // One answer for both: the question names both.
            Concern::Labels(way, Some(reason)) => {
                let both =
                    vec![self.labels_question(call, &way), unsandboxed_question(call, reason)];
                (BARE, Words::All(both))
            }
            Concern::Unsandboxed(reason) => (BARE, unsandboxed_question(call, reason)),
            Concern::Unclear(part) => {
                let (tool, args) = named(call);
                let veiled = text::approve::Veiled { tool: &tool, args: &args, part: &part };
                (VEILED, veiled.text().words())
            }
        }
    }

    /// The question about a call that may send out what the run has read. No flag or rule covers
    /// it.
    fn labels_question(&self, call: &ToolCall, way: &Egress) -> Words {
        let holding = self.run.holding();
        let (tool, args) = &named(call);
        let untrusted = &visible(&holding.untrusted.join("; "));
        let private = &visible(&holding.private.join("; "));
        let place = &visible(&way.place);
        let question = if way.to_later_runs {
            text::approve::LabelsLater { tool, args, untrusted, place }.text()
        } else {
            text::approve::Labels { tool, args, untrusted, private, place }.text()
        };
        question.words()
    }
}

/// The tool and its arguments, as a question shows them: a command as it is typed, other arguments
/// as the tool reads them.
fn named(call: &ToolCall) -> (String, String) {
    let args = canonical(&call.args);
    (one_line(&call.tool), command_lines(&args).unwrap_or_else(|| visible_call(&args)))
}

/// The command, and below it what else is said. Its lines are set off, so that none of them looks
/// like a line of this program.
fn command_lines(args: &str) -> Option<String> {
    let mut args: Map<String, Value> = serde_json::from_str(args).ok()?;
    let Some(Value::String(command)) = args.remove("command") else { return None };
    // A command of the agenda has a mark of its own.
    let mark = if command.starts_with('/') { "" } else { "$ " };
    let mut lines = vec![format!("{mark}{}", visible_call(&command).replace('\n', "\n  "))];
    if !args.is_empty() {
        lines.push(visible_call(&Value::Object(args).to_string()));
    }
    Some(lines.join("\n"))
}

fn question(call: &ToolCall) -> Words {
    let (tool, args) = named(call);
    text::approve::question(&tool, &args).words()
}

/// The question about a call without a sandbox.
fn unsandboxed_question(call: &ToolCall, why: UnsandboxedReason) -> Words {
    let (tool, args) = named(call);
    match why {
        UnsandboxedReason::Off => text::approve::bare_off(&tool, &args).words(),
        UnsandboxedReason::Unavailable(why) => {
            text::approve::BareNone { tool: &tool, args: &args, why: &why }.text().words()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::named;
    use everloop_types::{CallId, ToolCall};

    #[test]
    fn a_question_shows_what_the_tool_reads_and_not_how_the_model_spelled_it() {
        let args = r#"{"command":"\u0074ouch\u0020E1 \u202e"}"#.to_owned();
        let call = ToolCall { id: CallId::new("c"), tool: "shell".to_owned(), args };
        let (_, shown) = named(&call);
        assert_eq!(shown, "$ touch E1 \\u{202e}");
    }

    #[test]
    fn a_question_shows_a_command_as_it_is_typed_and_other_arguments_as_they_are() {
        let shown = |args: &str| {
            let args = args.to_owned();
            named(&ToolCall { id: CallId::new("c"), tool: "shell".to_owned(), args }).1
        };
        let faked = r#"{"command":"ls\nAllow shell to run?"}"#;
        assert_eq!(shown(faked), "$ ls\n  Allow shell to run?");
        assert_eq!(shown(r#"{"path":"a.txt"}"#), r#"{"path":"a.txt"}"#);
        let timed = r#"{"command":"ls","timeout_s":5}"#;
        assert_eq!(shown(timed), "$ ls\n{\"timeout_s\":5}");
        assert_eq!(shown(r#"{"command":"/todo list"}"#), "/todo list");
    }
}
