//! What the person says about a server.

use everloop_types::digest_json;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Between the name of a server and the name of its tool.
pub(super) const BETWEEN: &str = "__";

/// Characters of a server's name; the rest of a tool's name is for the tool.
pub const NAME_CHARS_MAX: usize = 24;

/// A server, how it is reached, and how far it is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSetting {
    /// The prefix of the names of its tools.
    pub name: String,
    /// How it is reached.
    pub way: ServerTransport,
    /// Whether its hints about its tools are believed.
    pub trusted: bool,
    /// Whether it is used at all.
    pub enabled: bool,
    /// How long one call may take.
    pub timeout_ms: u64,
    /// How long it may take to start and to tell its tools.
    pub start_timeout_ms: u64,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ServerTransport {
    /// A program on this machine.
    Command {
        /// What is run; no shell reads it.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside those that every command inherits.
        env: BTreeMap<String, ServerValue>,
    },
    /// An address.
    Address {
        /// Of the one endpoint; redirects are not followed.
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, ServerValue>,
    },
}

impl ServerSetting {
    /// What its variables and headers hold, as far as it can be had now.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        let (ServerTransport::Command { env: given, .. }
        | ServerTransport::Address { headers: given, .. }) = &self.way;
        given.values().filter_map(|given| match given {
            ServerValue::Plain(text) => Some(text.clone()),
            ServerValue::Variable { name, .. } => std::env::var(name).ok(),
        })
    }
}

/// A value that may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerValue {
    /// A plain value.
    Plain(String),
    /// Taken from a variable of ours when it is needed: `env:VAR`, or `Bearer env:VAR`.
    Variable {
        /// The text before the secret.
        before: String,
        /// Our variable.
        name: String,
    },
}

impl ServerValue {
    /// Reads a value of the settings.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (before, last) = match text.rsplit_once(' ') {
            Some((before, last)) => (format!("{before} "), last),
            None => (String::new(), text),
        };
        match last.strip_prefix("env:") {
            Some(name) if !name.is_empty() => Self::Variable { before, name: name.to_owned() },
            _ => Self::Plain(text.to_owned()),
        }
    }
}

/// As a person is shown it: a secret by the name of its variable, a plain value not at all,
/// because people write secrets there.
impl fmt::Display for ServerValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(_) => f.write_str("…"),
            Self::Variable { before, name } => write!(f, "{before}${name}"),
        }
    }
}

/// As a person is shown it before it is run or called: whole, with its variables or headers.
impl fmt::Display for ServerTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { program, args, env } => {
                for (name, value) in env {
                    write!(f, "{name}={value} ")?;
                }
                let words = std::iter::once(program).chain(args).map(|word| quoted(word));
                f.write_str(&words.collect::<Vec<_>>().join(" "))
            }
            Self::Address { url, headers } => {
                f.write_str(url)?;
                headers.iter().try_for_each(|(name, value)| write!(f, " {name}: {value}"))
            }
        }
    }
}

impl ServerTransport {
    /// Another one whenever something else would be run or called.
    pub(super) fn fingerprint(&self) -> String {
        digest_json(self)
    }
}

/// As a shell would want it, so that it can be read in one way only.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.escape_default().to_string().replace("\\'", "'\\''")),
    }
}

/// Whether a name can be the prefix of tool names.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let apart = !name.contains(BETWEEN) && !name.ends_with('_') && !name.starts_with('_');
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(fits) && apart
}

/// Whether a tool comes from a server.
pub(super) fn is_foreign(tool: &str) -> bool {
    tool.contains(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_and_a_plain_value_is_not_shown() {
        let env = [("A", "env:TOKEN"), ("B", "hunter2")]
            .map(|(name, value)| (name.to_owned(), ServerValue::parse(value)));
        let (program, args) = ("run".to_owned(), vec!["a b".to_owned(), "it's\u{1b}".to_owned()]);
        let way = ServerTransport::Command { program, args, env: env.into() };
        assert_eq!(way.to_string(), r"A=$TOKEN B=… run 'a b' 'it'\''s\u{1b}'");
        let header = ServerValue::parse("Bearer env:TOKEN");
        assert_eq!(header.to_string(), "Bearer $TOKEN");
    }

    #[test]
    fn a_change_of_a_plain_value_is_another_command() {
        let way = |value| ServerTransport::Address {
            url: "http://localhost/mcp".to_owned(),
            headers: BTreeMap::from([("x".to_owned(), ServerValue::parse(value))]),
        };
        assert_ne!(way("a").fingerprint(), way("b").fingerprint());
        assert_eq!(way("a").fingerprint(), way("a").fingerprint());
    }

    #[test]
    fn names_of_servers_leave_no_doubt_where_the_tool_begins() {
        for good in ["files", "a-b_c", "x2"] {
            assert!(is_server_name(good), "{good}");
        }
        for bad in ["", "A", "a__b", "a_", "_a", "a.b", "a b", &"x".repeat(25)] {
            assert!(!is_server_name(bad), "{bad}");
        }
    }
}
