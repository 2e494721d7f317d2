//! What the pieces of a date phrase mean together.

use jiff::civil::{Date, DateTime, Time as Wall};
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};

use super::clock::{DayMinute, DayPart, SpokenTime};
use super::dates::{ParsedDate, Precision};
use super::days::{DayChoice, DayKind, SpokenDay, ahead};
use super::every::{SpokenRepeat, SpokenRule};
use super::offsets::Amount;
use super::repeat::Repeat;
use super::series::Series;

/// The pieces of a phrase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PhraseParts {
    pub(super) day: Option<SpokenDay>,
    pub(super) spoken: Option<SpokenTime>,
    pub(super) every: Option<SpokenRepeat>,
    /// An amount of time from now.
    pub(super) elapsed: Option<Amount>,
    /// The first day of a repetition.
    pub(super) start: Option<SpokenDay>,
    pub(super) limit: Option<RepeatLimit>,
    pub(super) is_deadline: bool,
    /// Whether the deadline is before the day begins.
    pub(super) is_exclusive: bool,
}

/// Where a repetition ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RepeatLimit {
    Until(Date),
    Times(u32),
    For(Amount),
}

/// The maximum number of occurrences up to an end.
const COUNTED_MAX: usize = 100_000;

impl PhraseParts {
    /// The number of pieces: of two readings, the one with fewer pieces wins.
    pub(super) fn count(&self) -> usize {
        [
            self.day.is_some(),
            self.spoken.is_some(),
            self.every.is_some(),
            self.elapsed.is_some(),
            self.start.is_some(),
            self.limit.is_some(),
            self.is_deadline,
        ]
        .into_iter()
        .filter(|is_there| *is_there)
        .count()
    }

    pub(super) fn is_only_deadline(&self) -> bool {
        let is_exclusive = self.is_exclusive;
        *self == Self { is_deadline: true, is_exclusive, ..Self::default() }
    }

    pub(super) fn with_day(&self, day: SpokenDay) -> Self {
        Self { day: Some(day), ..self.clone() }
    }

    pub(super) fn with_spoken(&self, spoken: SpokenTime) -> Self {
        Self { spoken: Some(spoken), ..self.clone() }
    }

    pub(super) fn with_every(&self, every: SpokenRepeat) -> Self {
        Self { every: Some(every), ..self.clone() }
    }

    pub(super) fn with_elapsed(&self, elapsed: Amount) -> Self {
        Self { elapsed: Some(elapsed), ..self.clone() }
    }

    /// The same with a half of the day, if its clock is ambiguous.
    pub(super) fn leaning(&self, part: DayPart) -> Option<Self> {
        let spoken = self.spoken.filter(|spoken| spoken.is_open(part))?;
        let parts = [self.day.and_then(|day| day.part), self.every.as_ref().and_then(|e| e.part)];
        let is_open = parts.iter().all(Option::is_none);
        is_open.then(|| self.with_spoken(SpokenTime { part: Some(part), ..spoken }))
    }

    /// Whether it says on which day.
    pub(super) fn has_day(&self) -> bool {
        self.day.is_some() || self.every.is_some() || self.start.is_some()
    }

    /// Whether it has a clock time or an amount of time from now.
    pub(super) fn has_clock(&self) -> bool {
        self.elapsed.is_some() || self.spoken.is_some_and(|spoken| spoken.clock.is_some())
    }
}

pub(super) fn of(pieces: &PhraseParts, now: &Zoned) -> Option<ParsedDate> {
    let when = match pieces {
        PhraseParts { every: Some(every), elapsed: None, .. } => repeating(every, pieces, now)?,
        PhraseParts { start: Some(_), .. } | PhraseParts { limit: Some(_), .. } => return None,
        PhraseParts { elapsed: Some(amount), day: None, spoken: None, .. } => {
            elapsed(*amount, now)?
        }
        PhraseParts { elapsed: Some(_), .. } => return None,
        PhraseParts { day: Some(day), spoken, .. } => on_day(*day, *spoken, now)?,
        PhraseParts { spoken: Some(spoken), .. } => alone(*spoken, now)?,
        _ => return None,
    };
    let is_within = pieces.day.is_some_and(|day| day.sort == DayKind::Within);
    let is_day = when.precision == Precision::Day && when.repeat.is_none();
    let at = match pieces.is_exclusive && is_day {
        true => when.at.checked_sub(1.day()).ok()?,
        false => when.at,
    };
    Some(ParsedDate { at, is_deadline: pieces.is_deadline || is_within, ..when })
}

fn elapsed(amount: Amount, now: &Zoned) -> Option<ParsedDate> {
    let day = amount.day(now.date())?;
    let then = match day == now.date() {
        true => now.timestamp(),
        false => day.to_datetime(now.time()).to_zoned(now.time_zone().clone()).ok()?.timestamp(),
    };
    let instant = then.checked_add(SignedDuration::from_secs(amount.secs)).ok()?;
    Some(at_instant(instant, now))
}

fn at_instant(instant: Timestamp, now: &Zoned) -> ParsedDate {
    ParsedDate { instant: Some(instant), ..plain(now.time_zone().to_datetime(instant)) }
}

fn on_day(day: SpokenDay, spoken: Option<SpokenTime>, now: &Zoned) -> Option<ParsedDate> {
    let spoken = spoken.or_else(|| day.part.map(|_| SpokenTime::OF_DAY));
    let time = match spoken {
        Some(spoken) => Some(spoken.time(day.part)?),
        None => None,
    };
    let today = now.date();
    let date = match day.which {
        DayChoice::On(date) => date,
        DayChoice::Next(weekday) => {
            let date = ahead(today, weekday)?;
            let is_ahead = time.is_some_and(|time| is_ahead(date, time, now));
            if date == today && !is_ahead { date.checked_add(7.days()).ok()? } else { date }
        }
    };
    let is_full = day.sort == DayKind::Full;
    let Some((time, spoken)) = time.zip(spoken) else {
        let at = date.to_datetime(Wall::midnight());
        return Some(ParsedDate { precision: Precision::Day, is_full, ..plain(at) });
    };
    let minute = minute_of(date, time, now);
    let minutes = spoken.minutes(minute, day.part)?;
    let at = at_minute(date, minute)?;
    if at <= now.datetime() && date == today && spoken.clock.is_none() {
        let end = spoken.part.or(day.part).and_then(DayPart::end);
        let end = end.and_then(|end| at_minute(date, end)).filter(|end| *end > now.datetime());
        return Some(ParsedDate {
            precision: end.map_or(Precision::Minute, |_| Precision::Part),
            is_full,
            ..plain(end.unwrap_or(at))
        });
    }
    Some(ParsedDate { minutes, is_full, ..plain(at) })
}

fn alone(spoken: SpokenTime, now: &Zoned) -> Option<ParsedDate> {
    let today = now.date();
    let time = spoken.time(None)?;
    let (first, step) = match time {
        DayMinute::Sure(minute) => (minute, 24 * 60),
        DayMinute::Dial(minute) if spoken.until.is_some() => {
            (DayMinute::Dial(minute).usual(), 24 * 60)
        }
        DayMinute::Dial(minute) => (minute, 12 * 60),
    };
    let mut rounds = (0..4).map(|round| first + round * step);
    // By day and in the evening a bare number never means the small hours.
    let is_day = now.hour() >= 6 && matches!(time, DayMinute::Dial(_));
    let is_small = |minute: i64| is_day && minute.rem_euclid(24 * 60) < 7 * 60;
    let is_next = |minute: &i64| at_minute(today, *minute).is_some_and(|at| at > now.datetime());
    let minute = rounds.find(|minute| is_next(minute) && !is_small(*minute))?;
    let minutes = spoken.minutes(minute, None)?;
    let is_open = matches!(time, DayMinute::Dial(_)) && spoken.until.is_none();
    let clock = Some(time.usual());
    Some(ParsedDate { minutes, clock, is_open, ..plain(at_minute(today, minute)?) })
}

fn repeating(every: &SpokenRepeat, pieces: &PhraseParts, now: &Zoned) -> Option<ParsedDate> {
    if let SpokenRule::Whole(repeat @ Repeat::Minutes { every }) = &every.rule {
        let is_plain = pieces.spoken.is_none() && pieces.day.is_none() && pieces.start.is_none();
        let begin = elapsed(Amount { secs: i64::from(*every) * 60, ..Amount::default() }, now)?;
        let when = ParsedDate { repeat: Some(repeat.clone()), ..begin };
        return if is_plain { limited(when, pieces.limit, now) } else { None };
    }
    let today = now.date();
    // A weekday with a time that is still ahead may be today.
    let weekday = match pieces.day.map(|day| day.which) {
        Some(DayChoice::Next(weekday)) if pieces.spoken.is_some() => ahead(today, weekday),
        _ => None,
    };
    let weekday = weekday.filter(|_| pieces.start.is_none());
    let anchor = match pieces.start.or(pieces.day) {
        Some(day) if day.part.is_none() && weekday.is_some() => weekday,
        // A holiday is not on the same date every year.
        Some(day) if day.part.is_none() && day.sort != DayKind::Holiday => Some(day.date(today)?),
        Some(_) => return None,
        None => None,
    };
    if pieces.start.is_some() && pieces.day.is_some() {
        return None;
    }
    let from = anchor.unwrap_or(today);
    let mut day = every.first_day(from)?;
    let spoken = pieces.spoken.or_else(|| every.part.map(|_| SpokenTime::OF_DAY));
    let when = match spoken {
        None => {
            ParsedDate { precision: Precision::Day, ..plain(day.to_datetime(Wall::midnight())) }
        }
        Some(spoken) => {
            let minute = spoken.time(every.part)?.usual();
            let minutes = spoken.minutes(minute, every.part)?;
            if at_minute(day, minute)? <= now.datetime()
                && from <= today
                && (anchor.is_none() || weekday.is_some())
            {
                day = every.first_day(next_start(every, day)?)?;
            }
            ParsedDate { minutes, ..plain(at_minute(day, minute)?) }
        }
    };
    limited(ParsedDate { repeat: Some(every.repeat(day)), ..when }, pieces.limit, now)
}

/// Where to look for the next first day, if the time of this one is over.
fn next_start(every: &SpokenRepeat, day: Date) -> Option<Date> {
    let step = match &every.rule {
        SpokenRule::Weeks(_) => 7.days(),
        SpokenRule::Months(_) => 1.month(),
        SpokenRule::Years(_, None) => 1.year(),
        SpokenRule::Whole(_) | SpokenRule::Years(..) | SpokenRule::NthOfYear(..) => 1.day(),
    };
    day.checked_add(step).ok()
}

/// The repetition with its number of occurrences.
fn limited(when: ParsedDate, limit: Option<RepeatLimit>, now: &Zoned) -> Option<ParsedDate> {
    let first = when.at.date();
    let (last, is_within) = match limit {
        None => return Some(when),
        Some(RepeatLimit::Times(times)) => return Some(with_times(when, times)),
        Some(RepeatLimit::Until(date)) => (date, true),
        Some(RepeatLimit::For(amount)) => (amount.day(first)?, false),
    };
    let series = Series {
        start: when.at,
        zone: now.time_zone().clone(),
        repeat: when.repeat.clone(),
        count: None,
    };
    let all = series.from(Timestamp::MIN).take(COUNTED_MAX + 1);
    let fits = |date: Date| date < last || is_within && date == last;
    let count = all.take_while(|found| fits(found.wall.date())).count();
    let times = u32::try_from(count).ok().filter(|_| (1..=COUNTED_MAX).contains(&count))?;
    Some(with_times(when, times))
}

fn with_times(when: ParsedDate, times: u32) -> ParsedDate {
    match times {
        1 => ParsedDate { repeat: None, ..when },
        times => ParsedDate { times: Some(times), ..when },
    }
}

pub(super) fn plain(at: DateTime) -> ParsedDate {
    ParsedDate {
        at,
        precision: Precision::Minute,
        instant: None,
        repeat: None,
        times: None,
        minutes: None,
        clock: None,
        is_deadline: false,
        is_full: false,
        is_open: false,
    }
}

fn at_minute(date: Date, minute: i64) -> Option<DateTime> {
    date.to_datetime(Wall::midnight()).checked_add(minute.minutes()).ok()
}

/// Whether a time of a day is in the future, in either half of the day.
fn is_ahead(date: Date, time: DayMinute, now: &Zoned) -> bool {
    at_minute(date, minute_of(date, time, now)).is_some_and(|at| at > now.datetime())
}

/// The minute of the day; an ambiguous hour depends on the current time only today.
fn minute_of(date: Date, time: DayMinute, now: &Zoned) -> i64 {
    match time {
        DayMinute::Dial(minute) if date == now.date() => {
            let is_over = at_minute(date, minute).is_none_or(|at| at <= now.datetime());
            if is_over { minute + 12 * 60 } else { minute }
        }
        DayMinute::Sure(minute) if date == now.date() => minute,
        time => time.usual(),
    }
}
