//! What lies along the bottom: dates, months, quarters, years and numbers in their order and at
//! their distance; anything else as labels, one beside the other.

use super::ticks::{self, TickScale};
use everloop_types::Lang;
use jiff::civil::{Date, DateTime};

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Years that a column of whole numbers may mean.
const YEARS: std::ops::RangeInclusive<f64> = 1_800.0..=2_200.0;

/// How the values along the bottom are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AxisForm {
    /// Numbers.
    Number,
    /// Years.
    Year,
    /// Quarters: `2026-Q3`.
    Quarter,
    /// Months: `2026-03`.
    Month,
    /// Weeks: `2026-W07`.
    Week,
    /// Days: `2026-03-31`.
    Day,
    /// Moments, in seconds: `2026-03-31 09:30`.
    Moment,
}

/// The order in which forms are tried: a day is no month.
const FORMS: [AxisForm; 6] = [
    AxisForm::Number,
    AxisForm::Day,
    AxisForm::Moment,
    AxisForm::Month,
    AxisForm::Quarter,
    AxisForm::Week,
];

impl AxisForm {
    /// The form that all values have, if there is one.
    pub(super) fn of<'a>(values: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let mut there = values.filter(|value| !value.is_empty()).peekable();
        there.peek()?;
        let form = FORMS
            .into_iter()
            .find(|form| there.clone().all(|value| form.place(value).is_some()))?;
        let is_year = |value: &str| {
            let year = Self::Number.place(value);
            value.len() == 4 && year.is_some_and(|year| YEARS.contains(&year))
        };
        Some(match form {
            Self::Number if there.all(is_year) => Self::Year,
            form => form,
        })
    }

    /// Where a value lies.
    pub(super) fn place(self, value: &str) -> Option<f64> {
        let value = value.trim();
        match self {
            Self::Number | Self::Year => {
                crate::exact::Exact::parse(value).map(crate::exact::Exact::to_f64)
            }
            Self::Day => (value.len() == 10).then(|| value.parse().ok().map(day_number))?,
            Self::Moment => moment(value),
            Self::Month => {
                let (year, month) = in_two(value, &['-', '/', '.', '\u{5e74}'])?;
                let month = month.trim_end_matches('\u{6708}');
                let month = number_up_to(month, 12)?;
                Some(year * 12.0 + month - 1.0)
            }
            Self::Quarter => {
                let (year, quarter) = in_two(value, &['-', ' ', 'Q', 'q', '\u{5e74}'])?;
                let has_letter = value.contains(['Q', 'q', '\u{5b63}']);
                let quarter = quarter.trim_start_matches(['Q', 'q', '\u{7b2c}']);
                let quarter = number_up_to(quarter.trim_end_matches(['\u{5b63}', '\u{5ea6}']), 4)?;
                has_letter.then_some(year * 4.0 + quarter - 1.0)
            }
            Self::Week => {
                let (year, week) = in_two(value, &['-', ' '])?;
                let week = number_up_to(week.trim_start_matches(['W', 'w']), 53)
                    .or_else(|| (week == "00").then_some(0.0))?;
                Some(year * 53.0 + week)
            }
        }
    }

    /// A place as people read it.
    pub(super) fn show(self, place: f64) -> String {
        let parts = match self {
            Self::Quarter => 4.0,
            Self::Month => 12.0,
            _ => 53.0,
        };
        let (year, part) = ((place / parts).floor(), place.rem_euclid(parts));
        match self {
            Self::Number => ticks::plain(place),
            Self::Year => format!("{place:.0}"),
            Self::Quarter => format!("{year:.0}-Q{:.0}", part + 1.0),
            Self::Month => format!("{year:.0}-{:02.0}", part + 1.0),
            Self::Week => format!("{year:.0}-W{part:02.0}"),
            Self::Day => date_of(place).map_or_else(String::new, |date| date.to_string()),
            Self::Moment => moment_of(place)
                .map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M").to_string()),
        }
    }

    /// Whether each place is one whole unit.
    pub(super) fn is_time(self) -> bool {
        self != Self::Number
    }

    /// The places with labels, at most about `most` of them.
    pub(super) fn ticks(self, low: f64, high: f64, most: f64, lang: Lang) -> Vec<(f64, String)> {
        let most = most.max(2.0);
        match self {
            Self::Number => {
                let places = ticks::places(low, high, (most - 1.0).min(6.0));
                let scale = TickScale::of(&places, lang);
                let inside = places.into_iter().filter(|place| (low..=high).contains(place));
                inside.map(|place| (place, scale.label(place))).collect()
            }
            Self::Year => self.every(low, high, step_of(high - low, most, &[])),
            Self::Quarter => self.every(low, high, step_of(high - low, most, &[1.0, 2.0, 4.0])),
            Self::Month => {
                self.every(low, high, step_of(high - low, most, &[1.0, 2.0, 3.0, 6.0, 12.0]))
            }
            Self::Week => self.every(low, high, step_of(high - low, most, &[1.0, 2.0, 4.0, 13.0])),
            Self::Day if high - low <= 8.0 * most => {
                self.every(low, high, step_of(high - low, most, &[1.0, 2.0, 7.0, 14.0]))
            }
            Self::Day => months(low, high, most).collect(),
            Self::Moment if high - low > 2.0 * DAY => Self::Day
                .ticks(low / DAY, high / DAY, most, lang)
                .into_iter()
                .map(|(place, label)| (place * DAY, label))
                .collect(),
            Self::Moment => {
                let steps = [60.0, 300.0, 900.0, 3_600.0, 10_800.0, 21_600.0, 43_200.0];
                let shown = |place| {
                    moment_of(place).map_or_else(String::new, |time| {
                        let form = if high - low > DAY { "%m-%d %H:%M" } else { "%H:%M" };
                        time.strftime(form).to_string()
                    })
                };
                let every = self.every(low, high, step_of(high - low, most, &steps));
                every.into_iter().map(|(place, _)| (place, shown(place))).collect()
            }
        }
    }

    fn every(self, low: f64, high: f64, step: f64) -> Vec<(f64, String)> {
        let mut at = (low / step).ceil() * step;
        let mut found = Vec::new();
        while at <= high && found.len() < 100 {
            found.push((at, self.show(at)));
            at += step;
        }
        found
    }
}

/// The smallest step that gives at most so many places; beyond the list, a round multiple.
fn step_of(range: f64, most: f64, steps: &[f64]) -> f64 {
    let need = range / most;
    let listed = steps.iter().copied().find(|step| *step >= need);
    let unit = steps.last().copied().unwrap_or(1.0);
    listed.unwrap_or_else(|| unit * ticks::nice((need / unit).max(1.0)).max(1.0).round())
}

/// The first days of months.
fn months(low: f64, high: f64, most: f64) -> impl Iterator<Item = (f64, String)> {
    let month = |day: f64| {
        date_of(day).map_or(0.0, |day| f64::from(day.year()) * 12.0 + f64::from(day.month()) - 1.0)
    };
    let places = AxisForm::Month.ticks(month(low), month(high), most, Lang::En);
    places.into_iter().filter_map(move |(_, label)| {
        let day = day_number(format!("{label}-01").parse().ok()?);
        (day >= low && day <= high).then_some((day, label))
    })
}

fn in_two<'a>(value: &'a str, between: &[char]) -> Option<(f64, &'a str)> {
    let at = value.find(between)?;
    let year: u16 = value.get(..at).filter(|year| year.len() == 4)?.parse().ok()?;
    Some((f64::from(year), value[at..].trim_start_matches(between)))
}

fn number_up_to(text: &str, most: u8) -> Option<f64> {
    let is_short = !text.is_empty() && text.len() <= 2;
    let number: u8 = text.parse().ok().filter(|_| is_short)?;
    (1..=most).contains(&number).then(|| f64::from(number))
}

fn day_number(date: Date) -> f64 {
    let since = Date::constant(1970, 1, 1).until(date);
    f64::from(since.map_or(0, |span| span.get_days()))
}

fn date_of(day: f64) -> Option<Date> {
    #[expect(clippy::cast_possible_truncation, reason = "a day of the calendar")]
    let days = day.round() as i64;
    let span = jiff::Span::new().try_days(days).ok()?;
    Date::constant(1970, 1, 1).checked_add(span).ok()
}

fn moment(value: &str) -> Option<f64> {
    let time: DateTime = value.parse().ok().filter(|_| value.len() >= 10)?;
    let seconds = f64::from(time.hour()) * 3_600.0
        + f64::from(time.minute()) * 60.0
        + f64::from(time.second());
    Some(day_number(time.date()) * DAY + seconds)
}

fn moment_of(place: f64) -> Option<DateTime> {
    let day = date_of((place / DAY).floor())?;
    #[expect(clippy::cast_possible_truncation, reason = "seconds of a day")]
    let seconds = place.rem_euclid(DAY) as i64;
    day.at(0, 0, 0, 0).checked_add(jiff::Span::new().seconds(seconds)).ok()
}

/// Whether no place between two others may be missing: most neighbours are one step apart.
pub(super) fn regular_step(places: &[f64]) -> Option<f64> {
    let steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let usual = steps.iter().filter(|step| **step < least * 1.01).count();
    (steps.len() >= 2 && usual * 2 >= steps.len()).then_some(least)
}

/// Whether a step between two days only leaves out a weekend.
pub(super) fn is_weekend(from: f64, to: f64) -> bool {
    let weekday = date_of(from).map(|day| day.weekday());
    (to - from) < 3.01 && weekday == Some(jiff::civil::Weekday::Friday)
}
