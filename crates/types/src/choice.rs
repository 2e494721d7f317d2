//! Which model a run asks, and where that was when it began.

use serde::{Deserialize, Serialize};

/// Which model answers, and how it is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelChoice {
    /// `provider/model`.
    pub name: String,
    /// Sampling temperature in thousandths, so that equal frames have equal bytes.
    pub temperature_milli: u32,
    /// Most tokens of one reply.
    pub max_tokens: u32,
    /// Who is asked when this one refuses, or stays out of reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// The machine that was asked when the run began; empty if none was, and in older frames. What
    /// a run has read goes to no other one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
}

/// A second model. Which one an attempt goes to follows from the attempts that failed before it,
/// so the journal says who has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// `provider/model`.
    pub name: String,
    /// How many failed attempts of one call there are before it is asked. A refusal of the first
    /// model counts as that many.
    pub after_attempts: u32,
    /// The machine that it is on, as for the first one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
}

impl ModelChoice {
    /// The fallback, if it is the one to ask after so many failed attempts.
    #[must_use]
    pub fn fallback_after(&self, failed_attempts: u32) -> Option<&Fallback> {
        self.fallback.as_ref().filter(|fallback| failed_attempts >= fallback.after_attempts)
    }

    /// Who is asked after so many failed attempts of the same call.
    #[must_use]
    pub fn after(&self, failed_attempts: u32) -> Self {
        match self.fallback_after(failed_attempts) {
            Some(Fallback { name, host, .. }) => {
                let (name, host) = (name.clone(), host.clone());
                Self { name, host, fallback: None, ..self.clone() }
            }
            None => self.clone(),
        }
    }
}
