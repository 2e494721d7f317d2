//! How likely an invented number is to agree by chance: many cells make many numbers look proven.
//!
//! ```text
//!   written 80.5 %    numbers that could have been written near it: 40.3 … 161.0, 1,208 of them
//!                     of these, some cells or sums would agree with 300: a chance of 25 %
//! ```

use super::tokens::WrittenNumber;
use crate::exact::Exact;
use std::collections::BTreeSet;

/// A proof by a cell of many that the sentence names in part.
pub(super) const CELL_CHANCE_MAX: f64 = 0.02;

/// A proof by what follows from rows that the sentence names.
pub(super) const NAMED_CHANCE_MAX: f64 = 0.12;

/// A proof by what follows from rows that it does not name.
pub(super) const OPEN_CHANCE_MAX: f64 = 0.03;

/// The values near a written number that would have agreed with it or its neighbours.
#[derive(Debug)]
pub(super) struct ChanceMeter {
    units: [f64; 2],
    low: f64,
    high: f64,
    /// The smallest step that the number could have been written with.
    step: f64,
    found: BTreeSet<i64>,
}

impl ChanceMeter {
    pub(super) fn new(number: &WrittenNumber) -> Self {
        let written = number.value.to_f64().abs();
        let mut step = 10_f64.powi(-i32::try_from(number.places).unwrap_or(0));
        if number.rough && number.places == 0 {
            let digits = number.value.abs().to_string();
            let zeros = digits.len() - digits.trim_end_matches('0').len();
            step = 10_f64.powi(i32::try_from(zeros).unwrap_or(0));
        }
        let unit = number.unit.to_f64();
        let other = if number.percent { unit / 100.0 } else { unit };
        let (low, high) = (written / 2.0, (written * 2.0).max(written + 5.0 * step));
        Self { units: [unit, other], low, high, step, found: BTreeSet::new() }
    }

    /// Counts a value that was compared.
    pub(super) fn take(&mut self, value: Exact) {
        let value = value.to_f64().abs();
        for unit in self.units {
            let scaled = value / unit;
            if scaled >= self.low && scaled <= self.high {
                #[expect(clippy::cast_possible_truncation, reason = "a rounded number of steps")]
                self.found.insert((scaled / self.step).round() as i64);
            }
        }
    }

    /// The part of the numbers nearby that would have agreed.
    pub(super) fn chance(&self) -> f64 {
        let all = ((self.high - self.low) / self.step).max(1.0);
        #[expect(clippy::cast_precision_loss, reason = "a rough part")]
        let found = self.found.len() as f64;
        (found / all).min(1.0)
    }
}
