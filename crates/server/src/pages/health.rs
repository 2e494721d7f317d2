//! Health: database, workers, queue, model.

use super::frame::PageRequest;
use super::health_words::HealthWords;
use super::respond::page;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_app::config::ConfigCheck;
use everloop_app::doctor::{BuildFacts, DoctorReport, TerminalFacts};
use everloop_app::frames;
use everloop_pages::health::{self as view, DoctorLine, HealthView};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{say, status_words};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::Lang;
use serde::Deserialize;

/// What is wanted of the health.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct HealthParams {
    /// Whether everything is to be looked at, which takes a moment.
    doctor: Option<u8>,
}

/// Everything that the doctor looks at. The build says its date and its commit in a terminal only.
async fn doctor(state: &ServerState, lang: Lang) -> Vec<DoctorLine> {
    let build = BuildFacts { version: "", commit: "", date: "" };
    let terminal = TerminalFacts { is_there: false, width: None, utf8: true, color: false };
    let report = DoctorReport::read(&state.app, build, terminal).await;
    // Version and terminal are those of somebody else; the clock is compared with a build's date.
    let of_build = |name: &str| matches!(name, "version" | "clock");
    let checks = report.checks.iter().filter(|check| !of_build(check.name));
    let lines = checks.filter_map(|check| HealthWords::of(lang, check));
    lines
        .map(|words| DoctorLine {
            state: words.state,
            name: words.name,
            seen: words.seen,
            advice: words.advice,
        })
        .collect()
}

/// The processes that drive runs, where several may.
async fn workers(state: &ServerState, request: &PageRequest) -> Result<Vec<String>, Problem> {
    let own = &state.engine().identity().worker;
    let all = state.store().workers().all().await?;
    let lines = all.iter().map(|worker| {
        let here = if worker.worker == *own { " ←" } else { "" };
        let until = request.clock(worker.expires_at);
        format!("{} · {} · {until}{here}", worker.worker, worker.build)
    });
    Ok(lines.collect())
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(params): Query<HealthParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let title = say(lang, words::nav::health());
    let (frame, _) = request.frame(&state, NavPlace::Health, title).await?;
    let runs_by_status = state.store().maintenance().runs_by_status().await?;
    let (engine, version) = state.store().maintenance().engine_version().await?;
    let drives = state.session.drives();
    let somebody = state.session.has_driver(&state.app).await?;
    let driver = match (drives, somebody) {
        (true, _) => words::health::drives(),
        (false, true) => words::health::elsewhere(),
        (false, false) => words::health::nobody(),
    };
    let model = frames::default_model(&state.app);
    let total: u64 = runs_by_status.iter().map(|(_, count)| count).sum();
    let check = |well: bool, name: Text, seen: String| (well, say(lang, name), seen);
    let no_model = say(lang, words::settings_page::no_model());
    let faults = ConfigCheck::read(&state.app).faults;
    let faults: Vec<String> = faults.iter().map(|(fault, _)| fault.words(lang)).collect();
    let doctor = match params.doctor {
        Some(_) => Some(doctor(&state, lang).await),
        None => None,
    };
    let health = HealthView {
        doctor,
        workers: workers(&state, &request).await?,
        checks: vec![
            check(true, words::health::version(), state.version.clone()),
            // Whether the file is whole is for the doctor, who reads all of it.
            check(true, words::health::database(), format!("{engine} {version}")),
            check(somebody, words::health::driver(), say(lang, driver)),
            check(
                !model.is_empty(),
                words::health::model(),
                if model.is_empty() { no_model } else { model },
            ),
            check(
                faults.is_empty(),
                words::health::settings(),
                match faults.is_empty() {
                    true => state.app.sources.path.display().to_string(),
                    false => faults.join("; "),
                },
            ),
            check(true, words::health::journal(), say(lang, words::health::journal_seen(&total))),
        ],
        runs: runs_by_status
            .iter()
            .map(|(status, count)| {
                let count = i64::try_from(*count).unwrap_or(i64::MAX);
                (status.as_str(), status_words(*status, lang), count)
            })
            .collect(),
    };
    Ok(page(view::view(&frame, &health)))
}
