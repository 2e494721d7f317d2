//! The table of a comparison, as the page shows it.

use crate::address::with_query;
use everloop_pages::compare_figures::{
    ComparedCell, ComparedLoop, ComparedResult, VerdictSentence,
};
use everloop_pages::parts::{grouped, say};
use everloop_text::pages as words;
use everloop_types::Lang;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The loop that the others are compared with, if it is there: the simplest.
const BASE: &str = "react";

/// Stands for the name in a sentence; no name has it.
const NAME: &str = "\u{1}";

/// What is read of a table. Everything that may be missing has a default: tables are kept.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ComparedTable {
    version: String,
    date: String,
    complete: bool,
    latency: Value,
    seed: u64,
    runs_per_cell: u64,
    models: Vec<String>,
    loops: Vec<String>,
    tasks: Vec<ComparedTask>,
    runs: Vec<ComparedRun>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ComparedTask {
    name: String,
    kind: String,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
struct ComparedRun {
    model: String,
    #[serde(rename = "loop")]
    loop_name: String,
    task: String,
    runs: u64,
    succeeded: u64,
    model_calls: u64,
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    wall_ms: u64,
}

impl ComparedRun {
    fn add(mut self, other: &Self) -> Self {
        self.runs += other.runs;
        self.succeeded += other.succeeded;
        self.model_calls += other.model_calls;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.wall_ms += other.wall_ms;
        self
    }

    fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }

    /// The tokens of a success; as many as there can be if there is none, so that it comes last.
    fn per_success(&self) -> u64 {
        self.tokens().checked_div(self.succeeded).unwrap_or(u64::MAX)
    }
}

fn sum<'a>(runs: impl Iterator<Item = &'a ComparedRun>) -> ComparedRun {
    runs.fold(ComparedRun::default(), ComparedRun::add)
}

impl ComparedTable {
    /// A table that can be read.
    pub(super) fn of(table: Value) -> Option<Self> {
        serde_json::from_value(table).ok()
    }

    /// The fields of a form that compares the same again.
    pub(super) fn again(&self) -> Vec<(String, String)> {
        let tasks: Vec<&str> = self.tasks.iter().map(|task| task.name.as_str()).collect();
        let field = |name: &str, value: String| (name.to_owned(), value);
        vec![
            field("loops", self.loops.join(",")),
            field("models", self.models.join(",")),
            field("tasks", tasks.join(",")),
            field("seed", self.seed.to_string()),
            field("runs", self.runs_per_cell.max(1).to_string()),
        ]
    }

    /// What the page shows of a model; of the first one if it is not there.
    pub(super) fn shown(&self, lang: Lang, model: Option<&str>) -> Option<ComparedResult> {
        let chosen = self.models.iter().find(|name| Some(name.as_str()) == model);
        let model = chosen.or(self.models.first())?;
        let base = self.loops.iter().find(|name| *name == BASE).or(self.loops.first())?;
        let total = |name: &String| {
            sum(self.runs.iter().filter(|run| run.model == *model && run.loop_name == *name))
        };
        let mut totals: Vec<(&String, ComparedRun)> =
            self.loops.iter().map(|name| (name, total(name))).collect();
        totals.sort_by_key(|(_, total)| total.per_success());
        let measure = total(base);
        let is_simulated = !model.contains('/');
        let row = |(name, total): &(&String, ComparedRun)| ComparedLoop {
            against: (*name != base).then(|| against(total, &measure)),
            ..compared_loop(lang, name, total)
        };
        let groups = self.groups(lang);
        Some(ComparedResult {
            verdict: self.verdict(lang, &totals)?,
            about: self.about(lang, model, is_simulated),
            made: say(lang, words::compare::made(&self.when(), &self.version)),
            is_complete: self.complete,
            models: self.models.iter().map(|name| tab(name, name == model)).collect(),
            rows: totals.iter().map(row).collect(),
            base: base.clone(),
            is_time_simulated: is_simulated && !self.latency.is_null(),
            cells: totals.iter().map(|(name, _)| self.cells(model, name, &groups)).collect(),
            groups,
            again: self.again(),
        })
    }

    /// To the minute.
    fn when(&self) -> String {
        let minute = self.date.get(..16).unwrap_or(&self.date);
        minute.replace('T', " ")
    }

    fn about(&self, lang: Lang, model: &str, is_simulated: bool) -> String {
        let about = match is_simulated {
            true => words::compare::about_simulated(&model),
            false => words::compare::about_real(&model),
        };
        let about = say(lang, about);
        match self.runs_per_cell {
            0 | 1 => about,
            runs => {
                let gap = if lang == Lang::En { " " } else { "" };
                format!("{about}{gap}{}", say(lang, words::compare::seeds(&runs, &self.seed)))
            }
        }
    }

    /// The finding. The cheapest is looked for among the loops that did everything: one that gives
    /// up early looks cheap.
    fn verdict(&self, lang: Lang, totals: &[(&String, ComparedRun)]) -> Option<VerdictSentence> {
        let (name, best) = match totals.iter().find(|(_, sum)| sum.succeeded == sum.runs) {
            Some(first) => first,
            None => totals.iter().rev().max_by_key(|(_, sum)| sum.succeeded)?,
        };
        let tasks = self.tasks.len();
        let sentence = if totals.len() == 1 {
            words::compare::VerdictOne { name: &NAME, done: &best.succeeded, runs: &best.runs }
                .text()
        } else if best.succeeded == best.runs {
            words::compare::verdict_all(&tasks, &NAME)
        } else {
            let (done, runs) = (&best.succeeded, &best.runs);
            words::compare::VerdictMost { tasks: &tasks, name: &NAME, done, runs }.text()
        };
        let sentence = say(lang, sentence);
        let (before, after) = sentence.split_once(NAME)?;
        let (before, after) = (before.to_owned(), after.to_owned());
        Some(VerdictSentence { before, name: (*name).clone(), after })
    }

    /// The kinds in the order of the tasks, each with its tasks.
    fn groups(&self, lang: Lang) -> Vec<(String, Vec<String>)> {
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for task in &self.tasks {
            match groups.iter_mut().find(|(kind, _)| *kind == task.kind) {
                Some((_, tasks)) => tasks.push(task.name.clone()),
                None => groups.push((&task.kind, vec![task.name.clone()])),
            }
        }
        let named = |kind: &str| {
            let said = words::compare::kind::named(kind).map(|said| say(lang, said));
            said.unwrap_or_else(|| kind.to_owned())
        };
        groups.into_iter().map(|(kind, tasks)| (named(kind), tasks)).collect()
    }

    fn cells(
        &self,
        model: &str,
        loop_name: &str,
        groups: &[(String, Vec<String>)],
    ) -> (String, Vec<ComparedCell>) {
        let mut by_task: BTreeMap<&str, ComparedCell> = BTreeMap::new();
        let of = |run: &&ComparedRun| run.model == model && run.loop_name == loop_name;
        for run in self.runs.iter().filter(of) {
            let cell = by_task.entry(&run.task).or_default();
            cell.done += run.succeeded;
            cell.runs += run.runs;
            cell.calls += run.model_calls;
        }
        let tasks = groups.iter().flat_map(|(_, tasks)| tasks);
        let cells = tasks.map(|task| by_task.get(task.as_str()).copied().unwrap_or_default());
        (loop_name.to_owned(), cells.collect())
    }
}

fn tab(name: &str, is_shown: bool) -> (String, String, bool) {
    (name.to_owned(), with_query("/compare", &[("model", name)]), is_shown)
}

fn compared_loop(lang: Lang, name: &str, total: &ComparedRun) -> ComparedLoop {
    let runs = total.runs.max(1);
    let about = everloop_text::loops::about::named(&format!("{}.does", name.replace('-', "_")));
    let cached = total.cached_tokens.min(total.input_tokens);
    ComparedLoop {
        name: name.to_owned(),
        about: about.map(|about| say(lang, about)).unwrap_or_default(),
        done: (total.succeeded, total.runs),
        calls: tenths(total.model_calls * 10 / runs),
        tokens: [cached / runs, (total.input_tokens - cached) / runs, total.output_tokens / runs],
        per_success: match total.succeeded {
            0 => "–".to_owned(),
            _ => grouped(total.per_success()),
        },
        against: None,
        time: say(lang, everloop_text::compare::seconds(&tenths(total.wall_ms.div_ceil(100)))),
    }
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// `+12%`, `−70%`: tokens of a run, against those of the baseline.
fn against(total: &ComparedRun, base: &ComparedRun) -> String {
    let each = |run: &ComparedRun| run.tokens() as f64 / run.runs.max(1) as f64;
    let base = each(base);
    if base <= 0.0 {
        return "–".to_owned();
    }
    let percent = ((each(total) / base - 1.0) * 100.0).round();
    signed(percent)
}

/// A percentage with its sign, and a true minus.
pub(super) fn signed(percent: f64) -> String {
    format!("{percent:+.0}%").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(name: &str, task: &str, succeeded: u64, tokens: u64) -> Value {
        json!({"model": "competent", "loop": name, "task": task, "runs": 1, "succeeded": succeeded,
            "model_calls": 3, "input_tokens": tokens, "cached_tokens": tokens / 2,
            "output_tokens": 10, "wall_ms": 2_500})
    }

    fn table(runs: Vec<Value>, loops: &[&str]) -> ComparedTable {
        let tasks = json!([{"name": "one", "kind": "files"}, {"name": "two", "kind": "data"}]);
        let table = json!({"complete": true, "models": ["competent"], "loops": loops, "seed": 1,
            "tasks": tasks, "runs_per_cell": 1, "runs": runs});
        ComparedTable::of(table).unwrap()
    }

    #[test]
    fn a_loop_that_gives_up_early_is_not_called_the_cheapest() {
        let runs = vec![
            run("react", "one", 1, 1_000),
            run("react", "two", 1, 1_000),
            run("staged", "one", 1, 100),
            run("staged", "two", 0, 100),
        ];
        let shown = table(runs, &["react", "staged"]).shown(Lang::En, None).unwrap();
        assert_eq!(shown.verdict.name, "react");
        assert_eq!(shown.rows[0].name, "staged", "the order is that of the tokens a success");
        assert_eq!(shown.rows[0].against.as_deref(), Some("−89%"));
        assert_eq!(shown.rows[1].against, None);
        assert_eq!(shown.cells[0].1[1], ComparedCell { done: 0, runs: 1, calls: 3 });
    }

    #[test]
    fn where_nothing_finishes_everything_the_one_that_did_most_is_named() {
        let runs = vec![
            run("react", "one", 1, 50),
            run("react", "two", 0, 50),
            run("staged", "one", 0, 10),
            run("staged", "two", 0, 10),
        ];
        let shown = table(runs, &["react", "staged"]).shown(Lang::En, None).unwrap();
        assert_eq!(
            (shown.verdict.name.as_str(), shown.rows[1].per_success.as_str()),
            ("react", "–")
        );
        assert!(shown.verdict.after.contains("1 of 2"), "{:?}", shown.verdict);
    }

    #[test]
    fn a_damaged_table_is_no_table() {
        assert!(ComparedTable::of(json!([1])).is_none());
        assert!(
            ComparedTable::of(json!({})).is_some_and(|table| table.shown(Lang::En, None).is_none())
        );
    }
}
