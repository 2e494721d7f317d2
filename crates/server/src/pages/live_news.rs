//! What a browser may tell a person who looks elsewhere: questions that wait, runs that have ended.

use super::chat::run_title;
use super::frame::PageRequest;
use super::inbox::ask_card;
use super::live::RUNS_MAX;
use crate::problem::Problem;
use crate::state::ServerState;
use everloop_app::conversations::ListedConversation;
use everloop_app::interrupts::OpenInterrupt;
use everloop_pages::parts::status_words;
use everloop_store::RunFilter;
use everloop_types::visible;
use serde::Serialize;

/// Questions and runs that are named, of each the newest.
const NEWS_MAX: usize = 5;

/// One piece of news. A page that knows its key keeps silent.
#[derive(Debug, Serialize)]
pub(super) struct NewsItem {
    key: String,
    title: String,
    text: String,
    to: String,
}

/// What is new now, for a page to compare with what it knows.
pub(super) async fn news(
    state: &ServerState,
    request: &PageRequest,
    asks: &[OpenInterrupt],
) -> Result<Vec<NewsItem>, Problem> {
    let mut all = Vec::new();
    for ask in asks.iter().take(NEWS_MAX) {
        let card = ask_card(request, state, ask).await?;
        let of = state.store().conversations().get(&ask.conversation).await?;
        let shown = card.request.as_ref().and_then(|asked| asked.shown.lines().next());
        let first = card.text.lines().next().unwrap_or_default();
        all.push(NewsItem {
            title: of.map(|row| ListedConversation::new(row).title()).unwrap_or_default(),
            text: visible(&shown.map_or_else(|| first.to_owned(), |it| format!("{first} {it}"))),
            to: format!("/inbox?open={}", card.id),
            key: format!("ask {}", card.id),
        });
    }
    let filter = RunFilter { statuses: Vec::new(), before: None, most: RUNS_MAX };
    let mut ended = state.store().runs().list(&filter).await?;
    ended.retain(|row| row.status.is_final() && row.origin.parent.is_none());
    ended.sort_by_key(|row| std::cmp::Reverse(row.times.updated_at));
    all.extend(ended.iter().take(NEWS_MAX).map(|row| NewsItem {
        key: format!("run {}", row.run),
        title: run_title(row),
        text: status_words(row.status, request.lang()),
        to: format!("/chat/{}", row.conversation),
    }));
    Ok(all)
}
