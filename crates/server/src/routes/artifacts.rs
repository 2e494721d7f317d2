//! Artifacts: the files that a run wrote.

use super::{ListPage, run_id};
use crate::address::percent_encoded;
use crate::api::Api;
use crate::json::{Body, PathOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::routes::messages::run_row;
use crate::state::ServerState;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use everloop_app::artifacts::{self, Artifact, ArtifactError};
use everloop_app::show::timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A file that a run wrote.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Artifact")]
pub(crate) struct ApiArtifact {
    /// Its path, relative to the workspace. In an address every `/` of it is `%2F`.
    name: String,
    /// The digest of what the run wrote (BLAKE3, in hex).
    digest: String,
    /// `as_written`, `changed`, `missing`, or `elsewhere` for a file on another machine. Only what
    /// is as it was written can be fetched.
    state: &'static str,
    /// The run that wrote it last: the run itself, or one below it.
    run_id: String,
    /// When.
    written_at: String,
    /// Where its content is.
    url: String,
}

impl ApiArtifact {
    fn of(run: &str, artifact: Artifact) -> Self {
        let url = format!("/v1/runs/{run}/artifacts/{}", percent_encoded(&artifact.name));
        Self {
            digest: artifact.digest,
            state: artifact.state.as_str(),
            run_id: artifact.run.to_string(),
            written_at: timestamp(artifact.written_at),
            name: artifact.name,
            url,
        }
    }
}

pub(crate) fn add(api: &mut Api) {
    let list = Operation::get("/v1/runs/{id}/artifacts", "The files that it wrote, by name")
        .answers::<ListPage<ApiArtifact>>(200);
    api.route(list, list_artifacts);
    let path = "/v1/runs/{id}/artifacts/{name}";
    let get = Operation::get(path, "The content of a file that it wrote")
        .answers_with(200, "application/octet-stream")
        .problems(&[ProblemCode::Conflict, ProblemCode::BodyTooLarge]);
    api.route(get, get_artifact);
}

async fn list_artifacts(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<ListPage<ApiArtifact>>, Problem> {
    let run = run_row(&state, &run_id(&id)?).await?.run;
    let all = artifacts::list(&state.app, state.store(), &run).await?;
    let data = all.into_iter().map(|one| ApiArtifact::of(run.as_str(), one)).collect();
    Ok(Body(ListPage { data, next_cursor: None }))
}

/// Always a download, never a page of this origin, whatever is in it.
async fn get_artifact(
    State(state): State<ServerState>,
    PathOf((id, name)): PathOf<(String, String)>,
) -> Result<Response, Problem> {
    let run = run_row(&state, &run_id(&id)?).await?.run;
    let content = artifacts::content(&state.app, state.store(), &run, &name).await;
    Ok(download(content.map_err(of_artifact)?, &name))
}

/// A content as a download, under a name that cannot leave its header.
pub(crate) fn download(content: Vec<u8>, name: &str) -> Response {
    let mut response = content.into_response();
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    let policy = HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if let Ok(disposition) = HeaderValue::from_str(&disposition(name)) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

pub(crate) fn of_artifact(error: ArtifactError) -> Problem {
    let code = match error {
        ArtifactError::App(error) => return error.into(),
        ArtifactError::NotFound => ProblemCode::NotFound,
        ArtifactError::NotThere(_) => ProblemCode::Conflict,
        ArtifactError::TooLarge { .. } => ProblemCode::BodyTooLarge,
    };
    code.because(error.to_string())
}

/// The name under which a browser saves it: the last part, in a plain form and as it is.
fn disposition(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    let plain: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", percent_encoded(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_header() {
        let saved = disposition("dir/x\"; filename=evil\r\n.html");
        let plain = "attachment; filename=\"x__ filename_evil__.html\"; ";
        assert_eq!(saved, format!("{plain}filename*=UTF-8''x%22%3B%20filename%3Devil%0D%0A.html"));
    }
}
