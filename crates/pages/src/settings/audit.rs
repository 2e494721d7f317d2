//! The events of the audit, filtered and page by page.

use crate::layout::PageFrame;
use crate::parts::{icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// The audit.
#[derive(Debug, Clone, Default)]
pub struct AuditView {
    /// What is looked for.
    pub filter: AuditFilter,
    /// The tools that can be chosen.
    pub tools: Vec<String>,
    /// The rows, the newest first.
    pub items: Vec<AuditItem>,
    /// How many there are in all.
    pub total: usize,
    /// The address of the next page.
    pub more: Option<String>,
    /// The address of the file with all of them.
    pub file: String,
    /// Journals that could not be read, in words.
    pub trouble: Option<String>,
}

/// What of the audit is looked for.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// The name of an event, `failed`, or empty for all.
    pub event: String,
    /// The tool; empty for all.
    pub tool: String,
    /// The day, as `2026-11-18`; empty for the last week.
    pub day: String,
}

/// A row of the audit.
#[derive(Debug, Clone)]
pub struct AuditItem {
    /// When.
    pub when: String,
    /// Where it can be looked at: a run or a fact.
    pub to: String,
    /// The call, or what was changed.
    pub what: String,
    /// How it ended, as a state.
    pub state: &'static str,
    /// The word for it.
    pub ending: String,
}

pub(super) fn audit(frame: &PageFrame, view: &AuditView) -> Markup {
    html! {
        p.dim { (frame.say(words::settings_page::audit_about())) }
        (filter(frame, view))
        div.row.wrap.gap-s {
            span.faint.sm { (frame.say(words::settings_page::audit_found(&view.total))) }
            span.grow {}
            a.btn.ghost.sm href=(view.file) download="audit.jsonl" {
                (icon("download")) (frame.say(words::settings_page::export())) }
        }
        @if let Some(trouble) = &view.trouble {
            p.note.bad { (icon("warn")) span { (trouble) } }
        }
        @if view.items.is_empty() { p.hint { (frame.say(words::settings_page::no_calls())) } }
        @else {
            div.table-box tabindex="0" role="region"
                aria-label=(frame.say(words::settings_page::audit())) {
                table.table { tbody { @for item in &view.items {
                    tr {
                        td.nowrap.faint { (item.when) }
                        th scope="row" { a.mono href=(item.to) { (item.what) } }
                        td.nowrap { span.st.sm data-s=(item.state) {
                            (state_icon(item.state)) (item.ending) } }
                    }
                } } }
            }
        }
        @if let Some(more) = &view.more {
            p.gap { a.btn.sm href=(more) { (frame.say(words::settings_page::older())) } }
        }
        h3.sub { (frame.say(words::settings_page::all_settings())) }
    }
}

fn filter(frame: &PageFrame, view: &AuditView) -> Markup {
    let events = [
        ("", words::inbox::all()),
        ("tool_call", words::settings_page::calls()),
        ("failed", words::settings_page::failed_calls()),
        ("decision", words::settings_page::decisions()),
        ("run", words::settings_page::run_steps()),
        ("approval", words::settings_page::permissions()),
        ("memory", words::settings_page::fact_changes()),
        ("deleted", words::settings_page::deletions()),
    ];
    html! {
        form.row.wrap.gap-s.filter method="get" action="/settings" {
            input type="hidden" name="section" value="audit";
            label.vh for="audit-event" { (frame.say(words::settings_page::event())) }
            select.select id="audit-event" name="event" {
                @for (name, label) in events {
                    option value=(name) selected[view.filter.event == name] { (frame.say(label)) }
                }
            }
            label.vh for="audit-tool" { (frame.say(words::settings_page::tool())) }
            select.select id="audit-tool" name="tool" {
                option value="" { (frame.say(words::settings_page::every_tool())) }
                @for name in &view.tools {
                    option value=(name) selected[view.filter.tool == *name] { (name) }
                }
            }
            label.vh for="audit-day" { (frame.say(words::settings_page::day())) }
            input.input id="audit-day" type="date" name="day" value=(view.filter.day);
            button.btn { (icon("filter")) (frame.say(words::settings_page::show())) }
        }
    }
}
