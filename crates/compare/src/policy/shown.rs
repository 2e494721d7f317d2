//! What one request shows to a model, and which form of reply it asks for.
//!
//! ```text
//!   tool choice, offered tools, the newest `phase:` message, the instructions ──► ReplyContract
//! ```
//!
//! Deliberately absent: the name of the loop. A model never sees it.

use super::reading::{self, NamedPhase, PLAN_ROUND};
use everloop_ports::Request;
use everloop_types::{Message, TODO_WRITE, ToolChoice};

/// The tool that reviews a round.
pub(super) use everloop_loops::replies::THINK_ROUND as THINK;

/// Steps of a round where the prompt does not say.
const STEPS_MAX: usize = 8;

/// The parts of a request that a policy looks at.
#[derive(Clone)]
pub(super) struct ShownRequest<'r> {
    pub(super) messages: Vec<&'r Message>,
    pub(super) tools: Vec<&'r str>,
    pub(super) choice: &'r ToolChoice,
}

/// The form of reply that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplyContract {
    /// A summary in place of the older messages.
    Summary,
    /// Plain words, without a tool.
    Words,
    /// All steps of a round in one call.
    Round { steps_max: usize },
    /// The review of the round.
    Think,
    /// The list, before the work begins.
    List,
    /// Work on one item, by native calls.
    Item(ItemPosition),
    /// Work in any order, by native calls.
    Free,
    /// One JSON object: the plan.
    JsonPlan,
    /// One JSON object: the next thing for an item.
    JsonThought(ItemPosition),
    /// One JSON object: the plan anew, or the end.
    JsonReplan,
    /// Tagged text.
    Tags,
}

/// The position of the current item, counted from 0, and the id with which it is closed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ItemPosition {
    pub(super) number: usize,
    pub(super) total: usize,
    pub(super) id: Option<String>,
}

impl<'r> ShownRequest<'r> {
    pub(super) fn of(request: &'r Request<'_>) -> Self {
        Self {
            messages: request.messages.iter().collect(),
            tools: request.tools.iter().map(|tool| tool.name.as_str()).collect(),
            choice: request.choice,
        }
    }

    /// The same with only the instructions, the goal, the newest phase and the last few messages.
    /// Phases are instructions and do not count; calls and their results stay together.
    pub(super) fn last_few(&self, few: usize) -> Self {
        let others = (0..self.messages.len()).rev();
        let mut others = others.filter(|place| !reading::names_phase(self.messages[*place]));
        let mut from = others.nth(few.saturating_sub(1)).unwrap_or(0);
        while from > 0 && matches!(self.messages[from], Message::Tool { .. }) {
            from -= 1;
        }
        let goal = reading::goal_place(&self.messages);
        let phase = reading::phase_place(&self.messages);
        let is_kept = |place: usize| {
            let said = !reading::names_phase(self.messages[place]);
            place == 0 || place == goal || Some(place) == phase || (said && place >= from)
        };
        let messages = self.messages.iter().enumerate().filter(|(place, _)| is_kept(*place));
        Self { messages: messages.map(|(_, message)| *message).collect(), ..self.clone() }
    }

    pub(super) fn system(&self) -> &'r str {
        match self.messages.first() {
            Some(Message::System { text }) => text,
            _ => "",
        }
    }

    /// What the user asks for, with its context.
    pub(super) fn goal(&self) -> &'r str {
        self.messages.get(reading::goal_place(&self.messages)).map_or("", |goal| goal.text())
    }

    /// Whether a tool can be used, natively or as the instructions list it.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        let listed = || self.system().contains(&format!("\n- {name}("));
        // Questions have their own contract where no tool is listed for them.
        let asks = || name == "ask_user" && self.system().contains("\"status\":\"ask_user\"");
        self.tools.contains(&name) || listed() || asks()
    }

    pub(super) fn contract(&self) -> ReplyContract {
        let last = self.messages.last().map_or("", |message| message.text());
        if last.contains("replaced by your summary") {
            return ReplyContract::Summary;
        }
        let phase = reading::phase(&self.messages);
        let name = phase.as_ref().map_or("", |phase| phase.name);
        let rest = phase.as_ref().map_or("", |phase: &NamedPhase<'_>| phase.rest);
        match self.choice {
            ToolChoice::None => ReplyContract::Words,
            ToolChoice::Named(tool) if tool == PLAN_ROUND => {
                ReplyContract::Round { steps_max: steps_max(rest) }
            }
            ToolChoice::Named(tool) if tool == THINK => ReplyContract::Think,
            ToolChoice::Named(tool) if tool == TODO_WRITE => ReplyContract::List,
            _ if self.tools.is_empty() => match name {
                "plan" => ReplyContract::JsonPlan,
                "thought" => ReplyContract::JsonThought(place(rest).unwrap_or_default()),
                "replan" => ReplyContract::JsonReplan,
                _ if self.system().contains("<tool name=") => ReplyContract::Tags,
                _ => ReplyContract::Words,
            },
            _ => match (name, place(rest)) {
                ("planning", _) => ReplyContract::List,
                ("execution", Some(place)) => ReplyContract::Item(place),
                _ => ReplyContract::Free,
            },
        }
    }

    /// The number of calls from which on the instructions want a list.
    pub(super) fn lists_from(&self) -> Option<usize> {
        let said = |words: &str| self.system().contains(words);
        if !self.has_tool(TODO_WRITE) {
            None
        } else if said("more than three steps keep a true list") {
            Some(4)
        } else if said("Otherwise write one with `todo_write`") {
            Some(2)
        } else if said("Keep the list true") {
            Some(1)
        } else {
            None
        }
    }

    /// The mark that the instructions want at the end of the final answer.
    pub(super) fn mark(&self) -> Option<&'r str> {
        let (_, after) = self.system().split_once("- End your final answer with ")?;
        after.lines().next()?.strip_suffix('.')
    }
}

/// `round 1 of 5: … never more than 8`.
fn steps_max(rest: &str) -> usize {
    let number = rest.rsplit("never more than ").next().and_then(|text| text.trim().parse().ok());
    number.unwrap_or(STEPS_MAX)
}

/// `item 2 of 4, id b: text`, `current item 2 of 4: text`.
fn place(rest: &str) -> Option<ItemPosition> {
    let line = rest.strip_prefix("current ").unwrap_or(rest).strip_prefix("item ")?;
    let (head, _) = line.split_once(": ")?;
    let (numbers, id) = match head.split_once(", id ") {
        Some((numbers, id)) => (numbers, Some(id.to_owned())),
        None => (head, None),
    };
    let (number, total) = numbers.split_once(" of ")?;
    let number = number.parse::<usize>().ok()?.checked_sub(1)?;
    Some(ItemPosition { number, total: total.parse().ok()?, id })
}
