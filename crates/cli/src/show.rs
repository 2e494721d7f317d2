//! What the CLI shows: JSON objects with fixed fields, and lines of progress.

mod answering;
mod event_lines;
mod following;
mod labels;
mod plan;
mod printer;

use crate::app::App;
use crate::commands::settle::unknown_json;
use crate::prices::Cost;
pub(crate) use answering::answering_line;
pub(crate) use event_lines::{child_line, event_line, replanned_line, tool_of};
use everloop_engine::{History, OpenUnknown};
use everloop_store::{ForkOrigin, OutboxCount, RunRow};
use everloop_types::journal::{EffectPlanned, InboxMessage, Input, Kind, RunFinished, WaitingOn};
use everloop_types::{Counts, Progress, Reason, RunId, Status, Usage, UtcMs, canonical, visible};
pub(crate) use following::{Followed, Following};
pub(crate) use labels::labels_line;
use plan::replanned;
pub(crate) use plan::{backed_plan_lines, plan_head, plan_lines};
pub(crate) use printer::{Manner, Printer};
use serde_json::{Value, json};

/// A run with its numbers and words.
pub(crate) struct Shown {
    pub(crate) row: RunRow,
    pub(crate) history: History,
    pub(crate) counts: Counts,
    pub(crate) progress: Progress,
    pub(crate) waiting_on: Option<WaitingOn>,
    /// The open question as the person reads it.
    pub(crate) question: Option<String>,
    /// Calls whose outcome the journal does not know.
    pub(crate) unknowns: Vec<OpenUnknown>,
    /// Runs that were forked from it, and where.
    pub(crate) forks: Vec<ForkOrigin>,
    /// Messages that it queued for channels outside.
    pub(crate) messages: OutboxCount,
    /// What it has cost, where all prices are known.
    pub(crate) cost: Option<Cost>,
}

impl Shown {
    /// Why the run ended as it did.
    pub(crate) fn reason(&self) -> Option<&Reason> {
        self.history.entries.iter().rev().find_map(|entry| match &entry.kind {
            Kind::RunFinished(RunFinished { reason, .. }) => reason.as_ref(),
            _ => None,
        })
    }

    /// Whether something is still to be settled.
    pub(crate) fn has_open_unknown(&self) -> bool {
        self.unknowns.iter().any(|unknown| unknown.settled.is_none())
    }

    /// Whether every outcome that was unknown at the end is known now.
    pub(crate) fn is_settled_since(&self) -> bool {
        self.row.status == Status::Unsettled
            && !self.unknowns.is_empty()
            && !self.has_open_unknown()
    }

    /// The run that goes on in place of this one, and the loop that decides it.
    pub(crate) fn goes_on(&self) -> Option<(&RunId, &str)> {
        let switch = self.history.entries.iter().rev().find_map(|entry| match &entry.kind {
            Kind::Input(Input { letter: InboxMessage::Switch(switch), .. }) => Some(switch),
            _ => None,
        });
        // It was made with the ending, or never.
        let made = switch.filter(|switch| self.forks.iter().any(|fork| fork.run == switch.to));
        made.map(|switch| (&switch.to, switch.loop_name.as_str()))
    }

    /// What the person said while it worked, as far as a model was asked afterwards.
    pub(crate) fn heeded(&self) -> Vec<&str> {
        let (mut said, mut heeded) = (Vec::new(), Vec::new());
        for entry in &self.history.entries {
            match &entry.kind {
                Kind::Input(Input { letter: InboxMessage::Steer { text }, .. }) => {
                    said.push(text.as_str())
                }
                Kind::EffectPlanned(EffectPlanned::CallModel { .. }) => heeded.append(&mut said),
                _ => {}
            }
        }
        heeded
    }

    /// The last words, or what the run waits for.
    pub(crate) fn text(&self) -> Option<String> {
        match (self.history.final_text(), &self.waiting_on) {
            (Some(text), _) => Some(text.to_owned()),
            (None, Some(WaitingOn::Person { .. })) => self.question.clone(),
            (None, Some(WaitingOn::Model { error })) => Some(error.detail.clone()),
            (None, Some(WaitingOn::Child { .. }) | None) => None,
        }
    }

    fn duration_ms(&self) -> i64 {
        let last = self.history.entries.last().map_or(0, |entry| entry.at);
        last.saturating_sub(self.row.times.created_at).max(0)
    }

    /// The last line about a run that ended: its status, its counts, its time.
    pub(crate) fn summary(&self, app: &App) -> String {
        let counts = self.counts;
        let calls = |count: u32, one, many| {
            let key = if count == 1 { one } else { many };
            app.text(key, &[("count", &grouped(count.into()))])
        };
        let seconds = format!("{:.1}", self.duration_ms() as f64 / 1000.0);
        let mut parts = vec![
            everloop_text::status(app.lang, self.row.status).to_owned(),
            calls(counts.model_calls, "ended.one_model_call", "ended.model_calls"),
            calls(counts.tool_calls, "ended.one_tool_call", "ended.tool_calls"),
            tokens(app, counts.usage),
            app.text("ended.seconds", &[("seconds", &seconds)]),
        ];
        parts.extend(self.cost.as_ref().map(Cost::words));
        parts.join(" · ")
    }

    /// The object that `run --output-format json` prints.
    pub(crate) fn result(&self) -> Value {
        let usage = self.counts.usage;
        let mut result = json!({
            "status": self.row.status,
            "run_id": self.row.run,
            "loop": self.row.loop_name,
            "text": self.text(),
            "success": self.row.status == Status::Succeeded,
            "message": self.text(),
            "steps": self.history.is_whole().then_some(self.counts.steps),
            "model_calls": self.counts.model_calls,
            "tool_calls": self.counts.tool_calls,
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cached_tokens": usage.cached_tokens,
            },
            "duration_ms": self.duration_ms(),
            "needs_person": self.history.frame().tools_that_ask(),
        });
        if let Some(round) = self.progress.round.filter(|_| self.history.is_whole()) {
            result["rounds"] = json!(self.counts.steps);
            result["steps"] = json!(round.steps_run);
        }
        if let Some(cost) = &self.cost {
            result["cost"] = json!({"amount": cost.amount, "currency": cost.currency});
        }
        result
    }

    /// The object that `runs show --json` prints: the list's fields, the numbers, the plan.
    pub(crate) fn whole(&self) -> Value {
        let mut whole = row_json(&self.row);
        let result = self.result();
        for key in ["text", "steps", "model_calls", "tool_calls", "usage", "cost", "duration_ms"] {
            whole[key] = result[key].clone();
        }
        if let Some(rounds) = result.get("rounds") {
            whole["rounds"] = rounds.clone();
        }
        whole["plan"] = json!(self.progress.items);
        whole["reason"] = json!(self.reason());
        whole["unknowns"] = self.unknowns.iter().map(unknown_json).collect();
        whole["settled_since"] = json!(self.is_settled_since());
        whole["waiting_for"] = json!(self.waiting_on);
        whole["events"] = json!(self.row.lease.next_seq.saturating_sub(1));
        let fork = |fork: &ForkOrigin| json!({"run_id": fork.run, "at": fork.at_seq});
        let OutboxCount { sent, waiting } = self.messages;
        whole["messages"] = json!({"sent": sent, "waiting": waiting});
        whole["forks"] = self.forks.iter().map(fork).collect();
        whole["labels"] = labels::object(&self.history.holding());
        whole["needs_person"] = result["needs_person"].clone();
        whole["workspace"] = json!(self.history.frame().workspace);
        whole["model"] = json!(self.history.frame().model.name);
        whole
    }
}

fn tokens(app: &App, usage: Usage) -> String {
    let [read, written, cached] =
        [usage.input_tokens, usage.output_tokens, usage.cached_tokens].map(grouped);
    let key = if usage.cached_tokens == 0 { "ended.tokens" } else { "ended.tokens_cached" };
    app.text(key, &[("in", &read), ("out", &written), ("cached", &cached)])
}

/// A number with a comma between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The object of one run in a list.
pub(crate) fn row_json(row: &RunRow) -> Value {
    json!({
        "run_id": row.run,
        "status": row.status,
        "loop": row.loop_name,
        "goal": row.goal,
        "created_at": timestamp(row.times.created_at),
        "updated_at": timestamp(row.times.updated_at),
        "note": row.note,
        "forked_from": row.origin.forked.as_ref().map(|origin| &origin.run),
        "parent": row.origin.parent,
        "imported": row.origin.imported,
        "forked_at": row.origin.forked.as_ref().map(|origin| origin.at_seq),
    })
}

/// RFC 3339 with the local offset.
pub(crate) fn timestamp(at: UtcMs) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(at) else { return at.to_string() };
    let local = moment.to_zoned(jiff::tz::TimeZone::system());
    local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// The time of day, for stories.
pub(crate) fn clock_time(at: UtcMs) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(at) else { return at.to_string() };
    moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S%.3f").to_string()
}

/// One short line of what a tool came back with, in the language of the person.
pub(crate) fn seen_line(app: &App, text: &str) -> String {
    preview(&everloop_text::observed(app.lang, text))
}

/// One short line of a call's arguments, as the tool reads them and not as the model spelled them.
pub(crate) fn call_args(args: &str) -> String {
    preview(&canonical(args))
}

/// One short line of any text.
pub(crate) fn preview(text: &str) -> String {
    const SHOWN_CHARS: usize = 120;
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1_000, 12_304, 1_000_000].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "12,304", "1,000,000"]);
    }
}
