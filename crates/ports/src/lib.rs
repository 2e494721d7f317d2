//! The contracts between the engine and the world: models, tools, channels and the clock.
//!
//! ```text
//!   engine ──► Model, Tool, Deliver, Clock ◄── models, tools, mcp, agenda, tests
//! ```
//!
//! The engine knows these traits and nothing of what implements them, so it compiles without HTTP,
//! TLS or an HTML parser, and a test replaces any of them by ten lines.
//!
//! Deliberately absent: every implementation. The feature `http` adds what HTTP clients share.

mod access;
mod clock;
mod delegate;
mod delivery;
#[cfg(feature = "http")]
pub mod http;
mod marks;
mod model;
mod prompt;
mod registry;
mod submission;
mod tool;

pub use access::AccessRules;
pub use clock::{Clock, Pause};
pub use delegate::DelegateArgs;
pub use delivery::{Deliver, Delivery};
pub use marks::{BY_OTHERS, FROM_THE_WEB};
pub use model::{Delta, Model, ModelFuture, OnDelta, Request};
pub use prompt::{RenderedMessages, WirePrompt};
pub use registry::Registry;
pub use submission::{RunStart, Submission};
pub use tool::{
    AnyTool, BoxFuture, CallContext, CallPolicy, Intent, OnOutput, Outgoing, Probe, Tool,
    ToolReturn, TransientToolError, UnsandboxedReason, erase,
};
