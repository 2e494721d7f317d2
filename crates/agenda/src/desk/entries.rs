//! Commands about entries of the schedule.

use super::changes::is_past;
use super::todos::in_order;
use super::{
    Agenda, AgendaNotice, AgendaResult, CommandOutcome, CommandRefusal, DeletedItem, EntryChange,
    EntryConflict, EntryStart, ItemAction, RemindWhen, RunScheduleAction, ScheduleRange, runs, uid,
};
use crate::commands::{CalendarView, RepeatSwitch, ScheduleCommand};
use crate::kept::{self, conflicts, reminders};
use everloop_store::{
    Applied, FiringKind, ReminderRule, RepeatRule, ScheduleGuard, ScheduleRow, ScheduleText, Span,
    StoreError, WriteKey,
};
use everloop_types::UtcMs;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};

/// The number of firings that are shown with their entry.
const FIRINGS_SHOWN: usize = 5;

/// How often the write of an entry that must not overlap is retried after concurrent writes. Each
/// retry means that another write succeeded, so concurrent writers finish one after the other.
const WRITE_TRIES_MAX: usize = 100;

impl Agenda {
    pub(super) async fn schedule(
        &self,
        command: &ScheduleCommand,
        now: &Zoned,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        Ok(match command {
            ScheduleCommand::Add(new) => {
                return self.add_entry(&EntryChange::of(new, now, None), write).await;
            }
            ScheduleCommand::Update(id, new) => {
                let was =
                    self.store.agenda().schedule(*id).await?.map(|entry| begins(&entry.said.span));
                return self
                    .update_entry(*id, &EntryChange::of(new, now, was.as_ref()), write)
                    .await;
            }
            ScheduleCommand::Repeat(id, switch) => {
                return self.switch_repeat(*id, *switch, write).await;
            }
            ScheduleCommand::Delete(ids) => return self.delete_entries(ids, write).await,
            ScheduleCommand::Pause(id) => return self.runs().pause_runs(*id, write).await,
            ScheduleCommand::Resume(id) => return self.runs().resume_runs(*id, write).await,
            ScheduleCommand::RunNow(id) => return self.runs().start_now(*id, write).await,
            ScheduleCommand::Runs(id) => return self.runs().firings_of_runs(*id).await,
            ScheduleCommand::Get(id) => {
                return self.shown(*id, ItemAction::Shown, Vec::new()).await;
            }
            ScheduleCommand::List => {
                let at = now.timestamp().as_millisecond();
                let from = kept::moment(at.saturating_sub(self.config.list_back_ms));
                let to = kept::moment(at.saturating_add(self.config.list_ahead_ms));
                let range = ScheduleRange { from, to, calendar: None };
                Ok(CommandOutcome::Entries(range, self.store.agenda().schedules().await?))
            }
            ScheduleCommand::View(stretch, date) => {
                let range = stretch_around(*stretch, *date, now);
                Ok(CommandOutcome::Entries(range, self.store.agenda().schedules().await?))
            }
        })
    }

    async fn shown(
        &self,
        id: i64,
        did: ItemAction,
        notices: Vec<AgendaNotice>,
    ) -> Result<AgendaResult, StoreError> {
        let Some(entry) = self.store.agenda().schedule(id).await? else {
            return Ok(Err(CommandRefusal::NoSuchEntry(id)));
        };
        if entry.said.run.is_some() {
            return self.runs().shown_run(RunScheduleAction::of(did), entry).await;
        }
        let firings =
            self.store.agenda().firings_of(FiringKind::Schedule, id, FIRINGS_SHOWN).await?;
        Ok(Ok(CommandOutcome::Entry(did, Box::new(entry), firings, notices)))
    }

    /// Deletes entries, all or none, and names them.
    async fn delete_entries(
        &self,
        ids: &[i64],
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let (ids, mut gone) = (in_order(ids), Vec::new());
        for &id in &ids {
            let text = self.store.agenda().schedule(id).await?.map(|entry| entry.said.title);
            gone.push(DeletedItem { id, text });
        }
        let missing = gone.iter().find(|gone| gone.text.is_none()).or(gone.first());
        let missing = missing.map_or(0, |gone| gone.id);
        Ok(match self.store.agenda().delete_schedules(&ids, write).await? {
            Applied::Now(_) | Applied::Already(_) => Ok(CommandOutcome::EntriesDeleted(gone)),
            Applied::NotFound | Applied::Conflict => Err(CommandRefusal::NoSuchEntry(missing)),
        })
    }

    pub(super) async fn add_entry(
        &self,
        new: &EntryChange,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let new = &match self.runs().placed(new).await {
            Ok(new) => new,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let Some(mut entry) = self.new_entry(new, write) else {
            return Ok(Err(CommandRefusal::NotHere));
        };
        let made =
            update(0, &mut entry.said, new).and_then(|()| self.runs().complete(&mut entry.said));
        if let Err(refusal) = made {
            return Ok(Err(refusal));
        }
        entry.remind_next = match new.remind {
            // A requested reminder fires, at once if its moment has passed.
            Some(_) => reminders::first_reminder(&entry, write.now),
            None => {
                reminders::coming_reminder(&entry, write.now.saturating_sub(reminders::IN_TIME_MS))
            }
        };
        if entry.said.run.is_some() && entry.remind_next.is_none() {
            return self.already_made(write, CommandRefusal::RunInPast).await;
        }
        for _ in 0..WRITE_TRIES_MAX {
            let guard = match self.free(&entry, new.allow_conflict, write).await? {
                Ok(guard) => guard,
                // A retry after a crash would conflict with the first attempt.
                Err(refusal) => return self.already_made(write, refusal).await,
            };
            match self.store.agenda().add_schedule(&entry, guard, write).await? {
                Applied::Now(id) | Applied::Already(id) => {
                    let notices = notices(&entry, new, write.now);
                    return self.shown(id, ItemAction::Added, notices).await;
                }
                Applied::Conflict => {}
                Applied::NotFound => return Ok(Err(CommandRefusal::NoSuchEntry(0))),
            }
        }
        Ok(Err(CommandRefusal::Contested))
    }

    /// A new entry with its time and default reminder; `None` without a time.
    fn new_entry(&self, new: &EntryChange, write: WriteKey<'_>) -> Option<ScheduleRow> {
        let span = span(new.start.as_ref()?, new.minutes.unwrap_or(self.config.minutes));
        let remind = self.default_reminder(&span, new, write.now).filter(|_| new.remind.is_none());
        let said = ScheduleText {
            title: String::new(),
            span,
            repeat: None,
            remind,
            catch_up: None,
            run: None,
        };
        Some(ScheduleRow {
            id: 0,
            uid: uid("schedule", write),
            said,
            remind_next: None,
            created_at: write.now,
            updated_at: write.now,
            version: 1,
        })
    }

    /// The default reminder of an entry. One without a length is a reminder and always fires at its
    /// time.
    fn default_reminder(&self, span: &Span, new: &EntryChange, now: UtcMs) -> Option<ReminderRule> {
        let lead_ms = match self.config.default_reminder_ms {
            _ if span.minutes == 0 => 0,
            // An entry that begins sooner than that reminds at its start.
            Some(lead) if new.repeat.is_none() && span.starts_at.saturating_sub(lead) < now => 0,
            Some(lead) => lead,
            None => return None,
        };
        Some(ReminderRule { lead_ms, from: None })
    }

    async fn already_made(
        &self,
        write: WriteKey<'_>,
        refusal: CommandRefusal,
    ) -> Result<AgendaResult, StoreError> {
        match self.store.agenda().write_done(write).await? {
            Some(id) => self.shown(id, ItemAction::Added, Vec::new()).await,
            None => Ok(Err(refusal)),
        }
    }

    pub(super) async fn update_entry(
        &self,
        id: i64,
        change: &EntryChange,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let change = &match self.runs().placed(change).await {
            Ok(change) => change,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let changed = |said: &mut ScheduleText| {
            update(id, said, change)?;
            if change.run.is_some() { self.runs().complete(said) } else { Ok(()) }
        };
        let answer = self.change_entry(id, write, change.allow_conflict, changed).await?;
        Ok(answer.map(|reply| match reply {
            CommandOutcome::Entry(did, entry, firings, _) => {
                let notices = notices(&entry, change, write.now);
                CommandOutcome::Entry(did, entry, firings, notices)
            }
            other => other,
        }))
    }

    async fn switch_repeat(
        &self,
        id: i64,
        switch: RepeatSwitch,
        write: WriteKey<'_>,
    ) -> Result<AgendaResult, StoreError> {
        let turn = |said: &mut ScheduleText| {
            let rule = said.repeat.as_mut().ok_or(CommandRefusal::DoesNotRepeat(id))?;
            rule.on = i64::from(switch == RepeatSwitch::On);
            Ok(())
        };
        self.change_entry(id, write, false, turn).await
    }

    /// Changes an entry, and retries after concurrent changes.
    async fn change_entry(
        &self,
        id: i64,
        write: WriteKey<'_>,
        allow_conflict: bool,
        change: impl Fn(&mut ScheduleText) -> Result<(), CommandRefusal>,
    ) -> Result<AgendaResult, StoreError> {
        for _ in 0..WRITE_TRIES_MAX {
            let Some(before) = self.store.agenda().schedule(id).await? else { break };
            // The write checks the version that was read here.
            if self.is_outdated(before.version) {
                return Ok(Err(CommandRefusal::Outdated(id)));
            }
            let mut entry = before.clone();
            if let Err(refusal) = change(&mut entry.said) {
                return Ok(Err(refusal));
            }
            let (was, is) = (&before.said, &entry.said);
            // A reminder that has fired does not fire again because the title changed.
            if (&was.span, &was.repeat, &was.remind) != (&is.span, &is.repeat, &is.remind) {
                entry.remind_next = reminders::changed_reminder(&before, &entry, write.now);
            }
            if is.run.as_ref().is_some_and(|plan| plan.paused.is_some()) {
                entry.remind_next = None;
            }
            let is_free = allow_conflict || !takes_more_time(was, is);
            let guard = match self.free(&entry, is_free, write).await? {
                Ok(guard) => guard,
                Err(refusal) => return Ok(Err(refusal)),
            };
            match self.store.agenda().change_schedule(&entry, guard, write).await? {
                Applied::Now(id) | Applied::Already(id) => {
                    return self.shown(id, ItemAction::Changed, Vec::new()).await;
                }
                Applied::NotFound | Applied::Conflict => {}
            }
        }
        let is_there = self.store.agenda().schedule(id).await?.is_some();
        Ok(Err(if is_there { CommandRefusal::Contested } else { CommandRefusal::NoSuchEntry(id) }))
    }

    /// The revision on which the entry may be written, if it has no conflict. The revision is read
    /// before the entries, so that later writes are noticed.
    async fn free(
        &self,
        entry: &ScheduleRow,
        in_any_case: bool,
        write: WriteKey<'_>,
    ) -> Result<Result<ScheduleGuard, CommandRefusal>, StoreError> {
        if in_any_case || entry.said.span.minutes == 0 {
            return Ok(Ok(ScheduleGuard::None));
        }
        if conflicts::overlaps_itself(entry) {
            return Ok(Err(CommandRefusal::OverlapsItself));
        }
        let revision = self.store.agenda().schedule_revision().await?;
        let others = self.store.agenda().schedules().await?;
        let found = conflicts::conflicts(entry, &others);
        if found.is_empty() {
            return Ok(Ok(ScheduleGuard::Revision(revision)));
        }
        let with = found.iter().map(|held| (held.entry.clone(), held.from)).collect();
        let next_free = conflicts::next_free(entry, &others, kept::moment(write.now));
        let minutes = entry.said.span.minutes;
        Ok(Err(CommandRefusal::Conflict(EntryConflict { with, minutes, next_free })))
    }
}

/// When an entry begins, as local time.
fn begins(span: &Span) -> Zoned {
    let zone = TimeZone::get(&span.zone).unwrap_or(TimeZone::UTC);
    kept::moment(span.starts_at).to_zoned(zone)
}

fn span(start: &EntryStart, minutes: i64) -> Span {
    Span {
        starts: kept::wall_text(start.wall),
        zone: start.zone.clone(),
        starts_at: start.at,
        minutes,
    }
}

/// Whether a change can cause a conflict. An entry that was imported with a conflict may keep its
/// time, and fewer occurrences cause none.
fn takes_more_time(was: &ScheduleText, is: &ScheduleText) -> bool {
    let rests = is.repeat.as_ref().is_some_and(|rule| rule.on == 0);
    was.span != is.span || (was.repeat != is.repeat && !rests)
}

/// Applies the given values; the rest stays. A reminder keeps its lead time.
fn update(id: i64, said: &mut ScheduleText, change: &EntryChange) -> Result<(), CommandRefusal> {
    if let Some(title) = &change.title {
        said.title.clone_from(title);
    }
    if let Some(start) = &change.start {
        if let Some(rule) = &mut said.repeat {
            rule.rrule = moved_rule(&rule.rrule, &said.span.starts, start.wall);
        }
        said.span = span(start, said.span.minutes);
    }
    said.span.minutes = change.minutes.unwrap_or(said.span.minutes);
    if let Some(repeat) = &change.repeat {
        let times = said.repeat.as_ref().and_then(|rule| rule.times);
        said.repeat =
            repeat.as_ref().map(|repeat| RepeatRule { rrule: repeat.to_rrule(), times, on: 1 });
    }
    if let Some(times) = change.times {
        said.repeat.as_mut().ok_or(CommandRefusal::DoesNotRepeat(id))?.times = times;
    }
    update_reminder(id, said, change)?;
    if let Some(run) = &change.run {
        runs::update_run(id, said, run)?;
    }
    if let Some(catch_up) = &change.catch_up {
        said.catch_up.clone_from(catch_up);
    }
    Ok(())
}

fn update_reminder(
    id: i64,
    said: &mut ScheduleText,
    change: &EntryChange,
) -> Result<(), CommandRefusal> {
    if let Some(remind) = change.remind {
        let from = said.remind.as_ref().and_then(|before| before.from);
        said.remind = remind.map(|remind| {
            let lead_ms = match remind {
                RemindWhen::At(at) => said.span.starts_at.saturating_sub(at),
                RemindWhen::Before(lead_ms) => lead_ms,
            };
            ReminderRule { lead_ms, from }
        });
    } else if change.minutes == Some(0) && said.remind.is_none() {
        // An entry without a length always reminds.
        said.remind = Some(ReminderRule { lead_ms: 0, from: None });
    }
    if let Some(from) = change.remind_from {
        said.remind.as_mut().ok_or(CommandRefusal::DoesNotRemind(id))?.from = from;
    }
    Ok(())
}

/// The rule of an entry that is moved to another day. A rule with only the old day gets the new
/// one.
fn moved_rule(rrule: &str, was: &str, is: DateTime) -> String {
    const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    let Ok(was) = was.parse::<DateTime>() else { return rrule.to_owned() };
    let weekday =
        |day: DateTime| DAYS[usize::from(day.weekday().to_monday_zero_offset().unsigned_abs())];
    let moved = |part: &str| match part.split_once('=') {
        Some(("BYDAY", day)) if day == weekday(was) => format!("BYDAY={}", weekday(is)),
        Some(("BYMONTHDAY", day)) if day == was.day().to_string() => {
            format!("BYMONTHDAY={}", is.day())
        }
        _ => part.to_owned(),
    };
    rrule.split(';').map(moved).collect::<Vec<_>>().join(";")
}

/// Notices about given times in the past. A repetition is past only with its last occurrence.
fn notices(entry: &ScheduleRow, change: &EntryChange, now: UtcMs) -> Vec<AgendaNotice> {
    let earliest = kept::moment(now.saturating_sub(reminders::IN_TIME_MS));
    let is_over = kept::series(entry).from(earliest).next().is_none();
    let starts_at = entry.said.span.starts_at;
    if is_over {
        return change.start.iter().map(|_| AgendaNotice::StartPast(starts_at)).collect();
    }
    let repeats = entry.said.repeat.is_some();
    let asked = change.remind.flatten().and(entry.said.remind.as_ref()).filter(|_| !repeats);
    let rang = asked.map(|remind| starts_at.saturating_sub(remind.lead_ms));
    rang.filter(|at| is_past(*at, now)).map(AgendaNotice::ReminderPast).into_iter().collect()
}

fn stretch_around(stretch: CalendarView, date: Date, now: &Zoned) -> ScheduleRange {
    let (from, to) = match stretch {
        CalendarView::Day => (date, date.saturating_add(1.day())),
        CalendarView::Week => {
            let from = week_start(date, now.date());
            (from, from.saturating_add(7.days()))
        }
        CalendarView::Month => {
            (date.first_of_month(), date.last_of_month().saturating_add(1.day()))
        }
    };
    let midnight = |date: Date| {
        let zoned = date.to_zoned(now.time_zone().clone());
        zoned.map_or(now.timestamp(), |zoned| zoned.timestamp())
    };
    ScheduleRange { from: midnight(from), to: midnight(to), calendar: Some((stretch, date)) }
}

/// The first day of a week: today for this one, Monday for any other.
pub(crate) fn week_start(date: Date, today: Date) -> Date {
    let monday = date.saturating_sub(i64::from(date.weekday().to_monday_zero_offset()).days());
    if date == today { today } else { monday }
}
