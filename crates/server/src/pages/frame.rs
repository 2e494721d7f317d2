//! What every page has around it, read for one request.

use super::session::PageSession;
use super::views::ViewChoice;
use crate::guard::RequestLang;
use crate::idempotency::RequestKey;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use everloop_agenda::show::DisplayContext;
use everloop_app::conversations::{self, ConversationQuery, ConversationState, ListedConversation};
use everloop_app::interrupts::OpenInterrupt;
use everloop_pages::layout::{DayGroup, NavCounts, NavPlace, PageFrame, SideConversation};
use everloop_types::{FactStatus, Lang, UtcMs};
use jiff::{Timestamp, Zoned};

/// Conversations of the side bar.
const SIDE_MAX: usize = 30;

/// A request for a page.
pub(crate) struct PageRequest {
    /// Who reads.
    pub(crate) reader: DisplayContext,
    /// The session; none for a program that shows the token.
    pub(crate) session: Option<PageSession>,
    /// What the browser chose.
    pub(crate) choice: ViewChoice,
    /// The path and the query.
    pub(crate) path: String,
    /// The name of what the request asks for, so that the same again is done once.
    pub(crate) key: Option<RequestKey>,
    /// Whether nobody looks at the page now.
    pub(crate) is_hidden: bool,
}

impl FromRequestParts<ServerState> for PageRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, Problem> {
        let lang = parts.extensions.get::<RequestLang>().map_or(Lang::En, |lang| lang.0);
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            reader: state.reader(lang),
            session: parts.extensions.get::<PageSession>().cloned(),
            choice: ViewChoice::of(&parts.headers),
            path: path.to_owned(),
            key: parts.extensions.get::<RequestKey>().cloned(),
            is_hidden: parts.headers.contains_key("x-everloop-hidden"),
        })
    }
}

impl PageRequest {
    /// The language of the reader.
    pub(crate) fn lang(&self) -> Lang {
        self.reader.lang
    }

    /// The name of the session; empty for a program.
    pub(crate) fn session_name(&self) -> &str {
        self.session.as_ref().map(|session| session.name.as_str()).unwrap_or_default()
    }

    /// The name of what the request makes, if it has a key.
    pub(crate) fn key_name(&self, what: &str) -> Option<String> {
        self.key.as_ref().map(|key| key.names(what))
    }

    fn zoned(&self, at: UtcMs) -> Option<Zoned> {
        let moment = Timestamp::from_millisecond(at).ok()?;
        Some(moment.to_zoned(self.reader.now.time_zone().clone()))
    }

    /// A time as a column shows it: the hour today, the day before.
    pub(crate) fn short_time(&self, at: UtcMs) -> String {
        let Some(zoned) = self.zoned(at) else { return String::new() };
        let form = if zoned.date() == self.reader.now.date() {
            "%H:%M"
        } else if zoned.year() == self.reader.now.year() {
            "%m-%d %H:%M"
        } else {
            "%Y-%m-%d"
        };
        zoned.strftime(form).to_string()
    }

    /// The time of day to the second.
    pub(crate) fn clock(&self, at: UtcMs) -> String {
        self.zoned(at).map(|at| at.strftime("%H:%M:%S").to_string()).unwrap_or_default()
    }

    /// When the day of the reader is over.
    fn end_of_day(&self) -> UtcMs {
        let now = &self.reader.now;
        let tomorrow = now.tomorrow().and_then(|day| day.start_of_day());
        tomorrow.unwrap_or_else(|_| now.clone()).timestamp().as_millisecond()
    }

    fn group(&self, at: UtcMs) -> DayGroup {
        let Some(zoned) = self.zoned(at) else { return DayGroup::Earlier };
        let today = self.reader.now.date();
        if zoned.date() >= today {
            DayGroup::Today
        } else if today.yesterday().is_ok_and(|yesterday| zoned.date() == yesterday) {
            DayGroup::Yesterday
        } else {
            DayGroup::Earlier
        }
    }

    /// The frame of a piece of a page: nothing is read for what is around it.
    pub(crate) fn fragment(&self, here: NavPlace) -> PageFrame {
        PageFrame {
            lang: self.lang(),
            theme: self.choice.theme,
            csrf: self.session.as_ref().map(|one| one.csrf.clone()).unwrap_or_default(),
            path: self.path.clone(),
            title: String::new(),
            here,
            open: None,
            counts: NavCounts::default(),
            conversations: Vec::new(),
            script: None,
        }
    }

    /// The frame of a page, and the questions that are open.
    pub(crate) async fn frame(
        &self,
        state: &ServerState,
        here: NavPlace,
        title: String,
    ) -> Result<(PageFrame, Vec<OpenInterrupt>), Problem> {
        let asks = super::asks::open_asks(state).await?;
        let listed = listed(state, None).await?;
        let unread = conversations::count_unread(state.store()).await?.conversations;
        let unread = usize::try_from(unread).unwrap_or_default();
        let proposals = state.store().facts().count(FactStatus::Proposed).await?;
        let due = state.store().agenda().count_due_todos(self.end_of_day()).await?;
        let todos = usize::try_from(due).unwrap_or_default();
        let counts = NavCounts { needs: asks.len(), unread, todos, proposals };
        let side = |one: &ListedConversation| {
            let asked = asks.iter().any(|ask| ask.conversation == one.row.id);
            SideConversation {
                id: one.row.id.to_string(),
                title: one.title(),
                state: side_state(one, asked),
                group: self.group(one.row.updated_at),
            }
        };
        let conversations = listed.iter().map(side).collect();
        let frame = PageFrame { title, counts, conversations, ..self.fragment(here) };
        Ok((frame, asks))
    }
}

pub(crate) fn side_state(one: &ListedConversation, asked: bool) -> Option<&'static str> {
    match one.state() {
        _ if asked => Some("you"),
        ConversationState::Working => Some("running"),
        ConversationState::Waiting => Some("waiting"),
        ConversationState::Unread => Some("unread"),
        ConversationState::Idle => None,
    }
}

/// The newest conversations, or those in which words occur.
pub(crate) async fn listed(
    state: &ServerState,
    words: Option<String>,
) -> Result<Vec<ListedConversation>, Problem> {
    let query = ConversationQuery {
        words,
        most: SIDE_MAX,
        without_schedule: true,
        ..ConversationQuery::default()
    };
    Ok(conversations::list(&state.app, state.store(), query).await?)
}

/// A page that is not there.
pub(crate) fn missing() -> Problem {
    ProblemCode::NotFound.bare()
}
