//! The chat: one conversation with its runs.

use super::activity::{self, ToldRun};
use super::asks::settled_words;
use super::forms::FormFields;
use super::frame::{PageRequest, listed};
use super::inbox::{ask_card, conversation_title};
use super::queue::queued;
use super::respond::{page, see_other};
use super::thread::ThreadReader;
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::conversations::find;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_app::conversations::{self, ListedConversation, MessageRecords, short_id};
use everloop_app::interrupts::OpenInterrupt;
use everloop_app::{catalog, frames};
use everloop_pages::ask::AskCard;
use everloop_pages::chat as view;
use everloop_pages::chat::{BackgroundRow, ChatHead, ChatView, ComposerView, LiveRun, PlanView};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{say, status_words};
use everloop_store::{MessageRange, RunFilter, RunRow};
use everloop_text::pages as words;
use everloop_types::Status;
use serde::Deserialize;

/// Messages of one page.
const PAGE_MESSAGES: usize = 24;

/// Runs of a conversation that are looked at.
const RUNS_MAX: usize = 200;

/// Runs that are shown at once while they work.
const LIVE_MAX: usize = 5;

/// Questions of other conversations that have their card beside a chat.
const ELSEWHERE_MAX: usize = 3;

/// Work of other conversations that is listed.
const BACKGROUND_MAX: usize = 8;

/// The part of a conversation that is wanted.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ChatParams {
    before: Option<i64>,
}

/// The page that the address of the server shows.
pub(crate) async fn home(State(state): State<ServerState>) -> Result<Response, Problem> {
    let newest = listed(&state, None).await?;
    let has_model = !frames::default_model(&state.app).is_empty();
    Ok(match newest.first() {
        Some(one) => see_other(&format!("/chat/{}", one.row.id)),
        None if has_model => see_other("/chat"),
        None => see_other("/first"),
    })
}

fn composer(state: &ServerState) -> ComposerView {
    let loops = catalog::loop_infos(&state.app, None).unwrap_or_default();
    let model = frames::default_model(&state.app);
    ComposerView {
        loops: loops.iter().map(|one| one.name.to_owned()).collect(),
        chosen: None,
        model: (!model.is_empty()).then_some(model),
        models: state.behind.models.names(&state.app),
        file_bytes: state.app.settings.context.image_max.bytes(),
        busy: None,
    }
}

pub(crate) async fn begin(
    State(state): State<ServerState>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let title = say(request.lang(), words::nav::new_chat());
    let (mut frame, asks) = request.frame(&state, NavPlace::Chat, title).await?;
    frame.script = Some("chat.js");
    let chat = ChatView {
        composer: composer(&state),
        asks_elsewhere: asked_elsewhere(&request, &state, &asks).await?,
        more_elsewhere: asks.len().saturating_sub(ELSEWHERE_MAX),
        background: background(&request, &state, None, &asks).await?,
        reply: state.flashes.get(request.session_name(), "chat:new"),
        ..ChatView::default()
    };
    Ok(page(view::view(&frame, &chat)))
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Query(params): Query<ChatParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    let range = MessageRange { before: params.before, after: None, most: PAGE_MESSAGES };
    let messages = conversations::messages_page(state.store(), &one.row.id, range).await?;
    if !request.is_hidden && one.row.has_unread() && params.before.is_none() {
        let last = messages.data.last().map(|message| message.id.as_str());
        conversations::mark_read(state.store(), &one.row.id, last).await?;
    }
    let (mut frame, asks) = request.frame(&state, NavPlace::Chat, one.title()).await?;
    frame.script = Some("chat.js");
    frame.open = Some(id.clone());
    let (asks, others): (Vec<_>, Vec<_>) =
        asks.into_iter().partition(|ask| ask.conversation == one.row.id);
    let chat = ChatPage { state: &state, request: &request, one, messages };
    let chat = chat.view(&asks, &others).await?;
    Ok(page(view::view(&frame, &chat)))
}

/// One conversation on its way to the page.
struct ChatPage<'a> {
    state: &'a ServerState,
    request: &'a PageRequest,
    one: ListedConversation,
    messages: MessageRecords,
}

impl ChatPage<'_> {
    async fn view(
        self,
        asks: &[OpenInterrupt],
        others: &[OpenInterrupt],
    ) -> Result<ChatView, Problem> {
        let (state, request, lang) = (self.state, self.request, self.request.lang());
        let id = &self.one.row.id;
        let rows = state.store().runs().of_conversation(id, RUNS_MAX).await?;
        let newest = rows.iter().max_by_key(|row| row.times.created_at);
        let (mut live, mut told) = (Vec::new(), None);
        for row in rows.iter().filter(|row| !row.status.is_final()).take(LIVE_MAX) {
            let read = ToldRun::read(state, &row.run).await?;
            live.push(live_run(request, row, &read));
            if newest.is_some_and(|newest| newest.run == row.run) {
                told = Some(read);
            }
        }
        if let (Some(row), None) = (newest, &told) {
            told = Some(ToldRun::read(state, &row.run).await?);
        }
        let reader = ThreadReader::new(state, request, &rows, self.one.row.counts.read_pos);
        let blocks = reader.blocks(&self.messages.data, asks).await?;
        let before = self.messages.before.filter(|_| self.messages.has_more);
        let busy = rows.iter().find(|row| matches!(row.status, Status::Running | Status::Queued));
        let composer =
            ComposerView { busy: busy.map(|row| row.run.to_string()), ..composer(state) };
        let head = ChatHead {
            id: id.to_string(),
            title: self.one.title(),
            archived: self.one.row.archived_at.is_some(),
            state: match newest {
                Some(row) => Some((row.status.as_str(), settled_words(state, row, lang).await?)),
                None => None,
            },
            run: newest.map(|row| row.run.to_string()),
        };
        let mut cards = Vec::new();
        for ask in asks {
            cards.push(ask_card(request, state, ask).await?);
        }
        Ok(ChatView {
            head: Some(head),
            older: before.map(|before| format!("/chat/{id}?before={before}")),
            blocks,
            live,
            asks: cards,
            plan: told.as_ref().and_then(|told| {
                let times = activity::plan_times(lang, &told.events);
                Some(PlanView { times, ..activity::plan(lang, &told.view)? })
            }),
            asks_elsewhere: asked_elsewhere(request, state, others).await?,
            more_elsewhere: others.len().saturating_sub(ELSEWHERE_MAX),
            background: background(request, state, Some(id.as_str()), others).await?,
            used: told.as_ref().map(|told| self.used(told)).unwrap_or_default(),
            queue: queued(state, request, id),
            composer,
            reply: state.flashes.get(request.session_name(), &format!("chat:{id}")),
        })
    }

    /// What the newest run used, and what it cost where its model has a price.
    fn used(&self, told: &ToldRun) -> Vec<(String, String)> {
        let lang = self.request.lang();
        let mut used = activity::used(lang, &told.view);
        let cost = self.state.app.prices().cost(&told.history);
        used.extend(cost.map(|cost| (say(lang, words::chat::cost()), cost.words())));
        used
    }
}

fn live_run(request: &PageRequest, row: &RunRow, told: &ToldRun) -> LiveRun {
    let mut rows = activity::rows(request.lang(), &told.events);
    if row.status != Status::Running {
        let open = rows.iter_mut().filter(|row| row.state == Some("running"));
        open.for_each(|row| row.state = Some("waiting"));
    }
    LiveRun {
        run: row.run.to_string(),
        short: short_id(row.run.as_str()).to_owned(),
        last: told.history.entries.last().map_or(0, |entry| entry.seq),
        state: row.status.as_str(),
        line: activity::doing(request, row.status, &told.view),
        rows,
    }
}

/// What runs of other conversations ask, as cards.
async fn asked_elsewhere(
    request: &PageRequest,
    state: &ServerState,
    asks: &[OpenInterrupt],
) -> Result<Vec<AskCard>, Problem> {
    let mut cards = Vec::new();
    for ask in asks.iter().take(ELSEWHERE_MAX) {
        let mut card = AskCard { is_aside: true, ..ask_card(request, state, ask).await? };
        let title = conversation_title(state, ask).await?;
        card.conversation = title.map(|title| (ask.conversation.to_string(), title));
        cards.push(card);
    }
    Ok(cards)
}

/// Work that goes on in other conversations. What is asked there has its card.
async fn background(
    request: &PageRequest,
    state: &ServerState,
    but: Option<&str>,
    asks: &[OpenInterrupt],
) -> Result<Vec<BackgroundRow>, Problem> {
    let statuses = vec![Status::Queued, Status::Running, Status::Waiting];
    let filter = RunFilter { statuses, before: None, most: BACKGROUND_MAX * 2 };
    let rows = state.store().runs().list(&filter).await?;
    let has_card =
        |row: &RunRow| asks.iter().take(ELSEWHERE_MAX).any(|ask| ask.question.run == row.run);
    let is_other = |row: &RunRow| but != Some(row.conversation.as_str()) && !has_card(row);
    let others = rows.into_iter().filter(is_other);
    let row = |row: RunRow| BackgroundRow {
        run: row.run.to_string(),
        title: run_title(&row),
        state: row.status.as_str(),
        words: status_words(row.status, request.lang()),
        next_try: row.times.wake_at.map(|at| request.short_time(at)),
    };
    Ok(others.take(BACKGROUND_MAX).map(row).collect())
}

/// What people call a run.
pub(crate) fn run_title(row: &RunRow) -> String {
    let goal = row.goal.lines().next().unwrap_or_default();
    let title = row.profile.title.as_deref().unwrap_or(goal);
    activity::clipped(title, 80)
}

pub(crate) async fn rename(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let one = find(&state, &id).await?;
    conversations::rename(state.store(), &one.row.id, fields.get("title")).await?;
    Ok(see_other(fields.back()))
}
