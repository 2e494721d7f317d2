//! Runs and commands in the form that the command line prints: what `everloop --server` reads.
//!
//! An id may be the end of one here, as a person types it.

use super::JsonObject;
use crate::api::Api;
use crate::guard::RequestLang;
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use everloop_agenda::commands::{self, AgendaCommand, AgendaVerb, CommandError, TodoCommand};
use everloop_agenda::desk::CommandOutcome;
use everloop_agenda::show::{self, DisplayContext};
use everloop_app::agenda::arguments::{AgendaLine, AgendaWord};
use everloop_app::agenda::{self, AgendaReading};
use everloop_app::canceling::{self, CancelOutcome};
use everloop_app::run_json;
use everloop_app::run_list::{RunListRequest, RunPage};
use everloop_app::runs::RunDetails;
use everloop_app::trouble::ModelTrouble;
use everloop_app::{AppError, error::RunError};
use everloop_types::{Lang, RunId, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Bytes of an id, or of the end of one.
const ID_BYTES_MAX: usize = 64;

/// Items of one page, as on the command line.
const PAGE_DEFAULT: usize = 50;
const PAGE_MAX: usize = 1_000;

/// Which runs are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordParams {
    /// Most items of the page; 50 if it is not given.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Statuses, separated by commas.
    status: Option<String>,
}

/// A command about todos or the schedule: as words, or as a line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AgendaRequest {
    /// `todo`, `view` or `schedule`, with its words.
    verb: Option<String>,
    /// The words after the verb.
    #[serde(default)]
    words: Vec<AgendaRequestWord>,
    /// The command as a person types it in the chat, in place of verb and words.
    line: Option<String>,
    /// Whether a change of many is confirmed.
    #[serde(default)]
    sure: bool,
}

/// One word of a command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AgendaRequestWord {
    /// Of a text or a value.
    Text(String),
    /// The name of an option, without its dashes.
    Option(String),
}

pub(crate) fn add(api: &mut Api) {
    let list =
        Operation::get("/v1/records/runs", "Runs as `everloop runs list --json` prints them")
            .query::<RecordParams>()
            .answers::<JsonObject>(200)
            // A cursor is the id of a run.
            .problems(&[ProblemCode::NotFound]);
    api.route(list, list_records);
    let show = Operation::get("/v1/records/runs/{id}", "A run as `runs show --json` prints it");
    api.route(show.answers::<JsonObject>(200), show_record);
    let path = "/v1/records/runs/{id}/result";
    let result = Operation::get(path, "What a run came to, as `everloop run --json` prints it");
    api.route(result.answers::<JsonObject>(200), result_record);
    let path = "/v1/records/runs/{id}/cancel";
    let cancel = Operation::post(path, "Cancels a run and waits a moment for its end");
    api.route(cancel.answers::<JsonObject>(200), cancel_record);
    let path = "/v1/records/agenda";
    let perform = Operation::post(path, "Carries a command about todos or the schedule out")
        .body::<AgendaRequest>()
        .answers::<JsonObject>(200);
    api.route(perform, perform_agenda);
}

async fn list_records(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<RecordParams>,
) -> Result<Body<JsonObject>, Problem> {
    let limit = params.limit.unwrap_or(PAGE_DEFAULT);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(Problem::of_field("limit", format!("1 to {PAGE_MAX}")));
    }
    let statuses = params.status.as_deref().unwrap_or_default();
    let statuses = statuses.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
    let cursor = match params.cursor {
        Some(cursor) => Some(super::run_id(&cursor)?.to_string()),
        None => None,
    };
    let request = RunListRequest { statuses: statuses.collect(), limit, cursor };
    let page = RunPage::read(&state.app, state.store(), request).await?;
    Ok(Body(JsonObject(page.to_json())))
}

/// The run that an id, or the end of one, means.
async fn find(state: &ServerState, id: &str) -> Result<RunId, Problem> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if id.is_empty() || id.len() > ID_BYTES_MAX || !id.bytes().all(is_plain) {
        return Err(ProblemCode::NotFound.bare());
    }
    state.app.find_run(state.store(), id).await.map_err(|error| match error {
        AppError::Run(RunError::Ambiguous { all, .. }) => {
            let all: Vec<&str> = all.iter().map(RunId::as_str).collect();
            Problem::of_field("id", all.join(", "))
        }
        error => error.into(),
    })
}

async fn show_record(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Extension<RequestLang>,
    PathOf(id): PathOf<String>,
) -> Result<Body<JsonObject>, Problem> {
    let run = find(&state, &id).await?;
    let details = RunDetails::read(&state.app, state.store(), &run).await?;
    let children = state.store().runs().children(&run).await?;
    let trouble = ModelTrouble::of_run(&state.app, &details);
    let mut whole = details.whole();
    whole["error"] = json!(trouble.map(|trouble| trouble.report(lang)));
    whole["children"] = children.iter().map(run_json::child).collect();
    Ok(Body(JsonObject(whole)))
}

async fn result_record(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Extension<RequestLang>,
    PathOf(id): PathOf<String>,
) -> Result<Body<JsonObject>, Problem> {
    let run = find(&state, &id).await?;
    let details = RunDetails::read(&state.app, state.store(), &run).await?;
    let answer = json!({
        "result": run_json::printed_result(&state.app, &details, lang),
        "reason": details.reason(),
        "is_about_the_key": ModelTrouble::of_run(&state.app, &details)
            .is_some_and(|trouble| trouble.error.is_about_the_key()),
        "has_open_unknown": details.has_open_unknown(),
    });
    Ok(Body(JsonObject(answer)))
}

async fn cancel_record(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<JsonObject>, Problem> {
    let run = find(&state, &id).await?;
    let outcome = canceling::cancel(&state.app, state.engine(), &run).await?;
    let (result, status) = match outcome {
        CancelOutcome::AlreadyOver(status) => ("already_over", Some(status)),
        CancelOutcome::Canceled => ("canceled", Some(Status::Canceled)),
        CancelOutcome::Waits => ("requested", None),
    };
    Ok(Body(JsonObject(json!({"run_id": run, "result": result, "status": status}))))
}

async fn perform_agenda(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Extension<RequestLang>,
    Body(request): Body<AgendaRequest>,
) -> Result<Body<JsonObject>, Problem> {
    let reader = state.reader(lang);
    let (said, command) = read_command(&request, &reader)?;
    let command = match command {
        Ok(command) => command,
        Err(wrong) => {
            let words = show::wrong(&reader, &wrong);
            let answer = show::wrong_json(&reader, &wrong);
            return Ok(answered("wrong", answer, words, Vec::new()));
        }
    };
    let reading = AgendaReading::of(&said, &command, &reader);
    let mut notes: Vec<String> = understood(&reading, lang).into_iter().collect();
    notes.extend(reading.notes.iter().map(|note| show::note(&reader, note)));
    let store = state.store().clone();
    let mut done = agenda::perform(&state.app, store.clone(), &command, &reader).await?;
    let mut outcome = "done";
    if let Ok(CommandOutcome::Proposed(mark, todos)) = &done {
        if request.sure {
            let ids = todos.iter().map(|todo| todo.id).collect();
            let command = AgendaCommand::Todo(TodoCommand::Mark(*mark, ids));
            done = agenda::perform(&state.app, store, &command, &reader).await?;
        } else {
            outcome = "proposed";
        }
    }
    if done.is_err() {
        outcome = "refused";
    }
    let (answer, words) = (show::as_json(&reader, &done), show::answer(&reader, &done));
    Ok(answered(outcome, answer, words, notes))
}

/// What was said, and the command that it means.
fn read_command(
    request: &AgendaRequest,
    reader: &DisplayContext,
) -> Result<(String, Result<AgendaCommand, CommandError>), Problem> {
    if let Some(line) = &request.line {
        return Ok((line.clone(), commands::parse(line, &reader.now)));
    }
    let verb = request.verb.as_deref().and_then(AgendaVerb::find);
    let verb = verb.ok_or_else(|| Problem::of_field("verb", "todo, view or schedule"))?;
    let words = request.words.iter().map(|word| match word {
        AgendaRequestWord::Text(text) => AgendaWord::Text(text.clone()),
        AgendaRequestWord::Option(name) => AgendaWord::Option(name.clone()),
    });
    let line = AgendaLine::of(verb, words.collect());
    Ok((line.typed(), line.parse(reader)))
}

fn understood(reading: &AgendaReading, lang: Lang) -> Option<String> {
    let understood = reading.understood.as_ref()?;
    Some(everloop_text::command::understood(understood).in_lang(lang))
}

fn answered(outcome: &str, answer: Value, words: String, notes: Vec<String>) -> Body<JsonObject> {
    let body = json!({"outcome": outcome, "answer": answer, "text": words, "notes": notes});
    Body(JsonObject(body))
}
