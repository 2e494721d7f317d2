//! `memory_propose` and `memory_search`: facts for the model.
//!
//! A proposal is written by the engine, in the commit of the call's outcome: it is there once, or
//! the call did not happen. What the run has read decides whether it is trusted.

use super::telling::line;
use super::{FactError, FactPolicy, active_in, checked_text, search, short_id};
use crate::error::AppError;
use crate::runs;
use crate::settings::Settings;
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_store::{FactFilter, Store, StoreError};
use everloop_tools::{BuiltIn, Needs, Timeout, clip};
use everloop_types::{
    Approval, DataFlow, EffectClass, FactId, FactProposal, FactSource, FactStatus, Handling,
    Observation, OnUnknown, RunId,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// How long a call may take.
const TIMEOUT_MS: u64 = 10_000;

/// What the tools know.
#[derive(Clone)]
pub(crate) struct FactContext {
    /// Where facts are kept; none where tools are only described.
    pub store: Option<Store>,
    /// The limits.
    pub settings: Settings,
    /// The folder of the run.
    pub workspace: String,
}

/// Why a call came to nothing.
enum ToolFault {
    /// The store failed for a moment.
    Passing(String),
    /// In words for the model.
    Words(String),
}

impl From<AppError> for ToolFault {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Store(error) => error.into(),
            error => Self::Words(error.to_string()),
        }
    }
}

impl From<StoreError> for ToolFault {
    fn from(error: StoreError) -> Self {
        match error.is_transient() {
            true => Self::Passing(error.to_string()),
            false => Self::Words(error.to_string()),
        }
    }
}

impl From<FactError> for ToolFault {
    fn from(error: FactError) -> Self {
        Self::Words(format!("text: {error}; nothing was proposed"))
    }
}

impl From<ToolFault> for ToolReturn {
    fn from(fault: ToolFault) -> Self {
        match fault {
            ToolFault::Passing(words) => Self::passing(words),
            ToolFault::Words(words) => Self::Seen(Observation::error(words)),
        }
    }
}

/// The arguments of `memory_propose`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryProposeArgs {
    /// The fact.
    pub text: String,
    /// Which runs.
    #[serde(default)]
    pub scope: Option<ProposalScope>,
}

/// Which runs are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProposalScope {
    Workspace,
    Global,
}

/// Proposes a fact.
pub(crate) struct MemoryPropose(pub FactContext);

/// The argument of `memory_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySearchArgs {
    /// Words.
    pub query: String,
}

/// Looks for facts.
pub(crate) struct MemorySearch(pub FactContext);

/// The tools of this module, for the table of all.
pub(crate) const BUILT_IN: [BuiltIn; 2] = [
    row(MemoryPropose::NAME, EffectClass::Transactional),
    row(MemorySearch::NAME, EffectClass::Pure),
];

const fn row(name: &'static str, class: EffectClass) -> BuiltIn {
    BuiltIn {
        name,
        class,
        approval: Approval::Allow,
        timeout: Timeout::Ms(TIMEOUT_MS),
        resource_arg: None,
        needs: Needs::Nothing,
        edits_files: false,
    }
}

fn handling(class: EffectClass, flow: DataFlow) -> Handling {
    Handling {
        class,
        approval: Approval::Allow,
        on_unknown: OnUnknown::TellModel,
        timeout_ms: TIMEOUT_MS,
        retries: 3,
        flow: Some(flow),
        ..Handling::default()
    }
}

impl Tool for MemoryPropose {
    const NAME: &'static str = "memory_propose";
    type Args = MemoryProposeArgs;

    fn description(&self) -> &'static str {
        "Propose a lasting fact for later runs: one sentence, no secrets."
    }

    /// Nothing leaves: what is untrusted waits for a person before any run is told.
    fn handling(&self) -> Handling {
        handling(EffectClass::Transactional, DataFlow::NOTHING)
    }

    fn text_arg() -> Option<&'static str> {
        Some("text")
    }

    async fn call(&self, args: MemoryProposeArgs, context: &CallContext) -> ToolReturn {
        self.0.propose(args, context).await.unwrap_or_else(ToolReturn::from)
    }
}

impl Tool for MemorySearch {
    const NAME: &'static str = "memory_search";
    type Args = MemorySearchArgs;

    fn description(&self) -> &'static str {
        "Find facts from earlier conversations."
    }

    fn handling(&self) -> Handling {
        handling(EffectClass::Pure, DataFlow::marked())
    }

    fn text_arg() -> Option<&'static str> {
        Some("query")
    }

    async fn call(&self, args: MemorySearchArgs, context: &CallContext) -> ToolReturn {
        self.0.look_for(&args.query, context).await.unwrap_or_else(ToolReturn::from)
    }
}

impl FactContext {
    fn store(&self) -> Result<&Store, ToolFault> {
        self.store.as_ref().ok_or_else(|| ToolFault::Passing("no memory is open here".to_owned()))
    }

    async fn look_for(&self, query: &str, context: &CallContext) -> Result<ToolReturn, ToolFault> {
        let all = active_in(&self.settings, self.store()?, Some(&self.workspace)).await?;
        let found = search::ranked(all, query);
        let text = match found.is_empty() {
            true => "no fact fits these words".to_owned(),
            false => found.iter().map(line).collect::<Vec<_>>().join("\n"),
        };
        Ok(ToolReturn::Seen(Observation::ok(clip::head(&text, context.observation_chars))))
    }

    async fn propose(
        &self,
        args: MemoryProposeArgs,
        context: &CallContext,
    ) -> Result<ToolReturn, ToolFault> {
        let store = self.store()?;
        let text = checked_text(&self.settings, &args.text)?;
        let run = context.effect.as_ref().map(|effect| &effect.run);
        let origin = self.origin(store, run).await?;
        let workspace = match args.scope {
            Some(ProposalScope::Global) => None,
            Some(ProposalScope::Workspace) | None => Some(self.workspace.clone()),
        };
        if let Some(known) = self.known(store, &text, workspace.as_deref()).await? {
            return Ok(ToolReturn::Seen(Observation::ok(known)));
        }
        self.check_room(store).await?;
        let untrusted = context.holds.untrusted || origin.imported;
        let accept = self.settings.memory.accept == FactPolicy::Auto;
        let id = FactId::new(fresh_id("fact_", SystemClock.now()));
        let seen = match accept && !untrusted {
            true => format!("remembered as {}; later runs are told", short_id(&id)),
            false => format!("proposed as {}; the user decides about it", short_id(&id)),
        };
        let source = origin.source;
        let fact = FactProposal { id, text, workspace, source, untrusted, accept };
        Ok(ToolReturn::Proposed(Observation::ok(seen), Box::new(fact)))
    }

    /// Where a proposal of a run comes from. A helper's goes back to the message of the person.
    async fn origin(
        &self,
        store: &Store,
        run: Option<&RunId>,
    ) -> Result<ProposalOrigin, ToolFault> {
        let Some(run) = run else {
            return Ok(ProposalOrigin { source: FactSource::default(), imported: true });
        };
        let top = runs::top(store, run).await?;
        let row = store.runs().get(&top).await?;
        let row = row.ok_or_else(|| ToolFault::Words(format!("no run {top}")))?;
        if store.facts().is_kept_out(run).await? {
            let words = "this conversation is kept out of memory; nothing was proposed";
            return Err(ToolFault::Words(words.to_owned()));
        }
        let message = store.facts().last_message(&top).await?;
        let (conversation, run) = (Some(row.conversation), Some(run.clone()));
        let imported = row.origin.imported;
        Ok(ProposalOrigin { source: FactSource { conversation, run, message }, imported })
    }

    /// What is said of a fact that is known or proposed already.
    async fn known(
        &self,
        store: &Store,
        text: &str,
        workspace: Option<&str>,
    ) -> Result<Option<String>, ToolFault> {
        let memory = &self.settings.memory;
        let kinds = [
            (FactStatus::Active, memory.max_facts, "known already as"),
            (FactStatus::Proposed, memory.max_proposals, "proposed already as"),
        ];
        for (status, most, words) in kinds {
            let workspace_filter = Some(self.workspace.clone());
            let status = Some(status);
            let filter = FactFilter { status, workspace: workspace_filter, most, before: None };
            let all = store.facts().list(&filter).await?;
            let is_it = |fact: &&everloop_store::FactRow| {
                fact.text == text && (fact.workspace.is_none() || workspace.is_some())
            };
            if let Some(fact) = all.iter().find(is_it) {
                return Ok(Some(format!("{words} {}", short_id(&fact.id))));
            }
        }
        Ok(None)
    }

    async fn check_room(&self, store: &Store) -> Result<(), ToolFault> {
        let memory = &self.settings.memory;
        let kinds = [
            (FactStatus::Proposed, memory.max_proposals, "proposals wait for the user"),
            (FactStatus::Active, memory.max_facts, "facts are remembered"),
        ];
        for (status, most, words) in kinds {
            if store.facts().count(status).await? >= most {
                let words = format!("{most} {words} already; nothing was proposed");
                return Err(ToolFault::Words(words));
            }
        }
        Ok(())
    }
}

/// Where a proposal comes from.
struct ProposalOrigin {
    source: FactSource,
    /// Whether its run came in a file: every word of it is the author's of the file.
    imported: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_the_tools_say_what_the_tools_say() {
        let settings = Settings::defaults();
        let context = FactContext { store: None, settings, workspace: String::new() };
        let tools = [MemoryPropose(context.clone()).handling(), MemorySearch(context).handling()];
        for (row, tool) in BUILT_IN.iter().zip(&tools) {
            let said = (tool.class, tool.approval, Timeout::Ms(tool.timeout_ms));
            assert_eq!((row.class, row.approval, row.timeout), said, "{}", row.name);
        }
    }
}
