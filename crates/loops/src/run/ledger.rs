//! What is outstanding, what is unknown, and which call ids are taken.

use super::family::Family;
use everloop_types::journal::{
    ApprovalGiven, EffectAttemptFailed, EffectPlanned, EffectStarted, PlannedModelCall,
    PlannedToolCall, Switch,
};
use everloop_types::{
    CallId, EffectId, Frame, Message, Observation, Question, Reply, RunId, Taint, ToolCall,
    ToolSpec, UtcMs, digest_bytes,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// A model call that was planned and has no outcome yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenModelCall {
    /// Its name.
    pub effect: EffectId,
    /// What was planned.
    pub planned: PlannedModelCall,
    /// Attempts that failed.
    pub failed_attempts: u32,
}

/// A tool call that was planned and has no outcome yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenToolCall {
    /// Its name.
    pub effect: EffectId,
    /// What was planned, with all that recovery needs.
    pub planned: PlannedToolCall,
    /// How far it is.
    pub stage: CallStage,
    /// Attempts that failed and are known not to have acted.
    pub failed_attempts: u32,
    /// When the next attempt may begin.
    pub retry_at: Option<UtcMs>,
    /// Whether it was begun and nothing proves that it did not act.
    pub may_have_acted: bool,
    /// Under which policy, and for which form of its tool, permission was asked for or given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy_hash: String,
    /// Whether a person changed the arguments before they allowed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_edited: bool,
}

/// What is outstanding: one model call, or the tool calls of one batch, or nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OpenCalls {
    Model(OpenModelCall),
    /// In order. Empty while nothing is outstanding.
    Tools(Vec<OpenToolCall>),
}

impl Default for OpenCalls {
    fn default() -> Self {
        Self::Tools(Vec::new())
    }
}

/// How far an open tool call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStage {
    /// Planned, nothing more.
    Planned,
    /// A person was asked, and the run waits for the answer.
    Asked(Question),
    /// Permission was given.
    Approved,
    /// Its intent is durable: from here on it may have happened.
    Started(EffectStarted),
    /// A child does it, and the run waits for the child's end.
    Delegated(RunId),
    /// It is over at this moment, and the run waits for it.
    Sleeping(UtcMs),
}

/// An effect whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownEffect {
    /// Its name.
    pub effect: EffectId,
    /// The call.
    pub call: ToolCall,
    /// What it acted on: no dangerous call on the same resource until it is settled.
    pub resource: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ledger {
    open: OpenCalls,
    pub(super) unknowns: Vec<UnknownEffect>,
    /// Outcomes of the present batch in plan order, until the last one is there.
    pub(super) seen: Vec<(EffectId, ToolCall, Observation)>,
    ids: BTreeSet<CallId>,
    /// The run is to continue under another loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) switch: Option<Box<Switch>>,
    /// What the run has read, and where it may send that.
    #[serde(default, skip_serializing_if = "Taint::is_empty")]
    pub(super) holding: Taint,
    #[serde(default, skip_serializing_if = "Family::is_none")]
    pub(super) family: Family,
}

impl Ledger {
    pub(super) fn model_call(&self) -> Option<&OpenModelCall> {
        match &self.open {
            OpenCalls::Model(open) => Some(open),
            OpenCalls::Tools(_) => None,
        }
    }

    pub(super) fn tool_calls(&self) -> &[OpenToolCall] {
        match &self.open {
            OpenCalls::Model(_) => &[],
            OpenCalls::Tools(open) => open,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.model_call().is_none() && self.tool_calls().is_empty()
    }

    /// Takes up a plan. One that does not fit what is open is left out.
    pub(super) fn plan(&mut self, effect: &EffectId, planned: &EffectPlanned) {
        let effect = effect.clone();
        match (planned, &mut self.open) {
            (EffectPlanned::CallTool(planned), OpenCalls::Tools(open)) => open.push(OpenToolCall {
                effect,
                planned: planned.clone(),
                stage: CallStage::Planned,
                failed_attempts: 0,
                retry_at: None,
                may_have_acted: false,
                policy_hash: String::new(),
                is_edited: false,
            }),
            (EffectPlanned::CallModel(planned), open) if *open == OpenCalls::default() => {
                let planned = planned.clone();
                *open = OpenCalls::Model(OpenModelCall { effect, planned, failed_attempts: 0 });
            }
            _ => {}
        }
    }

    pub(super) fn tool_calls_mut(&mut self) -> &mut [OpenToolCall] {
        match &mut self.open {
            OpenCalls::Model(_) => &mut [],
            OpenCalls::Tools(open) => open,
        }
    }

    pub(super) fn tool_call_mut(&mut self, effect: &EffectId) -> Option<&mut OpenToolCall> {
        self.tool_calls_mut().iter_mut().find(|open| open.effect == *effect)
    }

    /// Notes that the intent of a call is durable.
    pub(super) fn start(&mut self, effect: &EffectId, started: &EffectStarted) {
        if let Some(open) = self.tool_call_mut(effect) {
            open.stage = CallStage::Started(started.clone());
            open.may_have_acted = true;
        }
    }

    /// Notes that a person or a rule permits a call.
    pub(super) fn permit(&mut self, effect: &EffectId, given: &ApprovalGiven) {
        if let Some(open) = self.tool_call_mut(effect) {
            open.stage = CallStage::Approved;
            open.policy_hash.clone_from(&given.policy_hash);
            // The model's own words stay in the transcript; from here on the call is this one.
            if let Some(args) = &given.edited_args {
                open.planned.call.args.clone_from(args);
                open.is_edited = true;
            }
        }
        if let Some(place) = &given.releases {
            self.holding.release(place);
        }
    }

    /// Notes an attempt that failed.
    pub(super) fn fail_attempt(&mut self, effect: &EffectId, failed: &EffectAttemptFailed) {
        match &mut self.open {
            OpenCalls::Model(open) if open.effect == *effect => {
                open.failed_attempts = failed.attempt;
            }
            OpenCalls::Model(_) => {}
            OpenCalls::Tools(_) => {
                if let Some(open) = self.tool_call_mut(effect) {
                    open.stage = CallStage::Approved;
                    open.failed_attempts = failed.attempt;
                    open.retry_at = Some(failed.retry_at);
                    open.may_have_acted &= failed.may_have_acted;
                }
            }
        }
    }

    pub(super) fn close_model_call(&mut self, effect: &EffectId) -> Option<OpenModelCall> {
        self.model_call().filter(|open| open.effect == *effect)?;
        match std::mem::take(&mut self.open) {
            OpenCalls::Model(open) => Some(open),
            OpenCalls::Tools(_) => None,
        }
    }

    pub(super) fn close_tool_call(&mut self, effect: &EffectId) -> Option<OpenToolCall> {
        let OpenCalls::Tools(open) = &mut self.open else { return None };
        let place = open.iter().position(|open| open.effect == *effect)?;
        Some(open.remove(place))
    }

    /// Takes the call ids of an earlier run, whose messages are in the same prompt.
    pub(super) fn take_ids(&mut self, carried: &[Message]) {
        for message in carried {
            if let Message::Assistant { calls, .. } = message {
                self.ids.extend(calls.iter().map(|call| call.id.clone()));
            }
        }
    }

    /// Makes the call ids of a reply unique within the run: models repeat them, or leave them out.
    pub(super) fn rename_calls(&mut self, reply: &mut Reply, most: usize) {
        reply.calls.truncate(most.max(1));
        for call in &mut reply.calls {
            let wanted = match call.id.as_str() {
                "" => "call".to_owned(),
                id => id.chars().take(64).collect(),
            };
            let mut id = CallId::new(wanted.clone());
            let mut n = 1;
            while self.ids.contains(&id) {
                n += 1;
                id = CallId::new(format!("{wanted}~{n}"));
            }
            self.ids.insert(id.clone());
            call.id = id;
        }
    }

    pub(super) fn remember_unknown(&mut self, open: &OpenToolCall, frame: &Frame) {
        self.unknowns.push(open.as_unknown(frame));
        self.unknowns.sort_by(|a, b| a.effect.cmp(&b.effect));
    }
}

impl OpenToolCall {
    /// Whether the end of this child is its outcome.
    #[must_use]
    pub fn waits_for(&self, child: &RunId) -> bool {
        matches!(&self.stage, CallStage::Delegated(run) if run == child)
    }

    /// The effect as an unknown one, if its outcome is never learned.
    pub(super) fn as_unknown(&self, frame: &Frame) -> UnknownEffect {
        let call = self.planned.call.clone();
        let resource = resource(&call, frame.tool(&call.tool));
        UnknownEffect { effect: self.effect.clone(), call, resource }
    }
}

/// What a call acts on: the path for files, the host for HTTP, tool and arguments otherwise.
pub(super) fn resource(call: &ToolCall, spec: Option<&ToolSpec>) -> String {
    let named = spec.and_then(|spec| spec.handling.resource_arg.as_deref());
    let args = serde_json::from_str::<Value>(&call.args).unwrap_or(Value::Null);
    match named.and_then(|name| args.get(name)) {
        Some(value) => format!("{}:{}", named.unwrap_or_default(), plain(value)),
        None => format!("{}:{}", call.tool, digest_bytes(args.to_string().as_bytes())),
    }
}

/// A path without a leading `./`; for an address its host.
fn plain(value: &Value) -> String {
    let Some(text) = value.as_str() else { return value.to_string() };
    match host(text) {
        Some(host) => host.to_lowercase(),
        None => text.trim_start_matches("./").to_owned(),
    }
}

fn host(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once("://")?;
    if !["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
        return None;
    }
    let place = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let place = place.rsplit('@').next().unwrap_or(place);
    match place.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((inner, _)) => Some(inner),
        None => place.split(':').next(),
    }
}

#[cfg(test)]
mod tests {
    use super::plain;
    use serde_json::json;

    #[test]
    fn an_address_stands_for_its_host_and_a_path_for_itself() {
        for (text, resource) in [
            ("https://api.example.com/v1/orders?x=1", "api.example.com"),
            ("HTTP://API.Example.com:8080", "api.example.com"),
            ("http://u:p@[::1]:80/a", "::1"),
            ("./a/b.txt", "a/b.txt"),
            ("notes://x/y", "notes://x/y"),
        ] {
            assert_eq!(plain(&json!(text)), resource);
        }
    }
}
