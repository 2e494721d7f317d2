//! Plain words: the answer, the result of an item, and the summary.

use super::Speaker;
use crate::policy::sentences::Sentence;
use crate::policy::skill::{Outlook, SentenceState, SentenceStatus};
use crate::policy::{notes, reading};
use std::ops::Range;

const ALL_DONE: &str = "What was asked for is done.";
const PART_DONE: &str = "This part is done.";
const FAILED: &str = "This did not work: ";
const OPEN: &str = "This is still open: ";

impl Speaker<'_> {
    /// The final answer: what was asked to be said, what did not work, what is open.
    pub(super) fn answer(&self) -> String {
        let parts = account(&self.outlook_without_tools(), &self.everything());
        let SentenceAccount { results, trouble } = parts;
        let results = results.or_else(|| self.recalled().map(str::to_owned));
        let answer = joined(results, trouble.unwrap_or_else(|| ALL_DONE.to_owned()));
        match self.shown.mark() {
            Some(mark) => format!("{answer} {mark}"),
            None => answer,
        }
    }

    /// What the model has said about the results, if that is still shown.
    fn recalled(&self) -> Option<&str> {
        let said = reading::own_words(&self.shown.messages)?;
        let end = [ALL_DONE, PART_DONE, FAILED, OPEN].iter().filter_map(|it| said.find(it)).min();
        let results = said[..end?].trim_end();
        results.starts_with("The result").then_some(results)
    }

    /// The result of one item.
    pub(super) fn item_result(&self, item: &Range<usize>) -> String {
        let SentenceAccount { results, trouble } = account(&self.outlook_without_tools(), item);
        joined(results, trouble.unwrap_or_else(|| PART_DONE.to_owned()))
    }

    /// What later steps need of the older messages.
    pub(super) fn summary(&self) -> String {
        let goal: Vec<&str> = self.asked.iter().map(|(_, said)| said.as_str()).collect();
        let mut lines = vec![format!("The goal, word for word: {}", goal.join(" "))];
        let tasks = self.outlook_without_tools().tasks;
        let known = tasks.iter().filter_map(|task| Some((&task.key, task.note()?)));
        lines.extend(known.map(|(key, note)| notes::line(key, &note)));
        let rows = self.list.iter().map(|row| format!("- {} [{}] {}", row.id, row.state, row.text));
        lines.extend(rows);
        lines.join("\n")
    }
}

/// The account of some sentences.
struct SentenceAccount {
    /// The requested results, as far as they are known.
    results: Option<String>,
    /// What failed and what is open, if anything.
    trouble: Option<String>,
}

fn account(outlook: &Outlook, scope: &Range<usize>) -> SentenceAccount {
    let tasks: Vec<&SentenceState> =
        outlook.tasks.iter().filter(|it| scope.contains(&it.root)).collect();
    let results = tasks.iter().filter_map(|task| match (&task.sentence, &task.status) {
        (Sentence::SayResult, SentenceStatus::Done) => task.value.as_deref(),
        _ => None,
    });
    let results = match results.collect::<Vec<_>>().as_slice() {
        [] => None,
        [one] => Some(format!("The result is {one}.")),
        many => Some(format!("The results are {}.", many.join(" and "))),
    };
    let failed = tasks.iter().filter_map(|task| match &task.status {
        SentenceStatus::Failed(why) => {
            Some(format!("{} ({})", bare(task), why.trim_end_matches('.')))
        }
        SentenceStatus::Done | SentenceStatus::Open => None,
    });
    let open =
        tasks.iter().filter(|task| task.status == SentenceStatus::Open).map(|task| bare(task));
    let told = [(FAILED, failed.collect::<Vec<_>>()), (OPEN, open.collect())];
    let told = told.iter().filter(|(_, what)| !what.is_empty());
    let told: Vec<String> =
        told.map(|(word, what)| format!("{word}{}.", what.join("; "))).collect();
    SentenceAccount { results, trouble: (!told.is_empty()).then(|| told.join(" ")) }
}

fn joined(results: Option<String>, rest: String) -> String {
    results.into_iter().chain([rest]).collect::<Vec<_>>().join(" ")
}

fn bare(task: &SentenceState) -> String {
    task.said.trim_end_matches('.').to_owned()
}
