//! Every built-in tool in one table: what a crash means for it, who is asked, what bounds it, and
//! what it needs to be there at all.
//!
//! The tools themselves say the same in their handling; a test holds the two together.

use Approval::{Allow, Ask};
use EffectClass::{Probeable, Pure, Transactional};
use everloop_types::{Approval, EffectClass};

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
    /// Without what there is no such tool.
    pub needs: Needs,
}

/// How long one attempt may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// So many milliseconds; 0 for tools that wait for a person.
    Ms(u64),
    /// As this setting says.
    Setting(&'static str),
}

/// Without what there is no such tool.
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
    BuiltIn { name, class, approval, timeout, resource_arg: None, needs: Needs::Nothing }
}

impl BuiltIn {
    const fn on(self, argument: &'static str) -> Self {
        Self { resource_arg: Some(argument), ..self }
    }

    const fn with(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }
}

const FILES: Timeout = Timeout::Ms(30_000);
const GIT: Timeout = Timeout::Ms(120_000);
const HTTP: Timeout = Timeout::Setting("tools.http_timeout");
const HOSTS: Needs = Needs::Setting("tools.http_allow");

/// The tools of this crate, in the order in which the model sees them, as they are where a private
/// folder for records is kept: without one `shell` is dangerous. `http_send` is keyed where hosts
/// honour keys. Of files, a person is asked only about those that others take instructions from.
pub const BUILT_IN: &[BuiltIn] = &[
    tool("read_file", Pure, Allow, FILES),
    tool("list_dir", Pure, Allow, FILES),
    tool("search_code", Pure, Allow, FILES),
    tool("edit_file", Probeable, Allow, FILES).on("path"),
    tool("write_file", Probeable, Allow, FILES).on("path"),
    tool("shell", Probeable, Ask, Timeout::Setting("tools.shell_timeout")),
    tool("ask_user", Transactional, Allow, Timeout::Ms(0)),
    tool("todo_write", Transactional, Allow, Timeout::Ms(5_000)),
    tool("git_read", Pure, Allow, GIT).with(Needs::Repository),
    tool("git_commit", Probeable, Ask, GIT).with(Needs::Repository),
    tool("git_push", Probeable, Ask, GIT).on("remote").with(Needs::Repository),
    tool("internet_search", Pure, Allow, Timeout::Setting("search.timeout"))
        .with(Needs::Setting("search.provider")),
    tool("fetch_web", Pure, Allow, Timeout::Setting("tools.fetch_timeout")),
    tool("http_get", Pure, Allow, HTTP).with(HOSTS),
    tool("http_send", Probeable, Ask, HTTP).on("url").with(HOSTS),
    tool("send_message", Transactional, Ask, Timeout::Ms(10_000))
        .with(Needs::Setting("tools.channels")),
];
