//! How a model is asked to call tools, and what was found out about it.
//!
//! ```text
//!   set by the user ──► found out (tested, or seen in a reply) ──► the provider's usual way
//! ```
//!
//! Deliberately absent: storage. The program that connects a model provides a [`TraitStore`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How a model is asked to call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallWay {
    /// By the provider's own interface for tools.
    Native,
    /// The prompt lists the tools, and the reply must follow a JSON schema.
    Schema,
    /// The prompt lists the tools, and the reply is text with tags.
    Tagged,
}

impl CallWay {
    /// The word used in settings, files and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Schema => "schema",
            Self::Tagged => "tagged",
        }
    }

    /// The way with that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Native, Self::Schema, Self::Tagged].into_iter().find(|way| way.as_str() == name)
    }
}

/// What was found out about a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelTraits {
    /// How it calls tools, if that is not the usual way of its provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallWay>,
    /// Whether it refuses to hold a reply to a JSON schema.
    pub refuses_schemas: bool,
    /// Whether it ignores forced calls, and the portable way helped.
    pub ignores_forced: bool,
    /// Whether it refuses a temperature.
    pub refuses_temperature: bool,
}

/// Stores the traits of a model between processes. Called rarely: when a model is connected, and
/// when something new was found out.
pub trait TraitStore: Send + Sync {
    /// What is known.
    fn read(&self) -> ModelTraits;

    /// Stores the traits.
    fn write(&self, known: ModelTraits);
}

/// What is known about the model behind an endpoint, and what the user has set.
#[derive(Clone, Default)]
pub struct ModelKnowledge {
    /// The way that the user has chosen.
    pub set: Option<CallWay>,
    /// Where the rest is stored; without it, this process finds it out by itself.
    pub notes: Option<Arc<dyn TraitStore>>,
}

impl fmt::Debug for ModelKnowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Knowledge").field("set", &self.set).finish_non_exhaustive()
    }
}

/// The same, as it is used while the model is connected.
#[derive(Debug)]
pub(crate) struct TraitCache {
    from: ModelKnowledge,
    known: Mutex<ModelTraits>,
}

impl TraitCache {
    pub(crate) fn new(from: ModelKnowledge) -> Self {
        let known = from.notes.as_ref().map(|notes| notes.read()).unwrap_or_default();
        Self { from, known: Mutex::new(known) }
    }

    pub(crate) fn known(&self) -> ModelTraits {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way that was set or found out.
    pub(crate) fn calls(&self) -> Option<CallWay> {
        self.from.set.or(self.known().calls)
    }

    /// Records a new trait and stores it.
    pub(crate) fn learn(&self, change: impl FnOnce(&mut ModelTraits)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *known;
        change(&mut known);
        if let Some(notes) = self.from.notes.as_ref().filter(|_| *known != before) {
            notes.write(*known);
        }
    }
}
