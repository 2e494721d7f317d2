//! Longer replies of the chat, in words: what was used, what is remembered, files that go with a
//! goal, commands that people wrote.

use everloop_agenda::show::padded;
use everloop_app::context::custom_commands::{CommandOwner, CustomCommand};
use everloop_app::conversation::{Conversation, CopyPart, UnusableCommand, UnusableReason};
use everloop_app::mentions::MentionNote;
use everloop_app::slash;
use everloop_app::usage_report::{UsageReport, UsageTotals};
use everloop_console::show::mention::mention;
use everloop_console::show::{grouped, tokens};
use everloop_console::{Console, terminal};
use everloop_text as text;
use everloop_types::{one_line, spelled};
use std::path::Path;

/// Columns of a command's name in `/help`.
const NAME_COLUMNS: usize = 10;

/// Models of a provider that are listed.
const MODELS_LISTED: usize = 30;

/// The model in force, and those that its provider offers.
pub(super) fn model_is(app: &Console, name: &str, offered: &[String]) -> String {
    let mut lines = vec![app.text(text::chat::model_is(&name))];
    if !offered.is_empty() {
        lines.push(app.text(text::setup::offers(&listed(offered))));
        lines.push(app.text(text::chat::model_how()));
    }
    lines.join("\n")
}

/// That another model is used, and whether its provider knows it.
pub(super) fn model_chosen(app: &Console, name: &str, others: &[String]) -> String {
    let mut lines = vec![app.text(text::chat::model_now(&name))];
    if !others.is_empty() {
        let mark = &terminal::marks().failed;
        lines.push(app.text(text::chat::model_not_offered(mark, &listed(others))));
    }
    lines.join("\n")
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MODELS_LISTED).map(|name| one_line(name));
    let mut shown: Vec<String> = shown.collect();
    if names.len() > MODELS_LISTED {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// What was used, in two parts.
pub(super) fn totals(app: &Console, report: &UsageReport) -> String {
    let parts = [
        (text::chat::totals::conversation(), &report.conversation),
        (text::chat::totals::today(), &report.today),
    ];
    let lines = parts.map(|(head, totals)| {
        let line = totals_line(app, totals);
        format!("{}\n  {line}", app.text(head))
    });
    lines.join("\n")
}

fn totals_line(app: &Console, totals: &UsageTotals) -> String {
    let mut parts = vec![
        app.text(text::chat::totals::runs(&totals.runs)),
        app.text(text::ended::model_calls(&grouped(totals.model_calls))),
        app.text(text::ended::tool_calls(&grouped(totals.tool_calls))),
        tokens(app, totals.usage),
    ];
    let cost = totals.cost.as_ref().map(|cost| app.text(text::chat::totals::cost(&cost.words())));
    parts.extend(cost);
    if totals.unpriced > 0 {
        parts.push(app.text(text::chat::totals::unpriced(&totals.unpriced)));
    }
    parts.join(" · ")
}

/// The memory of the workspace.
pub(super) fn memory(app: &Console, file: &Path, text: &str) -> String {
    match text.trim() {
        "" => app.text(text::memory::empty(&file.display())),
        text => format!("{}\n{}", spelled(text), file.display()),
    }
}

/// What came of the files that a goal names.
pub(super) fn mentions(app: &Console, notes: &[MentionNote]) -> String {
    notes.iter().map(|note| mention(app.lang, note)).collect::<Vec<_>>().join("\n")
}

pub(super) fn nothing_to_copy(app: &Console, part: CopyPart) -> String {
    app.text(match part {
        CopyPart::Answer => text::chat::no_answer_to_copy(),
        CopyPart::Code => text::chat::no_code_to_copy(),
    })
}

/// All commands: the built-in ones, those that people wrote, and files that are none.
pub(super) fn help(app: &Console, conversation: &Conversation) -> String {
    let mut lines = vec![slash::help_text(None, app.lang)];
    let custom = conversation.commands().custom().all;
    if !custom.is_empty() {
        lines.push(app.text(text::custom::head()));
    }
    lines.extend(custom.iter().map(|command| format!("  {}", custom_line(app, command))));
    let unusable = conversation.commands().unusable();
    lines.extend(unusable.iter().map(|one| unusable_line(app, one)));
    lines.join("\n")
}

fn custom_line(app: &Console, command: &CustomCommand) -> String {
    let name = padded(&format!("/{}", command.name), NAME_COLUMNS);
    let mut parts = vec![name, String::new(), one_line(&command.description)];
    if !command.hint.is_empty() {
        parts.push(one_line(&command.hint));
    }
    if command.owner == CommandOwner::Workspace {
        parts.push(app.text(text::custom::of_workspace()));
    }
    parts.join(" ").trim_end().to_owned()
}

/// How a command that somebody wrote is used.
pub(super) fn help_custom(app: &Console, command: &CustomCommand) -> String {
    let usage = format!("  /{} {}", command.name, one_line(&command.hint));
    let file = app.text(text::custom::file(&command.file.display()));
    let head = format!("/{}: {}", command.name, one_line(&command.description));
    [head.as_str(), usage.trim_end(), &file].join("\n")
}

fn unusable_line(app: &Console, one: &UnusableCommand) -> String {
    let file = &one.file.display();
    app.text(match &one.why {
        UnusableReason::BuiltIn(name) => text::custom::built_in(file, name),
        UnusableReason::Hidden(name) => text::custom::hidden(file, name),
        UnusableReason::Other(detail) => text::custom::bad(file, detail),
    })
}
