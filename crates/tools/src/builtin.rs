//! The built-in tools, in the order in which the model sees them.

use crate::programs::{distrust, file_of};
use crate::{
    AskUser, Channels, EditFile, FetchWeb, Git, GitCommit, GitPush, GitRead, Http, HttpGet,
    HttpSend, InternetSearch, ListDir, ReadFile, SearchCode, SearchSetting, SendMessage, Shell,
    ShellSetting, TodoWrite, WebSetting, Workspace, WorkspaceError, WriteFile,
};
use everloop_ports::Registry;
use std::path::PathBuf;
use std::sync::Arc;

/// What the built-in tools need to know.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The folder that file tools and shell work in.
    pub workspace: PathBuf,
    /// The program that is run as `<guard> __guard -- …` around each shell command, so that no
    /// process outlives us; without it only an orderly end stops them.
    pub guard: Option<PathBuf>,
    /// What bounds shell commands, and what stands around them.
    pub shell: ShellSetting,
    /// Files that no file tool may open, replace or make, by whatever name: those of the program
    /// itself. The records and the files of channels are among them without being named.
    pub protected: Vec<PathBuf>,
    /// A private folder for records of what became of commands; see `Shell::records`.
    pub records: Option<PathBuf>,
    /// Requests; without a host there is no tool for them.
    pub http: Http,
    /// How long the hosts honour an idempotency key; 0 if they honour none.
    pub http_key_lifetime_ms: u64,
    /// Where messages may go; without a channel there is no tool for them.
    pub channels: Channels,
    /// Where to search; without it there is no tool for it.
    pub search: Option<SearchSetting>,
    /// Reading pages; without it there is no tool for it.
    pub web: Option<WebSetting>,
}

impl Setting {
    /// The defaults, for a workspace.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            guard: None,
            shell: ShellSetting::default(),
            protected: Vec::new(),
            records: None,
            http: Http::default(),
            http_key_lifetime_ms: 0,
            channels: Channels::default(),
            search: None,
            web: None,
        }
    }
}

impl Setting {
    /// Files of the program itself. A record decides what a probe believes; a channel's file is
    /// what somebody was told.
    fn own(&self) -> Vec<PathBuf> {
        let own = self.protected.iter().chain(&self.records).cloned();
        own.chain(self.channels.files()).collect()
    }

    fn open_workspace(&self, own: &[PathBuf]) -> Result<Workspace, WorkspaceError> {
        // Whoever could change our own program would be run by us, outside the walls.
        let image = self.guard.as_deref().and_then(file_of);
        let shut: Vec<PathBuf> = own.iter().cloned().chain(image).collect();
        Ok(Workspace::open(&self.workspace)?.protecting(&shut))
    }
}

/// The tools that every run may have.
///
/// # Errors
/// [`WorkspaceError::Root`] if the workspace cannot be opened.
pub fn builtin_tools(setting: &Setting) -> Result<Registry, WorkspaceError> {
    let own = setting.own();
    let workspace = setting.open_workspace(&own)?;
    distrust(workspace.root());
    let workspace = Arc::new(workspace);
    let shell = Shell {
        workspace: Arc::clone(&workspace),
        guard: setting.guard.clone(),
        setting: setting.shell.clone(),
        records: setting.records.clone(),
        own,
    };
    let repository = crate::git_program::is_repository(workspace.root());
    let records = setting.records.clone();
    let git = Git {
        workspace: Arc::clone(&workspace),
        guard: setting.guard.clone(),
        records: records.clone(),
    };
    let mut registry = Registry::default()
        .with(ReadFile { workspace: Arc::clone(&workspace) })
        .with(ListDir { workspace: Arc::clone(&workspace) })
        .with(SearchCode { workspace: Arc::clone(&workspace) })
        .with(EditFile { workspace: Arc::clone(&workspace), records: records.clone() })
        .with(WriteFile { workspace, records })
        .with(shell)
        .with(AskUser)
        .with(TodoWrite);
    if repository {
        let push = GitPush(git.clone());
        registry = registry.with(GitRead(git.clone())).with(GitCommit(git)).with(push);
    }
    Ok(with_network_tools(registry, setting))
}

/// The same tools, of which those that read files and folders may also read outside the
/// workspace, each time after a question.
///
/// # Errors
/// [`WorkspaceError::Root`] if the workspace cannot be opened.
pub fn with_reads_outside(tools: Registry, setting: &Setting) -> Result<Registry, WorkspaceError> {
    let workspace = setting.open_workspace(&setting.own())?.reading_outside();
    let workspace = Arc::new(workspace);
    Ok(tools.with(ReadFile { workspace: Arc::clone(&workspace) }).with(ListDir { workspace }))
}

/// The tools for other machines, as far as the settings say where to.
fn with_network_tools(mut tools: Registry, setting: &Setting) -> Registry {
    if let Some(search) = &setting.search {
        tools = tools.with(InternetSearch::new(search));
    }
    if let Some(web) = &setting.web {
        tools = tools.with(FetchWeb::new(web));
    }
    if !setting.http.hosts.is_empty() {
        let send = HttpSend::new(setting.http.clone(), setting.http_key_lifetime_ms);
        tools = tools.with(HttpGet::new(setting.http.clone())).with(send);
    }
    if !setting.channels.is_empty() {
        tools = tools.with(SendMessage::new(setting.channels.clone()));
    }
    tools
}
