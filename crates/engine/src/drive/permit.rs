//! Permission for one call: by rules, by what stands, by `--yes`, or by a person.
//!
//! The facts are read here and weighed in [`crate::permission`].
//! Then the outcome is journaled, or a person is asked.
//!
//! A grant holds for exactly these arguments, once, and as long as policy and tool stay as they
//! were when it was asked for.

use super::ask::question_id;
use super::judge::{BARE, denied};
use super::{DriveError, Driver, Flow};
use crate::permission::{
    self, Concern, FreedomFacts, GrantFacts, Permission, PermissionFacts, StandingApproval,
    decide_permission,
};
use everloop_loops::{CallStage, OpenToolCall};
use everloop_ports::{CallPolicy, UnsandboxedReason};
use everloop_store::allow_for_good;
use everloop_text as text;
use everloop_text::Meaning;
use everloop_types::journal::{ApprovalAsked, ApprovalGiven, Kind};
use everloop_types::planted::{self, Bug};
use everloop_types::{
    Approval, Egress, LabelGuard, Observation, QuestionKind, Sends, Standing, ToolCall, Walls,
    Words, canonical, digest_json, one_line, stricter, visible, visible_call,
};
use serde_json::Value;

/// The last word of the id of a question about labels.
const LABELS: &str = "approve_labels";

/// The last word of the id of a question about a call of which no rule can be sure.
const VEILED: &str = "approve_veiled";

/// Whether an id is that of a question, or of the same one asked again.
pub(super) fn is_about(id: &str, question: &str) -> bool {
    id.strip_prefix(question).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Driver<'_> {
    /// Whether nobody has to be asked, by what the frame says.
    pub(super) fn is_free(&self, open: &OpenToolCall) -> bool {
        let call = &open.planned.call;
        let tool = self.tools.get(&call.tool);
        permission::is_free(FreedomFacts {
            handling: self.handling_of(call),
            rule: self.policy_says(call).map(|(decision, _)| decision),
            is_sensitive: tool.is_some_and(|tool| tool.is_delicate(&call.args)),
            is_blocked: self.held_by_labels(call).is_some(),
        })
    }

    /// What the tool's handling says in this run.
    fn handling_of(&self, call: &ToolCall) -> Option<Approval> {
        self.run.frame().tool(&call.tool).map(|tool| tool.handling.approval)
    }

    /// What the rules say about a call, and about the file that links make of it.
    fn policy_says(&self, call: &ToolCall) -> Option<(Approval, String)> {
        let frame = self.run.frame();
        let said = frame.policy.says(call, &frame.workspace);
        match self.with_resolved_path(call) {
            Some(real) => stricter(said, frame.policy.says(&real, &frame.workspace)),
            None => said,
        }
    }

    /// The same call by the path that links lead to, where that is another one.
    pub(super) fn with_resolved_path(&self, call: &ToolCall) -> Option<ToolCall> {
        let path = self.tools.get(&call.tool)?.leads_to(&call.args)?;
        let mut args: Value = serde_json::from_str(&call.args).ok()?;
        args["path"] = Value::String(path);
        Some(ToolCall { args: args.to_string(), ..call.clone() })
    }

    /// The way out that the run's labels close.
    fn held_by_labels(&self, call: &ToolCall) -> Option<Egress> {
        self.closed_way(call, Walls::Standing)
    }

    fn closed_way(&self, call: &ToolCall, walls: Walls) -> Option<Egress> {
        let (frame, holding) = (self.run.frame(), self.run.holding());
        if holding.untrusted.is_empty() {
            return None;
        }
        let guarded = !matches!(frame.policy.label_guard, None | Some(LabelGuard::Off));
        // A tool may reach further today than when the run was created.
        let today = self.tools.get(&call.tool).and_then(|tool| tool.spec().handling.flow.clone());
        let reaches = today.is_some_and(|flow| flow.sends == Sends::Anywhere);
        let walls = if reaches { Walls::None } else { walls };
        if !guarded {
            return None;
        }
        let real = self.with_resolved_path(call);
        let calls = [Some(call), real.as_ref()].into_iter().flatten();
        let mut ways = calls.filter_map(|call| frame.way_out(call, walls));
        ways.find(|way| holding.blocks(way))
    }

    /// Whether policy or tool are others than when permission was asked for.
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
    fn policy_hash(&self, call: &ToolCall) -> String {
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

    /// Permission by the run's policy, or a refusal, or a question to a person.
    pub(super) async fn permit(&mut self, open: OpenToolCall) -> Result<Flow, DriveError> {
        let call = open.planned.call.clone();
        let mut facts = self.permission_facts(&call).await;
        let mut permission = decide_permission(&facts);
        if permission == Permission::ReadStanding {
            facts.standing = self.standing_approval(&call).await?;
            permission = decide_permission(&facts);
        }
        if planted::is_on(Bug::ApprovalForOtherArguments)
            && permission == Permission::Ask(Concern::Call)
            && !self.begun_here.is_empty()
        {
            permission = Permission::Granted("person".to_owned());
        }
        match permission {
            Permission::Granted(by) => self.note_approval(&open, by, None),
            Permission::Denied(why) => self.note_seen(&open, denied(&why), 0),
            Permission::Ask(concern) => return self.ask_permission(open, &call, concern).await,
            // It was read above.
            Permission::ReadStanding => {}
        }
        Ok(Flow::GoOn)
    }

    /// All that permission for a call depends on, but for what a person allowed for good.
    async fn permission_facts(&self, call: &ToolCall) -> PermissionFacts {
        let policy = self.judge(call).await;
        let walls = match policy {
            CallPolicy::Unsandboxed(_) => Walls::None,
            _ => Walls::Standing,
        };
        let of_run = &self.run.frame().policy;
        PermissionFacts {
            handling: self.handling_of(call),
            rule: self.policy_says(call),
            blocked: self.closed_way(call, walls),
            policy,
            label_guard: of_run.label_guard,
            standing: StandingApproval::Unread,
            approve_all: of_run.approve_all,
            unattended: of_run.unattended,
        }
    }

    /// What "always" would cover, where that is more than this very call.
    fn scope_of_always(&self, call: &ToolCall) -> Option<Words> {
        let real = self.with_resolved_path(call);
        let wide = Standing::for_call(self.run.frame(), real.as_ref().unwrap_or(call), "", 0);
        let (kind, what) = wide.resource.split_once(':')?;
        let key = match kind {
            "path" => text::approve::always_path,
            "host" => text::approve::always_host,
            _ => return None,
        };
        Some(key(&one_line(&call.tool), &one_line(what)).words())
    }

    /// What a person has allowed before, for good.
    async fn standing_approval(&self, call: &ToolCall) -> Result<StandingApproval, DriveError> {
        let real = self.with_resolved_path(call);
        let wanted = Standing::for_call(self.run.frame(), real.as_ref().unwrap_or(call), "", 0);
        let standing = self.engine.store.approvals().find(&wanted).await;
        let standing = standing.map_err(|source| self.failed(source))?;
        Ok(standing.map_or(StandingApproval::Missing, |found| StandingApproval::Found(found.id)))
    }

    /// What a person is asked, and the last word of the question's id.
    fn permission_question(&self, call: &ToolCall, concern: Concern) -> (&'static str, Words) {
        match concern {
            Concern::Call => {
                let mut words = vec![question(call)];
                words.extend(self.scope_of_always(call));
                ("approve", Words::All(words))
            }
            Concern::Labels(way, None) => (LABELS, self.labels_question(call, &way)),
            // One answer for both: whoever gives it was told both.
            Concern::Labels(way, Some(reason)) => {
                let both = vec![self.labels_question(call, &way), bare_question(call, reason)];
                (BARE, Words::All(both))
            }
            Concern::Unsandboxed(reason) => (BARE, bare_question(call, reason)),
            Concern::Unclear(part) => {
                let (tool, args) = named(call);
                let veiled = text::approve::Veiled { tool: &tool, args: &args, part: &part };
                (VEILED, veiled.text().words())
            }
        }
    }

    /// No flag and no rule covers a call that may carry away what the run has read.
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

    /// A question to a person.
    async fn ask_permission(
        &mut self,
        open: OpenToolCall,
        call: &ToolCall,
        concern: Concern,
    ) -> Result<Flow, DriveError> {
        let (word, words) = self.permission_question(call, concern);
        // One that lapsed had an id already.
        let id = match open.stage {
            CallStage::Planned => question_id(&open, word),
            _ => format!("{}.{}", question_id(&open, word), self.run.last_seq()),
        };
        let policy_hash = self.policy_hash(call);
        let asked = ApprovalAsked { args_hash: digest_json(call), policy_hash };
        self.note(Some(open.effect.clone()), Kind::ApprovalAsked(asked));
        let words = with_last_line(call, &words);
        self.put(id, QuestionKind::Approve, call, canonical(&call.args), &words).await
    }

    /// What a person answered to a question for permission.
    pub(super) fn take_permission(
        &mut self,
        open: &OpenToolCall,
        id: &str,
        text: &str,
        by: String,
    ) {
        let call = &open.planned.call;
        let about = |word| is_about(id, &question_id(open, word));
        match everloop_text::meaning(text) {
            // Surfaces ask again about what is unclear. What comes here anyway allows nothing.
            Meaning::No { .. } | Meaning::Edit | Meaning::Unclear => {
                let why = format!(
                    "the user did not allow this call; nothing was done; they said: {text}"
                );
                self.note_seen(open, Observation::denied(why), 0);
            }
            // Without walls each call is asked about on its own.
            Meaning::Yes => self.note_approval(open, by, None),
            Meaning::Always if about(BARE) || about(VEILED) => {
                self.note_approval(open, by, None);
            }
            Meaning::Always if about(LABELS) => {
                let way = self.held_by_labels(call);
                self.note_approval(open, by, way.map(|way| way.place));
            }
            Meaning::Always => {
                let (frame, now) = (self.run.frame(), self.engine.clock.now());
                let real = self.with_resolved_path(call);
                let standing = Standing::for_call(frame, real.as_ref().unwrap_or(call), &by, now);
                self.note_approval(open, format!("{by}, always: {}", standing.id), None);
                self.pending.writes.push(allow_for_good(&standing));
            }
        }
    }

    /// An answer counts under the policy that it was asked for under.
    fn note_approval(&mut self, open: &OpenToolCall, by: String, releases: Option<String>) {
        let call = &open.planned.call;
        let policy_hash = match open.stage {
            CallStage::Asked(_) => open.policy_hash.clone(),
            _ => self.policy_hash(call),
        };
        let given = ApprovalGiven { args_hash: digest_json(call), by, policy_hash, releases };
        self.note(Some(open.effect.clone()), Kind::ApprovalGiven(given));
    }
}

/// The tool and its arguments, as a question shows them.
fn named(call: &ToolCall) -> (String, String) {
    (one_line(&call.tool), visible_call(&canonical(&call.args)))
}

fn question(call: &ToolCall) -> Words {
    let (tool, args) = named(call);
    text::approve::question(&tool, &args).words()
}

/// Characters of a call that a question may have without a last line about it.
const SHORT_CHARS: usize = 400;

/// Characters of a long call that the last line of its question repeats.
const START_CHARS: usize = 80;

/// The question, and for a long call a last line that says what is asked: the first lines may have
/// left the screen, and what stands above may look like another question.
fn with_last_line(call: &ToolCall, words: &Words) -> Words {
    let args = visible(&canonical(&call.args));
    let count = args.chars().count();
    if count <= SHORT_CHARS {
        return words.clone();
    }
    let start = args.split_whitespace().collect::<Vec<_>>().join(" ");
    let start: String = start.chars().take(START_CHARS).collect();
    Words::All(vec![
        words.clone(),
        text::approve::Long { tool: &call.tool, count: &count, start: &start }.text().words(),
    ])
}

/// The question about a call without walls.
fn bare_question(call: &ToolCall, why: UnsandboxedReason) -> Words {
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
        assert_eq!(shown, "{\"command\":\"touch E1 \\u{202e}\"}");
    }
}
