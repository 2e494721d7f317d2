//! Flaws: how a policy sometimes goes wrong, drawn from its seed and the prompt.
//!
//! ```text
//!   chance(seed, goal, length of the dialogue) ──► competent │ spoiled │ blind │ again │ "done"
//! ```
//!
//! The same prompt always gets the same reply; a prompt with an added error message may get
//! another. The prompts of all tasks end the same way under a loop, so the goal is part of every
//! draw.

use super::reading::{ObservedCall, PLAN_ROUND};
use super::shown::{ReplyContract, ShownRequest, THINK};
use super::speaking::{self, Speaker, calling, said};
use super::{Flaw, PolicyRules};
use everloop_types::{Reply, StopCause, TODO_WRITE, ToolChoice, digest_json};
use serde_json::{Value, json};

/// Messages that a forgetful policy sees at least, without instructions, goal and phase.
const FEWEST: usize = 2;
/// The spread of that number.
const FEW_SPREAD: u64 = 5;
/// One reply in this many breaks its form.
const BROKEN_ONE_IN: u64 = 3;
/// One reply in this many repeats the last call.
const AGAIN_ONE_IN: u64 = 3;
/// One reply in this many claims that everything is done.
const CLAIM_ONE_IN: u64 = 10;
const CLAIM: &str = "Everything that was asked for is done.";

/// The reply of a policy with its flaw.
pub(super) fn reply(rules: PolicyRules, shown: &ShownRequest<'_>) -> Reply {
    let chance = FlawChance::of(rules.seed, shown);
    match rules.flaw {
        Flaw::None => speaking::reply(shown),
        Flaw::Forgets => {
            let more = usize::try_from(chance.draw("few", FEW_SPREAD)).unwrap_or(0);
            speaking::reply(&shown.last_few(FEWEST + more))
        }
        Flaw::Format => {
            let reply = speaking::reply(shown);
            match chance.draw("broken", BROKEN_ONE_IN) {
                0 => spoiled(reply, shown, chance.draw("way", WAYS)),
                _ => reply,
            }
        }
        Flaw::Repeats => {
            let again = || again(shown).filter(|_| chance.draw("again", AGAIN_ONE_IN) == 0);
            let claim = || claim(shown).filter(|_| chance.draw("claim", CLAIM_ONE_IN) == 0);
            again().or_else(claim).unwrap_or_else(|| speaking::reply(shown))
        }
    }
}

/// The random choices for one prompt.
struct FlawChance(String);

impl FlawChance {
    fn of(seed: u64, shown: &ShownRequest<'_>) -> Self {
        let messages = &shown.messages;
        let end = &messages[messages.len().saturating_sub(2)..];
        Self(digest_json(&(seed, shown.goal(), messages.len(), end)))
    }

    /// A number below `sides`, always the same for the same `matter`.
    fn draw(&self, matter: &str, sides: u64) -> u64 {
        let digest = digest_json(&(&self.0, matter));
        u64::from_str_radix(&digest[..12], 16).unwrap_or(0) % sides
    }
}

/// Ways in which a form is broken.
const WAYS: u64 = 5;

fn spoiled(reply: Reply, shown: &ShownRequest<'_>, way: u64) -> Reply {
    let forced = matches!(shown.choice, ToolChoice::Named(_));
    match (shown.contract(), reply.calls.is_empty()) {
        (_, false) => spoiled_calls(reply, forced, way),
        (
            ReplyContract::JsonPlan | ReplyContract::JsonThought(_) | ReplyContract::JsonReplan,
            _,
        ) => spoiled_json(&reply.text, way).map_or_else(nothing, said),
        (ReplyContract::Tags, _) => spoiled_tags(&reply.text, way).map_or_else(nothing, said),
        // Plain words have no form to break; they can only be missing.
        _ if way == 0 => nothing(),
        _ => reply,
    }
}

fn spoiled_calls(mut reply: Reply, forced: bool, way: u64) -> Reply {
    let Some(call) = reply.calls.first_mut() else { return reply };
    match way {
        0 => return nothing(),
        1 => call.tool = format!("functions.{}", call.tool),
        2 => call.args = without_a_field(&call.args),
        3 if forced => return said(format!("```json\n{}\n```", call.args)),
        _ => call.args = half(&call.args).to_owned(),
    }
    reply
}

fn spoiled_json(text: &str, way: u64) -> Option<String> {
    Some(match way {
        0 => return None,
        1 => format!("Sure, here it is:\n{text}\nShall I go on?"),
        2 => format!("```json\n{},}}\n```", text.strip_suffix('}').unwrap_or(text)),
        3 => without_a_field(text),
        _ => half(text).to_owned(),
    })
}

fn spoiled_tags(text: &str, way: u64) -> Option<String> {
    Some(match way {
        0 => return None,
        1 => format!("Let me do that.\n{text}"),
        2 => text.replace("<tool name=", "<call tool=").replace("final>", "answer>"),
        3 => text.trim_end_matches("</tool>").trim_end_matches("</final>").to_owned(),
        _ => half(text).to_owned(),
    })
}

/// A reply that hit its output limit before its first word. One that is just empty never reaches a
/// loop: the engine asks again.
fn nothing() -> Reply {
    Reply { stop: StopCause::Length, ..Reply::default() }
}

fn half(text: &str) -> &str {
    let middle = text.len() / 2;
    let end = (middle..text.len()).find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(text.len())]
}

/// The object without the last of its fields that is not empty.
fn without_a_field(object: &str) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(object) else { return String::new() };
    let name =
        fields.iter().rev().find(|(_, value)| !value.is_null()).map(|(name, _)| name.clone());
    if let Some(name) = name {
        fields.remove(&name);
    }
    Value::Object(fields).to_string()
}

/// Repeats the last call, if tools can be called.
fn again(shown: &ShownRequest<'_>) -> Option<Reply> {
    let speaker = Speaker::of(shown);
    let real = |it: &&ObservedCall| it.tool != TODO_WRITE && shown.has_tool(&it.tool);
    // Within a round only the tool that plans it is on offer; the others are listed.
    let last = speaker.seen.iter().rev().find(real)?;
    let (tool, input) = (last.tool.as_str(), last.input.clone());
    Some(match shown.contract() {
        ReplyContract::Free | ReplyContract::Item(_) => calling(vec![(tool, input)]),
        ReplyContract::Round { .. } => {
            let steps = json!([{ "tool": tool, "arguments": input }]);
            calling(vec![(PLAN_ROUND, json!({ "steps": steps, "reasoning": "Once more." }))])
        }
        ReplyContract::JsonThought(_) if tool == "ask_user" => {
            said(json!({ "status": "ask_user", "question": input["question"] }).to_string())
        }
        ReplyContract::JsonThought(_) => {
            let action = json!({ "tool": tool, "input": input });
            said(json!({ "status": "continue", "next_action": action }).to_string())
        }
        ReplyContract::Tags => said(format!("<tool name=\"{tool}\">{input}</tool>")),
        _ => return None,
    })
}

/// Claims that everything is done, true or not.
fn claim(shown: &ShownRequest<'_>) -> Option<Reply> {
    Some(match shown.contract() {
        ReplyContract::Free | ReplyContract::Words => said(CLAIM.to_owned()),
        ReplyContract::Item(place) => match place.id.filter(|_| shown.has_tool(TODO_WRITE)) {
            Some(id) => {
                let todos = json!([{ "id": id, "status": "completed" }]);
                calling(vec![(TODO_WRITE, json!({ "todos": todos, "merge": true }))])
            }
            None => said(CLAIM.to_owned()),
        },
        ReplyContract::Think => {
            let args = json!({ "user_summary": CLAIM, "task_completed": true });
            calling(vec![(THINK, args)])
        }
        ReplyContract::JsonThought(_) | ReplyContract::JsonReplan => {
            said(json!({ "status": "done", "response": CLAIM }).to_string())
        }
        ReplyContract::Tags => said(format!("<final>{CLAIM}</final>")),
        ReplyContract::Summary
        | ReplyContract::Round { .. }
        | ReplyContract::List
        | ReplyContract::JsonPlan => {
            return None;
        }
    })
}
