//! A server of the settings: whether it is approved, and the one connection that all runs share.

use super::approvals::{ApprovalStatus, ServerApprovals};
use super::connection::{CallReply, Connection, McpConnectError};
use super::listing::{Listing, OfferedTool};
use super::setting::ServerSetting;
use everloop_ports::{CallContext, ToolReturn};
use everloop_types::{Ending, Observation};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// What a person has to know of a server whose tools have changed.
const OTHER_TOOLS: &str = "offers other tools than were approved";

/// A server of the settings.
pub struct Server {
    setting: ServerSetting,
    approvals: ServerApprovals,
    /// Of the approvals and logs.
    folder: PathBuf,
    guard: Option<PathBuf>,
    live: Mutex<Option<LiveConnection>>,
}

/// A connection whose tools were compared with what is approved.
struct LiveConnection {
    connection: Arc<Connection>,
    /// Of the tools that it was compared with.
    digest: String,
}

/// How one attempt at a call went.
enum CallAttempt {
    Done(ToolReturn),
    /// Nothing was done: the server does not know the session any more.
    SessionGone,
}

/// Why a call cannot be made. Nothing was called.
enum CallObstacle {
    /// Not now.
    Unsent(String),
    /// Not until a person approves.
    Refused(String),
}

/// Why a call must end now.
enum CallStop {
    Canceled,
    TimedOut,
}

impl Server {
    pub(super) fn new(setting: ServerSetting, folder: PathBuf, guard: Option<PathBuf>) -> Self {
        let approvals = ServerApprovals::new(folder.clone());
        Self { setting, approvals, folder, guard, live: Mutex::default() }
    }

    /// What the person says about it.
    #[must_use]
    pub fn setting(&self) -> &ServerSetting {
        &self.setting
    }

    /// Whether its tools may be offered. Runs nothing.
    #[must_use]
    pub fn approval_status(&self) -> ApprovalStatus {
        self.approvals.approval_status(&self.setting)
    }

    /// The file with the standard error of a local server.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.setting.name))
    }

    /// Starts or calls the server and asks what it offers. Only for a person who has seen the
    /// command and wants that.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub async fn introduce(&self) -> Result<Listing, McpConnectError> {
        let connection = self.open().await?;
        connection.list(&self.setting).await
    }

    /// Approves the command of the settings, and these tools.
    ///
    /// # Errors
    /// If it cannot be written durably.
    pub fn approve(&self, listing: Listing) -> std::io::Result<()> {
        self.approvals.approve(&self.setting, listing)
    }

    /// Keeps or forgets that other tools were seen than are approved. Says whether they are the
    /// same.
    ///
    /// # Errors
    /// If it cannot be written durably.
    pub fn compare(&self, seen: &Listing) -> std::io::Result<bool> {
        let name = &self.setting.name;
        let approved = match self.approval_status() {
            ApprovalStatus::Good(approved) | ApprovalStatus::OtherTools(approved, _) => approved,
            ApprovalStatus::Off | ApprovalStatus::New | ApprovalStatus::OtherCommand(_) => {
                return Ok(false);
            }
        };
        let same = approved.listing.digest() == seen.digest();
        match same {
            true => self.approvals.forget_change(name)?,
            false => self.approvals.note_change(name, seen)?,
        }
        Ok(same)
    }

    async fn open(&self) -> Result<Connection, McpConnectError> {
        std::fs::create_dir_all(&self.folder).map_err(McpConnectError::Start)?;
        Connection::open(&self.setting, &self.folder, self.guard.as_deref()).await
    }

    /// Why its tools may not be called, if they may not.
    pub(super) fn refusal(&self) -> Option<String> {
        let name = &self.setting.name;
        let why = match self.approval_status() {
            ApprovalStatus::Good(_) => return None,
            ApprovalStatus::Off => return Some(format!("the MCP server {name} is turned off")),
            ApprovalStatus::New => "is not approved",
            ApprovalStatus::OtherCommand(_) => "has another command or address than was approved",
            ApprovalStatus::OtherTools(..) => OTHER_TOOLS,
        };
        Some(self.needs_person(why))
    }

    fn needs_person(&self, why: &str) -> String {
        let name = &self.setting.name;
        format!("the MCP server {name} {why}; a person must run: everloop mcp approve {name}")
    }

    /// Makes the connection that a call will need, so that little time passes between the intent
    /// of the call and the call. Errors are reported by the call.
    pub(super) async fn warm_up(&self) {
        let _ = self.connection().await;
    }

    /// A connection to a server that offers what was approved.
    async fn connection(&self) -> Result<Arc<Connection>, CallObstacle> {
        let mut live = self.live.lock().await;
        let ApprovalStatus::Good(approved) = self.approval_status() else {
            *live = None;
            return Err(CallObstacle::Refused(self.refusal().unwrap_or_default()));
        };
        let digest = approved.listing.digest();
        let usable = live.take().filter(|live| !live.connection.is_over());
        let connection = match usable {
            Some(known) if known.digest == digest && !known.connection.take_list_changed() => {
                return Ok(Arc::clone(&live.insert(known).connection));
            }
            Some(known) => known.connection,
            None => Arc::new(self.open().await.map_err(|error| self.unsent(&error))?),
        };
        let seen = connection.list(&self.setting).await.map_err(|error| self.unsent(&error))?;
        if seen.digest() != digest {
            // Even if this is not kept, the next connection is compared again.
            let _ = self.compare(&seen);
            return Err(CallObstacle::Refused(self.needs_person(OTHER_TOOLS)));
        }
        Ok(Arc::clone(&live.insert(LiveConnection { connection, digest }).connection))
    }

    fn unsent(&self, error: &McpConnectError) -> CallObstacle {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        let name = &self.setting.name;
        CallObstacle::Unsent(format!("the MCP server {name}: {error}{}", cause.unwrap_or_default()))
    }

    /// Makes one call.
    pub(super) async fn call(
        &self,
        offer: &OfferedTool,
        args: Map<String, Value>,
        context: &CallContext,
    ) -> ToolReturn {
        match self.attempt(offer, args.clone(), context).await {
            // The next connection is another session; its tools are compared first.
            CallAttempt::SessionGone => match self.attempt(offer, args, context).await {
                CallAttempt::Done(done) => done,
                CallAttempt::SessionGone => {
                    let name = &self.setting.name;
                    ToolReturn::passing(format!(
                        "the MCP server {name} forgets its sessions at once"
                    ))
                }
            },
            CallAttempt::Done(done) => done,
        }
    }

    async fn attempt(
        &self,
        offer: &OfferedTool,
        args: Map<String, Value>,
        context: &CallContext,
    ) -> CallAttempt {
        let connection = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return CallAttempt::Done(canceled()),
            connection = self.connection() => match connection {
                Ok(connection) => connection,
                Err(CallObstacle::Unsent(why)) => {
                    return CallAttempt::Done(ToolReturn::passing(why));
                }
                Err(CallObstacle::Refused(why)) => {
                    let refused = Observation::denied(format!("{why}; nothing was done"));
                    return CallAttempt::Done(ToolReturn::Seen(refused));
                }
            }
        };
        let called = tokio::select! {
            biased;
            called = connection.call(&offer.name, args, context.observation_chars) => called,
            stop = self.stop(context) => {
                // A local server may still be at it, one elsewhere may have lost the session.
                self.retire(&connection).await;
                return CallAttempt::Done(self.stopped(offer, stop));
            }
        };
        let name = &self.setting.name;
        CallAttempt::Done(match called {
            CallReply::Answered(seen) => ToolReturn::Seen(seen),
            CallReply::SessionGone => {
                self.retire(&connection).await;
                return CallAttempt::SessionGone;
            }
            CallReply::Refused(seen) => {
                if !connection.is_local() {
                    self.retire(&connection).await;
                }
                ToolReturn::Seen(seen)
            }
            CallReply::Unsent(why) => {
                self.retire(&connection).await;
                ToolReturn::passing(format!("the MCP server {name}: {why}"))
            }
            CallReply::Lost(why) => {
                self.retire(&connection).await;
                ToolReturn::Lost(format!("the MCP server {name} brought no answer: {why}"))
            }
        })
    }

    /// The next call makes another connection. This one, and with it a local server, ends once the
    /// last call at it is over.
    async fn retire(&self, connection: &Arc<Connection>) {
        let mut live = self.live.lock().await;
        let is_it = live.as_ref().is_some_and(|live| Arc::ptr_eq(&live.connection, connection));
        if is_it {
            *live = None;
        }
    }

    async fn stop(&self, context: &CallContext) -> CallStop {
        let own = Instant::now() + Duration::from_millis(self.setting.timeout_ms);
        let until = context.deadline.map_or(own, |deadline| own.min(deadline.into()));
        tokio::select! {
            () = context.cancel.cancelled() => CallStop::Canceled,
            () = tokio::time::sleep_until(until) => CallStop::TimedOut,
        }
    }

    /// What is known of a call that was given up: of one that only looks, all that matters.
    fn stopped(&self, offer: &OfferedTool, stop: CallStop) -> ToolReturn {
        let name = &self.setting.name;
        let (ending, why) = match stop {
            CallStop::Canceled => (Ending::Canceled, "canceled"),
            CallStop::TimedOut => (Ending::TimedOut, "out of time"),
        };
        let text = format!("the MCP server {name} did not answer: {why}");
        match self.setting.trusted && offer.hints.read_only {
            true => ToolReturn::Seen(Observation { ending, text }),
            false => ToolReturn::Lost(text),
        }
    }
}

fn canceled() -> ToolReturn {
    let text = "not sent: canceled".to_owned();
    ToolReturn::Seen(Observation { ending: Ending::Canceled, text })
}
