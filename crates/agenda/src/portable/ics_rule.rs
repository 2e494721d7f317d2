//! Repetition rules of other calendars, converted to those of entries.

use super::ics_lines::{IcsTime, stamp};
use crate::time::{Repeat, Series};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The maximum number of occurrences up to an end; a rule with more is not imported.
const COUNTED_MAX: usize = 100_000;

/// A repetition, and how often it takes place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IcsRule {
    pub(super) repeat: Repeat,
    pub(super) times: Option<i64>,
}

/// The rule of an entry that starts at this wall time; `None` if it has no counterpart here.
pub(super) fn read(value: &str, start: DateTime, zone: &TimeZone) -> Option<IcsRule> {
    let value = value.trim().to_ascii_uppercase();
    let mut parts: Vec<(&str, &str)> = Vec::new();
    for part in value.split(';').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        parts.push((name.trim(), value.trim()));
    }
    let count = taken(&mut parts, "COUNT");
    let until = taken(&mut parts, "UNTIL");
    let day = start.day().to_string();
    adapt(&mut parts, start, &day);
    let parts: Vec<String> = parts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let repeat = Repeat::from_rrule(&parts.join(";"))?;
    let times = match (count, until) {
        (Some(count), _) => Some(i64::from(count.parse::<u32>().ok().filter(|n| *n > 0)?)),
        (None, Some(until)) => Some(times_until(&repeat, until, start, zone)?),
        (None, None) => None,
    };
    Some(IcsRule { repeat, times })
}

fn taken<'a>(parts: &mut Vec<(&'a str, &'a str)>, name: &str) -> Option<&'a str> {
    let at = parts.iter().position(|(key, _)| *key == name)?;
    Some(parts.remove(at).1)
}

/// Normalizes parts that other programs write differently.
fn adapt<'a>(parts: &mut Vec<(&'a str, &'a str)>, start: DateTime, day: &'a str) {
    let of = |parts: &[(&str, &'a str)], name: &str| {
        parts.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    };
    let freq = of(parts, "FREQ");
    let every = of(parts, "INTERVAL").unwrap_or("1");
    let days = of(parts, "BYDAY");
    // The first day of the week matters only for several days of every second week.
    let one_day = days.is_none_or(|days| !days.contains(','));
    if freq != Some("WEEKLY") || every == "1" || one_day {
        taken(parts, "WKST");
    }
    match freq {
        Some("DAILY") if days.is_some() && every == "1" => {
            parts.retain(|(name, _)| *name != "FREQ");
            parts.push(("FREQ", "WEEKLY"));
        }
        Some("MONTHLY") if days.is_none() && of(parts, "BYMONTHDAY").is_none() => {
            parts.push(("BYMONTHDAY", day));
        }
        Some("YEARLY") if of(parts, "BYMONTH") == Some(start.month().to_string().as_str()) => {
            taken(parts, "BYMONTH");
            if of(parts, "BYMONTHDAY") == Some(day) {
                taken(parts, "BYMONTHDAY");
            }
        }
        _ => {}
    }
}

/// How many occurrences there are up to an end, the first one in any case.
fn times_until(repeat: &Repeat, until: &str, start: DateTime, zone: &TimeZone) -> Option<i64> {
    let last = match stamp(until)? {
        IcsTime::Day(day) => zone.to_ambiguous_timestamp(day.at(23, 59, 59, 0)),
        IcsTime::Wall(wall) => zone.to_ambiguous_timestamp(wall),
        IcsTime::Utc(wall) => TimeZone::UTC.to_ambiguous_timestamp(wall),
    };
    let last = last.compatible().ok()?;
    let repeat = Some(repeat.clone());
    let series = Series { start, zone: zone.clone(), repeat, count: None };
    let all = series.from(Timestamp::MIN).take(COUNTED_MAX + 1);
    let count = all.take_while(|found| found.at <= last).count();
    i64::try_from(count.max(1)).ok().filter(|_| count <= COUNTED_MAX)
}
