//! Commands about entries that start runs.

use super::{Agenda, AgendaResult, CommandOutcome, CommandRefusal, EntryChange, ItemAction};
use crate::commands::{AgendaCommand, RunChange, ScheduleCommand};
use crate::kept::reminders;
use crate::kept::run_firing::{self, StartRuns};
use everloop_store::{
    Applied, ReminderRule, RunPlace, ScheduleGuard, SchedulePause, ScheduleRow, ScheduleText,
    ScheduledFiring, ScheduledRun, Store, StoreError, WriteKey,
};

/// Firings that are shown with their entry, and in a list of their own.
const SHOWN: usize = 5;
const LISTED: usize = 50;

/// An entry that starts runs, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunScheduleView {
    /// What was done to it.
    pub did: RunScheduleAction,
    /// The entry.
    pub entry: ScheduleRow,
    /// Its newest firings, the newest first.
    pub firings: Vec<ScheduledFiring>,
    /// How many of its runs in a row have failed.
    pub failures: i64,
    /// What a run that nobody watches would have to ask for, or lacks, in words.
    pub preflight: Vec<String>,
}

/// What was done to an entry that starts runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunScheduleAction {
    /// It was created.
    Added,
    /// It was changed.
    Changed,
    /// Nothing; it is shown.
    Shown,
    /// It starts no runs any more.
    Paused,
    /// It starts runs again.
    Resumed,
}

impl RunScheduleAction {
    /// The name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Shown => "shown",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
        }
    }

    pub(super) fn of(did: ItemAction) -> Self {
        match did {
            ItemAction::Added => Self::Added,
            ItemAction::Shown => Self::Shown,
            _ => Self::Changed,
        }
    }
}

/// Carries out commands about entries that start runs.
#[derive(Debug, Clone, Copy)]
pub struct RunDesk<'a> {
    store: &'a Store,
    starter: Option<&'a dyn StartRuns>,
}

impl Agenda {
    /// The part of the agenda that starts runs.
    #[must_use]
    pub fn runs(&self) -> RunDesk<'_> {
        RunDesk { store: &self.store, starter: self.starter.as_deref() }
    }
}

impl RunDesk<'_> {
    /// Whether a command sets up, changes or starts what starts runs.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn starts_runs(self, command: &AgendaCommand) -> Result<bool, StoreError> {
        use ScheduleCommand as S;
        let id = match command {
            AgendaCommand::Schedule(S::Add(new)) => return Ok(new.run.is_some()),
            AgendaCommand::Schedule(S::Update(_, new)) if new.run.is_some() => return Ok(true),
            AgendaCommand::Schedule(S::Pause(_) | S::Resume(_) | S::RunNow(_)) => return Ok(true),
            AgendaCommand::Schedule(S::Update(id, _) | S::Repeat(id, _)) => *id,
            AgendaCommand::Schedule(_) | AgendaCommand::Todo(_) => return Ok(false),
        };
        let entry = self.store.agenda().schedule(id).await?;
        Ok(entry.is_some_and(|entry| entry.said.run.is_some()))
    }

    /// An entry that starts runs, with its firings. What was just saved is checked for what nobody
    /// could answer.
    pub(super) async fn shown_run(
        self,
        did: RunScheduleAction,
        entry: ScheduleRow,
    ) -> Result<AgendaResult, StoreError> {
        let firings = self.store.run_schedules().scheduled_firings(entry.id, SHOWN).await?;
        let failures = self.store.run_schedules().run_failures(entry.id).await?;
        let is_new = !matches!(did, RunScheduleAction::Shown | RunScheduleAction::Paused);
        let preflight = match (self.starter, &entry.said.run) {
            (Some(starter), Some(plan)) if is_new => starter.preflight(plan),
            _ => Vec::new(),
        };
        let view = RunScheduleView { did, entry, firings, failures, preflight };
        Ok(Ok(CommandOutcome::RunSchedule(Box::new(view))))
    }

    /// The change with the conversation that it means by a part of its id.
    pub(super) async fn placed(self, change: &EntryChange) -> Result<EntryChange, CommandRefusal> {
        let mut change = change.clone();
        let place = change.run.as_mut().and_then(|run| run.place.as_mut());
        if let (Some(RunPlace::In(id)), Some(starter)) = (place, self.starter) {
            *id = starter.conversation(id).await.map_err(CommandRefusal::CannotRun)?;
        }
        Ok(change)
    }

    /// Checks and completes what an entry is to start.
    pub(super) fn complete(self, said: &mut ScheduleText) -> Result<(), CommandRefusal> {
        let Some(plan) = &mut said.run else { return Ok(()) };
        let starter = self.starter.ok_or(CommandRefusal::NotHere)?;
        starter.complete(plan).map_err(CommandRefusal::CannotRun)
    }

    pub(super) async fn pause_runs(
        self,
        id: i64,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let pause = SchedulePause { at: write.now, failures: 0, error: None };
        let paused = |entry: &mut ScheduleRow| {
            let Some(plan) = &mut entry.said.run else { return false };
            plan.paused.get_or_insert_with(|| pause.clone());
            entry.remind_next = None;
            true
        };
        self.switch_runs(id, write, RunScheduleAction::Paused, paused).await
    }

    pub(super) async fn resume_runs(
        self,
        id: i64,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let resumed = |entry: &mut ScheduleRow| {
            let Some(plan) = &mut entry.said.run else { return false };
            if plan.paused.take().is_some() {
                entry.remind_next = reminders::coming_reminder(entry, write.now);
            }
            true
        };
        self.switch_runs(id, write, RunScheduleAction::Resumed, resumed).await
    }

    async fn switch_runs(
        self,
        id: i64,
        write: WriteKey<'_>,
        did: RunScheduleAction,
        change: impl Fn(&mut ScheduleRow) -> bool,
    ) -> Result<AgendaResult, StoreError> {
        for _ in 0..super::TRIES_MAX {
            let Some(mut entry) = self.store.agenda().schedule(id).await? else {
                return Ok(Err(CommandRefusal::NoSuchEntry(id)));
            };
            if !change(&mut entry) {
                return Ok(Err(CommandRefusal::StartsNoRuns(id)));
            }
            let guard = ScheduleGuard::None;
            match self.store.agenda().change_schedule(&entry, guard, write).await? {
                Applied::Now(_) | Applied::Already(_) => return self.shown_run(did, entry).await,
                Applied::NotFound | Applied::Conflict => {}
            }
        }
        Ok(Err(CommandRefusal::Contested))
    }

    pub(super) async fn start_now(
        self,
        id: i64,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let entry = match self.run_entry(id).await? {
            Ok(entry) => entry,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let Some(starter) = self.starter else { return Ok(Err(CommandRefusal::NotHere)) };
        // A call that is tried again means the firing of the moment at which it was tried first.
        let at = match write.key {
            Some(key) => self.store.agenda().first_tried(key, write.now).await?,
            None => write.now,
        };
        let runs = self.store.run_schedules();
        if write.key.is_some()
            && let Some(firing) = runs.scheduled_firing(id, at).await?
        {
            return Ok(Ok(CommandOutcome::RunStarted(Box::new(entry), firing)));
        }
        let made = run_firing::run_now(self.store, starter, id, at).await?;
        Ok(match made {
            Some(Ok(firing)) => Ok(CommandOutcome::RunStarted(Box::new(entry), firing)),
            Some(Err(words)) => Err(CommandRefusal::CannotRun(words)),
            None => Err(CommandRefusal::Contested),
        })
    }

    pub(super) async fn firings_of_runs(self, id: i64) -> Result<AgendaResult, StoreError> {
        let entry = match self.run_entry(id).await? {
            Ok(entry) => entry,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let firings = self.store.run_schedules().scheduled_firings(id, LISTED).await?;
        Ok(Ok(CommandOutcome::RunFirings(Box::new(entry), firings)))
    }

    async fn run_entry(self, id: i64) -> Result<Result<ScheduleRow, CommandRefusal>, StoreError> {
        Ok(match self.store.agenda().schedule(id).await? {
            None => Err(CommandRefusal::NoSuchEntry(id)),
            Some(entry) if entry.said.run.is_none() => Err(CommandRefusal::StartsNoRuns(id)),
            Some(entry) => Ok(entry),
        })
    }
}

/// Applies the given values to what an entry starts.
pub(super) fn update_run(
    id: i64,
    said: &mut ScheduleText,
    change: &RunChange,
) -> Result<(), CommandRefusal> {
    let mut plan = match (&said.run, &change.goal) {
        (Some(plan), _) => plan.clone(),
        (None, Some(_)) => ScheduledRun::default(),
        (None, None) => return Err(CommandRefusal::StartsNoRuns(id)),
    };
    let RunChange { goal, loop_name, persona, workspace, place, overlap, pause_after, cron: _ } =
        change.clone();
    plan.goal = goal.unwrap_or(plan.goal);
    plan.loop_name = loop_name.or(plan.loop_name);
    plan.persona = persona.or(plan.persona);
    plan.workspace = workspace.or(plan.workspace);
    plan.place = place.unwrap_or(plan.place);
    plan.overlap = overlap.unwrap_or(plan.overlap);
    plan.pause_after = pause_after.or(plan.pause_after);
    said.run = Some(plan);
    // Its run is due at its time, and takes none of the person's.
    said.span.minutes = 0;
    said.remind = Some(ReminderRule { lead_ms: 0, from: None });
    Ok(())
}
