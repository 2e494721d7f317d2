//! Todos and reminders. Each request becomes the command that a person would type.

use super::JsonObject;
use super::conversations::check_match;
use super::shapes::{DeletedAnswer, TodoAnswer, TodoListAnswer};
use crate::api::Api;
use crate::guard::RequestLang;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everloop_agenda::commands::AgendaVerb;
use everloop_agenda::desk::{CommandOutcome, CommandRefusal};
use everloop_agenda::show;
use everloop_app::agenda::arguments::AgendaLine;
use everloop_app::agenda::{self, ChangeTerms, UnreadReminders};
use everloop_app::conversations::{self, UnreadCount};
use everloop_types::Lang;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A todo to add, or what is to be changed of one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoFields {
    /// What is to be done; a date in it counts.
    text: Option<String>,
    /// When it is due, in words or as a date.
    due: Option<String>,
    /// When it reminds.
    remind: Option<String>,
    /// Its priority.
    priority: Option<TodoPriority>,
    /// Its tags.
    #[serde(default)]
    tags: Vec<String>,
}

/// How much is unread.
#[derive(Debug, Serialize, JsonSchema)]
struct NotificationCount {
    /// Reminders that have fired.
    reminders: i64,
    /// Conversations.
    conversations: i64,
    /// Messages of all of them.
    messages: i64,
}

/// The priority of a todo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum TodoPriority {
    /// As answers have it; 0 is none.
    Number(u8),
    /// As people write it.
    Text(String),
}

impl TodoPriority {
    fn written(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Which todos are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoParams {
    /// A view: `today`, `overdue`, `upcoming`, ….
    view: Option<String>,
    /// Only those with this tag.
    tag: Option<String>,
    /// Only open ones.
    open: Option<bool>,
    /// Only those in which this occurs.
    q: Option<String>,
}

pub(crate) fn add(api: &mut Api) {
    add_todos(api);
    let unread = Operation::get("/v1/notifications", "Reminders that nobody has read");
    api.route(unread.answers::<JsonObject>(200), unread_reminders);
    let path = "/v1/notifications/unread_count";
    let count = Operation::get(path, "How much is unread: reminders, conversations, messages");
    api.route(count.answers::<NotificationCount>(200), count_notifications);
    let seen = Operation::post("/v1/notifications/seen", "Marks all reminders as read");
    api.route(seen.answers_empty(), see_reminders);
}

fn add_todos(api: &mut Api) {
    let list = Operation::get("/v1/todos", "Lists todos").query::<TodoParams>();
    api.route(list.answers::<TodoListAnswer>(200), list_todos);
    let add = Operation::post("/v1/todos", "Adds a todo").body::<TodoFields>();
    let add = add.answers::<TodoAnswer>(201).tagged().problems(&[ProblemCode::Conflict]);
    api.route(add, add_todo);
    let path = "/v1/todos/{id}";
    let get = Operation::get(path, "One todo, with an ETag").answers::<TodoAnswer>(200).tagged();
    api.route(get, get_todo);
    let summary = "Changes a todo; If-Match is honoured";
    let change = Operation::new(Method::PATCH, path, summary).body::<TodoFields>();
    let change = change.answers::<TodoAnswer>(200).edits().problems(&[ProblemCode::Conflict]);
    api.route(change, change_todo);
    let delete = Operation::new(Method::DELETE, path, "Deletes a todo; it can be undone");
    api.route(delete.answers::<DeletedAnswer>(200).bound(), delete_todo);
    let done = Operation::post("/v1/todos/{id}/done", "Marks a todo as done");
    api.route(done.answers::<TodoAnswer>(200), finish_todo);
    let reopen = Operation::post("/v1/todos/{id}/reopen", "Opens a todo again");
    api.route(reopen.answers::<TodoAnswer>(200), reopen_todo);
    let undo = Operation::post("/v1/todos/undo", "Takes back the last change of the agenda");
    api.route(undo.answers::<JsonObject>(200), undo_change);
}

/// The JSON of a command's outcome, with the version of the one item that it is about.
pub(super) struct AgendaAnswer {
    body: JsonObject,
    version: Option<i64>,
}

impl IntoResponse for AgendaAnswer {
    fn into_response(self) -> Response {
        let mut response = Body(self.body).into_response();
        let etag = self.version.map(etag).and_then(|etag| HeaderValue::from_str(&etag).ok());
        if let Some(etag) = etag {
            response.headers_mut().insert(header::ETAG, etag);
        }
        response
    }
}

fn etag(version: i64) -> String {
    format!("\"{version}\"")
}

/// The version of the one item that an outcome is about.
fn version_of(outcome: &CommandOutcome) -> Option<i64> {
    match outcome {
        CommandOutcome::Todo(_, todo, _) => Some(todo.version),
        CommandOutcome::Entry(_, entry, ..) => Some(entry.version),
        CommandOutcome::RunSchedule(view) => Some(view.entry.version),
        _ => None,
    }
}

/// Carries a command out and answers with its JSON.
pub(super) async fn perform(state: &ServerState, lang: Lang, line: AgendaLine) -> Done {
    perform_on(state, lang, line, ChangeTerms::default()).await
}

/// The same, once for each key.
pub(super) async fn perform_once(
    state: &ServerState,
    lang: Lang,
    line: AgendaLine,
    key: Option<String>,
) -> Done {
    perform_on(state, lang, line, ChangeTerms { version: None, key: key.as_deref() }).await
}

/// Carries out a change of the item that `shown` shows, if it is still what `If-Match` names.
pub(super) async fn change(
    state: &ServerState,
    lang: Lang,
    headers: &HeaderMap,
    [shown, changed]: [AgendaLine; 2],
) -> Done {
    let found = perform(state, lang, shown).await?;
    let version = found.version.unwrap_or(0);
    let is_bound = check_match(headers, &etag(version))?;
    let version = is_bound.then_some(version);
    perform_on(state, lang, changed, ChangeTerms { version, key: None }).await
}

/// Deletes the item that `shown` shows, if it is what `If-Match` names. A delete without it may
/// come again.
pub(super) async fn delete(
    state: &ServerState,
    lang: Lang,
    headers: &HeaderMap,
    [shown, deleted]: [AgendaLine; 2],
) -> Done {
    if headers.contains_key(header::IF_MATCH) {
        let found = perform(state, lang, shown).await?;
        check_match(headers, &etag(found.version.unwrap_or(0)))?;
    }
    perform(state, lang, deleted).await
}

async fn perform_on(
    state: &ServerState,
    lang: Lang,
    line: AgendaLine,
    terms: ChangeTerms<'_>,
) -> Done {
    let reader = state.reader(lang);
    let command = match line.parse(&reader) {
        Ok(command) => command,
        Err(wrong) => {
            let said = show::wrong_json(&reader, &wrong);
            let words = said["message"].as_str().unwrap_or_default();
            // How the command is typed follows; nobody typed one.
            let words = words.lines().next().unwrap_or_default();
            return Err(ProblemCode::InvalidInput.because(words));
        }
    };
    let store = state.store().clone();
    let done = agenda::perform_on(&state.app, store, &command, &reader, terms).await?;
    match &done {
        Ok(outcome) => {
            let version = version_of(outcome);
            Ok(AgendaAnswer { body: JsonObject(show::as_json(&reader, &done)), version })
        }
        Err(refusal) => {
            let code = match refusal {
                CommandRefusal::Conflict(_) | CommandRefusal::Contested => ProblemCode::Conflict,
                CommandRefusal::Outdated(_) => ProblemCode::PreconditionFailed,
                CommandRefusal::NoSuchTodo(_) | CommandRefusal::NoSuchEntry(_) => {
                    ProblemCode::NotFound
                }
                CommandRefusal::OverlapsItself
                | CommandRefusal::RunInPast
                | CommandRefusal::ReminderNeedsDue
                | CommandRefusal::NotDue(_)
                | CommandRefusal::DoesNotRepeat(_)
                | CommandRefusal::DoesNotRemind(_)
                | CommandRefusal::StartsNoRuns(_)
                | CommandRefusal::CannotRun(_)
                | CommandRefusal::NothingToUndo
                | CommandRefusal::ChangedSince(_)
                | CommandRefusal::NoReminder(_)
                | CommandRefusal::NotHere => ProblemCode::InvalidInput,
            };
            let said = show::as_json(&reader, &done);
            Err(code.because(said["message"].as_str().unwrap_or_default()))
        }
    }
}

pub(super) fn numbered(verb: AgendaVerb, part: &str, id: &str) -> Result<AgendaLine, Problem> {
    match id.parse::<u32>() {
        Ok(id) => Ok(AgendaLine::new(verb, part).id(&id.to_string())),
        Err(_) => Err(ProblemCode::NotFound.bare()),
    }
}

impl TodoFields {
    fn add_to(&self, line: AgendaLine) -> AgendaLine {
        let line = line.words(self.text.as_slice());
        let line = self.tags.iter().fold(line, |line, tag| line.option("tag", Some(tag)));
        line.option("priority", self.priority.as_ref().map(TodoPriority::written).as_ref())
            .option("due", self.due.as_ref())
            .option("remind", self.remind.as_ref())
    }
}

pub(super) type Wanted = Extension<RequestLang>;
pub(super) type Done = Result<AgendaAnswer, Problem>;

async fn list_todos(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    QueryOf(params): QueryOf<TodoParams>,
) -> Done {
    let line = match &params.q {
        Some(words) => {
            AgendaLine::new(AgendaVerb::Todo, "search").words(std::slice::from_ref(words))
        }
        None => AgendaLine::new(AgendaVerb::Todo, "list").option("view", params.view.as_ref()),
    };
    let line = line.option("tag", params.tag.as_ref()).flag("open", params.open == Some(true));
    perform(&state, lang, line).await
}

async fn add_todo(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    key: Option<Extension<RequestKey>>,
    Body(new): Body<TodoFields>,
) -> Result<(StatusCode, AgendaAnswer), Problem> {
    let line = new.add_to(AgendaLine::new(AgendaVerb::Todo, "add"));
    let key = name_of(key.as_ref(), "todos");
    Ok((StatusCode::CREATED, perform_once(&state, lang, line, key).await?))
}

async fn get_todo(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
) -> Done {
    perform(&state, lang, numbered(AgendaVerb::Todo, "get", &id)?).await
}

async fn change_todo(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
    headers: HeaderMap,
    Body(fields): Body<TodoFields>,
) -> Done {
    let line = fields.add_to(numbered(AgendaVerb::Todo, "update", &id)?);
    let shown = numbered(AgendaVerb::Todo, "get", &id)?;
    change(&state, lang, &headers, [shown, line]).await
}

async fn delete_todo(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
    headers: HeaderMap,
) -> Done {
    let line = numbered(AgendaVerb::Todo, "delete", &id)?;
    let shown = numbered(AgendaVerb::Todo, "get", &id)?;
    delete(&state, lang, &headers, [shown, line]).await
}

async fn finish_todo(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
) -> Done {
    perform(&state, lang, numbered(AgendaVerb::Todo, "done", &id)?).await
}

async fn reopen_todo(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
) -> Done {
    perform(&state, lang, numbered(AgendaVerb::Todo, "reopen", &id)?).await
}

async fn undo_change(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
) -> Done {
    perform(&state, lang, AgendaLine::new(AgendaVerb::Todo, "undo")).await
}

async fn unread_reminders(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
) -> Result<Body<JsonObject>, Problem> {
    let unread = UnreadReminders::read(&state.app, state.store()).await?;
    Ok(Body(JsonObject(unread.to_json(&state.reader(lang)))))
}

async fn count_notifications(
    State(state): State<ServerState>,
) -> Result<Body<NotificationCount>, Problem> {
    let reminders = state.store().agenda().count_unread_firings().await?;
    let UnreadCount { conversations, messages } =
        conversations::count_unread(state.store()).await?;
    Ok(Body(NotificationCount { reminders, conversations, messages }))
}

async fn see_reminders(State(state): State<ServerState>) -> Result<StatusCode, Problem> {
    let unread = UnreadReminders::read(&state.app, state.store()).await?;
    unread.mark_read(state.store()).await?;
    Ok(StatusCode::NO_CONTENT)
}
