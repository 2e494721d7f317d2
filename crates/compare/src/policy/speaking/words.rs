//! Plain words: the answer, what came of an item, and the summary.

use super::Speaker;
use crate::policy::sentences::Sentence;
use crate::policy::skill::{Outlook, Status, Task};
use crate::policy::{notes, reading};
use std::ops::Range;

const ALL_DONE: &str = "What was asked for is done.";
const FAILED: &str = "This did not work: ";
const OPEN: &str = "This is still open: ";

impl Speaker<'_> {
    /// The final answer: what was asked to be said, what did not work, what is open.
    pub(super) fn answer(&self) -> String {
        let answer = account(&self.look_back(), &self.everything(), self.recalled());
        match self.shown.mark() {
            Some(mark) => format!("{answer} {mark}"),
            None => answer,
        }
    }

    /// What the model has said of the results, if it still sees that.
    fn recalled(&self) -> Option<&str> {
        let said = reading::own_words(&self.shown.messages)?;
        let end = [ALL_DONE, FAILED, OPEN].iter().filter_map(|it| said.find(it)).min();
        let results = said[..end?].trim_end();
        results.starts_with("The result").then_some(results)
    }

    /// What came of one item.
    pub(super) fn came_of(&self, item: &Range<usize>) -> String {
        account(&self.look_back(), item, None)
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

/// `recalled` is what was said of the results before, where nothing shows them any more.
fn account(outlook: &Outlook, scope: &Range<usize>, recalled: Option<&str>) -> String {
    let tasks: Vec<&Task> = outlook.tasks.iter().filter(|it| scope.contains(&it.root)).collect();
    let results = tasks.iter().filter_map(|task| match (&task.sentence, &task.status) {
        (Sentence::SayResult, Status::Done) => task.value.as_deref(),
        _ => None,
    });
    let results: Vec<&str> = results.collect();
    let mut parts = Vec::new();
    match results.as_slice() {
        [] => parts.extend(recalled.map(str::to_owned)),
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
        parts.push(format!("{FAILED}{}.", failed.join("; ")));
    }
    if !open.is_empty() {
        parts.push(format!("{OPEN}{}.", open.join("; ")));
    }
    if failed.is_empty() && open.is_empty() {
        parts.push(ALL_DONE.to_owned());
    }
    parts.join(" ")
}

fn bare(task: &Task) -> String {
    task.said.trim_end_matches('.').to_owned()
}
