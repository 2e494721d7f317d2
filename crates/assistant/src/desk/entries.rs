//! What is done about entries of the schedule.

use super::{Answer, Desk, Did, Range, Refusal, Reply, uid};
use crate::commands::{NewEntry, ScheduleCommand, Stretch, Switch};
use crate::kept::{self, conflicts, reminders};
use everloop_store::{
    Deed, FiringKind, Made, Reminding, Repeating, ScheduleRow, ScheduleText, Span, StoreError,
};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan, Zoned};

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
                Made::NoSuch => Err(Refusal::NoSuchEntry(*id)),
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
        let said = ScheduleText {
            title: new.title.clone(),
            span: span(new, now, self.customs.minutes),
            repeat: new.repeat.as_ref().map(|repeat| Repeating {
                rrule: repeat.to_rrule(),
                times: new.times.flatten(),
                on: 1,
            }),
            remind: new.remind.flatten().map(|remind| reminding(new, remind)),
            catch_up: new.catch_up.clone(),
        };
        let mut entry = ScheduleRow {
            id: 0,
            uid: uid("schedule", deed),
            said,
            remind_next: None,
            created_at: deed.now,
            updated_at: deed.now,
        };
        entry.remind_next = reminders::first_reminder(&entry, deed.now);
        if let Some(refusal) = self.in_the_way(&entry).await? {
            // Tried again after a crash, it would be in its own way.
            return self.already_made(deed, refusal).await;
        }
        match self.store.add_schedule(&entry, deed).await? {
            Made::Now(id) | Made::Before(id) => self.shown(id, Did::Added).await,
            Made::NoSuch => Ok(Err(Refusal::NoSuchEntry(0))),
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
        let Some(before) = self.store.schedule(id).await? else {
            return Ok(Err(Refusal::NoSuchEntry(id)));
        };
        let mut entry = before.clone();
        let said = &mut entry.said;
        said.title.clone_from(&new.title);
        said.span = span(new, now, said.span.minutes);
        if let Some(repeat) = &new.repeat {
            let times = said.repeat.as_ref().and_then(|rule| rule.times);
            said.repeat = Some(Repeating { rrule: repeat.to_rrule(), times, on: 1 });
        }
        if let (Some(times), Some(rule)) = (new.times, said.repeat.as_mut()) {
            rule.times = times;
        }
        if let Some(remind) = new.remind {
            said.remind = remind.map(|remind| reminding(new, remind));
        } else if let (Some(from), Some(remind)) = (new.remind_from, said.remind.as_mut()) {
            remind.from = Some(from.as_millisecond());
        }
        said.catch_up = new.catch_up.clone().or_else(|| said.catch_up.clone());
        self.write_entry(before, entry, deed).await
    }

    async fn switch_repeat(
        &self,
        id: i64,
        switch: Switch,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let Some(before) = self.store.schedule(id).await? else {
            return Ok(Err(Refusal::NoSuchEntry(id)));
        };
        let mut entry = before.clone();
        let Some(rule) = entry.said.repeat.as_mut() else {
            return Ok(Err(Refusal::DoesNotRepeat(id)));
        };
        rule.on = i64::from(switch == Switch::On);
        self.write_entry(before, entry, deed).await
    }

    async fn write_entry(
        &self,
        before: ScheduleRow,
        mut entry: ScheduleRow,
        deed: Deed<'_>,
    ) -> Result<Answer, StoreError> {
        let (was, is) = (&before.said, &entry.said);
        // What has fired does not fire again because the title changed.
        if (&was.span, &was.repeat, &was.remind) != (&is.span, &is.repeat, &is.remind) {
            entry.remind_next = reminders::first_reminder(&entry, deed.now);
        }
        if let Some(refusal) = self.in_the_way(&entry).await? {
            return Ok(Err(refusal));
        }
        match self.store.change_schedule(&entry, deed).await? {
            Made::NoSuch => Ok(Err(Refusal::NoSuchEntry(entry.id))),
            Made::Now(id) | Made::Before(id) => self.shown(id, Did::Changed).await,
        }
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

fn span(new: &NewEntry, now: &Zoned, minutes: i64) -> Span {
    let zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
    Span {
        starts: new.starts.strftime("%Y-%m-%dT%H:%M").to_string(),
        zone,
        starts_at: new.starts_at.as_millisecond(),
        minutes: new.minutes.unwrap_or(minutes),
    }
}

fn reminding(new: &NewEntry, remind: Timestamp) -> Reminding {
    Reminding {
        lead_ms: new.starts_at.as_millisecond() - remind.as_millisecond(),
        from: new.remind_from.map(|from| from.as_millisecond()),
    }
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
