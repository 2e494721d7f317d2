//! What backs the items that a plan or a list calls done.
//!
//! ```text
//!   outcome that worked ──► loose ──item closes──► behind that item
//!                                       └──nothing of its own is loose──► no tool used: told once
//! ```
//!
//! An entry belongs to the items that were in progress when it came; they may share it. One that
//! came while none was belongs to no item yet, and backs one of those that close next. Nobody can
//! say more without understanding the work, and a model's word is not asked for.

use everloop_types::{ItemState, PlanItem};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// The items that were in progress when an entry came, by its place. Absent where none was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    during: BTreeMap<i64, Vec<String>>,
    /// The closed items, in the order of the plan.
    closed: Vec<ClosedItem>,
    /// Whether there was a plan yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    planned: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ClosedItem {
    text: String,
    /// Absent for what was closed before anything was noted.
    behind: Option<Vec<i64>>,
}

/// Whose items are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListOwner {
    /// Those of the list that the model keeps by name.
    List,
    /// Those of a plan, which a loop may word anew.
    Plan,
}

impl Evidence {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// An outcome that worked, and the plan as it was when it came.
    pub(super) fn worked(&mut self, seq: i64, after_list: bool, plan: &[PlanItem]) {
        match after_list {
            true => push(&mut self.after_list, seq),
            false => self.defer(seq, plan),
        }
    }

    fn defer(&mut self, seq: i64, plan: &[PlanItem]) {
        let begun = plan.iter().filter(|item| item.state == ItemState::InProgress);
        let begun: Vec<String> = begun.map(|item| item.text.clone()).collect();
        if !begun.is_empty() {
            self.during.insert(seq, begun);
        }
        push(&mut self.loose, seq);
        self.during.retain(|seq, _| self.loose.contains(seq));
    }

    /// A whole batch is over, and its list is written.
    pub(super) fn end_batch(&mut self, plan: &[PlanItem]) {
        for seq in std::mem::take(&mut self.after_list) {
            self.defer(seq, plan);
        }
    }

    /// What was closed so far was closed where nothing was noted.
    pub(super) fn adopt(&mut self, plan: &[PlanItem]) {
        let done = plan.iter().filter(|item| item.state == ItemState::Completed);
        self.closed =
            done.map(|item| ClosedItem { text: item.text.clone(), behind: None }).collect();
        self.planned |= !plan.is_empty();
    }

    /// Looks at the plan after an entry. Gives the items that were closed with nothing behind them.
    pub(super) fn look(&mut self, plan: &[PlanItem], whose: ListOwner) -> Vec<String> {
        self.planned |= !plan.is_empty();
        let mut before = std::mem::take(&mut self.closed);
        let done: Vec<&PlanItem> =
            plan.iter().filter(|item| item.state == ItemState::Completed).collect();
        let known: Vec<Option<ClosedItem>> =
            done.iter().map(|item| take(&mut before, item)).collect();
        // What is open again has nothing behind it any more. What is gone may be worded anew.
        before.retain(|gone| !plan.iter().any(|item| item.text == gone.text));
        let new = known.iter().filter(|closed| closed.is_none()).count();
        if whose == ListOwner::List || before.len() != new {
            before.clear();
        }
        let mut gone = before.into_iter();
        let known: Vec<Option<ClosedItem>> =
            known.into_iter().map(|known| known.or_else(|| gone.next())).collect();
        let closing = done.iter().zip(&known).filter(|(_, known)| known.is_none());
        let closing: Vec<&str> = closing.map(|(item, _)| item.text.as_str()).collect();
        let mut shares = self.spend(&closing, plan, whose).into_iter();
        let mut unbacked = Vec::new();
        for (item, known) in done.into_iter().zip(known) {
            let behind = match known {
                Some(closed) => closed.behind,
                None => {
                    let share = shares.next().unwrap_or_default();
                    if share.is_empty() {
                        unbacked.push(item.text.clone());
                    }
                    Some(share)
                }
            };
            self.closed.push(ClosedItem { text: item.text.clone(), behind });
        }
        unbacked
    }

    /// What is behind each of the items that close now. What belongs to items that are still open
    /// stays loose for them; the rest is spent.
    fn spend(&mut self, closing: &[&str], plan: &[PlanItem], whose: ListOwner) -> Vec<Vec<i64>> {
        let mut shares = vec![Vec::new(); closing.len()];
        if closing.is_empty() {
            return shares;
        }
        let is_open = |text: &str| {
            let open = |state| matches!(state, ItemState::Pending | ItemState::InProgress);
            plan.iter().any(|item| item.text == text && open(item.state))
        };
        let (mut unassigned, mut left) = (Vec::new(), Vec::new());
        for seq in std::mem::take(&mut self.loose) {
            let owners = self.during.get(&seq).map_or(&[][..], Vec::as_slice);
            let own = |place: &usize| owners.iter().any(|owner| owner == closing[*place]);
            let own: Vec<usize> = (0..closing.len()).filter(own).collect();
            let waits = owners.iter().any(|owner| is_open(owner));
            own.iter().for_each(|place| shares[*place].push(seq));
            // The steps of a plan close one by one, each with its own outcome.
            if waits && (own.is_empty() || whose == ListOwner::List) {
                left.push(seq);
            } else if own.is_empty() {
                unassigned.push(seq);
            }
        }
        self.loose = left;
        self.during.retain(|seq, _| self.loose.contains(seq));
        distribute(unassigned, &mut shares);
        shares
    }

    /// Whether no plan was seen yet.
    pub(super) fn is_new(&self) -> bool {
        !self.planned
    }

    /// Writes beside each closed item what is behind it. A run in which no item needed a tool, such
    /// as a greeting, has nothing to tell apart.
    pub(super) fn mark(&self, plan: &mut [PlanItem]) {
        let has_some =
            |known: &ClosedItem| known.behind.as_ref().is_some_and(|some| !some.is_empty());
        if !self.closed.iter().any(has_some) {
            return;
        }
        let mut closed = self.closed.clone();
        for item in plan {
            let done = item.state == ItemState::Completed;
            item.evidence = take(&mut closed, item).filter(|_| done).and_then(|known| known.behind);
        }
    }
}

/// What belongs to nobody backs those that have nothing, one each, the last of them the rest. Where
/// all have something, the first has it too.
fn distribute(unassigned: Vec<i64>, shares: &mut [Vec<i64>]) {
    let bare: Vec<usize> = (0..shares.len()).filter(|place| shares[*place].is_empty()).collect();
    let last = bare.len().saturating_sub(1);
    for (nth, seq) in unassigned.into_iter().enumerate() {
        let place = bare.get(nth.min(last)).copied().unwrap_or(0);
        push(&mut shares[place], seq);
        shares[place].sort_unstable();
    }
}

fn push(known: &mut Vec<i64>, seq: i64) {
    known.push(seq);
    if known.len() > KEPT {
        known.remove(0);
    }
}

fn take(closed: &mut Vec<ClosedItem>, item: &PlanItem) -> Option<ClosedItem> {
    let place = closed.iter().position(|known| known.text == item.text)?;
    Some(closed.remove(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ItemState::{Completed, InProgress, Pending};

    fn plan(items: &[(&str, ItemState)]) -> Vec<PlanItem> {
        items.iter().map(|(text, state)| PlanItem::new(*text, *state)).collect()
    }

    fn behind(evidence: &Evidence, items: &[(&str, ItemState)]) -> Vec<Option<Vec<i64>>> {
        let mut plan = plan(items);
        evidence.mark(&mut plan);
        plan.into_iter().map(|item| item.evidence).collect()
    }

    #[test]
    fn where_no_item_used_a_tool_nothing_is_told_apart() {
        let mut evidence = Evidence::default();
        let greeting = [("greet", Completed), ("sum up", Completed)];
        assert_eq!(evidence.look(&plan(&greeting), ListOwner::Plan), ["greet", "sum up"]);
        assert_eq!(behind(&evidence, &greeting), [None, None]);
    }

    #[test]
    fn an_item_closes_with_what_worked_since_the_one_before() {
        let mut evidence = Evidence::default();
        evidence.worked(5, false, &[]);
        evidence.worked(8, false, &[]);
        assert!(
            evidence.look(&plan(&[("a", Completed), ("b", Pending)]), ListOwner::Plan).is_empty()
        );
        evidence.worked(11, false, &[]);
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), ListOwner::Plan).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![5, 8]), Some(vec![11])]);
    }

    #[test]
    fn a_claim_is_told_once_and_stays_a_claim() {
        let mut evidence = Evidence::default();
        let one = [("a", Completed), ("b", Pending)];
        assert_eq!(evidence.look(&plan(&one), ListOwner::Plan), ["a"]);
        evidence.worked(7, false, &[]);
        assert!(evidence.look(&plan(&one), ListOwner::Plan).is_empty());
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), ListOwner::Plan).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![]), Some(vec![7])]);
    }

    #[test]
    fn one_entry_does_not_back_two_items_that_close_together() {
        let both = [("a", Completed), ("b", Completed)];
        for begun in [InProgress, Pending] {
            let mut evidence = Evidence::default();
            evidence.worked(4, false, &plan(&[("a", begun), ("b", Pending)]));
            assert_eq!(evidence.look(&plan(&both), ListOwner::List), ["b"]);
            assert_eq!(behind(&evidence, &both), [Some(vec![4]), Some(vec![])]);
            assert!(evidence.look(&plan(&both), ListOwner::List).is_empty(), "told once");
        }
    }

    #[test]
    fn items_that_were_in_progress_together_share_what_is_behind_them() {
        for apart in [true, false] {
            let mut evidence = Evidence::default();
            evidence.worked(4, false, &plan(&[("a", InProgress), ("b", InProgress)]));
            if apart {
                let one = [("a", Completed), ("b", InProgress)];
                assert!(evidence.look(&plan(&one), ListOwner::List).is_empty());
            }
            let both = [("a", Completed), ("b", Completed)];
            assert!(evidence.look(&plan(&both), ListOwner::List).is_empty());
            assert_eq!(behind(&evidence, &both), [Some(vec![4]), Some(vec![4])]);
        }
    }

    #[test]
    fn whoever_does_three_things_and_then_marks_all_three_is_believed() {
        let mut evidence = Evidence::default();
        for seq in [4, 6, 8, 10] {
            evidence.worked(seq, false, &[]);
        }
        let all = [("a", Completed), ("b", Completed), ("c", Completed)];
        assert!(evidence.look(&plan(&all), ListOwner::List).is_empty());
        assert_eq!(behind(&evidence, &all), [Some(vec![4]), Some(vec![6]), Some(vec![8, 10])]);
    }

    #[test]
    fn what_belongs_to_an_open_item_does_not_back_another() {
        let mut evidence = Evidence::default();
        evidence.worked(4, false, &plan(&[("a", InProgress), ("b", Pending)]));
        let other = [("a", InProgress), ("b", Completed)];
        assert_eq!(evidence.look(&plan(&other), ListOwner::List), ["b"]);
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), ListOwner::List).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![4]), Some(vec![])]);
    }

    #[test]
    fn what_belongs_to_an_item_that_was_given_up_backs_what_closes_next() {
        let mut evidence = Evidence::default();
        evidence.worked(4, false, &plan(&[("a", InProgress), ("b", Pending)]));
        let rest = [("a", ItemState::Skipped), ("b", Completed)];
        assert!(evidence.look(&plan(&rest), ListOwner::List).is_empty());
        assert_eq!(behind(&evidence, &rest), [None, Some(vec![4])]);
    }

    #[test]
    fn an_item_worded_anew_keeps_what_is_behind_it() {
        let mut evidence = Evidence::default();
        evidence.worked(4, false, &[]);
        evidence.look(&plan(&[("write the file", Completed), ("b", Pending)]), ListOwner::Plan);
        let anew = [("the file was written", Completed), ("c", Pending)];
        assert!(evidence.look(&plan(&anew), ListOwner::Plan).is_empty());
        assert_eq!(behind(&evidence, &anew), [Some(vec![4]), None]);
    }

    #[test]
    fn an_item_that_is_opened_again_has_to_be_backed_again() {
        let mut evidence = Evidence::default();
        evidence.worked(4, false, &[]);
        evidence.look(&plan(&[("a", Completed)]), ListOwner::Plan);
        evidence.look(&plan(&[("a", Pending)]), ListOwner::Plan);
        assert_eq!(behind(&evidence, &[("a", Pending)]), [None]);
        assert_eq!(evidence.look(&plan(&[("a", Completed)]), ListOwner::Plan), ["a"]);
    }

    #[test]
    fn a_claim_is_told_once_also_when_items_close_out_of_order() {
        let mut evidence = Evidence::default();
        let two = |first| [("a", first), ("b", Completed)];
        assert_eq!(evidence.look(&plan(&two(Pending)), ListOwner::List), ["b"]);
        evidence.worked(7, false, &[]);
        assert!(evidence.look(&plan(&two(Completed)), ListOwner::List).is_empty());
        assert_eq!(behind(&evidence, &two(Completed)), [Some(vec![7]), Some(vec![])]);
    }

    #[test]
    fn what_was_asked_for_after_the_list_backs_what_closes_next() {
        let mut evidence = Evidence::default();
        evidence.worked(5, false, &[]);
        evidence.worked(6, true, &[]);
        evidence.look(&plan(&[("a", Completed), ("b", Pending)]), ListOwner::List);
        evidence.end_batch(&[]);
        let both = [("a", Completed), ("b", Completed)];
        assert!(evidence.look(&plan(&both), ListOwner::List).is_empty());
        assert_eq!(behind(&evidence, &both), [Some(vec![5]), Some(vec![6])]);
    }

    #[test]
    fn another_item_of_a_list_does_not_inherit() {
        let mut evidence = Evidence::default();
        evidence.worked(5, false, &[]);
        evidence.look(&plan(&[("a", Completed)]), ListOwner::List);
        assert_eq!(evidence.look(&plan(&[("deploy", Completed)]), ListOwner::List), ["deploy"]);
    }

    #[test]
    fn what_was_closed_before_is_no_claim() {
        let mut evidence = Evidence::default();
        let both = [("a", Completed), ("b", Pending)];
        evidence.adopt(&plan(&both));
        assert!(evidence.look(&plan(&both), ListOwner::List).is_empty());
        assert_eq!(behind(&evidence, &both), [None, None]);
    }
}
