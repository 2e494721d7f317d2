//! Schedules that start runs: what each run is made of, from today's settings.
//!
//! Deliberately absent: when a schedule is due and what becomes of each firing (the agenda's).

use crate::app::App;
use crate::conversation::EarlierTurns;
use crate::error::{AppError, ChoiceError, ConversationError, ModelChoiceError};
use crate::frames::{self, RunOptions};
use crate::{briefing, facts, workspace_mode};
use everloop_agenda::commands::AgendaCommand;
use everloop_agenda::desk::{AgendaResult, EntryChange};
use everloop_agenda::kept::run_firing::{self, StartRuns, firing_key};
use everloop_engine::{Clock, Engine, Submission, SystemClock, keyed_id, submitted_run};
use everloop_ports::BoxFuture;
use everloop_store::{
    NewConversation, RunPlace, ScheduleRow, ScheduledFiring, ScheduledRun, ScheduledStart, Store,
};
use everloop_text as text;
use everloop_types::{ConversationId, Lang, RunId, Unattended, UtcMs, digest_bytes};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The channel of conversations that a schedule begins; their thread is its number.
pub const CHANNEL: &str = "schedule";

/// Makes the runs of schedules.
#[derive(Clone)]
pub struct ScheduledRuns {
    app: App,
    store: Store,
}

impl fmt::Debug for ScheduledRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduledRuns").finish_non_exhaustive()
    }
}

impl ScheduledRuns {
    /// With these settings, for schedules of this store.
    #[must_use]
    pub fn new(app: &App, store: &Store) -> Self {
        Self { app: app.clone(), store: store.clone() }
    }

    fn submission(&self, plan: &ScheduledRun) -> Result<Submission, AppError> {
        let options = RunOptions {
            loop_name: plan.loop_name.clone(),
            workspace: plan.workspace.clone().map(Into::into),
            persona: plan.persona.clone(),
            ..RunOptions::default()
        };
        let mut submission = frames::submission(&self.app, &options, &plan.goal)?;
        // Nobody sits there, also if the process that starts it has a terminal.
        submission.frame.policy.unattended = self.app.settings.approvals.unattended;
        Ok(submission)
    }

    async fn start(
        &self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        due_at: UtcMs,
        now: UtcMs,
    ) -> Result<ScheduledStart, AppError> {
        let key = firing_key(entry, due_at);
        let mut submission = Submission { idem_key: Some(key.clone()), ..self.submission(plan)? };
        facts::brief(&self.app, &self.store, &mut submission.frame).await?;
        let conversation = self.conversation_of(entry, plan, &key, &submission, now).await?;
        if plan.place != RunPlace::New {
            let earlier = EarlierTurns::of(&self.app, &self.store, &conversation.id).await?;
            submission.goal.context.push_str(&earlier.told());
            submission.frame.policy.inherited.join(&earlier.held(&self.store).await);
        }
        let run = RunId::new(keyed_id("run_", now, &key));
        let (build, redactor) = (self.app.build(), self.store.redactor());
        let run = submitted_run(submission, run, conversation.id.clone(), build, now, redactor);
        Ok(ScheduledStart { run, conversation })
    }
}

impl ScheduledRuns {
    /// The conversation of one firing: a new one, that of the entry, or the one that was named.
    async fn conversation_of(
        &self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        key: &str,
        submission: &Submission,
        now: UtcMs,
    ) -> Result<NewConversation, AppError> {
        let id = match &plan.place {
            RunPlace::New => ConversationId::new(keyed_id("conv_", now, key)),
            RunPlace::Own => self.own_conversation(&entry.uid).await?,
            RunPlace::In(id) => {
                let found = self.store.conversations().get(id).await?;
                found.ok_or_else(|| ConversationError::NotFound(id.to_string()))?.id
            }
        };
        Ok(NewConversation {
            id,
            channel: CHANNEL.to_owned(),
            thread: Some(entry.id.to_string()),
            workspace: Some(submission.frame.workspace.clone()),
            now,
        })
    }

    /// The conversation of an entry. Its uid may have come with a file and hold any characters; an
    /// earlier version put it into the id as it was.
    async fn own_conversation(&self, uid: &str) -> Result<ConversationId, AppError> {
        let earlier = ConversationId::new(format!("conv_schedule_{uid}"));
        if self.store.conversations().get(&earlier).await?.is_some() {
            return Ok(earlier);
        }
        let digest = digest_bytes(uid.as_bytes());
        Ok(ConversationId::new(format!("conv_schedule_{}", &digest[..24])))
    }

    async fn find_conversation(&self, id: &ConversationId) -> Result<ConversationId, String> {
        let say = |text: text::Text| text.in_lang(self.app.lang);
        let found = self.store.conversations().find(id.as_str()).await;
        match found.map_err(|error| error.to_string())?.as_slice() {
            [only] => Ok(only.id.clone()),
            [] => Err(say(text::scheduled::why::no_conversation(id))),
            _ => Err(say(text::scheduled::why::conversations(id))),
        }
    }
}

impl StartRuns for ScheduledRuns {
    fn lang(&self) -> Lang {
        self.app.lang
    }

    fn complete(&self, plan: &mut ScheduledRun) -> Result<(), String> {
        let check = |plan: &mut ScheduledRun| -> Result<(), AppError> {
            if let Some(name) = &plan.loop_name {
                frames::loop_name(name)?;
            }
            if let Some(name) = &plan.persona {
                briefing::persona(&self.app, Some(name))?;
            }
            let folder = frames::workspace(plan.workspace.as_deref().map(Path::new))?;
            plan.workspace = Some(folder.display().to_string());
            Ok(())
        };
        check(plan).map_err(|error| reason(&error, self.app.lang))
    }

    fn preflight(&self, plan: &ScheduledRun) -> Vec<String> {
        let say = |text: text::Text| text.in_lang(self.app.lang);
        let submission = match self.submission(plan) {
            Ok(submission) => submission,
            Err(error) => {
                let reason = reason(&error, self.app.lang);
                return vec![say(text::scheduled::preflight::cannot(&reason))];
            }
        };
        let mut lines = Vec::new();
        let asks = submission.frame.tools_that_ask().join(", ");
        if !asks.is_empty() {
            lines.push(say(match self.app.settings.approvals.unattended {
                Unattended::Deny => text::scheduled::preflight::denied(&asks),
                _ => text::scheduled::preflight::waits(&asks),
            }));
        }
        let folder = Path::new(&submission.frame.workspace);
        if workspace_mode::is_left_out(&self.app, folder) {
            let folder = folder.display();
            lines.push(say(text::scheduled::preflight::untrusted(&folder)));
        }
        lines
    }

    fn conversation<'a>(
        &'a self,
        id: &'a ConversationId,
    ) -> BoxFuture<'a, Result<ConversationId, String>> {
        Box::pin(self.find_conversation(id))
    }

    fn prepare<'a>(
        &'a self,
        entry: &'a ScheduleRow,
        plan: &'a ScheduledRun,
        due_at: UtcMs,
        now: UtcMs,
    ) -> BoxFuture<'a, Result<ScheduledStart, String>> {
        Box::pin(async move {
            let made = self.start(entry, plan, due_at, now).await;
            made.map_err(|error| reason(&error, self.app.lang))
        })
    }
}

/// Why a run cannot be made, in words.
fn reason(error: &AppError, lang: Lang) -> String {
    let say = |text: text::Text| text.in_lang(lang);
    match error {
        AppError::Model(ModelChoiceError::NoModel) => say(text::scheduled::why::no_model()),
        AppError::Model(ModelChoiceError::Secret(error)) => error.words(lang),
        AppError::Choice(ChoiceError::UnknownLoop(name)) => {
            say(text::scheduled::why::no_loop(&name))
        }
        AppError::Choice(ChoiceError::UnknownPersona { name, .. }) => {
            say(text::scheduled::why::no_persona(&name))
        }
        AppError::Choice(ChoiceError::Workspace { folder, .. }) => {
            say(text::scheduled::why::no_workspace(&folder.display()))
        }
        AppError::Conversation(ConversationError::NotFound(id)) => {
            say(text::scheduled::why::no_conversation(&id))
        }
        error => error.to_string(),
    }
}

/// Starts due runs for as long as the process lives.
pub async fn keep_starting(app: App, engine: Arc<Engine>) {
    let store = engine.store().clone();
    let starter = Arc::new(ScheduledRuns::new(&app, &store));
    run_firing::keep_starting(store, app.agenda_config(), starter, engine.shared_clock()).await;
}

/// Starts what is due now, and settles what has ended.
///
/// # Errors
/// If the store fails.
pub async fn start_due(app: &App, store: &Store) -> Result<Vec<ScheduledFiring>, AppError> {
    let starter = ScheduledRuns::new(app, store);
    let now = SystemClock.now();
    Ok(run_firing::fire_runs(store, &app.agenda_config(), &starter, now).await?)
}

/// All schedules that start runs, by number.
///
/// # Errors
/// If the store fails.
pub async fn run_schedules(store: &Store) -> Result<Vec<ScheduleRow>, AppError> {
    let mut entries = store.agenda().schedules().await?;
    entries.retain(|entry| entry.said.run.is_some());
    Ok(entries)
}

/// The firings of a schedule, the newest first.
///
/// # Errors
/// If the store fails.
pub async fn firings(
    store: &Store,
    schedule: i64,
    most: usize,
) -> Result<Vec<ScheduledFiring>, AppError> {
    Ok(store.run_schedules().scheduled_firings(schedule, most).await?)
}

/// Saves a schedule from typed values, as a program has them; commands go through
/// [`crate::agenda::perform`].
///
/// # Errors
/// If the store fails. What is refused is part of the answer.
pub async fn add(
    app: &App,
    store: Store,
    entry: &EntryChange,
    key: Option<&str>,
) -> Result<AgendaResult, AppError> {
    let now = SystemClock.now();
    let write = everloop_store::WriteKey { key, now };
    Ok(app.agenda(store).add(entry, write).await?)
}

/// Changes a schedule from typed values.
///
/// # Errors
/// If the store fails. What is refused is part of the answer.
pub async fn change(
    app: &App,
    store: Store,
    id: i64,
    entry: &EntryChange,
    key: Option<&str>,
) -> Result<AgendaResult, AppError> {
    let now = SystemClock.now();
    let write = everloop_store::WriteKey { key, now };
    Ok(app.agenda(store).change(id, entry, write).await?)
}

/// Pauses, resumes, starts, shows or deletes schedules.
///
/// # Errors
/// If the store fails. What is refused is part of the answer.
pub async fn perform(
    app: &App,
    store: Store,
    command: everloop_agenda::commands::ScheduleCommand,
    key: Option<&str>,
) -> Result<AgendaResult, AppError> {
    let reader = app.reader_at(None);
    let command = AgendaCommand::Schedule(command);
    Ok(app.agenda(store).perform(&command, &reader.now, key).await?)
}
