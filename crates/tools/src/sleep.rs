//! `sleep`: waits, without holding a worker. The engine keeps the moment in the journal.

use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_types::{Approval, DataFlow, EffectClass, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `sleep`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepArgs {
    /// How long.
    pub seconds: u64,
}

/// Waits for a time.
#[derive(Debug)]
pub struct Sleep {
    /// The longest wait.
    pub most_ms: u64,
}

impl Tool for Sleep {
    const NAME: &'static str = "sleep";
    type Args = SleepArgs;

    fn description(&self) -> &'static str {
        "Wait so many seconds."
    }

    /// The moment and the wait are one transaction, so whether the run sleeps is never unknown.
    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 0,
            // Waiting again and again is its purpose.
            polls: true,
            flow: Some(DataFlow::NOTHING),
            ..Handling::default()
        }
    }

    async fn call(&self, args: SleepArgs, _context: &CallContext) -> ToolReturn {
        let wait_ms = args.seconds.saturating_mul(1_000);
        if wait_ms > self.most_ms {
            let most = self.most_ms / 1_000;
            let words = format!("seconds: at most {most} (setting tasks.max_sleep)");
            return ToolReturn::Seen(Observation::error(words));
        }
        ToolReturn::Sleep(wait_ms)
    }
}
