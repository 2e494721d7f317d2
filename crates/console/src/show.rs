//! Records as people and programs read them: lines of progress, tables, answers, JSON objects with
//! fixed fields.

mod answer_stream;
pub mod answering;
pub mod approval;
mod approval_table;
mod audit_table;
mod call_words;
pub mod choices;
pub mod conversations;
mod diff_lines;
pub mod doctor;
mod event_lines;
pub mod facts;
mod held_lines;
mod json_answer;
mod labels;
pub mod mention;
mod plan;
mod printer;
pub mod run_list;
pub mod settling;
mod status;
mod status_row;
pub mod survey;
mod thoughts;
pub mod undoing;

use crate::console::Console;
use crate::terminal;
pub use answer_stream::AnswerStream;
pub use approval_table::ApprovalTable;
pub use audit_table::AuditTable;
pub use diff_lines::{diff_lines, event_diff_lines};
pub use event_lines::{
    LinesFor, call_lines, child_line, event_lines, replanned_line, tool_of, unfolded_lines,
};
use everloop_app::prices::Cost;
use everloop_app::runs::RunDetails;
pub use everloop_app::show::{call_args, preview, timestamp};
use everloop_markdown::{StyledLine, Tone, display_width};
use everloop_text::{self as text, TextOf};
use everloop_types::{Usage, UtcMs};
pub use held_lines::HeldLines;
pub use labels::labels_line;
use plan::replanned;
pub use plan::{backed_plan_lines, plan_head, plan_lines};
pub use printer::{PrintMode, Printer};
pub use status::{
    StatusPlace, elapsed, output_tail, own_command_line, short_folder, status_line, status_row,
    turning_mark,
};
use std::io::IsTerminal;
pub use thoughts::ThoughtFold;

/// The last line about a run that ended: its status, its counts, its time.
pub fn summary(app: &Console, details: &RunDetails) -> String {
    summary_parts(app, details).join(SEPARATOR)
}

/// The same with its look. Where it does not fit, it is broken between two parts.
pub fn summary_line(app: &Console, details: &RunDetails) -> StyledLine {
    let parts = summary_parts(app, details);
    // In a log it is one line.
    let is_seen = std::io::stderr().is_terminal();
    let width = if is_seen { terminal::line_style().width } else { usize::MAX };
    StyledLine::new(Tone::Dim, &in_columns(&parts, width))
}

const SEPARATOR: &str = " · ";

/// Parts one behind the other, on so many columns.
fn in_columns(parts: &[String], width: usize) -> String {
    let (mut text, mut used) = (String::new(), 0);
    for part in parts {
        let columns = display_width(part);
        let separator = display_width(SEPARATOR);
        if text.is_empty() {
            used = columns;
        } else if used + separator + columns <= width {
            text.push_str(SEPARATOR);
            used += separator + columns;
        } else {
            text.push('\n');
            used = columns;
        }
        text.push_str(part);
    }
    text
}

/// What there is to say. What did not happen has no number.
fn summary_parts(app: &Console, details: &RunDetails) -> Vec<String> {
    let counts = details.counts;
    let calls = |count: u32, text: TextOf| app.text(text(&grouped(count.into())));
    let seconds = format!("{:.1}", details.duration_ms() as f64 / 1000.0);
    let mut parts = vec![
        everloop_text::status(app.lang, details.row.status).to_owned(),
        calls(counts.model_calls, text::ended::model_calls),
    ];
    if counts.tool_calls > 0 {
        parts.push(calls(counts.tool_calls, text::ended::tool_calls));
    }
    // A call that was canceled, and some providers, report none.
    if counts.usage.input_tokens + counts.usage.output_tokens > 0 {
        parts.push(tokens(app, counts.usage));
    }
    parts.push(app.text(text::ended::seconds(&seconds)));
    parts.extend(details.cost.as_ref().map(Cost::words));
    parts
}

/// Tokens read and written, in words.
pub fn tokens(app: &Console, usage: Usage) -> String {
    let [read, written, cached] =
        [usage.input_tokens, usage.output_tokens, usage.cached_tokens].map(grouped);
    app.text(if usage.cached_tokens == 0 {
        text::ended::tokens(&read, &written)
    } else {
        text::ended::TokensCached { r#in: &read, out: &written, cached: &cached }.text()
    })
}

/// A number with a comma between its thousands.
pub fn grouped(number: u64) -> String {
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

/// The time of day, for stories.
pub fn clock_time(at: UtcMs) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(at) else { return at.to_string() };
    moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S%.3f").to_string()
}

/// One short line of what a tool came back with, in the language of the person.
pub fn seen_line(app: &Console, text: &str) -> String {
    preview(&everloop_text::observed(app.lang, text))
}

#[cfg(test)]
mod tests {
    use super::{grouped, in_columns};

    #[test]
    fn the_last_line_is_broken_between_its_parts() {
        let parts = ["done", "1 model call", "0.1 s"].map(str::to_owned);
        assert_eq!(in_columns(&parts, 80), "done · 1 model call · 0.1 s");
        assert_eq!(in_columns(&parts, 27), "done · 1 model call · 0.1 s");
        assert_eq!(in_columns(&parts, 26), "done · 1 model call\n0.1 s");
        assert_eq!(in_columns(&parts, 3), "done\n1 model call\n0.1 s");
    }

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1_000, 12_304, 1_000_000].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "12,304", "1,000,000"]);
    }
}
