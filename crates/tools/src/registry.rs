//! Which tools there are, in the order in which the model sees them.

use crate::programs::{distrust, file_of};
use crate::{
    AnyTool, AskUser, Channels, EditFile, FetchWeb, Git, GitCommit, GitPush, GitRead, Http,
    HttpGet, HttpSend, InternetSearch, ListDir, ReadFile, SearchCode, SearchSetting, SendMessage,
    Shell, ShellSetting, TodoWrite, Tool, WebSetting, Workspace, WorkspaceError, WriteFile, erase,
};
use everloop_types::ToolSpec;
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

/// The tools by name, in a fixed order.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn AnyTool>>,
}

impl Registry {
    /// The tools that every run may have.
    ///
    /// # Errors
    /// [`WorkspaceError::Root`] if the workspace cannot be opened.
    pub fn builtin(setting: &Setting) -> Result<Self, WorkspaceError> {
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
        let mut registry = Self::default()
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
        Ok(registry.reaching_out(setting))
    }

    /// The same tools, of which those that read files and folders may also read outside the
    /// workspace, each time after a question.
    ///
    /// # Errors
    /// [`WorkspaceError::Root`] if the workspace cannot be opened.
    pub fn reading_outside(self, setting: &Setting) -> Result<Self, WorkspaceError> {
        let workspace = setting.open_workspace(&setting.own())?.reading_outside();
        let workspace = Arc::new(workspace);
        Ok(self.with(ReadFile { workspace: Arc::clone(&workspace) }).with(ListDir { workspace }))
    }

    /// The tools for other machines, as far as the settings say where to.
    fn reaching_out(mut self, setting: &Setting) -> Self {
        if let Some(search) = &setting.search {
            self = self.with(InternetSearch::new(search));
        }
        if let Some(web) = &setting.web {
            self = self.with(FetchWeb::new(web));
        }
        if !setting.http.hosts.is_empty() {
            let send = HttpSend::new(setting.http.clone(), setting.http_key_lifetime_ms);
            self = self.with(HttpGet::new(setting.http.clone())).with(send);
        }
        if !setting.channels.is_empty() {
            self = self.with(SendMessage::new(setting.channels.clone()));
        }
        self
    }

    /// Adds a tool after the others; one of the same name is replaced where it stands.
    #[must_use]
    pub fn with(self, tool: impl Tool) -> Self {
        self.with_any(erase(tool))
    }

    /// The same for a tool whose arguments are known only at run time.
    #[must_use]
    pub(crate) fn with_any(mut self, tool: Arc<dyn AnyTool>) -> Self {
        match self.tools.iter_mut().find(|known| known.spec().name == tool.spec().name) {
            Some(known) => *known = tool,
            None => self.tools.push(tool),
        }
        self
    }

    /// What the model and the runtime know of each, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// The same, but only those that are wanted by their name.
    #[must_use]
    pub fn specs_of(&self, wanted: impl Fn(&str) -> bool) -> Vec<ToolSpec> {
        self.specs().into_iter().filter(|spec| wanted(&spec.name)).collect()
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }
}
