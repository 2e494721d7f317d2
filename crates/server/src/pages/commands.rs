//! Slash commands that the page carries out itself, or whose place on the page it names.

use super::frame::PageRequest;
use super::undoing;
use crate::problem::Problem;
use crate::state::ServerState;
use everloop_app::conversation::SLASH_COMMANDS;
use everloop_app::retrying::{self, RetryOptions};
use everloop_app::slash::{SlashCommand, SlashKind};
use everloop_app::{conversations, turns};
use everloop_pages::parts::say;
use everloop_store::RunRow;
use everloop_text::pages as words;
use everloop_types::{ConversationId, Lang};

/// Runs of a conversation that are looked at.
const RUNS_MAX: usize = 200;

/// Columns of a name in the list of commands.
const NAME_COLUMNS: usize = 15;

/// The commands of this file that a terminal has too.
const HERE: [&str; 10] =
    ["new", "rename", "model", "undo", "fork", "export", "doctor", "setup", "tour", "analyze"];

/// Does the newest run of a conversation again; a terminal has no such command.
const RETRY: &str = "retry";

/// What a command came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PageReply {
    /// It leads to this page.
    Go(String),
    /// It says something.
    Say(String),
}

/// Whether a command means something on the page; the others belong to a terminal.
pub(super) fn works_here(command: &SlashCommand) -> bool {
    let kinds = [SlashKind::Agenda, SlashKind::Help, SlashKind::Cancel];
    kinds.contains(&command.kind)
        || turns::READ_ANYWHERE.contains(&command.name)
        || HERE.contains(&command.name)
}

/// The name of a command and what follows it.
fn named(text: &str) -> Option<(&str, &str)> {
    let line = text.trim().strip_prefix(['/', '／'])?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Some((name, rest.trim()))
}

/// What `/help` lists on the page.
fn help(lang: Lang) -> String {
    let row = |name: &str, does: String| format!("  {:NAME_COLUMNS$} {does}", format!("/{name}"));
    let own = SLASH_COMMANDS.iter().filter(|one| works_here(one));
    let mut lines = vec![say(lang, words::here::commands())];
    lines.extend(own.map(|one| row(one.name, one.summary(lang))));
    lines.push(row(RETRY, say(lang, words::here::retry())));
    lines.join("\n")
}

/// The page that a command without a conversation of its own leads to.
fn page_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "new" => "/chat",
        "doctor" => "/health",
        "setup" => "/settings",
        "tour" => "/tour",
        "analyze" => "/reports",
        _ => return None,
    })
}

/// Carries out a command that is sent to a conversation; none for everything else.
pub(super) async fn perform(
    state: &ServerState,
    request: &PageRequest,
    conversation: &ConversationId,
    text: &str,
) -> Result<Option<PageReply>, Problem> {
    let Some((name, rest)) = named(text) else { return Ok(None) };
    let lang = request.lang();
    let said = |text| Ok(Some(PageReply::Say(say(lang, text))));
    match (name, rest) {
        ("help", "") => Ok(Some(PageReply::Say(help(lang)))),
        ("model", _) => said(words::here::pickers()),
        ("loop", rest) if !rest.is_empty() => said(words::here::pickers()),
        ("export", _) => said(words::here::export()),
        ("rename", "") => said(words::here::rename()),
        ("rename", title) => {
            conversations::rename(state.store(), conversation, title).await?;
            Ok(Some(PageReply::Go(format!("/chat/{conversation}"))))
        }
        // What it is to look at would be lost on the way to the page of reports.
        ("analyze", question) if !question.is_empty() => Ok(None),
        ("undo" | "fork" | RETRY, _) => of_run(state, request, conversation, (name, rest)).await,
        (name, _) => Ok(page_of(name).map(|page| PageReply::Go(page.to_owned()))),
    }
}

/// A command about the newest run of a conversation.
async fn of_run(
    state: &ServerState,
    request: &PageRequest,
    conversation: &ConversationId,
    (name, rest): (&str, &str),
) -> Result<Option<PageReply>, Problem> {
    let lang = request.lang();
    let rows = state.store().runs().of_conversation(conversation, RUNS_MAX).await?;
    let own = rows.iter().filter(|row| row.origin.parent.is_none());
    let newest = own.max_by_key(|row| row.times.created_at);
    let Some(row) = newest else {
        return Ok(Some(PageReply::Say(say(lang, words::here::no_run()))));
    };
    Ok(Some(match name {
        "fork" => PageReply::Go(format!("/runs/{}#fork", row.run)),
        _ if !row.status.is_final() => PageReply::Say(say(lang, words::here::still_works())),
        "undo" => {
            let report = undoing::perform(state, &row.run, rest == "redo").await?;
            PageReply::Say(undoing::words_of(lang, report.as_ref()))
        }
        _ => again(state, row, conversation).await?,
    }))
}

async fn again(
    state: &ServerState,
    row: &RunRow,
    conversation: &ConversationId,
) -> Result<PageReply, Problem> {
    let options = RetryOptions::default();
    retrying::retry(&state.app, state.engine(), &row.run, &options).await?;
    Ok(PageReply::Go(format!("/chat/{conversation}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_slash_is_a_command_and_what_follows_it() {
        assert_eq!(named(" /rename  New title "), Some(("rename", "New title")));
        assert_eq!(named("／new"), Some(("new", "")));
        assert_eq!(named("rename it"), None);
    }

    #[test]
    fn help_lists_what_works_on_the_page_and_nothing_else() {
        let shown = help(Lang::En);
        for name in ["/new", "/rename", "/todo", "/undo", "/retry"] {
            assert!(shown.contains(&format!("  {name} ")), "{name}: {shown}");
        }
        for name in ["/clear", "/quit", "/copy"] {
            assert!(!shown.contains(name), "{name}: {shown}");
        }
    }

    #[test]
    fn every_command_of_this_file_is_known_to_the_terminal_too() {
        for name in HERE {
            assert!(SLASH_COMMANDS.iter().any(|command| command.name == name), "{name}");
        }
    }
}
