//! Pieces of tool calls, put together. Which call a piece belongs to is where servers differ most.

use super::mend::{mend, without_nul};
use everloop_ports::Delta;
use everloop_types::{CallId, ToolCall};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::HashMap;

/// What a call costs of the reply's limit besides its own text.
const CALL_BYTES: usize = 64;

/// A piece of a tool call; what it does not say is empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallPart<'a> {
    /// The number that the provider gave.
    pub(crate) index: Option<u64>,
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) args: &'a str,
}

/// The calls of a reply that is coming in.
#[derive(Debug, Default)]
pub(super) struct CallAssembler {
    made: Vec<PartialCall>,
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    tool: String,
    args: String,
}

impl CallAssembler {
    /// Adds one piece and returns by how many bytes the reply grew.
    pub(super) fn take(
        &mut self,
        part: CallPart<'_>,
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> usize {
        let CallPart { index, id, name, args } = part;
        let (place, mut grown) = match self.find(index, id, name, args) {
            Some(place) => (place, 0),
            None => (self.open(index), CALL_BYTES),
        };
        if !id.is_empty() && self.made[place].id.is_empty() {
            self.by_id.insert(id.to_string(), place);
            self.made[place].id = clean(id);
            grown += id.len();
        }
        let making = &mut self.made[place];
        if making.tool.is_empty() && !name.is_empty() {
            making.tool = clean(name);
            grown += name.len();
            on_delta(Delta::CallStarted { index: place, tool: &making.tool });
        }
        if !args.is_empty() {
            let nul_free = without_nul(args);
            let args = nul_free.as_deref().unwrap_or(args);
            making.args.push_str(args);
            grown += args.len();
            on_delta(Delta::CallArgs { index: place, args });
        }
        grown
    }

    /// The call that a piece continues; none if it begins a new one.
    fn find(&self, index: Option<u64>, id: &str, name: &str, args: &str) -> Option<usize> {
        let latest = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.made.len().checked_sub(1),
        };
        let place = if id.is_empty() {
            // Without index and id, a name is all that can begin a call.
            latest.filter(|&at| name.is_empty() || self.made[at].tool == name)?
        } else {
            let known = self.by_id.get(id).copied();
            let same = known.filter(|&at| index.is_none() || self.made[at].index == index);
            same.or_else(|| latest.filter(|&at| self.made[at].id.is_empty() && name.is_empty()))?
        };
        (!self.begins_new_call(place, name, args)).then_some(place)
    }

    /// Servers that number every call 0 and give no ids, or the same id, are told apart from those
    /// that repeat the name with each piece: the arguments so far are whole, and new ones begin.
    fn begins_new_call(&self, place: usize, name: &str, args: &str) -> bool {
        !name.is_empty()
            && args.trim_start().starts_with('{')
            && serde_json::from_str::<IgnoredAny>(&self.made[place].args).is_ok()
    }

    fn open(&mut self, index: Option<u64>) -> usize {
        let place = self.made.len();
        if let Some(index) = index {
            self.by_index.insert(index, place);
        }
        let (id, tool, args) = (String::new(), String::new(), String::new());
        self.made.push(PartialCall { index, id, tool, args });
        place
    }

    /// The finished calls. Ids stay as they came, also empty ones: making them unique needs the
    /// run.
    pub(super) fn finish(self) -> Vec<ToolCall> {
        let named = self.made.into_iter().filter(|making| {
            let hollow = making.tool.is_empty() && making.args.trim().is_empty();
            !hollow
        });
        named
            .map(|making| ToolCall {
                id: CallId::new(making.id),
                tool: making.tool,
                args: readable(making.args),
            })
            .collect()
    }
}

/// The arguments as they came, unless that is nothing at all or only a half of a surrogate pair
/// keeps them from being read.
fn readable(args: String) -> String {
    if args.trim().is_empty() {
        return "{}".to_owned();
    }
    let suspicious = args.contains("\\ud") || args.contains("\\uD");
    if suspicious && serde_json::from_str::<Value>(&args).is_err() {
        let mended = mend(args.as_bytes());
        if serde_json::from_str::<Value>(&mended).is_ok() {
            return mended;
        }
    }
    args
}

fn clean(text: &str) -> String {
    without_nul(text).unwrap_or_else(|| text.to_owned())
}
