//! `everloop compare`: the same tasks under chosen loops and models, in one comparison.

mod again;

pub(super) use again::about_contest;

use crate::args;
use everloop_app::comparison::{self, ComparedModelError, select_models};
use everloop_app::environment::is_scripted;
use everloop_app::error::chain;
use everloop_app::frames;
use everloop_compare::policy::POLICIES;
use everloop_compare::report::{self, ReportDetail, ReportHeader, ReportStyle};
use everloop_compare::{
    Contest, ContestHost, ContestModel, ContestProgress, ContestResults, ContestTask,
    TaskSelectionError, is_simulated, runs_at_once, select_tasks,
};
use everloop_console::{Agreement, Console, Exit, Failure, Signals, terminal};
use everloop_engine::{EngineRules, Environment};
use everloop_text as text;
use everloop_types::{Frame, ModelChoice, ModelError, ToolSpec, UtcMs};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) async fn compare(app: &Console, args: args::CompareArgs) -> Result<Exit, Failure> {
    let contest = contest(app, &args)?;
    if args.output.list {
        if args.output.json {
            terminal::print_json(&json!({ "tasks": listed(&contest.tasks) }));
        } else {
            terminal::print_line(&report::list(&contest.tasks, app.lang, terminal::width()));
        }
        return Ok(Exit::Done);
    }
    confirm(app, &contest, args.yes).await?;
    let (results, exit) = run_all(app, contest).await?;
    let about = again::about(app, &args, &results.contest);
    if let Some(file) = &args.output.html {
        write(app, file, &report::page(&results, &about, app.lang))?;
    }
    print(app, &args.output, &results, &about);
    Ok(match (exit, args.min_success) {
        (None, Some(wanted)) if falls_short(app, &results, wanted) => Exit::Failed,
        (exit, _) => exit.unwrap_or(Exit::Done),
    })
}

/// The tasks for programs, with what the table shows.
fn listed(tasks: &[Arc<ContestTask>]) -> Vec<Value> {
    let row = |task: &Arc<ContestTask>| {
        json!({"name": task.name, "kind": task.kind, "sentences": task.sentences(),
               "goal": task.goal})
    };
    tasks.iter().map(row).collect()
}

/// What is to be compared, with every name checked.
fn contest(app: &Console, args: &args::CompareArgs) -> Result<Contest, Failure> {
    Ok(Contest {
        loops: app.checked(comparison::select_loops(&args.loops))?,
        models: models(app, &args.models)?,
        tasks: tasks(app, args)?,
        seed: args.each.seed,
        repeats: args.each.runs,
        timeout: args.each.timeout,
        at_once: runs_at_once(&args.models, is_scripted),
        latency: args.each.latency,
    })
}

fn models(app: &Console, names: &[String]) -> Result<Vec<String>, Failure> {
    select_models(app, names, is_simulated).map_err(|error| match error {
        ComparedModelError::Unknown(name) => {
            let near = app.near(&name, POLICIES);
            let all = POLICIES.join(", ");
            let unknown = text::compare::NoModel { name: &name, near: &near, all: &all };
            app.failure(Exit::Usage, unknown.text())
        }
        ComparedModelError::App(error) => app.fail(error),
    })
}

fn tasks(app: &Console, args: &args::CompareArgs) -> Result<Vec<Arc<ContestTask>>, Failure> {
    let text = match select_tasks(args.tasks.as_deref(), &args.task) {
        Ok(tasks) => return Ok(tasks),
        Err(TaskSelectionError::Folder(error)) => text::compare::bad_tasks(&chain(&error)),
        Err(TaskSelectionError::UnknownTask { name, all }) => {
            let near = app.near(&name, all.iter().map(String::as_str));
            text::compare::no_task(&name, &near)
        }
    };
    Err(app.failure(Exit::Usage, text))
}

/// An endpoint may cost money, so a person says yes first.
async fn confirm(app: &Console, contest: &Contest, yes: bool) -> Result<(), Failure> {
    let costs = |name: &&String| !is_simulated(name) && !is_scripted(name);
    let paid: Vec<&str> = contest.models.iter().filter(costs).map(String::as_str).collect();
    if paid.is_empty() {
        return Ok(());
    }
    let runs = contest.size() / contest.models.len() * paid.len();
    terminal::eprint_line(&app.text(text::compare::costs(&runs, &paid.join(", "))));
    let agreement = Agreement {
        question: text::compare::go_on(),
        needs_yes: text::compare::needs_yes(),
        declined: text::compare::declined(),
    };
    app.agree(yes, agreement).await
}

/// Runs everything; a signal ends it with what there is.
async fn run_all(
    app: &Console,
    contest: Contest,
) -> Result<(ContestResults, Option<Exit>), Failure> {
    let mut signals = Signals::new(app)?;
    let stop = CancellationToken::new();
    let host: Arc<dyn ContestHost> = Arc::new(ContestOfConsole { app: app.clone() });
    let (quiet, several) = (app.quiet, contest.models.len() > 1);
    let running = contest.run(host, stop.clone(), |progress| {
        if !quiet {
            tell(progress, several);
        }
    });
    tokio::pin!(running);
    let exit = tokio::select! {
        results = &mut running => {
            terminal::clear_transient();
            return Ok((results, None));
        }
        exit = signals.next() => exit,
    };
    stop.cancel();
    let results = running.await;
    terminal::clear_transient();
    Ok((results, Some(exit)))
}

/// `12/192 react files-copy ✔`, rewritten in place where that can be done. A model is named where
/// there are several, and wherever it is an endpoint.
fn tell(progress: ContestProgress<'_>, several: bool) {
    let marks = terminal::marks();
    let mark = if progress.cell.is_success() { marks.done } else { marks.failed };
    let ContestProgress { done, all, cell } = progress;
    let model = if several || !is_simulated(&cell.model) { cell.model.as_str() } else { "" };
    let parts = [&format!("{done}/{all}"), model, &cell.loop_name, &cell.task, mark];
    let line = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    match terminal::can_rewrite() {
        true => terminal::show_transient(&line),
        false => terminal::eprint_line(&line),
    }
}

fn print(
    app: &Console,
    output: &args::CompareOutputArgs,
    results: &ContestResults,
    about: &ReportHeader,
) {
    let detail = if output.per_task { ReportDetail::PerTask } else { ReportDetail::Totals };
    let marks = terminal::marks();
    let manner = ReportStyle { lang: app.lang, detail, marks: (marks.done, marks.failed) };
    let text = if output.json {
        report::json(results, about).to_string()
    } else if output.markdown {
        report::markdown(results, ReportStyle { marks: ("✔", "✖"), ..manner })
    } else {
        report::text(results, manner)
    };
    terminal::print_line(&text);
}

fn falls_short(app: &Console, results: &ContestResults, wanted: u64) -> bool {
    let percent = results.sum().success_percent();
    let short = percent < wanted;
    if short {
        let (percent, wanted) = (percent.to_string(), wanted.to_string());
        let words = app.text(text::compare::below(&percent, &wanted));
        terminal::eprint_line(&words);
    }
    short
}

fn write(app: &Console, file: &Path, text: &str) -> Result<(), Failure> {
    let name = file.display().to_string();
    std::fs::write(file, text).map_err(|error| {
        let detail = error.to_string();
        let words = app.text(text::compare::not_written(&name, &detail));
        Failure { exit: Exit::Failed, words }
    })?;
    app.note(text::compare::written(&name));
    Ok(())
}

/// Runs are set up as those of a person are, but for what a comparison fixes.
pub(super) struct ContestOfConsole {
    pub(super) app: Console,
}

impl ContestHost for ContestOfConsole {
    fn frame(&self, loop_name: &str, goal: &str, workspace: &Path, tools: Vec<ToolSpec>) -> Frame {
        let mut frame = frames::frame_with(&self.app, loop_name, workspace, tools);
        frames::fit_rounds_to_goal(&self.app, &mut frame, goal);
        frame
    }

    fn context(&self, workspace: &Path, now: UtcMs) -> String {
        frames::context_at(workspace, now)
    }

    fn connect(&self, name: &str) -> Result<ContestModel, ModelError> {
        let choice = ModelChoice { name: name.to_owned(), ..ModelChoice::default() };
        // Anew for each run: a script begins at its beginning.
        self.app.environment(&self.app.settings).model(&choice)
    }

    fn guard(&self) -> Option<PathBuf> {
        everloop_tools::own_program()
    }

    fn rules(&self) -> EngineRules {
        comparison::rules(&self.app)
    }
}
