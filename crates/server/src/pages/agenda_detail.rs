//! What is chosen in the agenda; the rehearsal; files of other programs.

use super::agenda_line::{next_of, read_time};
use super::firings::{firing_state, firing_words};
use super::forms::FormFields;
use super::frame::PageRequest;
use super::respond::see_other;
use super::run_files::download;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_agenda::kept::simulate::RehearsalResult;
use everloop_agenda::portable::{self, PortableContent};
use everloop_agenda::show as words_of;
use everloop_app::rehearsal::{RehearsalError, RehearsalRequest, rehearse_reminders};
use everloop_pages::agenda::{AgendaDetail, EntryDetail, RehearsalRow, RehearsalView, TodoDetail};
use everloop_pages::parts::{duration, say};
use everloop_store::{FiringOutcome, ScheduleRow, ScheduledFiring, TodoRow};
use everloop_text::pages as words;
use jiff::Timestamp;
use serde::Deserialize;

/// Firings that the detail of an entry lists.
const LISTED_MAX: usize = 8;

/// Firings of a rehearsal that are listed.
const ROWS_MAX: usize = 60;

/// What is to be rehearsed.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RehearsalParams {
    #[serde(default)]
    rehearse: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    until: String,
    #[serde(default)]
    down: String,
    #[serde(default)]
    up: String,
    #[serde(default)]
    crashes: String,
}

/// What the address chooses of the agenda.
pub(super) fn chosen(
    request: &PageRequest,
    params: &super::agenda::AgendaParams,
    todos: &[TodoRow],
    entries: &[ScheduleRow],
    firings: &[ScheduledFiring],
) -> Option<AgendaDetail> {
    if let Some(row) = todos.iter().find(|row| row.id.to_string() == params.todo) {
        return Some(AgendaDetail::Todo(todo_detail(request, row)));
    }
    let row = entries.iter().find(|row| row.id.to_string() == params.entry)?;
    Some(AgendaDetail::Entry(entry_detail(request, row, firings)))
}

/// A moment as a field for time has it.
fn field(request: &PageRequest, at: Timestamp) -> String {
    at.to_zoned(request.reader.now.time_zone().clone()).strftime("%Y-%m-%dT%H:%M").to_string()
}

fn todo_detail(request: &PageRequest, row: &TodoRow) -> TodoDetail {
    let due = row.said.due_at.and_then(|due| Timestamp::from_millisecond(due).ok());
    TodoDetail {
        id: row.id,
        text: row.said.text.clone(),
        due: due.map(|due| field(request, due)).unwrap_or_default(),
        at: due.map(|due| read_time(request, due)),
        tags: row.said.tags.join(", "),
        priority: row.said.priority,
    }
}

fn entry_detail(
    request: &PageRequest,
    row: &ScheduleRow,
    firings: &[ScheduledFiring],
) -> EntryDetail {
    let lang = request.lang();
    let said = &row.said;
    let repeats = words_of::repetition(&request.reader, row);
    let start = Timestamp::from_millisecond(said.span.starts_at).unwrap_or_default();
    let first = read_time(request, start);
    let run = said.run.as_ref();
    let mut facts = Vec::new();
    if let Some(run) = run {
        facts.push((say(lang, words::agenda::goal()), run.goal.clone()));
        if let Some(name) = &run.loop_name {
            facts.push((say(lang, words::agenda::loop_name()), name.clone()));
        }
        if let Some(folder) = &run.workspace {
            facts.push((say(lang, words::agenda::folder()), folder.clone()));
        }
    }
    let mut own: Vec<_> = firings.iter().filter(|one| one.schedule == row.id).collect();
    own.sort_by_key(|one| std::cmp::Reverse(one.due_at));
    EntryDetail {
        id: row.id,
        title: said.title.clone(),
        start: repeats.is_none().then(|| field(request, start)),
        time: match repeats {
            Some(repeats) => format!("{repeats} · {}", said.span.zone),
            None => format!("{} {} · {}", first.at, first.zone, first.distance),
        },
        facts,
        next: next_of(request, row),
        starts_runs: run.is_some(),
        paused: run.and_then(|run| run.paused.as_ref()).map(|pause| {
            let since = request.reader.moment(pause.at);
            pause.error.as_ref().map_or(since.clone(), |error| format!("{since} {error}"))
        }),
        catch_up: said.catch_up.clone().unwrap_or_default(),
        overlap: run.map(|run| run.overlap.as_str().to_owned()).unwrap_or_default(),
        firings: own.into_iter().take(LISTED_MAX).map(|one| firing(request, one)).collect(),
        rule: said.repeat.as_ref().map(|rule| format!("RRULE:{}", rule.rrule)),
    }
}

type FiringLine = (&'static str, String, String, Option<String>);

fn firing(request: &PageRequest, one: &ScheduledFiring) -> FiringLine {
    let run = one.run.as_ref().map(ToString::to_string);
    (firing_state(one), request.reader.moment(one.due_at), firing_words(request, one), run)
}

/// The days that a rehearsal looks at unless others are chosen: a week from today on.
pub(super) fn usual_week(request: &PageRequest) -> (String, String) {
    let today = request.reader.now.date();
    let last = today.checked_add(jiff::Span::new().days(7)).unwrap_or(today);
    (today.to_string(), last.to_string())
}

/// What a rehearsal finds, if one is asked for.
pub(super) async fn rehearsed(
    request: &PageRequest,
    state: &ServerState,
    params: &RehearsalParams,
) -> Result<Option<RehearsalView>, Problem> {
    if params.rehearse.is_empty() {
        return Ok(None);
    }
    let crashes = (params.crashes == "all").then_some("all");
    let moment = |typed: &str| typed.trim().replace('T', " ");
    let down: Vec<String> = match (params.down.trim(), params.up.trim()) {
        ("", _) | (_, "") => Vec::new(),
        (down, up) => vec![format!("{}..{}", moment(down), moment(up))],
    };
    let asked =
        RehearsalRequest { from: &params.from, to: &params.until, crash_at: crashes, down: &down };
    let view = RehearsalView {
        span: (params.from.clone(), params.until.clone()),
        down: (params.down.clone(), params.up.clone()),
        crashes: crashes.is_some(),
        ..RehearsalView::default()
    };
    Ok(Some(match rehearse_reminders(&state.app, state.store(), &asked, &request.reader).await {
        Ok(found) => drawn(request, view, &found),
        Err(RehearsalError::Store(error)) => return Err(error.into()),
        Err(error) => RehearsalView { verdict: Some((false, error.to_string())), ..view },
    }))
}

fn drawn(request: &PageRequest, view: RehearsalView, found: &RehearsalResult) -> RehearsalView {
    let lang = request.lang();
    let text = match (found.is_right(), found.firings.is_empty()) {
        (true, true) => words::agenda::rehearsed_none(),
        (true, false) => words::agenda::rehearsed_right(&found.firings.len(), &found.crashes),
        (false, _) => words::agenda::rehearsed_wrong(&found.lost.len(), &found.wrong.len()),
    };
    let times = || found.firings.iter().map(|firing| firing.occurs_at);
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let whole = (last - first).max(1) as f64;
    let rows = found.firings.iter().take(ROWS_MAX).map(|firing| {
        let late = firing.fired_at - firing.occurs_at;
        RehearsalRow {
            state: match firing.state {
                FiringOutcome::Missed => "missed",
                FiringOutcome::Fired | FiringOutcome::Late => "succeeded",
            },
            at: request.reader.moment(firing.occurs_at),
            title: firing.title.clone(),
            late: if late > 0 { format!("+{}", duration(lang, late)) } else { String::new() },
            place: 1.0 + 98.0 * (firing.occurs_at - first) as f64 / whole,
        }
    });
    let verdict = Some((found.is_right(), say(lang, text)));
    RehearsalView { verdict, rows: rows.collect(), ..view }
}

/// What of the agenda goes into a file.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct AgendaFileParams {
    #[serde(default)]
    what: String,
}

/// Todos or the schedule as the file of another program.
pub(crate) async fn export(
    State(state): State<ServerState>,
    Query(params): Query<AgendaFileParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let what = PortableContent::parse(&params.what);
    let what = what.ok_or_else(|| Problem::of_field("what", params.what.as_str()))?;
    let text = portable::export(what, state.store(), &request.reader).await?;
    let (kind, name) = match what {
        PortableContent::Todos => ("text/plain; charset=utf-8", "todo.txt"),
        PortableContent::Schedule | PortableContent::All => ("text/calendar", "everloop.ics"),
    };
    Ok(download(text, kind, name))
}

/// Takes in the text of a calendar or of a todo.txt.
pub(crate) async fn import(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let text = fields.get("text");
    if text.trim().is_empty() {
        return Err(ProblemCode::InvalidInput.bare());
    }
    let desk = state.app.agenda(state.store().clone());
    let done = portable::import(PortableContent::All, text, &desk, &request.reader).await?;
    let said = portable::exchange_words(&request.reader, &done);
    state.flashes.put(request.session_name(), "agenda", said);
    Ok(see_other(fields.back()))
}
