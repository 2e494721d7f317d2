//! The schedule: entries for people, and entries that start runs.

use super::JsonObject;
use super::agenda::{AgendaAnswer, Done, Wanted, change, delete, numbered, perform, perform_once};
use super::shapes::{DeletedAnswer, EntryAnswer, EntryListAnswer};
use crate::api::Api;
use crate::guard::RequestLang;
use crate::idempotency::{RequestKey, name_of};
use crate::json::{Body, PathOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use everloop_agenda::commands::AgendaVerb;
use everloop_app::agenda::arguments::AgendaLine;
use everloop_app::rehearsal::{
    RehearsalError, RehearsalReport, RehearsalRequest, rehearse_reminders,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// An entry of the schedule to add, or what is to be changed of one. With `run` it starts runs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScheduleFields {
    /// When and what: `tomorrow at 3pm dentist`.
    text: Option<String>,
    /// How long it takes.
    duration: Option<String>,
    /// When it reminds.
    remind: Option<String>,
    /// How it repeats.
    repeat: Option<String>,
    /// How often in all.
    times: Option<String>,
    /// What becomes of moments that were missed: `skip`, `once` or `all`.
    catch_up: Option<String>,
    /// Whether it may overlap other entries.
    #[serde(default)]
    allow_conflict: bool,
    /// The zone in which its times are meant, such as `Europe/Berlin`.
    zone: Option<String>,
    /// The goal of each run.
    run: Option<String>,
    /// When, as a cron expression of five fields.
    cron: Option<String>,
    /// The loop.
    #[serde(rename = "loop")]
    loop_name: Option<String>,
    /// The persona.
    persona: Option<String>,
    /// The folder that runs work in.
    workspace: Option<String>,
    /// Where runs belong: `new`, a new conversation for each; `own`, one for all of them; or the id
    /// of a conversation.
    conversation: Option<String>,
    /// What happens while an earlier run is open: `skip`, `queue_one`, `cancel_previous`, `allow`.
    overlap: Option<String>,
    /// After how many failures in a row it is paused.
    pause_after: Option<u32>,
}

/// A rehearsal of everything that is scheduled. Nothing is written and nothing is started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SimulateRequest {
    /// Its first moment.
    from: String,
    /// Its end.
    to: String,
    /// `all`, or the numbers of firings at which the process dies, separated by commas.
    crash_at: Option<String>,
    /// Ranges in which nothing runs, each as `DATE..DATE`.
    #[serde(default)]
    down: Vec<String>,
}

impl ScheduleFields {
    fn add_to(&self, line: AgendaLine) -> AgendaLine {
        let words: Vec<String> =
            self.text.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
        line.words(&words)
            .option("duration", self.duration.as_ref())
            .option("remind", self.remind.as_ref())
            .option("repeat", self.repeat.as_ref())
            .option("times", self.times.as_ref())
            .option("catch-up", self.catch_up.as_ref())
            .flag("allow-conflict", self.allow_conflict)
            .option("run", self.run.as_ref())
            .option("cron", self.cron.as_ref())
            .option("zone", self.zone.as_ref())
            .option("loop", self.loop_name.as_ref())
            .option("persona", self.persona.as_ref())
            .option("workspace", self.workspace.as_ref())
            .option("conversation", self.conversation.as_ref())
            .option("overlap", self.overlap.as_ref())
            .option("pause-after", self.pause_after.map(|count| count.to_string()).as_ref())
    }
}

pub(crate) fn add(api: &mut Api) {
    let list = Operation::get("/v1/schedules", "Lists entries of the schedule");
    api.route(list.answers::<EntryListAnswer>(200), list_schedules);
    let summary = "Adds an entry; for one that starts runs, `preflight` says what they cannot do";
    let add = Operation::post("/v1/schedules", summary).body::<ScheduleFields>();
    let add = add.answers::<EntryAnswer>(201).tagged().problems(&[ProblemCode::Conflict]);
    api.route(add, add_schedule);
    let path = "/v1/schedules/{id}";
    let get = Operation::get(path, "One entry, with an ETag").answers::<EntryAnswer>(200);
    api.route(get.tagged(), get_schedule);
    let summary = "Changes an entry; If-Match is honoured";
    let change = Operation::new(Method::PATCH, path, summary).body::<ScheduleFields>();
    let change = change.answers::<EntryAnswer>(200).edits().problems(&[ProblemCode::Conflict]);
    api.route(change, change_schedule);
    let delete = Operation::new(Method::DELETE, path, "Deletes an entry; it can be undone");
    api.route(delete.answers::<DeletedAnswer>(200).bound(), delete_schedule);
    let invalid = &[ProblemCode::InvalidInput];
    let pause = Operation::post("/v1/schedules/{id}/pause", "Pauses an entry that starts runs");
    api.route(pause.answers::<EntryAnswer>(200).problems(invalid), pause_schedule);
    let resume = Operation::post("/v1/schedules/{id}/resume", "Lets it start runs again");
    api.route(resume.answers::<EntryAnswer>(200).problems(invalid), resume_schedule);
    let run = Operation::post("/v1/schedules/{id}/run", "Starts its run now");
    api.route(run.answers::<JsonObject>(202).problems(invalid), run_schedule);
    let runs = Operation::get("/v1/schedules/{id}/runs", "Its firings and what came of each");
    api.route(runs.answers::<JsonObject>(200).problems(invalid), list_firings);
    let summary = "Rehearses all entries between two moments; nothing is started";
    let simulate = Operation::post("/v1/schedules/simulate", summary).body::<SimulateRequest>();
    api.route(simulate.answers::<JsonObject>(200), simulate_schedules);
}

async fn list_schedules(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
) -> Done {
    perform(&state, lang, AgendaLine::new(AgendaVerb::Schedule, "list")).await
}

async fn add_schedule(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    key: Option<Extension<RequestKey>>,
    Body(new): Body<ScheduleFields>,
) -> Result<(StatusCode, AgendaAnswer), Problem> {
    let line = new.add_to(AgendaLine::new(AgendaVerb::Schedule, "add"));
    let key = name_of(key.as_ref(), "schedules");
    Ok((StatusCode::CREATED, perform_once(&state, lang, line, key).await?))
}

async fn get_schedule(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
) -> Done {
    perform(&state, lang, numbered(AgendaVerb::Schedule, "get", &id)?).await
}

async fn change_schedule(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
    headers: HeaderMap,
    Body(fields): Body<ScheduleFields>,
) -> Done {
    let line = fields.add_to(numbered(AgendaVerb::Schedule, "update", &id)?);
    let shown = numbered(AgendaVerb::Schedule, "get", &id)?;
    change(&state, lang, &headers, [shown, line]).await
}

async fn delete_schedule(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
    headers: HeaderMap,
) -> Done {
    let line = numbered(AgendaVerb::Schedule, "delete", &id)?;
    let shown = numbered(AgendaVerb::Schedule, "get", &id)?;
    delete(&state, lang, &headers, [shown, line]).await
}

async fn pause_schedule(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
) -> Done {
    perform(&state, lang, numbered(AgendaVerb::Schedule, "pause", &id)?).await
}

async fn resume_schedule(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
) -> Done {
    perform(&state, lang, numbered(AgendaVerb::Schedule, "resume", &id)?).await
}

async fn run_schedule(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
    key: Option<Extension<RequestKey>>,
) -> Result<(StatusCode, AgendaAnswer), Problem> {
    let line = numbered(AgendaVerb::Schedule, "run", &id)?;
    let key = name_of(key.as_ref(), &format!("run of schedule {id}"));
    Ok((StatusCode::ACCEPTED, perform_once(&state, lang, line, key).await?))
}

async fn list_firings(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    PathOf(id): PathOf<String>,
) -> Done {
    perform(&state, lang, numbered(AgendaVerb::Schedule, "runs", &id)?).await
}

async fn simulate_schedules(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Wanted,
    Body(wanted): Body<SimulateRequest>,
) -> Result<Body<JsonObject>, Problem> {
    let reader = state.reader(lang);
    let request = RehearsalRequest {
        from: &wanted.from,
        to: &wanted.to,
        crash_at: wanted.crash_at.as_deref(),
        down: &wanted.down,
    };
    let played = rehearse_reminders(&state.app, state.store(), &request, &reader).await;
    let played = played.map_err(of_rehearsal)?;
    Ok(Body(JsonObject(json!(RehearsalReport::of(&played, &reader)))))
}

fn of_rehearsal(error: RehearsalError) -> Problem {
    match error {
        RehearsalError::Store(error) => error.into(),
        RehearsalError::BrokenOff(_) => ProblemCode::Internal.because(error.to_string()),
        error => ProblemCode::InvalidInput.because(error.to_string()),
    }
}
