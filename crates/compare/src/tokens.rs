//! How many tokens a text has, by a real tokenizer.
//!
//! The vocabulary takes 0.15 s to load, so it is loaded by the first text that is counted. The
//! same system message and tools come again in every call of every run: counts are kept.

use crate::policy::Count;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Texts whose counts are kept.
const KEPT_MAX: usize = 20_000;

/// Counts that are kept for a whole comparison.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tokens {
    kept: Arc<Mutex<HashMap<String, u64>>>,
}

impl Tokens {
    /// A counter for one run. Its folder has another name each time, and another number of tokens,
    /// so it is counted as if it were always `/workspace`.
    pub(crate) fn counter(&self, workspace: &str) -> Count {
        let (tokens, workspace) = (self.clone(), workspace.to_owned());
        Arc::new(move |text| match text.contains(&workspace) {
            true => tokens.count(&text.replace(&workspace, "/workspace")),
            false => tokens.count(text),
        })
    }

    fn count(&self, text: &str) -> u64 {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = kept().get(text) {
            return *count;
        }
        // Not under the lock: the other run counts meanwhile.
        let count = tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64;
        let mut kept = kept();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(text.to_owned(), count);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    #[test]
    fn tokens_are_those_of_the_vocabulary_and_the_folder_s_name_does_not_matter() {
        let tokens = Tokens::default();
        assert_eq!(tokens.count("hello world"), 2);
        let (short, long) = (tokens.counter("/a"), tokens.counter("/a/very/long/folder/x81z3q"));
        assert_eq!(short("work in /a now"), long("work in /a/very/long/folder/x81z3q now"));
        assert_eq!(short("work in /a now"), tokens.count("work in /workspace now"));
    }
}
