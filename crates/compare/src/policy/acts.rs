//! Planned calls, what each touches, and which may be made together.

use super::reading::{CallSuccess, ObservedCall};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A call to make now.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedCall {
    pub(super) tool: &'static str,
    pub(super) args: Value,
    pub(super) touch: CallTarget,
    /// The sentence of the goal for which it is made.
    pub(super) root: usize,
}

/// What a call reads or changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallTarget {
    Reads(String),
    Writes(String),
    /// The names and sizes of all files.
    Folder,
    /// A command, or sentences that are not known yet: anything.
    Everything,
    ReadsTodos,
    WritesTodos,
    WritesSchedule,
    Person,
    Nothing,
}

impl CallTarget {
    /// Whether one must end before the other starts.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        use CallTarget as T;
        match (self, other) {
            (T::Nothing, _) | (_, T::Nothing) => false,
            (T::Everything, _) | (_, T::Everything) => true,
            (T::Writes(a), T::Reads(b) | T::Writes(b)) | (T::Reads(a), T::Writes(b)) => a == b,
            (T::Folder, T::Writes(_)) | (T::Writes(_), T::Folder) => true,
            // New todos do not depend on each other; they are added in order.
            (T::WritesTodos, T::ReadsTodos) | (T::ReadsTodos, T::WritesTodos) => true,
            (T::Person, T::Person) => true,
            _ => false,
        }
    }
}

/// How often a call is made, and whether several sentences may use its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallReuse {
    /// It only reads: later sentences may use the same result.
    Shared,
    /// It changes something: once for each sentence.
    Own { tries: u32 },
}

/// How often a call that was not made is requested again.
const NOT_MADE_MAX: u32 = 3;

/// The result of a call as the prompt shows it.
pub(super) enum CallFinding {
    Well(String),
    Badly(String),
    NotYet,
}

/// The observations, and which of them sentences have used so far.
pub(super) struct ObservationLog<'o> {
    seen: &'o [ObservedCall],
    taken: Vec<bool>,
    /// Positions after the last change of each file, of todos, and of anything.
    files: HashMap<String, usize>,
    todos: usize,
    any_file: usize,
    anything: usize,
}

impl<'o> ObservationLog<'o> {
    pub(super) fn new(seen: &'o [ObservedCall]) -> Self {
        Self {
            seen,
            taken: vec![false; seen.len()],
            files: HashMap::new(),
            todos: 0,
            any_file: 0,
            anything: 0,
        }
    }

    pub(super) fn seen(&self) -> &'o [ObservedCall] {
        self.seen
    }

    /// Older observations say nothing about the current state.
    fn floor(&self, touch: &CallTarget) -> usize {
        match touch {
            CallTarget::Reads(file) => {
                self.files.get(file).copied().unwrap_or(0).max(self.anything)
            }
            CallTarget::Folder => self.any_file.max(self.anything),
            CallTarget::ReadsTodos => self.todos,
            _ => 0,
        }
    }

    fn change(&mut self, touch: &CallTarget, place: usize) {
        match touch {
            CallTarget::Writes(file) => {
                self.files.insert(file.clone(), place + 1);
                self.any_file = self.any_file.max(place + 1);
            }
            CallTarget::WritesTodos => self.todos = self.todos.max(place + 1),
            CallTarget::Everything => self.anything = self.anything.max(place + 1),
            _ => {}
        }
    }

    /// The content of a file that an earlier sentence has written, if no command came after.
    pub(super) fn written(&self, file: &str) -> Option<String> {
        let behind = self.files.get(file).filter(|behind| **behind > self.anything)?;
        let it = self.seen.get(behind - 1).filter(|it| it.how == CallSuccess::Well)?;
        it.input["content"].as_str().map(str::to_owned)
    }

    pub(super) fn find(&mut self, act: &PlannedCall, usage: CallReuse) -> CallFinding {
        let tries_max = if let CallReuse::Own { tries } = usage { tries } else { 1 };
        let (mut tries, mut not_made) = (0, 0);
        for place in self.floor(&act.touch)..self.seen.len() {
            let it = &self.seen[place];
            if self.taken[place] || it.tool != act.tool || it.input != act.args {
                continue;
            }
            self.taken[place] = usage != CallReuse::Shared;
            match it.how {
                CallSuccess::Well => {
                    self.change(&act.touch, place);
                    return CallFinding::Well(it.text.clone());
                }
                CallSuccess::Forbidden => tries = tries_max,
                CallSuccess::NotMade => not_made += 1,
                CallSuccess::Badly => {
                    tries += 1;
                    self.change(&act.touch, place);
                }
            }
            if tries >= tries_max || not_made >= NOT_MADE_MAX {
                return CallFinding::Badly(it.text.lines().next().unwrap_or_default().to_owned());
            }
        }
        CallFinding::NotYet
    }
}

/// A value that goes into a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArgumentSource {
    Known(String),
    /// The result of an earlier step of the same round.
    OfStep(usize),
}

impl ArgumentSource {
    /// What a planned call will write.
    pub(super) fn of(act: &PlannedCall) -> Option<Self> {
        let content = &act.args["content"];
        let step = content["$ref"].as_str().and_then(|it| it.strip_prefix("steps["));
        let step = step.and_then(|it| it.strip_suffix("].result")?.parse().ok());
        let known = content.as_str().map(|text| Self::Known(text.to_owned()));
        known.or(step.map(Self::OfStep))
    }

    fn json(&self) -> Value {
        match self {
            Self::Known(text) => Value::from(text.as_str()),
            Self::OfStep(step) => json!({ "$ref": format!("steps[{step}].result") }),
        }
    }
}

impl PlannedCall {
    pub(super) fn read(file: &str) -> Self {
        Self::new("read_file", json!({ "path": file }), CallTarget::Reads(file.to_owned()))
    }

    pub(super) fn write(file: &str, content: &ArgumentSource) -> Self {
        let args = json!({ "path": file, "content": content.json() });
        Self::new("write_file", args, CallTarget::Writes(file.to_owned()))
    }

    pub(super) fn list(folder: &str) -> Self {
        Self::new("list_dir", json!({ "path": folder }), CallTarget::Folder)
    }

    pub(super) fn run(command: &str) -> Self {
        Self::new("shell", json!({ "command": command }), CallTarget::Everything)
    }

    pub(super) fn search(query: &str) -> Self {
        Self::new("internet_search", json!({ "query": query }), CallTarget::Nothing)
    }

    pub(super) fn todo(command: &str, touch: CallTarget) -> Self {
        Self::new("todo", json!({ "command": command }), touch)
    }

    pub(super) fn schedule(text: &str, at: &str) -> Self {
        let command = format!("/schedule add \"{at}\" {text}");
        Self::new("schedule", json!({ "command": command }), CallTarget::WritesSchedule)
    }

    pub(super) fn ask(question: &str) -> Self {
        Self::new("ask_user", json!({ "question": question }), CallTarget::Person)
    }

    fn new(tool: &'static str, args: Value, touch: CallTarget) -> Self {
        Self { tool, args, touch, root: 0 }
    }

    /// Whether it changes nothing, so that it may run beside others.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self.touch, CallTarget::Reads(_) | CallTarget::Folder | CallTarget::Nothing)
    }
}
