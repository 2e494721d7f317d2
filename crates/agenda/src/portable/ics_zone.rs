//! Zones of a calendar: how ours are written, and how those of other programs are recognized.

use super::ics_lines::{IcsComponent, push_line};
use jiff::civil::{Date, DateTime};
use jiff::tz::{Dst, Offset, TimeZone};
use jiff::{Timestamp, ToSpan};
use std::collections::BTreeMap;

/// Years after the last start for which clock changes are written.
const YEARS_AHEAD: i64 = 10;

/// One kind of clock change: the offsets before and after it, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OffsetChange {
    kind: &'static str,
    from: Offset,
    to: Offset,
    name: String,
    /// The local times of the changes.
    walls: Vec<DateTime>,
}

/// Adds a `VTIMEZONE` that is valid from `first` until some years after `last`.
pub(super) fn write(out: &mut String, name: &str, first: Timestamp, last: Timestamp) {
    let Ok(zone) = TimeZone::get(name) else { return };
    let end = last.to_zoned(TimeZone::UTC).saturating_add(YEARS_AHEAD.years());
    push_line(out, "BEGIN:VTIMEZONE");
    push_line(out, &format!("TZID:{name}"));
    for change in changes(&zone, first, end.timestamp()) {
        // The rules of a zone change: the current ones have no end, earlier changes are listed.
        let rule_at = |from: &usize| yearly(&change.walls[*from..], end.year()).is_some();
        let from = (0..change.walls.len()).find(rule_at).unwrap_or(change.walls.len());
        let (listed, ruled) = change.walls.split_at(from);
        write_change(out, &change, listed, end.year());
        write_change(out, &change, ruled, end.year());
    }
    push_line(out, "END:VTIMEZONE");
}

/// Adds the changes at these times: by their rule if they have one, or one by one.
fn write_change(out: &mut String, change: &OffsetChange, walls: &[DateTime], last_year: i16) {
    let Some((begin, others)) = walls.split_first() else { return };
    push_line(out, &format!("BEGIN:{}", change.kind));
    push_line(out, &format!("DTSTART:{}", compact(*begin)));
    push_line(out, &format!("TZOFFSETFROM:{}", offset(change.from)));
    push_line(out, &format!("TZOFFSETTO:{}", offset(change.to)));
    push_line(out, &format!("TZNAME:{}", change.name));
    match yearly(walls, last_year) {
        Some(rule) => push_line(out, &format!("RRULE:{rule}")),
        None if !others.is_empty() => {
            let others: Vec<String> = others.iter().map(|wall| compact(*wall)).collect();
            push_line(out, &format!("RDATE:{}", others.join(",")));
        }
        None => {}
    }
    push_line(out, &format!("END:{}", change.kind));
}

fn changes(zone: &TimeZone, first: Timestamp, end: Timestamp) -> Vec<OffsetChange> {
    let before = zone.preceding(first).next();
    let mut changes: Vec<OffsetChange> = Vec::new();
    let mut add = |kind, from, to, name: &str, wall| {
        let same = changes.iter_mut().find(|change: &&mut OffsetChange| {
            (change.kind, change.from, change.to, change.name.as_str()) == (kind, from, to, name)
        });
        match same {
            Some(change) => change.walls.push(wall),
            None => {
                let name = name.to_owned();
                changes.push(OffsetChange { kind, from, to, name, walls: vec![wall] });
            }
        }
    };
    if before.is_none() {
        let info = zone.to_offset_info(first);
        let long_ago = Date::constant(1970, 1, 1).at(0, 0, 0, 0);
        let wall = long_ago.min(zone.to_datetime(first));
        add(kind(info.dst()), info.offset(), info.offset(), info.abbreviation(), wall);
    }
    let after = zone.following(first).take_while(|change| change.timestamp() <= end);
    for change in before.into_iter().chain(after) {
        let at = change.timestamp();
        let from = zone.to_offset(at.saturating_sub(1.second()).unwrap_or(at));
        let wall = from.to_datetime(at);
        add(kind(change.dst()), from, change.offset(), change.abbreviation(), wall);
    }
    changes
}

fn kind(dst: Dst) -> &'static str {
    match dst {
        Dst::Yes => "DAYLIGHT",
        Dst::No => "STANDARD",
    }
}

/// The rule of changes that come every year until the last year looked at, if one describes them.
fn yearly(walls: &[DateTime], last_year: i16) -> Option<String> {
    let (first, last) = (walls.first()?, walls.last()?);
    let years = i64::from(last.year()) - i64::from(first.year()) + 1;
    let is_yearly = usize::try_from(years).ok()? == walls.len() && last.year() >= last_year - 1;
    let alike = |wall: &DateTime| {
        (wall.month(), wall.weekday(), wall.time())
            == (first.month(), first.weekday(), first.time())
    };
    if walls.len() < 3 || !is_yearly || !walls.iter().all(alike) {
        return None;
    }
    let nth = |wall: &DateTime| (wall.day() - 1) / 7 + 1;
    let is_last = |wall: &DateTime| wall.day() + 7 > wall.days_in_month();
    let place = if walls.iter().all(is_last) {
        -1
    } else if walls.iter().all(|wall| nth(wall) == nth(first)) {
        nth(first)
    } else {
        return None;
    };
    let days = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    let day = days.get(usize::try_from(first.weekday().to_monday_zero_offset()).ok()?)?;
    Some(format!("FREQ=YEARLY;BYMONTH={};BYDAY={place}{day}", first.month()))
}

/// A local time as calendars write it.
pub(super) fn compact(wall: DateTime) -> String {
    wall.strftime("%Y%m%dT%H%M%S").to_string()
}

fn offset(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let (minutes, rest) = (seconds.abs() / 60, seconds.abs() % 60);
    let text = format!("{sign}{:02}{:02}", minutes / 60, minutes % 60);
    if rest == 0 { text } else { format!("{text}{rest:02}") }
}

/// The IANA names of a calendar's zones, by the names that the calendar uses.
pub(super) fn locations(parts: &[IcsComponent]) -> BTreeMap<String, String> {
    let zones = parts.iter().filter(|part| part.name == "VTIMEZONE");
    let named = zones.filter_map(|zone| Some((zone.text("TZID")?, zone.text("X-LIC-LOCATION")?)));
    named.collect()
}

/// The zone of that name: an IANA name, one within a path, the calendar's own, or one of Windows.
pub(super) fn find(name: &str, locations: &BTreeMap<String, String>) -> Option<TimeZone> {
    let known = |name: &str| TimeZone::get(name).ok();
    let within = || {
        let slashes = name.char_indices().filter(|(_, c)| *c == '/');
        slashes.map(|(at, _)| &name[at + 1..]).find_map(known)
    };
    let of_windows = || {
        let found = WINDOWS.iter().find(|(windows, _)| windows.eq_ignore_ascii_case(name));
        found.and_then(|(_, iana)| known(iana))
    };
    known(name)
        .or_else(|| locations.get(name).and_then(|name| known(name)))
        .or_else(within)
        .or_else(of_windows)
}

/// Zone names of Windows and Outlook.
const WINDOWS: &[(&str, &str)] = &[
    ("Dateline Standard Time", "Etc/GMT+12"),
    ("Hawaiian Standard Time", "Pacific/Honolulu"),
    ("Alaskan Standard Time", "America/Anchorage"),
    ("Pacific Standard Time", "America/Los_Angeles"),
    ("US Mountain Standard Time", "America/Phoenix"),
    ("Mountain Standard Time", "America/Denver"),
    ("Central America Standard Time", "America/Guatemala"),
    ("Central Standard Time", "America/Chicago"),
    ("Central Standard Time (Mexico)", "America/Mexico_City"),
    ("Canada Central Standard Time", "America/Regina"),
    ("SA Pacific Standard Time", "America/Bogota"),
    ("Eastern Standard Time", "America/New_York"),
    ("US Eastern Standard Time", "America/Indianapolis"),
    ("Venezuela Standard Time", "America/Caracas"),
    ("Atlantic Standard Time", "America/Halifax"),
    ("SA Western Standard Time", "America/La_Paz"),
    ("Pacific SA Standard Time", "America/Santiago"),
    ("Newfoundland Standard Time", "America/St_Johns"),
    ("E. South America Standard Time", "America/Sao_Paulo"),
    ("Argentina Standard Time", "America/Buenos_Aires"),
    ("SA Eastern Standard Time", "America/Cayenne"),
    ("UTC-02", "Etc/GMT+2"),
    ("Azores Standard Time", "Atlantic/Azores"),
    ("GMT Standard Time", "Europe/London"),
    ("Greenwich Standard Time", "Atlantic/Reykjavik"),
    ("Morocco Standard Time", "Africa/Casablanca"),
    ("W. Europe Standard Time", "Europe/Berlin"),
    ("Central Europe Standard Time", "Europe/Budapest"),
    ("Romance Standard Time", "Europe/Paris"),
    ("Central European Standard Time", "Europe/Warsaw"),
    ("W. Central Africa Standard Time", "Africa/Lagos"),
    ("GTB Standard Time", "Europe/Bucharest"),
    ("E. Europe Standard Time", "Europe/Chisinau"),
    ("FLE Standard Time", "Europe/Kiev"),
    ("Egypt Standard Time", "Africa/Cairo"),
    ("South Africa Standard Time", "Africa/Johannesburg"),
    ("Israel Standard Time", "Asia/Jerusalem"),
    ("Turkey Standard Time", "Europe/Istanbul"),
    ("Arabic Standard Time", "Asia/Baghdad"),
    ("Arab Standard Time", "Asia/Riyadh"),
    ("Russian Standard Time", "Europe/Moscow"),
    ("E. Africa Standard Time", "Africa/Nairobi"),
    ("Iran Standard Time", "Asia/Tehran"),
    ("Arabian Standard Time", "Asia/Dubai"),
    ("Georgian Standard Time", "Asia/Tbilisi"),
    ("Afghanistan Standard Time", "Asia/Kabul"),
    ("West Asia Standard Time", "Asia/Tashkent"),
    ("Pakistan Standard Time", "Asia/Karachi"),
    ("India Standard Time", "Asia/Calcutta"),
    ("Sri Lanka Standard Time", "Asia/Colombo"),
    ("Nepal Standard Time", "Asia/Katmandu"),
    ("Central Asia Standard Time", "Asia/Bishkek"),
    ("Bangladesh Standard Time", "Asia/Dhaka"),
    ("Myanmar Standard Time", "Asia/Rangoon"),
    ("SE Asia Standard Time", "Asia/Bangkok"),
    ("China Standard Time", "Asia/Shanghai"),
    ("Singapore Standard Time", "Asia/Singapore"),
    ("W. Australia Standard Time", "Australia/Perth"),
    ("Taipei Standard Time", "Asia/Taipei"),
    ("Korea Standard Time", "Asia/Seoul"),
    ("Tokyo Standard Time", "Asia/Tokyo"),
    ("Cen. Australia Standard Time", "Australia/Adelaide"),
    ("AUS Central Standard Time", "Australia/Darwin"),
    ("E. Australia Standard Time", "Australia/Brisbane"),
    ("AUS Eastern Standard Time", "Australia/Sydney"),
    ("Tasmania Standard Time", "Australia/Hobart"),
    ("Vladivostok Standard Time", "Asia/Vladivostok"),
    ("West Pacific Standard Time", "Pacific/Port_Moresby"),
    ("Central Pacific Standard Time", "Pacific/Guadalcanal"),
    ("New Zealand Standard Time", "Pacific/Auckland"),
    ("Fiji Standard Time", "Pacific/Fiji"),
    ("Tonga Standard Time", "Pacific/Tongatapu"),
];
