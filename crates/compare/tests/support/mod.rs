//! A host with scripted models, and one run under it.

#![allow(dead_code, reason = "each test uses a part")]

use everloop_compare::{
    Cell, Contest, ContestHost, ContestModel, ContestResults, ContestTask, task,
};
use everloop_engine::EngineRules;
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_types::{
    Frame, Limits, ModelChoice, ModelError, ModelErrorKind, StepLimits, ToolSpec, UtcMs,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) struct TestHost(pub(crate) Vec<ScriptedReply>);

impl ContestHost for TestHost {
    fn frame(&self, name: &str, _goal: &str, workspace: &Path, tools: Vec<ToolSpec>) -> Frame {
        let usual = StepLimits::default();
        // With its usual steps plan-replan is cut short in long tasks; the others have enough.
        let max_steps = if name == "plan-replan" { usual.max_steps } else { 50 };
        let steps = StepLimits { max_steps, ..usual };
        Frame {
            system: format!("You work in {}.", workspace.display()),
            tools,
            limits: Limits { steps, ..Limits::default() },
            model: ModelChoice::default(),
            workspace: workspace.display().to_string(),
            ..Frame::default()
        }
    }

    fn context(&self, _workspace: &Path, now: UtcMs) -> String {
        format!("[now: {now}]")
    }

    fn connect(&self, name: &str) -> Result<ContestModel, ModelError> {
        match name {
            "scripted" => Ok((Arc::new(ScriptedModel::new(self.0.clone())), name.to_owned())),
            _ => Err(ModelError::new(ModelErrorKind::Refused, format!("there is no {name}"))),
        }
    }

    fn guard(&self) -> Option<PathBuf> {
        None
    }

    fn rules(&self) -> EngineRules {
        EngineRules::default()
    }
}

pub(crate) fn builtin(name: &str) -> ContestTask {
    task::builtin().into_iter().find(|task| task.name == name).expect("a task of the set")
}

pub(crate) fn tasks(names: &[&str]) -> Vec<ContestTask> {
    names.iter().map(|name| builtin(name)).collect()
}

/// A task from its file.
pub(crate) fn own(text: &str) -> ContestTask {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.toml"), text).unwrap();
    task::from_folder(folder.path()).unwrap().remove(0)
}

pub(crate) fn contest(loops: &[&str], models: &[&str], tasks: Vec<ContestTask>) -> Contest {
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Contest {
        loops: named(loops),
        models: named(models),
        tasks: tasks.into_iter().map(Arc::new).collect(),
        seed: 1,
        repeats: 1,
        timeout: Duration::from_secs(60),
        at_once: 2,
        latency: None,
    }
}

pub(crate) async fn run(contest: Contest, replies: Vec<ScriptedReply>) -> ContestResults {
    contest.run(Arc::new(TestHost(replies)), CancellationToken::new(), |_| {}).await
}

pub(crate) async fn play(task: ContestTask, loop_name: &str, replies: Vec<ScriptedReply>) -> Cell {
    play_within(task, loop_name, replies, 60_000).await
}

pub(crate) async fn play_within(
    task: ContestTask,
    loop_name: &str,
    replies: Vec<ScriptedReply>,
    timeout_ms: u64,
) -> Cell {
    let contest = contest(&[loop_name], &["scripted"], vec![task]);
    let contest = Contest { timeout: Duration::from_millis(timeout_ms), ..contest };
    run(contest, replies).await.cells.remove(0)
}

/// Each writes the greeting.
pub(crate) async fn with_models(models: &[&str], tasks: Vec<ContestTask>) -> ContestResults {
    let args = serde_json::json!({"path": "greeting.txt", "content": "Good morning"});
    let replies = vec![ScriptedReply::calls("write_file", args), ScriptedReply::says("ok")];
    run(contest(&["react"], models, tasks), replies).await
}
