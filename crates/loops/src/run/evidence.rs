//! What backs the items that a plan or a list calls done.
//!
//! ```text
//!   outcome that worked ──► loose ──item closes──► behind that item
//!                                       └──nothing is loose──► only claimed: told once
//! ```
//!
//! Entries back whatever closes next; items that close together share them. Nobody can say more
//! without understanding the work, and a model's word is not asked for.

use everloop_types::{ItemState, PlanItem};
use serde::{Deserialize, Serialize};

/// The newest entries that are kept for one item.
const KEPT: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Evidence {
    /// Places of outcomes that back no item yet.
    loose: Vec<i64>,
    /// The closed items, in the order of the plan.
    closed: Vec<Closed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Closed {
    text: String,
    behind: Vec<i64>,
}

impl Evidence {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// An outcome that worked.
    pub(super) fn worked(&mut self, seq: i64) {
        self.loose.push(seq);
        if self.loose.len() > KEPT {
            self.loose.remove(0);
        }
    }

    /// Looks at the plan after an entry. Gives the items that were closed with nothing behind them.
    pub(super) fn look(&mut self, plan: &[PlanItem]) -> Vec<String> {
        let mut before = std::mem::take(&mut self.closed);
        let done: Vec<&PlanItem> =
            plan.iter().filter(|item| item.state == ItemState::Completed).collect();
        let known: Vec<Option<Closed>> = done.iter().map(|item| take(&mut before, item)).collect();
        // What is open again has nothing behind it any more. What is gone was worded anew.
        before.retain(|gone| !plan.iter().any(|item| item.text == gone.text));
        let mut gone = before.into_iter();
        let mut unbacked = Vec::new();
        let mut spent = false;
        for (item, known) in done.into_iter().zip(known) {
            let behind = match known.or_else(|| gone.next()) {
                Some(closed) => closed.behind,
                None => {
                    spent = true;
                    self.loose.clone()
                }
            };
            if spent && behind.is_empty() {
                unbacked.push(item.text.clone());
            }
            self.closed.push(Closed { text: item.text.clone(), behind });
        }
        if spent {
            self.loose.clear();
        }
        unbacked
    }

    /// Writes beside each closed item what is behind it.
    pub(super) fn mark(&self, plan: &mut [PlanItem]) {
        let mut closed = self.closed.clone();
        for item in plan {
            let done = item.state == ItemState::Completed;
            item.evidence = take(&mut closed, item).filter(|_| done).map(|known| known.behind);
        }
    }
}

fn take(closed: &mut Vec<Closed>, item: &PlanItem) -> Option<Closed> {
    let place = closed.iter().position(|known| known.text == item.text)?;
    Some(closed.remove(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ItemState::{Completed, Pending};

    fn plan(items: &[(&str, ItemState)]) -> Vec<PlanItem> {
        items.iter().map(|(text, state)| PlanItem::new(*text, *state)).collect()
    }

    fn behind(evidence: &Evidence, items: &[(&str, ItemState)]) -> Vec<Option<Vec<i64>>> {
        let mut plan = plan(items);
        evidence.mark(&mut plan);
        plan.into_iter().map(|item| item.evidence).collect()
    }

    #[test]
    fn an_item_closes_with_what_worked_since_the_one_before() {
        let mut evidence = Evidence::default();
        evidence.worked(5);
        evidence.worked(8);
        assert!(evidence.look(&plan(&[("a", Completed), ("b", Pending)])).is_empty());
        evidence.worked(11);
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both)).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![5, 8]), Some(vec![11])]);
    }

    #[test]
    fn a_claim_is_told_once_and_stays_a_claim() {
        let mut evidence = Evidence::default();
        let one = [("a", Completed), ("b", Pending)];
        assert_eq!(evidence.look(&plan(&one)), ["a"]);
        evidence.worked(7);
        assert!(evidence.look(&plan(&one)).is_empty());
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both)).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![]), Some(vec![7])]);
    }

    #[test]
    fn items_that_close_together_share_what_is_behind_them() {
        let mut evidence = Evidence::default();
        evidence.worked(4);
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both)).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![4]), Some(vec![4])]);
    }

    #[test]
    fn an_item_worded_anew_keeps_what_is_behind_it() {
        let mut evidence = Evidence::default();
        evidence.worked(4);
        evidence.look(&plan(&[("write the file", Completed), ("b", Pending)]));
        let anew = [("the file was written", Completed), ("c", Pending)];
        assert!(evidence.look(&plan(&anew)).is_empty());
        assert_eq!(behind(&evidence, &anew), [Some(vec![4]), None]);
    }

    #[test]
    fn an_item_that_is_opened_again_has_to_be_backed_again() {
        let mut evidence = Evidence::default();
        evidence.worked(4);
        evidence.look(&plan(&[("a", Completed)]));
        evidence.look(&plan(&[("a", Pending)]));
        assert_eq!(behind(&evidence, &[("a", Pending)]), [None]);
        assert_eq!(evidence.look(&plan(&[("a", Completed)])), ["a"]);
    }
}
