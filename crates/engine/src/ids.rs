//! Fresh ids: a prefix, then 26 characters that sort by time and cannot be guessed.

use everloop_types::{EffectId, UtcMs, digest_bytes};
use std::sync::{Mutex, PoisonError};

/// The characters of an id that are its time.
const TIME_CHARS: usize = 10;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// `prefix` and 26 characters: 48 bits of time, 80 random bits.
///
/// # Panics
/// If the machine has no source of randomness: ids would not be unique.
#[must_use]
pub fn fresh_id(prefix: &str, now: UtcMs) -> String {
    let mut chance = [0_u8; 16];
    getrandom::fill(&mut chance[6..]).expect("the machine has a source of chance");
    chance[..6].copy_from_slice(&now.to_be_bytes()[2..]);
    let mut bits = after_last(u128::from_be_bytes(chance));
    let mut out = [0_u8; 26];
    for place in out.iter_mut().rev() {
        *place = ALPHABET[usize::try_from(bits & 31).unwrap_or_default()];
        bits >>= 5;
    }
    format!("{prefix}{}", out.map(char::from).iter().collect::<String>())
}

/// Bits of an id that are chance; those before them are the time.
const CHANCE_BITS: u32 = 80;

/// The same bits, or others of the same time that come after those of the last id: what one process
/// makes within a millisecond is listed in the order in which it was made.
fn after_last(bits: u128) -> u128 {
    static LAST: Mutex<u128> = Mutex::new(0);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same_time = bits >> CHANCE_BITS == *last >> CHANCE_BITS;
    let bits = match is_same_time && bits <= *last {
        // A step by chance: ids stay hard to guess, and their ends differ.
        true => last.wrapping_add(1 + (bits & 0xff_ffff_ffff)),
        false => bits,
    };
    *last = bits;
    bits
}

/// `prefix` and 26 characters: the time, and what follows from a key. Two ids of one key differ in
/// their time only.
#[must_use]
pub fn keyed_id(prefix: &str, now: UtcMs, key: &str) -> String {
    let fresh = fresh_id("", now);
    let rest = digest_bytes(key.as_bytes());
    let rest: String = rest.chars().take(26 - TIME_CHARS).collect();
    format!("{prefix}{}{rest}", &fresh[..TIME_CHARS])
}

/// The key of every attempt at an effect, and of no other effect.
#[must_use]
pub(crate) fn idem_key(effect: &EffectId) -> String {
    digest_bytes(effect.to_string().as_bytes())
}

/// `prefix` and 26 characters that follow from the effect alone: the time is that of its run, so
/// that a child is listed beside its parent.
#[must_use]
pub(crate) fn derived_id(prefix: &str, effect: &EffectId) -> String {
    let run = effect.run.as_str();
    let own = run.split_once('_').map_or(run, |(_, own)| own);
    let time: String = own.chars().take(TIME_CHARS).collect();
    let rest = digest_bytes(effect.to_string().as_bytes());
    let rest: String = rest.chars().take(26 - TIME_CHARS).collect();
    format!("{prefix}{time:0>TIME_CHARS$}{rest}")
}

#[cfg(test)]
mod tests {
    use super::{derived_id, fresh_id};
    use everloop_types::{EffectId, RunId};

    #[test]
    fn a_child_is_named_by_its_effect_and_nothing_else() {
        let run = RunId::new(fresh_id("run_", 1_000));
        let effect = EffectId { run, cause: 4, index: 0 };
        let id = derived_id("run_", &effect);
        assert_eq!(id, derived_id("run_", &effect.clone()));
        assert_eq!((id.len(), &id[..14]), (30, &effect.run.as_str()[..14]));
        assert_ne!(id, derived_id("run_", &EffectId { index: 1, ..effect.clone() }));
        assert_ne!(id, effect.run.as_str());
    }

    #[test]
    fn ids_sort_by_time_and_never_repeat() {
        let (early, late) = (fresh_id("run_", 1_000), fresh_id("run_", 2_000));
        assert!(early < late);
        assert_eq!(early.len(), 30);
        let within: Vec<String> = (0..50).map(|_| fresh_id("run_", 3_000)).collect();
        assert!(within.is_sorted_by(|one, next| one < next), "{within:?}");
    }
}
