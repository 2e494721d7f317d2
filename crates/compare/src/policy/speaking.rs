//! The reply of a competent model: the planned calls in the form that the prompt asks for.
//!
//! ```text
//!   Speaker ──native──► calls, and the list    ──rounds──► one call with all steps, then a review
//!           ──json──► plan, thought, replan    ──tags──► tagged text    ──words──► plain answers
//! ```

mod json;
mod native;
mod rounds;
mod tags;
mod words;

use super::acts::PlannedCall;
use super::notes::SentenceNotes;
use super::reading::{self, ListedItem, ObservedCall};
use super::sentences::Sentence;
use super::shown::{ItemPosition, ReplyContract, ShownRequest};
use super::skill::{self, CallOrder, ListedState, Outlook, SentenceStatus, SkillInput};
use everloop_types::Reply;
use serde_json::Value;
use std::ops::Range;

/// Items that a plan has at most.
const ITEMS_MAX: usize = 5;
/// Calls that one reply makes at most.
const CALLS_MAX: usize = 16;

/// A parsed prompt.
pub(super) struct Speaker<'r> {
    pub(super) shown: &'r ShownRequest<'r>,
    pub(super) asked: Vec<(Sentence, String)>,
    pub(super) seen: Vec<ObservedCall>,
    notes: SentenceNotes,
    list: Vec<ListedItem>,
}

/// The competent reply to what is shown.
pub(super) fn reply(shown: &ShownRequest<'_>) -> Reply {
    let speaker = Speaker::of(shown);
    match shown.contract() {
        ReplyContract::Summary => said(speaker.summary()),
        ReplyContract::Words => said(speaker.answer()),
        ReplyContract::Round { steps_max } => speaker.plan_round(steps_max),
        ReplyContract::Think => speaker.think(),
        ReplyContract::List => speaker.make_list(),
        ReplyContract::Item(place) => speaker.work_on(&place),
        ReplyContract::Free => speaker.work_freely(),
        ReplyContract::JsonPlan => speaker.json_plan(),
        ReplyContract::JsonThought(place) => speaker.json_thought(&place),
        ReplyContract::JsonReplan => speaker.json_replan(),
        ReplyContract::Tags => speaker.tagged(),
    }
}

pub(super) fn said(text: String) -> Reply {
    everloop_loops::replies::say(text)
}

/// A reply that calls tools. The runtime makes ids unique.
pub(super) fn calling(calls: Vec<(&str, Value)>) -> Reply {
    let used = calls.into_iter().map(|(tool, args)| (tool.to_owned(), args));
    everloop_loops::replies::call_tools(&used.collect::<Vec<_>>())
}

impl<'r> Speaker<'r> {
    pub(super) fn of(shown: &'r ShownRequest<'r>) -> Self {
        let messages = &shown.messages;
        let seen = reading::observed(messages);
        let list = reading::listed(messages);
        Self { shown, asked: reading::asked(messages), notes: reading::noted(messages), list, seen }
    }

    /// The outlook, with only those calls that can be made here.
    pub(super) fn outlook(&self, scope: Range<usize>, order: CallOrder) -> Outlook {
        let has_tool = |name: &str| self.shown.has_tool(name);
        self.outlook_with(&has_tool, scope, order)
    }

    /// The outlook where no tool can be called.
    fn outlook_without_tools(&self) -> Outlook {
        self.outlook_with(&|_| true, 0..0, CallOrder::Together)
    }

    fn outlook_with(
        &self,
        has_tool: &dyn Fn(&str) -> bool,
        scope: Range<usize>,
        order: CallOrder,
    ) -> Outlook {
        let items = self.items();
        let listed = |root: usize| self.listed(&items, root);
        let known = SkillInput { seen: &self.seen, notes: &self.notes, has_tool, listed: &listed };
        skill::plan_calls(&self.asked, &known, scope, order)
    }

    /// A list with these items is trusted: completed items are not done again.
    fn listed(&self, items: &[Range<usize>], root: usize) -> ListedState {
        let place = items.iter().position(|item| item.contains(&root));
        let row = place.filter(|_| items.len() == self.list.len()).map(|at| (at, &self.list[at]));
        let says = |item: &Range<usize>| {
            self.asked[item.clone()].iter().any(|(sentence, _)| *sentence == Sentence::SayResult)
        };
        match row {
            Some((at, row)) if row.state == "completed" && says(&items[at]) => {
                ListedState::ClosedToBeSaid
            }
            Some((_, row)) if row.state == "completed" => ListedState::Closed,
            _ => ListedState::Open,
        }
    }

    fn everything(&self) -> Range<usize> {
        0..self.asked.len()
    }

    /// The calls for one reply in which none needs another.
    fn together(&self, scope: Range<usize>) -> Outlook {
        let mut outlook = self.outlook(scope, CallOrder::Together);
        outlook.acts.truncate(CALLS_MAX);
        outlook
    }

    /// The items of a plan: each a sentence with those that depend on it, joined if there are many.
    fn items(&self) -> Vec<Range<usize>> {
        let mut starts: Vec<usize> = (0..self.asked.len())
            .filter(|place| *place == 0 || !self.asked[*place].0.leans_back())
            .collect();
        let many = starts.len();
        if many > ITEMS_MAX {
            starts = (0..ITEMS_MAX).map(|item| starts[item * many / ITEMS_MAX]).collect();
        }
        let ends = starts.iter().skip(1).copied().chain([self.asked.len()]);
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    fn item_text(&self, item: &Range<usize>) -> String {
        let said = self.asked[item.clone()].iter().map(|(_, said)| said.as_str());
        said.collect::<Vec<_>>().join(" ")
    }

    /// The sentences of the item at a position. Any other plan means all sentences.
    fn scope(&self, place: &ItemPosition) -> Range<usize> {
        let items = self.items();
        match items.get(place.number) {
            Some(item) if items.len() == place.total => item.clone(),
            _ => self.everything(),
        }
    }
}

/// The progress of all sentences of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemProgress {
    Open,
    Completed,
    /// A part failed, and the goal has no alternative for that.
    Failed,
}

impl Outlook {
    fn far(&self, item: &Range<usize>) -> ItemProgress {
        let tasks: Vec<_> = self.tasks.iter().filter(|task| item.contains(&task.root)).collect();
        let failed = |place: usize| {
            let provided = tasks[place + 1..].iter().take_while(|task| task.sentence.leans_back());
            let provided =
                provided.into_iter().any(|it| matches!(it.sentence, Sentence::IfItFails { .. }));
            matches!(tasks[place].status, SentenceStatus::Failed(_)) && !provided
        };
        if tasks.iter().any(|task| task.status == SentenceStatus::Open) {
            ItemProgress::Open
        } else if (0..tasks.len()).any(failed) {
            ItemProgress::Failed
        } else {
            ItemProgress::Completed
        }
    }

    fn wants(&self, item: &Range<usize>) -> bool {
        self.acts.iter().any(|act| item.contains(&act.root))
    }
}

fn plain(act: &PlannedCall) -> (&'static str, Value) {
    (act.tool, act.args.clone())
}
