//! The options of entries that start runs.

use super::schedule::{FirstOccurrence, NewEntry};
use super::words::{CommandWords, plain, unquoted};
use super::{CommandError, quoted};
use crate::time::{Cron, Repeat, SpokenRepeat};
use everloop_store::{OverlapPolicy, RunPlace};
use everloop_text::{self as text, Text};
use jiff::Zoned;
use jiff::tz::TimeZone;

/// Characters of the longest goal.
const GOAL_CHARS_MAX: usize = 20_000;

/// Characters of a title that is taken from a goal.
const TITLE_CHARS: usize = 80;

/// The given values of what an entry starts; the others are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunChange {
    /// The goal of each run.
    pub goal: Option<String>,
    /// The loop.
    pub loop_name: Option<String>,
    /// The persona.
    pub persona: Option<String>,
    /// The folder, as it was typed.
    pub workspace: Option<String>,
    /// The conversation.
    pub place: Option<RunPlace>,
    /// What happens while an earlier run has not ended.
    pub overlap: Option<OverlapPolicy>,
    /// After how many failures in a row it is paused.
    pub pause_after: Option<u32>,
    /// When, as a cron expression.
    pub cron: Option<Cron>,
}

/// Takes an option of this kind; false if it is none.
pub(super) fn take(
    entry: &mut NewEntry,
    option: &str,
    words: &mut CommandWords,
    usage: fn() -> Text,
) -> Result<bool, CommandError> {
    let run = || entry.run.clone().unwrap_or_default();
    let changed = match option {
        "run" => RunChange { goal: Some(goal(words, usage)?), ..*run() },
        "loop" => RunChange { loop_name: Some(value(words, usage)?), ..*run() },
        "persona" => RunChange { persona: Some(value(words, usage)?), ..*run() },
        "workspace" => RunChange { workspace: Some(value(words, usage)?), ..*run() },
        "conversation" => {
            let place = RunPlace::parse(plain(&value(words, usage)?).trim());
            RunChange { place: Some(place), ..*run() }
        }
        "overlap" => {
            let name = plain(&value(words, usage)?).to_lowercase();
            let Some(policy) = OverlapPolicy::parse(&name) else {
                return Err(CommandError::BadValue("overlap", name, usage()));
            };
            RunChange { overlap: Some(policy), ..*run() }
        }
        "pause-after" => {
            let count = value(words, usage)?;
            let Ok(after) = plain(&count).parse::<u32>() else {
                return Err(CommandError::BadValue("pause-after", count, usage()));
            };
            RunChange { pause_after: Some(after), ..*run() }
        }
        "cron" => {
            let written = plain(&value(words, usage)?);
            let cron = Cron::parse(&written);
            let cron = cron.map_err(|error| CommandError::BadCron(written.clone(), error))?;
            RunChange { cron: Some(cron), ..*run() }
        }
        "zone" => {
            let name = value(words, usage)?;
            let zone = TimeZone::get(&name).ok();
            let zone = zone.and_then(|zone| zone.iana_name().map(str::to_owned));
            entry.zone = Some(zone.ok_or(CommandError::NoSuchZone(name))?);
            return Ok(true);
        }
        _ => return Ok(false),
    };
    entry.run = Some(Box::new(changed));
    Ok(true)
}

/// The words before the next option, or one that is quoted.
fn value(words: &mut CommandWords, usage: fn() -> Text) -> Result<String, CommandError> {
    let count = if words.is_quoted() { 1 } else { words.until_option() };
    let text = words.peek(count).trim().to_owned();
    words.skip(count);
    if text.is_empty() { Err(CommandError::Usage(usage())) } else { Ok(text) }
}

fn goal(words: &mut CommandWords, usage: fn() -> Text) -> Result<String, CommandError> {
    let goal = value(words, usage)?;
    super::todo::short(text::command::text_too_long, &goal, GOAL_CHARS_MAX)?;
    Ok(goal)
}

impl NewEntry {
    /// The time of the person, in the zone that the entry is to have.
    pub(crate) fn now_there(&self, now: &Zoned) -> Zoned {
        let zone = self.zone.as_deref().and_then(|name| TimeZone::get(name).ok());
        zone.map_or_else(|| now.clone(), |zone| now.with_time_zone(zone))
    }

    /// Whether what a run cannot have was given: a length, a reminder.
    pub(super) fn mixes_run_and_event(&self) -> bool {
        let lasts = self.minutes.is_some_and(|minutes| minutes > 0);
        self.run.is_some() && (lasts || self.remind.is_some() || self.remind_from.is_some())
    }

    /// The start and the repetition of a cron expression.
    pub(super) fn set_cron(&mut self, cron: &Cron, now: &Zoned) -> Result<(), CommandError> {
        let never = || {
            let error = crate::time::CronError::Never;
            CommandError::BadCron(cron.text().to_owned(), error)
        };
        let after = now.timestamp();
        let mut moments = cron.moments(after, now.time_zone());
        let first = moments.find(|at| *at > after).ok_or_else(never)?;
        let repeat = cron.to_repeat().unwrap_or_else(|| Repeat::Cron(cron.clone()));
        self.start = Some(FirstOccurrence::at(first, now));
        self.repeat = Some(Some(SpokenRepeat::from(repeat)));
        Ok(())
    }

    /// A run takes no time, and is called after its goal if it has no title.
    pub(super) fn complete_run(&mut self) {
        let Some(run) = &self.run else { return };
        self.minutes = Some(0);
        if self.title.as_deref().is_none_or(str::is_empty) {
            let goal = run.goal.as_deref().map(everloop_types::one_line);
            let goal = goal.map(|goal| goal.chars().take(TITLE_CHARS).collect::<String>());
            self.title = goal.map(|goal| unquoted(goal.trim()).to_owned());
        }
    }
}

/// The options as a command writes them.
pub(super) fn written(run: &RunChange) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let mut option = |name, value: Option<String>| all.extend(value.map(|value| (name, value)));
    option("run", run.goal.clone());
    option("cron", run.cron.as_ref().map(|cron| cron.text().to_owned()));
    option("loop", run.loop_name.clone());
    option("persona", run.persona.clone());
    option("workspace", run.workspace.clone());
    option("conversation", run.place.as_ref().map(|place| place.as_str().to_owned()));
    option("overlap", run.overlap.map(|policy| policy.as_str().to_owned()));
    option("pause-after", run.pause_after.map(|count| count.to_string()));
    all
}

/// One option in a line.
pub(super) fn in_line(name: &str, value: &str) -> String {
    format!("--{name} {}", quoted(value))
}
