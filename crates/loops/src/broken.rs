//! What a user is shown when the model broke a contract to the end (PR-8).
//!
//! The fixed text of the loop, which contract it was and how often it was tried, the model's own
//! last words, and what can be tried.

use crate::{LoopSpec, Transcript};
use everloop_text as text;
use everloop_types::{Frame, Message, Words};

/// Characters of the model's own words that are shown.
const SAID_CHARS: usize = 600;

/// The reason: which loop, which contract if it has several, how many tries.
pub(crate) fn why(spec: &LoopSpec, contract: &str, frame: &Frame) -> Words {
    let tries = frame.limits.steps.contract_retries.saturating_add(1).to_string();
    let loop_name = spec.name.to_owned();
    let contract = contract.to_owned();
    match contract.as_str() {
        "" => text::broken::why_any(&loop_name, &tries).words(),
        _ => text::broken::Why { r#loop: &loop_name, contract: &contract, tries: &tries }
            .text()
            .words(),
    }
}

/// The model's last words, marked as such; nothing if it said nothing.
pub(crate) fn said(transcript: &Transcript) -> Vec<Words> {
    let said = transcript.messages().iter().rev().find_map(|message| match message {
        Message::Assistant { text, .. } if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let Some(said) = said else { return Vec::new() };
    let shown = match said.char_indices().nth(SAID_CHARS) {
        Some((end, _)) => format!("{}…", &said[..end]),
        None => said.to_owned(),
    };
    vec![text::broken::said().words(), Words::Said(shown)]
}

/// What can be tried.
pub(crate) fn advice(spec: &LoopSpec, frame: &Frame) -> Words {
    let other = spec.alternative.to_owned();
    let model = frame.model.name.clone();
    text::broken::next(&other, &model).words()
}
