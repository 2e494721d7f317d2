//! Models: OpenAI-compatible servers, Anthropic, Gemini, and a scripted one, behind one trait.
//!
//! ```text
//!   Request ──WirePrompt──► body bytes ──HTTP──► stream bytes ──Decoder──► Delta, Delta, … Reply
//! ```
//!
//! A model call returns one whole `Reply` or a typed `ModelError`; an incomplete stream is an
//! error, never a short reply.
//!
//! Deliberately absent: retries, budgets and call ids (the engine's), the transcript (the loop's).

mod anthropic;
mod ask;
mod connect;
#[cfg(test)]
mod contract_tests;
mod emulation;
mod endpoint;
mod forced;
mod formats;
mod gemini;
mod http;
mod list;
mod openai;
mod provider;
mod request_log;
mod schema;
mod scripted;
mod scripted_file;
mod secret;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod token_count;
mod way;
mod wire;
mod written_call;

pub use ask::{ExtraMessage, RequestParts};
pub use connect::{KnownProvider, ModelConnectError, connect, key_variables, providers, usual_url};
pub use endpoint::{Endpoint, Timeouts};
pub use list::{list_models, list_models_of};
pub use openai::codec;
pub use openai::{OPENAI_URL, OpenAi, usual_way};
pub use scripted::{ScriptedModel, ScriptedReply, SeenRequest};
pub use secret::Secret;
pub use token_count::{CountingModel, count_tokens};
pub use way::{CallWay, ModelKnowledge, ModelTraits, TraitStore};
