//! A program in the sandbox of commands that is talked to while it runs.

use crate::after::AfterCommand;
use crate::process::{Launch, ProgramSearch};
use crate::{CommandHandle, RunningServer, Setting, Shell, WorkspaceError};
use everloop_ports::CallContext;
use std::path::Path;
use tokio::net::unix::pipe::{Receiver, Sender};

/// A running program in a sandbox.
pub struct SandboxedServer {
    /// Its standard input.
    pub input: Sender,
    /// Its standard output.
    pub output: Receiver,
    /// Its standard error.
    pub log: Receiver,
    /// Dropping it ends the program.
    pub life: SandboxedLife,
}

/// Dropping it ends a program, and then the workspace is checked for what it left.
pub struct SandboxedLife {
    _life: CommandHandle,
    _after: AfterCommand,
}

impl Shell {
    /// The shell of these settings, for programs that are talked to.
    ///
    /// # Errors
    /// [`WorkspaceError::Root`] if the workspace cannot be opened.
    pub fn of(setting: &Setting) -> Result<Self, WorkspaceError> {
        let workspace = setting.guarded_workspace()?;
        Ok(Self {
            workspace: workspace.into(),
            guard: setting.guard.clone(),
            setting: setting.shell.clone(),
            records: setting.records.clone(),
            own: setting.own(),
        })
    }

    /// The folder that commands run in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.workspace.root()
    }

    /// Starts a program in the workspace, in the sandbox of commands.
    ///
    /// # Errors
    /// In words: why there is no sandbox, or why it certainly never ran.
    pub async fn talk(
        &self,
        argv: &[&str],
        context: &CallContext,
    ) -> Result<SandboxedServer, String> {
        let after = AfterCommand::of(self.sandbox(context).await?);
        let launch = Launch {
            guard: self.guard.as_deref(),
            grace_ms: None,
            record: None,
            folder: self.workspace.root(),
            sandbox: after.sandbox(),
            argv,
            variables: &[],
            search: ProgramSearch::Anywhere,
        };
        let started = launch.talk().map_err(|error| error.to_string())?;
        let RunningServer { input, output, log, life } = started;
        let life = SandboxedLife { _life: life, _after: after };
        Ok(SandboxedServer { input, output, log, life })
    }
}
