//! A live connection to a server: what it offers, and one call at it.

use super::listing::Listing;
use super::local::{ServerCommand, StartedServer};
use super::secret::{ResolvedValues, SecretMask};
use super::setting::{ServerSetting, ServerTransport};
use super::{answer, http};
use everloop_tools::{CommandEnd, CommandHandle};
use everloop_types::Observation;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, JsonObject, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::{ClientHandler, ServiceExt};
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;

/// Pages of a list of tools; a server that has more goes round in circles.
const PAGES_MAX: usize = 64;

/// Tools that are looked at.
const TOOLS_MAX: usize = 4_096;

/// Characters of a server's own words about an error.
const WORDS_CHARS_MAX: usize = 500;

/// Why there is no connection. Nothing was called.
#[derive(Debug, thiserror::Error)]
pub enum McpConnectError {
    /// A secret is missing.
    #[error("the variable {0} is not set")]
    NoVariable(String),
    /// A header cannot be sent.
    #[error("the header {0} has a name or value that cannot be sent")]
    Header(String),
    /// The address cannot be used.
    #[error("the address cannot be used: {0}")]
    Address(String),
    /// It does not answer.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// No guard, so nothing would end the program.
    #[error("there is no guard to end it with us")]
    NoGuard,
    /// The program cannot be started.
    #[error("it cannot be started")]
    Start(#[source] io::Error),
    /// The program ended.
    #[error("it ended before it answered: {0}")]
    Ended(String),
    /// It does not speak the protocol.
    #[error("it does not answer as a server does: {0}")]
    Protocol(String),
    /// It took too long.
    #[error("it did not answer within {0} ms")]
    TimedOut(u64),
}

/// How a call came back.
pub(super) enum CallReply {
    /// It was answered, well or badly.
    Answered(Observation),
    /// The protocol's own error came back. Some servers say so of a session that is gone.
    Refused(Observation),
    /// The server does not know this session any more, and did nothing.
    SessionGone,
    /// It certainly never left, and why.
    Unsent(String),
    /// It may have been acted upon, and why nothing is known.
    Lost(String),
}

/// A connection. Dropping it ends a local server.
pub(super) struct Connection {
    service: RunningService<RoleClient, McpClient>,
    life: Option<CommandHandle>,
    list_changed: Arc<AtomicBool>,
    secrets: SecretMask,
}

/// Our side of the protocol: it calls tools and serves no request of the server.
struct McpClient {
    list_changed: Arc<AtomicBool>,
}

/// What is not here is refused: sampling by an error, elicitation by "declined", roots by none.
impl ClientHandler for McpClient {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("everloop", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.list_changed.store(true, Ordering::SeqCst);
    }
}

impl Connection {
    /// Starts or calls the server. Only where a person has approved exactly this command.
    pub(super) async fn open(
        setting: &ServerSetting,
        folder: &Path,
        guard: Option<&Path>,
    ) -> Result<Self, McpConnectError> {
        let list_changed = Arc::new(AtomicBool::new(false));
        let client = McpClient { list_changed: Arc::clone(&list_changed) };
        let ms = setting.start_timeout_ms;
        let within = Duration::from_millis(ms);
        match &setting.way {
            ServerTransport::Command { program, args, env } => {
                let words = std::iter::once(program).chain(args).map(String::as_str);
                if let Some(path) = everloop_tools::run_from_workspace(words, None) {
                    let why =
                        format!("{} lies in the workspace, where commands write", path.display());
                    return Err(McpConnectError::Start(io::Error::other(why)));
                }
                let env = ResolvedValues::of(env)?;
                let log = folder.join(format!("{}.log", setting.name));
                let local = ServerCommand { guard, folder, log, program, args, env: &env };
                let StartedServer { output, input, mut life } = local.start()?;
                let service = match timeout(within, client.serve((output, input))).await {
                    Ok(Ok(service)) => service,
                    Ok(Err(error)) => return Err(without_start(error, life.end().await)),
                    Err(_) => return Err(McpConnectError::TimedOut(ms)),
                };
                Ok(Self { service, life: Some(life), list_changed, secrets: env.secrets })
            }
            ServerTransport::Address { url, headers } => {
                let headers = ResolvedValues::of(headers)?;
                let connect = async {
                    let transport = http::transport(url, &headers).await?;
                    client.serve(transport).await.map_err(without_answer)
                };
                let service = timeout(within, connect).await;
                let service = service.unwrap_or(Err(McpConnectError::TimedOut(ms)))?;
                Ok(Self { service, life: None, list_changed, secrets: headers.secrets })
            }
        }
    }

    /// Whether the next call needs another connection.
    pub(super) fn is_over(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether the server runs only for us.
    pub(super) fn is_local(&self) -> bool {
        self.life.is_some()
    }

    /// Whether the server said that its tools are others now; asked once.
    pub(super) fn take_list_changed(&self) -> bool {
        self.list_changed.swap(false, Ordering::SeqCst)
    }

    /// All pages of what the server offers, now and not from a cache.
    pub(super) async fn list(&self, setting: &ServerSetting) -> Result<Listing, McpConnectError> {
        let within = Duration::from_millis(setting.start_timeout_ms);
        let tools = timeout(within, self.pages()).await;
        let tools = tools.unwrap_or(Err(McpConnectError::TimedOut(setting.start_timeout_ms)))?;
        Ok(Listing::of(&setting.name, tools))
    }

    async fn pages(&self) -> Result<Vec<Tool>, McpConnectError> {
        let wrong = |what: &str| McpConnectError::Protocol(what.to_owned());
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let page = match self.service.peer().send_request(request).await {
                Ok(ServerResult::ListToolsResult(page)) => page,
                Ok(_) => return Err(wrong("tools/list brought something else")),
                Err(error) => return Err(wrong(&words(&error))),
            };
            tools.extend(page.tools);
            if tools.len() > TOOLS_MAX {
                return Err(wrong("it lists too many tools"));
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(tools),
            }
        }
        Err(wrong("its list of tools does not end"))
    }

    /// Calls a tool. Dropping the future tells the server that the call is canceled.
    pub(super) async fn call(&self, tool: &str, args: JsonObject, chars_max: usize) -> CallReply {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let observed = |seen: Observation| {
            let text = self.secrets.scrub(&seen.text);
            answer::bounded(Observation { text, ..seen }, chars_max)
        };
        match self.service.peer().call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => {
                CallReply::Answered(observed(answer::observed(&result)))
            }
            Ok(_) => {
                CallReply::Lost("the server wants something else first, which is refused".into())
            }
            Err(ServiceError::McpError(error)) => {
                let words = format!("the server says: {}", error.message);
                CallReply::Refused(observed(Observation::error(words)))
            }
            Err(ServiceError::TransportSend(error)) if is_of_no_session(&error) => {
                CallReply::SessionGone
            }
            Err(ServiceError::TransportSend(error)) => {
                let why = self.secrets.scrub(&transport_words(&error));
                if never_left(&error) { CallReply::Unsent(why) } else { CallReply::Lost(why) }
            }
            Err(error) => CallReply::Lost(self.secrets.scrub(&words(&error))),
        }
    }
}

/// Whether an error proves that the request never left.
fn never_left(error: &DynamicTransportError) -> bool {
    client_error(error).is_some_and(reqwest::Error::is_connect)
}

/// Whether the server refused the request, because its session is over.
fn is_of_no_session(error: &DynamicTransportError) -> bool {
    matches!(http_error(error), Some(StreamableHttpError::SessionExpired))
}

/// The SDK does not count the cause among the sources of its error.
fn client_error(error: &DynamicTransportError) -> Option<&reqwest::Error> {
    match http_error(error)? {
        StreamableHttpError::Client(error) => Some(error),
        _ => None,
    }
}

fn http_error(error: &DynamicTransportError) -> Option<&StreamableHttpError<reqwest::Error>> {
    error.error.downcast_ref()
}

fn transport_words(error: &DynamicTransportError) -> String {
    match client_error(error) {
        Some(error) => words(error),
        None => words(error.error.as_ref()),
    }
}

fn without_start(error: ClientInitializeError, ended: CommandEnd) -> McpConnectError {
    match ended {
        CommandEnd::NeverStarted(why) => McpConnectError::Start(io::Error::other(why)),
        CommandEnd::Exit(code) => McpConnectError::Ended(format!("exit code {code}")),
        _ => McpConnectError::Protocol(words(&error)),
    }
}

fn without_answer(error: ClientInitializeError) -> McpConnectError {
    match &error {
        ClientInitializeError::TransportError { error, .. } => {
            McpConnectError::Unreachable(transport_words(error))
        }
        _ => McpConnectError::Protocol(words(&error)),
    }
}

/// The innermost cause, clean and short: a server has a say in it.
fn words(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(cause) = inner.source() {
        inner = cause;
    }
    let text = everloop_tools::clean(inner.to_string().as_bytes());
    text.chars().take(WORDS_CHARS_MAX).collect()
}
