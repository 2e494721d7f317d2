//! Numbers along an axis: round steps, short labels.

use crate::exact::Exact;
use crate::prove::grouped;
use everloop_types::Lang;

/// Characters of an amount beside its bar.
const AMOUNT_CHARS: usize = 10;

/// The round number next to a step: 1, 2 or 5 times a power of ten, not below it.
pub(super) fn nice(step: f64) -> f64 {
    if !step.is_finite() || step <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let part = step / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| part <= *round * 1.000_001);
    round.unwrap_or(10.0) * power
}

/// Places from `low` to `high` and a little beyond, about `count` of them.
pub(super) fn places(low: f64, high: f64, count: f64) -> Vec<f64> {
    let step = nice((high - low).max(f64::MIN_POSITIVE) / count);
    let first = (low / step).floor();
    let last = (high / step).ceil();
    let mut found = Vec::new();
    let mut at = first;
    while at <= last && found.len() < 50 {
        // A multiple, so that no error adds up.
        found.push(at * step);
        at += 1.0;
    }
    found
}

/// How the numbers along an axis are written: all in the same unit, as short as their step allows.
pub(super) struct TickScale {
    unit: f64,
    sign: &'static str,
    places: u32,
}

impl TickScale {
    /// The scale of numbers as far from zero as `most`, with the large units of the language.
    pub(super) fn new(most: f64, step: f64, lang: Lang) -> Self {
        let units: &[(f64, &str)] = match lang {
            Lang::ZhCn => &[(1e8, "\u{4ebf}"), (1e4, "\u{4e07}")],
            Lang::En => &[(1e9, "B"), (1e6, "M"), (1e3, "k")],
        };
        let size = most.abs().max(step);
        let (unit, sign) = units
            .iter()
            .find(|(unit, _)| size >= *unit * 10.0 || size >= *unit && *unit > 1e3)
            .copied()
            .unwrap_or((1.0, ""));
        let places = (-(step / unit).log10().floor()).clamp(0.0, 6.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 6")]
        let places = places as u32;
        Self { unit, sign, places }
    }

    /// The scale of places along an axis.
    pub(super) fn of(places: &[f64], lang: Lang) -> Self {
        let most = places.iter().fold(0.0_f64, |most, place| most.max(place.abs()));
        let step = places.get(1).map_or(1.0, |second| second - places[0]);
        Self::new(most, step, lang)
    }

    pub(super) fn label(&self, value: f64) -> String {
        if value == 0.0 {
            return "0".to_owned();
        }
        let text = Exact::from_f64(value / self.unit).map(|exact| exact.with_places(self.places));
        with_minus(grouped(&text.unwrap_or_else(|| value.to_string())) + self.sign)
    }
}

/// A minus that is as wide as a plus.
fn with_minus(number: String) -> String {
    match number.strip_prefix('-') {
        Some(digits) => format!("\u{2212}{digits}"),
        None => number,
    }
}

/// An amount beside its bar: as it is if that is short, else rounded or in the large units.
pub(super) fn amount(value: f64, lang: Lang) -> String {
    let places = if value.abs() >= 1.0 { 2 } else { 4 };
    let exact = Exact::from_f64(value).map(|exact| exact.rounded(places).trimmed().to_string());
    let plain = with_minus(grouped(&exact.unwrap_or_else(|| value.to_string())));
    if plain.chars().count() <= AMOUNT_CHARS {
        return plain;
    }
    let unit_step = 10_f64.powf(value.abs().log10().floor() - 3.0);
    TickScale::new(value, unit_step, lang).label(value)
}

/// A number as it is, with at most four places.
pub(super) fn plain(value: f64) -> String {
    let exact = Exact::from_f64(value).map(|exact| exact.rounded(4).trimmed().to_string());
    with_minus(grouped(&exact.unwrap_or_else(|| value.to_string())))
}
