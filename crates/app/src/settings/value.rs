//! Types of values: how each is read from a text and written again.

use super::redact;
use super::spec::SettingKind;
use crate::secrets::Reference;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A type that a setting can have.
pub trait SettingValue: Sized {
    /// How it is written.
    const KIND: SettingKind;

    /// Reads it as a person types it; `None` if it does not fit.
    fn from_text(text: &str) -> Option<Self>;

    /// As it would be typed.
    fn write(&self) -> String;

    /// The same without anything that could be a secret.
    fn show(&self) -> String {
        redact::shown(&self.write())
    }

    /// The number that a range is about.
    fn magnitude(&self) -> Option<u64> {
        None
    }

    /// Reads it, if it is within the range.
    fn within(text: &str, range: Option<&RangeInclusive<u64>>) -> Option<Self> {
        let value = Self::from_text(text)?;
        let fits = |number: u64| range.is_none_or(|range| range.contains(&number));
        value.magnitude().is_none_or(fits).then_some(value)
    }
}

/// The default of a declared setting.
pub(super) fn default_value<T: SettingValue>(text: &str) -> T {
    T::from_text(text).unwrap_or_else(|| unreachable!("the default {text:?} fits its type"))
}

macro_rules! count_setting {
    ($($Number:ty)*) => {$(
        impl SettingValue for $Number {
            const KIND: SettingKind = SettingKind::Count;

            fn from_text(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn write(&self) -> String {
                self.to_string()
            }

            fn magnitude(&self) -> Option<u64> {
                u64::try_from(*self).ok()
            }
        }
    )*};
}
count_setting!(u32 u64 usize);

impl SettingValue for String {
    const KIND: SettingKind = SettingKind::Text;

    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn write(&self) -> String {
        self.clone()
    }
}

/// `on` or `off`.
impl SettingValue for bool {
    const KIND: SettingKind = SettingKind::OneOf(&["on", "off"]);

    fn from_text(text: &str) -> Option<Self> {
        match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        }
    }

    fn write(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }
}

const TIMES: &[(&str, u64)] =
    &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: &[(&str, u64)] =
    &[("KB", 1_000), ("MB", 1_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// A time in milliseconds, written with a unit: `8s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(u64);

impl Millis {
    /// Reads a time with its unit; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        parse_unit(text, TIMES).map(Self)
    }

    /// What a time looks like.
    #[must_use]
    pub fn example() -> String {
        SettingKind::Duration.example(None)
    }

    /// The milliseconds.
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.0
    }

    /// The milliseconds for arithmetic on moments.
    #[must_use]
    pub(crate) fn signed_ms(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// As the standard library has it.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl SettingValue for Millis {
    const KIND: SettingKind = SettingKind::Duration;

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn write(&self) -> String {
        write_unit(self.0, TIMES, "0s")
    }

    fn magnitude(&self) -> Option<u64> {
        Some(self.0)
    }
}

/// A time, or `off` for none.
impl SettingValue for Option<Millis> {
    const KIND: SettingKind = SettingKind::DurationOrOff;

    fn from_text(text: &str) -> Option<Self> {
        if text == "off" { Some(None) } else { Millis::parse(text).map(Some) }
    }

    fn write(&self) -> String {
        self.map_or_else(|| "off".to_owned(), |time| time.write())
    }

    fn magnitude(&self) -> Option<u64> {
        self.map(Millis::ms)
    }
}

/// A size in bytes, written with a unit: `8MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(u64);

impl ByteSize {
    /// The bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The bytes, as the length of what is in memory.
    #[must_use]
    pub fn length(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl SettingValue for ByteSize {
    const KIND: SettingKind = SettingKind::Size;

    fn from_text(text: &str) -> Option<Self> {
        parse_unit(text, SIZES).map(Self)
    }

    fn write(&self) -> String {
        write_unit(self.0, SIZES, "0KiB")
    }

    fn magnitude(&self) -> Option<u64> {
        Some(self.0)
    }
}

/// A decimal, kept in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(u32);

impl Thousandths {
    /// How many thousandths.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0
    }
}

impl SettingValue for Thousandths {
    const KIND: SettingKind = SettingKind::Decimal;

    fn from_text(text: &str) -> Option<Self> {
        let number: f64 = text.parse().ok()?;
        let fits = (0.0..=1e6).contains(&number);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 10^9"
        )]
        fits.then(|| Self((number * 1_000.0).round() as u32))
    }

    fn write(&self) -> String {
        format!("{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }

    fn magnitude(&self) -> Option<u64> {
        Some(u64::from(self.0))
    }
}

/// Where a secret is, as it was written; nowhere if it is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPlace {
    text: String,
    reference: Option<Reference>,
}

impl SecretPlace {
    /// Where the secret is.
    #[must_use]
    pub const fn reference(&self) -> Option<&Reference> {
        self.reference.as_ref()
    }
}

impl SettingValue for SecretPlace {
    const KIND: SettingKind = SettingKind::Reference;

    fn from_text(text: &str) -> Option<Self> {
        let reference = Reference::parse(text);
        let fits = text.is_empty() || reference.is_some();
        fits.then(|| Self { text: text.to_owned(), reference })
    }

    fn write(&self) -> String {
        self.text.clone()
    }
}

/// The address or the file of a database, or where that is; may contain a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseAddress(String);

impl DatabaseAddress {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SettingValue for DatabaseAddress {
    const KIND: SettingKind = SettingKind::Text;

    fn from_text(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn show(&self) -> String {
        everloop_store::without_password(&self.0)
    }
}

fn parse_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// In the last unit that leaves a whole number. Zero has a unit, too, so that it can be read again.
fn write_unit(number: u64, units: &[(&str, u64)], zero: &str) -> String {
    if number == 0 {
        return zero.to_owned();
    }
    let fits = units.iter().rev().find(|(_, factor)| number.is_multiple_of(*factor));
    fits.map_or_else(|| number.to_string(), |(name, factor)| format!("{}{name}", number / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: SettingValue>(text: &str) -> Option<(Option<u64>, String)> {
        T::from_text(text).map(|value| (value.magnitude(), value.write()))
    }

    #[test]
    fn values_are_read_with_their_units_and_written_again() {
        let seen = |number: u64, written: &str| Some((Some(number), written.to_owned()));
        assert_eq!(round_trip::<Millis>("8s"), seen(8_000, "8s"));
        assert_eq!(round_trip::<Millis>("90s"), seen(90_000, "90s"));
        assert_eq!(round_trip::<Millis>("2h"), seen(7_200_000, "2h"));
        assert_eq!(round_trip::<ByteSize>("8MiB"), seen(8 << 20, "8MiB"));
        assert_eq!(round_trip::<ByteSize>("3KB"), seen(3_000, "3KB"));
        assert_eq!(round_trip::<Millis>("0m"), seen(0, "0s"));
        assert_eq!(round_trip::<ByteSize>("0MB"), seen(0, "0KiB"));
        assert_eq!(round_trip::<Thousandths>("0.7"), seen(700, "0.700"));
        assert_eq!(round_trip::<u32>("9"), seen(9, "9"));
        assert_eq!(round_trip::<Option<Millis>>("10m"), seen(600_000, "10m"));
        assert_eq!(round_trip::<Option<Millis>>("off"), Some((None, "off".to_owned())));
    }

    #[test]
    fn what_lacks_its_unit_or_is_no_number_is_refused() {
        for text in ["8", "s", "-1s", "8 parsecs", "off", ""] {
            assert!(Millis::from_text(text).is_none(), "{text}");
        }
        for text in ["8m", "8", "MiB"] {
            assert!(ByteSize::from_text(text).is_none(), "{text}");
        }
        for text in ["-0.1", "NaN", "inf", "many"] {
            assert!(Thousandths::from_text(text).is_none(), "{text}");
        }
        assert!(u32::from_text("-1").is_none() && bool::from_text("true").is_none());
    }

    #[test]
    fn a_range_includes_its_ends_and_nothing_beyond_them() {
        let range = 1..=9;
        for (text, fits) in [("0", false), ("1", true), ("9", true), ("10", false)] {
            assert_eq!(u32::within(text, Some(&range)).is_some(), fits, "{text}");
        }
        assert!(Thousandths::within("3", Some(&(0..=2_000))).is_none());
        assert!(Thousandths::within("2", Some(&(0..=2_000))).is_some());
    }
}
