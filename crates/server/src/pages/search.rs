//! What the palette finds: conversations, runs, todos, facts, settings, commands. Links in a page,
//! which is complete without a script.

use super::chat::run_title;
use super::commands::works_here;
use super::frame::{PageRequest, listed};
use super::respond::page;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use everloop_app::conversation::SLASH_COMMANDS;
use everloop_app::settings::{self as app_settings, SettingOrigin};
use everloop_app::slash::SlashCommand;
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{say, status_words};
use everloop_pages::search::{self as view, FoundGroup, FoundItem};
use everloop_store::{FactFilter, RunFilter};
use everloop_text::pages as words;
use everloop_types::FactStatus;
use serde::Deserialize;

/// Things of a kind that are shown.
const SHOWN: usize = 8;

/// Runs and facts that are looked through.
const LOOKED_THROUGH: usize = 300;

/// What is searched for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct PaletteParams {
    #[serde(default)]
    q: String,
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(params): Query<PaletteParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let found = Finder { state: &state, request: &request, asked: params.q.trim() };
    let mut groups = Vec::new();
    if !found.asked.starts_with('/') {
        groups.push(found.conversations().await?);
    }
    if !found.asked.is_empty() && !found.asked.starts_with('/') {
        groups.push(found.runs().await?);
        groups.push(found.todos().await?);
        groups.push(found.facts().await?);
        groups.push(found.settings());
    }
    groups.push(found.commands());
    groups.retain(|group| !group.items.is_empty());
    let title = say(request.lang(), words::nav::search());
    let (frame, _) = request.frame(&state, NavPlace::Search, title).await?;
    let mut response = page(view::view(&frame, &params.q, &groups));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    Ok(response)
}

struct Finder<'a> {
    state: &'a ServerState,
    request: &'a PageRequest,
    asked: &'a str,
}

impl Finder<'_> {
    fn fits(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.asked.to_lowercase())
    }

    fn group(
        &self,
        name: everloop_text::Text,
        items: impl Iterator<Item = FoundItem>,
    ) -> FoundGroup {
        FoundGroup { name: say(self.request.lang(), name), items: items.take(SHOWN).collect() }
    }

    async fn conversations(&self) -> Result<FoundGroup, Problem> {
        let asked = Some(self.asked.to_owned()).filter(|asked| !asked.is_empty());
        let found = listed(self.state, asked).await?;
        let item = |one: everloop_app::conversations::ListedConversation| FoundItem {
            to: format!("/chat/{}", one.row.id),
            name: one.title(),
            about: one.excerpt,
            command: None,
        };
        Ok(self.group(words::palette::found(), found.into_iter().map(item)))
    }

    async fn runs(&self) -> Result<FoundGroup, Problem> {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: LOOKED_THROUGH };
        let rows = self.state.store().runs().list(&filter).await?;
        let lang = self.request.lang();
        let fits = rows.into_iter().filter(|row| {
            self.fits(&row.goal) || self.fits(&run_title(row)) || self.fits(row.run.as_str())
        });
        let item = |row: everloop_store::RunRow| FoundItem {
            to: format!("/runs/{}", row.run),
            name: run_title(&row),
            about: Some(status_words(row.status, lang)),
            command: None,
        };
        Ok(self.group(words::nav::runs(), fits.map(item)))
    }

    async fn todos(&self) -> Result<FoundGroup, Problem> {
        let rows = self.state.store().agenda().todos().await?;
        let fits = rows.into_iter().filter(|row| self.fits(&row.said.text));
        let item = |row: everloop_store::TodoRow| FoundItem {
            to: "/agenda".to_owned(),
            name: row.said.text,
            about: None,
            command: None,
        };
        Ok(self.group(words::nav::agenda(), fits.map(item)))
    }

    async fn facts(&self) -> Result<FoundGroup, Problem> {
        let status = Some(FactStatus::Active);
        let filter = FactFilter { status, most: LOOKED_THROUGH, ..FactFilter::default() };
        let rows = everloop_app::facts::list(self.state.store(), &filter).await?;
        let fits = rows.into_iter().filter(|row| self.fits(&row.text));
        let item = |row: everloop_store::FactRow| FoundItem {
            to: format!("/memory?fact={}", row.id),
            name: row.text,
            about: None,
            command: None,
        };
        Ok(self.group(words::nav::memory(), fits.map(item)))
    }

    fn settings(&self) -> FoundGroup {
        let lang = self.request.lang();
        let all = self.state.app.settings.all();
        let item = |key: &str, section: &str| {
            let spec = app_settings::find(key, SettingOrigin::Default);
            let about = spec.map(|spec| spec.description(lang)).unwrap_or_default();
            (self.fits(key) || self.fits(&about)).then(|| FoundItem {
                to: format!("/settings?section={section}"),
                name: key.to_owned(),
                about: Some(about),
                command: None,
            })
        };
        let found = all.filter_map(|(key, _, _)| item(key.as_str(), key.section()));
        self.group(words::nav::settings(), found)
    }

    /// The commands that mean something here; the others belong to a terminal.
    fn commands(&self) -> FoundGroup {
        let lang = self.request.lang();
        let asked = self.asked.trim_start_matches('/');
        let is_here = |one: &&SlashCommand| works_here(one) && one.name.contains(asked);
        // Who begins with a slash wants to see them all.
        let most = if self.asked.starts_with('/') { usize::MAX } else { SHOWN };
        let item = |one: &SlashCommand| FoundItem {
            to: format!("/chat?say=%2F{}", one.name),
            name: format!("/{}", one.name),
            about: Some(one.summary(lang)),
            command: Some(format!("/{}", one.name)),
        };
        let found = SLASH_COMMANDS.iter().filter(is_here).map(item);
        let name = say(lang, words::palette::commands());
        FoundGroup { name, items: found.take(most).collect() }
    }
}
