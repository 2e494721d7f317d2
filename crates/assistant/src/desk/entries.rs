//! What is done about entries of the schedule.

use super::{Answer, Desk, Did, Range, Refusal, Reply, TRIES_MAX, uid};
use crate::commands::{NewEntry, Remind, ScheduleCommand, Start, Stretch, Switch};
use crate::kept::{self, conflicts, reminders};
use everloop_store::{
    Deed, FiringKind, Made, Reminding, Repeating, ScheduleRow, ScheduleText, Span, StoreError,
};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};

/// Firings that are shown with their entry.
const FIRINGS_SHOWN: usize = 5;

impl Desk {
    pub(super) async fn schedule(
        &self,
        command: &ScheduleCommand,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        Ok(match command {
            ScheduleCommand::Add(new) => return self.add_entry(new, now, deed).await,
            ScheduleCommand::Update(id, new) => {
                return self.update_entry(*id, new, now, deed).await;
            }
            ScheduleCommand::Repeat(id, switch) => {
                return self.switch_repeat(*id, *switch, deed).await;
            }
            ScheduleCommand::Delete(id) => match self.store.delete_schedule(*id, deed).await? {
                Made::NoSuch | Made::Outrun => Err(Refusal::NoSuchEntry(*id)),
                Made::Now(id) | Made::Before(id) => Ok(Reply::EntryDeleted(id)),
            },
            ScheduleCommand::Get(id) => return self.shown(*id, Did::Shown).await,
            ScheduleCommand::List => {
                let at = now.timestamp().as_millisecond();
                let from = kept::moment(at.saturating_sub(self.customs.list_back_ms));
                let to = kept::moment(at.saturating_add(self.customs.list_ahead_ms));
                let range = Range { from, to, calendar: None };
                Ok(Reply::Entries(range, self.store.schedules().await?))
            }
            ScheduleCommand::View(stretch, date) => {
                let range = stretch_around(*stretch, *date, now);
                Ok(Reply::Entries(range, self.store.schedules().await?))
            }
        })
    }

    async fn shown(&self, id: i64, did: Did) -> Result<Answer, StoreError> {
        let Some(entry) = self.store.schedule(id).await? else {
            return Ok(Err(Refusal::NoSuchEntry(id)));
        };
        let firings = self.store.firings_of(FiringKind::Schedule, id, FIRINGS_SHOWN).await?;
        Ok(Ok(Reply::Entry(did, Box::new(entry), firings)))
    }

    async fn add_entry(
        &self,
        new: &NewEntry,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let Some(start) = new.start else { return Ok(Err(Refusal::NotHere)) };
        let span = span(start, now, new.minutes.unwrap_or(self.customs.minutes));
        let remind = new.remind.and_then(|remind| reminding(remind, &span));
        let from = new.remind_from.flatten().map(|from| from.as_millisecond());
        let said = ScheduleText {
            title: new.title.clone().unwrap_or_default(),
            repeat: new.repeat.as_ref().map(|every| Repeating {
                rrule: every.repeat(start.wall.date()).to_rrule(),
                times: new.times.flatten(),
                on: 1,
            }),
            span,
            remind: remind.map(|remind| Reminding { from, ..remind }),
            catch_up: new.catch_up.clone(),
        };
        let mut entry = ScheduleRow {
            id: 0,
            uid: uid("schedule", deed),
            said,
            remind_next: None,
            created_at: deed.now,
            updated_at: deed.now,
            version: 1,
        };
        entry.remind_next = reminders::first_reminder(&entry, deed.now);
        if let Some(refusal) = self.in_the_way(&entry).await? {
            // Tried again after a crash, it would be in its own way.
            return self.already_made(deed, refusal).await;
        }
        match self.store.add_schedule(&entry, deed).await? {
            Made::Now(id) | Made::Before(id) => self.shown(id, Did::Added).await,
            Made::NoSuch | Made::Outrun => Ok(Err(Refusal::NoSuchEntry(0))),
        }
    }

    async fn already_made(&self, deed: Deed<'_>, refusal: Refusal) -> Result<Answer, StoreError> {
        match self.store.deed_done(deed).await? {
            Some(id) => self.shown(id, Did::Added).await,
            None => Ok(Err(refusal)),
        }
    }

    async fn update_entry(
        &self,
        id: i64,
        new: &NewEntry,
        now: &Zoned,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        self.change_entry(id, deed, |said| update(id, said, new, now)).await
    }

    async fn switch_repeat(
        &self,
        id: i64,
        switch: Switch,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let turn = |said: &mut ScheduleText| {
            let rule = said.repeat.as_mut().ok_or(Refusal::DoesNotRepeat(id))?;
            rule.on = i64::from(switch == Switch::On);
            Ok(())
        };
        self.change_entry(id, deed, turn).await
    }

    /// Changes an entry as it is, or as it has become meanwhile.
    async fn change_entry(
        &self,
        id: i64,
        deed: Deed<'_>,
        change: impl Fn(&mut ScheduleText) -> Result<(), Refusal>,
    ) -> Result<Answer, StoreError> {
        for _ in 0..TRIES_MAX {
            let Some(before) = self.store.schedule(id).await? else { break };
            let mut entry = before.clone();
            if let Err(refusal) = change(&mut entry.said) {
                return Ok(Err(refusal));
            }
            let (was, is) = (&before.said, &entry.said);
            // What has fired does not fire again because the title changed.
            if (&was.span, &was.repeat, &was.remind) != (&is.span, &is.repeat, &is.remind) {
                entry.remind_next = reminders::coming_reminder(&entry, deed.now);
            }
            if takes_more_time(was, is)
                && let Some(refusal) = self.in_the_way(&entry).await?
            {
                return Ok(Err(refusal));
            }
            match self.store.change_schedule(&entry, deed).await? {
                Made::Now(id) | Made::Before(id) => return self.shown(id, Did::Changed).await,
                Made::NoSuch | Made::Outrun => {}
            }
        }
        let is_there = self.store.schedule(id).await?.is_some();
        Ok(Err(if is_there { Refusal::Contested } else { Refusal::NoSuchEntry(id) }))
    }

    async fn in_the_way(&self, entry: &ScheduleRow) -> Result<Option<Refusal>, StoreError> {
        if conflicts::overlaps_itself(entry) {
            return Ok(Some(Refusal::OverlapsItself));
        }
        let others = self.store.schedules().await?;
        let found = conflicts::conflicts(entry, &others);
        let found: Vec<_> = found.iter().map(|held| (held.entry.clone(), held.from)).collect();
        Ok((!found.is_empty()).then_some(Refusal::Conflict(found)))
    }
}

fn span(start: Start, now: &Zoned, minutes: i64) -> Span {
    let zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
    Span {
        starts: start.wall.strftime("%Y-%m-%dT%H:%M").to_string(),
        zone,
        starts_at: start.at.as_millisecond(),
        minutes,
    }
}

/// Whether a change can put an entry into the way of others. One that was taken in beside others
/// may keep its time, and fewer occurrences are in nobody's way.
fn takes_more_time(was: &ScheduleText, is: &ScheduleText) -> bool {
    let rests = is.repeat.as_ref().is_some_and(|rule| rule.on == 0);
    was.span != is.span || (was.repeat != is.repeat && !rests)
}

/// What is said anew; the rest stays.
fn update(id: i64, said: &mut ScheduleText, new: &NewEntry, now: &Zoned) -> Result<(), Refusal> {
    if let Some(title) = &new.title {
        said.title.clone_from(title);
    }
    if let Some(start) = new.start {
        said.span = span(start, now, said.span.minutes);
    }
    if let Some(minutes) = new.minutes {
        said.span.minutes = minutes;
    }
    if let Some(every) = &new.repeat {
        let times = said.repeat.as_ref().and_then(|rule| rule.times);
        let first = kept::moment(said.span.starts_at).to_zoned(zone_of(&said.span)).date();
        said.repeat = Some(Repeating { rrule: every.repeat(first).to_rrule(), times, on: 1 });
    }
    if let Some(times) = new.times {
        said.repeat.as_mut().ok_or(Refusal::DoesNotRepeat(id))?.times = times;
    }
    if let Some(remind) = new.remind {
        let from = said.remind.as_ref().and_then(|before| before.from);
        said.remind = reminding(remind, &said.span).map(|remind| Reminding { from, ..remind });
    }
    if let Some(from) = new.remind_from {
        let remind = said.remind.as_mut().ok_or(Refusal::DoesNotRemind(id))?;
        remind.from = from.map(|from| from.as_millisecond());
    }
    said.catch_up = new.catch_up.clone().or_else(|| said.catch_up.clone());
    Ok(())
}

fn zone_of(span: &Span) -> TimeZone {
    TimeZone::get(&span.zone).unwrap_or(TimeZone::UTC)
}

fn reminding(remind: Remind, span: &Span) -> Option<Reminding> {
    let start = kept::moment(span.starts_at).to_zoned(zone_of(span));
    let at = remind.for_start(Some(&start))?;
    Some(Reminding { lead_ms: span.starts_at - at.as_millisecond(), from: None })
}

fn stretch_around(stretch: Stretch, date: Date, now: &Zoned) -> Range {
    let (from, to) = match stretch {
        Stretch::Day => (date, date.saturating_add(1.day())),
        Stretch::Week => {
            let monday = i64::from(date.weekday().to_monday_zero_offset());
            let from = date.saturating_sub(monday.days());
            (from, from.saturating_add(7.days()))
        }
        Stretch::Month => (date.first_of_month(), date.last_of_month().saturating_add(1.day())),
    };
    let midnight = |date: Date| {
        let zoned = date.to_zoned(now.time_zone().clone());
        zoned.map_or(now.timestamp(), |zoned| zoned.timestamp())
    };
    Range { from: midnight(from), to: midnight(to), calendar: Some((stretch, date)) }
}
