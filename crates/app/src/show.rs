//! Small forms that more than one part writes: times and one-line previews.

use everloop_types::{UtcMs, canonical, visible};

/// RFC 3339 with the local offset.
#[must_use]
pub fn timestamp(at: UtcMs) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(at) else { return at.to_string() };
    let local = moment.to_zoned(jiff::tz::TimeZone::system());
    local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// Reads RFC 3339; nothing for anything else.
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<UtcMs> {
    // A plus in an address that was not escaped is a blank.
    let moment = text.replace(' ', "+").parse::<jiff::Timestamp>().ok()?;
    Some(moment.as_millisecond())
}

/// RFC 3339 in UTC, with milliseconds.
#[must_use]
pub(crate) fn utc_timestamp(at: UtcMs) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(at) else { return at.to_string() };
    moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// One short line of a call's arguments, as the tool reads them and not as the model spelled them.
#[must_use]
pub fn call_args(args: &str) -> String {
    preview(&canonical(args))
}

/// One short line of any text.
#[must_use]
pub fn preview(text: &str) -> String {
    const SHOWN_CHARS: usize = 120;
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
