//! The occurrences of an entry that repeats.
//!
//! Minutes count elapsed time. Everything else keeps the local time: one that a clock change skips
//! moves forward by the gap (02:30 becomes 03:30), one that occurs twice is the first. Cron
//! expressions have rules of their own (`cron.rs`).

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::cron::Cron;
use super::repeat::{MonthDay, Repeat, Weekdays};

/// A series of occurrences.
///
/// A start that does not itself fit the repeat's weekdays or day of the month is moved to the first
/// fitting day at or after it; intervals count from there.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The local time of the first occurrence.
    pub start: DateTime,
    /// The zone of that local time.
    pub zone: TimeZone,
    /// How it repeats, if it does.
    pub repeat: Option<Repeat>,
    /// How many occurrences there are; `None` means no end.
    pub count: Option<u32>,
}

/// One occurrence of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// Its number from 0; months and years that are skipped do not count.
    pub index: u64,
    /// The local time of that moment.
    pub wall: DateTime,
    /// The moment.
    pub at: Timestamp,
}

impl Series {
    /// The occurrences at or after `from`, in order.
    ///
    /// `from` is reached by arithmetic, not by iteration. The calendar's last year ends every
    /// series.
    pub fn from(&self, from: Timestamp) -> impl Iterator<Item = Occurrence> + use<> {
        let limit = match (&self.repeat, self.count) {
            (None, count) => u64::from(count.unwrap_or(1).min(1)),
            (Some(_), Some(count)) => u64::from(count),
            (Some(_), None) => u64::MAX,
        };
        let cron = match &self.repeat {
            Some(Repeat::Cron(cron)) => Some(CronWalk::new(self, cron, from)),
            _ => None,
        };
        let mut walk = if cron.is_some() { None } else { SeriesCursor::new(self) };
        if let Some(walk) = &mut walk {
            walk.jump(from);
        }
        let by_rule = std::iter::from_fn(move || walk.as_mut()?.next());
        let all = cron.into_iter().flatten().chain(by_rule);
        all.take_while(move |each| each.index < limit).skip_while(move |each| each.at < from)
    }
}

/// A position among the moments of a cron expression.
struct CronWalk {
    moments: Box<dyn Iterator<Item = Timestamp> + Send>,
    zone: TimeZone,
    index: u64,
}

impl CronWalk {
    /// Occurrences are numbered only where their number matters: from the start.
    fn new(series: &Series, cron: &Cron, from: Timestamp) -> Self {
        let zone = series.zone.clone();
        let start = moment(series.start, &zone).unwrap_or(Timestamp::UNIX_EPOCH);
        let from = if series.count.is_some() { start } else { from.max(start) };
        let moments = Box::new(cron.moments(from, &zone));
        Self { moments, zone, index: 0 }
    }
}

impl Iterator for CronWalk {
    type Item = Occurrence;

    fn next(&mut self) -> Option<Occurrence> {
        let at = self.moments.next()?;
        self.index += 1;
        Some(Occurrence { index: self.index - 1, wall: self.zone.to_datetime(at), at })
    }
}

/// The result of one step of a rule.
enum SeriesStep {
    At(DateTime, Timestamp),
    Skipped,
    End,
}

/// A position in a series: the rule's next step, and the number of occurrences before it.
struct SeriesCursor {
    rule: AnchoredRepeat,
    step: i64,
    index: u64,
}

/// A repeat, anchored at its first occurrence.
enum AnchoredRepeat {
    Elapsed { first: Timestamp, minutes: i64, zone: TimeZone },
    Wall { first: DateTime, days: DayRule, zone: TimeZone },
}

/// Which days a wall-clock rule falls on.
enum DayRule {
    Daily { every: i64 },
    Weekly { every: i64, days: Weekdays },
    Monthly { every: i64, day: MonthDay },
}

impl SeriesCursor {
    fn new(series: &Series) -> Option<Self> {
        let (start, zone) = (series.start, series.zone.clone());
        let repeat = series.repeat.clone().unwrap_or(Repeat::Daily { every: 1 });
        let every = i64::from(repeat.interval());
        let days = match repeat {
            Repeat::Minutes { .. } => {
                let first = zone.to_ambiguous_zoned(start).compatible().ok()?.timestamp();
                let rule = AnchoredRepeat::Elapsed { first, minutes: every, zone };
                return Some(Self { rule, step: 0, index: 0 });
            }
            // The moments of an expression are not steps of days; `CronWalk` has them.
            Repeat::Daily { .. } | Repeat::Cron(_) => DayRule::Daily { every },
            Repeat::Weekly { days, .. } if days.is_empty() => {
                DayRule::Weekly { every, days: start.weekday().into() }
            }
            Repeat::Weekly { days, .. } => DayRule::Weekly { every, days },
            Repeat::Monthly { day, .. } => DayRule::Monthly { every, day },
            // The same month and day after twelve months is the same month and day every year.
            Repeat::Yearly { .. } => {
                DayRule::Monthly { every: every * 12, day: MonthDay::Day(start.day()) }
            }
        };
        let first = days.first(start.date())?.to_datetime(start.time());
        Some(Self { rule: AnchoredRepeat::Wall { first, days, zone }, step: 0, index: 0 })
    }

    /// Advances to shortly before `from`.
    fn jump(&mut self, from: Timestamp) {
        match &self.rule {
            AnchoredRepeat::Elapsed { first, minutes, .. } => {
                let behind =
                    from.duration_since(*first).as_secs() / minutes.saturating_mul(60).max(1);
                self.skip_to((behind - 1).max(0));
            }
            AnchoredRepeat::Wall { first, days, zone } => {
                // Two days cover every offset between zones and every shift of a clock.
                let Ok(date) = zone.to_datetime(from).date().checked_sub(2.days()) else { return };
                match days.steps_per_days() {
                    Some((steps, period)) => {
                        let behind = days_between(first.date(), date);
                        self.skip_to((behind / period * steps - steps).max(0));
                    }
                    None => self.count_months_before(date),
                }
            }
        }
    }

    /// Only for rules that never skip a step: there steps and occurrences are the same.
    fn skip_to(&mut self, step: i64) {
        self.step = step;
        self.index = step.unsigned_abs();
    }

    /// Months may be skipped, so they are counted one by one; the whole calendar has few of them.
    fn count_months_before(&mut self, date: Date) {
        let AnchoredRepeat::Wall { first, days, .. } = &self.rule else { return };
        loop {
            match days.date(first.date(), self.step) {
                Some(Some(day)) if day < date => self.index += 1,
                Some(None) => {}
                _ => return,
            }
            self.step += 1;
        }
    }

    fn next(&mut self) -> Option<Occurrence> {
        loop {
            let step = self.rule.step(self.step);
            self.step += 1;
            match step {
                SeriesStep::At(wall, at) => {
                    self.index += 1;
                    return Some(Occurrence { index: self.index - 1, wall, at });
                }
                SeriesStep::Skipped => {}
                SeriesStep::End => return None,
            }
        }
    }
}

impl AnchoredRepeat {
    fn step(&self, step: i64) -> SeriesStep {
        let (zone, at) = match self {
            Self::Elapsed { first, minutes, zone } => (zone, elapsed(*first, *minutes, step)),
            Self::Wall { first, days, zone } => match days.date(first.date(), step) {
                Some(Some(date)) => (zone, moment(date.to_datetime(first.time()), zone)),
                Some(None) => return SeriesStep::Skipped,
                None => return SeriesStep::End,
            },
        };
        at.map_or(SeriesStep::End, |at| SeriesStep::At(zone.to_datetime(at), at))
    }
}

fn elapsed(first: Timestamp, minutes: i64, step: i64) -> Option<Timestamp> {
    let secs = minutes.checked_mul(60)?.checked_mul(step)?;
    first.checked_add(SignedDuration::from_secs(secs)).ok()
}

fn moment(wall: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_ambiguous_timestamp(wall).compatible().ok()
}

impl DayRule {
    /// The first fitting day at or after the start.
    fn first(&self, start: Date) -> Option<Date> {
        match self {
            Self::Daily { .. } => Some(start),
            Self::Weekly { days, .. } => {
                (0..7).filter_map(|n| after(start, n)).find(|date| days.contains(date.weekday()))
            }
            Self::Monthly { day, .. } => (0..12)
                .filter_map(|n| month_after(start, n))
                .flat_map(|month| day.dates(month))
                .find(|date| *date >= start),
        }
    }

    /// Steps per days, for rules where that is constant.
    fn steps_per_days(&self) -> Option<(i64, i64)> {
        match self {
            Self::Daily { every } => Some((1, *every)),
            Self::Weekly { every, days } => {
                Some((i64::try_from(days.iter().count()).unwrap_or(1), every * 7))
            }
            Self::Monthly { .. } => None,
        }
    }

    /// The day of a step: `None` beyond the calendar, `Some(None)` for a skipped month.
    fn date(&self, first: Date, step: i64) -> Option<Option<Date>> {
        match self {
            Self::Daily { every } => after(first, every.checked_mul(step)?).map(Some),
            Self::Weekly { every, days } => {
                let offset = |day: jiff::civil::Weekday| i64::from(day.to_monday_zero_offset());
                let offsets: Vec<i64> = days.iter().map(offset).collect();
                let today = offset(first.weekday());
                let before = offsets.iter().filter(|day| **day < today).count();
                let per_week = i64::try_from(offsets.len()).ok()?;
                let place = step + i64::try_from(before).ok()?;
                let day = offsets.get(usize::try_from(place % per_week).ok()?)?;
                let weeks = (place / per_week).checked_mul(every * 7)?;
                after(first, weeks + day - today).map(Some)
            }
            Self::Monthly { every, day } => monthly(first, *every, *day, step),
        }
    }
}

fn after(date: Date, days: i64) -> Option<Date> {
    // The calendar has no more days, and a span of days cannot be longer.
    (days.abs() < 7_300_000).then_some(())?;
    date.checked_add(days.days()).ok()
}

/// The first day of the month that is this many months later.
fn month_after(start: Date, months: i64) -> Option<Date> {
    let months = i64::from(start.year()) * 12 + i64::from(start.month()) - 1 + months;
    let year = i16::try_from(months.div_euclid(12)).ok()?;
    let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
    Date::new(year, month, 1).ok()
}

/// Days per month of a rule; a month may have fewer of them.
fn per_month(day: MonthDay) -> i64 {
    match day {
        MonthDay::Days(days) => i64::try_from(days.iter().count()).unwrap_or(1).max(1),
        MonthDay::Day(_) | MonthDay::Last | MonthDay::Nth(..) => 1,
    }
}

/// The day of a step: steps go through the days of a month, then to the next month.
fn monthly(first: Date, every: i64, day: MonthDay, step: i64) -> Option<Option<Date>> {
    let per_month = per_month(day);
    let before = match day {
        MonthDay::Days(days) => days.iter().filter(|of| *of < first.day()).count(),
        MonthDay::Day(_) | MonthDay::Last | MonthDay::Nth(..) => 0,
    };
    let place = step.checked_add(i64::try_from(before).ok()?)?;
    let month = month_after(first, every.checked_mul(place / per_month)?)?;
    let place = usize::try_from(place % per_month).ok()?;
    Some(match day {
        MonthDay::Days(days) => {
            let of = days.iter().nth(place)?;
            Date::new(month.year(), month.month(), of).ok()
        }
        day => day.dates(month).into_iter().next(),
    })
}

fn days_between(from: Date, to: Date) -> i64 {
    from.duration_until(to).as_secs() / (24 * 60 * 60)
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
