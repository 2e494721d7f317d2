//! What the wire formats have in common. Pure: no sockets, no clocks.
//!
//! ```text
//!   chunk ──LineBuffer──► data ──EventReader──► ReplyDraft ──► Reply
//! ```

mod calls;
mod decode;
mod draft;
mod fault;
mod json;
mod lenient;
mod lines;
mod mend;

pub(crate) use calls::CallPart;
pub(crate) use decode::{EventReader, StreamDecoder};
pub(crate) use draft::ReplyDraft;
pub(crate) use fault::{RefusedSchema, WireFault, provider_error, refusal, within};
pub(crate) use json::{
    JsonList, object_or_wrapped, plain_name, push_json, push_temperature, push_text,
};
pub(crate) use lenient::{LenientCount, LenientText, OneOrMany};
