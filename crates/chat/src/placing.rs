//! Words on conversations: which one goes on here, and what others ask.

use super::words::history;
use everloop_app::conversation::{
    ChatReply, Conversation, LeftConversation, Leftover, Leftovers, QuestionElsewhere,
};
use everloop_app::conversations::{ListedConversation, short_folder};
use everloop_console::Console;
use everloop_console::show::conversations::{folder_words, table};
use everloop_console::show::preview;
use everloop_store::ConversationMessage;
use everloop_text as text;

/// The words on conversations.
pub(super) fn reply(app: &Console, conversation: &Conversation, reply: ChatReply) -> String {
    match reply {
        ChatReply::ConversationOpened(one, said) => opened(app, &one, &said),
        ChatReply::FolderGone(one, folder) => folder_gone(app, conversation, &one.title(), &folder),
        ChatReply::Conversations(rows) => conversations(app, &rows),
        ChatReply::Renamed(title) => app.text(text::conversations::renamed(&title)),
        _ => unreachable!("only conversations are sent here"),
    }
}

/// A question that is not asked here, in one line.
pub(super) fn question_elsewhere(app: &Console, asked: &QuestionElsewhere) -> String {
    match asked {
        QuestionElsewhere::Terminal(open) => {
            let question = preview(&open.text);
            app.text(text::chat::other_asks(&question, &open.run.short()))
        }
        QuestionElsewhere::Conversation(one) => {
            let (title, folder) = (one.title(), folder_words(app, one));
            let asks =
                text::conversations::Asks { title: &title, folder: &folder, id: &one.short_id() };
            app.text(asks.text())
        }
    }
}

/// Conversations as a table.
pub(super) fn conversations(app: &Console, rows: &[ListedConversation]) -> String {
    match rows.is_empty() {
        true => app.text(text::conversations::none()),
        false => table(app, rows),
    }
}

/// A conversation that goes on, with what was said last in it.
fn opened(app: &Console, one: &ListedConversation, said: &[ConversationMessage]) -> String {
    let head = app.text(text::conversations::opened(&one.title(), &folder_words(app, one)));
    if said.is_empty() {
        return head;
    }
    format!("{head}\n{}", history(app, said))
}

/// That a conversation goes on.
pub(super) fn continues(app: &Console, conversation: &Conversation) -> Option<String> {
    let opening = conversation.opening();
    let one = opening.continued.as_ref().filter(|_| opening.in_use.is_none())?;
    Some(app.text(text::conversations::continues(&one.title())))
}

/// Why the conversation that was opened is not the one that the person may have expected.
pub(super) fn opening(app: &Console, conversation: &Conversation) -> Vec<String> {
    let opening = conversation.opening();
    let mut lines = Vec::new();
    if let Some(other) = &opening.in_use {
        let (title, id) = (other.title(), other.short_id());
        lines.push(match &opening.continued {
            None => app.text(text::conversations::other_open(&title, &id)),
            Some(here) => {
                let here = &here.title();
                let words = text::conversations::OtherOpenLeft { title: &title, id: &id, here };
                app.text(words.text())
            }
        });
    }
    if let Some(other) = &opening.elsewhere {
        let (title, folder) = (other.title(), folder_words(app, other));
        let words = text::conversations::OnlyElsewhere {
            title: &title,
            folder: &folder,
            id: &other.short_id(),
        };
        lines.push(app.text(words.text()));
    }
    if let Some(folder) = &opening.lost_folder {
        let title = opening.continued.as_ref().map(ListedConversation::title).unwrap_or_default();
        lines.push(folder_gone(app, conversation, &title, folder));
    }
    lines
}

/// That the folder of a conversation is gone.
fn folder_gone(app: &Console, conversation: &Conversation, title: &str, folder: &str) -> String {
    let here = &short_folder(&conversation.choice().workspace().display().to_string());
    let folder = &short_folder(folder);
    app.text(text::conversations::FolderGone { title: &title, folder, here }.text())
}

/// What another chat of this folder left that nobody has open: its work and its lines, unless the
/// leftovers have told of that work.
pub(super) fn left(app: &Console, other: &LeftConversation, told: &Leftovers) -> Vec<String> {
    let (title, id) = (other.one.title(), other.one.short_id());
    let is_told = told
        .all
        .iter()
        .any(|one| matches!(one, Leftover::Elsewhere { conversation, .. } if conversation == id));
    let working = other.working.as_ref().filter(|_| !is_told).map(|goal| {
        let goal = &preview(goal);
        app.text(text::conversations::LeftWorking { title: &title, goal, id: &id }.text())
    });
    let queued = other.queued.iter().map(|line| {
        let line = &preview(line);
        app.text(text::conversations::LeftQueued { title: &title, line, id: &id }.text())
    });
    working.into_iter().chain(queued).collect()
}

/// That a run of another conversation goes on.
pub(super) fn recovered(app: &Console, goal: &str, folder: &str, id: &str) -> String {
    let goal = &preview(goal);
    app.text(text::conversations::Recovered { goal, folder: &folder, id: &id }.text())
}
