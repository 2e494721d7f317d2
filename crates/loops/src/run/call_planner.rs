//! Planning tool calls: what is journaled of each, and which are refused at once.

use super::ledger::{UnknownEffect, resource};
use super::{Decision, PlannedEffect, Run};
use crate::AgentLoop;
use everloop_types::journal::{EffectPlanned, PlannedToolCall};
use everloop_types::{
    Frame, Observation, TODO_WRITE, TodoList, ToolBatch, ToolCall, UtcMs, check_args,
};

/// What the plan of a call depends on.
pub(super) struct CallPlanner<'r> {
    frame: &'r Frame,
    list: &'r TodoList,
    unknowns: &'r [UnknownEffect],
    /// When the calls are planned.
    at: UtcMs,
}

impl<'r> CallPlanner<'r> {
    pub(super) fn of<L: AgentLoop>(run: &'r Run<L>) -> Self {
        Self {
            frame: &run.frame,
            list: run.inner.list(),
            unknowns: &run.ledger.unknowns,
            at: run.place.at,
        }
    }

    /// Plans the calls of a batch, in order.
    pub(super) fn plan(&self, batch: &ToolBatch) -> Decision {
        let most = self.frame.limits.context.calls_per_reply;
        // Each call of a batch sees the list as those before it leave it.
        let mut list = self.list.clone();
        let over = batch.calls.len().saturating_sub(most);
        let effects = batch.calls.iter().map(|call| {
            let mut planned = self.plan_call(call, over, batch.deadline);
            if planned.refused.is_none() {
                let most = self.frame.limits.context.observation_chars;
                planned.refused = written(call, &mut list, most);
            }
            planned
        });
        Decision::Do(effects.collect())
    }

    fn plan_call(&self, call: &ToolCall, over: usize, deadline: Option<UtcMs>) -> PlannedEffect {
        let spec = self.frame.tool(&call.tool);
        let handling = spec.map(|spec| spec.handling.clone()).unwrap_or_default();
        let planned = PlannedToolCall::new(call.clone(), &handling, self.at, deadline);
        let refused = match spec {
            _ if over > 0 => Some(self.too_many()),
            None => Some(self.no_such_tool(&call.tool)),
            Some(spec) => match check_args(spec, &call.args) {
                Err(wrong) => Some(bad_arguments(&wrong)),
                Ok(_) if handling.class.needs_intent() => self.held_back(call),
                Ok(_) => None,
            },
        };
        PlannedEffect { planned: EffectPlanned::CallTool(planned), refused }
    }

    fn too_many(&self) -> Observation {
        let most = self.frame.limits.context.calls_per_reply;
        Observation::error(format!(
            "too many tool calls in one reply; at most {most} are allowed; nothing was done"
        ))
    }

    fn no_such_tool(&self, name: &str) -> Observation {
        let known: Vec<&str> = self.frame.tools.iter().map(|tool| tool.name.as_str()).collect();
        let name: String = name.chars().take(64).collect();
        Observation::error(format!(
            "there is no tool called {name:?}; nothing was done; the tools are: {}",
            known.join(", ")
        ))
    }

    /// Refuses an effect on a resource whose state is unknown until that is settled.
    pub(super) fn held_back(&self, call: &ToolCall) -> Option<Observation> {
        let wanted = resource(call, self.frame.tool(&call.tool));
        let open = self.unknowns.iter().find(|unknown| unknown.resource == wanted)?;
        Some(Observation::denied(format!(
            "the outcome of an earlier call on the same resource is unknown ({}); nothing was \
             done; \
             inspect the state of things, do something else, or leave it for the user to settle",
            shown(&open.call)
        )))
    }
}

/// The outcome of a call that writes the list: the list is the run's own, so nothing is performed.
fn written(call: &ToolCall, list: &mut TodoList, most: usize) -> Option<Observation> {
    if call.tool != TODO_WRITE || !TodoList::is_named(&call.args) {
        return None;
    }
    Some(match list.after(&call.args) {
        Ok(after) => {
            *list = after;
            Observation::ok(list.shown().chars().take(most).collect::<String>())
        }
        Err(wrong) => Observation::error(format!("{wrong}; the list stays as it is")),
    })
}

fn bad_arguments(wrong: &str) -> Observation {
    Observation::error(format!("the arguments do not fit ({wrong}); nothing was done"))
}

/// A call in one line, for the model and for people.
pub(super) fn shown(call: &ToolCall) -> String {
    let args: String = call.args.chars().take(120).collect();
    format!("{} {args}", call.tool)
}
