//! The skill that all loops share: from sentences and observations to what is done, what failed
//! permanently, and which calls are next.
//!
//! ```text
//!   sentence ──its calls seen?──► done, with its result │ failed permanently
//!                └─ not yet ──► call next, unless it must wait for a sentence before it
//! ```
//!
//! A value that is no longer shown has to be fetched again.

mod forms;

use super::acts::{
    ArgumentSource, CallFinding, CallReuse, CallTarget, ObservationLog, PlannedCall,
};
use super::notes::{NoteKind, SentenceNote, SentenceNotes};
use super::reading::ObservedCall;
use super::sentences::{self, Sentence};
use super::values;
use std::ops::Range;

/// How deep instructions in files may refer to other files.
const DEPTH_MAX: usize = 3;

/// How the planned calls will be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallOrder {
    /// All at once: none may need another.
    Together,
    /// One after the other, each able to use the results of those before it.
    InOrder,
}

/// The progress of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SentenceStatus {
    Done,
    Failed(String),
    Open,
}

/// One sentence and its progress.
#[derive(Debug, Clone)]
pub(super) struct SentenceState {
    pub(super) key: String,
    /// The index of its sentence in the goal.
    pub(super) root: usize,
    pub(super) sentence: Sentence,
    pub(super) said: String,
    pub(super) status: SentenceStatus,
    /// Its result, the reason of its failure, or the instructions to follow.
    pub(super) value: Option<String>,
}

impl SentenceState {
    pub(super) fn note(&self) -> Option<SentenceNote> {
        let kind = match (&self.status, &self.sentence) {
            (SentenceStatus::Open, _) => return None,
            (SentenceStatus::Failed(_), _) => NoteKind::Failed,
            (SentenceStatus::Done, Sentence::Follow { .. }) => NoteKind::Holds,
            (SentenceStatus::Done, _) => NoteKind::Done,
        };
        Some(SentenceNote { kind, said: self.said.clone(), value: self.value.clone() })
    }
}

/// Everything that is known, and the next calls.
#[derive(Debug)]
pub(super) struct Outlook {
    pub(super) tasks: Vec<SentenceState>,
    pub(super) acts: Vec<PlannedCall>,
}

/// What the skill works from.
pub(super) struct SkillInput<'k> {
    pub(super) seen: &'k [ObservedCall],
    pub(super) notes: &'k SentenceNotes,
    /// Whether there is a tool of that name.
    pub(super) has_tool: &'k dyn Fn(&str) -> bool,
    /// What the list says of the item to which a sentence of the goal belongs.
    pub(super) listed: &'k dyn Fn(usize) -> ListedState,
}

/// What the list says of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListedState {
    Open,
    /// It is completed and no longer needed.
    Closed,
    /// It is completed, and its result still has to be reported.
    ClosedToBeSaid,
}

/// Goes through the sentences in order. Calls are planned only for those in `scope`.
pub(super) fn plan_calls(
    asked: &[(Sentence, String)],
    known: &SkillInput<'_>,
    scope: Range<usize>,
    order: CallOrder,
) -> Outlook {
    let mut walk = SentenceWalk {
        known,
        record: ObservationLog::new(known.seen),
        scope,
        order,
        acts: Vec::new(),
        held: Vec::new(),
        brought: PriorResult::Nothing,
        hits: PriorResult::Nothing,
        before: SentenceStatus::Done,
        tasks: Vec::new(),
    };
    for (root, (sentence, said)) in asked.iter().enumerate() {
        walk.visit(&(root + 1).to_string(), root, sentence, said);
    }
    Outlook { tasks: walk.tasks, acts: walk.acts }
}

/// The result of the last sentence that has one.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PriorResult {
    Nothing,
    Known(String),
    OfStep(usize),
    Failed(String),
    NotYet,
    /// There was a result, and it is no longer shown.
    Gone,
}

/// The progress of a call.
enum CallProgress {
    Seen(String),
    Failed(String),
    /// Planned now, as the step of that number.
    Coming(usize),
    /// It has to wait.
    Waits,
    /// The list says that it is done, and its result is not shown.
    Gone,
}

struct SentenceWalk<'k> {
    known: &'k SkillInput<'k>,
    record: ObservationLog<'k>,
    scope: Range<usize>,
    order: CallOrder,
    acts: Vec<PlannedCall>,
    /// What unfinished sentences will still touch.
    held: Vec<CallTarget>,
    brought: PriorResult,
    hits: PriorResult,
    /// How the last sentence ended that can fail.
    before: SentenceStatus,
    tasks: Vec<SentenceState>,
}

impl SentenceWalk<'_> {
    fn visit(&mut self, key: &str, root: usize, sentence: &Sentence, said: &str) {
        let task = SentenceState {
            key: key.to_owned(),
            root,
            sentence: sentence.clone(),
            said: said.to_owned(),
            status: SentenceStatus::Open,
            value: None,
        };
        let place = self.tasks.len();
        self.tasks.push(task);
        let (status, value) = match self.noted(key, said) {
            Some(note) => self.use_note(sentence, &note),
            None => self.evaluate(root, sentence),
        };
        if !sentence.leans_back() {
            self.before = status.clone();
        }
        let content = value.clone().filter(|_| status == SentenceStatus::Done);
        (self.tasks[place].status, self.tasks[place].value) = (status, value);
        if let (Sentence::Follow { .. }, Some(content)) = (sentence, content)
            && key.matches('.').count() < DEPTH_MAX
        {
            for (number, (sentence, said)) in sentences::read(&content).iter().enumerate() {
                self.visit(&format!("{key}.{}", number + 1), root, sentence, said);
            }
        }
    }

    fn noted(&self, key: &str, said: &str) -> Option<SentenceNote> {
        self.known.notes.get(key).filter(|note| note.said == said).cloned()
    }

    /// Uses the note of a summary in place of the sentence's result.
    fn use_note(
        &mut self,
        sentence: &Sentence,
        note: &SentenceNote,
    ) -> (SentenceStatus, Option<String>) {
        let value = note.value.clone();
        if note.kind == NoteKind::Failed {
            let why = value.unwrap_or_default();
            return self.fail(sentence, &why);
        }
        match (sentence, &value) {
            (Sentence::Search { .. }, Some(text)) => self.found(text),
            (Sentence::Follow { .. } | Sentence::SayResult, _) | (_, None) => {}
            (_, Some(text)) => self.brought = PriorResult::Known(text.clone()),
        }
        (SentenceStatus::Done, value)
    }

    fn found(&mut self, text: &str) {
        self.brought = PriorResult::Known(values::title(text));
        self.hits = PriorResult::Known(text.to_owned());
    }

    fn read(&mut self, root: usize, file: &str) -> CallProgress {
        self.call(root, PlannedCall::read(file), CallReuse::Shared)
    }

    /// The content of a file, read only if it is not known from an earlier write.
    fn content(&mut self, root: usize, file: &str) -> CallProgress {
        let touch = CallTarget::Reads(file.to_owned());
        let last = self.acts.iter().rev().find(|act| act.touch.conflicts(&touch));
        let held = self.held.iter().any(|held| held.conflicts(&touch));
        match (last.map(ArgumentSource::of), self.order) {
            (None, _) if !held => match self.record.written(file) {
                Some(text) => CallProgress::Seen(text),
                None => self.read(root, file),
            },
            (Some(Some(ArgumentSource::Known(text))), CallOrder::InOrder) if !held => {
                CallProgress::Seen(text)
            }
            (Some(Some(ArgumentSource::OfStep(step))), CallOrder::InOrder) if !held => {
                CallProgress::Coming(step)
            }
            _ => self.read(root, file),
        }
    }

    fn put(
        &mut self,
        root: usize,
        file: &str,
        content: ArgumentSource,
    ) -> (SentenceStatus, Option<String>) {
        let act = PlannedCall::write(file, &content);
        let got = match content {
            ArgumentSource::Known(_) => self.call(root, act, CallReuse::Own { tries: 1 }),
            ArgumentSource::OfStep(_) => self.want(root, act),
        };
        self.end(got)
    }

    fn call(&mut self, root: usize, act: PlannedCall, usage: CallReuse) -> CallProgress {
        if usage != CallReuse::Shared || !self.will_change(&act.touch) {
            match self.record.find(&act, usage) {
                CallFinding::Well(text) => return CallProgress::Seen(text),
                CallFinding::Badly(why) => return CallProgress::Failed(why),
                CallFinding::NotYet => {}
            }
        }
        let again = |known: &PlannedCall| known.tool == act.tool && known.args == act.args;
        let place = self.acts.iter().rposition(again).filter(|_| usage == CallReuse::Shared);
        // Nothing may change between the two reads.
        let since = |at: usize| self.acts[at..].iter().map(|it| &it.touch).chain(&self.held);
        let stale = |at: usize| since(at).any(|touch| touch.conflicts(&act.touch));
        match place.filter(|at| !stale(*at)) {
            Some(step) => CallProgress::Coming(step),
            None => self.want(root, act),
        }
    }

    /// Whether an earlier sentence is going to change the target: then earlier observations of it
    /// are outdated.
    fn will_change(&self, touch: &CallTarget) -> bool {
        let wanted = self.acts.iter().map(|act| &act.touch);
        wanted.chain(&self.held).any(|other| other.conflicts(touch))
    }

    fn want(&mut self, root: usize, act: PlannedCall) -> CallProgress {
        match (self.known.listed)(root) {
            ListedState::Open => {}
            // Reading again does no harm.
            ListedState::ClosedToBeSaid if act.only_reads() => {}
            ListedState::Closed | ListedState::ClosedToBeSaid => return CallProgress::Gone,
        }
        if !(self.known.has_tool)(act.tool) {
            return CallProgress::Failed(format!("there is no tool {}", act.tool));
        }
        if !self.scope.contains(&root) {
            return CallProgress::Waits;
        }
        let touch = act.touch.clone();
        let free = !self.held.iter().any(|held| held.conflicts(&touch));
        if !free || self.order == CallOrder::Together {
            self.held.push(touch);
        }
        if !free {
            return CallProgress::Waits;
        }
        self.acts.push(PlannedCall { root, ..act });
        CallProgress::Coming(self.acts.len() - 1)
    }

    fn block_target(&mut self, root: usize, touch: CallTarget) {
        if self.scope.contains(&root) {
            self.held.push(touch);
        }
    }

    fn wait(&mut self, root: usize, touch: CallTarget) -> (SentenceStatus, Option<String>) {
        self.block_target(root, touch);
        (SentenceStatus::Open, None)
    }

    /// A sentence that ends with its last call.
    fn end(&mut self, got: CallProgress) -> (SentenceStatus, Option<String>) {
        match got {
            CallProgress::Seen(_) | CallProgress::Gone => (SentenceStatus::Done, None),
            CallProgress::Failed(why) => failed(&why),
            CallProgress::Coming(_) | CallProgress::Waits => (SentenceStatus::Open, None),
        }
    }

    fn fail(&mut self, sentence: &Sentence, why: &str) -> (SentenceStatus, Option<String>) {
        if sentence.has_result() {
            self.brought = PriorResult::Failed(why.to_owned());
        }
        if matches!(sentence, Sentence::Search { .. }) {
            self.hits = PriorResult::Failed(why.to_owned());
        }
        failed(why)
    }

    /// A sentence whose result is computed from its last call.
    fn finish_with_result(
        &mut self,
        sentence: &Sentence,
        got: CallProgress,
        result: impl Fn(&str) -> Result<String, String>,
    ) -> (SentenceStatus, Option<String>) {
        // The output of a step is its result only if nothing is computed from it.
        let plain = matches!(
            sentence,
            Sentence::Read { .. } | Sentence::List { .. } | Sentence::Ask { .. }
        );
        match got {
            CallProgress::Seen(text) => match result(&text) {
                Ok(value) => {
                    self.brought = PriorResult::Known(value.clone());
                    (SentenceStatus::Done, Some(value))
                }
                Err(why) => self.fail(sentence, &why),
            },
            CallProgress::Failed(why) => self.fail(sentence, &why),
            CallProgress::Gone => {
                self.brought = PriorResult::Gone;
                (SentenceStatus::Done, None)
            }
            CallProgress::Coming(step) if plain && self.order == CallOrder::InOrder => {
                self.brought = PriorResult::OfStep(step);
                (SentenceStatus::Open, None)
            }
            CallProgress::Coming(_) | CallProgress::Waits => {
                self.brought = PriorResult::NotYet;
                (SentenceStatus::Open, None)
            }
        }
    }
}

fn failed(why: &str) -> (SentenceStatus, Option<String>) {
    (SentenceStatus::Failed(why.to_owned()), Some(why.to_owned()))
}
