//! What a run does at this moment, on one line, and the end of what its command prints. Pure.

use everloop_app::call_words::{call_words, result_lines};
use everloop_app::prices::ModelPrice;
use everloop_app::show::preview;
use everloop_engine::{CallView, EventKind, ReplyView, RunEvent, RunView, WaitingFor};
use everloop_markdown::{StyledLine, TerminalStyle, Tone, display_width};
use everloop_text as text;
use everloop_types::{ApprovalMode, EffectClass, Frame, Lang, Purpose, UtcMs};
use std::collections::BTreeSet;
use std::path::Path;

/// Columns of a command that the line shows where it has room for more than that.
const CALL_COLUMNS: usize = 40;

/// Columns of a command that are shown even where there is no room.
const CALL_COLUMNS_MIN: usize = 8;

/// Columns that what goes on has, where the line also says what is done without asking.
const ACTIVITY_COLUMNS_MIN: usize = 24;

/// Lines of a running command that are shown.
const OUTPUT_LINES: usize = 4;

/// Where and how a run works.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusPlace {
    /// The model that answers.
    pub model: String,
    /// The loop that decides.
    pub loop_name: String,
    /// The folder that it works in, shortened.
    pub folder: String,
    /// What is done without asking.
    pub approval_mode: ApprovalMode,
    /// What the model costs, if that is known.
    pub price: Option<ModelPrice>,
    /// Tools whose calls begin when they are planned, side by side. Calls of others wait for those
    /// before them.
    pub together: BTreeSet<String>,
}

impl StatusPlace {
    /// Where and how a run works, as it was fixed when the run began.
    pub fn of_frame(frame: &Frame, loop_name: &str, price: Option<ModelPrice>) -> Self {
        let home = std::env::home_dir();
        let is_pure = |class: EffectClass| class == EffectClass::Pure;
        let together = frame.tools.iter().filter(|tool| is_pure(tool.handling.class));
        Self {
            model: frame.model.name.clone(),
            loop_name: loop_name.to_owned(),
            folder: short_folder(Path::new(&frame.workspace), home.as_deref()),
            approval_mode: frame.policy.mode,
            price,
            together: together.map(|tool| tool.name.clone()).collect(),
        }
    }

    /// Takes in what happened. From the first fallback on the answers have more than one price.
    pub fn note(&mut self, event: &RunEvent) {
        if matches!(event.kind, EventKind::StepFellBack { .. }) {
            self.price = None;
        }
    }

    /// The parts that are said, the most telling first.
    pub fn words(&self, lang: Lang) -> Vec<String> {
        self.parts(lang, &self.model, &self.loop_name).into_iter().map(|(_, words)| words).collect()
    }

    /// The same, where this model answers and this loop decides.
    fn parts(&self, lang: Lang, model: &str, loop_name: &str) -> Vec<(Tone, String)> {
        let mode = match self.approval_mode {
            ApprovalMode::Ask => None,
            ApprovalMode::All => Some(text::now::approves_all().in_lang(lang)),
            mode => Some(text::now::mode(&mode.name()).in_lang(lang)),
        };
        let named = [model, loop_name, &self.folder].into_iter();
        let named = named.filter(|name| !name.is_empty()).map(|name| (Tone::Dim, name.to_owned()));
        mode.map(|mode| (Tone::Warning, mode)).into_iter().chain(named).collect()
    }
}

/// A folder as people write it.
pub fn short_folder(folder: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| folder.strip_prefix(home).ok()) {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", below.display()),
        None => folder.display().to_string(),
    }
}

/// The mark of a line that is alive. It turns where the terminal has the symbols.
pub fn turning_mark(mark: &'static str, now: UtcMs) -> &'static str {
    const FRAMES: [&str; 4] = ["◐", "◓", "◑", "◒"];
    const FRAME_MS: i64 = 250;
    if mark != FRAMES[0] {
        return mark;
    }
    let place = usize::try_from((now / FRAME_MS).rem_euclid(4)).unwrap_or(0);
    FRAMES[place]
}

/// The line with its mark before it.
pub fn status_row(mark: &str, status: StyledLine) -> StyledLine {
    status.after(Tone::Accent, &format!("{mark} "))
}

/// The line: what goes on, tokens, cost, `--yes`, model, loop, folder, and `hint`. What does not
/// fit is left out; what goes on is always there, and what is done without asking on all but very
/// narrow terminals.
pub fn status_line(
    lang: Lang,
    view: &RunView,
    place: &StatusPlace,
    hint: &str,
    now: UtcMs,
    width: usize,
) -> StyledLine {
    let fallback = view.reply.as_ref().and_then(|reply| reply.fallback.as_deref());
    let loop_name = if view.loop_name.is_empty() { &place.loop_name } else { &view.loop_name };
    let named = place.parts(lang, fallback.unwrap_or(&place.model), loop_name);
    let mode_columns = |(tone, words): &(Tone, String)| match tone {
        Tone::Warning => 3 + display_width(words),
        _ => 0,
    };
    let mode: usize = named.iter().map(mode_columns).sum();
    let mut kept = if mode + ACTIVITY_COLUMNS_MIN > width { 0 } else { mode };
    let activity = activity(lang, view, place, now, width.saturating_sub(kept));
    let mut used = display_width(&activity);
    let mut line = StyledLine::new(Tone::Plain, &activity);
    let mut parts = usage(lang, view, place);
    parts.extend(named);
    parts.push((Tone::Dim, hint.to_owned()));
    for part in parts {
        let columns = 3 + display_width(&part.1);
        if mode_columns(&part) > 0 {
            kept = 0;
        }
        if used + columns + kept > width {
            continue;
        }
        used += columns;
        line = line.with(part.0, &format!(" · {}", part.1));
    }
    line
}

/// The tokens that are known, with those of the reply on its way by its characters, and what the
/// known ones cost.
fn usage(lang: Lang, view: &RunView, place: &StatusPlace) -> Vec<(Tone, String)> {
    let usage = view.counts.usage;
    let known = usage.input_tokens + usage.output_tokens;
    let coming = view.reply.as_ref().filter(|reply| reply.chars > 0).map_or(0, estimate);
    let count = known + coming;
    let tokens = text::now::tokens(&short_count(count)).in_lang(lang);
    let tokens = (count > 0 && waits(lang, view).is_none()).then_some(tokens);
    let price = place.price.as_ref().filter(|_| known > 0);
    let cost = price.map(|price| price.cost(usage).words());
    tokens.into_iter().chain(cost).map(|words| (Tone::Dim, words)).collect()
}

/// What goes on, and since when.
fn activity(lang: Lang, view: &RunView, place: &StatusPlace, now: UtcMs, width: usize) -> String {
    if let Some(waiting) = waits(lang, view) {
        return waiting;
    }
    if let Some(reply) = &view.reply {
        return replying(lang, reply, now);
    }
    let mut calls = view.open_calls();
    let Some(first) = calls.next() else {
        let time = elapsed(lang, now - view.at);
        return text::now::working(&time).in_lang(lang);
    };
    let time = elapsed(lang, now - began_at(view, first, place));
    // Calls of other tools wait until those before them have ended.
    let others = calls.filter(|call| place.together.contains(&call.tool)).count();
    let words = |call: &str| {
        if others == 0 {
            text::now::running(&call, &time).in_lang(lang)
        } else {
            text::now::RunningMore { call: &call, count: &others, time: &time }.text().in_lang(lang)
        }
    };
    // The time is always there; the command takes the room that is left.
    let room = width.saturating_sub(display_width(&words("")));
    let room = room.min(CALL_COLUMNS.max(width / 2)).max(CALL_COLUMNS_MIN);
    words(&clipped(&call_words(lang, &first.tool, &first.arguments), room))
}

/// The line of a person's own command: what runs, for how long, how it is stopped.
pub fn own_command_line(lang: Lang, command: &str, ms: i64, width: usize) -> StyledLine {
    let time = elapsed(lang, ms);
    let words = |call: &str| text::now::running(&call, &time).in_lang(lang);
    let hint = format!(" · {}", text::now::how_to_stop().in_lang(lang));
    let room = width.saturating_sub(display_width(&words("")) + display_width(&hint));
    let call = clipped(&format!("$ {}", preview(command)), room.max(CALL_COLUMNS_MIN));
    StyledLine::new(Tone::Plain, &words(&call)).with(Tone::Dim, &hint)
}

/// When a call began: with its plan, or where it has to wait for others, when the last of them
/// ended.
fn began_at(view: &RunView, call: &CallView, place: &StatusPlace) -> UtcMs {
    if place.together.contains(&call.tool) {
        return call.began_at;
    }
    let ended = view.calls.iter().filter(|other| other.outcome.is_some());
    ended.map(|other| other.ended_at).fold(call.began_at, UtcMs::max)
}

fn waits(lang: Lang, view: &RunView) -> Option<String> {
    let is_asked = view.open_calls().any(|call| call.tool == "ask_user");
    let words = match &view.waiting {
        _ if view.question.is_some() || is_asked => text::now::waiting_you(),
        Some(WaitingFor::User) => text::now::waiting_you(),
        Some(WaitingFor::Model { .. }) => text::now::waiting_model(),
        Some(WaitingFor::Child { .. }) => text::now::waiting_child(),
        Some(WaitingFor::Timer { .. }) => text::now::waiting_timer(),
        None => return None,
    };
    Some(words.in_lang(lang))
}

/// What the model does.
fn replying(lang: Lang, reply: &ReplyView, now: UtcMs) -> String {
    let time = elapsed(lang, now - reply.began_at);
    if let Some(retry) = reply.retry.filter(|retry| retry.at > now) {
        // A second that has begun counts.
        let wait = elapsed(lang, retry.at - now + 999);
        return text::now::retrying(&retry.failed_attempts, &wait).in_lang(lang);
    }
    let words = match reply.purpose {
        Purpose::Plan => text::now::planning(&time),
        Purpose::Replan => text::now::reviewing(&time),
        Purpose::Compact => text::now::summarizing(&time),
        Purpose::Think | Purpose::Close if reply.text.trim().is_empty() => {
            text::now::thinking(&time)
        }
        Purpose::Think | Purpose::Close => text::now::writing(&time),
    };
    words.in_lang(lang)
}

/// About so many tokens have come: four letters make one, a Chinese character is one.
fn estimate(reply: &ReplyView) -> u64 {
    let bytes = reply.text.len() + reply.reasoning.len();
    let letters = reply.chars.max(1);
    let per_token = if bytes > letters * 2 { 1 } else { 4 };
    (letters / per_token).max(1) as u64
}

/// `950`, `1.2k`, `34k`, `1.2M`.
pub(crate) fn short_count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// How long something has taken, in words.
pub fn elapsed(lang: Lang, ms: i64) -> String {
    // A journal without a time, and a clock that was set back.
    let seconds = if (0..=86_400_000).contains(&ms) { ms / 1000 } else { 0 };
    match seconds {
        0..60 => text::now::seconds(&seconds).in_lang(lang),
        _ => text::now::minutes(&(seconds / 60), &(seconds % 60)).in_lang(lang),
    }
}

/// What fits into so many columns, with a mark where something was left out.
pub(crate) fn clipped(call: &str, width: usize) -> String {
    let style = TerminalStyle { width, color: false, emphasis: false, links: false, unicode: true };
    StyledLine::new(Tone::Plain, call).clipped(&style)
}

/// The end of what the last running command has printed.
pub fn output_tail(view: &RunView) -> Vec<StyledLine> {
    let open = view.open_calls().filter(|call| !call.output.is_empty()).last();
    let lines = open.map(|call| result_lines(&call.output)).unwrap_or_default();
    let from = lines.len().saturating_sub(OUTPUT_LINES);
    let line = |line: &String| StyledLine::new(Tone::Dim, &format!("    {line}"));
    lines[from..].iter().map(line).collect()
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
