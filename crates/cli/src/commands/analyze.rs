//! `everloop analyze`: a question about data files, their profile, or a report checked again.

use super::{background, run};
use crate::args::{AnalyzeArgs, OutputFormat};
use everloop_analysis::{AnalysisError, LoadProgress};
use everloop_app::analysis::{
    self, AnalysisRequest, CheckRequest, DataPreview, FileReach, check_words, preview_words,
    profile_words, progress_words,
};
use everloop_app::frames::RunOptions;
use everloop_app::run_types::{RunRequest, RunType};
use everloop_console::{Console, Exit, Failure, Signals, terminal};
use everloop_text as text;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often progress is shown.
const OFTEN: Duration = Duration::from_millis(500);

pub(crate) async fn analyze(app: &Console, args: AnalyzeArgs) -> Result<Exit, Failure> {
    match (&args.check, args.profile) {
        (Some(folder), _) => check(app, folder.clone(), &args).await,
        (None, true) => profile(app, &args).await,
        (None, false) => question(app, args).await,
    }
}

/// Does blocking work that Ctrl-C stops.
async fn stoppable<T: Send + 'static>(
    app: &Console,
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<T, AnalysisError> + Send + 'static,
) -> Result<T, Failure> {
    let mut signals = Signals::new(app)?;
    let mut working = tokio::task::spawn_blocking(work);
    let mut stopped = None;
    let done = loop {
        tokio::select! {
            done = &mut working => break done,
            exit = signals.next() => {
                cancel.cancel();
                stopped = Some(exit);
            }
        }
    };
    terminal::clear_transient();
    let failed = |error: AnalysisError| {
        let exit = stopped.unwrap_or(Exit::Data);
        app.failure(exit, error.text())
    };
    match done {
        Ok(done) => done.map_err(failed),
        Err(error) => Err(app.failure(Exit::Failed, text::error::system(&error))),
    }
}

/// A line about a load, now and then.
fn meter(app: &Console) -> impl Fn(LoadProgress) + Send + Sync + 'static {
    let (lang, quiet) = (app.lang, !terminal::can_rewrite());
    let last = Mutex::new(Instant::now());
    move |progress: LoadProgress| {
        let Ok(mut last) = last.lock() else { return };
        if quiet || last.elapsed() < OFTEN {
            return;
        }
        *last = Instant::now();
        terminal::show_transient(&progress_words(progress, lang));
    }
}

async fn profile(app: &Console, args: &AnalyzeArgs) -> Result<Exit, Failure> {
    let limits = analysis::read_limits(app);
    let files: Vec<PathBuf> = args.words.iter().map(PathBuf::from).collect();
    let (cancel, tell, own, out) =
        (limits.cancel.clone(), meter(app), app.clone(), args.out.clone());
    let work = move || analysis::profile_files(&own, &files, out.as_deref(), &limits, &tell);
    let found = stoppable(app, &cancel, work).await?;
    if let Some(out) = &args.out {
        let place = out.join("report.html").display().to_string();
        terminal::eprint_line(&text::analysis::profile::written(&place).in_lang(app.lang));
    }
    match args.output_format {
        OutputFormat::Text => terminal::print_line(&profile_words(&found, app.lang)),
        _ => terminal::print_json(&found),
    }
    Ok(Exit::Done)
}

async fn check(app: &Console, report: PathBuf, args: &AnalyzeArgs) -> Result<Exit, Failure> {
    let limits = analysis::read_limits(app);
    let (cancel, tell, own) = (limits.cancel.clone(), meter(app), app.clone());
    let request = CheckRequest { report, data: args.data.clone(), with_code: args.with_code };
    let work = move || analysis::check(&own, &request, &limits, &tell);
    let found = stoppable(app, &cancel, work).await?;
    match args.output_format {
        OutputFormat::Text => terminal::print_line(&check_words(&found, app.lang)),
        _ => terminal::print_json(&found),
    }
    Ok(match (found.differences.is_empty(), found.from_code) {
        (false, _) => Exit::Failed,
        (true, 0) => Exit::Done,
        // Numbers of code that was not run.
        (true, _) => Exit::Unsettled,
    })
}

async fn question(app: &Console, args: AnalyzeArgs) -> Result<Exit, Failure> {
    let Some((question, files)) = args.words.split_last().filter(|(_, files)| !files.is_empty())
    else {
        return Err(app.failure(Exit::Usage, text::analysis::no_question()));
    };
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let files = files.iter().map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
    let session = analysis::new_session();
    let request = AnalysisRequest {
        files: files.collect(),
        question: question.clone(),
        out: args.out.as_ref().map(|out| std::path::absolute(out).unwrap_or_else(|_| out.clone())),
        session: Some(session.clone()),
        reach: FileReach::Anywhere,
        share: None,
    };
    let app = &if args.background { app.clone().with_person(false) } else { app.clone() };
    let mut made =
        app.checked(analysis::submission(app, &RunOptions::from(&args.how), &request))?;
    let request =
        RunRequest { run_type: RunType::Analyze.name().to_owned(), ..RunRequest::default() };
    made.profile.run_type = request.run_type;
    preview(app, &session, &made.frame, args.output_format).await?;
    let store = app.open_store().await?;
    if args.background {
        return background::queue(app, store, made, args.output_format).await;
    }
    run::follow(app, store, made, None, args.output_format).await
}

/// Loads the files and shows what they are, before any model is asked.
async fn preview(
    app: &Console,
    session: &str,
    frame: &everloop_types::Frame,
    format: OutputFormat,
) -> Result<(), Failure> {
    let session = analysis::data_folder(app, session);
    let limits = analysis::read_limits(app);
    let files: Vec<PathBuf> =
        frame.analysis.iter().flat_map(|terms| terms.files.iter().map(PathBuf::from)).collect();
    let (cancel, tell) = (limits.cancel.clone(), meter(app));
    // The run does not exist yet: what is loaded before a kill is found by the next start.
    let before = analysis::preload(app, &files);
    let work = move || {
        let data = before.as_ref().map_or_else(|| session.clone(), analysis::Preload::data);
        let mut tables = Vec::new();
        for file in &files {
            tables.extend(data.load(file, &limits, &tell)?);
        }
        if let Some(before) = before {
            let moved = before.give_to(&session);
            moved.map_err(|source| AnalysisError::Write { path: session.path().into(), source })?;
        }
        Ok(tables)
    };
    let tables = stoppable(app, &cancel, work).await?;
    let preview = DataPreview { tables, share: app.settings.analysis.share };
    match format {
        OutputFormat::StreamJson => {
            terminal::print_line(&json!({"type": "data", "data": preview}).to_string());
        }
        OutputFormat::Text | OutputFormat::Json => {
            terminal::eprint_line(&preview_words(&preview, app.lang));
        }
    }
    Ok(())
}
