//! Watchers: people and pages that look on. They never change a run.

use crate::screen::Screen;
use everloop_store::Redactor;
use everloop_types::journal::Entry;
use everloop_types::{ModelError, Progress, RunId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Something a watcher may show.
#[derive(Debug, Clone)]
pub enum Update {
    /// An entry is durable.
    Entry(RunId, Box<Entry>),
    /// The plan or the place in it changed.
    Progress(RunId, Progress),
    /// A piece of a reply, not yet final and never journaled.
    Delta(RunId, Fragment),
    /// A run that an earlier process left was taken up again.
    Recovered {
        /// The run.
        run: RunId,
        /// Effects that were out and whose outcome nobody wrote down.
        interrupted: usize,
    },
    /// A model attempt failed; another follows.
    Retrying {
        /// The run.
        run: RunId,
        /// What went wrong.
        error: ModelError,
        /// How long until the next attempt.
        wait_ms: u64,
    },
    /// The model refused or stayed out of reach; a second one is asked.
    FellBack {
        /// The run.
        run: RunId,
        /// What went wrong with the first one.
        error: ModelError,
        /// The second one, as `provider/model`.
        to: String,
    },
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fragment {
    /// Of the text.
    Text(String),
    /// Of the reasoning.
    Reasoning(String),
    /// A tool call begins.
    Call(String),
    /// Output of a running tool.
    Output(String),
}

/// The receiving end.
pub type Watch = UnboundedReceiver<Arc<Update>>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Watchers(Arc<Audience>);

#[derive(Debug, Default)]
struct Audience {
    any: AtomicBool,
    all: Mutex<Vec<UnboundedSender<Arc<Update>>>>,
    screen: Screen,
}

impl Watchers {
    /// Watchers who see nothing that `redactor` knows.
    pub(crate) fn behind(redactor: Redactor) -> Self {
        Self(Arc::new(Audience { screen: Screen::new(redactor), ..Audience::default() }))
    }

    pub(crate) fn subscribe(&self) -> Watch {
        let (sender, receiver) = unbounded_channel();
        self.0.all.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        self.0.any.store(true, Ordering::Release);
        receiver
    }

    /// Makes the update only if somebody looks on.
    pub(crate) fn tell(&self, update: impl FnOnce() -> Update) {
        if !self.0.any.load(Ordering::Acquire) {
            return;
        }
        let mut all = self.0.all.lock().unwrap_or_else(PoisonError::into_inner);
        for update in self.0.screen.pass(update()) {
            let update = Arc::new(update);
            all.retain(|watcher| watcher.send(update.clone()).is_ok());
        }
        self.0.any.store(!all.is_empty(), Ordering::Release);
    }
}
