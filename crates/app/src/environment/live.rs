//! The environment of an engine that stays open while the settings change.

use super::LocalEnvironment;
use crate::audit_file::AuditFile;
use everloop_engine::{AuditLog, EndedTask, Environment, Submission, Summary};
use everloop_ports::{BoxFuture, Model, Registry};
use everloop_types::{Frame, ModelChoice, ModelError, RunId, Status};
use std::sync::{Arc, PoisonError, RwLock};

/// What this process can reach by the settings in force. A call that is under way keeps what it
/// began with; the next one has the new settings.
pub struct LiveEnvironment {
    now: RwLock<Arc<LocalEnvironment>>,
    /// Stays the same file for as long as the process lives.
    audit: Option<AuditFile>,
}

impl LiveEnvironment {
    /// The environment of the settings that a process begins with.
    pub(crate) fn new(first: LocalEnvironment, audit: Option<AuditFile>) -> Self {
        Self { now: RwLock::new(Arc::new(first)), audit }
    }

    /// Replaces it by that of other settings. MCP servers whose settings are the same go on.
    pub(crate) fn replace(&self, next: LocalEnvironment) {
        let next = Arc::new(next.with_servers_of(&self.now()));
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    fn now(&self) -> Arc<LocalEnvironment> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Environment for LiveEnvironment {
    fn model(&self, choice: &ModelChoice) -> Result<(Arc<dyn Model>, String), ModelError> {
        self.now().model(choice)
    }

    fn tools(&self, frame: &Frame) -> Arc<Registry> {
        self.now().tools(frame)
    }

    fn remember(&self, frame: &Frame, summary: &Summary<'_>) {
        self.now().remember(frame, summary);
    }

    fn forget(&self, run: &RunId) {
        self.now().forget(run);
    }

    fn follow_up<'a>(&'a self, ended: EndedTask<'a>) -> BoxFuture<'a, Option<Submission>> {
        let now = self.now();
        Box::pin(async move { now.follow_up(ended).await })
    }

    fn last_words<'a>(
        &'a self,
        run: &'a RunId,
        frame: &'a Frame,
        status: Status,
        words: &'a str,
    ) -> BoxFuture<'a, Option<String>> {
        let now = self.now();
        Box::pin(async move { now.last_words(run, frame, status, words).await })
    }

    fn audit_log(&self) -> Option<&dyn AuditLog> {
        self.audit.as_ref().map(|file| file as &dyn AuditLog)
    }
}
