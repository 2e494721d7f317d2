//! Whether a number as written is a number as found: rounding, units and percent signs.

use super::tokens::{UNITS, WrittenNumber};
use crate::exact::Exact;

/// How near a wrongly rounded number is to the one that was meant.
const NEAR: f64 = 0.02;

/// Whether a written number says what was found. A unit that the column's name has already is not
/// counted twice.
pub(super) fn matches(number: &WrittenNumber, found: Exact, column: &str) -> bool {
    let is_raw_percent = number.percent && !may_hold_percents(found, column);
    // `8.3` in `margin_pct` is 8.3 %, and not 830 %.
    let is_share = !(number.percent && holds_percents(found, column));
    let readings = readings(number, column).take(if is_raw_percent { 1 } else { 2 });
    let mut readings = readings.skip(usize::from(!is_share));
    readings.any(|unit| says(number, found, unit))
}

/// What columns of percents are called; the last ones are Chinese.
const PERCENT_NAMES: [&str; 13] = [
    "percent", "pct", "share", "rate", "ratio", "growth", "change", "margin", "%", "\u{7387}",
    "\u{6bd4}", "\u{5360}", "\u{5e45}",
];

/// Whether `12.5` in a column may be written as 12.5 %: by its name, or because it is no count.
fn may_hold_percents(found: Exact, column: &str) -> bool {
    let column = column.to_lowercase();
    let is_small = found.abs() <= Exact::new(100, 0) && found.trimmed().scale() > 0;
    PERCENT_NAMES.iter().any(|name| column.contains(name)) || is_small && !column.is_empty()
}

/// Whether a column certainly holds percents.
fn holds_percents(found: Exact, column: &str) -> bool {
    let column = column.to_lowercase();
    let says = ["percent", "pct", "%", "\u{767e}\u{5206}"].iter().any(|name| column.contains(name));
    says && found.abs() > Exact::new(1, 0)
}

/// Whether it is near to what was found without saying it.
pub(super) fn is_near(number: &WrittenNumber, found: f64, column: &str) -> bool {
    let written = number.value.to_f64().abs();
    readings(number, column).any(|unit| {
        let found = found.abs() / unit.to_f64();
        found > 0.0 && (written - found).abs() / found < NEAR
    })
}

/// What one of the written units may be worth.
fn readings(number: &WrittenNumber, column: &str) -> impl Iterator<Item = Exact> {
    let hundredth = Exact::new(1, 2);
    let one = Exact::new(1, 0);
    let has_unit = !number.unit_text.is_empty();
    let is_of_column =
        || unit_of(column).is_some_and(|power| Exact::new(10_i128.pow(power), 0) == number.unit);
    let unit = number.unit;
    let first = if number.percent { unit.times(hundredth).unwrap_or(unit) } else { unit };
    // A column may hold percents, or ten thousands, as such.
    let holds_units = if has_unit { is_of_column() } else { number.percent };
    std::iter::once(first).chain(holds_units.then_some(one))
}

/// The power of ten that a column counts in by its name, as `revenue_mn` does.
fn unit_of(column: &str) -> Option<u32> {
    let parts: Vec<&str> = column.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let names = |unit: &str| {
        let unit = unit.trim();
        // `k` alone is a name of its own.
        let is_part = |part: &&str| {
            let part = part.strip_suffix('s').filter(|part| part.len() > 3).unwrap_or(part);
            part.eq_ignore_ascii_case(unit) && (unit.len() > 1 || parts.len() > 1)
        };
        if unit.is_ascii() { parts.iter().any(is_part) } else { column.contains(unit) }
    };
    UNITS.iter().find(|(unit, _)| names(unit)).map(|(_, power)| *power)
}

fn says(number: &WrittenNumber, found: Exact, unit: Exact) -> bool {
    let Some(scaled) = found.divided_by(unit) else { return false };
    // Prose says "fell by 5" of −5.
    let (written, scaled) = match number.signed {
        true => (number.value, scaled),
        false => (number.value.abs(), scaled.abs()),
    };
    if scaled.rounded(number.places) == written || scaled.rounded_even(number.places) == written {
        return true;
    }
    number.rough && says_roughly(written, scaled)
}

/// "About 1,200" says 1,234, but not 1,260.
fn says_roughly(written: Exact, found: Exact) -> bool {
    let mut zeros = 0_u32;
    let whole = written.trimmed();
    let digits = whole.to_string();
    if whole.scale() == 0 {
        zeros = u32::try_from(digits.len() - digits.trim_end_matches('0').len()).unwrap_or(0);
    }
    if zeros == 0 {
        return found.cut(whole.scale()) == whole;
    }
    let power = Exact::new(10_i128.pow(zeros.min(30)), 0);
    let parts = (found.divided_by(power), whole.divided_by(power));
    let (Some(found), Some(written)) = parts else { return false };
    found.rounded(0) == written || found.cut(0) == written
}
