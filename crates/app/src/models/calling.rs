//! How a model calls tools, and how that is known.

use crate::app::App;
use crate::learnt::{LearntFrom, ModelFacts};
use everloop_models::{CallWay, usual_way};
use serde_json::{Value, json};

/// How a model calls tools, and how that is known.
pub struct ToolCalling {
    /// The way that is used.
    pub way: CallWay,
    /// Why this one.
    pub reason: CallingReason,
}

/// Why a model calls tools in a certain way.
pub enum CallingReason {
    /// The settings say so.
    Set,
    /// It was found out earlier.
    Found(ModelFacts),
    /// It is what this provider does.
    Usual,
}

impl ToolCalling {
    /// How the model of that name calls tools.
    #[must_use]
    pub fn of(app: &App, name: &str) -> Self {
        if let Some(way) = app.settings.model.tool_calls {
            return Self { way, reason: CallingReason::Set };
        }
        let host = app.environment(&app.settings).host(name);
        let entry = app.learnt().of(name, &host);
        match entry.as_ref().and_then(|entry| entry.known.calls) {
            Some(way) => {
                let reason = entry.map_or(CallingReason::Usual, CallingReason::Found);
                Self { way, reason }
            }
            None => {
                let provider = name.split_once('/').map_or("", |(provider, _)| provider);
                Self { way: usual_way(provider), reason: CallingReason::Usual }
            }
        }
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (why, on) = match &self.reason {
            CallingReason::Set => ("set", None),
            CallingReason::Found(entry) if entry.found == LearntFrom::Tested => {
                ("tested", Some(&entry.on))
            }
            CallingReason::Found(entry) => ("seen", Some(&entry.on)),
            CallingReason::Usual => ("default", None),
        };
        json!({"way": self.way.as_str(), "why": why, "on": on})
    }
}
