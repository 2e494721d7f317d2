//! What a form came to, for the page that follows it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long it is shown.
const SHOWN: Duration = Duration::from_secs(30);

/// How long is shown what still wants a decision.
const SHOWN_OPEN: Duration = Duration::from_secs(600);

/// Words that are kept.
const KEPT_MAX: usize = 1_000;

/// What forms came to, by session and page, and until when it is shown.
#[derive(Default)]
pub(crate) struct Flashes(Mutex<BTreeMap<(String, String), (Instant, String)>>);

impl Flashes {
    /// Keeps the words for a page of a session.
    pub(crate) fn put(&self, session: &str, page: &str, said: String) {
        self.put_for(SHOWN, session, page, said);
    }

    /// Keeps for longer what a person has to decide about.
    pub(crate) fn put_open(&self, session: &str, page: &str, said: String) {
        self.put_for(SHOWN_OPEN, session, page, said);
    }

    fn put_for(&self, time: Duration, session: &str, page: &str, said: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        all.retain(|_, (until, _)| *until > now);
        if all.len() < KEPT_MAX {
            all.insert((session.to_owned(), page.to_owned()), (now + time, said));
        }
    }

    /// The words for a page of a session. A page may be read several times.
    pub(crate) fn get(&self, session: &str, page: &str) -> Option<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, said) = all.get(&(session.to_owned(), page.to_owned()))?;
        (*until > Instant::now()).then(|| said.clone())
    }

    /// Forgets them: something newer was done.
    pub(crate) fn clear(&self, session: &str, page: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&(session.to_owned(), page.to_owned()));
    }
}
