//! The MCP servers of the settings: their approvals, what they offer, and whether they work.

use crate::app::App;
use crate::settings::redact;
use everloop_mcp::{
    ApprovalStatus, Listing, McpConnectError, OfferedTool, Server, ServerSetting, ServerTransport,
    SkipReason,
};
use everloop_types::{Approval, EffectClass};
use serde::Serialize;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// One server of the settings.
#[derive(Debug, Clone, Serialize)]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub kind: McpServerKind,
    /// Its command or address, without secrets.
    pub way: String,
    /// Whether its tools may be offered.
    pub state: McpServerState,
    /// Whether what it answers counts as trusted.
    pub trusted: bool,
    /// The tools that were approved.
    pub tools: Vec<McpToolInfo>,
    /// The tools that cannot be offered.
    pub left_out: Vec<McpToolLeftOut>,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum McpServerKind {
    /// By a command of this machine.
    Command,
    /// At an address.
    Address,
}

/// Whether the tools of a server may be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum McpServerState {
    /// It is turned off.
    Off,
    /// Nobody has approved it.
    New,
    /// Another command or address was approved.
    OtherCommand,
    /// Other tools were approved.
    OtherTools,
    /// They may be offered.
    Approved,
}

/// A tool of a server.
#[derive(Debug, Clone, Serialize)]
pub struct McpToolInfo {
    /// As a model calls it.
    pub name: String,
    /// How its effects are treated.
    pub class: EffectClass,
    /// Whether a person is asked first.
    pub approval: Approval,
    /// In the server's words.
    pub description: String,
}

/// A tool that cannot be offered.
#[derive(Debug, Clone, Serialize)]
pub struct McpToolLeftOut {
    /// As the server calls it.
    pub name: String,
    /// Why.
    pub why: SkipReason,
}

/// What a test of a server found.
#[derive(Debug, Clone, Serialize)]
pub struct McpTestReport {
    /// The server.
    pub name: String,
    /// How many tools it offers.
    pub tools: usize,
    /// How long it took to list them.
    pub took_ms: u64,
    /// Whether these are the tools that were approved.
    pub as_approved: bool,
    /// Tools that are new.
    pub added: Vec<String>,
    /// Tools that are gone.
    pub removed: Vec<String>,
    /// Tools that say something else now.
    pub changed: Vec<String>,
}

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The settings have no such server.
    #[error("no MCP server {name}")]
    UnknownServer {
        /// What was asked for.
        name: String,
        /// Those that there are.
        all: Vec<String>,
    },
    /// A person has to do something first.
    #[error("the MCP server {name} is not approved")]
    NotApproved {
        /// The server.
        name: String,
        /// How it stands.
        state: McpServerState,
    },
    /// The server could not be reached.
    #[error("the MCP server {name} could not be reached")]
    Unreachable {
        /// The server.
        name: String,
        /// Where a local server's complaints are.
        log: Option<PathBuf>,
        /// Why.
        source: McpConnectError,
    },
    /// What was seen or approved could not be written.
    #[error(transparent)]
    NotKept(io::Error),
}

impl McpServerState {
    /// The state of a server.
    #[must_use]
    pub fn of(standing: &ApprovalStatus) -> Self {
        match standing {
            ApprovalStatus::Off => Self::Off,
            ApprovalStatus::New => Self::New,
            ApprovalStatus::OtherCommand(_) => Self::OtherCommand,
            ApprovalStatus::OtherTools(..) => Self::OtherTools,
            ApprovalStatus::Good(_) => Self::Approved,
        }
    }

    /// Whether the command or address of the settings is the one that was approved.
    #[must_use]
    pub fn knows_command(self) -> bool {
        matches!(self, Self::Approved | Self::OtherTools)
    }
}

impl McpServerInfo {
    /// All servers of the settings. Runs nothing.
    #[must_use]
    pub fn all(app: &App) -> Vec<Self> {
        app.servers(&app.settings).all().iter().map(|server| Self::of(server)).collect()
    }

    fn of(server: &Server) -> Self {
        let setting = server.setting();
        let standing = server.approval_status();
        let kind = match setting.way {
            ServerTransport::Command { .. } => McpServerKind::Command,
            ServerTransport::Address { .. } => McpServerKind::Address,
        };
        let known = approved_listing(&standing);
        let offers = known.into_iter().flat_map(|known| &known.offers);
        let tools = offers.map(|offer| tool_info(offer, setting));
        let left_out = known.into_iter().flat_map(|known| &known.left_out);
        let left_out = left_out.map(|out| McpToolLeftOut { name: out.name.clone(), why: out.why });
        Self {
            name: setting.name.clone(),
            kind,
            way: shown_way(setting),
            state: McpServerState::of(&standing),
            trusted: setting.trusted,
            tools: tools.collect(),
            left_out: left_out.collect(),
        }
    }
}

/// The command or address of a server, without the secrets that it may hold.
#[must_use]
pub fn shown_way(setting: &ServerSetting) -> String {
    redact::shown(&setting.way.to_string())
}

/// The tools that were approved, whether the approval still counts or not.
#[must_use]
pub fn approved_listing(standing: &ApprovalStatus) -> Option<&Listing> {
    match standing {
        ApprovalStatus::Good(approved)
        | ApprovalStatus::OtherTools(approved, _)
        | ApprovalStatus::OtherCommand(approved) => Some(&approved.listing),
        ApprovalStatus::Off | ApprovalStatus::New => None,
    }
}

/// The server of that name.
///
/// # Errors
/// [`McpError::UnknownServer`].
pub fn find_server(app: &App, name: &str) -> Result<Arc<Server>, McpError> {
    let servers = app.servers(&app.settings);
    servers.get(name).cloned().ok_or_else(|| {
        let all = servers.all().iter().map(|server| server.setting().name.clone()).collect();
        McpError::UnknownServer { name: name.to_owned(), all }
    })
}

/// Asks a server what it offers. Only for a person who has seen its command and wants that.
///
/// # Errors
/// [`McpError::Unreachable`].
pub async fn list_tools(server: &Server) -> Result<Listing, McpError> {
    let listed = server.introduce().await;
    listed.map_err(|source| McpError::Unreachable {
        name: server.setting().name.clone(),
        log: matches!(server.setting().way, ServerTransport::Command { .. }).then(|| server.log()),
        source,
    })
}

/// What a server offers, seen by a person and not yet approved.
#[derive(Debug, Clone)]
pub struct McpOffer(Listing);

impl McpOffer {
    /// Asks a server what it offers. Only for a person who has seen its command and wants that.
    ///
    /// # Errors
    /// [`McpError`]; one that is turned off is not asked.
    pub async fn look(app: &App, name: &str) -> Result<Self, McpError> {
        let server = find_server(app, name)?;
        let state = McpServerState::of(&server.approval_status());
        if state == McpServerState::Off {
            return Err(McpError::NotApproved { name: name.to_owned(), state });
        }
        list_tools(&server).await.map(Self)
    }

    /// The tools of it, as they would be treated.
    ///
    /// # Errors
    /// [`McpError::UnknownServer`].
    pub fn tools(&self, app: &App, name: &str) -> Result<Vec<McpToolInfo>, McpError> {
        let server = find_server(app, name)?;
        let offers = self.0.offers.iter();
        Ok(offers.map(|offer| tool_info(offer, server.setting())).collect())
    }

    /// Approves the command of the settings and these tools.
    ///
    /// # Errors
    /// [`McpError`].
    pub fn approve(self, app: &App, name: &str) -> Result<(), McpError> {
        find_server(app, name)?.approve(self.0).map_err(McpError::NotKept)
    }
}

fn tool_info(offer: &OfferedTool, setting: &ServerSetting) -> McpToolInfo {
    let spec = offer.spec(setting);
    McpToolInfo {
        name: spec.name,
        class: spec.handling.class,
        approval: spec.handling.approval,
        description: offer.description.clone(),
    }
}

/// Runs a server that is approved, and compares what it offers with what was approved.
///
/// # Errors
/// [`McpError`]; a command that nobody has approved is not run.
pub async fn test_server(server: &Server) -> Result<McpTestReport, McpError> {
    let name = server.setting().name.clone();
    let approved = match server.approval_status() {
        ApprovalStatus::Good(approved) | ApprovalStatus::OtherTools(approved, _) => approved,
        standing => {
            return Err(McpError::NotApproved { name, state: McpServerState::of(&standing) });
        }
    };
    let begun = Instant::now();
    let listing = list_tools(server).await?;
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let as_approved = server.compare(&listing).map_err(McpError::NotKept)?;
    let difference = approved.listing.difference(&listing);
    Ok(McpTestReport {
        name,
        tools: listing.offers.len(),
        took_ms,
        as_approved,
        added: difference.added,
        removed: difference.removed,
        changed: difference.changed,
    })
}
