//! Plain words: the answer, what came of an item, and the summary.

use super::Speaker;
use crate::policy::notes;
use crate::policy::sentences::Sentence;
use crate::policy::skill::{Outlook, Status, Task};
use std::ops::Range;

impl Speaker<'_> {
    /// The final answer: what was asked to be said, what did not work, what is open.
    pub(super) fn answer(&self) -> String {
        let answer = account(&self.look_back(), &self.everything());
        match self.shown.mark() {
            Some(mark) => format!("{answer} {mark}"),
            None => answer,
        }
    }

    /// What came of one item.
    pub(super) fn came_of(&self, item: &Range<usize>) -> String {
        account(&self.look_back(), item)
    }

    /// What later steps need of the older messages.
    pub(super) fn summary(&self) -> String {
        let goal: Vec<&str> = self.asked.iter().map(|(_, said)| said.as_str()).collect();
        let mut lines = vec![format!("The goal, word for word: {}", goal.join(" "))];
        let tasks = self.look_back().tasks;
        let known = tasks.iter().filter_map(|task| Some((&task.key, task.note()?)));
        lines.extend(known.map(|(key, note)| notes::line(key, &note)));
        let rows = self.list.iter().map(|row| format!("- {} [{}] {}", row.id, row.state, row.text));
        lines.extend(rows);
        lines.join("\n")
    }
}

fn account(outlook: &Outlook, scope: &Range<usize>) -> String {
    let tasks: Vec<&Task> = outlook.tasks.iter().filter(|it| scope.contains(&it.root)).collect();
    let results = tasks.iter().filter_map(|task| match (&task.sentence, &task.status) {
        (Sentence::SayResult, Status::Done) => task.value.as_deref(),
        _ => None,
    });
    let results: Vec<&str> = results.collect();
    let mut parts = Vec::new();
    match results.as_slice() {
        [] => {}
        [one] => parts.push(format!("The result is {one}.")),
        many => parts.push(format!("The results are {}.", many.join(" and "))),
    }
    let failed = tasks.iter().filter_map(|task| match &task.status {
        Status::Failed(why) => Some(format!("{} ({})", bare(task), why.trim_end_matches('.'))),
        Status::Done | Status::Open => None,
    });
    let failed: Vec<String> = failed.collect();
    let open = tasks.iter().filter(|task| task.status == Status::Open).map(|task| bare(task));
    let open: Vec<String> = open.collect();
    if !failed.is_empty() {
        parts.push(format!("This did not work: {}.", failed.join("; ")));
    }
    if !open.is_empty() {
        parts.push(format!("This is still open: {}.", open.join("; ")));
    }
    if failed.is_empty() && open.is_empty() {
        parts.push("What was asked for is done.".to_owned());
    }
    parts.join(" ")
}

fn bare(task: &Task) -> String {
    task.said.trim_end_matches('.').to_owned()
}
