//! `delegate`: a task for a child run. The run waits for its end without holding a worker.
//!
//! Deliberately absent: the child. The engine makes it, in the transaction that says so.

use everloop_ports::{CallContext, DelegateArgs, Tool, ToolReturn};
use everloop_types::{Approval, DataFlow, EffectClass, Handling, Observation, OnUnknown};

/// Hands a task to a child run.
#[derive(Debug)]
pub struct Delegate;

impl Tool for Delegate {
    const NAME: &'static str = "delegate";
    type Args = DelegateArgs;

    fn description(&self) -> &'static str {
        "Hand large work that stands on its own to a helper; returns its answer."
    }

    /// Child and record are one transaction, so whether there is a child is never unknown. What
    /// the child itself leaves unknown is another matter, and its outcome says so.
    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 0,
            // Its outcome has the labels of what the child has read.
            flow: Some(DataFlow::NOTHING),
            ..Handling::default()
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("task")
    }

    async fn call(&self, args: DelegateArgs, _context: &CallContext) -> ToolReturn {
        match args.task.trim() {
            "" => ToolReturn::Seen(Observation::error("task: is empty")),
            _ => ToolReturn::Delegate(args),
        }
    }
}
