//! A server of the settings in a folder that vanishes with the test.

use everloop_mcp::{ApprovalStatus, Listing, ServerSetting, ServerTransport, ServerValue, Servers};
use everloop_ports::{AnyTool, BY_OTHERS, CallContext, CallPolicy, Registry, ToolReturn};
use everloop_types::{Ending, Frame, Observation, ToolSpec};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Where `./check` puts the reference servers.
fn installed() -> PathBuf {
    let usual = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("mcp-servers");
    std::env::var_os("EVERLOOP_MCP_SERVERS").map_or(usual, PathBuf::from)
}

/// The program of a reference server; none where it is not installed, and that is a failure in CI.
pub(crate) fn reference(name: &str) -> Option<String> {
    let scope = installed().join("node_modules/@modelcontextprotocol");
    let file = scope.join(name).join("dist/index.js");
    present(file.exists(), name).then(|| file.to_str().unwrap().to_owned())
}

/// Whether node is there; without it nothing here can be tried.
pub(crate) fn has_node() -> bool {
    let found = std::process::Command::new("node").arg("--version").output();
    present(found.is_ok_and(|found| found.status.success()), "node")
}

fn present(found: bool, what: &str) -> bool {
    let required = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(found || !required, "{what} is required and not there; ./check installs it");
    if !found {
        eprintln!("SKIPPED: {what} is not there; ./check installs it");
    }
    found
}

pub(crate) struct Den {
    folder: TempDir,
    pub(crate) setting: ServerSetting,
    pub(crate) servers: Servers,
}

impl Den {
    pub(crate) fn new(way: ServerTransport, change: impl FnOnce(&mut ServerSetting)) -> Self {
        let mut setting = ServerSetting {
            name: "srv".to_owned(),
            way,
            trusted: false,
            enabled: true,
            timeout_ms: 30_000,
            start_timeout_ms: 30_000,
        };
        change(&mut setting);
        let folder = TempDir::new().unwrap();
        let servers = servers(&setting, folder.path());
        Self { folder, setting, servers }
    }

    /// The misbehaving server; `file` is where it writes down what it did.
    pub(crate) fn misbehaving(mode: &str, change: impl FnOnce(&mut ServerSetting)) -> Self {
        let mut den = Self::new(node(&[]), change);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/misbehaving.js");
        den.setting.way = node(&[script, mode, den.file().to_str().unwrap()]);
        if let ServerTransport::Command { env, .. } = &mut den.setting.way {
            env.insert("TOKEN".to_owned(), ServerValue::parse("env:EVERLOOP_TEST_TOKEN"));
            env.insert("PLAIN".to_owned(), ServerValue::parse("for all to see"));
            if mode != "env" {
                env.clear();
            }
        }
        den.reread();
        den
    }

    /// Another process, as far as servers are concerned.
    pub(crate) fn reread(&mut self) {
        self.servers = servers(&self.setting, self.folder.path());
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("acts")
    }

    pub(crate) fn acts(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.servers.all()[0].log()).unwrap_or_default()
    }

    pub(crate) fn approval_status(&self) -> ApprovalStatus {
        self.servers.all()[0].approval_status()
    }

    /// Runs it and approves whatever it offers.
    pub(crate) async fn approve(&self) -> Listing {
        let server = &self.servers.all()[0];
        let listing = server.introduce().await.unwrap();
        server.approve(listing.clone()).unwrap();
        listing
    }

    pub(crate) fn offered(&self) -> Vec<ToolSpec> {
        self.servers.offer(Registry::default()).specs()
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn AnyTool> {
        let registry = self.servers.offer(Registry::default());
        Arc::clone(registry.get(&format!("srv__{name}")).unwrap())
    }

    /// A tool as a run has it that holds `spec`.
    pub(crate) fn held(&self, spec: &ToolSpec) -> Arc<dyn AnyTool> {
        let frame = Frame { tools: vec![spec.clone()], ..Frame::default() };
        let registry = self.servers.offer_to(&frame, Registry::default());
        Arc::clone(registry.get(&spec.name).unwrap())
    }

    pub(crate) async fn call(&self, name: &str, args: Value) -> ToolReturn {
        self.tool(name).call(&args.to_string(), &CallContext::new("key")).await
    }

    pub(crate) async fn act(&self) -> ToolReturn {
        self.call("act", json!({"text": "done"})).await
    }

    /// The one observation of a call.
    pub(crate) async fn see(&self, name: &str, args: Value) -> Observation {
        seen(self.call(name, args).await)
    }
}

/// What a call came back with, without the line that stands over every word of a server.
pub(crate) fn seen(done: ToolReturn) -> Observation {
    match done {
        ToolReturn::Seen(seen) => {
            let words = seen.text.strip_prefix(BY_OTHERS).map(str::trim_start);
            assert!(words.is_some() || seen.ending != Ending::Ok, "{}", seen.text);
            let text = words.unwrap_or(&seen.text).to_owned();
            Observation { text, ..seen }
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn lost(done: ToolReturn) -> String {
    match done {
        ToolReturn::Lost(why) => why,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn denial(tool: &Arc<dyn AnyTool>) -> String {
    match tool.judge("{}").await {
        CallPolicy::Deny(why) => why,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn node(args: &[&str]) -> ServerTransport {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    ServerTransport::Command { program: "node".to_owned(), args, env: BTreeMap::new() }
}

fn servers(setting: &ServerSetting, folder: &Path) -> Servers {
    let guard = PathBuf::from(env!("CARGO_BIN_EXE_everloop-mcp-guard"));
    Servers::new(vec![setting.clone()], &folder.join("mcp"), Some(guard))
}
