//! Todos and the schedule. Each form becomes the command that a person would type.

use super::agenda_calendar::{CalendarSource, calendar};
use super::agenda_conflict::{
    CONFLICT, answer_words, choose_despite, conflict_offer, conflict_with,
};
use super::agenda_detail::{RehearsalParams, chosen, rehearsed, usual_week};
use super::agenda_line::{next_of, priority_words, read_line, read_time, wrong_words};
use super::forms::FormFields;
use super::frame::{PageRequest, missing};
use super::respond::{page, see_other};
use crate::json::PathOf;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_agenda::commands::{
    AgendaCommand, AgendaVerb, ScheduleCommand, TodoCommand, TodoFilter, TodoView,
};
use everloop_agenda::desk::AgendaResult;
use everloop_agenda::{kept, show as words_of};
use everloop_app::agenda::arguments::AgendaLine;
use everloop_app::agenda::{self, ChangeTerms};
use everloop_app::{catalog, scheduling};
use everloop_pages::agenda::{
    self as view, AgendaTodo, AgendaView, CalendarSpan, MissedMoment, QuickAdd, ScheduleItem,
};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::say;
use everloop_store::{ScheduleRow, ScheduledFiring, ScheduledState, TodoRow};
use everloop_text::pages as words;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Deserialize;

/// Missed occurrences that are listed.
const MISSED_MAX: usize = 10;

/// Todos of one page.
const TODOS_MAX: usize = 50;

/// Firings of one schedule that the calendar looks at.
const FIRINGS_MAX: usize = 200;

/// What is wanted of the agenda.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct AgendaParams {
    #[serde(default)]
    view: String,
    /// `day`, `week` or `month`.
    #[serde(default)]
    cal: String,
    /// A day of it.
    #[serde(default)]
    date: String,
    /// Where the todos of the view go on.
    #[serde(default)]
    from_todo: String,
    /// The number of a todo or an entry: in a flattened query a number is text.
    #[serde(default)]
    pub(super) todo: String,
    #[serde(default)]
    pub(super) entry: String,
    #[serde(flatten)]
    rehearsal: RehearsalParams,
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(params): Query<AgendaParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let title = say(lang, words::nav::agenda());
    let (mut frame, _) = request.frame(&state, NavPlace::Agenda, title).await?;
    frame.script = Some("agenda.js");
    let todos = state.store().agenda().todos().await?;
    let entries = state.store().agenda().schedules().await?;
    let shown = ["today", "upcoming", "done"].into_iter().find(|name| *name == params.view);
    let shown = shown.unwrap_or("all");
    let span = CalendarSpan::ALL.into_iter().find(|span| span.name() == params.cal);
    let day = params.date.parse::<Date>().unwrap_or_else(|_| request.reader.now.date());
    let mut firings = Vec::new();
    for entry in entries.iter().filter(|entry| entry.said.run.is_some()) {
        firings.extend(scheduling::firings(state.store(), entry.id, FIRINGS_MAX).await?);
    }
    let fired = firings.iter().map(|one| ((one.schedule, one.due_at), one.state));
    let listed = todo_items(&request, shown, todos.clone());
    let (listed, more_todos) = todo_page(listed, shown, &params.from_todo);
    let source = CalendarSource { entries: &entries, todos: &todos, fired: &fired.collect() };
    let detail = chosen(&request, &params, &todos, &entries, &firings);
    let rehearsal = rehearsed(&request, &state, &params.rehearsal).await?;
    let agenda = AgendaView {
        quick: QuickAdd::default(),
        shown: shown.to_owned(),
        calendar: calendar(&request, span.unwrap_or_default(), day, &source),
        detail,
        loops: catalog::loop_infos(&state.app, None)?
            .into_iter()
            .map(|one| one.name.to_owned())
            .collect(),
        rehearsal,
        todos: listed,
        more_todos,
        conflict: conflict_offer(&state, &request),
        week: usual_week(&request),
        entries: entries.iter().map(|entry| item(&request, entry)).collect(),
        missed: newest_missed(&request, &entries, &firings),
        told: state.flashes.get(request.session_name(), "agenda"),
    };
    Ok(page(view::view(&frame, &agenda)))
}

fn todo_items(request: &PageRequest, shown: &str, todos: Vec<TodoRow>) -> Vec<AgendaTodo> {
    let now = &request.reader.now;
    let wanted = match shown {
        "upcoming" => TodoView::Upcoming,
        _ => TodoView::All,
    };
    let is_today = |row: &TodoRow| {
        let due = row.said.due_at.and_then(|due| Timestamp::from_millisecond(due).ok());
        due.is_none_or(|due| due.to_zoned(now.time_zone().clone()).date() <= now.date())
    };
    let filter = TodoFilter::default();
    let rows = kept::viewed(todos, wanted, &filter, now).into_iter();
    rows.filter(|row| match shown {
        "done" => row.done_at.is_some(),
        "today" => row.done_at.is_none() && is_today(row),
        "upcoming" => row.done_at.is_none(),
        _ => true,
    })
    .map(|row| todo_item(request, row))
    .collect()
}

/// The todos of a page, and the address of the next one.
fn todo_page(all: Vec<AgendaTodo>, shown: &str, from: &str) -> (Vec<AgendaTodo>, Option<String>) {
    let from = from.parse::<usize>().unwrap_or(0);
    let next = from.saturating_add(TODOS_MAX);
    let more = (next < all.len()).then(|| format!("/agenda?view={shown}&from_todo={next}"));
    (all.into_iter().skip(from).take(TODOS_MAX).collect(), more)
}

fn todo_item(request: &PageRequest, row: TodoRow) -> AgendaTodo {
    let now = request.reader.now.timestamp().as_millisecond();
    AgendaTodo {
        id: row.id,
        text: row.said.text,
        due: row.said.due_at.and_then(|due| Timestamp::from_millisecond(due).ok()).map(|due| {
            let read = read_time(request, due);
            format!("{} · {}", read.at, read.distance)
        }),
        is_late: row.done_at.is_none() && row.said.due_at.is_some_and(|due| due < now),
        is_done: row.done_at.is_some(),
        priority: priority_words(request, row.said.priority),
        tags: row.said.tags,
    }
}

fn item(request: &PageRequest, entry: &ScheduleRow) -> ScheduleItem {
    let lang = request.lang();
    let run = entry.said.run.as_ref();
    let repeats = words_of::repetition(&request.reader, entry);
    let repeats = repeats.unwrap_or_else(|| say(lang, words::agenda::once()));
    let kind = match run {
        Some(_) => format!("{} · {repeats}", say(lang, words::agenda::starts_runs())),
        None => repeats,
    };
    ScheduleItem {
        id: entry.id,
        title: entry.said.title.clone(),
        repeats: kind,
        next: next_of(request, entry).into_iter().next(),
        starts_runs: run.is_some(),
        is_paused: run.is_some_and(|run| run.paused.is_some()),
    }
}

/// The newest moments at which no process ran, and what was done about each.
fn newest_missed(
    request: &PageRequest,
    entries: &[ScheduleRow],
    firings: &[ScheduledFiring],
) -> Vec<MissedMoment> {
    let lang = request.lang();
    let done = |one: &ScheduledFiring| match one.state {
        ScheduledState::Missed => Some(("missed", words::agenda::left_out())),
        ScheduledState::Late => {
            let at = request.short_time(one.fired_at);
            Some(("succeeded", words::agenda::made_up_at(&at)))
        }
        _ => None,
    };
    let mut missed: Vec<_> = firings.iter().filter_map(|one| Some((one, done(one)?))).collect();
    missed.sort_by_key(|(one, _)| std::cmp::Reverse(one.due_at));
    let title = |id: i64| entries.iter().find(|entry| entry.id == id);
    let told = missed.into_iter().take(MISSED_MAX).filter_map(|(one, (state, done))| {
        let title = title(one.schedule)?.said.title.clone();
        let when = request.reader.moment(one.due_at);
        Some(MissedMoment { state, title, when, done: say(lang, done) })
    });
    told.collect()
}

/// Carries a command out and tells what it came to on the page.
async fn perform(
    state: &ServerState,
    request: &PageRequest,
    command: &AgendaCommand,
) -> Result<(), Problem> {
    let reader = &request.reader;
    // An undo has no key of its own: the same request again gets its answer again.
    let is_undo = matches!(command, AgendaCommand::Todo(TodoCommand::Undo(_)));
    let key = if is_undo { None } else { request.key_name("agenda") };
    let terms = ChangeTerms { version: None, key: key.as_deref() };
    let done =
        agenda::perform_on(&state.app, state.store().clone(), command, reader, terms).await?;
    state.flashes.clear(request.session_name(), CONFLICT);
    keep_words(state, request, &done)
}

/// Keeps what a command came to for the page; a refusal is a problem.
fn keep_words(
    state: &ServerState,
    request: &PageRequest,
    done: &AgendaResult,
) -> Result<(), Problem> {
    let said = answer_words(request, done);
    match done {
        Ok(_) => {
            state.flashes.put(request.session_name(), "agenda", said);
            Ok(())
        }
        Err(_) => Err(ProblemCode::InvalidInput.because(said)),
    }
}

pub(crate) async fn add(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let (text, kind) = (fields.get("text"), fields.get("as"));
    let command = read_line(&request, text, kind);
    let mut command = command
        .map_err(|wrong| ProblemCode::InvalidInput.because(wrong_words(&request, &wrong)))?;
    choose_despite(&request, &mut command, &fields);
    let reader = &request.reader;
    let done = agenda::perform(&state.app, state.store().clone(), &command, reader).await?;
    state.flashes.clear(request.session_name(), CONFLICT);
    match conflict_with(&request, &done, text, kind) {
        Some(offer) => {
            let kept = serde_json::to_string(&offer).unwrap_or_default();
            state.flashes.clear(request.session_name(), "agenda");
            state.flashes.put_open(request.session_name(), CONFLICT, kept);
        }
        None => keep_words(&state, &request, &done)?,
    }
    Ok(see_other(fields.back()))
}

pub(crate) async fn undo(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let line = AgendaLine::new(AgendaVerb::Todo, "undo");
    run_line(&state, &request, line).await?;
    Ok(see_other(fields.back()))
}

async fn run_line(
    state: &ServerState,
    request: &PageRequest,
    line: AgendaLine,
) -> Result<(), Problem> {
    perform(state, request, &parse(request, line)?).await
}

fn parse(request: &PageRequest, line: AgendaLine) -> Result<AgendaCommand, Problem> {
    line.parse(&request.reader)
        .map_err(|wrong| ProblemCode::InvalidInput.because(wrong_words(request, &wrong)))
}

/// A text as one quoted word of a line. What the line makes of it is replaced by [`with_text`].
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'"))
}

/// The change with the text that was typed: no part of it is a quote, a date or an option.
fn with_text(mut command: AgendaCommand, text: &str) -> AgendaCommand {
    let text = text.replace(['\n', '\r', '\t'], " ").trim().to_owned();
    if text.is_empty() {
        return command;
    }
    match &mut command {
        AgendaCommand::Todo(TodoCommand::Update(_, todo)) => todo.text = Some(text),
        AgendaCommand::Schedule(ScheduleCommand::Update(_, entry)) => entry.title = Some(text),
        _ => {}
    }
    command
}

/// A verb of a list, with the number of a todo or an entry.
fn numbered(verb: AgendaVerb, known: &[&str], part: &str, id: &str) -> Result<AgendaLine, Problem> {
    let is_known = known.contains(&part) && id.parse::<u32>().is_ok();
    if is_known { Ok(AgendaLine::new(verb, part).id(id)) } else { Err(missing()) }
}

pub(crate) async fn change_todo(
    State(state): State<ServerState>,
    PathOf((id, verb)): PathOf<(String, String)>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let line = match verb.as_str() {
        "move" => {
            let at = moved_to(&request, &state, &id, &fields).await?;
            numbered(AgendaVerb::Todo, &["update"], "update", &id)?.option("due", Some(&at))
        }
        "edit" => {
            let line = numbered(AgendaVerb::Todo, &["update"], "update", &id)?;
            let command = parse(&request, todo_change(line, &fields))?;
            perform(&state, &request, &with_text(command, fields.get("text"))).await?;
            return Ok(see_other(fields.back()));
        }
        known => numbered(AgendaVerb::Todo, &["done", "reopen", "delete"], known, &id)?,
    };
    run_line(&state, &request, line).await?;
    Ok(see_other(fields.back()))
}

pub(crate) async fn change_entry(
    State(state): State<ServerState>,
    PathOf((id, verb)): PathOf<(String, String)>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let update = || numbered(AgendaVerb::Schedule, &["update"], "update", &id);
    let line = match verb.as_str() {
        "move" => {
            let at = fields.get("at").replace('T', " ");
            update()?.words(&at.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        }
        "edit" => {
            let when = fields.get("when").split_whitespace().map(str::to_owned);
            let typed: Vec<String> = when.chain([quoted(fields.get("title"))]).collect();
            let command = parse(&request, update()?.words(&typed))?;
            perform(&state, &request, &with_text(command, fields.get("title"))).await?;
            return Ok(see_other(fields.back()));
        }
        "rules" => {
            let line = update()?.option("catch-up", fields.some("catch_up").as_ref());
            line.option("overlap", fields.some("overlap").as_ref())
        }
        known => {
            let all = ["pause", "resume", "run", "delete"];
            numbered(AgendaVerb::Schedule, &all, known, &id)?
        }
    };
    run_line(&state, &request, line).await?;
    Ok(see_other(fields.back()))
}

/// What the fields of a todo change.
fn todo_change(line: AgendaLine, fields: &FormFields) -> AgendaLine {
    let none = || "none".to_owned();
    let due = fields.some("due").map(|due| due.replace('T', " "));
    line.words(&[quoted(fields.get("text"))])
        .option("due", Some(&due.unwrap_or_else(none)))
        .option("tag", Some(&fields.some("tags").unwrap_or_else(none)))
        .option("priority", fields.some("priority").as_ref())
}

/// The moment that a todo is moved to: one that was typed, or so much later than it is due.
async fn moved_to(
    request: &PageRequest,
    state: &ServerState,
    id: &str,
    fields: &FormFields,
) -> Result<String, Problem> {
    if let Some(at) = fields.some("at") {
        return Ok(at.replace('T', " "));
    }
    let by = match fields.get("by") {
        "hour" => jiff::Span::new().hours(1),
        "day" => jiff::Span::new().days(1),
        "week" => jiff::Span::new().weeks(1),
        other => return Err(Problem::of_field("by", other)),
    };
    let todos = state.store().agenda().todos().await?;
    let todo = todos.iter().find(|todo| todo.id.to_string() == id).ok_or_else(missing)?;
    let now = &request.reader.now;
    let due = todo.said.due_at.and_then(|due| Timestamp::from_millisecond(due).ok());
    let due = due.map_or_else(|| now.clone(), |due| due.to_zoned(now.time_zone().clone()));
    // What is late is put off from now on.
    let from = if due < *now { now.clone() } else { due };
    let later = from.checked_add(by).unwrap_or(from);
    Ok(later.strftime("%Y-%m-%d %H:%M").to_string())
}

/// A schedule that starts runs, from the fields of the page.
pub(crate) async fn add_run(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let said = format!("{} {}", fields.get("when").trim(), fields.get("title").trim());
    let typed: Vec<String> = said.split_whitespace().map(str::to_owned).collect();
    let line = AgendaLine::new(AgendaVerb::Schedule, "add").words(&typed);
    let line = line.option("run", fields.some("goal").as_ref());
    run_line(&state, &request, line.option("loop", fields.some("loop").as_ref())).await?;
    Ok(see_other(fields.back()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::ViewChoice;
    use everloop_agenda::commands::ScheduleCommand;
    use everloop_agenda::desk::{CommandRefusal, EntryConflict};
    use everloop_agenda::show::DisplayContext;
    use everloop_store::{ScheduleText, Span};
    use everloop_types::Lang;

    const DUE: i64 = 1_800_000_000_000;

    fn request() -> PageRequest {
        let now = Timestamp::from_millisecond(DUE + 3_600_000).unwrap();
        let now = now.to_zoned(jiff::tz::TimeZone::UTC);
        PageRequest {
            reader: DisplayContext { lang: Lang::En, now, width: None },
            session: None,
            choice: ViewChoice::default(),
            path: "/agenda".to_owned(),
            key: None,
            is_hidden: false,
        }
    }

    fn entry() -> ScheduleRow {
        let span = Span {
            starts: "2027-01-15T08:00".to_owned(),
            zone: "UTC".to_owned(),
            starts_at: DUE,
            minutes: 0,
        };
        let title = "Morning news".to_owned();
        ScheduleRow {
            id: 7,
            uid: "u".to_owned(),
            said: ScheduleText {
                title,
                span,
                repeat: None,
                remind: None,
                catch_up: None,
                run: None,
            },
            remind_next: None,
            created_at: 0,
            updated_at: 0,
            version: 1,
        }
    }

    #[test]
    fn a_text_that_is_edited_is_saved_as_it_was_typed() {
        let request = request();
        for text in ["5\" pipe", "\"quoted\"", "meet --due at 9 tomorrow", "it's 5"] {
            let fields = [("text".to_owned(), text.to_owned())];
            let fields = FormFields::of(fields.into_iter().collect());
            let line = numbered(AgendaVerb::Todo, &["update"], "update", "3").unwrap();
            let command = parse(&request, todo_change(line, &fields)).unwrap();
            let AgendaCommand::Todo(TodoCommand::Update(3, todo)) = with_text(command, text) else {
                panic!("{text}");
            };
            assert_eq!((todo.text.as_deref(), todo.due), (Some(text), Some(None)));
            let line = numbered(AgendaVerb::Schedule, &["update"], "update", "4").unwrap();
            let command = parse(&request, line.words(&[quoted(text)])).unwrap();
            let AgendaCommand::Schedule(ScheduleCommand::Update(4, entry)) =
                with_text(command, text)
            else {
                panic!("{text}");
            };
            assert_eq!((entry.title.as_deref(), entry.start.is_some()), (Some(text), false));
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_without_the_usage_of_a_terminal() {
        let wrong = read_line(&request(), "next week", "todo").unwrap_err();
        let said = wrong_words(&request(), &wrong);
        assert!(!said.contains("/todo") && !said.is_empty(), "{said}");
        let free = Timestamp::from_millisecond(DUE + 7_200_000).unwrap();
        let with = vec![(entry(), Timestamp::from_millisecond(DUE).unwrap())];
        let conflict = EntryConflict { with, minutes: 30, next_free: Some(free) };
        let done = Err(CommandRefusal::Conflict(conflict));
        let offer = conflict_with(&request(), &done, "tomorrow 10:00 dentist", "schedule").unwrap();
        let kept = serde_json::to_string(&offer).unwrap();
        assert!(kept.contains("Morning news") && !kept.contains("--allow-conflict"), "{kept}");
        assert!(kept.contains(&(DUE + 7_200_000).to_string()), "{kept}");
    }

    #[test]
    fn a_conflict_is_passed_over_or_evaded_as_the_person_chose() {
        let chosen = |name: &str, value: &str| {
            let mut command = read_line(&request(), "tomorrow 10:00 dentist", "schedule").unwrap();
            let fields = [(name.to_owned(), value.to_owned())].into();
            choose_despite(&request(), &mut command, &FormFields::of(fields));
            let AgendaCommand::Schedule(ScheduleCommand::Add(new)) = command else { panic!() };
            (new.allow_conflict, new.start.map(|start| start.at.as_millisecond()))
        };
        let usual = chosen("text", "");
        assert!(!usual.0 && usual.1.is_some());
        assert_eq!(chosen("allow", "yes"), (true, usual.1));
        let free = DUE + 7_200_000;
        assert_eq!(chosen("at", &free.to_string()), (false, Some(free)));
    }

    #[test]
    fn a_page_has_fifty_todos_and_leads_on() {
        let todo = |id| AgendaTodo {
            id,
            text: String::new(),
            due: None,
            is_late: false,
            is_done: false,
            priority: None,
            tags: Vec::new(),
        };
        let all: Vec<_> = (0..120).map(todo).collect();
        let (first, more) = todo_page(all.clone(), "all", "");
        assert_eq!((first.len(), more.as_deref()), (50, Some("/agenda?view=all&from_todo=50")));
        let (last, more) = todo_page(all, "all", "100");
        assert_eq!((last.len(), last[0].id, more), (20, 100, None));
    }

    #[test]
    fn the_list_of_what_was_missed_says_what_was_done_about_it() {
        let firing = |due_at, state| ScheduledFiring {
            schedule: 7,
            due_at,
            fired_at: DUE + 1_800_000,
            state,
            reason: None,
            run: None,
            ended: None,
        };
        let firings = [
            firing(DUE, ScheduledState::Missed),
            firing(DUE + 60_000, ScheduledState::Late),
            firing(DUE + 120_000, ScheduledState::Started),
        ];
        let told = newest_missed(&request(), &[entry()], &firings);
        let told: Vec<_> = told.iter().map(|one| (one.state, one.done.as_str())).collect();
        assert_eq!(
            told,
            [("succeeded", "caught up at 08:30"), ("missed", "not caught up (by its rule)")]
        );
    }
}
