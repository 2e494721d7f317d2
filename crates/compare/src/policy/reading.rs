//! The content of a prompt: the goal, the observations, the list, the phase; in the format of every
//! loop.
//!
//! ```text
//!   tool messages, JSON observations, rounds, carried messages ──► ObservedCall, in order
//!   summaries of earlier work ──► notes; the rest is unknown
//! ```

use super::notes::{self, SentenceNotes};
use super::sentences::{self, Sentence};
use everloop_types::{CallId, Message, TODO_WRITE, ToolCall};
use serde_json::Value;
use std::collections::HashMap;

/// The tool with which a whole round is planned; its answer gathers what every step brought.
pub(super) use everloop_loops::replies::PLAN_ROUND;

const CARRIED: &str = "Notice from the runtime: what stands between the goal and here";
const SUMMARY: &str = "summary_of_earlier_work";

/// How a call ended, as far as the next decision needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallSuccess {
    Well,
    Badly,
    /// It was not made: it did not fit, or an earlier call failed.
    NotMade,
    /// It will never be allowed.
    Forbidden,
}

/// One call and its result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ObservedCall {
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) how: CallSuccess,
    pub(super) text: String,
}

/// One item of the list as it was last shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedItem {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) text: String,
}

/// The phase that the loop has named last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPhase<'m> {
    pub(super) name: &'m str,
    pub(super) rest: &'m str,
}

/// What the user asks for: the goal and later additions.
pub(super) fn asked(messages: &[&Message]) -> Vec<(Sentence, String)> {
    let Some(goal) = messages.get(goal_place(messages)) else { return Vec::new() };
    // What follows an empty line is context, not the request.
    let mut asked = sentences::read(goal.text().split("\n\n").next().unwrap_or_default());
    for message in messages.iter().skip(start(messages) + 1) {
        let Message::User { text, .. } = message else { continue };
        if is_word_of_the_user(text) {
            let more = sentences::read(text).into_iter();
            asked.extend(more.filter(|(sentence, _)| *sentence != Sentence::NotUnderstood));
        }
    }
    asked
}

/// The position of the goal: the first message of the user.
pub(super) fn goal_place(messages: &[&Message]) -> usize {
    let user = |message: &&Message| matches!(message, Message::User { .. });
    messages.iter().position(user).unwrap_or(messages.len())
}

/// The last message before this run's own dialogue: the goal, or what another run carried over.
fn start(messages: &[&Message]) -> usize {
    let carried = messages.iter().rposition(|message| message.text().starts_with(CARRIED));
    carried.unwrap_or_else(|| goal_place(messages))
}

fn is_word_of_the_user(text: &str) -> bool {
    !["phase:", "Notice from the runtime", "contract error", "{"]
        .iter()
        .any(|it| text.starts_with(it))
}

/// The newest message that names a phase, and its place.
pub(super) fn phase_place(messages: &[&Message]) -> Option<usize> {
    let place = messages.iter().rposition(|message| names_phase(message));
    place.filter(|place| *place > start(messages))
}

pub(super) fn phase<'m>(messages: &[&'m Message]) -> Option<NamedPhase<'m>> {
    let said = messages[phase_place(messages)?].text().strip_prefix("phase:")?;
    let (name, rest) = said.split_once('\n').unwrap_or((said, ""));
    Some(NamedPhase { name: name.trim(), rest })
}

/// The model's own last plain text.
pub(super) fn own_words<'m>(messages: &[&'m Message]) -> Option<&'m str> {
    messages.iter().skip(start(messages)).rev().find_map(|message| match message {
        Message::Assistant { text, calls } if calls.is_empty() => Some(text.as_str()),
        _ => None,
    })
}

/// Whether a message only names a phase.
pub(super) fn names_phase(message: &Message) -> bool {
    matches!(message, Message::User { .. }) && message.text().starts_with("phase:")
}

/// The notes of summaries of earlier work.
pub(super) fn noted(messages: &[&Message]) -> SentenceNotes {
    let mut known = SentenceNotes::default();
    for message in messages {
        if let Some(summary) = summary(message) {
            known.extend(notes::read(&summary));
        }
    }
    known
}

fn summary(message: &Message) -> Option<String> {
    let Message::User { text, .. } = message else { return None };
    let value: Value = serde_json::from_str(text).ok()?;
    value.get(SUMMARY)?.as_str().map(str::to_owned)
}

/// Every call that the prompt shows, with its outcome, in the order in which they were made.
pub(super) fn observed(messages: &[&Message]) -> Vec<ObservedCall> {
    let mut calls: HashMap<&CallId, &ToolCall> = HashMap::new();
    let mut seen = Vec::new();
    for message in messages {
        match message {
            Message::Assistant { calls: made, .. } => {
                calls.extend(made.iter().map(|call| (&call.id, call)));
            }
            Message::Tool { call, text } => {
                if let Some(call) = calls.get(call) {
                    let input = serde_json::from_str(&call.args).unwrap_or(Value::Null);
                    take(&mut seen, &call.tool, input, None, text);
                }
            }
            Message::User { text, .. } => take_json(&mut seen, text),
            Message::System { .. } => {}
        }
    }
    seen
}

/// An observation in JSON. A carried one says only in words how it ended.
fn take_json(seen: &mut Vec<ObservedCall>, text: &str) {
    if !text.starts_with("{\"observation\"") {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let told = &value["observation"];
    let (tool, result) = (told["tool"].as_str(), told["result"].as_str());
    if let (Some(tool), Some(result)) = (tool, result) {
        take(seen, tool, told["input"].clone(), told["ok"].as_bool(), result);
    }
}

fn take(seen: &mut Vec<ObservedCall>, tool: &str, input: Value, ok: Option<bool>, text: &str) {
    if tool == PLAN_ROUND {
        return take_round(seen, &input, text);
    }
    let (how, text) = ended(ok, text);
    seen.push(ObservedCall { tool: tool.to_owned(), input, how, text: text.to_owned() });
}

/// A round, step by step. Steps that were not run are not there.
fn take_round(seen: &mut Vec<ObservedCall>, plan: &Value, text: &str) {
    let Ok(told) = serde_json::from_str::<Value>(text) else { return };
    let steps = plan["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let results = told["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let result = |place: usize| results.get(place).and_then(|it| it["result"].as_str());
    for (place, (step, outcome)) in steps.iter().zip(results).enumerate() {
        let (Some(tool), Some(ok)) = (step["tool"].as_str(), outcome["ok"].as_bool()) else {
            continue;
        };
        let input = resolved(&step["arguments"], &result);
        take(seen, tool, input, Some(ok), result(place).unwrap_or_default());
    }
}

/// Arguments as they were when the step ran: references replaced by their values.
fn resolved<'r>(args: &Value, result: &impl Fn(usize) -> Option<&'r str>) -> Value {
    match args {
        Value::Object(fields) => match fields.get("$ref").and_then(Value::as_str) {
            Some(name) => {
                let place = name.strip_prefix("steps[").and_then(|it| it.strip_suffix("].result"));
                let found = place.and_then(|place| place.parse().ok()).and_then(result);
                found.map_or_else(|| args.clone(), Value::from)
            }
            None => {
                let fields = fields.iter().map(|(name, it)| (name.clone(), resolved(it, result)));
                Value::Object(fields.collect())
            }
        },
        Value::Array(items) => items.iter().map(|item| resolved(item, result)).collect(),
        other => other.clone(),
    }
}

/// How it ended. The first word of a failure says so.
fn ended(ok: Option<bool>, text: &str) -> (CallSuccess, &str) {
    const WORDS: [&str; 5] =
        ["error: ", "denied: ", "timed out: ", "canceled: ", "outcome unknown: "];
    let word = WORDS.iter().find(|word| text.starts_with(**word));
    let rest = word.map_or(text, |word| &text[word.len()..]);
    let how = match (ok, word) {
        (Some(true), _) | (None, None) => return (CallSuccess::Well, text),
        (_, Some(&"denied: ")) => CallSuccess::Forbidden,
        _ if ["nothing was done", "nothing was run", "bad arguments"]
            .iter()
            .any(|it| rest.contains(it)) =>
        {
            CallSuccess::NotMade
        }
        _ => CallSuccess::Badly,
    };
    (how, rest)
}

/// The list as the newest call of `todo_write`, the model's own plan or a summary shows it. That of
/// another run is not this one's.
pub(super) fn listed(messages: &[&Message]) -> Vec<ListedItem> {
    let messages = &messages[start(messages).min(messages.len())..];
    let seen = observed(messages);
    let written = seen.iter().rev().find(|it| it.tool == TODO_WRITE && it.how == CallSuccess::Well);
    let written = written.map(|it| rows(&it.text)).filter(|rows| !rows.is_empty());
    let told = |message: &&Message| replanned(message).or_else(|| Some(rows(&summary(message)?)));
    written.or_else(|| messages.iter().rev().find_map(told)).unwrap_or_default()
}

/// A plan with its marks, as the model wrote it.
fn replanned(message: &Message) -> Option<Vec<ListedItem>> {
    let Message::Assistant { text, .. } = message else { return None };
    let said: Value = serde_json::from_str(text).ok()?;
    let row = |(place, task): (usize, &Value)| {
        let state = if task["completed"].as_bool()? { "completed" } else { "pending" };
        let (id, text) = ((place + 1).to_string(), task["task"].as_str()?.to_owned());
        Some(ListedItem { id, state: state.to_owned(), text })
    };
    said["plan"].as_array()?.iter().enumerate().map(row).collect()
}

/// `- id [state] text`, a line each.
fn rows(text: &str) -> Vec<ListedItem> {
    let row = |line: &str| {
        let (id, rest) = line.strip_prefix("- ")?.split_once(" [")?;
        let (state, text) = rest.split_once("] ")?;
        Some(ListedItem { id: id.to_owned(), state: state.to_owned(), text: text.to_owned() })
    };
    text.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::{CallSuccess, asked, ended, observed, phase};
    use everloop_types::Message;
    use serde_json::json;

    #[test]
    fn the_goal_stands_before_what_was_carried_and_the_user_may_add_to_it() {
        let carried = "Notice from the runtime: what stands between the goal and here is known.";
        let messages = [
            Message::System { text: "instructions".to_owned() },
            Message::user("Read a.\nSay the result.\n\n\n[today: Monday. Read b.]"),
            Message::user("Read old."),
            Message::user("phase: planning"),
            Message::user(carried),
            Message::user("phase: execution\nitem 1 of 1: Read a."),
            Message::user("Notice from the runtime: go on. Read c."),
            Message::user("Thanks. Also this: x. Read d."),
        ];
        let messages: Vec<&Message> = messages.iter().collect();
        let said: Vec<String> = asked(&messages).into_iter().map(|(_, said)| said).collect();
        assert_eq!(said, ["Read a.", "Say the result.", "Read d."]);
        assert_eq!(phase(&messages).map(|it| it.name), Some("execution"));
        assert_eq!(phase(&messages[..5]), None, "the phase of another run is over");
    }

    #[test]
    fn an_ending_is_told_by_its_first_word_or_by_ok() {
        assert_eq!(ended(None, "error: no"), (CallSuccess::Badly, "no"));
        assert_eq!(
            ended(Some(true), "error: is in the file"),
            (CallSuccess::Well, "error: is in the file")
        );
        assert_eq!(ended(Some(false), "no"), (CallSuccess::Badly, "no"));
        assert_eq!(ended(None, "denied: never"), (CallSuccess::Forbidden, "never"));
        assert_eq!(ended(None, "error: x; nothing was done").0, CallSuccess::NotMade);
    }

    /// Steps that were not run have no result, not even a failure.
    #[test]
    fn a_round_is_read_step_by_step() {
        let step = |tool: &str, args| json!({"tool": tool, "arguments": args});
        let plan = json!({"steps": [
            step("read_file", json!({"path": "a"})),
            step("write_file", json!({"path": "b", "content": {"$ref": "steps[0].result"}})),
            step("shell", json!({"command": "x"})),
        ]});
        let told = |n: usize, ok, text: &str| json!({"step": n, "ok": ok, "result": text});
        let results = json!({"ended": "step 1 failed", "steps": [told(0, Some(true), "red"),
            told(1, Some(false), "error: full"), told(2, None, "not run")]});
        let seen = json!({"observation": {"tool": "plan_tool_call", "input": plan,
            "result": results.to_string()}});
        let message = Message::user(seen.to_string());
        let seen = observed(&[&message]);
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[1].input, json!({"path": "b", "content": "red"}));
        assert_eq!((seen[1].how, seen[1].text.as_str()), (CallSuccess::Badly, "full"));
    }
}
