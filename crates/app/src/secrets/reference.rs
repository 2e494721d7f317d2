//! Where a secret is: what a setting holds in its place.

use super::{keychain, program};
use everloop_text as text;
use everloop_types::Lang;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// `env:NAME`.
    Environment(String),
    /// `file:PATH`: nobody else may read it.
    File(PathBuf),
    /// `command:pass show x`, or `command:["pass","show","x"]` where a word has blanks. No shell
    /// reads it.
    Command(Vec<String>),
    /// `keychain:NAME`: what `everloop secrets set NAME` has put there.
    Keychain(String),
}

/// Why a secret cannot be had. None of these holds a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The variable is not set.
    #[error("the variable {0} is not set")]
    NotSet(String),
    /// Others can read the file.
    #[error("the file {} can be read by others; chmod 600 it", .0.display())]
    Open(PathBuf),
    /// The file cannot be read, and why.
    #[error("the file {} cannot be read: {}", .0.display(), .1)]
    Unreadable(PathBuf, String),
    /// The program cannot be started, and why.
    #[error("the program {0} cannot be started: {1}")]
    NoProgram(String, String),
    /// The program failed, and how.
    #[error("the program {0} ended with {1}")]
    Failed(String, String),
    /// The program took too long.
    #[error("the program {0} took too long")]
    TookTooLong(String),
    /// There is nothing in it.
    #[error("there is nothing in {0}")]
    Empty(String),
    /// The keychain has no such entry.
    #[error("the keychain has no {0}; everloop secrets set {0}")]
    NotInKeychain(String),
}

impl SecretError {
    /// For a person, with what to do.
    pub fn words(&self, lang: Lang) -> String {
        let say = |text: text::Text| text.in_lang(lang);
        match self {
            Self::NotSet(name) => say(text::secret::not_set(&name)),
            Self::Open(path) => say(text::key::open_to_others(&path.display())),
            Self::Unreadable(path, detail) => say(text::key::unreadable(&path.display(), &detail)),
            Self::NoProgram(program, detail) => say(text::secret::no_program(&program, &detail)),
            Self::Failed(program, status) => say(text::secret::failed(&program, &status)),
            Self::TookTooLong(program) => say(text::secret::took_too_long(&program)),
            Self::Empty(reference) => say(text::secret::empty(&reference)),
            Self::NotInKeychain(name) => say(text::secret::not_in_keychain(&name)),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Command(words) => write!(f, "command:{}", serde_json::json!(words)),
            Self::Keychain(name) => write!(f, "keychain:{name}"),
        }
    }
}

impl Reference {
    /// `None` if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.trim().split_once(':')?;
        let rest = rest.trim();
        if rest.is_empty() || rest.starts_with("//") {
            return None;
        }
        match kind {
            "env" => Some(Self::Environment(rest.to_owned())),
            "file" => Some(Self::File(PathBuf::from(rest))),
            "keychain" => is_name(rest).then(|| Self::Keychain(rest.to_owned())),
            "command" => {
                let words: Vec<String> = match rest.starts_with('[') {
                    true => serde_json::from_str(rest).ok()?,
                    false => rest.split_whitespace().map(str::to_owned).collect(),
                };
                (!words.is_empty()).then_some(Self::Command(words))
            }
            _ => None,
        }
    }

    /// Looks it up; a program gets so long.
    pub(super) fn look_up(&self, timeout_ms: u64) -> Result<String, SecretError> {
        let value = match self {
            Self::Environment(name) => {
                std::env::var(name).map_err(|_| SecretError::NotSet(name.clone()))?
            }
            Self::File(path) => read_private(path)?,
            Self::Keychain(name) => keychain::look_up(name, timeout_ms)?,
            Self::Command(words) => {
                let ended = program::run(words, None, timeout_ms)?;
                if !ended.is_good {
                    return Err(SecretError::Failed(words[0].clone(), ended.status));
                }
                // As password managers do: the secret first, notes below it.
                ended.output.lines().next().unwrap_or_default().to_owned()
            }
        };
        match value.trim() {
            "" => Err(SecretError::Empty(self.to_string())),
            value => Ok(value.to_owned()),
        }
    }
}

/// A file that nobody else can read.
pub(crate) fn read_private(path: &Path) -> Result<String, SecretError> {
    let broken = |error: std::io::Error| SecretError::Unreadable(path.into(), error.to_string());
    let found = std::fs::metadata(path).map_err(broken)?;
    if found.permissions().mode() & 0o077 != 0 {
        return Err(SecretError::Open(path.to_owned()));
    }
    std::fs::read_to_string(path).map_err(broken)
}

/// What a secret may be called: it becomes the name of a file and a word of a command.
pub fn is_name(name: &str) -> bool {
    const CHARS_MAX: usize = 64;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().all(fits)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= CHARS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_and_shown_and_a_value_is_none() {
        for (text, shown) in [
            ("env:MY_KEY", "env:MY_KEY"),
            ("file:/run/secrets/key", "file:/run/secrets/key"),
            ("keychain:open-ai", "keychain:open-ai"),
            ("command:pass show x", "command:[\"pass\",\"show\",\"x\"]"),
            ("command:[\"a b\"]", "command:[\"a b\"]"),
        ] {
            assert_eq!(Reference::parse(text).map(|it| it.to_string()).as_deref(), Some(shown));
        }
        let values =
            ["", "sk-abc", "env:", "https://h/x", "keychain:../x", "command:[1]", "file://h"];
        for text in values {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_gives_its_first_line_in_time() {
        let look = |text: &str, ms| Reference::parse(text).unwrap().look_up(ms);
        assert_eq!(look("command:printf one\\ntwo", 9_000), Ok("one".to_owned()));
        let slow = SecretError::TookTooLong("sleep".to_owned());
        assert_eq!(look("command:sleep 60", 50), Err(slow));
        let failed = look("command:false", 9_000);
        assert!(matches!(failed, Err(SecretError::Failed(program, _)) if program == "false"));
        assert!(matches!(look("command:/no/such", 9_000), Err(SecretError::NoProgram(..))));
        assert!(matches!(look("command:true", 9_000), Err(SecretError::Empty(_))));
    }
}
