//! Todos, the schedule and the inbox of reminders, as commands and programs use them.

pub mod arguments;

use crate::app::App;
use crate::error::AppError;
use everloop_agenda::commands::{self, AgendaCommand, CommandNote};
use everloop_agenda::desk;
use everloop_agenda::kept::reminders;
use everloop_agenda::show::{DisplayContext, firing_json};
use everloop_engine::{Clock, SystemClock};
use everloop_store::{Firing, Store};
use everloop_types::UtcMs;
use serde_json::{Value, json};

/// Reminders that are listed at once.
const UNREAD_MAX: usize = 200;

/// How a command was understood, where that is not obvious from what was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgendaReading {
    /// The command in full.
    pub understood: Option<String>,
    /// What the result does not show.
    pub notes: Vec<CommandNote>,
}

impl AgendaReading {
    /// Compares what was typed with the command that it became.
    #[must_use]
    pub fn of(typed: &str, command: &AgendaCommand, reader: &DisplayContext) -> Self {
        Self {
            understood: commands::echo(typed, command, &reader.now, reader.lang),
            notes: commands::notes(typed, command, &reader.now),
        }
    }
}

/// Carries a command out.
///
/// # Errors
/// If the store fails. What a command refuses is part of the answer.
pub async fn perform(
    app: &App,
    store: Store,
    command: &AgendaCommand,
    reader: &DisplayContext,
) -> Result<desk::AgendaResult, AppError> {
    perform_on(app, store, command, reader, ChangeTerms::default()).await
}

/// What a change is bound to.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChangeTerms<'a> {
    /// The version that it must find; any if there is none.
    pub version: Option<i64>,
    /// The same key twice is the same change.
    pub key: Option<&'a str>,
}

/// Carries a command out on these terms.
///
/// # Errors
/// If the store fails. What a command refuses is part of the answer.
pub async fn perform_on(
    app: &App,
    store: Store,
    command: &AgendaCommand,
    reader: &DisplayContext,
    terms: ChangeTerms<'_>,
) -> Result<desk::AgendaResult, AppError> {
    let agenda = app.agenda(store).expecting(terms.version);
    Ok(agenda.perform(command, &reader.now, terms.key).await?)
}

/// The reminders that nobody has read yet.
pub struct UnreadReminders {
    firings: Vec<Firing>,
    now: UtcMs,
}

impl UnreadReminders {
    /// Looks for them; looking fires what is due.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(app: &App, store: &Store) -> Result<Self, AppError> {
        let now = SystemClock.now();
        match reminders::fire_due(store, &app.agenda_config(), now).await {
            // What cannot be written now fires when it can be.
            Err(error) if error.is_read_only() => {}
            fired => drop(fired?),
        }
        let firings = store.agenda().unread_firings(UNREAD_MAX).await?;
        Ok(Self { firings, now })
    }

    /// The reminders, oldest first.
    #[must_use]
    pub fn firings(&self) -> &[Firing] {
        &self.firings
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self, reader: &DisplayContext) -> Value {
        let rows: Vec<Value> = self.firings.iter().map(|row| firing_json(reader, row)).collect();
        json!({ "unread": rows })
    }

    /// Marks these as read.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn mark_read(&self, store: &Store) -> Result<(), AppError> {
        store.agenda().read_firings(&self.firings, self.now).await?;
        Ok(())
    }
}
