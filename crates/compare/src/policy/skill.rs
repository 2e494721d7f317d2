//! The skill that all loops are compared on: from sentences and observations to what is done,
//! what failed for good, and which calls are wanted now.
//!
//! ```text
//!   sentence ──its calls seen?──► done, with its result │ failed for good
//!                └─ not yet ──► wanted now, unless it must wait for a sentence before it
//! ```
//!
//! A value that cannot be seen has to be got again.

mod forms;

use super::acts::{Act, Content, Found, Record, Touch, Use};
use super::notes::{Kind, Note, Notes};
use super::reading::Observed;
use super::sentences::{self, Sentence};
use super::values;
use std::ops::Range;

/// How deep files may send to other files.
const DEPTH_MAX: usize = 3;

/// How the wanted calls will be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// All at once: none may need another.
    Together,
    /// One after the other, each able to use what those before it bring.
    InOrder,
}

/// How far a sentence is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    Done,
    Failed(String),
    Open,
}

/// One sentence, and how far it is.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) key: String,
    /// The sentence of the goal that it is, or to which it belongs.
    pub(super) root: usize,
    pub(super) sentence: Sentence,
    pub(super) said: String,
    pub(super) status: Status,
    /// What it brought, or why it failed, or what it tells to follow.
    pub(super) value: Option<String>,
}

impl Task {
    pub(super) fn note(&self) -> Option<Note> {
        let kind = match (&self.status, &self.sentence) {
            (Status::Open, _) => return None,
            (Status::Failed(_), _) => Kind::Failed,
            (Status::Done, Sentence::Follow { .. }) => Kind::Holds,
            (Status::Done, _) => Kind::Done,
        };
        Some(Note { kind, said: self.said.clone(), value: self.value.clone() })
    }
}

/// All that is known, and all that is wanted.
#[derive(Debug)]
pub(super) struct Outlook {
    pub(super) tasks: Vec<Task>,
    pub(super) acts: Vec<Act>,
}

/// What the skill works from.
pub(super) struct Known<'k> {
    pub(super) seen: &'k [Observed],
    pub(super) notes: &'k Notes,
    /// Whether there is a tool of that name.
    pub(super) has_tool: &'k dyn Fn(&str) -> bool,
    /// What the list says of the item to which a sentence of the goal belongs.
    pub(super) listed: &'k dyn Fn(usize) -> Listed,
}

/// What the list says of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    Open,
    /// It is completed, and nothing of it is needed any more.
    Closed,
    /// It is completed, and its result has yet to be said.
    ClosedToBeSaid,
}

/// Looks at the sentences in their order. Calls are wanted only for those in `scope`.
pub(super) fn look(
    asked: &[(Sentence, String)],
    known: &Known<'_>,
    scope: Range<usize>,
    manner: Manner,
) -> Outlook {
    let mut walk = Walk {
        known,
        record: Record::new(known.seen),
        scope,
        manner,
        acts: Vec::new(),
        held: Vec::new(),
        brought: Brought::Nothing,
        hits: Brought::Nothing,
        before: Status::Done,
        tasks: Vec::new(),
    };
    for (root, (sentence, said)) in asked.iter().enumerate() {
        walk.go(&(root + 1).to_string(), root, sentence, said);
    }
    Outlook { tasks: walk.tasks, acts: walk.acts }
}

/// What the last sentence with a result has brought.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Brought {
    Nothing,
    Known(String),
    OfStep(usize),
    Failed(String),
    NotYet,
    /// There was a result, and it is not shown any more.
    Gone,
}

/// What a call has come to.
enum Got {
    Seen(String),
    Failed(String),
    /// Wanted now, as the step of that number.
    Coming(usize),
    /// It has to wait.
    Waits,
    /// The list says that it is done, and nothing shows what it brought.
    Gone,
}

struct Walk<'k> {
    known: &'k Known<'k>,
    record: Record<'k>,
    scope: Range<usize>,
    manner: Manner,
    acts: Vec<Act>,
    /// What sentences that are not finished will still touch.
    held: Vec<Touch>,
    brought: Brought,
    hits: Brought,
    /// How the last sentence ended that can fail by itself.
    before: Status,
    tasks: Vec<Task>,
}

impl Walk<'_> {
    fn go(&mut self, key: &str, root: usize, sentence: &Sentence, said: &str) {
        let task = Task {
            key: key.to_owned(),
            root,
            sentence: sentence.clone(),
            said: said.to_owned(),
            status: Status::Open,
            value: None,
        };
        let place = self.tasks.len();
        self.tasks.push(task);
        let (status, value) = match self.noted(key, said) {
            Some(note) => self.recall(sentence, &note),
            None => self.face(root, sentence),
        };
        if !sentence.leans_back() {
            self.before = status.clone();
        }
        let content = value.clone().filter(|_| status == Status::Done);
        (self.tasks[place].status, self.tasks[place].value) = (status, value);
        if let (Sentence::Follow { .. }, Some(content)) = (sentence, content)
            && key.matches('.').count() < DEPTH_MAX
        {
            for (number, (sentence, said)) in sentences::read(&content).iter().enumerate() {
                self.go(&format!("{key}.{}", number + 1), root, sentence, said);
            }
        }
    }

    fn noted(&self, key: &str, said: &str) -> Option<Note> {
        self.known.notes.get(key).filter(|note| note.said == said).cloned()
    }

    /// What a summary tells of a sentence stands in place of what it brought.
    fn recall(&mut self, sentence: &Sentence, note: &Note) -> (Status, Option<String>) {
        let value = note.value.clone();
        if note.kind == Kind::Failed {
            let why = value.unwrap_or_default();
            return self.fail(sentence, &why);
        }
        match (sentence, &value) {
            (Sentence::Search { .. }, Some(text)) => self.found(text),
            (Sentence::Follow { .. } | Sentence::SayResult, _) | (_, None) => {}
            (_, Some(text)) => self.brought = Brought::Known(text.clone()),
        }
        (Status::Done, value)
    }

    fn found(&mut self, text: &str) {
        self.brought = Brought::Known(values::title(text));
        self.hits = Brought::Known(text.to_owned());
    }

    fn read(&mut self, root: usize, file: &str) -> Got {
        self.call(root, Act::read(file), Use::Shared)
    }

    /// What a file holds, with a look at it only where nothing tells: who wrote it knows.
    fn content(&mut self, root: usize, file: &str) -> Got {
        let touch = Touch::EventReader(file.to_owned());
        let last = self.acts.iter().rev().find(|act| act.touch.conflicts(&touch));
        let held = self.held.iter().any(|held| held.conflicts(&touch));
        match (last.map(Content::of), self.manner) {
            (None, _) if !held => match self.record.written(file) {
                Some(text) => Got::Seen(text),
                None => self.read(root, file),
            },
            (Some(Some(Content::Known(text))), Manner::InOrder) if !held => Got::Seen(text),
            (Some(Some(Content::OfStep(step))), Manner::InOrder) if !held => Got::Coming(step),
            _ => self.read(root, file),
        }
    }

    fn put(&mut self, root: usize, file: &str, content: Content) -> (Status, Option<String>) {
        let act = Act::write(file, &content);
        let got = match content {
            Content::Known(_) => self.call(root, act, Use::Own { tries: 1 }),
            Content::OfStep(_) => self.want(root, act),
        };
        self.end(got)
    }

    fn call(&mut self, root: usize, act: Act, usage: Use) -> Got {
        if usage != Use::Shared || !self.will_change(&act.touch) {
            match self.record.look(&act, usage) {
                Found::Well(text) => return Got::Seen(text),
                Found::Badly(why) => return Got::Failed(why),
                Found::NotYet => {}
            }
        }
        let again = |known: &Act| known.tool == act.tool && known.args == act.args;
        let place = self.acts.iter().rposition(again).filter(|_| usage == Use::Shared);
        // Between that look and this one nothing may change.
        let since = |at: usize| self.acts[at..].iter().map(|it| &it.touch).chain(&self.held);
        let stale = |at: usize| since(at).any(|touch| touch.conflicts(&act.touch));
        match place.filter(|at| !stale(*at)) {
            Some(step) => Got::Coming(step),
            None => self.want(root, act),
        }
    }

    /// Whether a sentence before this one is going to change what is looked at: then what was seen
    /// of it says nothing.
    fn will_change(&self, touch: &Touch) -> bool {
        let wanted = self.acts.iter().map(|act| &act.touch);
        wanted.chain(&self.held).any(|other| other.conflicts(touch))
    }

    fn want(&mut self, root: usize, act: Act) -> Got {
        match (self.known.listed)(root) {
            Listed::Open => {}
            // Looking again does no harm.
            Listed::ClosedToBeSaid if act.only_reads() => {}
            Listed::Closed | Listed::ClosedToBeSaid => return Got::Gone,
        }
        if !(self.known.has_tool)(act.tool) {
            return Got::Failed(format!("there is no tool {}", act.tool));
        }
        if !self.scope.contains(&root) {
            return Got::Waits;
        }
        let touch = act.touch.clone();
        let free = !self.held.iter().any(|held| held.conflicts(&touch));
        if !free || self.manner == Manner::Together {
            self.held.push(touch);
        }
        if !free {
            return Got::Waits;
        }
        self.acts.push(Act { root, ..act });
        Got::Coming(self.acts.len() - 1)
    }

    fn hold(&mut self, root: usize, touch: Touch) {
        if self.scope.contains(&root) {
            self.held.push(touch);
        }
    }

    fn wait(&mut self, root: usize, touch: Touch) -> (Status, Option<String>) {
        self.hold(root, touch);
        (Status::Open, None)
    }

    /// A sentence that is over with its last call.
    fn end(&mut self, got: Got) -> (Status, Option<String>) {
        match got {
            Got::Seen(_) | Got::Gone => (Status::Done, None),
            Got::Failed(why) => failed(&why),
            Got::Coming(_) | Got::Waits => (Status::Open, None),
        }
    }

    fn fail(&mut self, sentence: &Sentence, why: &str) -> (Status, Option<String>) {
        if sentence.has_result() {
            self.brought = Brought::Failed(why.to_owned());
        }
        if matches!(sentence, Sentence::Search { .. }) {
            self.hits = Brought::Failed(why.to_owned());
        }
        failed(why)
    }

    /// A sentence whose result is made from what its last call shows.
    fn bring(
        &mut self,
        sentence: &Sentence,
        got: Got,
        result: impl Fn(&str) -> Result<String, String>,
    ) -> (Status, Option<String>) {
        // What a step shows is its result only where nothing is to be made of it.
        let plain = matches!(
            sentence,
            Sentence::Read { .. } | Sentence::List { .. } | Sentence::Ask { .. }
        );
        match got {
            Got::Seen(text) => match result(&text) {
                Ok(value) => {
                    self.brought = Brought::Known(value.clone());
                    (Status::Done, Some(value))
                }
                Err(why) => self.fail(sentence, &why),
            },
            Got::Failed(why) => self.fail(sentence, &why),
            Got::Gone => {
                self.brought = Brought::Gone;
                (Status::Done, None)
            }
            Got::Coming(step) if plain && self.manner == Manner::InOrder => {
                self.brought = Brought::OfStep(step);
                (Status::Open, None)
            }
            Got::Coming(_) | Got::Waits => {
                self.brought = Brought::NotYet;
                (Status::Open, None)
            }
        }
    }
}

fn failed(why: &str) -> (Status, Option<String>) {
    (Status::Failed(why.to_owned()), Some(why.to_owned()))
}
