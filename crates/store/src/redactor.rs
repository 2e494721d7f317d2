//! Removes secrets from everything that is written. One for the whole process.
//!
//! ```text
//!   learn(value) ──► every form it may take ──► one automaton
//!   an entry, a frame, a row, a line for a watcher ──► the same with `[secret]` in its place
//! ```
//!
//! Entries are cleaned before they are folded, so what is folded is what is written. Rows that
//! carry a digest of themselves (journal, blobs, snapshots) are made of cleaned entries, and their
//! statements are sealed; every other row is cleaned on its way into the database (`ScreenedDb`).
//!
//! Deliberately absent: guessing. Only values that were learnt are found, in the forms of `forms`.

mod forms;
mod screened;

pub(crate) use screened::ScreenedDb;

use aho_corasick::{AhoCorasick, MatchKind};
use everloop_types::journal::EntryKind;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Replaces a secret. It needs no escape in any of the forms.
pub const SECRET_MARK: &str = "[secret]";

/// A shorter value would match ordinary text.
const SECRET_BYTES_MIN: usize = 8;

/// A plain lower-case word counts as a secret only from this length on: a shorter one may be an
/// ordinary word, or a name that the journal uses.
const WORD_BYTES_MIN: usize = 16;

/// The secrets of a process. Clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<KnownSecrets>>);

#[derive(Default)]
struct KnownSecrets {
    forms: BTreeSet<String>,
    finder: Option<Arc<AhoCorasick>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Removes this value from everything from now on. `false` if it is too short or too plain to
    /// be distinguished from other text.
    pub fn learn(&self, secret: &str) -> bool {
        let secret = secret.trim();
        if !can_be_told(secret) {
            return false;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.forms.len();
        known.forms.extend(forms::of(secret));
        if known.forms.len() > before {
            // The longest form wins where several begin, so that no rest of it stays.
            let finder = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&known.forms)
                .expect("a few hundred short patterns always fit");
            known.finder = Some(Arc::new(finder));
        }
        true
    }

    /// Whether no secret is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finder().is_none()
    }

    fn finder(&self) -> Option<Arc<AhoCorasick>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).finder.clone()
    }

    /// Whether the text contains a secret.
    #[must_use]
    pub fn finds(&self, text: &str) -> bool {
        self.finder().is_some_and(|finder| finder.is_match(text))
    }

    /// The text without secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(finder) = self.finder().filter(|finder| finder.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut cleaned = String::with_capacity(text.len());
        finder.replace_all_with(text, &mut cleaned, |_, _, cleaned| {
            cleaned.push_str(SECRET_MARK);
            true
        });
        Cow::Owned(cleaned)
    }

    /// An entry without secrets. If it holds none, this costs as much as serializing it.
    #[must_use]
    pub fn kind(&self, kind: EntryKind) -> EntryKind {
        if self.is_empty() {
            return kind;
        }
        match self.text(&kind.body()) {
            Cow::Borrowed(_) => kind,
            Cow::Owned(_) => {
                let body = self.strings(&kind.body());
                EntryKind::read(kind.name(), kind.fmt(), &body).unwrap_or(kind)
            }
        }
    }

    /// Any value with a JSON form, without secrets.
    #[must_use]
    pub fn value<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        if self.is_empty() {
            return value;
        }
        let Ok(json) = serde_json::to_string(&value) else { return value };
        match self.text(&json) {
            Cow::Borrowed(_) => value,
            Cow::Owned(_) => serde_json::from_str(&self.strings(&json)).unwrap_or(value),
        }
    }

    /// A JSON text whose strings hold no secrets. Names and numbers are the program's own.
    fn strings(&self, json: &str) -> String {
        let Ok(mut value) = serde_json::from_str::<Value>(json) else { return json.to_owned() };
        self.clean(&mut value);
        value.to_string()
    }

    fn clean(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(cleaned) = self.text(text) {
                    *text = cleaned;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.clean(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// How many of the last bytes may be the beginning of a secret whose rest is still to come.
    #[must_use]
    pub fn held_back(&self, text: &str) -> usize {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let begun = |form: &String| {
            let most = text.len().min(form.len() - 1);
            let ends = |bytes: &usize| text.as_bytes().ends_with(&form.as_bytes()[..*bytes]);
            (1..=most).rev().find(ends).unwrap_or(0)
        };
        let bytes = known.forms.iter().map(begun).max().unwrap_or(0);
        // A form begins with a whole character, so the text does too where it was found.
        if text.is_char_boundary(text.len() - bytes) { bytes } else { 0 }
    }
}

fn can_be_told(secret: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let least = if secret.bytes().all(plain) { WORD_BYTES_MIN } else { SECRET_BYTES_MIN };
    secret.len() >= least
}

#[cfg(test)]
#[path = "redactor_tests.rs"]
mod tests;
