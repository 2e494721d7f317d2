//! The token that opens the server, with everything that was opened with it. Another token in its
//! file is taken over while the server is open: what a stolen one has opened ends.

use crate::live_settings::{LOOK, WriteStamp};
use crate::pages::Sessions;
use everloop_app::App;
use everloop_app::access_token::{AccessToken, TokenSource};
use std::sync::{Arc, PoisonError, RwLock};
use tokio_util::sync::CancellationToken;

/// A token, for as long as it is in force.
pub(crate) struct OpenToken {
    token: AccessToken,
    /// Sessions of browsers: another token ends them.
    pub(crate) sessions: Sessions,
    /// Ends streams and WebSockets that were opened with it.
    pub(crate) ended: CancellationToken,
}

impl OpenToken {
    fn new(token: AccessToken, stopping: &CancellationToken) -> Self {
        let sessions = Sessions::of(&token);
        Self { token, sessions, ended: stopping.child_token() }
    }

    /// Whether somebody gave this token.
    pub(crate) fn is(&self, given: &str) -> bool {
        self.token.is(given)
    }
}

/// The token in force.
pub(crate) struct LiveToken {
    now: RwLock<Arc<OpenToken>>,
    stopping: CancellationToken,
}

impl LiveToken {
    /// The token that the server begins with.
    pub(crate) fn new(token: AccessToken, stopping: CancellationToken) -> Self {
        let now = RwLock::new(Arc::new(OpenToken::new(token, &stopping)));
        Self { now, stopping }
    }

    /// The token in force.
    pub(crate) fn now(&self) -> Arc<OpenToken> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the token whenever its file has another one. That of the environment stays.
    pub(crate) async fn watch(&self, app: &App) {
        let TokenSource::File(path) = self.now().token.source.clone() else {
            return std::future::pending().await;
        };
        // The file may have changed since the server read it.
        let mut seen = None;
        loop {
            let found = WriteStamp::of(&path);
            if found.is_some() && found != seen {
                seen = found;
                self.replace_if_other(AccessToken::read(app).ok().flatten());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// A file that cannot be read has no token: the former one stays.
    fn replace_if_other(&self, read: Option<AccessToken>) {
        let Some(token) = read.filter(|token| !self.now().is(token.show())) else { return };
        token.hide();
        let next = Arc::new(OpenToken::new(token, &self.stopping));
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let former = std::mem::replace(&mut *now, next);
        drop(now);
        former.ended.cancel();
        tracing::info!("another access token is in force");
    }
}
