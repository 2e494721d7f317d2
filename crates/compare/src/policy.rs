//! Simulated policies: models without a network that decide only by what they are shown.
//!
//! ```text
//!   Request ──► ShownRequest ──reading──► goal, observations ──skill──► done, failed, wanted
//!                 │                                                 └──speaking──► Reply
//!                 └──► Meter: cost ──► Reply.usage      a flaw spoils some of the replies
//! ```
//!
//! Every loop is compared with the same skill. [`PolicyRules`] decides and keeps nothing between
//! calls. [`Meter`] remembers which messages a run has shown, and decides nothing. Each run gets
//! its own policy, because cached tokens are counted per run.
//!
//! Deliberately absent: randomness that does not come from the seed and the prompt, knowledge of
//! the task beyond the prompt, the name of the loop.

mod acts;
mod flaws;
mod meter;
mod notes;
mod reading;
mod sentences;
mod shown;
mod skill;
mod speaking;
mod values;

pub use meter::{Meter, TokenCounter};

use everloop_ports::{Delta, Model, ModelFuture, OnDelta, Request};
use everloop_types::Reply;
use shown::ShownRequest;

/// The names of all policies, the one without a flaw first.
pub const POLICIES: [&str; 4] = ["competent", "format", "forgets", "repeats"];

/// The flaw of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    None,
    /// About every third reply breaks its form.
    Format,
    /// It sees the instructions, the goal and a varying number of the last messages.
    Forgets,
    /// It makes its last call again, or says too early that it is done.
    Repeats,
}

impl Flaw {
    /// The flaw of the policy of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let flaws = [Self::None, Self::Format, Self::Forgets, Self::Repeats];
        POLICIES.iter().zip(flaws).find(|(known, _)| **known == name).map(|(_, flaw)| flaw)
    }
}

/// The rules of a policy: the same prompt always gets the same reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyRules {
    /// The flaw of the policy.
    pub flaw: Flaw,
    /// The seed of its random choices, in addition to the prompt.
    pub seed: u64,
}

impl PolicyRules {
    /// The reply to a request, without its cost.
    #[must_use]
    pub fn reply(self, request: &Request<'_>) -> Reply {
        flaws::reply(self, &ShownRequest::of(request))
    }
}

/// A simulated model for one run.
#[derive(Debug)]
pub struct SimulatedModel {
    rules: PolicyRules,
    meter: Meter,
}

impl SimulatedModel {
    /// A policy that has shown nothing yet. `count` says how many tokens a text has.
    #[must_use]
    pub fn new(flaw: Flaw, seed: u64, count: TokenCounter) -> Self {
        Self { rules: PolicyRules { flaw, seed }, meter: Meter::new(count) }
    }
}

/// The policy of that name, for one run.
#[must_use]
pub fn by_name(name: &str, seed: u64, count: TokenCounter) -> Option<SimulatedModel> {
    Flaw::parse(name).map(|flaw| SimulatedModel::new(flaw, seed, count))
}

impl Model for SimulatedModel {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> ModelFuture<'a> {
        let mut reply = self.rules.reply(&request);
        reply.usage = self.meter.measure(request.messages, &request.tools, &reply);
        if !reply.text.is_empty() {
            on_delta(Delta::Text(&reply.text));
        }
        for (index, call) in reply.calls.iter().enumerate() {
            on_delta(Delta::CallStarted { index, tool: &call.tool });
            on_delta(Delta::CallArgs { index, args: &call.args });
        }
        Box::pin(std::future::ready(Ok(reply)))
    }
}
