//! How models call tools: shown, and forgotten.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::learnt::{Entry, Found};
use everloop_models::{CallWay, usual_way};
use everloop_text as text;
use serde_json::{Value, json};

/// How a model calls tools, and how that is known.
pub(super) struct Way {
    way: CallWay,
    why: Why,
}

enum Why {
    Set,
    Found(Entry),
    Usual,
}

impl Way {
    /// How the model of that name calls tools.
    pub(super) fn of(app: &Console, name: &str) -> Self {
        if let Some(way) = app.settings.model.tool_calls {
            return Self { way, why: Why::Set };
        }
        let host = app.environment(&app.settings).host(name);
        let entry = app.learnt().of(name, &host);
        match entry.as_ref().and_then(|entry| entry.known.calls) {
            Some(way) => Self { way, why: entry.map_or(Why::Usual, Why::Found) },
            None => {
                let provider = name.split_once('/').map_or("", |(provider, _)| provider);
                Self { way: usual_way(provider), why: Why::Usual }
            }
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let (why, on) = match &self.why {
            Why::Set => ("set", None),
            Why::Found(entry) if entry.found == Found::Tested => ("tested", Some(&entry.on)),
            Why::Found(entry) => ("seen", Some(&entry.on)),
            Why::Usual => ("default", None),
        };
        json!({"way": self.way.as_str(), "why": why, "on": on})
    }

    /// The way and the reason, in words.
    pub(super) fn words(&self, app: &Console) -> String {
        let why = match &self.why {
            Why::Set => app.text(text::models::way_set()),
            Why::Found(entry) => {
                let key = match entry.found {
                    Found::Tested => text::models::way_tested,
                    Found::Seen => text::models::way_seen,
                };
                app.text(key(&entry.on))
            }
            Why::Usual => app.text(text::models::way_usual()),
        };
        app.text(text::models::way(&self.way.as_str(), &why))
    }
}

/// Forgets what was found out about a model.
pub(super) fn forget(app: &Console, name: &str) -> Result<Exit, Failure> {
    let forgotten = app.learnt().forget(name);
    let forgotten =
        forgotten.map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))?;
    let key = if forgotten { text::models::forgotten } else { text::models::not_known };
    terminal::answer(&app.text(key(&name)));
    Ok(if forgotten { Exit::Done } else { Exit::Failed })
}
