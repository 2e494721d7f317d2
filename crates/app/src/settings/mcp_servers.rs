//! MCP servers, which are tables in the file and not single values:
//!
//! ```toml
//! [mcp.servers.files]
//! command = "mcp-files"                  # or url = "https://…"
//! args = ["/srv/data"]
//! env = { TOKEN = "env:FILES_TOKEN" }    # with url: headers = { Authorization = "Bearer env:…" }
//! trusted = false
//! timeout = "30s"
//! ```
//!
//! Only the person's own file has them: no workspace, variable or flag adds a program to run.

use super::shell_rules::line_at;
use super::value::Millis;
use everloop_mcp::{ServerSetting, ServerTransport, ServerValue, is_server_name};
use everloop_text as text;
use everloop_types::Lang;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The key under which they stand.
pub const KEY: &str = "mcp.servers";

/// A server that cannot be used, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerError {
    line: usize,
    name: String,
    problem: McpServerProblem,
}

/// What is wrong with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
enum McpServerProblem {
    /// Its name cannot stand before the names of tools.
    Name,
    /// Neither or both of a command and an address.
    Way,
    /// A reference of a kind that servers cannot be given.
    Reference(&'static str),
    /// A time without a unit, or no time.
    Time(String),
    /// It does not have the form of a server; what the parser says.
    Form(String),
}

/// A server as it is written; its times may be those of all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenServer {
    name: String,
    way: ServerTransport,
    trusted: bool,
    enabled: bool,
    timeout_ms: Option<u64>,
    start_timeout_ms: Option<u64>,
}

impl WrittenServer {
    /// The server, with these times where it has none of its own.
    #[must_use]
    pub(crate) fn with_times(&self, timeout_ms: u64, start_timeout_ms: u64) -> ServerSetting {
        ServerSetting {
            name: self.name.clone(),
            way: self.way.clone(),
            trusted: self.trusted,
            enabled: self.enabled,
            timeout_ms: self.timeout_ms.unwrap_or(timeout_ms),
            start_timeout_ms: self.start_timeout_ms.unwrap_or(start_timeout_ms),
        }
    }
}

#[derive(Deserialize)]
struct ServersFile {
    mcp: Option<McpTable>,
}

#[derive(Deserialize)]
struct McpTable {
    #[serde(default)]
    servers: BTreeMap<String, Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFields {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    trusted: bool,
    #[serde(default = "yes")]
    enabled: bool,
    timeout: Option<String>,
    start_timeout: Option<String>,
}

fn yes() -> bool {
    true
}

/// The servers of a file, and those that cannot be used.
pub(crate) fn read(text: &str) -> (Vec<WrittenServer>, Vec<McpServerError>) {
    let file: ServersFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            let (name, problem) =
                (String::new(), McpServerProblem::Form(error.message().to_owned()));
            return (Vec::new(), vec![McpServerError { line, name, problem }]);
        }
    };
    let (mut servers, mut wrong) = (Vec::new(), Vec::new());
    for (name, written) in file.mcp.map(|mcp| mcp.servers).unwrap_or_default() {
        let line = line_at(text, written.span().start);
        match server(&name, written.into_inner()) {
            Ok(server) => servers.push(server),
            Err(problem) => wrong.push(McpServerError { line, name, problem }),
        }
    }
    (servers, wrong)
}

fn server(name: &str, written: toml::Value) -> Result<WrittenServer, McpServerProblem> {
    if !is_server_name(name) {
        return Err(McpServerProblem::Name);
    }
    let written: WrittenFields = written
        .try_into()
        .map_err(|error: toml::de::Error| McpServerProblem::Form(error.message().to_owned()))?;
    let mut values = written.env.values().chain(written.headers.values());
    let kind_of = |value: &String| {
        let last = value.rsplit(' ').next().unwrap_or_default();
        ["command:", "keychain:"].into_iter().find(|kind| last.starts_with(kind))
    };
    if let Some(kind) = values.find_map(kind_of) {
        return Err(McpServerProblem::Reference(kind));
    }
    let given = |all: BTreeMap<String, String>| {
        all.into_iter().map(|(name, value)| (name, ServerValue::parse(&value))).collect()
    };
    let (env, headers) = (written.env, written.headers);
    let way = match (written.command, written.url) {
        (Some(program), None) if headers.is_empty() && !program.trim().is_empty() => {
            ServerTransport::Command { program, args: written.args, env: given(env) }
        }
        (None, Some(url)) if env.is_empty() && written.args.is_empty() => {
            ServerTransport::Address { url, headers: given(headers) }
        }
        _ => return Err(McpServerProblem::Way),
    };
    Ok(WrittenServer {
        name: name.to_owned(),
        way,
        trusted: written.trusted,
        enabled: written.enabled,
        timeout_ms: written.timeout.map(time).transpose()?,
        start_timeout_ms: written.start_timeout.map(time).transpose()?,
    })
}

fn time(text: String) -> Result<u64, McpServerProblem> {
    Millis::parse(&text).map(Millis::ms).ok_or(McpServerProblem::Time(text))
}

impl McpServerError {
    /// What is wrong, and in which line.
    pub fn words(&self, lang: Lang, origin: &str) -> String {
        let origin = &origin;
        let line = &self.line;
        let name = &self.name;
        let text = match &self.problem {
            McpServerProblem::Name => text::settings::ServerName { origin, line, name }.text(),
            McpServerProblem::Way => text::settings::ServerWay { origin, line, name }.text(),
            McpServerProblem::Time(detail) => {
                let form = &Millis::example();
                text::settings::ServerTime { origin, line, detail, name, form }.text()
            }
            McpServerProblem::Reference(detail) => {
                text::settings::ServerReference { origin, line, name, detail }.text()
            }
            McpServerProblem::Form(detail) => {
                text::settings::ServerForm { origin, line, name, detail }.text()
            }
        };
        text.in_lang(lang)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_and_the_line_of_a_wrong_one_is_told() {
        let text = r#"[mcp]
timeout = "1m"

[mcp.servers.files]
command = "mcp-files"
args = ["/srv"]
env = { TOKEN = "env:FILES_TOKEN" }
start_timeout = "5s"

[mcp.servers.web]
url = "https://mcp.example/mcp"
trusted = true

[mcp.servers.a_both]
command = "x"
url = "http://x"

[mcp.servers.b_unit]
command = "x"
timeout = "5"

[mcp.servers.C]
command = "x"

[mcp.servers.d_word]
command = "x"
trust = true
"#;
        let (servers, mut wrong) = read(text);
        let files = servers[0].with_times(60_000, 20_000);
        let env = BTreeMap::from([("TOKEN".to_owned(), ServerValue::parse("env:FILES_TOKEN"))]);
        let (program, args) = ("mcp-files".to_owned(), vec!["/srv".to_owned()]);
        assert_eq!(files.way, ServerTransport::Command { program, args, env });
        assert_eq!((files.timeout_ms, files.start_timeout_ms), (60_000, 5_000));
        assert!(files.enabled && !files.trusted && servers[1].trusted);
        wrong.sort_by_key(|wrong| wrong.line);
        let seen: Vec<_> = wrong.iter().map(|wrong| (wrong.line, wrong.name.as_str())).collect();
        assert_eq!(seen, [(14, "a_both"), (18, "b_unit"), (22, "C"), (25, "d_word")]);
        assert_eq!(wrong[0].problem, McpServerProblem::Way);
        assert_eq!(wrong[1].problem, McpServerProblem::Time("5".to_owned()));
        assert_eq!(wrong[2].problem, McpServerProblem::Name);
        assert!(
            matches!(&wrong[3].problem, McpServerProblem::Form(what) if what.contains("trust"))
        );
    }
}
