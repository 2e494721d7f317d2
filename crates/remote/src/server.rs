//! Requests to a server.

use crate::address;
use crate::error::{ApiProblem, RemoteError};
use crate::feed::RunFeed;
use everloop_ports::http::tls_config;
use everloop_types::RunId;
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, Response, Url};
use serde_json::Value;
use std::time::Duration;

/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// How long an answer that is no stream may take.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The version of the API that this client speaks.
const API: &str = "v1";

/// How to reach a server.
#[derive(Clone)]
pub struct RemoteOptions {
    /// Its address.
    pub url: String,
    /// The token that opens it.
    pub token: String,
    /// Something else encrypts the connection.
    pub may_be_plain: bool,
    /// The language of its words.
    pub language: &'static str,
}

/// A server elsewhere.
#[derive(Clone)]
pub struct RemoteServer {
    http: reqwest::Client,
    base: Url,
}

impl std::fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteServer").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl RemoteServer {
    /// Looks whether an Everloop server answers there that speaks our version of the API. The token
    /// is not sent before that is known.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub async fn connect(options: &RemoteOptions) -> Result<Self, RemoteError> {
        let base = address::read(&options.url, options.may_be_plain)?;
        let bare = Self { http: client(&base, HeaderMap::new())?, base: base.clone() };
        let version = bare.get("version").await?;
        if version["name"] != "everloop" {
            return Err(RemoteError::NotEverloop(base.to_string()));
        }
        match version["api"].as_str() {
            Some(API) => {}
            found => {
                let found = found.unwrap_or("?").to_owned();
                return Err(RemoteError::OtherVersion { found });
            }
        }
        let mut headers = HeaderMap::new();
        let token = format!("Bearer {}", options.token);
        let mut token = HeaderValue::from_str(&token).map_err(|_| RemoteError::BadToken)?;
        token.set_sensitive(true);
        headers.insert(AUTHORIZATION, token);
        headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(options.language));
        Ok(Self { http: client(&base, headers)?, base })
    }

    /// The address, to be shown.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.base.as_str()
    }

    /// Reads something. A path begins without a slash.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub async fn get(&self, path: &str) -> Result<Value, RemoteError> {
        self.ask(Method::GET, path, &[], None, None).await
    }

    /// Reads something with a query.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub async fn get_with(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<Value, RemoteError> {
        self.ask(Method::GET, path, query, None, None).await
    }

    /// Asks for something to be done. The same key asks for it once, however often it is sent.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub async fn post(
        &self,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<Value, RemoteError> {
        self.ask(Method::POST, path, &[], Some(body), key).await
    }

    /// Follows a run: the events after this number, and then those to come.
    #[must_use]
    pub fn follow(&self, run: &RunId, after: i64) -> RunFeed {
        RunFeed::new(self.clone(), run.clone(), after)
    }

    pub(crate) async fn open_events(
        &self,
        run: &RunId,
        after: i64,
    ) -> Result<Response, RemoteError> {
        let query = [("tree", "true".to_owned())];
        let url = self.url(&format!("v1/runs/{run}/events"), &query)?;
        let asked = self.http.get(url).header(ACCEPT, "text/event-stream");
        let asked = asked.header("last-event-id", after.to_string());
        // Only the beginning: the stream itself has no end.
        let opened = tokio::time::timeout(ANSWER_MAX, async {
            let response = asked.send().await.map_err(|source| self.unreachable(source))?;
            match response.status().is_success() {
                true => Ok(response),
                false => Err(self.refusal(response).await),
            }
        });
        opened.await.unwrap_or_else(|_| Err(self.silent()))
    }

    pub(crate) fn unreachable(&self, source: reqwest::Error) -> RemoteError {
        // The error of the client may repeat the address, which has no token in it.
        RemoteError::Unreachable { url: self.shown().to_owned(), source: source.without_url() }
    }

    pub(crate) fn silent(&self) -> RemoteError {
        RemoteError::Silent(self.shown().to_owned())
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Value, RemoteError> {
        let mut asked = self.http.request(method, self.url(path, query)?).timeout(ANSWER_MAX);
        if let Some(body) = body {
            asked = asked.header("content-type", "application/json").body(body.to_string());
        }
        if let Some(key) = key {
            asked = asked.header("idempotency-key", key);
        }
        let response = asked.send().await.map_err(|source| self.unreachable(source))?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let bytes = self.body(response).await?;
        serde_json::from_slice(&bytes).map_err(|_| RemoteError::NotEverloop(self.base.to_string()))
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, RemoteError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|source| self.unreachable(source))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(RemoteError::NotEverloop(self.base.to_string()));
            }
        }
        Ok(bytes)
    }

    async fn refusal(&self, response: Response) -> RemoteError {
        let status = response.status();
        if status.is_redirection() {
            return RemoteError::Redirected;
        }
        let bytes = self.body(response).await.unwrap_or_default();
        match serde_json::from_slice::<ApiProblem>(&bytes) {
            Ok(problem) if !problem.code.is_empty() => {
                RemoteError::Refused(ApiProblem { status: status.as_u16(), ..problem })
            }
            // A proxy between us and a server that is being started.
            _ if status.is_server_error() => RemoteError::Refused(ApiProblem {
                status: status.as_u16(),
                title: status.to_string(),
                ..ApiProblem::default()
            }),
            _ => RemoteError::NotEverloop(self.base.to_string()),
        }
    }

    fn url(&self, path: &str, query: &[(&str, String)]) -> Result<Url, RemoteError> {
        let wrong = |_| RemoteError::BadAddress(path.to_owned());
        let mut url = self.base.join(path).map_err(wrong)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }
}

fn client(base: &Url, headers: HeaderMap) -> Result<reqwest::Client, RemoteError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("everloop/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_MAX)
        .tls_backend_preconfigured(tls_config(base.scheme()).map_err(cannot_be_made)?);
    if address::is_loopback(base) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(cannot_be_made)
}

fn cannot_be_made(error: impl std::error::Error + Send + Sync + 'static) -> RemoteError {
    RemoteError::Client(Box::new(error))
}
