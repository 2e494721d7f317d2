//! Reports of analyses: the list, one of them, its files, and what the forms ask for.

use super::chat::run_title;
use super::compare::newest_runs;
use super::forms::FormFields;
use super::frame::{PageRequest, missing};
use super::respond::{page, see_other};
use crate::address::percent_encoded;
use crate::json::PathOf;
use crate::problem::{Problem, ProblemCode};
use crate::routes::artifacts::{download, of_artifact};
use crate::routes::run_id;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::analysis::{self, check_words};
use everloop_app::artifacts::ArtifactState;
use everloop_app::catalog;
use everloop_app::reports::{self, FinishedReport, ReportEntry, ReportError};
use everloop_app::run_types::{self, RunRequest, RunType};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{duration, grouped, say, status_words};
use everloop_pages::reports::{
    self as view, ReportListView, ReportNumberView, ReportQueryView, ReportRowView, ReportView,
};
use everloop_text::pages as words;
use everloop_types::{Lang, RunId};
use serde_json::json;

/// Reports of the list.
const REPORTS_MAX: usize = 100;

/// Work with files, away from the requests of others.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ProblemCode::Internal.because(error.to_string()))
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let app = state.app.clone();
    let all = apart(move || reports::list(&app)).await?;
    let row = |entry: &ReportEntry| ReportRowView {
        run: entry.run.to_string(),
        title: entry.title.clone(),
        question: entry.question.clone(),
        when: request.short_time(entry.made_at),
        numbers: (entry.proven, entry.numbers),
    };
    let runs = newest_runs(&state).await?;
    let is_open = |row: &everloop_store::RunRow| {
        row.profile.run_type == RunType::Analyze.name() && !row.status.is_final()
    };
    let under_way = runs.iter().map(|run| &run.row).filter(|row| is_open(row)).map(|row| {
        let said = status_words(row.status, lang);
        (row.run.to_string(), run_title(row), row.status.as_str(), said)
    });
    let mut loops: Vec<String> =
        catalog::loop_infos(&state.app, None)?.iter().map(|one| one.name.to_owned()).collect();
    loops.sort_by_key(|name| name != analysis::USUAL_LOOP);
    let list_view = ReportListView {
        rows: all.iter().take(REPORTS_MAX).map(row).collect(),
        under_way: under_way.collect(),
        loops,
    };
    let title = say(lang, words::reports::list_title());
    let (frame, _) = request.frame(&state, NavPlace::Reports, title).await?;
    Ok(page(view::list(&frame, &list_view)))
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let run = run_id(&id)?;
    let (app, wanted) = (state.app.clone(), run.clone());
    let read = apart(move || reports::read(&app, &wanted)).await?;
    let title = match &read {
        Ok(report) => report.model.title.clone(),
        Err(_) => say(request.lang(), words::reports::list_title()),
    };
    let (mut frame, _) = request.frame(&state, NavPlace::Reports, title).await?;
    let report = match read {
        Ok(report) => report,
        Err(ReportError::NotFound) => return Err(missing()),
        Err(error) => {
            return Ok(page(view::unreadable(&frame, run.as_str(), &error.to_string())));
        }
    };
    frame.script = Some("report.js");
    let checked = state.flashes.get(request.session_name(), &format!("/reports/{run}"));
    Ok(page(view::view(&frame, &report_view(request.lang(), report, checked))))
}

fn report_view(lang: Lang, report: FinishedReport, checked: Option<String>) -> ReportView {
    let FinishedReport { entry, model, state } = report;
    let to = |name: &str| format!("/reports/{}/files/{}", entry.run, percent_encoded(name));
    let question = everloop_text::analysis::report::question(&model.question);
    let files =
        entry.files.iter().map(|file| (file.name.clone(), size(file.bytes), to(&file.name)));
    let numbers = model.numbers.iter().map(|number| ReportNumberView {
        text: number.text.clone(),
        is_proven: (number.status.is_proven() || number.status.is_marked())
            .then(|| number.status.is_proven()),
        status: reports::status_words(number.status, lang),
        query: query_of(&number.source),
        source: number.source.clone(),
        value: number.value.clone(),
    });
    let queries = model.queries.into_iter().map(|query| {
        let csv = format!("results/q{}.csv", query.number);
        let ms = i64::try_from(query.took_ms).unwrap_or(i64::MAX);
        let rows = grouped(query.row_count as u64);
        ReportQueryView {
            number: query.number,
            sql: query.sql,
            size: say(lang, words::reports::query_size(&rows, &duration(lang, ms))),
            row_count: query.row_count,
            columns: query.columns,
            rows: query.rows,
            csv: entry.files.iter().any(|file| file.name == csv).then(|| to(&csv)),
        }
    });
    ReportView {
        run: entry.run.to_string(),
        about: format!("{} · {}", model.made_at, say(lang, question)),
        keys: model.keys.into_iter().map(|k| (k.label, k.value_html, k.rest_html)).collect(),
        sections: model
            .sections
            .into_iter()
            .map(|part| (part.heading_html, part.html, part.queries))
            .collect(),
        numbers: numbers.collect(),
        queries: queries.collect(),
        cells: model.cells.into_iter().map(|c| (c.number, c.code, c.output)).collect(),
        facts: model.facts.into_iter().map(|fact| (fact.name, fact.value)).collect(),
        caveats: model.caveats,
        files: files.collect(),
        is_changed: state != ArtifactState::AsWritten,
        title_html: model.title_html,
        checked,
    }
}

/// The query that an expression begins with: `q3.r1.qoq * 100` gives 3.
fn query_of(source: &str) -> Option<u32> {
    let rest = source.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| {
        word.strip_prefix('q').filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    })?;
    rest.parse().ok()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} kB", bytes.div_ceil(1_024)),
        _ => format!("{}.{} MB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

/// A file of a report: always a download.
pub(crate) async fn file(
    State(state): State<ServerState>,
    PathOf((id, name)): PathOf<(String, String)>,
) -> Result<Response, Problem> {
    let (run, app, wanted) = (run_id(&id)?, state.app.clone(), name.clone());
    let content = apart(move || reports::file(&app, &run, &wanted)).await?;
    Ok(download(content.map_err(of_artifact)?, &name))
}

pub(crate) async fn check(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    request: PageRequest,
    _fields: FormFields,
) -> Result<Response, Problem> {
    let (run, lang) = (run_id(&id)?, request.lang());
    let said = checked(&state, run.clone(), lang).await?;
    let back = format!("/reports/{run}");
    state.flashes.put(request.session_name(), &back, said);
    Ok(see_other(&back))
}

async fn checked(state: &ServerState, run: RunId, lang: Lang) -> Result<String, Problem> {
    let app = state.app.clone();
    let found = apart(move || reports::check(&app, &run, &analysis::read_limits(&app))).await?;
    match found {
        Ok(report) => Ok(check_words(&report, lang)),
        Err(ReportError::NotFound) => Err(missing()),
        Err(error) => Ok(say(lang, words::reports::recheck_failed(&error.to_string()))),
    }
}

pub(crate) async fn begin(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let files: Vec<&str> =
        fields.get("files").lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if files.is_empty() {
        let said = say(request.lang(), words::reports::no_files());
        return Err(ProblemCode::InvalidInput.because(said));
    }
    let mut input = json!({"files": files, "question": fields.get("question")});
    if let Some(name) = fields.some("loop") {
        input["loop"] = json!(name);
    }
    let wanted = RunRequest {
        run_type: RunType::Analyze.name().to_owned(),
        input,
        idem_key: request.key_name("reports"),
        ..RunRequest::default()
    };
    let submission = run_types::submission(&state.app, state.store(), &wanted).await?;
    let run = run_types::submit(&state.app, state.engine(), submission, None).await?;
    Ok(see_other(&format!("/runs/{run}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_an_expression_is_found() {
        assert_eq!(query_of("q3.r1.qoq * 100"), Some(3));
        assert_eq!(query_of("(q12.r1.a - q2.r1.a)"), Some(12));
        assert_eq!((query_of("c1.total"), query_of("quota"), query_of("")), (None, None, None));
    }
}
