//! Model calls of the past: what was sent and what came back, rebuilt from the journal.

use crate::drive::offered;
use crate::replay::History;
use everloop_loops::{AnyRun, output_schema, own_tools};
use everloop_types::journal::{EffectPlanned, EntryKind, Outcome, PlannedModelCall};
use everloop_types::{Message, OutputSchema, Reply, ToolChoice, ToolSpec};
use serde::Serialize;

/// Bytes of text that are about one token.
const BYTES_PER_TOKEN: usize = 4;

/// A model call as it was made. Everything is as the provider got it, but for the wire format.
#[derive(Debug, Clone, Serialize)]
pub struct RebuiltCall {
    /// The model that the run was begun with.
    pub model: String,
    /// What may be chosen of the tools.
    pub tool_choice: ToolChoice,
    /// The form that the reply was held to.
    pub output: Option<OutputSchema>,
    /// In thousandths.
    pub temperature_milli: u32,
    /// Most tokens of the reply.
    pub max_tokens: u32,
    /// The prompt.
    pub messages: Vec<Message>,
    /// The tools on offer.
    pub tools: Vec<ToolSpec>,
    /// Whether the prompt is, byte for byte, the one whose digest the journal has.
    pub is_exact: bool,
}

impl History {
    /// The model call that entry `seq` planned; nothing for any other entry, or if the beginning
    /// of the journal is missing.
    #[must_use]
    pub fn model_call(&self, seq: i64) -> Option<RebuiltCall> {
        let planned = self.planned_call(seq)?;
        let run = self.state_at(seq).ok()?;
        let frame = run.frame();
        let own = own_tools(&planned.call.offer, frame);
        let tools = offered(frame, &own, &planned.call.offer);
        Some(RebuiltCall {
            model: frame.model.name.clone(),
            tool_choice: planned.call.choice.clone(),
            output: planned.call.output.map(|contract| output_schema(contract, frame)),
            temperature_milli: frame.model.temperature_milli,
            max_tokens: frame.model.max_tokens,
            is_exact: run.prompt_digest() == planned.prompt,
            messages: run.messages().to_vec(),
            tools: tools.into_iter().cloned().collect(),
        })
    }

    /// The whole reply to the model call that entry `seq` planned, if one came.
    #[must_use]
    pub fn model_reply(&self, seq: i64) -> Option<&Reply> {
        self.planned_call(seq)?;
        let effect = self.entries.iter().find(|entry| entry.seq == seq)?.effect.as_ref()?;
        self.entries.iter().find_map(|entry| match &entry.kind {
            EntryKind::EffectFinished(finished) if entry.effect.as_ref() == Some(effect) => {
                match &finished.outcome {
                    Outcome::Replied(reply) => Some(reply),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// About how many tokens a fork after entry `seq` sends with its first call.
    #[must_use]
    pub fn fork_tokens(&self, seq: i64) -> Option<usize> {
        self.state_at(seq).ok().map(|run| about_tokens(&run))
    }

    fn planned_call(&self, seq: i64) -> Option<&PlannedModelCall> {
        let entry = self.entries.iter().find(|entry| entry.seq == seq)?;
        match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallModel(planned)) => Some(planned),
            _ => None,
        }
    }
}

fn about_tokens(run: &AnyRun) -> usize {
    let size = |value: serde_json::Result<String>| value.map_or(0, |text| text.len());
    let bytes = size(serde_json::to_string(run.messages()))
        + size(serde_json::to_string(&run.frame().tools));
    bytes / BYTES_PER_TOKEN
}
