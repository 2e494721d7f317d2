//! The tools: what a run may do to files, processes and people, and what is known after a crash.
//!
//! ```text
//!   arguments (JSON) ──check──► Tool::call ──► Done ──► engine journals it
//!                                  │
//!                workspace (no path leaves it), guard (no process outlives us)
//! ```
//!
//! Deliberately absent: approvals, retries, journaling (the engine's), and any network.

mod ask_user;
mod capture;
mod clean;
pub mod clip;
mod guard;
mod list_dir;
mod process;
mod process_table;
mod protected;
mod read_file;
mod registry;
mod shell;
mod todo_write;
mod tool;
mod workspace;
mod write_file;

pub use ask_user::{AskUser, AskUserArgs};
pub use clean::{Cleaner, clean};
pub use guard::guard_main;
pub use list_dir::{ListDir, ListDirArgs};
pub use read_file::{ReadFile, ReadFileArgs};
pub use registry::{Registry, Setting};
pub use shell::{Shell, ShellArgs, ShellLimits};
pub use todo_write::{TodoItem, TodoState, TodoWrite, TodoWriteArgs};
pub use tool::{AnyTool, Boxed, CallContext, Done, Intent, OnOutput, Probe, Tool, erase};
pub use workspace::{Workspace, WorkspaceError};
pub use write_file::{WriteFile, WriteFileArgs};
