//! Values from the environment that must not come back into journals and logs.

use super::McpConnectError;
use super::setting::ServerValue;
use std::collections::BTreeMap;

/// Replaces a secret.
const HIDDEN: &str = "[secret]";

/// A shorter value would be found everywhere.
const CHARS_MIN: usize = 6;

/// Values as they are sent.
#[derive(Default)]
pub(super) struct ResolvedValues {
    pub(super) values: Vec<(String, String)>,
    pub(super) secrets: SecretMask,
}

/// What is taken out of everything that a server says.
#[derive(Clone, Default)]
pub(super) struct SecretMask(Vec<String>);

impl ResolvedValues {
    /// Reads our variables.
    pub(super) fn of(given: &BTreeMap<String, ServerValue>) -> Result<Self, McpConnectError> {
        let mut resolved = Self::default();
        for (name, given) in given {
            let value = match given {
                ServerValue::Plain(value) => value.clone(),
                ServerValue::Variable { before, name: variable } => {
                    let missing = || McpConnectError::NoVariable(variable.clone());
                    let secret = std::env::var(variable).map_err(|_| missing())?;
                    resolved.secrets.0.extend(Some(secret.clone()).filter(|it| is_hidden(it)));
                    format!("{before}{secret}")
                }
            };
            resolved.values.push((name.clone(), value));
        }
        Ok(resolved)
    }
}

fn is_hidden(secret: &str) -> bool {
    secret.chars().count() >= CHARS_MIN
}

impl SecretMask {
    pub(super) fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), HIDDEN))
    }
}
