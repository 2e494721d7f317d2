//! Functions for queries that SQLite lacks or has otherwise: rounding as people round, medians,
//! spread, correlation, roots, powers and logarithms.
//!
//! `analysis.py` of a report has the same functions in Python (`report/again.py`).

use crate::exact::Exact;
use crate::value::DataValue;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

/// Values of which a median is found: they are held in memory.
const VALUES_MAX: usize = 20_000_000;

const FLAGS: FunctionFlags = FunctionFlags::SQLITE_UTF8.union(FunctionFlags::SQLITE_DETERMINISTIC);

type RealFunction = fn(f64) -> f64;

/// Adds the functions to a connection.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    for arguments in [1, 2] {
        connection.create_scalar_function("round", arguments, FLAGS, round)?;
    }
    let of_one: [(&str, RealFunction); 10] = [
        ("sqrt", f64::sqrt),
        ("exp", f64::exp),
        ("ln", f64::ln),
        ("log", f64::log10),
        ("log10", f64::log10),
        ("log2", f64::log2),
        ("floor", f64::floor),
        ("ceil", f64::ceil),
        ("ceiling", f64::ceil),
        ("trunc", f64::trunc),
    ];
    for (name, function) in of_one {
        connection.create_scalar_function(name, 1, FLAGS, move |context: &Context<'_>| {
            Ok(number(context, 0).map(function).and_then(plain))
        })?;
    }
    for name in ["pow", "power"] {
        connection.create_scalar_function(name, 2, FLAGS, |context: &Context<'_>| {
            let base = number(context, 0).zip(number(context, 1));
            Ok(base.map(|(base, exponent)| base.powf(exponent)).and_then(plain))
        })?;
    }
    connection.create_aggregate_function("median", 1, FLAGS, Quantile)?;
    for name in ["percentile", "quantile"] {
        connection.create_aggregate_function(name, 2, FLAGS, Quantile)?;
    }
    let spreads = [
        ("stddev", Spread { of_all: false, is_root: true }),
        ("stddev_samp", Spread { of_all: false, is_root: true }),
        ("stddev_pop", Spread { of_all: true, is_root: true }),
        ("variance", Spread { of_all: false, is_root: false }),
        ("var_samp", Spread { of_all: false, is_root: false }),
        ("var_pop", Spread { of_all: true, is_root: false }),
    ];
    for (name, spread) in spreads {
        connection.create_aggregate_function(name, 1, FLAGS, spread)?;
    }
    connection.create_aggregate_function("corr", 2, FLAGS, Correlation)
}

/// The number of an argument; text is none.
fn number(context: &Context<'_>, at: usize) -> Option<f64> {
    match context.get_raw(at) {
        #[expect(clippy::cast_precision_loss, reason = "these functions give rough numbers")]
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Blob(bytes) => {
            std::str::from_utf8(bytes).ok().and_then(Exact::parse).map(Exact::to_f64)
        }
        ValueRef::Null | ValueRef::Text(_) => None,
    }
}

/// Whole numbers as such; nothing for what is no number, such as the root of -1.
fn plain(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Rounds the decimal number that a person sees, halves away from nothing: 2.675 is 2.68.
fn round(context: &Context<'_>) -> Result<Option<f64>> {
    let places = match context.len() {
        1 => 0,
        _ => match context.get_raw(1) {
            ValueRef::Integer(places) => u32::try_from(places.clamp(0, 30)).unwrap_or(0),
            ValueRef::Null => return Ok(None),
            _ => return Err(Error::UserFunctionError("round: places are a whole number".into())),
        },
    };
    let value = DataValue::of_sql(context.get_raw(0));
    let rounded = value.number().map(|exact| exact.rounded(places).to_f64());
    Ok(rounded.or_else(|| number(context, 0)))
}

/// Values that are put in order; and which share of them lies below what is looked for.
#[derive(Debug, Default)]
struct OrderedValues {
    values: Vec<f64>,
    share: Option<f64>,
}

/// `median(x)`, and `percentile(x, p)` with `p` from 0 to 100: between two values, in proportion to
/// their distance.
struct Quantile;

impl Aggregate<OrderedValues, Option<f64>> for Quantile {
    fn init(&self, _: &mut Context<'_>) -> Result<OrderedValues> {
        Ok(OrderedValues::default())
    }

    fn step(&self, context: &mut Context<'_>, found: &mut OrderedValues) -> Result<()> {
        let percent = if context.len() == 1 { Some(50.0) } else { number(context, 1) };
        match percent {
            Some(percent) if (0.0..=100.0).contains(&percent) => {
                found.share = Some(percent / 100.0);
            }
            _ => return Err(Error::UserFunctionError("percentile: 0 to 100".into())),
        }
        if found.values.len() >= VALUES_MAX {
            return Err(Error::UserFunctionError("median: too many values".into()));
        }
        found.values.extend(number(context, 0));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, found: Option<OrderedValues>) -> Result<Option<f64>> {
        let Some(OrderedValues { mut values, share: Some(share) }) = found else {
            return Ok(None);
        };
        values.sort_by(f64::total_cmp);
        Ok(quantile(&values, share).and_then(plain))
    }
}

/// The value below which this share of the values lies; they are in order. Between two values it
/// is as far from each as the share is.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than a billion")]
    let place = share * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a place in the list"
    )]
    let below = (place.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (high - low) * place.fract())
}

/// Means and squares on the way, without losing digits (Welford).
#[derive(Debug, Default)]
struct RunningSpread {
    count: f64,
    mean: (f64, f64),
    squares: (f64, f64),
    products: f64,
}

impl RunningSpread {
    fn take(&mut self, one: f64, other: f64) {
        self.count += 1.0;
        let (from_one, from_other) = (one - self.mean.0, other - self.mean.1);
        self.mean.0 += from_one / self.count;
        self.mean.1 += from_other / self.count;
        self.squares.0 += from_one * (one - self.mean.0);
        self.squares.1 += from_other * (other - self.mean.1);
        self.products += from_one * (other - self.mean.1);
    }
}

struct Spread {
    /// Whether the values are all there are, and not a sample.
    of_all: bool,
    is_root: bool,
}

impl Aggregate<RunningSpread, Option<f64>> for Spread {
    fn init(&self, _: &mut Context<'_>) -> Result<RunningSpread> {
        Ok(RunningSpread::default())
    }

    fn step(&self, context: &mut Context<'_>, spread: &mut RunningSpread) -> Result<()> {
        if let Some(number) = number(context, 0) {
            spread.take(number, 0.0);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, spread: Option<RunningSpread>) -> Result<Option<f64>> {
        let spread = spread.unwrap_or_default();
        let count = if self.of_all { spread.count } else { spread.count - 1.0 };
        if count < 1.0 {
            return Ok(None);
        }
        let variance = spread.squares.0 / count;
        Ok(plain(if self.is_root { variance.sqrt() } else { variance }))
    }
}

struct Correlation;

impl Aggregate<RunningSpread, Option<f64>> for Correlation {
    fn init(&self, _: &mut Context<'_>) -> Result<RunningSpread> {
        Ok(RunningSpread::default())
    }

    fn step(&self, context: &mut Context<'_>, spread: &mut RunningSpread) -> Result<()> {
        if let Some((one, other)) = number(context, 0).zip(number(context, 1)) {
            spread.take(one, other);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, spread: Option<RunningSpread>) -> Result<Option<f64>> {
        let spread = spread.unwrap_or_default();
        Ok(plain(spread.products / (spread.squares.0 * spread.squares.1).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(sql: &str) -> Option<f64> {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection.query_row(sql, (), |row| row.get(0)).unwrap()
    }

    #[test]
    fn numbers_are_rounded_as_people_round_them() {
        let cases = [
            ("round(2.675, 2)", 2.68),
            ("round(1.005, 2)", 1.01),
            ("round(-2.5)", -3.0),
            ("round(7)", 7.0),
            ("round(0.1 + 0.2, 5)", 0.3),
            ("round(1e300, 2)", 1e300),
        ];
        for (sql, wanted) in cases {
            assert_eq!(value_of(&format!("SELECT {sql}")), Some(wanted), "{sql}");
        }
        assert_eq!(value_of("SELECT round(NULL, 2)"), None);
        assert_eq!(value_of("SELECT sqrt(-1)"), None);
        assert_eq!(value_of("SELECT pow(2, 10) + ceil(0.5) + log10(100)"), Some(1_027.0));
    }

    #[test]
    fn medians_and_spread_are_those_of_statistics() {
        let of = |what: &str| {
            value_of(&format!(
                "WITH t(x, y) AS (VALUES (2, 4), (4, 8), (4, 8), (5, 10), (NULL, 1), ('a', 1)) \
                 SELECT {what} FROM t"
            ))
        };
        assert_eq!(of("median(x)"), Some(4.0));
        assert_eq!(of("percentile(x, 25)"), Some(3.5));
        assert_eq!(of("percentile(x, 100)"), Some(5.0));
        assert_eq!(of("var_pop(x)"), Some(1.1875));
        assert_eq!(of("round(stddev(x), 6)"), Some(1.258_306));
        assert_eq!(of("round(corr(x, y), 9)"), Some(1.0));
        assert_eq!(of("median(x) FILTER (WHERE x > 9)"), None);
    }
}
