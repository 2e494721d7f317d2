//! Numbers along an axis: round steps, short labels.

use crate::exact::Exact;
use crate::prove::grouped;
use everloop_types::Lang;

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

/// A number as short as its step allows, with the large units of the language.
pub(super) fn label(value: f64, step: f64, lang: Lang) -> String {
    let units: &[(f64, &str)] = match lang {
        Lang::ZhCn => &[(1e8, "\u{4ebf}"), (1e4, "\u{4e07}")],
        Lang::En => &[(1e9, "B"), (1e6, "M"), (1e3, "k")],
    };
    let size = value.abs().max(step);
    let (unit, sign) = units
        .iter()
        .find(|(unit, _)| size >= *unit * 10.0 || size >= *unit && *unit > 1e3)
        .copied()
        .unwrap_or((1.0, ""));
    let places = (-(step / unit).log10().floor()).clamp(0.0, 6.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 6")]
    let text = Exact::from_f64(value / unit).map(|exact| exact.with_places(places as u32));
    let text = text.unwrap_or_else(|| value.to_string());
    if value == 0.0 { "0".to_owned() } else { grouped(&text) + sign }
}

/// A number as it is, with at most four places.
pub(super) fn plain(value: f64) -> String {
    let exact = Exact::from_f64(value).map(|exact| exact.rounded(4).trimmed().to_string());
    grouped(&exact.unwrap_or_else(|| value.to_string()))
}
