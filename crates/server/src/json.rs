//! Bodies, queries and paths whose refusals are problems.

use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::{FromRequest, FromRequestParts, OptionalFromRequest, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

/// The query of an address.
pub(crate) struct QueryOf<T>(pub(crate) T);

/// The parts of a path.
pub(crate) struct PathOf<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<ServerState> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, Problem> {
        let axum::Json(value) =
            <axum::Json<T> as FromRequest<ServerState>>::from_request(request, state).await?;
        Ok(Self(value))
    }
}

impl<T: DeserializeOwned> OptionalFromRequest<ServerState> for Body<T> {
    type Rejection = Problem;

    /// No body, whatever the content type says, is none.
    async fn from_request(request: Request, state: &ServerState) -> Result<Option<Self>, Problem> {
        let bytes = axum::body::Bytes::from_request(request, state).await;
        let bytes =
            bytes.map_err(|rejection| ProblemCode::BadRequest.because(rejection.body_text()))?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let axum::Json(value) = axum::Json::from_bytes(&bytes)?;
        Ok(Some(Self(value)))
    }
}

impl<T: DeserializeOwned> FromRequestParts<ServerState> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, Problem> {
        let axum::extract::Query(value) =
            axum::extract::Query::from_request_parts(parts, state).await?;
        Ok(Self(value))
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<ServerState> for PathOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, Problem> {
        let axum::extract::Path(value) =
            axum::extract::Path::from_request_parts(parts, state).await?;
        Ok(Self(value))
    }
}

impl<T: Serialize> IntoResponse for Body<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}
