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
    /// The same, of calls that were asked for after the list was written in the same reply: what
    /// that list closes was not done by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after_list: Vec<i64>,
    /// The closed items, in the order of the plan.
    closed: Vec<Closed>,
    /// Whether there was a plan yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    planned: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Closed {
    text: String,
    /// Absent for what was closed before anything was noted.
    behind: Option<Vec<i64>>,
}

/// Whose items are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Those of the list that the model keeps by name.
    List,
    /// Those of a plan, which a loop may word anew.
    Plan,
}

impl Evidence {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// An outcome that worked.
    pub(super) fn worked(&mut self, seq: i64, after_list: bool) {
        let known = if after_list { &mut self.after_list } else { &mut self.loose };
        known.push(seq);
        if known.len() > KEPT {
            known.remove(0);
        }
    }

    /// A whole batch is over, and its list is written.
    pub(super) fn end_batch(&mut self) {
        for seq in std::mem::take(&mut self.after_list) {
            self.worked(seq, false);
        }
    }

    /// What was closed so far was closed where nothing was noted.
    pub(super) fn adopt(&mut self, plan: &[PlanItem]) {
        let done = plan.iter().filter(|item| item.state == ItemState::Completed);
        self.closed = done.map(|item| Closed { text: item.text.clone(), behind: None }).collect();
        self.planned |= !plan.is_empty();
    }

    /// Looks at the plan after an entry. Gives the items that were closed with nothing behind them.
    pub(super) fn look(&mut self, plan: &[PlanItem], whose: Whose) -> Vec<String> {
        self.planned |= !plan.is_empty();
        let mut before = std::mem::take(&mut self.closed);
        let done: Vec<&PlanItem> =
            plan.iter().filter(|item| item.state == ItemState::Completed).collect();
        let known: Vec<Option<Closed>> = done.iter().map(|item| take(&mut before, item)).collect();
        // What is open again has nothing behind it any more. What is gone may be worded anew.
        before.retain(|gone| !plan.iter().any(|item| item.text == gone.text));
        let new = known.iter().filter(|closed| closed.is_none()).count();
        if whose == Whose::List || before.len() != new {
            before.clear();
        }
        let mut gone = before.into_iter();
        let mut unbacked = Vec::new();
        let mut spent = false;
        for (item, known) in done.into_iter().zip(known) {
            let behind = match known.or_else(|| gone.next()) {
                Some(closed) => closed.behind,
                None => {
                    spent = true;
                    if self.loose.is_empty() {
                        unbacked.push(item.text.clone());
                    }
                    Some(self.loose.clone())
                }
            };
            self.closed.push(Closed { text: item.text.clone(), behind });
        }
        if spent {
            self.loose.clear();
        }
        unbacked
    }

    /// Whether no plan was seen yet.
    pub(super) fn is_new(&self) -> bool {
        !self.planned
    }

    /// Writes beside each closed item what is behind it.
    pub(super) fn mark(&self, plan: &mut [PlanItem]) {
        let mut closed = self.closed.clone();
        for item in plan {
            let done = item.state == ItemState::Completed;
            item.evidence = take(&mut closed, item).filter(|_| done).and_then(|known| known.behind);
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
        evidence.worked(5, false);
        evidence.worked(8, false);
        assert!(evidence.look(&plan(&[("a", Completed), ("b", Pending)]), Whose::Plan).is_empty());
        evidence.worked(11, false);
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), Whose::Plan).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![5, 8]), Some(vec![11])]);
    }

    #[test]
    fn a_claim_is_told_once_and_stays_a_claim() {
        let mut evidence = Evidence::default();
        let one = [("a", Completed), ("b", Pending)];
        assert_eq!(evidence.look(&plan(&one), Whose::Plan), ["a"]);
        evidence.worked(7, false);
        assert!(evidence.look(&plan(&one), Whose::Plan).is_empty());
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), Whose::Plan).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![]), Some(vec![7])]);
    }

    #[test]
    fn items_that_close_together_share_what_is_behind_them() {
        let mut evidence = Evidence::default();
        evidence.worked(4, false);
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), Whose::Plan).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![4]), Some(vec![4])]);
    }

    #[test]
    fn an_item_worded_anew_keeps_what_is_behind_it() {
        let mut evidence = Evidence::default();
        evidence.worked(4, false);
        evidence.look(&plan(&[("write the file", Completed), ("b", Pending)]), Whose::Plan);
        let anew = [("the file was written", Completed), ("c", Pending)];
        assert!(evidence.look(&plan(&anew), Whose::Plan).is_empty());
        assert_eq!(behind(&evidence, &anew), [Some(vec![4]), None]);
    }

    #[test]
    fn an_item_that_is_opened_again_has_to_be_backed_again() {
        let mut evidence = Evidence::default();
        evidence.worked(4, false);
        evidence.look(&plan(&[("a", Completed)]), Whose::Plan);
        evidence.look(&plan(&[("a", Pending)]), Whose::Plan);
        assert_eq!(behind(&evidence, &[("a", Pending)]), [None]);
        assert_eq!(evidence.look(&plan(&[("a", Completed)]), Whose::Plan), ["a"]);
    }

    #[test]
    fn a_claim_is_told_once_also_when_items_close_out_of_order() {
        let mut evidence = Evidence::default();
        let two = |first| [("a", first), ("b", Completed)];
        assert_eq!(evidence.look(&plan(&two(Pending)), Whose::List), ["b"]);
        evidence.worked(7, false);
        assert!(evidence.look(&plan(&two(Completed)), Whose::List).is_empty());
        assert_eq!(behind(&evidence, &two(Completed)), [Some(vec![7]), Some(vec![])]);
    }

    #[test]
    fn what_was_asked_for_after_the_list_backs_what_closes_next() {
        let mut evidence = Evidence::default();
        evidence.worked(5, false);
        evidence.worked(6, true);
        evidence.look(&plan(&[("a", Completed), ("b", Pending)]), Whose::List);
        evidence.end_batch();
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), Whose::List).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![5]), Some(vec![6])]);
    }

    #[test]
    fn another_item_of_a_list_does_not_inherit() {
        let mut evidence = Evidence::default();
        evidence.worked(5, false);
        evidence.look(&plan(&[("a", Completed)]), Whose::List);
        assert_eq!(evidence.look(&plan(&[("deploy", Completed)]), Whose::List), ["deploy"]);
    }

    #[test]
    fn what_was_closed_before_is_no_claim() {
        let mut evidence = Evidence::default();
        let both = [("a", Completed), ("b", Pending)];
        evidence.adopt(&plan(&both));
        assert!(evidence.look(&plan(&both), Whose::List).is_empty());
        assert_eq!(behind(&evidence, &both), [None, None]);
    }
}
