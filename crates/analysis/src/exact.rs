//! Exact numbers that are kept exactly: `0.1 + 0.2` is `0.3`.

use std::cmp::Ordering;
use std::fmt;

/// Digits after the point that a quotient is worked out to.
const QUOTIENT_PLACES: u32 = 18;

/// Digits after the point that are kept at all.
const PLACES_MAX: u32 = 30;

/// The powers of ten that fit.
const POWERS: [i128; 39] = powers();

const fn powers() -> [i128; 39] {
    let mut powers = [1; 39];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
}

/// A number as SQLite can keep it without a change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KeptNumber {
    /// A whole number.
    Int(i64),
    /// A floating-point number that is read back with the same digits.
    Real(f64),
    /// The digits, of which a floating-point number would lose some.
    Long(String),
}

/// A number `digits / 10^scale`.
#[derive(Debug, Clone, Copy)]
pub struct Exact {
    digits: i128,
    scale: u32,
}

impl Exact {
    /// Nothing.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };

    /// `digits / 10^scale`.
    #[must_use]
    pub const fn new(digits: i128, scale: u32) -> Self {
        Self { digits, scale }
    }

    /// Reads `-12.50` or `1.5e-3`; no separators, no blanks.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (sign, number) = match number.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + part.len() == 0 || !all_digits(whole) || !all_digits(part) {
            return None;
        }
        let mut digits: i128 = 0;
        for byte in whole.bytes().chain(part.bytes()) {
            digits = digits.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
        }
        let scale = i32::try_from(part.len()).ok()?.checked_sub(exponent)?;
        let found = match u32::try_from(scale) {
            Ok(scale) if scale <= PLACES_MAX => Self { digits, scale },
            Ok(_) => return None,
            Err(_) => {
                let power = 10_i128.checked_pow(scale.unsigned_abs())?;
                Self { digits: digits.checked_mul(power)?, scale: 0 }
            }
        };
        Some(Self { digits: sign * found.digits, ..found })
    }

    /// The shortest decimal number that is read back as this one.
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        number.is_finite().then(|| Self::parse(&format!("{number:e}")))?
    }

    /// The nearest floating-point number.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// In the form that keeps all digits.
    pub(crate) fn kept(self) -> KeptNumber {
        let value = self.trimmed();
        if value.scale == 0
            && let Ok(whole) = i64::try_from(value.digits)
        {
            return KeptNumber::Int(whole);
        }
        let number = value.to_f64();
        match Self::from_f64(number) {
            Some(back) if back == value => KeptNumber::Real(number),
            _ => KeptNumber::Long(value.to_string()),
        }
    }

    /// Digits after the point.
    #[must_use]
    pub fn scale(self) -> u32 {
        self.scale
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// Without a sign.
    #[must_use]
    pub fn abs(self) -> Self {
        Self { digits: self.digits.abs(), ..self }
    }

    /// With the other sign.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { digits: -self.digits, ..self }
    }

    /// Digits that say something: all but leading and trailing zeros.
    #[must_use]
    pub fn significant_digits(self) -> usize {
        let digits = self.digits.unsigned_abs().to_string();
        digits.trim_end_matches('0').len()
    }

    /// The number times `10^places`, if that is whole.
    #[must_use]
    pub fn in_units(self, places: u32) -> Option<i128> {
        // Zeros are only in the way if there are too many places.
        if self.scale <= places { self.at_scale(places) } else { self.trimmed().at_scale(places) }
    }

    /// Without zeros at its end.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        while self.scale > 0 && self.digits % 10 == 0 {
            self.digits /= 10;
            self.scale -= 1;
        }
        self
    }

    fn at_scale(self, scale: u32) -> Option<i128> {
        let power = POWERS.get(scale.checked_sub(self.scale)? as usize)?;
        self.digits.checked_mul(*power)
    }

    /// The sum; none if it has too many digits.
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let digits = self.at_scale(scale)?.checked_add(other.at_scale(scale)?)?;
        Some(Self { digits, scale })
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }

    /// The product.
    #[must_use]
    pub fn times(self, other: Self) -> Option<Self> {
        let (one, other) = (self.trimmed(), other.trimmed());
        let digits = one.digits.checked_mul(other.digits)?;
        let found = Self { digits, scale: one.scale + other.scale };
        Some(if found.scale > PLACES_MAX { found.rounded(PLACES_MAX) } else { found })
    }

    /// The quotient, rounded after 18 digits, or fewer where it has many before the point; none for
    /// a division by zero, or if the quotient has too many digits.
    #[must_use]
    pub fn divided_by(self, other: Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let (one, other) = (self.trimmed(), other.trimmed());
        let mut places = QUOTIENT_PLACES;
        loop {
            let power = POWERS.get((places + other.scale) as usize);
            if let Some(digits) = power.and_then(|power| one.digits.checked_mul(*power)) {
                let digits = divided(digits, other.digits);
                let found = Self { digits, scale: places + one.scale };
                return Some(found.rounded(PLACES_MAX).trimmed());
            }
            places = match places {
                // Not even the whole part fits: the divisor has too many digits.
                0 => return Self::from_f64(one.to_f64() / other.to_f64()),
                _ => places.saturating_sub(3),
            };
        }
    }

    /// Rounded to so many digits after the point, halves away from nothing.
    #[must_use]
    pub fn rounded(self, places: u32) -> Self {
        self.round_with(places, |rest, half| rest >= half)
    }

    /// The same, halves to the even digit.
    #[must_use]
    pub fn rounded_even(self, places: u32) -> Self {
        if places >= self.scale {
            return self;
        }
        let Some(power) = 10_i128.checked_pow(self.scale - places) else { return Self::ZERO };
        let is_odd = (self.digits / power) % 2 != 0;
        self.round_with(places, |rest, half| rest > half || rest == half && is_odd)
    }

    /// Cut off after so many digits.
    #[must_use]
    pub fn cut(self, places: u32) -> Self {
        self.round_with(places, |_, _| false)
    }

    fn round_with(self, places: u32, up: impl Fn(i128, i128) -> bool) -> Self {
        if places >= self.scale {
            return self;
        }
        let Some(power) = 10_i128.checked_pow(self.scale - places) else { return Self::ZERO };
        let (whole, rest) = (self.digits / power, (self.digits % power).abs());
        let step = if up(rest, power / 2) { self.digits.signum() } else { 0 };
        Self { digits: whole + step, scale: places }
    }

    /// With exactly so many digits after the point.
    #[must_use]
    pub fn with_places(self, places: u32) -> String {
        let rounded = self.rounded(places);
        match rounded.at_scale(places) {
            Some(digits) => Self { digits, scale: places }.to_string(),
            None => rounded.to_string(),
        }
    }
}

/// The quotient, rounded to a whole number, halves away from zero.
fn divided(digits: i128, by: i128) -> i128 {
    let (whole, rest) = (digits / by, digits % by);
    // Twice the rest may have too many digits.
    let is_half = rest.unsigned_abs() >= by.unsigned_abs() - rest.unsigned_abs();
    if is_half { whole + digits.signum() * by.signum() } else { whole }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let places = self.scale as usize;
        let digits = format!("{:0>width$}", self.digits.unsigned_abs(), width = places + 1);
        let (whole, part) = digits.split_at(digits.len() - places);
        match part {
            "" => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{part}"),
        }
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        match (self.at_scale(scale), other.at_scale(scale)) {
            (Some(one), Some(two)) => one.cmp(&two),
            _ => self.to_f64().total_cmp(&other.to_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Exact {
        Exact::parse(text).unwrap()
    }

    #[test]
    fn tenths_add_up_exactly() {
        assert_eq!(number("0.1").plus(number("0.2")), Some(number("0.3")));
        assert_eq!(Exact::from_f64(0.1).unwrap().to_string(), "0.1");
        assert_eq!(Exact::from_f64(1e22).unwrap().to_string(), "10000000000000000000000");
    }

    #[test]
    fn quotients_and_rounding_are_those_of_a_person() {
        let third = number("1").divided_by(number("3")).unwrap();
        assert_eq!(third.with_places(4), "0.3333");
        assert_eq!(number("2.5").rounded(0).to_string(), "3");
        assert_eq!(number("2.5").rounded_even(0).to_string(), "2");
        assert_eq!(number("-2.45").with_places(1), "-2.5");
        assert_eq!(number("7").with_places(2), "7.00");
        assert!(number("1").divided_by(Exact::ZERO).is_none());
        let of = |one: &str, other: &str| number(one).divided_by(number(other)).unwrap();
        assert_eq!(of("2", "3").to_string(), "0.666666666666666667");
        assert_eq!(of("-2", "3").to_string(), "-0.666666666666666667");
        assert_eq!(of("1", "-6").to_string(), "-0.166666666666666667");
        // A divisor of many digits costs places, and not the quotient.
        let long = of("1", "0.1234567890123456789012");
        assert_eq!(long.with_places(12), "8.100000072900");
        assert_eq!(of("100000000000000000000", "1.0000000000000000000000000001").to_f64(), 1e20);
        let tiny = number("0.000000000000000000000000000003");
        assert!(number("12345678901234567890").divided_by(tiny).is_none(), "too many digits");
    }

    #[test]
    fn numbers_are_kept_in_the_form_that_loses_no_digit() {
        let kept = |text: &str| number(text).kept();
        assert_eq!(kept("12345678901234567"), KeptNumber::Int(12_345_678_901_234_567));
        assert_eq!(kept("0.30000000000000004"), KeptNumber::Real(0.1 + 0.2));
        let long = "12345678901234.567";
        assert_eq!(kept(long), KeptNumber::Long(long.to_owned()));
        let large = "12345678901234567890123";
        assert_eq!(kept(large), KeptNumber::Long(large.to_owned()));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for bad in ["", "-", ".", "1,000", "1.2.3", "0x10", "1e999", "１"] {
            assert!(Exact::parse(bad).is_none(), "{bad}");
        }
    }
}
