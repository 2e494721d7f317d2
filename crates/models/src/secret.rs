//! A text that must not be shown.

use std::fmt;

/// An API key. It shows itself as `[secret]` and is never serialised.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the key; blanks around it, such as a file's last newline, are dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// The key itself, for the one place that sends it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text that came from outside.
    pub(crate) fn scrub(&self, text: &mut String) {
        if !self.0.is_empty() && text.contains(&self.0) {
            *text = text.replace(&self.0, "[secret]");
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_shows_itself() {
        let key = Secret::new("sk-123\n");
        assert_eq!(format!("{key:?}"), "[secret]");
        let mut text = "wrong key sk-123!".to_owned();
        key.scrub(&mut text);
        assert_eq!(text, "wrong key [secret]!");
    }
}
