//! Permission for one call: by rules, standing approvals, `--yes`, or a person.
//!
//! The facts are read in `review` and weighed in [`crate::permission`]. Here the outcome is
//! journaled, or a person is asked.
//!
//! A grant holds for exactly these arguments, once, and as long as policy and tool stay as they
//! were when it was asked for.

use super::ask::{QuestionAsker, question_id};
use super::judge::{BARE, denied};
use super::request::edited_call;
use super::review::{LABELS, VEILED};
use super::{DriveError, Driver, LoopFlow};
use crate::permission::{Concern, Permission, PermissionFacts, StandingMatch, decide_permission};
use everloop_loops::{CallStage, OpenToolCall};
use everloop_store::allow_for_good;
use everloop_text as text;
use everloop_text::{AlwaysWord, PermissionAnswer};
use everloop_types::journal::{ApprovalAsked, ApprovalGiven, EntryKind};
use everloop_types::planted::{self, Bug};
use everloop_types::{
    ApprovalRequest, ApprovalScope, Observation, Question, QuestionKind, StandingApproval,
    ToolCall, Words, canonical, digest_json, visible,
};

/// Whether an id is that of a question, or of the same one asked again.
pub(super) fn is_about(id: &str, question: &str) -> bool {
    id.strip_prefix(question).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Decides whether a call may be made: it journals a permission or a refusal, or asks a person.
pub(super) struct PermissionGate<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl PermissionGate<'_, '_> {
    /// Permission by the run's policy, or a refusal, or a question to a person.
    pub(super) async fn permit(&mut self, open: OpenToolCall) -> Result<LoopFlow, DriveError> {
        let call = open.planned.call.clone();
        let (facts, mut permission) = self.decide(&call).await?;
        if planted::is_on(Bug::ApprovalForOtherArguments)
            && permission == Permission::Ask(Concern::Call)
            && !self.driver.begun_here.is_empty()
        {
            permission = Permission::Granted("person".to_owned());
        }
        match permission {
            Permission::Granted(by) => self.note_approval(&open, by, GrantReach::Once),
            Permission::Denied(why) => self.driver.note_seen(&open, denied(&why), 0),
            Permission::Ask(concern) => {
                return self.ask_permission(open, &facts, concern).await;
            }
            // It was read above.
            Permission::ReadStanding => {}
        }
        Ok(LoopFlow::GoOn)
    }

    /// The facts about a call, and what follows from them.
    async fn decide(&self, call: &ToolCall) -> Result<(PermissionFacts, Permission), DriveError> {
        let mut facts = self.driver.review().permission_facts(call).await;
        let mut permission = decide_permission(&facts);
        if permission == Permission::ReadStanding {
            facts.standing = self.standing_approval(call, &facts).await?;
            permission = decide_permission(&facts);
        }
        Ok((facts, permission))
    }

    /// The standing approval that covers the call: for exactly this call, for this conversation, or
    /// for commands like it.
    async fn standing_approval(
        &self,
        call: &ToolCall,
        facts: &PermissionFacts,
    ) -> Result<StandingMatch, DriveError> {
        let review = self.driver.review();
        let mut wanted = vec![review.standing_approval(call, "", 0)];
        if facts.allows_wide_approval() {
            let frame = self.driver.run.frame();
            let conversation = &self.driver.claim.conversation;
            wanted.push(StandingApproval::for_conversation(frame, call, conversation));
            let pattern = review.pattern(call).await;
            wanted.extend(pattern.map(|it| StandingApproval::for_pattern(frame, call, &it)));
        }
        for wanted in wanted {
            let standing = self.driver.engine.store.approvals().find(&wanted).await;
            if let Some(found) = standing.map_err(|source| self.driver.failed(source))? {
                return Ok(StandingMatch::Found(found.id));
            }
        }
        Ok(StandingMatch::Missing)
    }

    /// A question to a person.
    async fn ask_permission(
        &mut self,
        open: OpenToolCall,
        facts: &PermissionFacts,
        concern: Concern,
    ) -> Result<LoopFlow, DriveError> {
        let call = &open.planned.call;
        let request = self.driver.review().approval_request(call, facts, &concern).await;
        let (word, words) = self.driver.review().permission_question(call, concern);
        // A question that lapsed already used the id.
        let id = match open.stage {
            CallStage::Planned => question_id(&open, word),
            _ => format!("{}.{}", question_id(&open, word), self.driver.run.last_seq()),
        };
        let policy_hash = self.driver.review().policy_hash(call);
        let asked = ApprovalAsked { args_hash: digest_json(call), policy_hash };
        self.driver.note(Some(open.effect.clone()), EntryKind::ApprovalAsked(asked));
        let words = with_last_line(call, &words);
        let question = Question {
            id,
            kind: QuestionKind::Approve,
            call: call.id.clone(),
            text: canonical(&call.args),
            request: Some(Box::new(request)),
        };
        QuestionAsker { driver: self.driver }.ask_question(question, &words).await
    }

    /// Takes the answer to a question for permission.
    pub(super) async fn take_permission(
        &mut self,
        open: &OpenToolCall,
        id: &str,
        text: &str,
        by: String,
    ) -> Result<(), DriveError> {
        let about = |word| is_about(id, &question_id(open, word));
        match everloop_text::permission_answer(text) {
            // The user interface asks again if an answer is unclear. An unclear answer allows
            // nothing.
            PermissionAnswer::No { reason: None } => {
                let why = "the user did not allow this call; nothing was done".to_owned();
                self.driver.note_seen(open, Observation::denied(why), 0);
            }
            PermissionAnswer::No { .. } | PermissionAnswer::Unclear => {
                let reason = everloop_text::reason_of(text);
                let is_bare = matches!(
                    everloop_text::meaning(text),
                    everloop_text::Meaning::No { reason: None }
                );
                let mut why = "the user did not allow this call; nothing was done".to_owned();
                if reason.is_some() || !is_bare {
                    why.push_str(&format!("; they said: {}", reason.unwrap_or(text)));
                }
                self.driver.note_seen(open, Observation::denied(why), 0);
            }
            PermissionAnswer::Edit(value) => self.take_edit(open, &value, &by).await?,
            // Each call without a sandbox is asked about on its own.
            PermissionAnswer::Once => self.note_approval(open, by, GrantReach::Once),
            PermissionAnswer::Always(_) if about(BARE) || about(VEILED) => {
                self.note_approval(open, by, GrantReach::Once);
            }
            PermissionAnswer::Always(_) if about(LABELS) => {
                let way = self.driver.review().blocked_egress(&open.planned.call);
                let reach = way.map_or(GrantReach::Once, |way| GrantReach::Place(way.place));
                self.note_approval(open, by, reach);
            }
            PermissionAnswer::Always(scope) => {
                let Some(standing) = self.wanted_approval(open, scope) else {
                    self.note_approval(open, by, GrantReach::Once);
                    return Ok(());
                };
                let standing = standing.given(&by, self.driver.engine.clock.now());
                let by = format!("{by}, always: {}", standing.id);
                self.note_approval(open, by, GrantReach::Once);
                self.driver.pending.writes.push(allow_for_good(&standing));
            }
        }
        Ok(())
    }

    /// The approval that an answer of "always" creates; none if the question did not offer it.
    fn wanted_approval(&self, open: &OpenToolCall, scope: AlwaysWord) -> Option<StandingApproval> {
        let (call, frame) = (&open.planned.call, self.driver.run.frame());
        let offered = || request_of(open).map(|request| request.scopes.as_slice());
        match scope {
            AlwaysWord::Unsaid | AlwaysWord::Exact => {
                Some(self.driver.review().standing_approval(call, "", 0))
            }
            AlwaysWord::Prefix => offered()?.iter().find_map(|scope| match scope {
                ApprovalScope::Prefix { pattern } => {
                    Some(StandingApproval::for_pattern(frame, call, pattern))
                }
                _ => None,
            }),
            AlwaysWord::Here => {
                let conversation = &self.driver.claim.conversation;
                offered()?
                    .contains(&ApprovalScope::Conversation)
                    .then(|| StandingApproval::for_conversation(frame, call, conversation))
            }
            AlwaysWord::Number(_) => None,
        }
    }

    /// The person changed the call. It is checked as if the model had asked for it, and made only
    /// if nothing is asked about it that they were not asked about.
    async fn take_edit(
        &mut self,
        open: &OpenToolCall,
        value: &str,
        by: &str,
    ) -> Result<(), DriveError> {
        let call = &open.planned.call;
        let arg = request_of(open).and_then(|request| request.editable.as_deref());
        let Some(edited) = arg.and_then(|arg| edited_call(call, arg, value)) else {
            let why = format!("the user did not allow this call and wants instead: {value}");
            self.driver.note_seen(open, Observation::denied(why), 0);
            return Ok(());
        };
        let edited = self.driver.engine.store.redactor().value(edited);
        let (_, asked) = self.decide(call).await?;
        let (_, permission) = self.decide(&edited).await?;
        let why = match permission {
            Permission::Denied(why) => Some(why),
            Permission::Ask(Concern::Call) | Permission::Granted(_) | Permission::ReadStanding => {
                None
            }
            Permission::Ask(_) if permission == asked => None,
            Permission::Ask(_) => Some("it needs an approval of its own: call it".to_owned()),
        };
        match why {
            Some(why) => {
                let args = &edited.args;
                let why = format!(
                    "the user did not allow this call and wants it with {args} instead; that was \
                     not done either: {why}"
                );
                self.driver.note_seen(open, Observation::denied(why), 0);
            }
            None => self.note_approval(open, format!("{by}, edited"), GrantReach::Edited(edited)),
        }
        Ok(())
    }

    /// Notes an approval with the policy under which it was asked for.
    fn note_approval(&mut self, open: &OpenToolCall, by: String, reach: GrantReach) {
        let mut given = ApprovalGiven {
            args_hash: digest_json(&open.planned.call),
            by,
            policy_hash: match open.stage {
                CallStage::Asked(_) => open.policy_hash.clone(),
                _ => self.driver.review().policy_hash(&open.planned.call),
            },
            releases: None,
            edited_args: None,
        };
        match reach {
            GrantReach::Once => {}
            GrantReach::Place(place) => given.releases = Some(place),
            GrantReach::Edited(call) => {
                given.args_hash = digest_json(&call);
                given.policy_hash = self.driver.review().policy_hash(&call);
                given.edited_args = Some(call.args);
            }
        }
        self.driver.note(Some(open.effect.clone()), EntryKind::ApprovalGiven(given));
    }
}

/// What an approval covers beside this call.
enum GrantReach {
    /// Nothing.
    Once,
    /// Whatever the run sends to this place.
    Place(String),
    /// The call as the person changed it, in place of the model's.
    Edited(ToolCall),
}

/// What the open question of a call asks to allow.
fn request_of(open: &OpenToolCall) -> Option<&ApprovalRequest> {
    match &open.stage {
        CallStage::Asked(question) => question.request.as_deref(),
        _ => None,
    }
}

/// An outcome of a call that the person changed: the model reads what it was made with.
pub(super) fn with_edit(open: &OpenToolCall, seen: Observation) -> Observation {
    let args = &open.planned.call.args;
    let text = format!(
        "[the user changed the arguments of this call before allowing it; it was made with \
         {args}]\n{}",
        seen.text
    );
    Observation { text, ..seen }
}

/// Characters of a call that a question may have without a last line about it.
const SHORT_CHARS: usize = 400;

/// Characters of a long call that the last line of its question repeats.
const START_CHARS: usize = 80;

/// The question, and for a long call a last line that says what is asked: the first lines may have
/// left the screen, and the text above may look like another question.
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
