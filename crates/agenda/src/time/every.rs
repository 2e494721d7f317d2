//! Repetitions: every day, every other Friday, the first Monday of every month.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::clock::DayPart;
use super::days::{chinese_weekday, english_weekday};
use super::holiday_phrases::holidays;
use super::holidays::Holiday;
use super::numeric::{next_date, ordinal};
use super::offsets::{Amount, Unit, amounts};
use super::repeat::{MonthDay, MonthDays, Repeat, Weekdays};
use super::scan::{Readings, Scan};
use super::weeks::{chinese_tails, joined, lists, ranges};
use super::words;

/// A repetition as it was written; missing days are those of its first day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenRepeat {
    pub(super) rule: SpokenRule,
    /// The part of the day that its name implies: every night.
    pub(super) part: Option<DayPart>,
}

impl From<Repeat> for SpokenRepeat {
    fn from(repeat: Repeat) -> Self {
        Self::whole(repeat)
    }
}

/// The rule, possibly without days; missing days are those of its first day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SpokenRule {
    /// A complete rule.
    Whole(Repeat),
    /// An interval in weeks, on the weekday of the first.
    Weeks(u32),
    /// An interval in months, on the day of the first.
    Months(u32),
    /// An interval in years, on the date of the first, or on this one.
    Years(u32, Option<(i8, i8)>),
    /// An interval in years, on a weekday of a month.
    NthOfYear(u32, i8, i8, Weekday),
}

impl SpokenRepeat {
    fn whole(repeat: Repeat) -> Self {
        Self { rule: SpokenRule::Whole(repeat), part: None }
    }

    fn of(rule: SpokenRule) -> Self {
        Self { rule, part: None }
    }

    fn weekly(every: u32, days: Weekdays) -> Self {
        Self::whole(Repeat::Weekly { every, days })
    }

    fn monthly(every: u32, day: MonthDay) -> Self {
        Self::whole(Repeat::Monthly { every, day })
    }

    /// The repeat of a series that begins on this day.
    #[must_use]
    pub fn repeat(&self, first: Date) -> Repeat {
        match &self.rule {
            SpokenRule::Whole(repeat) => repeat.clone().named(first),
            SpokenRule::Weeks(every) => {
                Repeat::Weekly { every: *every, days: first.weekday().into() }
            }
            SpokenRule::Months(every) => {
                Repeat::Monthly { every: *every, day: MonthDay::Day(first.day()) }
            }
            SpokenRule::Years(every, _) => Repeat::Yearly { every: *every },
            SpokenRule::NthOfYear(every, _, n, day) => {
                Repeat::Monthly { every: every * 12, day: MonthDay::Nth(*n, *day) }
            }
        }
    }

    /// As an option writes it, for a series that begins on this day if that is known.
    #[must_use]
    pub fn to_option(&self, first: Option<Date>) -> String {
        match (first, &self.rule) {
            (Some(first), _) => self.repeat(first).to_option(),
            (None, SpokenRule::Whole(repeat)) => repeat.to_option(),
            (None, SpokenRule::Weeks(every)) => format!("every {every} weeks"),
            (None, SpokenRule::Months(every)) => format!("every {every} months"),
            (None, SpokenRule::Years(every, _) | SpokenRule::NthOfYear(every, ..)) => {
                format!("every {every} years")
            }
        }
    }

    /// The first fitting day from `from` on.
    #[must_use]
    pub fn first_day(&self, from: Date) -> Option<Date> {
        match &self.rule {
            SpokenRule::Whole(Repeat::Weekly { days, .. }) if !days.is_empty() => {
                from.series(1.days()).take(7).find(|date| days.contains(date.weekday()))
            }
            SpokenRule::Whole(Repeat::Monthly { day, .. }) => {
                let months =
                    (0..=12).filter_map(|n| from.first_of_month().checked_add(n.months()).ok());
                months.flat_map(|month| day.dates(month)).find(|date| *date >= from)
            }
            SpokenRule::Years(_, Some((month, day))) => next_date(from, *month, *day),
            SpokenRule::NthOfYear(_, month, n, day) => Holiday::Nth(*month, *n, *day).next(from),
            SpokenRule::Whole(_)
            | SpokenRule::Weeks(_)
            | SpokenRule::Months(_)
            | SpokenRule::Years(_, None) => Some(from),
        }
    }
}

/// Repetitions here, without their time of day.
pub(super) fn repetitions(scan: &Scan, at: usize) -> Readings<SpokenRepeat> {
    let mut found = Vec::new();
    if words::is_word(scan, scan.skip_spaces(at), words::NO_REPEATS) {
        return found;
    }
    let mut plain = |list, every: SpokenRepeat| {
        found.extend(scan.any(at, list).map(|end| (every, end)));
    };
    plain(words::DAILY, SpokenRepeat::whole(Repeat::Daily { every: 1 }));
    plain(words::WORKING_DAYS, SpokenRepeat::weekly(1, Weekdays::WORKING));
    plain(words::WEEKENDS, SpokenRepeat::weekly(1, Weekdays::WEEKEND));
    plain(words::HOURLY, SpokenRepeat::whole(Repeat::every_minutes(60)));
    for (list, amount) in [
        (words::WEEKLY, Unit::Week.times(1)),
        (words::FORTNIGHTLY, Unit::Week.times(2)),
        (words::MONTHLY, Unit::Month.times(1)),
        (words::QUARTERLY, Unit::Month.times(3)),
        (words::YEARLY, Unit::Year.times(1)),
    ] {
        if let Some(end) = scan.any(at, list) {
            found.extend(with_details(scan, amount, end));
        }
    }
    if let Some((part, end)) = scan.word(at, words::DAILY_PARTS) {
        let daily = SpokenRepeat::whole(Repeat::Daily { every: 1 });
        found.push((SpokenRepeat { part: Some(part), ..daily }, end));
    }
    found.extend(weekday_lists(scan, at));
    found.extend(days_of_every_month(scan, at));
    found.extend(every_holiday(scan, at));
    for (amount, end) in intervals(scan, at) {
        found.extend(with_details(scan, amount, end));
    }
    found
}

/// "every 2 weeks", "every other month": an amount between two occurrences.
///
/// A gap of one day, week, month or year skips one, so it is an interval of two.
fn intervals(scan: &Scan, at: usize) -> Readings<Amount> {
    let mut found = Vec::new();
    if let Some(at) = scan.any(at, words::EVERY) {
        found.extend(amounts(scan, at));
        found.extend(scan.word(at, words::UNITS).map(|(unit, end)| (unit.times(1), end)));
        for (list, n) in [(words::OTHER, 2), (words::THIRD, 3)] {
            let unit = scan.any(at, list).and_then(|at| scan.word(at, words::UNITS));
            found.extend(unit.map(|(unit, end)| (unit.times(n), end)));
        }
    }
    if let Some(at) = scan.any(at, words::EVERY_GAP) {
        let bare = scan.word(at, words::UNITS).map(|(unit, end)| (unit.times(1), end));
        for (amount, end) in amounts(scan, at).into_iter().chain(bare) {
            let is_gap =
                matches!(amount, Amount { days: 1 | 7, .. } | Amount { months: 1 | 12, .. });
            let is_days = amount.is_of_days() && (2..7).contains(&amount.days);
            let wider = Amount { days: amount.days + 1, ..amount };
            let amount = if is_gap { amount.times(2) } else { amount };
            found.push((if is_days && amount.months == 0 { wider } else { amount }, end));
        }
    }
    found
}

/// The repetition of an interval, alone and with the day that may follow it.
fn with_details(scan: &Scan, amount: Amount, end: usize) -> Readings<SpokenRepeat> {
    let mut found = Vec::new();
    // The first day of a quarter is not the first day of every third month from now on.
    let named = [words::FIRST_DAY, words::LAST_DAY, words::MIDDLE_DAY];
    let is_quarter = words::QUARTERS.iter().any(|word| scan.text(0, end).ends_with(word));
    if is_quarter && named.iter().any(|list| scan.any(end, list).is_some()) {
        return found;
    }
    let count = |n: i64| u32::try_from(n).ok().filter(|n| *n > 0);
    match amount {
        Amount { months: 0, days: 0, working_days: 0, secs } if secs % 60 == 0 => {
            let every = count(secs / 60).map(Repeat::every_minutes);
            found.extend(every.map(|repeat| (SpokenRepeat::whole(repeat), end)));
        }
        Amount { months: 0, days: 0, working_days: 1, secs: 0 } => {
            found.push((SpokenRepeat::weekly(1, Weekdays::WORKING), end));
        }
        Amount { months: 0, days, working_days: 0, secs: 0 } if days % 7 == 0 => {
            let Some(every) = count(days / 7) else { return found };
            found.push((SpokenRepeat::of(SpokenRule::Weeks(every)), end));
            let next = scan.maybe(end, words::DAYS_ON);
            let lists = lists(scan, next).into_iter().chain(chinese_tails(scan, next));
            found.extend(lists.map(|(days, end)| (SpokenRepeat::weekly(every, days), end)));
        }
        Amount { months: 0, days, working_days: 0, secs: 0 } => {
            let every = count(days).map(|every| SpokenRepeat::whole(Repeat::Daily { every }));
            found.extend(every.map(|every| (every, end)));
        }
        Amount { months, days: 0, working_days: 0, secs: 0 } if months % 12 == 0 => {
            let Some(every) = count(months / 12) else { return found };
            found.push((SpokenRepeat::of(SpokenRule::Years(every, None)), end));
            found.extend(year_day(scan, end, every));
        }
        Amount { months, days: 0, working_days: 0, secs: 0 } => {
            let Some(every) = count(months) else { return found };
            found.push((SpokenRepeat::of(SpokenRule::Months(every)), end));
            let days = month_days(scan, end).into_iter();
            found.extend(days.map(|(day, end)| (SpokenRepeat::monthly(every, day), end)));
        }
        _ => {}
    }
    found
}

/// The days that follow "every month".
fn month_days(scan: &Scan, at: usize) -> Readings<MonthDay> {
    let mut found = Vec::new();
    found.extend(scan.any(at, words::LAST_DAY).map(|end| (MonthDay::Last, end)));
    found.extend(scan.any(at, words::FIRST_DAY).map(|end| (MonthDay::Day(1), end)));
    let middle = scan.any(at, words::MIDDLE_DAY);
    let middle =
        middle.filter(|end| !scan.get(*end).is_some_and(|c| words::NOT_MIDDLE.contains(c)));
    found.extend(middle.map(|end| (MonthDay::Day(15), end)));
    let next = scan.maybe(scan.maybe(at, words::BETWEEN), words::POSSESSIVE);
    found.extend(nth_weekday(scan, next));
    let on = scan.any(at, words::ON);
    found.extend(on.and_then(|at| nth_weekday(scan, scan.maybe(at, words::THE))));
    found.extend(chinese_days(scan, next));
    if let Some(at) = on {
        found.extend(english_days(scan, at));
        let last = scan.any(scan.maybe(at, words::THE), &["last day"]);
        found.extend(last.map(|end| (MonthDay::Last, end)));
    }
    found
}

fn nth_weekday(scan: &Scan, at: usize) -> Option<(MonthDay, usize)> {
    let (n, end) = scan.word(at, words::NTH)?;
    let (day, end) = chinese_weekday(scan, end).or_else(|| english_weekday(scan, end))?;
    Some((MonthDay::Nth(n, day), end))
}

/// "1号和15号", "1、15号", "5号".
fn chinese_days(scan: &Scan, at: usize) -> Readings<MonthDay> {
    let (mut found, mut days, mut next) = (Vec::new(), MonthDays::default(), Some(at));
    while let Some(at) = next {
        let Some((day, end)) = scan.number_in(at, 1..=31) else { break };
        days = days.with(day);
        let marked = scan.any(end, words::DAY_OF_MONTH);
        if let Some(end) = marked {
            found.extend(days.day().map(|day| (day, end)));
        }
        next = scan.any(marked.unwrap_or(end), words::DAY_AND).or(marked);
    }
    found
}

/// "the 1st and 15th", "the 1st, the 10th and the 20th".
fn english_days(scan: &Scan, at: usize) -> Readings<MonthDay> {
    let (mut found, mut days, mut next) = (Vec::new(), MonthDays::default(), Some(at));
    while let Some(at) = next {
        let Some((day, end)) = ordinal(scan, scan.maybe(at, words::THE)) else { break };
        days = days.with(day.number);
        // "every 2nd and 4th Tuesday" is not a day of a month.
        if english_weekday(scan, scan.skip_spaces(end)).is_none() {
            found.extend(days.day().map(|day| (day, end)));
        }
        next = scan.any(end, words::DAY_AND);
    }
    found
}

/// "the 1st of every month", "on the 1st and 15th", "first Monday of each month".
fn days_of_every_month(scan: &Scan, at: usize) -> Readings<SpokenRepeat> {
    let mut found = Vec::new();
    let every = scan.any(at, words::EVERY);
    let at = scan.maybe(scan.maybe(every.unwrap_or(at), words::ON), words::THE);
    for (list, day) in
        [(words::LAST_DAY_OF, MonthDay::Last), (words::FIRST_DAY_OF, MonthDay::Day(1))]
    {
        let end = scan.any(at, list).and_then(|at| scan.any(at, words::EVERY_MONTH));
        found.extend(end.map(|end| (SpokenRepeat::monthly(1, day), end)));
    }
    let nth = nth_weekday(scan, at).into_iter().chain(english_days(scan, at));
    for (day, end) in nth {
        let is_marked = scan.before(end).is_some_and(|c| c.is_ascii_alphabetic());
        let month = scan.any(end, words::OF_THE_MONTH).filter(|_| is_marked);
        let says_every = |end: &usize| {
            every.is_some()
                || scan.any(end.saturating_sub(5), &["month"]).is_some() && {
                    let said = scan.text(at, *end);
                    ["every", "each", "monthly"].iter().any(|word| said.contains(word))
                }
        };
        if let Some(end) = month.filter(says_every) {
            found.push((SpokenRepeat::monthly(1, day), end));
        } else if matches!(day, MonthDay::Days(_)) && is_marked {
            found.push((SpokenRepeat::monthly(1, day), month.unwrap_or(end)));
        }
    }
    found
}

/// "every Christmas", "每年国庆节": only holidays that a rule can express.
fn every_holiday(scan: &Scan, at: usize) -> Readings<SpokenRepeat> {
    let begins = [scan.any(at, words::EVERY), scan.any(at, words::YEARLY)].into_iter().flatten();
    let all = begins.flat_map(|next| holidays(scan, scan.maybe(next, words::ON)));
    let rules = all.filter_map(|(day, end)| {
        let rule = match day {
            Holiday::Fixed(month, day) => SpokenRule::Years(1, Some((month, day))),
            Holiday::Nth(month, n, day) => SpokenRule::NthOfYear(1, month, n, day),
            _ => return None,
        };
        Some((SpokenRepeat::of(rule), end))
    });
    rules.collect()
}

/// The month and day of every year; only such as exist in some year.
fn year_day(scan: &Scan, at: usize, every: u32) -> Readings<SpokenRepeat> {
    let mut found = Vec::new();
    let at = scan.maybe(scan.maybe(at, words::BETWEEN), words::ON);
    let chinese = || {
        let (month, end) = scan.number_in(at, 1..=12)?;
        let (day, end) = scan.number_in(scan.any(end, words::MONTH)?, 1..=31)?;
        Some(((month, day), scan.any(end, words::DAY_OF_MONTH)?))
    };
    let english = || {
        let (month, end) = scan.word(at, words::MONTH_NAMES)?;
        let (day, end) = ordinal(scan, scan.maybe(end, words::THE))?;
        Some(((month, day.number), end))
    };
    let day_first = || {
        let (day, end) = ordinal(scan, scan.maybe(at, words::THE))?;
        let (month, end) = scan.word(scan.maybe(end, words::OF), words::MONTH_NAMES)?;
        Some(((month, day.number), end))
    };
    let date = chinese().or_else(english).or_else(day_first);
    let date = date.filter(|((month, day), _)| Date::new(2000, *month, *day).is_ok());
    found.extend(
        date.map(|(date, end)| (SpokenRepeat::of(SpokenRule::Years(every, Some(date))), end)),
    );
    let nth = || {
        let (month, end) = scan.number_in(at, 1..=12)?;
        let (n, end) =
            scan.word(scan.maybe(scan.any(end, words::MONTH)?, words::POSSESSIVE), words::NTH)?;
        let (day, end) = chinese_weekday(scan, end)?;
        Some((SpokenRepeat::of(SpokenRule::NthOfYear(every, month, n, day)), end))
    };
    found.extend(nth());
    found
}

/// "every Monday and Wednesday", "on Fridays", "every other Friday", "Mon-Fri", "周一至周五".
fn weekday_lists(scan: &Scan, at: usize) -> Readings<SpokenRepeat> {
    let mut found = Vec::new();
    if let Some(end) = scan.any(at, words::EVERY) {
        found.extend(
            lists(scan, end).into_iter().map(|(days, end)| (SpokenRepeat::weekly(1, days), end)),
        );
        for (list, n) in [(words::OTHER, 2), (words::THIRD, 3)] {
            let Some(end) = scan.any(end, list) else { continue };
            let all = lists(scan, end).into_iter();
            found.extend(all.map(|(days, end)| (SpokenRepeat::weekly(n, days), end)));
        }
    }
    if let Some(end) = scan.any(at, words::ALTERNATE) {
        let plural = scan.word(end, words::PLURAL_DAYS);
        let plural = plural.map(|(day, end)| (Weekdays::from(day), end));
        let all = lists(scan, end).into_iter().chain(plural);
        found.extend(all.map(|(days, end)| (SpokenRepeat::weekly(2, days), end)));
    }
    let next = scan.maybe(at, words::ON);
    let plural = |at| scan.word(at, words::PLURAL_DAYS);
    let plurals = joined(plural(next), |at| plural(scan.any(at, words::DAY_AND)?));
    found.extend(plurals.into_iter().map(|(days, end)| (SpokenRepeat::weekly(1, days), end)));
    // Without a word for "every", only a whole working week is a repetition; others are a trip.
    let weeks = ranges(scan, next).into_iter().filter(|(days, _)| *days == Weekdays::WORKING);
    found.extend(
        weeks.map(|(days, end)| (SpokenRepeat::weekly(1, days), scan.maybe(end, words::EACH_OF))),
    );
    found
}
