//! Conversations as a table, and as rows to choose from.

use crate::console::Console;
use crate::picker::{self, PickerRow};
use everloop_agenda::show::TextTable;
use everloop_app::conversations::{ConversationState, ListedConversation};
use everloop_text as text;

/// Conversations, one a line; what was found in one below it.
pub fn table(app: &Console, rows: &[ListedConversation]) -> String {
    let reader = app.reader();
    let heads = [
        text::conversations::head::id(),
        text::conversations::head::at(),
        text::conversations::head::state(),
        text::conversations::head::folder(),
        text::conversations::head::title(),
    ];
    let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
    // On a narrow screen the title counts most.
    table.may_drop(&[3, 1]);
    for one in rows {
        table.row(vec![
            one.short_id().to_owned(),
            reader.moment(one.row.updated_at),
            state_words(app, one),
            folder_words(app, one),
            one.title(),
        ]);
    }
    let shown = table.show(reader.width);
    let mut lines: Vec<String> = Vec::new();
    let excerpts = std::iter::once(None).chain(rows.iter().map(|one| one.excerpt.as_deref()));
    for (line, excerpt) in shown.lines().zip(excerpts) {
        lines.push(line.to_owned());
        lines.extend(excerpt.map(|excerpt| format!("    {excerpt}")));
    }
    lines.join("\n")
}

/// What a conversation is doing, in words.
pub fn state_words(app: &Console, one: &ListedConversation) -> String {
    let is_archived = one.row.archived_at.is_some();
    if one.is_in_use && one.state() == ConversationState::Idle && !is_archived {
        return app.text(text::conversations::state::open());
    }
    let state = app.text(match one.state() {
        ConversationState::Working => text::conversations::state::working(),
        ConversationState::Waiting => text::conversations::state::waiting(),
        ConversationState::Unread => text::conversations::state::unread(),
        ConversationState::Idle if is_archived => text::conversations::state::archived(),
        ConversationState::Idle => text::conversations::state::idle(),
    });
    if one.is_in_use { app.text(text::conversations::state::in_use(&state)) } else { state }
}

/// The folder of a conversation, in words where it is unknown.
pub fn folder_words(app: &Console, one: &ListedConversation) -> String {
    match one.folder() {
        folder if folder.is_empty() => app.text(text::conversations::no_folder()),
        folder => folder,
    }
}

/// Lets a person choose one of several conversations.
pub async fn pick(app: &Console, rows: &[ListedConversation]) -> Option<usize> {
    let reader = app.reader();
    let row = |one: &ListedConversation| PickerRow {
        label: one.title(),
        hint: [
            folder_words(app, one),
            reader.moment(one.row.updated_at),
            state_words(app, one),
            one.short_id().to_owned(),
        ]
        .join(" · "),
    };
    let rows: Vec<PickerRow> = rows.iter().map(row).collect();
    picker::pick(&app.text(text::conversations::pick()), &rows).await
}
