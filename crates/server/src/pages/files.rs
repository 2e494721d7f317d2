//! The files that a run wrote. What is in them is looked at in a sandbox, never as a page of ours.

use super::chat::run_title;
use super::frame::PageRequest;
use super::respond::{POLICY, page};
use crate::address::percent_encoded;
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::artifacts::of_artifact;
use crate::routes::messages::run_row;
use crate::routes::run_id;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use everloop_app::artifacts::{self, Artifact, ArtifactState};
use everloop_app::goals;
use everloop_pages::files::{self as view, FileContent, FilePreview, RunFileView, RunFilesView};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::say;
use everloop_text::pages as words;
use everloop_types::{Lang, RunId};
use serde::Deserialize;

/// Characters of a text that are shown.
const SHOWN_CHARS: usize = 100_000;

/// Nothing runs, nothing is fetched, nobody else frames it.
const SANDBOX: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
    frame-ancestors 'self'";

/// The kinds of pictures that a message may bring.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Which file is looked at.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct FileParams {
    name: Option<String>,
}

/// The kind of a picture or page, by the ending of its name. Its bytes have no say.
fn kind_of(name: &str) -> Option<&'static str> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase())?;
    Some(match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "html" | "htm" => "text/html; charset=utf-8",
        _ => return None,
    })
}

fn state_words(lang: Lang, state: ArtifactState) -> String {
    say(
        lang,
        match state {
            ArtifactState::AsWritten => words::files::as_written(),
            ArtifactState::Changed => words::files::changed(),
            ArtifactState::Missing => words::files::missing(),
            ArtifactState::Elsewhere => words::files::elsewhere(),
        },
    )
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Query(params): Query<FileParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let row = run_row(&state, &run_id(&id)?).await?;
    let all = artifacts::list(&state.app, state.store(), &row.run).await?;
    let shown = match params.name {
        Some(name) => Some(preview(&state, lang, &row.run, name).await?),
        None => None,
    };
    let file = |one: Artifact| {
        let coded = percent_encoded(&one.name);
        let places = (
            format!("/runs/{}/files?name={coded}", row.run),
            format!("/v1/runs/{}/artifacts/{coded}", row.run),
        );
        RunFileView {
            state: state_words(lang, one.state),
            places: (one.state == ArtifactState::AsWritten).then_some(places),
            when: request.short_time(one.written_at),
            is_shown: shown.as_ref().is_some_and(|shown| shown.name == one.name),
            name: one.name,
        }
    };
    let files: Vec<RunFileView> = all.into_iter().map(file).collect();
    let title = say(lang, words::files::title());
    let (frame, _) = request.frame(&state, NavPlace::Runs, title).await?;
    let (run, title) = (row.run.to_string(), run_title(&row));
    let has_page = matches!(&shown, Some(FilePreview { content: FileContent::Page(_), .. }));
    let mut response = page(view::view(&frame, &RunFilesView { run, title, files, shown }));
    if has_page && let Ok(policy) = HeaderValue::from_str(&format!("{POLICY}; frame-src 'self'")) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

async fn preview(
    state: &ServerState,
    lang: Lang,
    run: &RunId,
    name: String,
) -> Result<FilePreview, Problem> {
    let content = artifacts::content(&state.app, state.store(), run, &name).await;
    let at = format!("/runs/{run}/raw/{}", percent_encoded(&name));
    let content = match content {
        Err(artifacts::ArtifactError::NotThere(became)) => {
            let became = state_words(lang, became);
            FileContent::Nothing(format!(
                "{became}. {}",
                say(lang, words::files::only_as_written())
            ))
        }
        Err(error) => return Err(of_artifact(error)),
        Ok(bytes) => match kind_of(&name) {
            Some(kind) if kind.starts_with("image/") => FileContent::Picture(at),
            Some(_) => FileContent::Page(at),
            None => text_of(bytes),
        },
    };
    Ok(FilePreview { name, content })
}

fn text_of(bytes: Vec<u8>) -> FileContent {
    let Ok(text) = String::from_utf8(bytes) else { return FileContent::Unknown };
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => FileContent::Text(text[..end].to_owned(), Some(SHOWN_CHARS)),
        None => FileContent::Text(text, None),
    }
}

/// A picture or a page of a run, in a sandbox of its own.
pub(crate) async fn raw(
    State(state): State<ServerState>,
    PathOf((id, name)): PathOf<(String, String)>,
) -> Result<Response, Problem> {
    let run = run_row(&state, &run_id(&id)?).await?.run;
    let kind = kind_of(&name).ok_or_else(super::frame::missing)?;
    let content = artifacts::content(&state.app, state.store(), &run, &name).await;
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, SANDBOX),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, content.map_err(of_artifact)?).into_response())
}

/// A picture that went with the goal of a run, as it was sent.
pub(crate) async fn sent_picture(
    State(state): State<ServerState>,
    PathOf((id, number)): PathOf<(String, usize)>,
) -> Result<Response, Problem> {
    let run = run_row(&state, &run_id(&id)?).await?.run;
    let mut pictures = goals::pictures_of(state.store(), &run).await?;
    if number >= pictures.len() {
        return Err(super::frame::missing());
    }
    let picture = pictures.swap_remove(number);
    let kind = PICTURES.into_iter().find(|kind| *kind == picture.mime);
    let kind = kind.ok_or_else(super::frame::missing)?;
    let bytes = goals::picture_bytes(&picture).ok_or_else(super::frame::missing)?;
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, SANDBOX),
        (header::CACHE_CONTROL, "private, max-age=86400, immutable"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_and_pages_have_a_kind_and_the_name_decides() {
        assert_eq!(kind_of("a/b/chart.SVG"), Some("image/svg+xml"));
        assert_eq!(kind_of("x.html"), Some("text/html; charset=utf-8"));
        assert_eq!((kind_of("x.js"), kind_of("html"), kind_of("x.xhtml")), (None, None, None));
    }
}
