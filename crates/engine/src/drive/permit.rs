//! Permission for one call: by rules, standing approvals, `--yes`, or a person.
//!
//! The facts are read in `review` and weighed in [`crate::permission`]. Here the outcome is
//! journaled, or a person is asked.
//!
//! A grant holds for exactly these arguments, once, and as long as policy and tool stay as they
//! were when it was asked for.

use super::ask::{QuestionAsker, question_id};
use super::judge::{BARE, denied};
use super::review::{LABELS, VEILED};
use super::{DriveError, Driver, LoopFlow};
use crate::permission::{Concern, Permission, StandingMatch, decide_permission};
use everloop_loops::{CallStage, OpenToolCall};
use everloop_store::allow_for_good;
use everloop_text as text;
use everloop_text::Meaning;
use everloop_types::journal::{ApprovalAsked, ApprovalGiven, EntryKind};
use everloop_types::planted::{self, Bug};
use everloop_types::{Observation, QuestionKind, ToolCall, Words, canonical, digest_json, visible};

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
        let mut facts = self.driver.review().permission_facts(&call).await;
        let mut permission = decide_permission(&facts);
        if permission == Permission::ReadStanding {
            facts.standing = self.standing_approval(&call).await?;
            permission = decide_permission(&facts);
        }
        if planted::is_on(Bug::ApprovalForOtherArguments)
            && permission == Permission::Ask(Concern::Call)
            && !self.driver.begun_here.is_empty()
        {
            permission = Permission::Granted("person".to_owned());
        }
        match permission {
            Permission::Granted(by) => self.note_approval(&open, by, None),
            Permission::Denied(why) => self.driver.note_seen(&open, denied(&why), 0),
            Permission::Ask(concern) => return self.ask_permission(open, &call, concern).await,
            // It was read above.
            Permission::ReadStanding => {}
        }
        Ok(LoopFlow::GoOn)
    }

    /// The standing approval that covers the call.
    async fn standing_approval(&self, call: &ToolCall) -> Result<StandingMatch, DriveError> {
        let wanted = self.driver.review().standing_approval(call, "", 0);
        let standing = self.driver.engine.store.approvals().find(&wanted).await;
        let standing = standing.map_err(|source| self.driver.failed(source))?;
        Ok(standing.map_or(StandingMatch::Missing, |found| StandingMatch::Found(found.id)))
    }

    /// A question to a person.
    async fn ask_permission(
        &mut self,
        open: OpenToolCall,
        call: &ToolCall,
        concern: Concern,
    ) -> Result<LoopFlow, DriveError> {
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
        let mut asker = QuestionAsker { driver: self.driver };
        asker.ask_question(id, QuestionKind::Approve, call, canonical(&call.args), &words).await
    }

    /// Takes the answer to a question for permission.
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
            // The user interface asks again if an answer is unclear. An unclear answer allows
            // nothing.
            Meaning::No { .. } | Meaning::Edit | Meaning::Unclear => {
                let why = format!(
                    "the user did not allow this call; nothing was done; they said: {text}"
                );
                self.driver.note_seen(open, Observation::denied(why), 0);
            }
            // Each call without a sandbox is asked about on its own.
            Meaning::Yes => self.note_approval(open, by, None),
            Meaning::Always if about(BARE) || about(VEILED) => {
                self.note_approval(open, by, None);
            }
            Meaning::Always if about(LABELS) => {
                let way = self.driver.review().blocked_egress(call);
                self.note_approval(open, by, way.map(|way| way.place));
            }
            Meaning::Always => {
                let now = self.driver.engine.clock.now();
                let standing = self.driver.review().standing_approval(call, &by, now);
                self.note_approval(open, format!("{by}, always: {}", standing.id), None);
                self.driver.pending.writes.push(allow_for_good(&standing));
            }
        }
    }

    /// Notes an approval with the policy under which it was asked for.
    fn note_approval(&mut self, open: &OpenToolCall, by: String, releases: Option<String>) {
        let call = &open.planned.call;
        let policy_hash = match open.stage {
            CallStage::Asked(_) => open.policy_hash.clone(),
            _ => self.driver.review().policy_hash(call),
        };
        let given = ApprovalGiven { args_hash: digest_json(call), by, policy_hash, releases };
        self.driver.note(Some(open.effect.clone()), EntryKind::ApprovalGiven(given));
    }
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
