//! What a run has cost, by prices that the user keeps: `prices.toml` in the data folder.
//!
//! ```toml
//! currency = "USD"
//! [models."openai/some-model"]   # per million tokens
//! input = 2.5
//! cached = 1.25                  # those of the input that came from the provider's cache
//! output = 10
//! ```
//!
//! Nothing is guessed: a model without a price leaves the cost of its run unknown. No prices are
//! built in, as they change without notice.

use everloop_engine::History;
use everloop_types::journal::{EntryKind, Outcome};
use everloop_types::{EffectId, ModelChoice, Money, Usage};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The table of prices.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(default)]
    currency: String,
    #[serde(default)]
    models: BTreeMap<String, Price>,
}

/// Per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    /// As much as other input where it is not given.
    cached: Option<f64>,
    output: f64,
}

impl Price {
    /// What so many tokens cost, times a million.
    fn of(self, usage: Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let cached_price = self.cached.unwrap_or(self.input);
        fresh as f64 * self.input
            + cached as f64 * cached_price
            + usage.output_tokens as f64 * self.output
    }
}

/// The price of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPrice {
    price: Price,
    currency: String,
}

impl ModelPrice {
    /// What so many tokens cost.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> Cost {
        Cost { amount: self.price.of(usage) / 1e6, currency: self.currency.clone() }
    }
}

/// What a run has cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// Of what.
    pub currency: String,
}

impl Cost {
    /// For people: four digits behind the point, as a call may cost less than a cent.
    pub fn words(&self) -> String {
        format!("{:.4} {}", self.amount, self.currency).trim_end().to_owned()
    }
}

impl Prices {
    /// The table at that place; an empty one if there is no such file.
    ///
    /// # Errors
    /// In words, when the file cannot be read.
    pub fn load(file: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error.to_string()),
        };
        let prices: Self = toml::from_str(&text).map_err(|error| error.to_string())?;
        let sound = |price: f64| price.is_finite() && price >= 0.0;
        let bad = prices.models.iter().find(|(_, price)| {
            let all = [price.input, price.output, price.cached.unwrap_or(0.0)];
            !all.into_iter().all(sound)
        });
        match bad {
            Some((name, _)) => Err(format!("{name}: not a price")),
            None => Ok(prices),
        }
    }

    /// The price of a model, if it has one.
    #[must_use]
    pub fn of_model(&self, name: &str) -> Option<ModelPrice> {
        let price = self.models.get(name).copied()?;
        Some(ModelPrice { price, currency: self.currency.clone() })
    }

    /// A budget at these prices; at the highest, where a run may ask more than one model.
    ///
    /// # Errors
    /// The model that has no price.
    pub fn budget<'n>(
        &self,
        limit: u64,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Money, &'n str> {
        let mut money = Money { limit, ..Money::default() };
        for name in names {
            let price = self.models.get(name).ok_or(name)?;
            let cached = price.cached.unwrap_or(price.input);
            money.input = money.input.max(millionths(price.input));
            money.cached = money.cached.max(millionths(cached));
            money.output = money.output.max(millionths(price.output));
        }
        Ok(money)
    }

    /// What a run has cost, if each model that answered in it has a price.
    pub fn cost(&self, history: &History) -> Option<Cost> {
        if !history.is_whole() {
            return None;
        }
        self.cost_of(&used(&history.frame().model, history.entries.iter()))
    }

    pub(crate) fn cost_of(&self, used: &BTreeMap<String, Usage>) -> Option<Cost> {
        if used.is_empty() {
            return None;
        }
        let mut amount = 0.0;
        for (name, usage) in used {
            amount += self.models.get(name)?.of(*usage);
        }
        Some(Cost { amount: amount / 1e6, currency: self.currency.clone() })
    }
}

/// A price in whole numbers; never less than it is.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked when read")]
fn millionths(price: f64) -> u64 {
    (price * 1e6).ceil() as u64
}

/// What each model has used. Who answered a call follows from the attempts at it that failed.
fn used<'e>(
    choice: &ModelChoice,
    entries: impl Iterator<Item = &'e everloop_types::journal::Entry>,
) -> BTreeMap<String, Usage> {
    let mut failed: BTreeMap<&EffectId, u32> = BTreeMap::new();
    let mut used: BTreeMap<String, Usage> = BTreeMap::new();
    for entry in entries {
        match (&entry.kind, &entry.effect) {
            (EntryKind::EffectAttemptFailed(attempt), Some(effect)) => {
                failed.insert(effect, attempt.attempt);
            }
            (EntryKind::EffectFinished(finished), Some(effect)) => {
                if let Outcome::Replied(reply) = &finished.outcome {
                    let attempts = failed.get(effect).copied().unwrap_or(0);
                    used.entry(choice.after(attempts).name).or_default().add(reply.usage);
                }
            }
            // What stands before was paid by the run that it was taken from.
            (EntryKind::Forked(_), _) => used.clear(),
            _ => {}
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::journal::{EffectAttemptFailed, EffectFinished, Entry};
    use everloop_types::{Fallback, Reply, RunId};

    const TABLE: &str = "currency = \"USD\"\n[models.\"a/x\"]\ninput = 2\ncached = 0.5\noutput = 10\n\
                         [models.\"b/y\"]\ninput = 1\noutput = 1\n";

    fn table(text: &str) -> Result<Prices, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("prices.toml");
        std::fs::write(&file, text).unwrap();
        Prices::load(&file)
    }

    fn usage(input_tokens: u64, output_tokens: u64, cached_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, cached_tokens }
    }

    fn entry(cause: i64, kind: EntryKind) -> Entry {
        let effect = Some(EffectId { run: RunId::new("r"), cause, index: 0 });
        Entry { seq: cause, epoch: 1, at: 0, effect, kind }
    }

    fn replied(usage: Usage) -> EntryKind {
        let outcome = Outcome::Replied(Reply { usage, ..Reply::default() });
        EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 1))
    }

    fn failed(attempt: u32) -> EntryKind {
        let error = String::new();
        let failed = EffectAttemptFailed { attempt, error, retry_at: 0, may_have_acted: false };
        EntryKind::EffectAttemptFailed(failed)
    }

    #[test]
    fn a_budget_is_kept_at_the_highest_price_and_not_without_one() {
        let prices = table(TABLE).unwrap();
        let both = prices.budget(7, ["a/x", "b/y"].into_iter());
        let dear = Money { limit: 7, input: 2_000_000, cached: 1_000_000, output: 10_000_000 };
        assert_eq!(both, Ok(dear));
        assert_eq!(prices.budget(7, ["a/x", "c/z"].into_iter()), Err("c/z"));
    }

    #[test]
    fn each_call_is_paid_to_the_model_that_answered_it() {
        let fallback =
            Fallback { name: "b/y".to_owned(), after_attempts: 3, ..Fallback::default() };
        let fallback = Some(fallback);
        let choice = ModelChoice { name: "a/x".to_owned(), fallback, ..ModelChoice::default() };
        let journal = [
            entry(1, failed(1)),
            entry(1, replied(usage(1_000_000, 0, 400_000))),
            entry(2, failed(3)),
            entry(2, replied(usage(500_000, 500_000, 0))),
        ];
        let used = used(&choice, journal.iter());
        let expected = [
            ("a/x".to_owned(), usage(1_000_000, 0, 400_000)),
            ("b/y".to_owned(), usage(500_000, 500_000, 0)),
        ];
        assert_eq!(used, BTreeMap::from(expected));
        let cost = table(TABLE).unwrap().cost_of(&used).unwrap();
        assert_eq!(cost.words(), "2.4000 USD");
    }

    #[test]
    fn a_model_without_a_price_leaves_the_cost_unknown() {
        let used = BTreeMap::from([
            ("a/x".to_owned(), usage(1, 1, 0)),
            ("c/z".to_owned(), usage(1, 1, 0)),
        ]);
        assert_eq!(table(TABLE).unwrap().cost_of(&used), None);
        assert_eq!(Prices::default().cost_of(&BTreeMap::new()), None);
    }

    #[test]
    fn a_table_with_a_mistake_is_not_used() {
        assert!(table("[models.\"a/x\"]\ninputs = 2\noutput = 1\n").is_err());
        assert!(table("[models.\"a/x\"]\ninput = -2\noutput = 1\n").is_err());
        assert!(Prices::load(Path::new("no/such/prices.toml")).is_ok());
    }
}
