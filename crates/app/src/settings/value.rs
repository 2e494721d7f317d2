//! What a setting's value may look like, with units.

use crate::secrets::{self, Reference};
use everloop_tools::{Channel, Host};
use std::path::Path;

/// The form of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A whole number between two bounds.
    Count(u64, u64),
    /// A decimal between two bounds in thousandths, kept in thousandths.
    Milli(u64, u64),
    /// A time with a unit, kept in milliseconds.
    Duration,
    /// The same, or `off`.
    DurationOrOff,
    /// A size with a unit, kept in bytes.
    Size,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A time zone by its IANA name, or `auto`.
    Zone,
    /// Any text, also none.
    Text,
    /// Where a secret is, also nowhere; never the secret itself.
    Reference,
    /// Some of these with commas between them, also none; an array in the file.
    List(Item),
}

/// What a list is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A host that may be called.
    Host,
    /// A channel for messages.
    Channel,
    /// A folder by its whole path.
    Folder,
    /// A built-in tool by its name.
    Tool,
    /// A pattern on paths within the workspace.
    Pattern,
    /// A word of a command.
    Word,
}

impl Item {
    /// The item without what could be a secret, if it is one.
    fn shown(self, text: &str) -> Option<String> {
        match self {
            Self::Host => Host::parse(text).map(|host| host.to_string()),
            Self::Channel => match secrets::channel(text) {
                Some((name, reference)) => Some(format!("{name}={reference}")),
                None => Channel::parse(text).map(|channel| channel.to_string()),
            },
            Self::Word => Some(text.to_owned()),
            Self::Tool => crate::environment::built_in()
                .any(|tool| tool.name == text)
                .then(|| text.to_owned()),
            Self::Pattern => {
                (!text.starts_with('/') && !text.contains("..")).then(|| text.to_owned())
            }
            Self::Folder => Path::new(text).is_absolute().then(|| text.to_owned()),
        }
    }
}

/// The items of a list.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Number(u64),
    Text(String),
}

/// Why a value does not fit: the text, and the form it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub text: String,
    pub form: Form,
}

const TIMES: &[(&str, u64)] =
    &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: &[(&str, u64)] =
    &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("KB", 1_000), ("MB", 1_000_000)];

impl Form {
    pub fn read(self, text: &str) -> Result<Value, Wrong> {
        let number = match self {
            Self::Text => return Ok(Value::Text(text.to_owned())),
            Self::OneOf(words) if words.contains(&text) => return Ok(Value::Text(text.to_owned())),
            Self::List(item) if items(text).all(|text| item.shown(text).is_some()) => {
                return Ok(Value::Text(text.to_owned()));
            }
            Self::List(Item::Tool) => None,
            Self::Reference if text.is_empty() || Reference::parse(text).is_some() => {
                return Ok(Value::Text(text.to_owned()));
            }
            // What does not fit may be a secret all the same.
            Self::List(_) | Self::Reference => {
                return Err(Wrong { text: "…".to_owned(), form: self });
            }
            Self::Zone if text == "auto" || jiff::tz::TimeZone::get(text).is_ok() => {
                return Ok(Value::Text(text.to_owned()));
            }
            Self::OneOf(_) | Self::Zone => None,
            Self::Count(low, high) => text.parse().ok().filter(|n| (low..=high).contains(n)),
            Self::Milli(low, high) => milli(text).filter(|n| (low..=high).contains(n)),
            Self::DurationOrOff if text == "off" => return Ok(Value::Text(text.to_owned())),
            Self::Duration | Self::DurationOrOff => with_unit(text, TIMES),
            Self::Size => with_unit(text, SIZES),
        };
        number.map(Value::Number).ok_or_else(|| Wrong { text: text.to_owned(), form: self })
    }

    pub fn show(self, value: &Value) -> String {
        match (self, value) {
            (Self::List(item), Value::Text(text)) => {
                let shown: Vec<String> = items(text).filter_map(|text| item.shown(text)).collect();
                shown.join(", ")
            }
            (_, Value::Text(text)) => text.clone(),
            (Self::Milli(..), Value::Number(n)) => format!("{}.{:03}", n / 1000, n % 1000),
            (Self::Duration | Self::DurationOrOff, Value::Number(n)) => show_unit(*n, TIMES),
            (Self::Size, Value::Number(n)) => show_unit(*n, &SIZES[..3]),
            (_, Value::Number(n)) => n.to_string(),
        }
    }

    /// What the form looks like; never translated, because it is typed as it stands.
    pub fn example(self) -> String {
        match self {
            Self::Count(low, high) => format!("{low}..{high}"),
            Self::Milli(low, high) => format!("{}..{}", low / 1000, high / 1000),
            Self::Duration => "500ms, 8s, 5m, 2h, 30d".to_owned(),
            Self::DurationOrOff => "off | 0m | 10m | 2h | 1d".to_owned(),
            Self::Size => "64KiB, 8MiB".to_owned(),
            Self::OneOf(words) => words.join(" | "),
            Self::Zone => "auto | Asia/Shanghai | Europe/Rome".to_owned(),
            Self::Text => "…".to_owned(),
            Self::List(Item::Host) => "api.example.com, localhost:8080".to_owned(),
            Self::List(Item::Tool) => "read_file, search_code, edit_file".to_owned(),
            Self::List(Item::Pattern) => "vendor/**, **/*.html".to_owned(),
            Self::Reference => {
                "env:NAME | file:/path | command:pass show NAME | keychain:NAME".to_owned()
            }
            Self::List(Item::Word) => "pass, show, openai".to_owned(),
            Self::List(Item::Folder) => "/opt/tools, /srv/data".to_owned(),
            Self::List(Item::Channel) => {
                "ops=https://hooks.example.com/x, log=file:/var/log/out.jsonl".to_owned()
            }
        }
    }
}

fn milli(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && (0.0..=1e6).contains(&number)).then(|| (number * 1000.0).round() as u64)
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

fn show_unit(number: u64, units: &[(&str, u64)]) -> String {
    let fits =
        units.iter().rev().find(|(_, factor)| number >= *factor && number.is_multiple_of(*factor));
    match fits {
        Some((name, factor)) => format!("{}{name}", number / factor),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, Value};

    #[test]
    fn values_are_read_with_their_units_and_shown_again() {
        for (form, text, number, shown) in [
            (Form::Duration, "8s", 8_000, "8s"),
            (Form::Duration, "90s", 90_000, "90s"),
            (Form::Duration, "2h", 7_200_000, "2h"),
            (Form::Size, "8MiB", 8 << 20, "8MiB"),
            (Form::Milli(0, 2000), "0.7", 700, "0.700"),
            (Form::Count(1, 9), "9", 9, "9"),
        ] {
            let value = form.read(text).unwrap();
            assert_eq!((&value, form.show(&value)), (&Value::Number(number), shown.to_owned()));
        }
        for (form, text) in [
            (Form::Duration, "8"),
            (Form::Duration, "s"),
            (Form::Duration, "-1s"),
            (Form::Size, "8m"),
            (Form::Count(1, 9), "10"),
            (Form::Milli(0, 2000), "3"),
            (Form::OneOf(&["a"]), "b"),
            (Form::Zone, "Mars/Base"),
        ] {
            assert!(form.read(text).is_err(), "{text}");
        }
    }
}
