//! `everloop compare`: the same tasks under chosen loops and models, in one comparison.

mod again;

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::terminal;
use everloop_app::comparison;
use everloop_app::environment::is_scripted;
use everloop_app::error::chain;
use everloop_app::frames;
use everloop_compare::policy::POLICIES;
use everloop_compare::report::{self, ReportDetail, ReportHeader, ReportStyle};
use everloop_compare::{
    Contest, ContestHost, ContestModel, ContestProgress, ContestResults, ContestTask, is_simulated,
    task,
};
use everloop_engine::{Environment, Rules};
use everloop_loops::LOOPS;
use everloop_text as text;
use everloop_types::{Frame, ModelChoice, ModelError, ToolSpec, UtcMs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) async fn compare(app: &Console, args: args::Compare) -> Result<Exit, Failure> {
    let contest = contest(app, &args)?;
    if args.output.list {
        terminal::answer(&report::list(&contest.tasks, app.lang, terminal::width()));
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

/// What is to be compared, with every name checked.
fn contest(app: &Console, args: &args::Compare) -> Result<Contest, Failure> {
    let meant = |name: &String| match name.trim() {
        "all" => LOOPS.iter().map(|name| (*name).to_owned()).collect(),
        _ => vec![name.clone()],
    };
    let loops: Vec<String> = args.loops.iter().flat_map(meant).collect();
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    Ok(Contest {
        loops: each(&loops, |name| app.checked(frames::loop_name(name)))?,
        models: each(&args.models, |name| model(app, name))?,
        tasks: tasks(app, args)?.into_iter().map(Arc::new).collect(),
        seed: args.each.seed,
        repeats: args.each.runs,
        timeout: args.each.timeout,
        at_once: at_once(args, cores),
        latency: args.each.latency,
    })
}

/// Each name checked, and each once.
fn each(
    names: &[String],
    check: impl Fn(&str) -> Result<String, Failure>,
) -> Result<Vec<String>, Failure> {
    let mut checked: Vec<String> = Vec::new();
    for name in names {
        let name = check(name.trim())?;
        if !checked.contains(&name) {
            checked.push(name);
        }
    }
    Ok(checked)
}

fn model(app: &Console, name: &str) -> Result<String, Failure> {
    if is_simulated(name) {
        return Ok(name.to_owned());
    }
    if name.contains('/') {
        return app.checked(frames::model(app, name.to_owned()));
    }
    let (near, all) = (app.near(name, POLICIES), POLICIES.join(", "));
    Err(Failure {
        exit: Exit::Usage,
        words: app.text(text::compare::NoModel { name: &name, near: &near, all: &all }.text()),
    })
}

fn tasks(app: &Console, args: &args::Compare) -> Result<Vec<ContestTask>, Failure> {
    let all = match &args.tasks {
        None => task::builtin(),
        Some(folder) => task::from_folder(folder).map_err(|error| {
            let detail = chain(&error);
            app.failure(Exit::Usage, text::compare::bad_tasks(&detail))
        })?,
    };
    let wanted: Vec<&str> = args.task.iter().flat_map(|name| named(name)).collect();
    for name in &wanted {
        if !all.iter().any(|task| task.name == *name) {
            let near = app.near(name, all.iter().map(|task| task.name.as_str()));
            let words = app.text(text::compare::no_task(&name, &near));
            return Err(Failure { exit: Exit::Usage, words });
        }
    }
    let chosen = |task: &ContestTask| wanted.is_empty() || wanted.contains(&task.name.as_str());
    Ok(all.into_iter().filter(chosen).collect())
}

/// Policies share the machine's cores. A model of one's own has one place for a prompt that it
/// keeps, and a second run would take it away each time.
fn at_once(args: &args::Compare, cores: usize) -> usize {
    let asks = args.models.iter().any(|name| !is_simulated(name.trim()) && !is_scripted(name));
    if asks { 1 } else { cores.max(2) }
}

/// The tasks that a name means: itself, or those of a group.
fn named(name: &str) -> Vec<&str> {
    task::group(name).map_or_else(|| vec![name], <[&str]>::to_vec)
}

/// An endpoint may cost money, so a person says yes first.
async fn confirm(app: &Console, contest: &Contest, yes: bool) -> Result<(), Failure> {
    let costs = |name: &&String| !is_simulated(name) && !is_scripted(name);
    let paid: Vec<&str> = contest.models.iter().filter(costs).map(String::as_str).collect();
    if paid.is_empty() {
        return Ok(());
    }
    let runs = contest.size() / contest.models.len() * paid.len();
    terminal::complain(&app.text(text::compare::costs(&runs, &paid.join(", "))));
    if yes {
        return Ok(());
    }
    let refused = |key| Failure { exit: Exit::NeedsPerson, words: app.text(key) };
    if !app.interactive {
        return Err(refused(text::compare::needs_yes()));
    }
    let answer = terminal::ask(&app.text(text::compare::go_on())).await;
    match answer.is_some_and(|answer| everloop_text::means_yes(&answer)) {
        true => Ok(()),
        false => Err(refused(text::compare::declined())),
    }
}

/// Runs everything; a signal ends it with what there is.
async fn run_all(
    app: &Console,
    contest: Contest,
) -> Result<(ContestResults, Option<Exit>), Failure> {
    let mut signals = Signals::new(app)?;
    let stop = CancellationToken::new();
    let host: Arc<dyn ContestHost> = Arc::new(CliHost { app: app.clone() });
    let (quiet, several) = (app.quiet, contest.models.len() > 1);
    let running = contest.run(host, stop.clone(), |progress| {
        if !quiet {
            tell(progress, several);
        }
    });
    tokio::pin!(running);
    let exit = tokio::select! {
        results = &mut running => {
            terminal::wipe();
            return Ok((results, None));
        }
        exit = signals.next() => exit,
    };
    stop.cancel();
    let results = running.await;
    terminal::wipe();
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
        true => terminal::pass(&line),
        false => terminal::complain(&line),
    }
}

fn print(
    app: &Console,
    output: &args::CompareOutput,
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
    terminal::answer(&text);
}

fn falls_short(app: &Console, results: &ContestResults, wanted: u64) -> bool {
    let percent = results.sum().success_percent();
    let short = percent < wanted;
    if short {
        let (percent, wanted) = (percent.to_string(), wanted.to_string());
        let words = app.text(text::compare::below(&percent, &wanted));
        terminal::complain(&words);
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
struct CliHost {
    app: Console,
}

impl ContestHost for CliHost {
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

    fn rules(&self) -> Rules {
        comparison::rules(&self.app)
    }
}
