//! Channels, which are tables in the file and not single values:
//!
//! ```toml
//! [channels.ops]
//! kind = "webhook"                       # what speaks there; this one may be left out
//! workspace = "/srv/ops"                 # the folder that its runs work in
//! approve = false                        # whether its messages may answer questions about calls
//! secret = "env:OPS_WEBHOOK_SECRET"      # everything else belongs to the kind
//! ```
//!
//! Only the person's own file has them: no workspace, variable or flag adds one. A field of a kind
//! is a row of its [`ChannelKind::fields`](crate::channels::ChannelKind::fields).

use super::shell_rules::line_at;
use crate::channels::{self, ChannelField, FieldForm};
use crate::secrets::Reference;
use everloop_text as text;
use everloop_tools::Channel;
use everloop_types::Lang;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The section in which they stand.
pub(super) const SECTION: &str = "channels";

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedChannel {
    name: String,
    kind: &'static str,
    workspace: Option<String>,
    approves: bool,
    own: BTreeMap<&'static str, String>,
}

impl SignedChannel {
    /// The name that the person gave it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The folder that its runs work in.
    #[must_use]
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// Whether its messages may answer questions about calls.
    #[must_use]
    pub fn approves(&self) -> bool {
        self.approves
    }

    /// What the fields of its kind hold, as it is written.
    #[must_use]
    pub fn own(&self) -> &BTreeMap<&'static str, String> {
        &self.own
    }

    /// Where its messages go, or where that address is; none if it only takes in.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        let field = channels::kind(self.kind)?.target()?;
        self.own.get(field).map(String::as_str)
    }

    /// Every reference to a secret.
    pub(crate) fn references(&self) -> impl Iterator<Item = Reference> {
        self.own.values().filter_map(|value| Reference::parse(value))
    }

    /// Every address.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        self.own.values().map(String::as_str).filter(|value| value.contains("://"))
    }
}

/// A channel that cannot be used, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedChannelError {
    line: usize,
    name: String,
    problem: SignedChannelProblem,
}

/// What is wrong with a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SignedChannelProblem {
    /// Its name cannot be part of an address.
    Name,
    /// There is no such kind.
    Kind(String),
    /// A field is no address.
    Address(&'static str),
    /// A secret is missing, or written there itself.
    Secret(&'static str),
    /// A field that must be there is missing.
    Missing(&'static str),
    /// Its kind has no such field.
    Unknown(String),
    /// It does not have the form of a channel; what the parser says.
    Form(String),
}

#[derive(Deserialize)]
struct ChannelsFile {
    #[serde(default)]
    channels: BTreeMap<String, Spanned<toml::Value>>,
}

/// What every channel may have; the rest belongs to its kind.
#[derive(Deserialize)]
struct ChannelFields {
    #[serde(default = "usual_kind")]
    kind: String,
    workspace: Option<String>,
    #[serde(default)]
    approve: bool,
    #[serde(flatten)]
    own: BTreeMap<String, toml::Value>,
}

fn usual_kind() -> String {
    channels::KINDS[0].name().to_owned()
}

/// The channels of a file, and those that cannot be used.
pub(crate) fn read(text: &str) -> (Vec<SignedChannel>, Vec<SignedChannelError>) {
    let file: ChannelsFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            let problem = SignedChannelProblem::Form(error.message().to_owned());
            let name = String::new();
            return (Vec::new(), vec![SignedChannelError { line, name, problem }]);
        }
    };
    let (mut channels, mut wrong) = (Vec::new(), Vec::new());
    for (name, written) in file.channels {
        let line = line_at(text, written.span().start);
        match channel(&name, written.into_inner()) {
            Ok(channel) => channels.push(channel),
            Err(problem) => wrong.push(SignedChannelError { line, name, problem }),
        }
    }
    (channels, wrong)
}

fn channel(name: &str, written: toml::Value) -> Result<SignedChannel, SignedChannelProblem> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(fits) {
        return Err(SignedChannelProblem::Name);
    }
    let written: ChannelFields = written
        .try_into()
        .map_err(|error: toml::de::Error| SignedChannelProblem::Form(error.message().to_owned()))?;
    let ChannelFields { kind, workspace, approve, own: mut given } = written;
    let Some(kind) = channels::kind(&kind) else { return Err(SignedChannelProblem::Kind(kind)) };
    let mut own = BTreeMap::new();
    for field in kind.fields() {
        match given.remove(field.name) {
            Some(toml::Value::String(text)) if !text.is_empty() => {
                check(field, &text)?;
                own.insert(field.name, text);
            }
            Some(_) => return Err(wrong(field)),
            None if field.required && field.form == FieldForm::Secret => return Err(wrong(field)),
            None if field.required => return Err(SignedChannelProblem::Missing(field.name)),
            None => {}
        }
    }
    if let Some(name) = given.into_keys().next() {
        return Err(SignedChannelProblem::Unknown(name));
    }
    Ok(SignedChannel {
        name: name.to_owned(),
        kind: kind.name(),
        workspace,
        approves: approve,
        own,
    })
}

fn check(field: &ChannelField, text: &str) -> Result<(), SignedChannelProblem> {
    let is_reference = Reference::parse(text).is_some();
    let is_address = || text.contains("://") && Channel::parse(&format!("x={text}")).is_some();
    let fits = match field.form {
        FieldForm::Secret => is_reference,
        FieldForm::Address => is_reference || is_address(),
        FieldForm::Word => true,
    };
    if fits { Ok(()) } else { Err(wrong(field)) }
}

fn wrong(field: &ChannelField) -> SignedChannelProblem {
    match field.form {
        FieldForm::Secret => SignedChannelProblem::Secret(field.name),
        FieldForm::Address => SignedChannelProblem::Address(field.name),
        FieldForm::Word => SignedChannelProblem::Missing(field.name),
    }
}

impl SignedChannelError {
    /// What is wrong, and in which line.
    pub fn words(&self, lang: Lang, origin: &str) -> String {
        let name = &self.name;
        let text = match &self.problem {
            SignedChannelProblem::Name => text::channels::problem::name(name),
            SignedChannelProblem::Kind(kind) => {
                let known = &channels::KINDS.map(channels::ChannelKind::name).join(", ");
                text::channels::problem::Kind { name, kind, known }.text()
            }
            SignedChannelProblem::Address(field) => text::channels::problem::address(name, field),
            SignedChannelProblem::Secret(field) => text::channels::problem::secret(name, field),
            SignedChannelProblem::Missing(field) => text::channels::problem::missing(name, field),
            SignedChannelProblem::Unknown(field) => text::channels::problem::unknown(name, field),
            SignedChannelProblem::Form(detail) => text::channels::problem::form(name, detail),
        };
        format!("{origin}:{}: {}", self.line, text.in_lang(lang))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_read_and_a_secret_itself_is_refused() {
        let text = r#"[channels.ops]
url = "https://hooks.example/T0"
secret = "env:OPS_SECRET"

[channels.in-only]
secret = "keychain:hook"

[channels.open]
secret = "whsec_abc"

[channels.far]
url = "ftp://x/"
secret = "env:X"

[channels.odd]
secret = "env:X"
color = "red"
"#;
        let (channels, wrong) = read(text);
        let names: Vec<_> = channels.iter().map(|it| (it.name(), it.target())).collect();
        assert_eq!(names, [("in-only", None), ("ops", Some("https://hooks.example/T0"))]);
        let seen: Vec<_> = wrong.iter().map(|it| (it.line, it.name.as_str())).collect();
        assert_eq!(seen, [(11, "far"), (15, "odd"), (8, "open")]);
        assert_eq!(wrong[1].problem, SignedChannelProblem::Unknown("color".to_owned()));
        assert_eq!(wrong[2].problem, SignedChannelProblem::Secret("secret"));
        let words = wrong[0].words(Lang::En, "config.toml");
        assert!(words.starts_with("config.toml:11: channels.far: url is"), "{words}");
    }
}
