//! How many tokens a text has, by a real tokenizer.
//!
//! The vocabulary takes 0.15 s to load, so it is loaded by the first text that is counted. The
//! same system message and tools occur in every call of every run, so counts are cached.

use crate::policy::TokenCounter;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of texts whose counts are cached.
const KEPT_MAX: usize = 20_000;

/// Token counts, cached for a whole comparison.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenCache {
    kept: Arc<Mutex<HashMap<String, u64>>>,
}

impl TokenCache {
    /// A counter for one run.
    pub(crate) fn counter(&self) -> TokenCounter {
        let tokens = self.clone();
        Arc::new(move |text| tokens.count(text))
    }

    fn count(&self, text: &str) -> u64 {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = kept().get(text) {
            return *count;
        }
        // Not under the lock, so that another run can count at the same time.
        let count = everloop_models::count_tokens(text);
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
    use super::TokenCache;

    #[test]
    fn tokens_are_those_of_the_vocabulary_however_often_they_are_counted() {
        let tokens = TokenCache::default();
        let counter = tokens.counter();
        for _ in 0..2 {
            assert_eq!((counter("hello world"), counter("")), (2, 0));
            assert_eq!(counter("{\"path\":\"notes.txt\"}"), 6);
        }
    }
}
