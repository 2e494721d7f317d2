//! The built-in tools, in the order in which the model sees them.

use crate::programs::{file_of, register_workspace};
use crate::table::TOOLS;
use crate::{
    Channels, Checkpoints, Git, Http, IndexSetting, ListDir, ReadFile, SearchSetting, Shell,
    ShellSetting, WebSetting, Workspace, WorkspaceError,
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
    /// What bounds shell commands, and the sandbox around them.
    pub shell: ShellSetting,
    /// Files that no file tool may open, replace or make, by whatever name: those of the program
    /// itself. The records and the files of channels are among them without being named.
    pub protected: Vec<PathBuf>,
    /// A private folder for records of what became of commands; see `Shell::records`.
    pub records: Option<PathBuf>,
    /// Where files are kept as they were before a change; without it no change can be undone.
    pub checkpoints: Option<Checkpoints>,
    /// Requests; without a host the tools are not offered.
    pub http: Http,
    /// How long the hosts honour an idempotency key; 0 if they honour none.
    pub http_key_lifetime_ms: u64,
    /// Where messages may go; without a channel the tool is not offered.
    pub channels: Channels,
    /// Where to search; without it the tool is not offered.
    pub search: Option<SearchSetting>,
    /// Reading pages; without it the tool is not offered.
    pub web: Option<WebSetting>,
    /// The indexes of `search_code`; without it none is used, and none can be made.
    pub index: Option<IndexSetting>,
    /// The longest wait of `sleep`.
    pub max_sleep_ms: u64,
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
            checkpoints: None,
            http: Http::default(),
            http_key_lifetime_ms: 0,
            channels: Channels::default(),
            search: None,
            web: None,
            index: None,
            max_sleep_ms: 86_400_000,
        }
    }
}

impl Setting {
    /// Files of the program itself. A record decides what a probe believes; a channel's file is
    /// what somebody was told.
    pub(crate) fn own(&self) -> Vec<PathBuf> {
        let copies = self.checkpoints.as_ref().map(Checkpoints::folder);
        let index = self.index.as_ref().map(|index| index.folder.as_path());
        let private = self.records.as_deref().into_iter().chain(copies).chain(index);
        let private = private.map(PathBuf::from);
        let own = self.protected.iter().cloned().chain(private);
        own.chain(self.channels.files()).collect()
    }

    /// Opens the workspace as file tools see it.
    ///
    /// # Errors
    /// [`WorkspaceError::Root`] if it cannot be opened.
    pub fn guarded_workspace(&self) -> Result<Workspace, WorkspaceError> {
        self.open_workspace(&self.own())
    }

    fn open_workspace(&self, own: &[PathBuf]) -> Result<Workspace, WorkspaceError> {
        // A changed program of ours would run outside the sandbox.
        let image = self.guard.as_deref().and_then(file_of);
        let shut: Vec<PathBuf> = own.iter().cloned().chain(image).collect();
        Ok(Workspace::open(&self.workspace)?.protecting(&shut))
    }
}

/// What the tools of one workspace are made of.
pub(crate) struct ToolParts<'a> {
    pub(crate) setting: &'a Setting,
    workspace: Arc<Workspace>,
    own: Vec<PathBuf>,
    is_repository: bool,
}

impl ToolParts<'_> {
    pub(crate) fn workspace(&self) -> Arc<Workspace> {
        Arc::clone(&self.workspace)
    }

    pub(crate) fn records(&self) -> Option<PathBuf> {
        self.setting.records.clone()
    }

    pub(crate) fn checkpoints(&self) -> Option<Checkpoints> {
        self.setting.checkpoints.clone()
    }

    pub(crate) fn shell(&self) -> Shell {
        Shell {
            workspace: self.workspace(),
            guard: self.setting.guard.clone(),
            setting: self.setting.shell.clone(),
            records: self.records(),
            own: self.own.clone(),
        }
    }

    /// None where the workspace is not a repository.
    pub(crate) fn git(&self) -> Option<Git> {
        let guard = self.setting.guard.clone();
        let git = Git { workspace: self.workspace(), guard, records: self.records() };
        self.is_repository.then_some(git)
    }

    /// None where no host may be called.
    pub(crate) fn http(&self) -> Option<Http> {
        let http = &self.setting.http;
        (!http.hosts.is_empty()).then(|| http.clone())
    }

    /// None where no message may be sent.
    pub(crate) fn channels(&self) -> Option<Channels> {
        let channels = &self.setting.channels;
        (!channels.is_empty()).then(|| channels.clone())
    }
}

/// The tools that every run may have, as far as the settings say what they need.
///
/// # Errors
/// [`WorkspaceError::Root`] if the workspace cannot be opened.
pub fn builtin_tools(setting: &Setting) -> Result<Registry, WorkspaceError> {
    let own = setting.own();
    let workspace = setting.open_workspace(&own)?;
    register_workspace(workspace.root());
    let is_repository = crate::git_program::is_repository(workspace.root());
    let parts = ToolParts { setting, workspace: Arc::new(workspace), own, is_repository };
    let tools = TOOLS.iter().filter_map(|(_, make)| make(&parts));
    Ok(tools.fold(Registry::default(), Registry::with_any))
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
