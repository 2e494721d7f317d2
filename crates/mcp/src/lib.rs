//! Tools of other programs, over the Model Context Protocol.
//!
//! ```text
//!   settings ──► person approves command and tools ──► approval (a file)
//!                                                        │
//!   frame ◄── specs, from the approval alone ────────────┤
//!                                                        ▼
//!   call ──► connect, list ──► same as approved? ──► send ──► answer
//!                                     └─ no: refused, not offered again
//! ```
//!
//! Nothing runs because a project is opened or a run begins: what is offered is read from the
//! approval, and a server is started by the first call of one of its tools.
//!
//! Deliberately absent: prompts and resources of servers, sampling, elicitation and roots, which
//! are refused; signing in to servers.

mod answer;
mod approvals;
mod connection;
mod http;
mod listing;
mod local;
mod secret;
mod server;
mod setting;
mod tool;

pub use approvals::{ApprovalStatus, ServerApproval, ServerApprovals};
pub use connection::McpConnectError;
pub use listing::{Hints, Listing, ListingDifference, OfferedTool, SkipReason, SkippedTool};
pub use server::Server;
pub use setting::{NAME_CHARS_MAX, ServerSetting, ServerTransport, ServerValue, is_server_name};

use everloop_ports::Registry;
use everloop_types::Frame;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The servers that the settings name, with the connections of this process.
#[derive(Clone, Default)]
pub struct Servers {
    all: Vec<Arc<Server>>,
}

impl Servers {
    /// Starts nothing. `guard` is the program that ends local servers with us.
    #[must_use]
    pub fn new(settings: Vec<ServerSetting>, folder: &Path, guard: Option<PathBuf>) -> Self {
        let server = |setting| Arc::new(Server::new(setting, folder.to_owned(), guard.clone()));
        Self { all: settings.into_iter().map(server).collect() }
    }

    /// All of them, by name.
    #[must_use]
    pub fn all(&self) -> &[Arc<Server>] {
        &self.all
    }

    /// The server of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Server>> {
        self.all.iter().find(|server| server.setting().name == name)
    }

    /// Adds the tools that are approved.
    #[must_use]
    pub fn offer(&self, registry: Registry) -> Registry {
        let tools = self.all.iter().flat_map(tool::offered);
        tools.fold(registry, Registry::with_any)
    }

    /// Adds the tools that are approved as the run knows them; the others refuse with the reason.
    #[must_use]
    pub fn offer_to(&self, frame: &Frame, registry: Registry) -> Registry {
        let registry = self.offer(registry);
        let held = frame.tools.iter().filter(|spec| setting::is_foreign(&spec.name));
        let changed = held.filter(|spec| {
            registry.get(&spec.name).is_none_or(|tool| !tool::is_same(tool.spec(), spec))
        });
        let refusing: Vec<_> = changed.map(|spec| tool::refusing(spec, &self.all)).collect();
        refusing.into_iter().fold(registry, Registry::with_any)
    }
}
