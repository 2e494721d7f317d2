//! The tasks of the repository, from one sentence to thirteen.

use super::ContestTask;
use super::read::read;

macro_rules! tasks {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../tasks/", $name, ".toml")))),*]
    };
}

const TASKS: &[(&str, &str)] = tasks![
    "files-write",
    "files-copy",
    "files-replace",
    "files-read-aloud",
    "files-index",
    "files-release",
    "data-count",
    "data-sum",
    "data-average",
    "data-largest",
    "data-command",
    "data-report",
    "todos-add",
    "todos-due",
    "todos-done",
    "todos-schedule",
    "todos-tidy",
    "todos-week",
    "search-title",
    "search-address",
    "search-notes",
    "recovery-missing",
    "recovery-flaky",
    "recovery-search",
    "recovery-give-up",
    "recovery-no-search",
    "recovery-pay-once",
    "clarify-colour",
    "clarify-say",
    "clarify-order",
    "long-instructions",
    "long-remember",
    "long-move",
];

/// The tasks with one file and one or two calls, which every usable model should solve.
const ONE_FILE: [&str; 8] = [
    "files-write",
    "files-copy",
    "files-replace",
    "files-read-aloud",
    "data-count",
    "data-sum",
    "data-average",
    "data-largest",
];

/// The tasks of a group, by its name.
#[must_use]
pub fn group(name: &str) -> Option<&'static [&'static str]> {
    (name == "one-file").then_some(&ONE_FILE)
}

/// The tasks of the repository.
#[must_use]
pub fn builtin() -> Vec<ContestTask> {
    let one = |(name, text): &(&str, &str)| {
        read(name, text).unwrap_or_else(|error| unreachable!("a task of the set: {error}"))
    };
    TASKS.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{TASKS, builtin};
    use crate::{Check, Scene};
    use std::collections::BTreeSet;

    #[test]
    fn there_are_tasks_of_every_kind_and_length_and_each_has_the_name_of_its_file() {
        let tasks = builtin();
        assert!(tasks.len() >= 24, "{}", tasks.len());
        let kinds: BTreeSet<_> = tasks.iter().map(|task| task.kind).collect();
        assert_eq!(kinds.len(), 6);
        let lengths: BTreeSet<_> = tasks.iter().map(super::ContestTask::sentences).collect();
        assert!(lengths.contains(&1) && lengths.iter().any(|length| *length >= 12), "{lengths:?}");
        for (task, (name, _)) in tasks.iter().zip(TASKS) {
            assert_eq!(task.name, *name);
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tasks");
        assert_eq!(crate::task::from_folder(folder.as_ref()).unwrap().len(), tasks.len());
    }

    #[test]
    fn the_eight_tasks_of_one_file_are_there_and_short() {
        let names = super::group("one-file").unwrap();
        let tasks: Vec<_> =
            builtin().into_iter().filter(|task| names.contains(&task.name.as_str())).collect();
        assert_eq!(tasks.len(), 8);
        assert!(tasks.iter().all(|task| task.files.len() <= 1 && task.sentences() <= 2));
        assert_eq!(super::group("files-write"), None);
    }

    #[test]
    fn no_task_is_done_before_anything_was_done_nor_by_words_alone() {
        for task in builtin() {
            assert!(!task.failed(&task.untouched()).is_empty(), "{}", task.name);
        }
    }

    /// Small numbers occur in any answer (steps, tries, files), so no task asks for one.
    #[test]
    fn no_answer_that_is_asked_for_is_said_by_chance() {
        let chatter: Vec<String> = (0..100).map(|n| format!("I tried {n} times.")).collect();
        let scene = Scene { answer: chatter.join(" "), ..Scene::default() };
        for task in builtin() {
            let asked = task.checks.iter().filter(|check| matches!(check, Check::AnswerHas(_)));
            for check in asked {
                assert!(!check.holds(&scene), "{}: {}", task.name, check.shown());
            }
        }
    }

    #[test]
    fn an_answer_that_names_every_row_has_not_found_the_largest() {
        let task = builtin().into_iter().find(|task| task.name == "data-largest").unwrap();
        let failed = |answer: &str| {
            let answer = answer.to_owned();
            task.failed(&Scene { answer, ..task.untouched() }).len()
        };
        assert_eq!(failed("It is Brenn."), 0);
        assert_ne!(failed("Brenn or Casta."), 0);
        assert_ne!(failed("Aldorf or Brenn."), 0);
    }
}
