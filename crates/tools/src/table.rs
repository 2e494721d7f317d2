//! Every built-in tool in one table: what a crash means for it, who is asked, what bounds it, and
//! what it needs to be there at all.
//!
//! A new tool is its file, its `mod` line in `lib.rs`, its row here and its texts. The tools
//! themselves say the same in their handling; a test holds the two together.

use crate::builtin::ToolParts;
use crate::{
    AskUser, EditFile, FetchWeb, GitCommit, GitPush, GitRead, HttpGet, HttpSend, IndexRepo,
    InternetSearch, ListDir, ReadFile, SearchCode, SendMessage, Sleep, TodoWrite, WriteFile,
};
use Approval::{Allow, Ask};
use EffectClass::{Probeable, Pure, Transactional};
use everloop_ports::{AnyTool, Tool, erase};
use everloop_types::{Approval, EffectClass};
use std::sync::Arc;

/// One built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// The name that the model calls.
    pub name: &'static str,
    /// What a crash means for it.
    pub class: EffectClass,
    /// Whether a person is asked first.
    pub approval: Approval,
    /// How long one attempt may take.
    pub timeout: Timeout,
    /// The argument that names what it acts on, one call at a time.
    pub resource_arg: Option<&'static str>,
    /// What the tool needs to be offered.
    pub needs: Needs,
    /// Whether it writes files of the workspace itself: `--approve edits` allows it, and what it
    /// changed can be undone.
    pub edits_files: bool,
}

/// How long one attempt may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// So many milliseconds; 0 for tools that wait for a person.
    Ms(u64),
    /// As this setting says.
    Setting(TimeoutSetting),
}

/// The settings that bound tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutSetting {
    /// `tools.shell_timeout`
    Shell,
    /// `tools.http_timeout`
    Http,
    /// `tools.fetch_timeout`
    Fetch,
    /// `search.timeout`
    Search,
    /// `index.timeout`
    Index,
    /// `analysis.timeout`
    Analysis,
}

/// What a tool needs to be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// It is always there.
    Nothing,
    /// A workspace that is a git repository.
    Repository,
    /// A setting that says where to.
    Setting(&'static str),
    /// A skill of the user or the workspace.
    Skill,
}

const fn tool(
    name: &'static str,
    class: EffectClass,
    approval: Approval,
    timeout: Timeout,
) -> BuiltIn {
    BuiltIn {
        name,
        class,
        approval,
        timeout,
        resource_arg: None,
        needs: Needs::Nothing,
        edits_files: false,
    }
}

impl BuiltIn {
    const fn on(self, argument: &'static str) -> Self {
        Self { resource_arg: Some(argument), ..self }
    }

    const fn edits_files(self) -> Self {
        Self { edits_files: true, ..self }
    }

    const fn with(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }
}

const FILES: Timeout = Timeout::Ms(30_000);
const GIT: Timeout = Timeout::Ms(120_000);
const HTTP: Timeout = Timeout::Setting(TimeoutSetting::Http);
const HOSTS: Needs = Needs::Setting("tools.http_allow");

/// What makes a tool; none where what it needs is not there.
pub(crate) type ToolFactory = fn(&ToolParts<'_>) -> Option<Arc<dyn AnyTool>>;

/// The tools of this crate, in the order in which the model sees them, as they are where a private
/// folder for records is kept: without one `shell` is dangerous. `http_send` is keyed where hosts
/// honour keys. Of files, a person is asked only about those that others take instructions from.
pub(crate) const TOOLS: [(BuiltIn, ToolFactory); 18] = [
    (tool("read_file", Pure, Allow, FILES), |parts| {
        some(ReadFile { workspace: parts.workspace() })
    }),
    (tool("list_dir", Pure, Allow, FILES), |parts| some(ListDir { workspace: parts.workspace() })),
    (tool("search_code", Pure, Allow, FILES), |parts| {
        some(SearchCode { workspace: parts.workspace(), index: parts.setting.index.clone() })
    }),
    (tool("edit_file", Probeable, Allow, FILES).on("path").edits_files(), |parts| {
        let (workspace, records) = (parts.workspace(), parts.records());
        some(EditFile { workspace, records, checkpoints: parts.checkpoints() })
    }),
    (tool("write_file", Probeable, Allow, FILES).on("path").edits_files(), |parts| {
        let (workspace, records) = (parts.workspace(), parts.records());
        some(WriteFile { workspace, records, checkpoints: parts.checkpoints() })
    }),
    (tool("shell", Probeable, Ask, Timeout::Setting(TimeoutSetting::Shell)), |parts| {
        some(parts.shell())
    }),
    (tool("ask_user", Transactional, Allow, Timeout::Ms(0)), |_| some(AskUser)),
    (tool("todo_write", Transactional, Allow, Timeout::Ms(5_000)), |_| some(TodoWrite)),
    (tool("git_read", Pure, Allow, GIT).with(Needs::Repository), |parts| {
        parts.git().map(|git| erase(GitRead(git)))
    }),
    (tool("git_commit", Probeable, Ask, GIT).with(Needs::Repository), |parts| {
        parts.git().map(|git| erase(GitCommit(git)))
    }),
    (tool("git_push", Probeable, Ask, GIT).on("remote").with(Needs::Repository), |parts| {
        parts.git().map(|git| erase(GitPush(git)))
    }),
    (
        tool("internet_search", Pure, Allow, Timeout::Setting(TimeoutSetting::Search))
            .with(Needs::Setting("search.provider")),
        |parts| parts.setting.search.as_ref().map(|search| erase(InternetSearch::new(search))),
    ),
    (tool("fetch_web", Pure, Allow, Timeout::Setting(TimeoutSetting::Fetch)), |parts| {
        parts.setting.web.as_ref().map(|web| erase(FetchWeb::new(web)))
    }),
    (tool("http_get", Pure, Allow, HTTP).with(HOSTS), |parts| {
        parts.http().map(|http| erase(HttpGet::new(http)))
    }),
    (tool("http_send", Probeable, Ask, HTTP).on("url").with(HOSTS), |parts| {
        let key_lifetime_ms = parts.setting.http_key_lifetime_ms;
        parts.http().map(|http| erase(HttpSend::new(http, key_lifetime_ms)))
    }),
    (
        tool("send_message", Transactional, Ask, Timeout::Ms(10_000))
            .with(Needs::Setting("tools.channels")),
        |parts| parts.channels().map(|channels| erase(SendMessage::new(channels))),
    ),
    (tool("index_repo", Pure, Allow, Timeout::Setting(TimeoutSetting::Index)), |parts| {
        let (workspace, setting) = (parts.workspace(), parts.setting.index.clone()?);
        some(IndexRepo { workspace, setting })
    }),
    (tool("sleep", Transactional, Allow, Timeout::Ms(0)), |parts| {
        some(Sleep { most_ms: parts.setting.max_sleep_ms })
    }),
];

/// What is known of each tool of this crate, in the same order.
pub const BUILT_IN: &[BuiltIn] = &{
    let mut rows = [TOOLS[0].0; TOOLS.len()];
    let mut at = 1;
    while at < rows.len() {
        rows[at] = TOOLS[at].0;
        at += 1;
    }
    rows
};

fn some(tool: impl Tool) -> Option<Arc<dyn AnyTool>> {
    Some(erase(tool))
}
