//! The web pages: reading what they show, and carrying out what their forms ask for.
//!
//! ```text
//!   GET  /chat/… /inbox /runs/… /agenda /memory …    views of the journal
//!   POST /do/…     a form; it leads back to its page
//!   GET  /live     a WebSocket that says that something changed
//! ```
//!
//! A page is made anew from the journal for every request. Scripts replace parts of it by the same
//! parts of a newer page, so there is one renderer and no second truth.

mod activity;
mod agenda;
mod agenda_calendar;
mod agenda_conflict;
mod agenda_detail;
mod agenda_line;
mod asks;
mod chat;
mod commands;
mod compare;
mod compare_runs;
mod conversations;
mod cookies;
mod files;
mod firings;
mod first;
mod flash;
mod forms;
mod frame;
mod health;
mod health_words;
mod inbox;
mod inbox_groups;
mod live;
mod live_news;
mod memory;
mod models;
mod queue;
mod reports;
mod respond;
mod run;
mod run_files;
mod run_forms;
mod run_times;
mod search;
mod sending;
mod session;
mod settings;
mod settings_audit;
mod settings_parts;
mod signin;
mod step_facts;
mod step_plan;
mod steps;
mod table;
mod thread;
mod tour;
mod undoing;
mod uploads;
mod views;

pub(crate) use asks::UnknownCalls;
pub(crate) use cookies::cookie;
pub(crate) use flash::Flashes;
pub(crate) use forms::check_token;
pub(crate) use live::LiveSnapshots;
pub(crate) use models::ModelNames;
pub(crate) use queue::keep_sending;
pub(crate) use respond::problem_page;
pub(crate) use session::{PageSession, Sessions};
pub(crate) use signin::sign_in_first;
pub(crate) use thread::FilesOfRuns;
pub(crate) use tour::ShownTour;
pub(crate) use views::{ViewChoice, chosen_language};

use crate::state::ServerState;
use axum::Router;
use axum::routing::{get, post};

/// Where forms are sent to: their token is in the form.
pub(crate) const FORMS: &str = "/do/";

/// What answers without a session: it tells nothing about the data.
pub(crate) fn is_open(path: &str) -> bool {
    let open = ["/open", "/signin", "/do/signin", "/favicon.ico"];
    open.contains(&path) || path.starts_with(everloop_pages::assets::PREFIX)
}

/// Whether a form of this address may bring pictures, which are larger than other requests.
pub(crate) fn takes_files(path: &str) -> bool {
    path.starts_with("/do/chat/") && path.ends_with("/send")
}

/// The routes of the pages.
pub(crate) fn router() -> Router<ServerState> {
    Router::new()
        .route("/", get(chat::home))
        .route("/a/{digest}/{name}", get(respond::asset))
        .route("/open", get(signin::open_link))
        .route("/signin", get(signin::show))
        .route("/do/signin", post(signin::sign_in))
        .route("/do/signout", post(signin::sign_out))
        .route("/do/view", post(views::choose))
        .route("/live", get(live::stream))
        .route("/search", get(search::show))
        .route("/chat", get(chat::begin))
        .route("/chat/{id}", get(chat::show))
        .route("/chat/{id}/export", get(conversations::export))
        .route("/do/chat/{id}/send", post(sending::send))
        .route("/do/chat/{id}/queue/{line}/{verb}", post(queue::perform))
        .route("/do/chat/{id}/rename", post(chat::rename))
        .route("/conversations", get(conversations::show))
        .route("/do/chat/{id}/archive", post(conversations::archive))
        .route("/do/chat/{id}/delete", post(conversations::delete))
        .route("/do/chat/{id}/read", post(conversations::read))
        .route("/do/chat/{id}/unread", post(conversations::unread))
        .route("/do/interrupts/{id}", post(forms::answer))
        .route("/inbox", get(inbox::show))
        .route("/do/inbox/read", post(inbox::read_all))
        .route("/runs", get(run::list))
        .route("/runs/{id}", get(run::show))
        .route("/runs/{id}/activity", get(run::activity))
        .route("/runs/{id}/files", get(files::show))
        .route("/runs/{id}/raw/{name}", get(files::raw))
        .route("/runs/{id}/pictures/{number}", get(files::sent_picture))
        .route("/do/render", post(thread::render))
        .route("/runs/{id}/export", get(run_files::export))
        .route("/runs/{id}/steps/{seq}/{part}", get(run_files::step_part))
        .route("/do/runs/{id}/{verb}", post(run_forms::perform))
        .route("/compare", get(compare::show))
        .route("/compare/export", get(compare::export))
        .route("/do/compare/begin", post(compare::begin))
        .route("/do/compare/stop", post(compare::stop))
        .route("/reports", get(reports::list))
        .route("/reports/{id}", get(reports::show))
        .route("/reports/{id}/files/{name}", get(reports::file))
        .route("/do/reports/begin", post(reports::begin))
        .route("/do/reports/{id}/check", post(reports::check))
        .merge(records())
}

/// The pages of todos, memory, settings, health and the first visit.
fn records() -> Router<ServerState> {
    Router::new()
        .route("/agenda", get(agenda::show))
        .route("/agenda/parse", get(agenda_line::parse))
        .route("/agenda/export", get(agenda_detail::export))
        .route("/do/agenda/import", post(agenda_detail::import))
        .route("/do/agenda/run", post(agenda::add_run))
        .route("/do/agenda/add", post(agenda::add))
        .route("/do/agenda/undo", post(agenda::undo))
        .route("/do/todos/{id}/{verb}", post(agenda::change_todo))
        .route("/do/schedules/{id}/{verb}", post(agenda::change_entry))
        .route("/memory", get(memory::show))
        .route("/memory/export", get(memory::export))
        .route("/do/chat/{id}/memory", post(memory::keep_out))
        .route("/do/memory/add", post(memory::add))
        .route("/do/memory/{id}/decide", post(memory::decide))
        .route("/do/memory/{id}/edit", post(memory::edit))
        .route("/settings", get(settings::show))
        .route("/do/settings/{key}/set", post(settings::set))
        .route("/do/settings/{key}/unset", post(settings::unset))
        .route("/do/settings/test", post(settings::test))
        .route("/do/providers/{name}/key", post(settings::key))
        .route("/do/approvals/{id}/remove", post(settings_parts::withdraw))
        .route("/do/mcp/{name}/{verb}", post(settings_parts::decide_server))
        .route("/health", get(health::show))
        .route("/first", get(first::show))
        .route("/tour", get(tour::show))
        .route("/do/tour", post(tour::play))
        .route("/do/first/local", post(first::add_local))
        .route("/do/first/model", post(first::add_model))
}
