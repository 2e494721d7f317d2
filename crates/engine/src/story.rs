//! The journal as a story: one line an entry, in the reader's language.

use crate::History;
use everloop_loops::{AnyRun, spoken};
use everloop_text as text;
use everloop_types::journal::{
    EffectFinished, EffectPlanned, Entry, EntryKind, InboxMessage, Outcome, PlannedModelCall,
    PlannedToolCall, ProbeFinding, WaitingOn,
};
use everloop_types::{
    EffectId, Ending, ItemState, PlanItem, Progress, Purpose, ToolCall, UtcMs, Words, canonical,
    without_mark,
};
use std::collections::BTreeMap;

const SHOWN_CHARS: usize = 160;

/// Characters of a tool's result that are read.
const SEEN_CHARS: usize = 1_000;

/// One line of a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryLine {
    /// The entry.
    pub seq: i64,
    /// When.
    pub at: UtcMs,
    /// What happened.
    pub words: Words,
}

/// Describes a journal entry by entry, the evidence for each closed item of the plan, and when the
/// run first had private or untrusted data. Entries of internal bookkeeping are left out.
#[must_use]
pub fn story_of(history: &History) -> Vec<StoryLine> {
    let mut calls = BTreeMap::new();
    let mut lines = Vec::new();
    let mut claims = StoryFacts::of(history);
    let readers = ReplyCleaner::of(history);
    for entry in &history.entries {
        let said = words(entry, &mut calls, &readers);
        let said = said.into_iter().chain(claims.after(entry));
        lines.extend(said.map(|words| StoryLine { seq: entry.seq, at: entry.at, words }));
    }
    lines
}

/// Removes the mark that ends an answer, and a loop's tags, from replies.
struct ReplyCleaner<'h> {
    loop_name: &'h str,
    mark: &'h str,
}

impl<'h> ReplyCleaner<'h> {
    fn of(history: &'h History) -> Self {
        let loop_name = match history.entries.first().map(|entry| &entry.kind) {
            Some(EntryKind::RunCreated(created)) => created.loop_name.as_str(),
            _ => "",
        };
        Self { loop_name, mark: history.frame().mark() }
    }

    fn shown(&self, reply: &str) -> String {
        without_mark(&spoken(self.loop_name, reply), self.mark)
    }
}

/// The closed items, the labels and what the loop noted, as the fold has them. A journal that
/// cannot be folded has none.
struct StoryFacts {
    run: Option<AnyRun>,
    closed: Vec<PlanItem>,
    noted: Option<Words>,
}

impl StoryFacts {
    fn of(history: &History) -> Self {
        let created = match history.entries.first().map(|entry| &entry.kind) {
            Some(EntryKind::RunCreated(created)) if history.is_whole() => Some(created),
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
            lines.push(text::story::private(&holding.private.join("; ")).words());
        }
        if now.untrusted && !held.untrusted {
            lines.push(text::story::untrusted(&holding.untrusted.join("; ")).words());
        }
        let Progress { items, note, .. } = run.progress();
        let noted = std::mem::replace(&mut self.noted, note.clone());
        lines.extend(
            note.filter(|note| noted.as_ref() != Some(note)).map(note_lines).unwrap_or_default(),
        );
        if let EntryKind::RunFinished(_) = entry.kind {
            lines.extend(list_closed(&items));
        }
        let closed: Vec<_> = items.into_iter().filter(|item| item.evidence.is_some()).collect();
        let before = std::mem::replace(&mut self.closed, closed);
        let new = self.closed.iter().filter(|item| !before.contains(item));
        lines.extend(new.map(|item| {
            let entries: Vec<String> =
                item.evidence.iter().flatten().map(|seq| format!("#{seq}")).collect();
            let item = short(&item.text);
            let closed = if entries.is_empty() {
                text::story::no_tool(&item)
            } else {
                text::story::closed(&item, &entries.join(" "))
            };
            closed.words()
        }));
        lines
    }
}

/// A note, each part of it on a line of its own.
fn note_lines(note: Words) -> Vec<Words> {
    match note {
        Words::All(all) => all.into_iter().flat_map(note_lines).collect(),
        one => vec![note_line(one)],
    }
}

/// A note on a line of its own, the model's words shortened.
fn note_line(note: Words) -> Words {
    match note {
        Words::Said(text) => Words::Said(short(&text)),
        Words::All(all) => Words::All(all.into_iter().map(note_line).collect()),
        key => key,
    }
}

/// The end closes the plan or list (TD-3).
fn list_closed(items: &[PlanItem]) -> Option<Words> {
    let count =
        |of: &[ItemState]| items.iter().filter(|item| of.contains(&item.state)).count().to_string();
    use ItemState::{Completed, Failed, InProgress, Pending};
    let (done, failed) = (count(&[Completed]), count(&[Failed]));
    (!items.is_empty()).then(|| {
        text::story::ListClosed {
            done: &done,
            failed: &failed,
            open: &count(&[Pending, InProgress]),
        }
        .text()
        .words()
    })
}

type StoryCalls = BTreeMap<EffectId, Option<ToolCall>>;

fn words(entry: &Entry, calls: &mut StoryCalls, readers: &ReplyCleaner<'_>) -> Option<Words> {
    let known = entry.effect.as_ref().and_then(|effect| calls.get(effect)).cloned().flatten();
    let tool = known.map_or_else(|| "model".to_owned(), |call| call.tool);
    Some(match &entry.kind {
        EntryKind::RunCreated(created) => {
            text::story::created(&created.loop_name, &short(&created.goal.text)).words()
        }
        EntryKind::EpochStarted(_) if entry.epoch <= 1 => text::story::begun().words(),
        EntryKind::EpochStarted(_) => text::story::taken_up(&entry.epoch).words(),
        EntryKind::Input(input) => message_words(&input.message),
        EntryKind::EffectPlanned(planned) => {
            if let Some(effect) = &entry.effect {
                calls.insert(effect.clone(), call_of(planned));
            }
            plan(planned)
        }
        EntryKind::ApprovalAsked(_) => text::story::approval_asked(&tool).words(),
        EntryKind::ApprovalGiven(given) => text::story::approval_given(&tool, &given.by).words(),
        EntryKind::EffectStarted(_) => text::story::intent(&tool).words(),
        EntryKind::EffectAttemptFailed(failed) => text::story::AttemptFailed {
            attempt: &failed.attempt,
            tool: &tool,
            seen: &failed.error.chars().take(SEEN_CHARS).collect::<String>(),
        }
        .text()
        .words(),
        EntryKind::EffectProbed(probed) => {
            let key = match probed.found {
                ProbeFinding::Happened => text::story::probe_happened,
                ProbeFinding::DidNot => text::story::probe_did_not,
                ProbeFinding::Unknown => text::story::probe_unknown,
            };
            key(&tool, &short(&probed.detail)).words()
        }
        EntryKind::EffectFinished(finished) => outcome(&tool, finished, readers),
        EntryKind::Waiting(waiting) => waits(&waiting.on),
        EntryKind::MessageEmitted(_) => return None,
        EntryKind::SnapshotTaken(_) => text::story::snapshot().words(),
        EntryKind::Spawned(spawned) => text::story::spawned(&spawned.by.run).words(),
        EntryKind::Delegated(delegated) => text::story::delegated(&delegated.to).words(),
        EntryKind::Forked(forked) => text::story::forked(&forked.from, &forked.at_seq).words(),
        EntryKind::RunFinished(finished) => text::story::finished(&finished.status).words(),
    })
}

/// What a run waits for.
fn waits(on: &WaitingOn) -> Words {
    match on {
        WaitingOn::Person { question } => {
            text::story::waits_for_person(&short(&question.text)).words()
        }
        WaitingOn::Model { error } => text::story::waits_for_model(&short(&error.detail)).words(),
        WaitingOn::Child { run } => text::story::waits_for_child(&run).words(),
        WaitingOn::Timer { .. } => text::story::waits_for_timer().words(),
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
                Purpose::Plan => text::story::asks_plan,
                Purpose::Think => text::story::asks_think,
                Purpose::Replan => text::story::asks_replan,
                Purpose::Compact => text::story::asks_compact,
                Purpose::Close => text::story::asks_close,
            };
            key(&messages).words()
        }
        EffectPlanned::CallTool(PlannedToolCall { call, .. }) => {
            text::story::plans_tool(&call.tool, &short(&canonical(&call.args))).words()
        }
    }
}

fn outcome(tool: &str, finished: &EffectFinished, readers: &ReplyCleaner<'_>) -> Words {
    let took = &finished.took_ms;
    match &finished.outcome {
        Outcome::Replied(reply) if reply.calls.is_empty() => {
            let text = short(&readers.shown(&reply.text));
            text::story::replied(&text, took).words()
        }
        Outcome::Replied(reply) => {
            let wanted: Vec<&str> = reply.calls.iter().take(8).map(|c| c.tool.as_str()).collect();
            text::story::replied_calls(&wanted.join(", "), took).words()
        }
        Outcome::ModelFailed(error) => text::story::model_failed(&short(&error.detail)).words(),
        Outcome::Observed(seen) => {
            // It is shortened after it was rendered in the reader's language.
            let text: String = seen.text.chars().take(SEEN_CHARS).collect();
            observed(tool, seen.ending, &text, *took).words()
        }
        Outcome::Superseded => text::story::superseded().words(),
        Outcome::Canceled => text::story::model_canceled().words(),
    }
}

fn observed(tool: &str, ending: Ending, seen: &String, took: u64) -> text::Text {
    let (tool, took) = (&tool, &took);
    match ending {
        Ending::Ok => text::story::ToolOk { tool, seen, took }.text(),
        Ending::Error => text::story::ToolError { tool, seen, took }.text(),
        Ending::Denied => text::story::ToolDenied { tool, seen, took }.text(),
        Ending::TimedOut => text::story::ToolTimedOut { tool, seen, took }.text(),
        Ending::Canceled => text::story::ToolCanceled { tool, seen, took }.text(),
        Ending::Unknown => text::story::ToolUnknown { tool, seen, took }.text(),
    }
}

fn message_words(message: &InboxMessage) -> Words {
    match message {
        InboxMessage::Answer { text, by, .. } => text::story::answered(&by, &short(text)).words(),
        InboxMessage::Cancel { by } => text::story::cancel_asked(&by).words(),
        InboxMessage::Steer { text } => text::story::steered(&short(text)).words(),
        InboxMessage::AnswerNow => text::story::answer_now().words(),
        InboxMessage::Switch(switch) => {
            text::story::switch_asked(&switch.loop_name, &switch.to).words()
        }
        InboxMessage::Child(ended) => text::story::ChildEnded {
            child: &ended.child,
            status: &ended.status,
            text: &short(&ended.text),
        }
        .text()
        .words(),
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
