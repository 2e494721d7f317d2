//! What later runs are told, as tables, lines and answers.

use super::preview;
use crate::console::Console;
use everloop_agenda::show::TextTable;
use everloop_app::conversation::{FactList, FactReply};
use everloop_app::conversations::short_folder;
use everloop_app::facts::{FactDetails, short_id};
use everloop_store::{FactChange, FactChangeKind, FactRow};
use everloop_text::{self as text, Text};
use everloop_types::{FactStatus, one_line};

/// Facts, one a line.
pub fn table(app: &Console, rows: &[FactRow]) -> String {
    let reader = app.reader();
    let heads = [
        text::facts::head::id(),
        text::facts::head::day(),
        text::facts::head::status(),
        text::facts::head::scope(),
        text::facts::head::text(),
    ];
    let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
    for fact in rows {
        table.row(vec![
            short_id(&fact.id).to_owned(),
            reader.moment(fact.updated_at),
            status_words(app, fact),
            scope_words(app, fact),
            one_line(&fact.text),
        ]);
    }
    table.show(reader.width)
}

fn status_words(app: &Console, fact: &FactRow) -> String {
    let status = app.text(status_text(fact.status));
    if fact.untrusted { app.text(text::facts::untrusted(&status)) } else { status }
}

pub(crate) fn status_text(status: FactStatus) -> Text {
    match status {
        FactStatus::Proposed => text::facts::status::proposed(),
        FactStatus::Active => text::facts::status::active(),
        FactStatus::Rejected => text::facts::status::rejected(),
        FactStatus::Withdrawn => text::facts::status::withdrawn(),
    }
}

fn scope_words(app: &Console, fact: &FactRow) -> String {
    match &fact.workspace {
        Some(folder) => one_line(&short_folder(folder)),
        None => app.text(text::facts::scope::global()),
    }
}

/// What a fact is now.
pub fn decided(app: &Console, fact: &FactRow) -> String {
    let (id, words) = (short_id(&fact.id), one_line(&fact.text));
    app.text(match fact.status {
        FactStatus::Proposed => text::facts::decided::proposed(&id, &words),
        FactStatus::Active => text::facts::decided::active(&id, &words),
        FactStatus::Rejected => text::facts::decided::rejected(&id, &words),
        FactStatus::Withdrawn => text::facts::decided::withdrawn(&id, &words),
    })
}

/// A fact with where it comes from and its history.
pub fn detail_lines(app: &Console, details: &FactDetails) -> Vec<String> {
    let (fact, reader) = (&details.fact, app.reader());
    let from = by_words(app, &fact.proposed_by);
    let at = reader.moment(fact.created_at);
    let mut lines = vec![
        one_line(&fact.text),
        app.text(text::facts::show::status(&status_words(app, fact), &scope_words(app, fact))),
        app.text(text::facts::show::from(&from, &at)),
    ];
    if let (Some(title), Some(id)) = (&details.conversation_title, &fact.source.conversation) {
        lines.push(app.text(text::facts::show::conversation(&one_line(title), id)));
    }
    lines.extend(fact.source.run.iter().map(|run| app.text(text::facts::show::run(run))));
    let said =
        details.message.iter().map(|said| app.text(text::facts::show::message(&preview(said))));
    lines.extend(said);
    if details.source_gone {
        lines.push(app.text(text::facts::show::gone()));
    }
    lines.push(app.text(text::facts::show::history()));
    lines.extend(details.history.iter().map(|change| {
        let words = app.text(change_text(change.change));
        let at = reader.moment(change.at);
        let text = one_line(&change.after.text);
        format!("  {}. {at}  {}  {words}  {text}", change.version, by_words(app, &change.by))
    }));
    lines
}

/// Who proposed or changed a fact.
pub fn by_words(app: &Console, by: &str) -> String {
    match by {
        "user" => app.text(text::facts::by::user()),
        "model" => app.text(text::facts::by::model()),
        other => one_line(other),
    }
}

fn change_text(change: FactChangeKind) -> Text {
    match change {
        FactChangeKind::Proposed => text::facts::change::proposed(),
        FactChangeKind::Added => text::facts::change::added(),
        FactChangeKind::Accepted => text::facts::change::accepted(),
        FactChangeKind::Rejected => text::facts::change::rejected(),
        FactChangeKind::Withdrawn => text::facts::change::withdrawn(),
        FactChangeKind::Edited => text::facts::change::edited(),
    }
}

/// A change in a line of `everloop audit`: who, and what.
pub fn audit_words(app: &Console, change: &FactChange) -> String {
    app.text(text::facts::audit::change(&app.text(change_text(change.change))))
}

/// What came of `/memory`, in words.
pub fn reply(app: &Console, reply: &FactReply) -> String {
    match reply {
        FactReply::Listed(list) => listed(app, list),
        FactReply::Changed(facts) => {
            facts.iter().map(|fact| decided(app, fact)).collect::<Vec<_>>().join("\n")
        }
        FactReply::NoSuch(word) => app.text(text::facts::chat::no_such(word)),
        FactReply::KeptOut(true) => app.text(text::facts::chat::kept_out()),
        FactReply::KeptOut(false) => app.text(text::facts::chat::let_in()),
    }
}

fn listed(app: &Console, list: &FactList) -> String {
    let mut lines = Vec::new();
    if list.kept_out {
        lines.push(app.text(text::facts::chat::kept_out()));
    }
    let parts = [
        (text::facts::chat::proposals(), &list.proposed),
        (text::facts::chat::active(), &list.active),
    ];
    let mut number = 0;
    for (head, facts) in parts.into_iter().filter(|(_, facts)| !facts.is_empty()) {
        lines.push(app.text(head));
        for fact in facts {
            number += 1;
            let day = app.reader().moment(fact.updated_at);
            let mut about = vec![scope_words(app, fact), day];
            if fact.untrusted {
                about.insert(0, status_words(app, fact));
            }
            lines.push(format!("  {number}. {} ({})", one_line(&fact.text), about.join(", ")));
        }
    }
    if number == 0 {
        lines.push(app.text(text::facts::chat::none()));
    }
    lines.join("\n")
}

/// One line about what a run that has ended proposed; nothing if it proposed nothing.
pub fn proposed_line(app: &Console, facts: &[FactRow]) -> Option<String> {
    let of = |status| facts.iter().filter(move |fact| fact.status == status);
    let text = match of(FactStatus::Proposed).count() {
        0 => text::facts::chat::remembered(&one_line(&of(FactStatus::Active).next_back()?.text)),
        1 => text::facts::chat::proposed(&one_line(&of(FactStatus::Proposed).next()?.text)),
        count => text::facts::chat::several(&count),
    };
    Some(app.text(text))
}
