//! Comparisons: what the page shows of them, and what its forms ask for.

use super::chat::run_title;
use super::compare_runs;
use super::forms::FormFields;
use super::frame::{PageRequest, missing};
use super::respond::{page, see_other};
use super::table::ComparedTable;
use crate::comparing::{ComparisonOffer, ComparisonRequest};
use crate::comparison_desk::{self, ComparisonFailure, ComparisonProgress};
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use everloop_app::comparison::KeptComparison;
use everloop_app::environment::is_scripted;
use everloop_app::run_list::{ListedRun, RunListRequest, RunPage};
use everloop_pages::compare::{self as view, CompareForm, ComparePageView, CompareProgressView};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{say, status_words};
use everloop_text::pages as words;
use everloop_types::Lang;
use serde_json::Value;

/// Runs that can be chosen.
const RUNS_MAX: usize = 50;

/// Runs of one cell.
const REPEATS_MAX: u64 = 100;

/// The newest runs.
pub(super) async fn newest_runs(state: &ServerState) -> Result<Vec<ListedRun>, Problem> {
    let wanted = RunListRequest { limit: RUNS_MAX, ..RunListRequest::default() };
    Ok(RunPage::read(&state.app, state.store(), wanted).await?.runs)
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(given): Query<Vec<(String, String)>>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let given = |name: &str| given.iter().find(|(known, _)| known == name).map(|(_, it)| &**it);
    match (given("a"), given("b")) {
        (Some(one), Some(other)) => return compare_runs::show(&state, &request, one, other).await,
        (Some(one), None) => return compare_runs::choose(&state, &request, one).await,
        _ => {}
    }
    let Some(comparison) = &state.comparison else { return Err(missing()) };
    let lang = request.lang();
    let runs = newest_runs(&state).await?;
    let runs = runs.iter().map(|run| {
        let status = status_words(run.row.status, lang);
        let when = request.short_time(run.row.times.updated_at);
        let (title, name) = (run_title(&run.row), &run.row.loop_name);
        (run.row.run.to_string(), format!("{title} · {name} · {status} · {when}"))
    });
    let progress = state.comparisons.progress();
    let cut_off = match progress {
        None => KeptComparison::UnderWay.read(&state.app),
        Some(_) => None,
    };
    let table = KeptComparison::Table.read(&state.app).and_then(ComparedTable::of);
    let page_view = ComparePageView {
        form: form(&state, lang, comparison.offer()),
        under_way: progress.map(progress_view),
        said: state.comparisons.failure().map(|failure| failure_words(lang, &failure)),
        cut_off: cut_off.and_then(ComparedTable::of).map(|asked| asked.again()),
        result: table.and_then(|table| table.shown(lang, given("model"))),
        runs: runs.collect(),
    };
    let (mut frame, _) =
        request.frame(&state, NavPlace::Compare, say(lang, words::compare::title())).await?;
    frame.script = Some("compare.js");
    Ok(page(view::view(&frame, &page_view)))
}

fn failure_words(lang: Lang, failure: &ComparisonFailure) -> String {
    say(
        lang,
        match failure {
            ComparisonFailure::Stopped => words::compare::stopped(),
            ComparisonFailure::Broken => words::compare::broken(),
            ComparisonFailure::NotKept(detail) => words::compare::not_kept(detail),
        },
    )
}

fn progress_view(progress: ComparisonProgress) -> CompareProgressView {
    let loops = progress.loops.into_iter();
    CompareProgressView {
        done: progress.done,
        all: progress.all,
        loops: loops.map(|(name, (over, good))| (name, over, over - good)).collect(),
    }
}

fn form(state: &ServerState, lang: Lang, offer: ComparisonOffer) -> CompareForm {
    let policy = |name: String| {
        let about = words::compare::policy::named(&name).map(|about| say(lang, about));
        (name, about.unwrap_or_default())
    };
    let kind = |(name, tasks): (&'static str, Vec<String>)| {
        let said = words::compare::kind::named(name).map(|said| say(lang, said));
        (name.to_owned(), said.unwrap_or_else(|| name.to_owned()), tasks.len())
    };
    CompareForm {
        loops: offer.loops,
        policies: offer.policies.into_iter().map(policy).collect(),
        model: own_model(state).map(|name| {
            let costs = !is_scripted(&name);
            (name, costs)
        }),
        kinds: offer.tasks.into_iter().map(kind).collect(),
    }
}

/// The model of the settings.
fn own_model(state: &ServerState) -> Option<String> {
    let name = &state.app.settings.model.default;
    (!name.is_empty()).then(|| name.clone())
}

pub(crate) async fn begin(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let Some(comparison) = &state.comparison else { return Err(missing()) };
    let asked = asked(&state, lang, comparison.offer(), &fields)?;
    comparison_desk::begin(&state, asked)?;
    Ok(see_other("/compare"))
}

/// What the boxes of the form mean, or the names of an earlier comparison.
fn asked(
    state: &ServerState,
    lang: Lang,
    offer: ComparisonOffer,
    fields: &FormFields,
) -> Result<ComparisonRequest, Problem> {
    let refused = |text| ProblemCode::InvalidInput.because(say(lang, text));
    let on = |name: String| fields.get(&name) == "on";
    let named = |name: &str| -> Vec<String> {
        fields.get(name).split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let is_again = !named("loops").is_empty();
    let own = own_model(state);
    let mut models: Vec<String> = match is_again {
        true => named("models"),
        false => {
            let all = offer.policies.iter();
            all.filter(|name| on(format!("model:{name}"))).cloned().collect()
        }
    };
    if let Some(own) = own.as_ref().filter(|_| on("own".to_owned())) {
        models.push(own.clone());
    }
    let is_real = |name: &String| !offer.policies.contains(name);
    let costs = |name: &String| is_real(name) && !is_scripted(name);
    if models.iter().any(costs) && !on("agree".to_owned()) {
        return Err(refused(words::compare::not_agreed()));
    }
    let loops = match is_again {
        true => named("loops"),
        false => offer.loops.into_iter().filter(|name| on(format!("loop:{name}"))).collect(),
    };
    let tasks: Vec<String> = match is_again {
        true => named("tasks"),
        false => {
            let kinds = offer.tasks.into_iter().filter(|(kind, _)| on(format!("kind:{kind}")));
            kinds.flat_map(|(_, tasks)| tasks).collect()
        }
    };
    if loops.is_empty() || models.is_empty() || tasks.is_empty() {
        return Err(refused(words::compare::nothing_chosen()));
    }
    Ok(ComparisonRequest {
        asks_models: models.iter().any(is_real),
        loops,
        models,
        tasks,
        seed: number(lang, fields, ("seed", words::compare::seed()), 0..=u64::MAX)?,
        runs: number(lang, fields, ("runs", words::compare::repeats()), 1..=REPEATS_MAX)?,
        simulates_time: true,
    })
}

fn number(
    lang: Lang,
    fields: &FormFields,
    (name, words_of): (&str, everloop_text::Text),
    range: std::ops::RangeInclusive<u64>,
) -> Result<u64, Problem> {
    let given = fields.some(name).map_or(Ok(1), |given| given.parse::<u64>());
    given.ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let range = format!("{}–{}", range.start(), range.end());
        let text = words::compare::bad_number(&say(lang, words_of), &range);
        ProblemCode::InvalidInput.because(say(lang, text))
    })
}

pub(crate) async fn stop(
    State(state): State<ServerState>,
    _fields: FormFields,
) -> Result<Response, Problem> {
    state.comparisons.stop();
    Ok(see_other("/compare"))
}

/// The last table as a file.
pub(crate) async fn export(State(state): State<ServerState>) -> Result<Response, Problem> {
    let table: Value = KeptComparison::Table.read(&state.app).ok_or_else(missing)?;
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"everloop-compare.json\""),
    ];
    let text = serde_json::to_string_pretty(&table).unwrap_or_default();
    Ok((headers, text + "\n").into_response())
}
