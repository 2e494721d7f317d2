//! How many different values there are: exactly for a few, by estimate for many, in bounded memory.

use rusqlite::types::ValueRef;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Different values that are counted exactly.
const EXACT_MAX: usize = 50_000;

/// Different values of which each is counted.
const COUNTED_MAX: usize = 2_000;

/// Bits of a hash that choose a register; with 2^14 registers an estimate is off by 0.8 % or so.
const INDEX_BITS: u32 = 14;

/// A hash that is one already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_of_bytes(bytes, self.0);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Hashes, each once.
pub(super) type HashesSeen = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// How often each value is there, by its hash.
pub(super) type HashCounts = HashMap<u64, u64, BuildHasherDefault<IdentityHasher>>;

/// Counts different values by their hashes.
#[derive(Debug, Clone, Default)]
pub(super) struct DistinctCount {
    /// As long as there are only some; then they are in `few`.
    counts: HashCounts,
    has_counts_no_more: bool,
    few: HashesSeen,
    /// The longest run of zeros by register; empty as long as values are counted exactly.
    registers: Vec<u8>,
    /// Whether a value was there twice while they were counted exactly.
    has_repeats: bool,
}

impl DistinctCount {
    pub(super) fn add(&mut self, hash: u64) {
        if !self.registers.is_empty() {
            return self.register(hash);
        }
        if self.has_counts_no_more {
            self.has_repeats |= !self.few.insert(hash);
            if self.few.len() > EXACT_MAX {
                self.estimate();
            }
            return;
        }
        let count = self.counts.entry(hash).or_default();
        *count += 1;
        self.has_repeats |= *count > 1;
        if self.counts.len() > COUNTED_MAX {
            self.stop_counting();
        }
    }

    fn stop_counting(&mut self) {
        self.has_counts_no_more = true;
        self.few.extend(std::mem::take(&mut self.counts).into_keys());
    }

    /// How often each value is there, if there are only some.
    pub(super) fn counts(&self) -> Option<&HashCounts> {
        (!self.has_counts_no_more).then_some(&self.counts)
    }

    fn estimate(&mut self) {
        self.registers = vec![0; 1 << INDEX_BITS];
        for hash in std::mem::take(&mut self.few) {
            self.register(hash);
        }
    }

    fn register(&mut self, hash: u64) {
        let index = usize::try_from(hash >> (64 - INDEX_BITS)).unwrap_or(0);
        let zeros = ((hash << INDEX_BITS) | 1 << (INDEX_BITS - 1)).leading_zeros();
        let run = u8::try_from(zeros + 1).unwrap_or(u8::MAX);
        self.registers[index] = self.registers[index].max(run);
    }

    pub(super) fn join(&mut self, mut other: Self) {
        self.has_repeats |= other.has_repeats;
        if let (Some(_), Some(more)) = (self.counts(), other.counts()) {
            for (hash, count) in more {
                let own = self.counts.entry(*hash).or_default();
                self.has_repeats |= *own > 0;
                *own += count;
            }
            if self.counts.len() > COUNTED_MAX {
                self.stop_counting();
            }
            return;
        }
        self.stop_counting();
        other.stop_counting();
        if self.registers.is_empty() && other.registers.is_empty() {
            let both = self.few.len() + other.few.len();
            self.few.extend(other.few);
            self.has_repeats |= self.few.len() < both;
            if self.few.len() > EXACT_MAX {
                self.estimate();
            }
            return;
        }
        for part in [&mut *self, &mut other] {
            if part.registers.is_empty() {
                part.estimate();
            }
        }
        for (own, other) in self.registers.iter_mut().zip(&other.registers) {
            *own = (*own).max(*other);
        }
    }

    /// How many there are, and whether that is an estimate.
    pub(super) fn count(&self) -> (u64, bool) {
        if self.registers.is_empty() {
            return ((self.counts.len() + self.few.len()) as u64, false);
        }
        (estimate_of(&self.registers), true)
    }

    /// Whether a value is known to be there twice.
    pub(super) fn has_repeats(&self) -> bool {
        self.has_repeats
    }
}

/// The estimate of Flajolet and others. There are always more than `EXACT_MAX` values, so that it
/// needs no correction for few.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is an estimate, and positive"
)]
fn estimate_of(registers: &[u8]) -> u64 {
    let count = registers.len() as f64;
    let sum: f64 = registers.iter().map(|run| 0.5_f64.powi(i32::from(*run))).sum();
    let bias = 0.7213 / (1.0 + 1.079 / count);
    (bias * count * count / sum).round() as u64
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let halves = (product as u64, (product >> 64) as u64);
    halves.0 ^ halves.1
}

pub(super) fn hash_of_bytes(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ MIX ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), 0xa076_1d64_78bd_642f);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hash = fold(hash ^ u64::from_le_bytes(last), 0xe703_7ed1_a0b4_28db);
    fold(hash ^ MIX, 0x8ebc_6af0_9c88_c6e3)
}

/// The hash of a value; none for nothing. 1 and 1.0 are the same value, as in SQL.
pub(super) fn hash_of(value: ValueRef<'_>) -> Option<u64> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(number) => hash_of_bytes(&number.to_le_bytes(), 1),
        ValueRef::Real(number) => match whole(number) {
            Some(whole) => hash_of_bytes(&whole.to_le_bytes(), 1),
            None => hash_of_bytes(&number.to_bits().to_le_bytes(), 2),
        },
        ValueRef::Text(text) => hash_of_bytes(text, 3),
        ValueRef::Blob(bytes) => hash_of_bytes(bytes, 4),
    })
}

/// The hash of a row, from that of the values before and that of the next one, which may be none.
pub(super) fn hash_of_both(before: u64, next: Option<u64>) -> u64 {
    fold(before.rotate_left(7) ^ next.unwrap_or(0) ^ MIX, 0x5899_65cc_7537_4cc3)
}

fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    is_whole.then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(values: impl Iterator<Item = i64>) -> DistinctCount {
        let mut count = DistinctCount::default();
        values.for_each(|value| count.add(hash_of(ValueRef::Integer(value)).unwrap()));
        count
    }

    #[test]
    fn a_few_are_counted_exactly_and_many_within_three_percent() {
        assert_eq!(count((0..90_000).map(|at| at % 40_000)).count(), (40_000, false));
        for many in [60_000_u64, 1_000_000] {
            let (found, is_estimate) = count(0..i64::try_from(many).unwrap()).count();
            assert!(is_estimate && found.abs_diff(many) * 100 < many * 3, "{found} of {many}");
        }
    }

    #[test]
    fn parts_that_are_counted_apart_give_the_count_of_all() {
        let mut parts = count(0..30_000);
        parts.join(count(20_000..45_000));
        assert_eq!(parts.count(), (45_000, false));
        assert!(parts.has_repeats());
        parts.join(count(0..200_000));
        assert_eq!(parts.count(), count(0..200_000).count());
        let mut apart = count(0..10);
        apart.join(count(10..20));
        assert!(!apart.has_repeats());
    }

    #[test]
    fn a_whole_number_with_a_point_is_the_same_value() {
        assert_eq!(hash_of(ValueRef::Real(2.0)), hash_of(ValueRef::Integer(2)));
        assert_ne!(hash_of(ValueRef::Real(2.5)), hash_of(ValueRef::Integer(2)));
        assert_ne!(hash_of(ValueRef::Text(b"2")), hash_of(ValueRef::Integer(2)));
    }
}
