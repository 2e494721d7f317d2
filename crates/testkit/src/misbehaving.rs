//! Tools that misbehave: they hang, doze, explode, or fail for a while.

use everloop_ports::{CallContext, Registry, Tool, ToolReturn};
use everloop_types::{Approval, EffectClass, Ending, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArgs {}

fn handling(class: EffectClass) -> Handling {
    Handling {
        class,
        approval: Approval::Allow,
        on_unknown: OnUnknown::TellModel,
        timeout_ms: 60_000,
        grace_ms: 1_000,
        ..Handling::default()
    }
}

/// Never returns, even when it is told to stop.
struct Hang;

impl Tool for Hang {
    const NAME: &'static str = "hang";
    type Args = NoArgs;

    fn description(&self) -> &'static str {
        "never comes back"
    }

    fn handling(&self) -> Handling {
        handling(EffectClass::Dangerous)
    }

    async fn call(&self, _: NoArgs, _: &CallContext) -> ToolReturn {
        pending().await
    }
}

/// Returns when it is told to stop, and proves that it stopped.
struct Doze;

impl Tool for Doze {
    const NAME: &'static str = "doze";
    type Args = NoArgs;

    fn description(&self) -> &'static str {
        "sleeps until it is told to stop"
    }

    fn handling(&self) -> Handling {
        handling(EffectClass::Dangerous)
    }

    async fn call(&self, _: NoArgs, context: &CallContext) -> ToolReturn {
        context.cancel.cancelled().await;
        ToolReturn::Seen(Observation { ending: Ending::Canceled, text: "woken".to_owned() })
    }
}

/// Changes nothing, and sleeps until it is told to stop.
struct Nap;

impl Tool for Nap {
    const NAME: &'static str = "nap";
    type Args = NoArgs;

    fn description(&self) -> &'static str {
        "sleeps and changes nothing"
    }

    fn handling(&self) -> Handling {
        handling(EffectClass::Pure)
    }

    async fn call(&self, _: NoArgs, context: &CallContext) -> ToolReturn {
        context.cancel.cancelled().await;
        ToolReturn::Seen(Observation { ending: Ending::Canceled, text: "woken".to_owned() })
    }
}

/// Panics.
struct Explode;

impl Tool for Explode {
    const NAME: &'static str = "explode";
    type Args = NoArgs;

    fn description(&self) -> &'static str {
        "takes its process down"
    }

    fn handling(&self) -> Handling {
        handling(EffectClass::Pure)
    }

    async fn call(&self, _: NoArgs, _: &CallContext) -> ToolReturn {
        panic!("as it is made to")
    }
}

/// Fails twice without an effect, then works.
#[derive(Default)]
struct Stutter {
    calls: AtomicU32,
}

impl Tool for Stutter {
    const NAME: &'static str = "stutter";
    type Args = NoArgs;

    fn description(&self) -> &'static str {
        "works at the third attempt"
    }

    fn handling(&self) -> Handling {
        Handling { retries: 3, ..handling(EffectClass::Dangerous) }
    }

    async fn call(&self, _: NoArgs, _: &CallContext) -> ToolReturn {
        match self.calls.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => ToolReturn::passing("not yet"),
            _ => ToolReturn::Seen(Observation::ok("at last")),
        }
    }
}

/// Adds the misbehaving tools.
pub(crate) fn with_trouble(registry: Registry) -> Registry {
    registry.with(Hang).with(Doze).with(Nap).with(Explode).with(Stutter::default())
}
