//! What the wire formats have in common. Pure: no sockets, no clocks.
//!
//! ```text
//!   chunk ──Lines──► data ──Reads: one provider's events──► Draft ──► Reply
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
pub(crate) use decode::{Decoder, EventReader};
pub(crate) use draft::Draft;
pub(crate) use fault::{Fault, RefusedSchema, provider_error, refusal, within};
pub(crate) use json::{
    List, object_or_wrapped, plain_name, push_json, push_temperature, push_text,
};
pub(crate) use lenient::{Count, Few, Text};
