//! One call of git, and the settings that are read for it.

use crate::process::environment;
use crate::programs::search_path;
use crate::protected::real;
use crate::sandbox::PreparedSandbox;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::process::Command;

/// Settings of the user that every git we start gets: who they are, and how lines end.
const FORWARDED: [&str; 5] =
    ["user.name", "user.email", "core.autocrlf", "core.eol", "core.safecrlf"];

/// And how large files are stored, if it is done as it is done everywhere.
const LARGE_FILES: [(&str, &str); 4] = [
    ("filter.lfs.clean", "git-lfs clean -- %f"),
    ("filter.lfs.smudge", "git-lfs smudge -- %f"),
    ("filter.lfs.process", "git-lfs filter-process"),
    ("filter.lfs.required", "true"),
];

/// A git that is ready to be run.
pub(crate) struct GitCall {
    pub(crate) argv: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Its sandbox, if there is one.
    pub(crate) sandbox: Option<PreparedSandbox>,
    /// Where it runs.
    pub(crate) root: PathBuf,
}

impl GitCall {
    /// Runs it to its end.
    pub(crate) async fn output(&self) -> Result<Output, String> {
        let sandbox =
            self.sandbox.as_ref().map(|sandbox| sandbox.argv.as_slice()).unwrap_or_default();
        let argv = sandbox.iter().cloned().chain(self.argv.iter().map(OsString::from));
        let mut argv = argv.collect::<Vec<_>>().into_iter();
        let mut command = Command::new(argv.next().unwrap_or_default());
        command.args(argv).current_dir(&self.root);
        command.env_clear().envs(environment(std::env::vars_os()));
        command.env("PATH", search_path()).envs(self.variables.iter().map(|(n, v)| (n, v)));
        command.stdin(Stdio::null()).kill_on_drop(true).process_group(0);
        command.output().await.map_err(|error| format!("cannot run git: {error}"))
    }
}

/// The names and values of a repository's own settings, from a list with their scopes.
pub(crate) fn own_settings(list: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(list);
    let mut parts = text.split('\0');
    let mut own = Vec::new();
    while let (Some(scope), Some(pair)) = (parts.next(), parts.next()) {
        let (name, value) = pair.split_once('\n').unwrap_or((pair, ""));
        if matches!(scope, "local" | "worktree") {
            own.push((name.to_owned(), value.to_owned()));
        }
    }
    own
}

/// Where the person's own settings lie.
pub(crate) fn global_settings() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    real(&home.join(".gitconfig"))
}

/// Options that forward settings of the user, unless the repository has its own.
pub(crate) fn forwarded_options(program: &Path, own: &[String]) -> Vec<String> {
    let mut command = std::process::Command::new(program);
    command.env_clear().envs(environment(std::env::vars_os())).env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["config", "--global", "--includes", "--list", "-z"]).current_dir("/");
    let output = command.stdin(Stdio::null()).output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('\n'));
    let is_forwarded = |(name, value): &(&str, &str)| {
        let is_usual = FORWARDED.contains(name) || LARGE_FILES.contains(&(*name, *value));
        is_usual && !own.iter().any(|known| known == name)
    };
    let options = pairs
        .filter(is_forwarded)
        .flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]);
    options.collect()
}
