//! Sessions of browsers, and the links that open them.
//!
//! A session is a signed name: the server keeps nothing, so a page stays open over a restart. The
//! signature's key comes from the access token; another token ends every session. A link is kept in
//! memory, works once and for ten minutes.

use everloop_app::access_token::{AccessToken, random_hex};
use everloop_engine::{Clock, SystemClock};
use everloop_types::UtcMs;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a session lasts.
pub(super) const SESSION_MS: i64 = 30 * 24 * 3_600_000;

/// How long a link may be used.
const LINK_LIFE: Duration = Duration::from_secs(600);

/// Links that are kept.
const LINKS_MAX: usize = 100;

/// The keys of sessions.
pub(crate) struct Sessions {
    key: [u8; 32],
    links: Mutex<BTreeMap<String, Instant>>,
}

/// A browser that has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageSession {
    /// Its name.
    pub(crate) name: String,
    /// What its forms and scripts have to send.
    pub(crate) csrf: String,
}

impl Sessions {
    /// Sessions that this token signs.
    pub(crate) fn of(token: &AccessToken) -> Self {
        let key = blake3::derive_key("everloop 2026 browser sessions", token.show().as_bytes());
        Self { key, links: Mutex::default() }
    }

    /// The name of the cookie. Servers of one machine share their cookies whatever the port, so
    /// the name has a mark of the token.
    pub(crate) fn cookie_name(&self) -> String {
        format!("everloop_{}", &self.sign("cookie")[..8])
    }

    fn sign(&self, text: &str) -> String {
        blake3::keyed_hash(&self.key, text.as_bytes()).to_hex().to_string()
    }

    /// A new session, as the value of its cookie.
    pub(crate) fn begin(&self) -> std::io::Result<String> {
        let until = SystemClock.now() + SESSION_MS;
        let name = random_hex::<24>()?;
        let mark = self.sign(&format!("session {name} {until}"));
        Ok(format!("{name}.{until}.{mark}"))
    }

    /// The session that a cookie names, if we signed it and it has not ended.
    pub(crate) fn read(&self, value: &str, now: UtcMs) -> Option<PageSession> {
        let mut parts = value.splitn(3, '.');
        let (name, until, mark) = (parts.next()?, parts.next()?, parts.next()?);
        let wanted = blake3::keyed_hash(&self.key, format!("session {name} {until}").as_bytes());
        // The comparison takes the same time whatever differs.
        let is_ours = blake3::Hash::from_hex(mark).is_ok_and(|given| given == wanted);
        let is_open = until.parse::<UtcMs>().is_ok_and(|until| now < until);
        (is_ours && is_open).then(|| PageSession {
            name: name.to_owned(),
            csrf: self.sign(&format!("csrf {name}"))[..32].to_owned(),
        })
    }

    /// The key of a link that opens a session once.
    pub(crate) fn make_link(&self) -> std::io::Result<String> {
        let key = random_hex::<24>()?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|_, made| made.elapsed() < LINK_LIFE);
        if links.len() < LINKS_MAX {
            links.insert(self.sign(&key), Instant::now());
        }
        Ok(key)
    }

    /// Whether this is the key of a link that nobody has used. It is used now.
    pub(crate) fn use_link(&self, key: &str) -> bool {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.remove(&self.sign(key)).is_some_and(|made| made.elapsed() < LINK_LIFE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(secret: u8) -> Sessions {
        Sessions { key: [secret; 32], links: Mutex::default() }
    }

    #[test]
    fn a_session_is_known_until_it_ends_and_only_under_its_token() {
        let ours = sessions(1);
        let value = ours.begin().unwrap();
        let now = SystemClock.now();
        let session = ours.read(&value, now).unwrap();
        assert_eq!(session.csrf.len(), 32);
        assert_eq!(sessions(2).read(&value, now), None);
        assert_eq!(ours.read(&value, now + SESSION_MS + 1_000), None);
    }

    #[test]
    fn a_session_whose_end_was_moved_is_not_ours() {
        let ours = sessions(1);
        let value = ours.begin().unwrap();
        let mut parts: Vec<&str> = value.split('.').collect();
        parts[1] = "9999999999999";
        assert_eq!(ours.read(&parts.join("."), SystemClock.now()), None);
        for bad in ["", ".", "..", "a.b.c", "a.1.00"] {
            assert_eq!(ours.read(bad, 0), None, "{bad}");
        }
    }

    #[test]
    fn a_link_opens_once() {
        let ours = sessions(1);
        let key = ours.make_link().unwrap();
        assert!(ours.use_link(&key));
        assert!(!ours.use_link(&key));
        assert!(!ours.use_link("no such key"));
    }
}
