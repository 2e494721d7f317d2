//! A server's tool as the engine calls it, and one that refuses.

use super::approvals::ApprovalStatus;
use super::listing::OfferedTool;
use super::server::Server;
use super::setting::BETWEEN;
use everloop_ports::{AnyTool, BoxFuture, CallContext, CallPolicy, Intent, Probe, ToolReturn};
use everloop_types::{Observation, ToolSpec, check_args};
use serde_json::Value;
use std::sync::Arc;

/// The approved tools of a server; none unless all is well with it.
pub(super) fn offered(server: &Arc<Server>) -> Vec<Arc<dyn AnyTool>> {
    let ApprovalStatus::Good(approved) = server.approval_status() else { return Vec::new() };
    let tool = |offer: OfferedTool| -> Arc<dyn AnyTool> {
        let spec = offer.spec(server.setting());
        Arc::new(ServerTool { server: Arc::clone(server), offer, spec })
    };
    approved.listing.offers.into_iter().map(tool).collect()
}

/// Whether a run knows a tool as it is now; only how long a call may take and how often it is tried
/// are free to change.
pub(super) fn is_same(now: &ToolSpec, held: &ToolSpec) -> bool {
    let timeless = |spec: &ToolSpec| {
        let mut spec = spec.clone();
        spec.handling.timeout_ms = 0;
        spec.handling.grace_ms = 0;
        spec.handling.retries = 0;
        spec
    };
    timeless(now) == timeless(held)
}

/// A tool that a run holds and that may not be called as it knows it.
pub(super) fn refusing(spec: &ToolSpec, servers: &[Arc<Server>]) -> Arc<dyn AnyTool> {
    let name = spec.name.split(BETWEEN).next().unwrap_or_default();
    let server = servers.iter().find(|server| server.setting().name == name);
    let why = match server {
        None => format!("there is no MCP server {name} in the settings any more"),
        Some(server) => server.refusal().unwrap_or_else(|| {
            format!("the tool {} is another one than when this run began", spec.name)
        }),
    };
    Arc::new(RefusingTool { spec: spec.clone(), why })
}

struct ServerTool {
    server: Arc<Server>,
    offer: OfferedTool,
    spec: ToolSpec,
}

impl AnyTool for ServerTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, args: &'a str, context: &'a CallContext) -> BoxFuture<'a, ToolReturn> {
        Box::pin(async move {
            match check_args(&self.spec, args) {
                Ok(Value::Object(args)) => self.server.call(&self.offer, args, context).await,
                Ok(_) => unreachable!("arguments are checked to be an object"),
                Err(wrong) => {
                    ToolReturn::Seen(Observation::error(format!("bad arguments: {wrong}")))
                }
            }
        })
    }

    fn judge<'a>(&'a self, _: &'a str) -> BoxFuture<'a, CallPolicy> {
        Box::pin(async { self.server.refusal().map_or(CallPolicy::Default, CallPolicy::Deny) })
    }

    fn before<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Value> {
        Box::pin(async {
            self.server.warm_up().await;
            Value::Null
        })
    }

    fn probe<'a>(&'a self, _: &'a str, _: &'a Intent) -> BoxFuture<'a, Probe> {
        Box::pin(async { Probe::unknown("an MCP server cannot tell") })
    }
}

struct RefusingTool {
    spec: ToolSpec,
    why: String,
}

impl AnyTool for RefusingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a CallContext) -> BoxFuture<'a, ToolReturn> {
        let refused = Observation::denied(format!("{}; nothing was done", self.why));
        Box::pin(async { ToolReturn::Seen(refused) })
    }

    fn judge<'a>(&'a self, _: &'a str) -> BoxFuture<'a, CallPolicy> {
        Box::pin(async { CallPolicy::Deny(self.why.clone()) })
    }

    fn before<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Value> {
        Box::pin(async { Value::Null })
    }

    fn probe<'a>(&'a self, _: &'a str, _: &'a Intent) -> BoxFuture<'a, Probe> {
        Box::pin(async { Probe::unknown("an MCP server cannot tell") })
    }
}
