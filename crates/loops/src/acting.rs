//! The calls of one reply, and how each ended: the part of a loop that lets its model call tools.

use everloop_types::{CallId, Ending, Reply, TODO_WRITE, TodoList, ToolCall};
use serde::{Deserialize, Serialize};

/// The calls that are out, in order. Empty while none is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Acting(Vec<MadeCall>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct MadeCall {
    call: ToolCall,
    ending: Option<Ending>,
}

impl Acting {
    pub(crate) fn of(reply: &Reply) -> Self {
        Self(reply.calls.iter().map(|call| MadeCall { call: call.clone(), ending: None }).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        self.0.iter().map(|asked| asked.call.clone()).collect()
    }

    /// Takes in one outcome. Gives the whole batch away once it is over.
    pub(crate) fn take(&mut self, id: &CallId, ending: Ending) -> Option<Self> {
        let one = self.0.iter_mut().find(|asked| asked.call.id == *id)?;
        one.ending = Some(ending);
        let over = self.0.iter().all(|asked| asked.ending.is_some());
        over.then(|| std::mem::take(self))
    }

    /// Writes the list in the order of the calls: of several lists the last call's one stands.
    pub(crate) fn write(&self, list: &mut TodoList) {
        for MadeCall { call, ending } in &self.0 {
            if call.tool == TODO_WRITE
                && *ending == Some(Ending::Ok)
                && let Ok(after) = list.after(&call.args)
            {
                *list = after;
            }
        }
    }

    /// Whether something was done beside keeping the list and asking the user.
    pub(crate) fn is_work(&self) -> bool {
        let aside = |tool: &str| tool == TODO_WRITE || tool == "ask_user";
        self.0.iter().any(|asked| !aside(&asked.call.tool) && asked.ending == Some(Ending::Ok))
    }
}
