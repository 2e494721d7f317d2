//! `sum`, `total` and `avg` that add decimals exactly: a thousand times 0.1 is 100.

use crate::exact::{Exact, KeptNumber};
use crate::value::LongDecimal;
use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Result};

/// Powers of ten at which floating-point numbers are tried as whole ones.
const SCALES: [(f64, u32); 4] = [(1.0, 0), (100.0, 2), (10_000.0, 4), (1_000_000.0, 6)];

/// Every number is kept in units of a millionth of a millionth.
const UNIT: u32 = 12;

/// What is smaller than that is kept in these, of numbers that are kept by their digits.
const FINE_UNIT: u32 = 30;

/// A whole number of this size and more is not told apart from its neighbours.
const WHOLE_MAX: f64 = 9e15;

/// A sum on the way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunningSum {
    units: i128,
    /// What numbers with many digits have beyond the units.
    fine: i128,
    /// What did not fit into units; then the sum is a floating-point one.
    rest: f64,
    is_rough: bool,
    has_point: bool,
    count: i64,
}

impl RunningSum {
    /// Adds a number, or takes it away.
    pub(crate) fn change(&mut self, value: ValueRef<'_>, sign: i8) {
        match value {
            // Text is no number of its column: it counts as nothing, and not as 0.
            ValueRef::Null | ValueRef::Text(_) => return,
            ValueRef::Integer(number) => self.add(Exact::new(i128::from(number), 0), sign),
            ValueRef::Real(number) => {
                self.has_point = true;
                match exact_of(number) {
                    Some(exact) => self.add(exact, sign),
                    None => {
                        self.is_rough = true;
                        self.rest += number * f64::from(sign);
                    }
                }
            }
            ValueRef::Blob(bytes) => {
                let digits = std::str::from_utf8(bytes).unwrap_or_default();
                let Some(exact) = Exact::parse(digits) else { return };
                self.has_point |= exact.scale() > 0;
                let in_units = exact.cut(UNIT);
                let fine = exact.minus(in_units).and_then(|fine| fine.in_units(FINE_UNIT));
                match fine.and_then(|fine| self.fine.checked_add(fine * i128::from(sign))) {
                    Some(fine) => {
                        self.fine = fine;
                        self.add(in_units, sign);
                    }
                    None => self.add(exact, sign),
                }
            }
        }
        self.count += i64::from(sign);
    }

    fn add(&mut self, exact: Exact, sign: i8) {
        let digits = exact.in_units(UNIT);
        match digits.and_then(|digits| self.units.checked_add(digits * i128::from(sign))) {
            Some(sum) => self.units = sum,
            None => {
                self.is_rough = true;
                self.rest += exact.to_f64() * f64::from(sign);
            }
        }
    }

    /// Adds what another has added up.
    pub(crate) fn join(&mut self, other: Self) {
        match self.units.checked_add(other.units) {
            Some(units) => self.units = units,
            None => {
                self.is_rough = true;
                self.rest += Exact::new(other.units, UNIT).to_f64();
            }
        }
        match self.fine.checked_add(other.fine) {
            Some(fine) => self.fine = fine,
            None => {
                self.is_rough = true;
                self.rest += Exact::new(other.fine, FINE_UNIT).to_f64();
            }
        }
        self.rest += other.rest;
        self.is_rough |= other.is_rough;
        self.has_point |= other.has_point;
        self.count += other.count;
    }

    /// The mean, if there is one.
    pub(crate) fn rough_mean(self) -> Option<f64> {
        match self.mean() {
            SumValue::Real(mean) if self.count > 0 => Some(mean),
            _ => None,
        }
    }

    /// The exact sum; none if a number could not be added exactly.
    fn exact(self) -> Option<Exact> {
        let sum = Exact::new(self.units, UNIT).trimmed();
        let sum = sum.plus(Exact::new(self.fine, FINE_UNIT).trimmed());
        sum.map(Exact::trimmed).filter(|_| !self.is_rough)
    }

    fn rough(self) -> f64 {
        let fine = Exact::new(self.fine, FINE_UNIT).to_f64();
        Exact::new(self.units, UNIT).to_f64() + fine + self.rest
    }

    fn value(self) -> SumValue {
        let Some(exact) = self.exact() else { return SumValue::Real(self.rough()) };
        match exact.kept() {
            KeptNumber::Int(whole) if self.has_point => {
                let number = exact.to_f64();
                let is_exact = whole.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS
                    || Exact::from_f64(number) == Some(exact);
                let long = || SumValue::Long(LongDecimal(whole.to_string()));
                if is_exact { SumValue::Real(number) } else { long() }
            }
            KeptNumber::Int(whole) => SumValue::Int(whole),
            KeptNumber::Real(number) => SumValue::Real(number),
            KeptNumber::Long(digits) => SumValue::Long(LongDecimal(digits)),
        }
    }

    fn mean(self) -> SumValue {
        let count = Exact::new(i128::from(self.count), 0);
        match self.exact().and_then(|sum| sum.divided_by(count)) {
            Some(mean) => SumValue::Real(mean.to_f64()),
            #[expect(clippy::cast_precision_loss, reason = "a mean is a rough number")]
            None => SumValue::Real(self.rough() / self.count as f64),
        }
    }
}

/// What a sum is worth.
#[derive(Debug, Clone, PartialEq)]
enum SumValue {
    Nothing,
    Int(i64),
    Real(f64),
    Long(LongDecimal),
}

impl ToSql for SumValue {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        match self {
            Self::Nothing => Ok(ToSqlOutput::Borrowed(ValueRef::Null)),
            Self::Int(number) => Ok(ToSqlOutput::Borrowed(ValueRef::Integer(*number))),
            Self::Real(number) => Ok(ToSqlOutput::Borrowed(ValueRef::Real(*number))),
            Self::Long(digits) => digits.to_sql(),
        }
    }
}

/// The decimal number that a floating-point number stands for, fast for those with few places.
fn exact_of(number: f64) -> Option<Exact> {
    for (power, scale) in SCALES {
        let scaled = (number * power).round();
        #[expect(clippy::float_cmp, reason = "it is the same number or it is not")]
        if scaled.abs() < WHOLE_MAX && scaled / power == number {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is whole and below the limit"
            )]
            return Some(Exact::new(i128::from(scaled as i64), scale));
        }
    }
    Exact::from_f64(number).filter(|exact| exact.scale() <= UNIT)
}

#[derive(Clone, Copy)]
enum SumKind {
    Sum,
    Total,
    Mean,
}

struct ExactSum(SumKind);

impl Aggregate<RunningSum, SumValue> for ExactSum {
    fn init(&self, _: &mut Context<'_>) -> Result<RunningSum> {
        Ok(RunningSum::default())
    }

    fn step(&self, context: &mut Context<'_>, sum: &mut RunningSum) -> Result<()> {
        sum.change(context.get_raw(0), 1);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<RunningSum>) -> Result<SumValue> {
        let mut sum = sum;
        self.value(sum.as_mut())
    }
}

impl WindowAggregate<RunningSum, SumValue> for ExactSum {
    fn value(&self, sum: Option<&mut RunningSum>) -> Result<SumValue> {
        let sum = sum.map(|sum| *sum).unwrap_or_default();
        Ok(match (self.0, sum.count) {
            (SumKind::Total, 0) => SumValue::Real(0.0),
            (_, 0) => SumValue::Nothing,
            (SumKind::Mean, _) => sum.mean(),
            (SumKind::Sum, _) => sum.value(),
            (SumKind::Total, _) => RunningSum { has_point: true, ..sum }.value(),
        })
    }

    fn inverse(&self, context: &mut Context<'_>, sum: &mut RunningSum) -> Result<()> {
        sum.change(context.get_raw(0), -1);
        Ok(())
    }
}

/// Replaces the sums of SQLite.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, kind) in [("sum", SumKind::Sum), ("total", SumKind::Total), ("avg", SumKind::Mean)] {
        connection.create_window_function(name, 1, flags, ExactSum(kind))?;
    }
    Ok(())
}
