//! `todo` and `schedule`: the agenda's commands as tools.
//!
//! Both are keyed: the change and the key of the call are one transaction, so a call that is
//! repeated after a crash finds its first result and changes nothing.

use crate::commands::{self, AgendaVerb};
use crate::desk::{Agenda, AgendaResult};
use crate::show::{self, DisplayContext};
use everloop_ports::{CallContext, Clock, Tool, ToolReturn};
use everloop_store::{Store, StoreError};
use everloop_tools::{BuiltIn, Needs, Timeout, clip};
use everloop_types::{
    Approval, DataFlow, EffectClass, Handling, Labels, Lang, Observation, OnUnknown, UtcMs,
};
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// How long a key is valid for a run: a year.
const KEY_LIFETIME_MS: u64 = 31_536_000_000;

/// How much longer it is stored: clocks differ, and a call takes time.
const KEY_MARGIN_MS: i64 = 30 * 86_400_000;

/// Deletes the keys that no run can use any more. Runs are kept for `keep_ms`.
///
/// # Errors
/// If the store fails.
pub async fn forget_old_keys(store: &Store, now: UtcMs, keep_ms: i64) -> Result<(), StoreError> {
    let lifetime = i64::try_from(KEY_LIFETIME_MS).unwrap_or(i64::MAX).max(keep_ms);
    let before = now.saturating_sub(lifetime).saturating_sub(KEY_MARGIN_MS);
    store.agenda().forget_write_keys(before).await
}

/// A run that could plan further runs would go on without the person.
const NOT_BY_TOOL: &str = "only the user can set up or change a schedule that starts runs: \
    tell them the command, such as /schedule add \"every day at 9am\" --run \"GOAL\"";

/// The agenda, the clock and the user of a run.
#[derive(Clone)]
pub struct AgendaContext {
    /// The agenda; `None` where only the description is needed.
    pub desk: Option<Agenda>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The person's zone.
    pub zone: TimeZone,
    /// The person's language.
    pub lang: Lang,
}

/// The argument of `todo`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoArgs {
    /// The command.
    pub command: String,
}

/// The argument of `schedule`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleArgs {
    /// The command.
    pub command: String,
}

/// Todos, for the model.
pub struct TodoTool(pub AgendaContext);

/// The schedule, for the model.
pub struct ScheduleTool(pub AgendaContext);

/// The tools of this crate, for the table of all.
pub const BUILT_IN: [BuiltIn; 2] = [
    row(TodoTool::NAME, EffectClass::Keyed, 10_000),
    row(ScheduleTool::NAME, EffectClass::Keyed, 10_000),
];

const fn row(name: &'static str, class: EffectClass, timeout_ms: u64) -> BuiltIn {
    BuiltIn {
        name,
        class,
        approval: Approval::Allow,
        timeout: Timeout::Ms(timeout_ms),
        resource_arg: None,
        needs: Needs::Nothing,
        edits_files: false,
    }
}

fn handling() -> Handling {
    Handling {
        class: EffectClass::Keyed,
        approval: Approval::Allow,
        on_unknown: OnUnknown::TellModel,
        timeout_ms: 10_000,
        key_lifetime_ms: Some(KEY_LIFETIME_MS),
        retries: 3,
        flow: Some(DataFlow::brings(Labels::PRIVATE)),
        ..Handling::default()
    }
}

impl Tool for TodoTool {
    const NAME: &'static str = "todo";
    type Args = TodoArgs;

    fn description(&self) -> &'static str {
        "The user's todos: /todo add TEXT [--due \"YYYY-MM-DD HH:MM\"] [--remind 15m] [--priority \
         1-9] [--tag T]; /todo list|search WORD; /todo get|done|reopen|delete ID; /todo update ID \
         [as add]; /view today|overdue|upcoming|all"
    }

    fn handling(&self) -> Handling {
        handling()
    }

    fn text_arg() -> Option<&'static str> {
        Some("command")
    }

    async fn call(&self, args: TodoArgs, context: &CallContext) -> ToolReturn {
        self.0.perform(&args.command, AgendaSubject::Todo, context).await
    }
}

impl Tool for ScheduleTool {
    const NAME: &'static str = "schedule";
    type Args = ScheduleArgs;

    fn description(&self) -> &'static str {
        "The user's schedule: /schedule add \"YYYY-MM-DD HH:MM\" TITLE [--duration MIN, 0 = \
         reminder] [--remind 15m] [--repeat daily|weekdays|weekly:mon,fri|monthly:15|yearly] \
         [--times N] [--allow-conflict]; /schedule list; /schedule view day|week|month [DATE]; \
         /schedule get|delete ID; /schedule update ID [as add]; /schedule repeat ID on|off"
    }

    fn handling(&self) -> Handling {
        handling()
    }

    fn text_arg() -> Option<&'static str> {
        Some("command")
    }

    async fn call(&self, args: ScheduleArgs, context: &CallContext) -> ToolReturn {
        self.0.perform(&args.command, AgendaSubject::Schedule, context).await
    }
}

#[derive(Debug, Clone, Copy)]
enum AgendaSubject {
    Todo,
    Schedule,
}

impl AgendaSubject {
    /// The commands that the tool takes.
    fn verbs(self) -> &'static [AgendaVerb] {
        match self {
            Self::Todo => &[AgendaVerb::Todo, AgendaVerb::View],
            Self::Schedule => &[AgendaVerb::Schedule],
        }
    }
}

impl AgendaContext {
    async fn perform(
        &self,
        line: &str,
        subject: AgendaSubject,
        context: &CallContext,
    ) -> ToolReturn {
        let zoned = |at| crate::kept::moment(at).to_zoned(self.zone.clone());
        let now = zoned(self.clock.now());
        // After a crash the call may be repeated on another day; "tomorrow" refers to the first
        // one.
        let said_at = self.asked_at(context).await.map_or_else(|| now.clone(), zoned);
        let reader = DisplayContext { lang: self.lang, now, width: None };
        let line = commands::normal(line);
        let begins = |verb: AgendaVerb| line.starts_with(&format!("/{}", verb.name()));
        if !subject.verbs().iter().copied().any(begins) {
            let starts = match subject {
                AgendaSubject::Todo => "/todo or /view",
                AgendaSubject::Schedule => "/schedule",
            };
            let words = format!("command: must be a complete command that starts with {starts}");
            return ToolReturn::Seen(Observation::error(words));
        }
        let command = match commands::parse(&line, &said_at) {
            Ok(command) => command,
            Err(wrong) => {
                return ToolReturn::Seen(Observation::error(show::wrong(&reader, &wrong)));
            }
        };
        let Some(desk) = &self.desk else {
            return ToolReturn::passing("the desk is not open here");
        };
        match desk.runs().starts_runs(&command).await {
            Ok(false) => {}
            Ok(true) => return ToolReturn::Seen(Observation::error(NOT_BY_TOOL)),
            Err(error) => return ToolReturn::Lost(error.to_string()),
        }
        match desk.perform(&command, &reader.now, Some(&context.idem_key)).await {
            Ok(answer) => ToolReturn::Seen(self.observed(&reader, &answer, context)),
            Err(error) if error.is_transient() => ToolReturn::Lost(error.to_string()),
            Err(error) => ToolReturn::Seen(Observation::error(error.to_string())),
        }
    }

    /// When the model asked for the call, by its journal.
    async fn asked_at(&self, context: &CallContext) -> Option<UtcMs> {
        let (desk, effect) = (self.desk.as_ref()?, context.effect.as_ref()?);
        desk.store().journal().planned_at(effect).await.ok()?
    }

    /// A long table is cut by rows, and says how many are left out.
    fn observed(
        &self,
        reader: &DisplayContext,
        answer: &AgendaResult,
        context: &CallContext,
    ) -> Observation {
        let text = clip::head(&show::answer(reader, answer), context.observation_chars);
        match answer {
            Ok(_) => Observation::ok(text),
            Err(_) => Observation::error(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_engine::SystemClock;

    #[test]
    fn the_table_says_what_the_tools_say() {
        let office = AgendaContext {
            desk: None,
            clock: Arc::new(SystemClock),
            zone: TimeZone::UTC,
            lang: Lang::En,
        };
        let tools = [TodoTool(office.clone()).handling(), ScheduleTool(office).handling()];
        for (row, tool) in BUILT_IN.iter().zip(&tools) {
            let said = (tool.class, tool.approval, Timeout::Ms(tool.timeout_ms));
            assert_eq!((row.class, row.approval, row.timeout), said, "{}", row.name);
        }
    }
}
