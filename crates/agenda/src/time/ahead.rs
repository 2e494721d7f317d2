//! Lead times of reminders: "提前15分钟提醒我", "10 minutes before".

use everloop_text::{self as text, TextOf};
use everloop_types::Lang;
use jiff::Zoned;
use jiff::civil::{DateTime, Time as Wall};
use jiff::{SignedDuration, ToSpan};

use super::clock::{TimeContext, times};
use super::offsets::{Amount, amounts};
use super::scan::Scan;
use super::words;

/// How long before a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeadTime {
    amount: Amount,
    /// The minute of the day, if one was said.
    minute: Option<i64>,
}

impl LeadTime {
    /// At the time itself.
    pub const ON_TIME: Self =
        Self { amount: Amount { months: 0, days: 0, working_days: 0, secs: 0 }, minute: None };

    /// At this minute of the same day.
    #[must_use]
    pub fn on_the_day(minute: i64) -> Self {
        Self { minute: Some(minute), ..Self::ON_TIME }
    }

    /// As an option writes it.
    #[must_use]
    pub fn to_option(self) -> String {
        let mut said = self.amounts();
        if said.is_empty() {
            said.push(if self.minute.is_some() { "the same day" } else { "on time" }.to_owned());
        } else {
            said.push("before".to_owned());
        }
        if let Some(minute) = self.minute {
            said.push(format!("at {:02}:{:02}", minute / 60, minute % 60));
        }
        said.join(" ")
    }

    /// The same in the user's language; it can be parsed as an option, too.
    #[must_use]
    pub fn said(self, lang: Lang) -> String {
        if lang == Lang::En {
            return self.to_option();
        }
        let text = |text: TextOf, n: i64| text(&n).in_lang(lang);
        let Amount { months, days, working_days, secs } = self.amount;
        let minute = self.minute.map(|minute| format!(" {:02}:{:02}", minute / 60, minute % 60));
        let amounts: [(i64, TextOf); 4] = [
            (months, text::ahead::months),
            (days, text::ahead::days),
            (working_days, text::ahead::working_days),
            (secs / 60, text::ahead::minutes),
        ];
        let said = amounts.into_iter().filter(|(n, _)| *n > 0).map(|(n, key)| text(key, n));
        let said: String = said.collect();
        let text = match (said.is_empty(), &minute) {
            (true, None) => text::ahead::on_time(),
            (true, Some(_)) => text::ahead::same_day(),
            (false, _) => text::ahead::before(&said),
        };
        text.in_lang(lang) + &minute.unwrap_or_default()
    }

    /// How much, in words.
    pub(crate) fn amounts(self) -> Vec<String> {
        let Amount { months, days, working_days, secs } = self.amount;
        let amounts = [(months, "month"), (days, "day"), (working_days, "working day")];
        let minutes = (secs / 60, "minute");
        amounts
            .into_iter()
            .chain([minutes])
            .filter(|(n, _)| *n > 0)
            .map(|(n, unit)| if n == 1 { format!("1 {unit}") } else { format!("{n} {unit}s") })
            .collect()
    }

    /// The moment this long after another one, in its zone.
    #[must_use]
    pub fn after(self, at: &Zoned) -> Option<Zoned> {
        let amount = self.amount.times(-1);
        Self { amount, ..self }.before(at)
    }

    /// The moment this long before another one, in its zone.
    #[must_use]
    pub fn before(self, at: &Zoned) -> Option<Zoned> {
        let day = self.amount.times(-1).day(at.date())?;
        let wall = match self.minute {
            Some(minute) => day.to_datetime(Wall::midnight()).checked_add(minute.minutes()).ok()?,
            None => day.to_datetime(at.time()),
        };
        let then = if wall == at.datetime() { at.clone() } else { zoned(wall, at)? };
        then.checked_sub(SignedDuration::from_secs(self.amount.secs)).ok()
    }
}

fn zoned(wall: DateTime, like: &Zoned) -> Option<Zoned> {
    wall.to_zoned(like.time_zone().clone()).ok()
}

/// A relative value of `--remind`: an amount, with or without a word for "before".
#[must_use]
pub fn parse(text: &str) -> Option<LeadTime> {
    let scan = Scan::new(text.trim());
    let len = scan.len();
    if scan.any(0, words::ON_TIME) == Some(len) {
        return Some(LeadTime::ON_TIME);
    }
    let said = here(&scan, 0).into_iter().find(|(_, end)| *end == len);
    let bare = || amounts(&scan, 0).into_iter().find(|(_, end)| *end == len);
    let bare = || bare().map(|(amount, end)| (LeadTime { amount, minute: None }, end));
    said.or_else(bare).map(|(ahead, _)| ahead)
}

/// An amount of time that is all of a text.
#[must_use]
pub fn amount(text: &str) -> Option<LeadTime> {
    let scan = Scan::new(text.trim());
    let all = amounts(&scan, 0).into_iter().find(|(_, end)| *end == scan.len());
    all.map(|(amount, _)| LeadTime { amount, minute: None })
}

/// Amounts with a word for "before" at this position.
fn here(scan: &Scan, at: usize) -> Vec<(LeadTime, usize)> {
    let mut found = Vec::new();
    let plain = |amount| LeadTime { amount, minute: None };
    if let Some(next) = scan.any(at, words::AHEAD) {
        found.extend(amounts(scan, next).into_iter().map(|(amount, end)| (plain(amount), end)));
    }
    for (amount, end) in amounts(scan, at) {
        found.extend(scan.any(end, words::AHEAD_ENDS).map(|end| (plain(amount), end)));
    }
    // Right after a day these name another day: the day before Christmas.
    let is_apart = scan.before(at).is_none_or(is_border);
    if let Some((days, end)) = scan.word(at, words::DAY_AHEAD).filter(|_| is_apart) {
        found.push((plain(Amount { days, ..Amount::default() }), end));
    }
    // A day and an hour in a row are two reminders: "提前1天,1小时".
    found.retain(|(ahead, end)| {
        let is_row = scan.text(at, *end).contains(',');
        !(is_row && ahead.amount.days > 0 && ahead.amount.secs > 0)
    });
    let timed: Vec<_> = found
        .iter()
        .filter(|(ahead, _)| ahead.amount.is_of_days())
        .flat_map(|(ahead, end)| {
            times(scan, *end, TimeContext::Day).into_iter().filter_map(|(spoken, end)| {
                let minute = spoken.time(None)?.usual();
                Some((LeadTime { minute: Some(minute), ..*ahead }, end))
            })
        })
        .collect();
    found.extend(timed);
    found
}

/// A clause that asks to be reminded ahead, taken out of a text: how long, and the text without it.
#[must_use]
pub fn taken(text: &str) -> Option<(LeadTime, String)> {
    let scan = Scan::new(text);
    for at in 0..scan.len() {
        let begin = scan.maybe(at, words::CLAUSE_STARTS);
        let opened = scan.any(begin, words::ASK_TO_REMIND);
        for (ahead, end) in here(&scan, opened.unwrap_or(begin)) {
            let closed = scan.any(end, words::ASK_TO_REMIND);
            // "，提前15分" asks for it by itself.
            let is_clause =
                begin > at && end == scan.len() && scan.any(begin, words::AHEAD).is_some();
            if opened.is_none() && closed.is_none() && !is_clause || is_inside_word(&scan, at) {
                continue;
            }
            let end = scan.maybe(closed.unwrap_or(end), words::CLAUSE_ENDS);
            let (before, after) = (&text[..scan.offset(at)], &text[scan.offset(end)..]);
            let before = before.trim_end_matches(is_border);
            let after = after.trim_start_matches(is_border);
            let gap = if before.is_empty() || after.is_empty() { "" } else { " " };
            return Some((ahead, format!("{before}{gap}{after}")));
        }
    }
    None
}

fn is_inside_word(scan: &Scan, at: usize) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    is_letter(scan.get(at)) && is_letter(scan.before(at))
        || scan
            .before(at)
            .is_some_and(|c| words::is_number(c) || words::NO_AMOUNT_AFTER.contains(c))
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || ",，;；、。".contains(c)
}
