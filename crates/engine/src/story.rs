//! The journal as a story: one line an entry, in the reader's language.

use crate::History;
use everloop_loops::{AnyRun, spoken};
use everloop_types::journal::{
    EffectFinished, EffectPlanned, Entry, Found, InboxMessage, Kind, Outcome, PlannedModelCall,
    PlannedToolCall, WaitingOn,
};
use everloop_types::{
    EffectId, Ending, ItemState, PlanItem, Progress, Purpose, ToolCall, UtcMs, Words, canonical,
    without_mark,
};
use std::collections::BTreeMap;

const SHOWN_CHARS: usize = 160;

/// Characters of what a tool came back with that are looked at.
const SEEN_CHARS: usize = 1_000;

/// One line of a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The entry.
    pub seq: i64,
    /// When.
    pub at: UtcMs,
    /// What happened.
    pub words: Words,
}

/// Tells a journal entry by entry, what each closed item of the plan has behind it, and when the
/// run began to hold private or untrusted data. Entries that only keep house are left out.
#[must_use]
pub fn tell(history: &History) -> Vec<Line> {
    let mut calls = BTreeMap::new();
    let mut lines = Vec::new();
    let mut claims = Claims::of(history);
    let readers = Readers::of(history);
    for entry in &history.entries {
        let said = words(entry, &mut calls, &readers);
        let said = said.into_iter().chain(claims.after(entry));
        lines.extend(said.map(|words| Line { seq: entry.seq, at: entry.at, words }));
    }
    lines
}

/// What people read of replies: neither the mark that ends an answer nor a loop's tags.
struct Readers<'h> {
    loop_name: &'h str,
    mark: &'h str,
}

impl<'h> Readers<'h> {
    fn of(history: &'h History) -> Self {
        let loop_name = match history.entries.first().map(|entry| &entry.kind) {
            Some(Kind::RunCreated(created)) => created.loop_name.as_str(),
            _ => "",
        };
        Self { loop_name, mark: history.frame().mark() }
    }

    fn shown(&self, reply: &str) -> String {
        without_mark(&spoken(self.loop_name, reply), self.mark)
    }
}

/// The closed items, the labels and what the loop noted, as the fold has them. A journal that
/// cannot be folded tells of none.
struct Claims {
    run: Option<AnyRun>,
    closed: Vec<PlanItem>,
    noted: Option<Words>,
}

impl Claims {
    fn of(history: &History) -> Self {
        let created = match history.entries.first().map(|entry| &entry.kind) {
            Some(Kind::RunCreated(created)) if history.is_whole() => Some(created),
            _ => None,
        };
        let run = created.and_then(|made| AnyRun::new(made, history.frame().clone()).ok());
        Self { run, closed: Vec::new(), noted: None }
    }

    /// The labels that this entry brought, what the loop noted, and the items that it closed.
    fn after(&mut self, entry: &Entry) -> Vec<Words> {
        let Some(run) = &mut self.run else { return Vec::new() };
        let held = run.holding().labels();
        run.apply(entry);
        let holding = run.holding();
        let now = holding.labels();
        let mut lines = Vec::new();
        if now.private && !held.private {
            lines.push(Words::with("story.private", [("from", holding.private.join("; "))]));
        }
        if now.untrusted && !held.untrusted {
            lines.push(Words::with("story.untrusted", [("from", holding.untrusted.join("; "))]));
        }
        let Progress { items, note, .. } = run.progress();
        let noted = std::mem::replace(&mut self.noted, note.clone());
        lines.extend(note.filter(|note| noted.as_ref() != Some(note)).map(told));
        if let Kind::RunFinished(_) = entry.kind {
            lines.extend(list_closed(&items));
        }
        let closed: Vec<_> = items.into_iter().filter(|item| item.evidence.is_some()).collect();
        let before = std::mem::replace(&mut self.closed, closed);
        let new = self.closed.iter().filter(|item| !before.contains(item));
        lines.extend(new.map(|item| {
            let entries: Vec<String> =
                item.evidence.iter().flatten().map(|seq| format!("#{seq}")).collect();
            let key = if entries.is_empty() { "story.no_tool" } else { "story.closed" };
            Words::with(key, [("item", short(&item.text)), ("entries", entries.join(" "))])
        }));
        lines
    }
}

/// A note on a line of its own, the model's words shortened.
fn told(note: Words) -> Words {
    match note {
        Words::Said(text) => Words::Said(short(&text)),
        Words::All(all) => Words::All(all.into_iter().map(told).collect()),
        key => key,
    }
}

/// The end closes the plan or list (TD-3).
fn list_closed(items: &[PlanItem]) -> Option<Words> {
    let count =
        |of: &[ItemState]| items.iter().filter(|item| of.contains(&item.state)).count().to_string();
    use ItemState::{Completed, Failed, InProgress, Pending};
    let (done, failed) = (count(&[Completed]), count(&[Failed]));
    let args = [("done", done), ("failed", failed), ("open", count(&[Pending, InProgress]))];
    (!items.is_empty()).then(|| Words::with("story.list_closed", args))
}

type Calls = BTreeMap<EffectId, Option<ToolCall>>;

fn words(entry: &Entry, calls: &mut Calls, readers: &Readers<'_>) -> Option<Words> {
    let known = entry.effect.as_ref().and_then(|effect| calls.get(effect)).cloned().flatten();
    let tool = known.map_or_else(|| "model".to_owned(), |call| call.tool);
    Some(match &entry.kind {
        Kind::RunCreated(created) => Words::with(
            "story.created",
            [("loop", created.loop_name.clone()), ("goal", short(&created.goal.text))],
        ),
        Kind::EpochStarted(_) if entry.epoch <= 1 => Words::key("story.begun"),
        Kind::EpochStarted(_) => {
            Words::with("story.taken_up", [("epoch", entry.epoch.to_string())])
        }
        Kind::Input(input) => letter(&input.letter),
        Kind::EffectPlanned(planned) => {
            if let Some(effect) = &entry.effect {
                calls.insert(effect.clone(), call_of(planned));
            }
            plan(planned)
        }
        Kind::ApprovalAsked(_) => Words::with("story.approval_asked", [("tool", tool)]),
        Kind::ApprovalGiven(given) => {
            Words::with("story.approval_given", [("tool", tool), ("by", given.by.clone())])
        }
        Kind::EffectStarted(_) => Words::with("story.intent", [("tool", tool)]),
        Kind::EffectAttemptFailed(failed) => Words::with(
            "story.attempt_failed",
            [
                ("tool", tool),
                ("attempt", failed.attempt.to_string()),
                ("seen", failed.error.chars().take(SEEN_CHARS).collect()),
            ],
        ),
        Kind::EffectProbed(probed) => {
            let key = match probed.found {
                Found::Happened => "story.probe_happened",
                Found::DidNot => "story.probe_did_not",
                Found::Unknown => "story.probe_unknown",
            };
            Words::with(key, [("tool", tool), ("text", short(&probed.detail))])
        }
        Kind::EffectFinished(finished) => outcome(&tool, finished, readers),
        Kind::Waiting(waiting) => waits(&waiting.on),
        Kind::MessageEmitted(_) => return None,
        Kind::SnapshotTaken(_) => Words::key("story.snapshot"),
        Kind::Spawned(spawned) => {
            Words::with("story.spawned", [("parent", spawned.by.run.to_string())])
        }
        Kind::Delegated(delegated) => {
            Words::with("story.delegated", [("child", delegated.to.to_string())])
        }
        Kind::Forked(forked) => Words::with(
            "story.forked",
            [("from", forked.from.to_string()), ("at", forked.at_seq.to_string())],
        ),
        Kind::RunFinished(finished) => {
            Words::with("story.finished", [("status", finished.status.to_string())])
        }
    })
}

/// What a run waits for.
fn waits(on: &WaitingOn) -> Words {
    match on {
        WaitingOn::Person { question } => {
            Words::with("story.waits_for_person", [("text", short(&question.text))])
        }
        WaitingOn::Model { error } => {
            Words::with("story.waits_for_model", [("error", short(&error.detail))])
        }
        WaitingOn::Child { run } => {
            Words::with("story.waits_for_child", [("child", run.to_string())])
        }
    }
}

fn call_of(planned: &EffectPlanned) -> Option<ToolCall> {
    match planned {
        EffectPlanned::CallTool(PlannedToolCall { call, .. }) => Some(call.clone()),
        EffectPlanned::CallModel(_) => None,
    }
}

fn plan(planned: &EffectPlanned) -> Words {
    match planned {
        EffectPlanned::CallModel(PlannedModelCall { call, messages, .. }) => {
            let key = match call.purpose {
                Purpose::Plan => "story.asks_plan",
                Purpose::Think => "story.asks_think",
                Purpose::Replan => "story.asks_replan",
                Purpose::Compact => "story.asks_compact",
                Purpose::Close => "story.asks_close",
            };
            Words::with(key, [("messages", messages.to_string())])
        }
        EffectPlanned::CallTool(PlannedToolCall { call, .. }) => Words::with(
            "story.plans_tool",
            [("tool", call.tool.clone()), ("args", short(&canonical(&call.args)))],
        ),
    }
}

fn outcome(tool: &str, finished: &EffectFinished, readers: &Readers<'_>) -> Words {
    let took = ("took", finished.took_ms.to_string());
    match &finished.outcome {
        Outcome::Replied(reply) if reply.calls.is_empty() => {
            let text = short(&readers.shown(&reply.text));
            Words::with("story.replied", [("text", text), took])
        }
        Outcome::Replied(reply) => {
            let wanted: Vec<&str> = reply.calls.iter().take(8).map(|c| c.tool.as_str()).collect();
            Words::with("story.replied_calls", [("tools", wanted.join(", ")), took])
        }
        Outcome::ModelFailed(error) => {
            Words::with("story.model_failed", [("error", short(&error.detail))])
        }
        Outcome::Observed(seen) => {
            let key = match seen.ending {
                Ending::Ok => "story.tool_ok",
                Ending::Error => "story.tool_error",
                Ending::Denied => "story.tool_denied",
                Ending::TimedOut => "story.tool_timed_out",
                Ending::Canceled => "story.tool_canceled",
                Ending::Unknown => "story.tool_unknown",
            };
            // It is cut once it is said in the reader's language.
            let text = seen.text.chars().take(SEEN_CHARS).collect();
            Words::with(key, [("tool", tool.to_owned()), ("seen", text), took])
        }
        Outcome::Superseded => Words::key("story.superseded"),
        Outcome::Canceled => Words::key("story.model_canceled"),
    }
}

fn letter(letter: &InboxMessage) -> Words {
    match letter {
        InboxMessage::Answer { text, by, .. } => {
            Words::with("story.answered", [("by", by.clone()), ("text", short(text))])
        }
        InboxMessage::Cancel { by } => Words::with("story.cancel_asked", [("by", by.clone())]),
        InboxMessage::Steer { text } => Words::with("story.steered", [("text", short(text))]),
        InboxMessage::AnswerNow => Words::key("story.answer_now"),
        InboxMessage::Switch(switch) => {
            let args = [("loop", switch.loop_name.clone()), ("to", switch.to.to_string())];
            Words::with("story.switch_asked", args)
        }
        InboxMessage::Child(ended) => {
            let args = [
                ("child", ended.child.to_string()),
                ("status", ended.status.to_string()),
                ("text", short(&ended.text)),
            ];
            Words::with("story.child_ended", args)
        }
    }
}

/// One line, bounded.
fn short(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
