//! A registry over a workspace that vanishes with the test.

#![allow(dead_code, reason = "each test file uses a part of it")]

use everloop_ports::{AnyTool, CallContext, Intent, Probe, Registry, ToolReturn};
use everloop_tools::{SandboxMode, Setting, builtin_tools};
use everloop_types::{Ending, Observation};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// What is on record of a call that saw this before it began.
pub(crate) fn intent(before: &Value) -> Intent {
    Intent {
        before: before.clone(),
        idem_key: "key".to_owned(),
        attempt: 1,
        observation_chars: 10_000,
    }
}

/// A context with the key of [`intent`].
pub(crate) fn context() -> CallContext {
    CallContext::new("key")
}

/// Whether a probe could not tell.
pub(crate) fn unknown(probe: &Probe) -> bool {
    matches!(probe, Probe::Unknown(_))
}

/// A workspace beside a file that nobody may reach from within.
pub(crate) struct Place {
    outer: TempDir,
    pub(crate) registry: Registry,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(|setting| setting)
    }

    pub(crate) fn with(change: impl FnOnce(Setting) -> Setting) -> Self {
        Self::within(TempDir::new().unwrap(), change)
    }

    pub(crate) fn within(outer: TempDir, change: impl FnOnce(Setting) -> Setting) -> Self {
        std::fs::create_dir(outer.path().join("workspace")).unwrap();
        std::fs::write(outer.path().join("secret"), "the secret").unwrap();
        let setting = change(Setting::new(outer.path().join("workspace")));
        Self { registry: builtin_tools(&setting).unwrap(), outer }
    }

    /// With a guard, and without a sandbox.
    pub(crate) fn guarded() -> Self {
        Self::with(|setting| Setting { guard: Some(guard()), ..bare(setting) })
    }

    /// With a guard, and with the sandbox that works on this machine.
    pub(crate) fn sandboxed() -> Self {
        Self::with(|setting| Setting { guard: Some(guard()), ..setting })
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.outer.path().join("workspace")
    }

    pub(crate) fn secret(&self) -> PathBuf {
        self.outer.path().join("secret")
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }

    pub(crate) fn names(&self, relative: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(relative)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn AnyTool> {
        Arc::clone(self.registry.get(name).unwrap())
    }

    pub(crate) async fn call(&self, name: &str, args: Value) -> Observation {
        self.call_in(name, args, &CallContext::new("key")).await
    }

    pub(crate) async fn call_in(
        &self,
        name: &str,
        args: Value,
        context: &CallContext,
    ) -> Observation {
        match self.tool(name).call(&args.to_string(), context).await {
            ToolReturn::Seen(seen) | ToolReturn::Changed(seen, _) => seen,
            // As if no attempt were left.
            ToolReturn::Passing(failed) => failed.seen,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn read(&self, path: impl AsRef<Path>) -> Observation {
        self.call("read_file", json!({ "path": path.as_ref() })).await
    }

    pub(crate) async fn shell(&self, command: &str) -> Observation {
        self.call("shell", json!({ "command": command })).await
    }
}

/// The same without a sandbox.
pub(crate) fn bare(mut setting: Setting) -> Setting {
    setting.shell.sandbox.mode = SandboxMode::Off;
    setting
}

/// The helper; another account has a copy of it where it can be read.
pub(crate) fn guard() -> PathBuf {
    let copy = std::env::var_os("EVERLOOP_TEST_GUARD");
    PathBuf::from(copy.unwrap_or_else(|| env!("CARGO_BIN_EXE_everloop-guard").into()))
}

/// A folder that vanishes, elsewhere than in the system's temporary one, which is private anyway.
pub(crate) fn folder() -> TempDir {
    let given = std::env::var_os("EVERLOOP_TEST_FOLDER");
    TempDir::new_in(given.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into())).unwrap()
}

pub(crate) fn observed(ending: Ending, text: &str) -> Observation {
    Observation { ending, text: text.to_owned() }
}
