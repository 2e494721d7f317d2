//! Records of runs as lines for people: the same lines as for runs on this machine.

use super::RemoteConsole;
use crate::commands::family::indented;
use everloop_agenda::show::padded;
use everloop_app::conversations::short_folder;
use everloop_console::show::run_list::{RunLine, RunListTable, moment_of};
use everloop_console::show::{grouped, preview, tokens};
use everloop_console::terminal;
use everloop_text::{self as text, Text, TextOf};
use everloop_types::{AGENT, Status, Usage, one_line, short_id, spelled};
use serde_json::Value;

impl RemoteConsole<'_> {
    pub(super) fn print_list(&self, page: &Value, json: bool, is_narrowed: bool) {
        if json {
            return terminal::print_json(page);
        }
        let runs = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        if runs.is_empty() {
            let none = if is_narrowed { text::runs::none_such() } else { text::runs::none() };
            return terminal::print_line(&self.app.text(none));
        }
        let mut table = RunListTable::new(self.app);
        for run in runs {
            let is_agent = run["run_type"] == AGENT;
            let kind = if is_agent { &run["loop"] } else { &run["run_type"] };
            let mark = if run["parent"].is_null() { "" } else { "↳ " };
            let title = run["title"].as_str().unwrap_or_else(|| said(&run["goal"]));
            table.row(RunLine {
                id: short_id(said(&run["run_id"])),
                status: self.status_words(run, run["open_unknowns"] == 0),
                kind: said(kind),
                created_at: moment_of(said(&run["created_at"])),
                goal: format!("{mark}{}{}", self.imported(run), preview(title)),
            });
        }
        table.print();
    }

    pub(super) fn print_tree(&self, run: &Value, depth: usize) {
        let status = padded(&self.status_words(run, false), 11);
        let (id, goal) = (one_line(short_id(said(&run["run_id"]))), preview(said(&run["goal"])));
        let line = format!("{id}  {status}  {}{goal}", self.imported(run));
        terminal::print_line(&indented(depth, &line));
        for child in run["children"].as_array().into_iter().flatten() {
            self.print_tree(child, depth + 1);
        }
    }

    pub(super) fn print_record(&self, record: &Value) {
        let seconds = self.seconds(record);
        let usage = usage_of(record);
        let status = self.status_words(record, record["settled_since"] == true);
        let rows: [(TextOf, String); 11] = [
            (text::runs::show_id, word(&record["run_id"])),
            (text::runs::show_goal, word(&record["goal"])),
            (text::runs::show_status, status),
            (text::runs::show_loop, word(&record["loop"])),
            (text::runs::show_model, word(&record["model"])),
            (text::runs::show_workspace, one_line(&short_folder(said(&record["workspace"])))),
            (text::runs::show_created, word(&record["created_at"])),
            (text::runs::show_duration, seconds),
            (text::runs::show_model_calls, record["model_calls"].to_string()),
            (text::runs::show_tool_calls, record["tool_calls"].to_string()),
            (text::runs::show_tokens, format!("{} + {}", usage.input_tokens, usage.output_tokens)),
        ];
        rows.iter().for_each(|(text, value)| self.answer(text(value)));
        if record["run_type"] != AGENT {
            self.answer(text::tasks::show_type(&word(&record["run_type"])));
        }
        if record["title"].is_string() {
            self.answer(text::tasks::show_title(&word(&record["title"])));
        }
        for child in record["children"].as_array().into_iter().flatten() {
            let status = self.status_words(child, false);
            let (id, goal) = (short_id(said(&child["run_id"])), preview(said(&child["goal"])));
            self.answer(text::runs::show_children(&format!("{id} {status} {goal}")));
        }
        let error = &record["error"];
        for words in [&record["text"], &error["message"], &error["hint"]] {
            if let Some(words) = words.as_str() {
                terminal::print_line(&format!("\n{}", spelled(words)));
            }
        }
    }

    /// The last line about a run that ended.
    pub(super) fn summary(&self, result: &Value) -> String {
        let calls = |key: &str, text: TextOf| {
            self.app.text(text(&grouped(result[key].as_u64().unwrap_or(0))))
        };
        let parts = [
            self.status_words(result, false),
            calls("model_calls", text::ended::model_calls),
            calls("tool_calls", text::ended::tool_calls),
            tokens(self.app, usage_of(result)),
            self.seconds(result),
        ];
        parts.join(" · ")
    }

    fn answer(&self, text: Text) {
        terminal::print_line(&self.app.text(text));
    }

    fn seconds(&self, record: &Value) -> String {
        let ms = record["duration_ms"].as_f64().unwrap_or(0.0);
        self.app.text(text::ended::seconds(&format!("{:.1}", ms / 1000.0)))
    }

    fn imported(&self, run: &Value) -> String {
        match run["imported"] == true {
            true => self.app.text(text::runs::imported()),
            false => String::new(),
        }
    }

    fn status_words(&self, run: &Value, is_settled: bool) -> String {
        match Status::parse(said(&run["status"])) {
            Some(status) if is_settled => self.app.text(text::runs::settled_since(&status)),
            Some(status) => text::status(self.app.lang, status).to_owned(),
            None => word(&run["status"]),
        }
    }
}

fn usage_of(record: &Value) -> Usage {
    let count = |key: &str| record["usage"][key].as_u64().unwrap_or(0);
    Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cached_tokens: count("cached_tokens"),
    }
}

fn said(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn word(value: &Value) -> String {
    one_line(said(value))
}
