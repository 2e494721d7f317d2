//! The tools: what a run may do to files, processes and people, and what is known after a crash.
//!
//! ```text
//!   arguments (JSON) ──check──► Tool::call ──► Done ──► engine journals it
//!                                  │
//!                workspace (no path leaves it), guard (no process outlives us),
//!                sandbox (no command reaches beyond it)
//! ```
//!
//! Deliberately absent: approvals, retries, journaling (the engine's), and hosts that the settings
//! do not list.

mod access;
mod after;
mod ask_user;
mod builtin;
mod capture;
mod channels;
mod checkpoint;
mod clean;
pub mod clip;
mod code_index;
mod cores;
mod delegate;
mod descriptors;
pub mod diff;
mod edit_file;
mod fetch_web;
mod git;
mod git_call;
mod git_config;
mod git_locks;
mod git_paths;
mod git_place;
mod git_program;
mod git_settings;
mod guard;
mod handover;
mod home;
mod hosts;
mod http;
mod index_repo;
mod leader;
mod links;
mod list_dir;
mod list_files;
mod local_server;
mod near_names;
mod outside;
mod pinned;
mod place;
mod preview;
mod process;
mod process_table;
mod programs;
mod protected;
mod read_file;
mod readable;
mod record;
mod replace;
mod request;
mod restore;
mod sandbox;
mod sandboxed;
mod search;
mod search_code;
mod send_message;
mod shared_memory;
mod shell;
mod shell_prefix;
mod shell_rules;
mod shell_words;
mod sleep;
mod table;
mod todo_write;
mod workspace;
mod write_file;

pub use after::finish_checks;
pub use ask_user::{AskUser, AskUserArgs};
pub use builtin::{Setting, builtin_tools, with_reads_outside};
pub use channels::{Channel, Channels, post_webhook};
pub use checkpoint::{ChangeIntent, Checkpoints};
pub use clean::{Cleaner, clean};
pub use code_index::IndexSetting;
pub use cores::leave_no_core;
pub use delegate::Delegate;
pub use descriptors::hand_on_no_files;
pub use edit_file::{EditFile, EditFileArgs};
pub use fetch_web::{FetchWeb, FetchWebArgs, WebSetting};
pub use git::{GitCommit, GitCommitArgs, GitPush, GitPushArgs, GitRead, GitReadArgs, GitView};
pub use git_program::Git;
pub use guard::guard_main;
pub use home::holds_home;
pub use hosts::{HostAddress, Hosts, NameResolver, Resolve};
pub use http::{HttpGet, HttpGetArgs, HttpSend, HttpSendArgs, SendMethod};
pub use index_repo::{IndexRepo, IndexRepoArgs};
pub use list_dir::{ListDir, ListDirArgs};
pub use list_files::list_files;
pub use local_server::{LocalServer, RunningServer};
pub use pinned::{PinError, PinnedClient};
pub use place::here;
pub use process::{CommandEnd, CommandHandle};
pub use programs::{
    find_program, own_program, register_programs, run_from_workspace, search_path, trusted_program,
};
pub use read_file::{ReadFile, ReadFileArgs};
pub use record::{forget_records, recorded_runs, replace_file};
pub use request::Http;
pub use restore::{FileNow, FileRestore, RestoreError, file_now, restore_file};
pub use sandbox::{
    CommandLimits, GitAccess, Network, SandboxLevel, SandboxMode, SandboxSetting, SandboxSupport,
    sandbox_main,
};
pub use sandboxed::{SandboxedLife, SandboxedServer};
pub use search::{
    Hit, InternetSearch, InternetSearchArgs, SearchError, SearchProvider, SearchService,
    SearchSetting,
};
pub use search_code::{SearchCode, SearchCodeArgs};
pub use send_message::{SendMessage, SendMessageArgs};
pub use shell::{Shell, ShellArgs, ShellLimits, ShellSetting};
pub use shell_rules::{RuleAction, RuleError, RuleExamples, ShellRule};
pub use sleep::{Sleep, SleepArgs};
pub use table::{BUILT_IN, BuiltIn, Needs, Timeout, TimeoutSetting};
pub use todo_write::{TodoEntry, TodoItem, TodoState, TodoStatus, TodoWrite, TodoWriteArgs};
pub use workspace::{Workspace, WorkspaceError};
pub use write_file::{WriteFile, WriteFileArgs};
