//! Labels: what a run has read, and where a call would take it.
//!
//! A value is private or public, untrusted or trusted. A run holds the labels of all that it has
//! read; text cannot take one back. Once it holds private *and* untrusted data, whatever can send
//! out needs a person: the untrusted text may have asked for it.

use crate::pattern::{host_of, path_fits, path_within};
use crate::{Frame, ToolCall, instructs};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a value is. Without any it is public and trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// Not public.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Written by others than the user: it may contain instructions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

impl Labels {
    /// The labels of data without a declaration.
    pub const ALL: Self = Self { private: true, untrusted: true };
    /// Of what is the person's own.
    pub const PRIVATE: Self = Self { private: true, untrusted: false };
    /// Of what anybody may have written for anybody.
    pub const UNTRUSTED: Self = Self { private: false, untrusted: true };

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The words for scripts, both of them.
    #[must_use]
    pub fn names(self) -> [&'static str; 2] {
        [
            if self.private { "private" } else { "public" },
            if self.untrusted { "untrusted" } else { "trusted" },
        ]
    }
}

impl std::ops::BitOr for Labels {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self { private: self.private | other.private, untrusted: self.untrusted | other.untrusted }
    }
}

/// What a tool brings into a run, and what it can take out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFlow {
    /// The labels of what it returns.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub brings: Labels,
    /// Whether that comes from files of the workspace, some of which others may have written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workspace: bool,
    /// Whether it reads whatever lies below a folder, and names each file with what it brings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub below: bool,
    /// Whether it marks what others may have written with [`UNTRUSTED_MARK`], and nothing else is
    /// untrusted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marks: bool,
    /// Where a call can take what the run knows.
    #[serde(default, skip_serializing_if = "SendTarget::is_no")]
    pub sends: SendTarget,
}

/// Stands before what others than the user may have written, where a tool tells the two apart.
pub const UNTRUSTED_MARK: &str = "[untrusted]";

/// Where a call can take what the run knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendTarget {
    /// Nowhere.
    #[default]
    No,
    /// To this service.
    To(String),
    /// To whatever this argument names: the host of an address, a remote, a channel.
    Arg(String),
    /// To later runs, if the file that this argument names is one that they read as instructions.
    Later(String),
    /// Anywhere.
    Anywhere,
}

impl SendTarget {
    fn is_no(&self) -> bool {
        *self == Self::No
    }
}

impl DataFlow {
    /// Brings nothing and sends nothing.
    pub const NOTHING: Self = Self {
        brings: Labels { private: false, untrusted: false },
        workspace: false,
        below: false,
        marks: false,
        sends: SendTarget::No,
    };

    /// Of a tool that says nothing about itself.
    const UNDECLARED: Self =
        Self { brings: Labels::ALL, sends: SendTarget::Anywhere, ..Self::NOTHING };

    /// Brings this, and sends nothing.
    #[must_use]
    pub fn brings(brings: Labels) -> Self {
        Self { brings, ..Self::NOTHING }
    }

    /// The same, and sends.
    #[must_use]
    pub fn sends(self, sends: SendTarget) -> Self {
        Self { sends, ..self }
    }

    /// Brings the person's own, and marks what others may have written.
    #[must_use]
    pub fn marked() -> Self {
        Self { marks: true, ..Self::brings(Labels::PRIVATE) }
    }

    /// Reads files of the workspace.
    #[must_use]
    pub fn workspace() -> Self {
        Self { brings: Labels::PRIVATE, workspace: true, ..Self::NOTHING }
    }

    /// Reads files below a folder of the workspace, and names them.
    #[must_use]
    pub fn below() -> Self {
        Self { below: true, ..Self::workspace() }
    }
}

/// What happens to a call that can send out once a run holds private and untrusted data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelGuard {
    /// A person is asked, whatever else is allowed.
    #[default]
    Ask,
    /// It is denied.
    Deny,
    /// Nothing: labels are kept and shown, no more.
    Off,
}

/// What a run holds: where its private and its untrusted data came from, and to which places a
/// person lets it send all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    /// What was read that is private; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub private: Vec<String>,
    /// What was read that is untrusted; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<String>,
    /// Places that a person opened for the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<String>,
}

/// How many sources of one label are remembered: enough for a question.
const SOURCES_MAX: usize = 4;

/// How many places can be opened; beyond it each is asked about again.
const RELEASED_MAX: usize = 200;

/// Characters of a source.
const SOURCE_CHARS_MAX: usize = 100;

impl Taint {
    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The labels of all that was read.
    #[must_use]
    pub fn labels(&self) -> Labels {
        Labels { private: !self.private.is_empty(), untrusted: !self.untrusted.is_empty() }
    }

    /// Takes in what a source brought.
    pub fn take(&mut self, labels: Labels, source: &str) {
        let add = |held: bool, sources: &mut Vec<String>| {
            if held && sources.len() < SOURCES_MAX && !sources.iter().any(|known| known == source) {
                sources.push(source.to_owned());
            }
        };
        add(labels.private, &mut self.private);
        add(labels.untrusted, &mut self.untrusted);
    }

    /// Takes in what another run holds.
    pub fn join(&mut self, other: &Self) {
        for source in &other.private {
            self.take(Labels::PRIVATE, source);
        }
        for source in &other.untrusted {
            self.take(Labels::UNTRUSTED, source);
        }
    }

    /// A person lets the run send to a place from now on.
    pub fn release(&mut self, place: &str) {
        if self.released.len() < RELEASED_MAX && !self.released.iter().any(|known| known == place) {
            self.released.push(place.to_owned());
        }
    }

    /// Whether a call that leads there needs a person.
    #[must_use]
    pub fn blocks(&self, way: &Egress) -> bool {
        let labels = self.labels();
        let mixed = labels.untrusted && (labels.private || way.to_later_runs);
        mixed && !self.released.contains(&way.place)
    }
}

/// Where a call would take what the run knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Egress {
    /// The tool and the place, for people and for comparing.
    pub place: String,
    /// Whether later runs would read it as instructions.
    pub to_later_runs: bool,
}

/// Characters of arguments that are shown whole as a place; longer ones are named by digest.
const ARGS_CHARS_MAX: usize = 200;

impl Frame {
    fn flow(&self, call: &ToolCall) -> DataFlow {
        let declared = self.tool(&call.tool).and_then(|tool| tool.handling.flow.clone());
        declared.unwrap_or(DataFlow::UNDECLARED)
    }

    /// The labels of what a call returned; none in runs from before labels.
    #[must_use]
    pub fn brings(&self, call: &ToolCall, returned: &str) -> Labels {
        if self.policy.label_guard.is_none() {
            return Labels::default();
        }
        let flow = self.flow(call);
        let mut labels = flow.brings;
        labels.untrusted |= flow.marks && returned.contains(UNTRUSTED_MARK);
        if flow.workspace {
            let path = argument(call, "path").unwrap_or_else(|| ".".to_owned());
            let path = path_within(&path, &self.workspace);
            let by_others = |path: &str| {
                self.policy.untrusted_paths.iter().any(|pattern| path_fits(pattern, path))
            };
            labels.untrusted |= path.is_none_or(|path| by_others(&path));
            labels.untrusted |= flow.below && named_in(returned).any(|name| by_others(&name));
        }
        labels
    }

    /// Where a call would take what the run knows, if anywhere. A call without a sandbox reaches
    /// anything, whatever its tool says.
    #[must_use]
    pub fn way_out(&self, call: &ToolCall, sandbox: CallSandbox) -> Option<Egress> {
        let sends = match sandbox {
            CallSandbox::Active => self.flow(call).sends,
            CallSandbox::None => SendTarget::Anywhere,
        };
        let (place, to_later_runs) = match sends {
            SendTarget::No => return None,
            SendTarget::To(service) => (service, false),
            SendTarget::Arg(name) => (named(call, &name).unwrap_or_else(|| exact(call)), false),
            SendTarget::Anywhere => (exact(call), false),
            SendTarget::Later(name) => {
                let path = argument(call, &name).unwrap_or_default();
                let path = path_within(&path, &self.workspace).unwrap_or(path);
                if !instructs(&path) {
                    return None;
                }
                (path, true)
            }
        };
        Some(Egress { place: format!("{} → {place}", call.tool), to_later_runs })
    }
}

/// What in a text may be a path: its words, each also with the rest of its line, since names may
/// hold blanks, and what git writes in quotes. Git writes a letter before names.
fn named_in(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .flat_map(|line| {
            let is_gap = |c: char| c.is_whitespace() || c == ':';
            let starts = line.char_indices().filter(move |(at, c)| {
                let before = line[..*at].chars().next_back();
                !is_gap(*c) && before.is_none_or(is_gap)
            });
            starts.flat_map(move |(at, _)| {
                let rest = &line[at..];
                let word = rest.split(is_gap).next().unwrap_or(rest);
                let quoted = rest.strip_prefix('"').map(unquoted);
                [Some(word.to_owned()), Some(rest.trim_end().to_owned()), quoted]
                    .into_iter()
                    .flatten()
            })
        })
        .map(|name| {
            let inner = name.strip_prefix("./").unwrap_or(&name);
            let plain = ["a/", "b/"].iter().find_map(|letter| inner.strip_prefix(letter));
            plain.unwrap_or(inner).to_owned()
        })
}

/// A name as git writes it between quotes, up to the second one.
fn unquoted(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes().peekable());
    while let Some(byte) = rest.next().filter(|byte| *byte != b'"') {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut number = None;
        while let Some(digit) = rest.next_if(|digit| matches!(digit, b'0'..=b'7')) {
            number = Some(number.unwrap_or(0_u8).wrapping_mul(8).wrapping_add(digit - b'0'));
        }
        let plain = |byte: u8| match byte {
            b'n' => b'\n',
            b't' => b'\t',
            byte => byte,
        };
        bytes.extend(number.or_else(|| rest.next().map(plain)));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a call runs in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallSandbox {
    /// It does, or needs none.
    Active,
    /// It does not.
    None,
}

/// What a call reads, for people: the tool and its first argument.
#[must_use]
pub fn source_of(call: &ToolCall) -> String {
    let named = ["path", "url", "query", "command"].iter().find_map(|name| argument(call, name));
    let text = format!("{} {}", call.tool, named.unwrap_or_default());
    clipped(text.trim(), SOURCE_CHARS_MAX)
}

/// The place that an argument names: a host, or the text itself.
fn named(call: &ToolCall, name: &str) -> Option<String> {
    let value = argument(call, name)?;
    if name == "url" {
        return host_of(&value);
    }
    let is_plain = value.chars().count() <= ARGS_CHARS_MAX && !value.contains(char::is_whitespace);
    is_plain.then_some(value)
}

/// The arguments themselves: nothing else is this place.
fn exact(call: &ToolCall) -> String {
    let args = canonical(&call.args);
    match args.chars().count() > ARGS_CHARS_MAX {
        true => crate::digest_bytes(args.as_bytes()),
        false => args,
    }
}

/// Arguments without needless spaces, their names in order.
#[must_use]
pub fn canonical(args: &str) -> String {
    serde_json::from_str::<Value>(args).map_or_else(|_| args.to_owned(), |args| args.to_string())
}

fn argument(call: &ToolCall, name: &str) -> Option<String> {
    let args: Value = serde_json::from_str(&call.args).ok()?;
    match args.get(name)? {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// One line, cut to a bound.
fn clipped(text: &str, chars_max: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
