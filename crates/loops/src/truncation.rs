//! Replies in words that cannot be an answer: retried a few times, never accepted.
//!
//! Cut at their length limit, nothing but empty tool markup, or a call written as text. A call that
//! is unambiguous was read before it came here; what is left is told to the model.

use everloop_text as text;
use everloop_types::{
    Frame, ModelError, ModelErrorKind, Reason, Reply, StopCause, Words, begins_as_call,
    only_markup, written_calls,
};
use serde::{Deserialize, Serialize};

/// The message about a reply that was cut short.
const CUT: &str = include_str!("prompts/truncated.md");
/// The message about a call that cannot be read.
const WRITTEN: &str = include_str!("prompts/written_call.md");

/// How many came in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TruncationRetry(u32);

/// What a reply is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplyCheck {
    /// Words that can be an answer.
    Usable,
    /// Something else: the model gets this message and is asked again.
    Retry(&'static str),
    /// Something else once too often.
    GiveUp(Reason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyFault {
    Truncated,
    CallInWords,
}

impl TruncationRetry {
    /// Takes in a reply. Calls that were cut short are refused where their arguments are checked.
    pub(crate) fn take(&mut self, reply: &Reply, frame: &Frame) -> ReplyCheck {
        let Some(unfit) = unfit(reply, frame) else {
            self.0 = 0;
            return ReplyCheck::Usable;
        };
        self.0 += 1;
        let again = self.0 <= frame.limits.steps.contract_retries;
        match unfit {
            ReplyFault::Truncated if again => ReplyCheck::Retry(CUT.trim_ascii_end()),
            ReplyFault::CallInWords if again => ReplyCheck::Retry(WRITTEN.trim_ascii_end()),
            ReplyFault::Truncated => {
                let detail =
                    format!("{} replies in a row were cut off at model.max_tokens", self.0);
                // Asked for short last words it may still find some.
                ReplyCheck::GiveUp(Reason::Model(ModelError::new(
                    ModelErrorKind::Malformed,
                    detail,
                )))
            }
            ReplyFault::CallInWords => ReplyCheck::GiveUp(Reason::BrokenContract),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// The note for watchers.
    pub(crate) fn note(self, frame: &Frame) -> Option<Words> {
        (self.0 > 0 && frame.limits.steps.contract_retries > 0).then(|| note(self.0, frame))
    }
}

/// That so many replies were sent back, for people who watch. The one after the last try is not
/// sent back any more.
pub(crate) fn note(times: u32, frame: &Frame) -> Words {
    let most = frame.limits.steps.contract_retries;
    let n = times.min(most).to_string();
    text::progress::sent_back(&n, &most).words()
}

fn unfit(reply: &Reply, frame: &Frame) -> Option<ReplyFault> {
    if !reply.calls.is_empty() {
        return None;
    }
    match reply.stop {
        StopCause::Length => Some(ReplyFault::Truncated),
        _ => is_not_an_answer(&reply.text, frame).then_some(ReplyFault::CallInWords),
    }
}

/// Whether a text is markup, or a call of a tool that there is.
pub(crate) fn is_not_an_answer(text: &str, frame: &Frame) -> bool {
    let calls = written_calls(text);
    only_markup(text)
        || (!frame.tools.is_empty() && begins_as_call(text))
        || calls.iter().any(|(tool, _)| frame.tool(tool).is_some())
}

#[cfg(test)]
mod tests {
    use super::is_not_an_answer;
    use everloop_types::{Frame, ToolSpec};

    #[test]
    fn a_call_in_words_is_not_an_answer_and_talk_about_calls_is_one() {
        let tool = ToolSpec { name: "list_dir".to_owned(), ..ToolSpec::default() };
        let frame = Frame { tools: vec![tool], ..Frame::default() };
        for text in [
            "<tools></tools>",
            r#"{"name": "list_dir", "arguments": {"path": "."}}"#,
            "I look. ```json\n{\"name\": \"list_dir\", \"arguments\": {}}\n```",
            "<tool_call>{\"name\": \"list",
        ] {
            assert!(is_not_an_answer(text, &frame), "{text}");
        }
        for text in [
            "There are 3 files.",
            r#"{"name": "Bob", "arguments": {}}"#,
            r#"A call looks like {"name": "list_dir", "arguments": {}} in that format."#,
            "```json\n{\"files\": 3}\n```",
        ] {
            assert!(!is_not_an_answer(text, &frame), "{text}");
        }
    }
}
