//! A run's parent and children: what a child may use, and what its parent is charged for it.
//!
//! ```text
//!   what is left here ──► the child's budget ──► what it used, charged when it ends
//! ```
//!
//! Children run one after the other, and a parent waits while one runs. So what is left when a
//! child begins is exact, and the budgets of a whole tree are those of its first run.
//!
//! Deliberately absent: making the child (the engine does, in the transaction that says so here).

use super::guards::Guards;
use super::ledger::Ledger;
use super::{CallStage, Run};
use crate::AgentLoop;
use everloop_types::journal::{BudgetUse, Delegated, Spawned};
use everloop_types::{Budget, EffectId, Money, Observation, RunId};
use serde::{Deserialize, Serialize};

/// Whose child a run is, and how many it has had.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Family {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<EffectId>,
    #[serde(default)]
    children: u32,
}

impl Family {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn set_parent(&mut self, spawned: &Spawned) {
        self.parent = Some(spawned.by.clone());
    }
}

impl<L: AgentLoop> Run<L> {
    /// The parent's effect that this run is for.
    #[must_use]
    pub fn parent(&self) -> Option<&EffectId> {
        self.ledger.family.parent.as_ref()
    }

    /// The child that this run waits for.
    #[must_use]
    pub fn living_child(&self) -> Option<&RunId> {
        self.ledger.tool_calls().iter().find_map(|open| match &open.stage {
            CallStage::Delegated(child) => Some(child),
            _ => None,
        })
    }

    /// What a child may use that begins now.
    ///
    /// One model call is kept back: a run whose budget is spent still finds last words.
    ///
    /// # Errors
    /// Why there can be no child, for the model.
    pub fn allowance(&self) -> Result<Budget, Observation> {
        let limits = &self.frame.limits;
        let (deepest, most) = (limits.delegate.max_depth, limits.delegate.max_children);
        if deepest == 0 {
            return Err(refused("a run this deep in the tree may not delegate"));
        }
        if self.ledger.family.children >= most {
            return Err(refused(&format!("this run has had its {most} children")));
        }
        let (budget, used) = (&limits.budget, &self.guards.counts);
        let left = |limit: u64, used: u64| match limit {
            0 => Ok(0),
            limit if limit > used => Ok(limit - used),
            _ => Err(refused("the budget has nothing left for a child")),
        };
        let calls = |limit: u32, used: u32| {
            let left = left(u64::from(limit), u64::from(used))?;
            Ok(u32::try_from(left).unwrap_or(u32::MAX))
        };
        Ok(Budget {
            model_calls: calls(budget.model_calls, used.model_calls.saturating_add(1))?,
            tool_calls: calls(budget.tool_calls, used.tool_calls)?,
            tokens: left(budget.tokens, used.usage.total())?,
            work_ms: left(budget.work_ms, used.work_ms)?,
            money: Money {
                limit: left(budget.money.limit, budget.money.cost(used.usage))?,
                ..budget.money
            },
        })
    }
}

impl Ledger {
    /// From here on it may have acted: through its child.
    pub(super) fn delegate(&mut self, effect: &EffectId, delegated: &Delegated) {
        self.family.children += 1;
        if let Some(open) = self.tool_call_mut(effect) {
            open.stage = CallStage::Delegated(delegated.to.clone());
            open.may_have_acted = true;
        }
    }
}

impl Guards {
    /// What a child used counts here too. Its end becomes an outcome: an entry of its own.
    pub(super) fn charge(&mut self, used: &BudgetUse) {
        let counts = &mut self.counts;
        counts.model_calls = counts.model_calls.saturating_add(used.model_calls);
        counts.tool_calls = counts.tool_calls.saturating_add(used.tool_calls);
        counts.usage.add(used.usage);
        counts.work_ms = counts.work_ms.saturating_add(used.work_ms);
    }
}

fn refused(why: &str) -> Observation {
    Observation::error(format!("{why}; nothing was started; do the task yourself"))
}

#[cfg(test)]
#[path = "family_tests.rs"]
mod tests;
