//! `everloop conversations`: what was talked about, where, and what became of it.

use crate::args::{ConversationsArgs, ConversationsVerb};
use everloop_agenda::show::TextTable;
use everloop_app::conversations::{
    self as all, ConversationFormat, ConversationQuery, ListedConversation, MessageRecord,
    short_id, whole_json,
};
use everloop_app::{cleaning, exchange, frames};
use everloop_console::show::conversations::{folder_words, state_words, table};
use everloop_console::{Agreement, Console, Exit, Failure, terminal};
use everloop_store::{MessageQuery, MessageRange, Store};
use everloop_text as text;
use everloop_types::{ConversationId, one_line, spelled};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) async fn conversations(app: &Console, args: ConversationsArgs) -> Result<Exit, Failure> {
    let plain = ConversationsVerb::List { here: false, all: false, limit: 50, json: args.json };
    let verb = args.verb.unwrap_or(plain);
    let store = app.open_to_read().await?;
    match verb {
        ConversationsVerb::List { here, all, limit, json } => {
            let query = ConversationQuery {
                workspace: if here { Some(this_folder(app)?) } else { None },
                archived: all,
                chats_only: !all,
                most: limit,
                ..ConversationQuery::default()
            };
            let none =
                if here { text::conversations::none_here() } else { text::conversations::none() };
            list(app, &store, query, none, json).await
        }
        ConversationsVerb::Search { words, limit, messages: true, next, json } => {
            let query = MessageQuery {
                words: words.join(" "),
                before: next,
                most: limit,
                ..MessageQuery::default()
            };
            search_messages(app, &store, query, json).await
        }
        ConversationsVerb::Search { words, limit, json, .. } => {
            search(app, &store, words.join(" "), limit, json).await
        }
        ConversationsVerb::Show { id, limit, before, json } => {
            let range = MessageRange { before, after: None, most: limit };
            show(app, &store, &id, range, json).await
        }
        ConversationsVerb::Read { id, all, upto, json } => match all {
            true => read_all(app, &store, json).await,
            false => read(app, &store, &id, upto.as_deref(), json).await,
        },
        ConversationsVerb::Rename { id, title, auto, json } => {
            let title = (!auto).then(|| title.join(" "));
            rename(app, &store, &id, title.as_deref(), json).await
        }
        ConversationsVerb::Archive { id, undo, json } => {
            archive(app, &store, &id, !undo, json).await
        }
        ConversationsVerb::Memory { id, state, json } => {
            keep_out(app, &store, &id, state == "off", json).await
        }
        ConversationsVerb::Unarchive { id, json } => archive(app, &store, &id, false, json).await,
        ConversationsVerb::Delete { id, yes, json } => delete(app, &store, &id, yes, json).await,
        ConversationsVerb::Export { id, format, out, json } => {
            let format = if json { ConversationFormat::Json } else { format.into() };
            export(app, &store, &id, &out, format).await
        }
    }
}

async fn keep_out(
    app: &Console,
    store: &Store,
    id: &str,
    out: bool,
    as_json: bool,
) -> Result<Exit, Failure> {
    let one = find(app, store, id).await?;
    app.checked(all::keep_out_of_memory(store, &one.row.id, out).await)?;
    let title = one.title();
    let object = json!({"conversation_id": one.row.id, "out_of_memory": out});
    tell(app, as_json, &object, || match out {
        true => text::facts::conversation::out(&title),
        false => text::facts::conversation::r#in(&title),
    })
}

fn this_folder(app: &Console) -> Result<String, Failure> {
    let folder = app.checked(frames::workspace(None))?;
    Ok(folder.to_string_lossy().into_owned())
}

async fn find(app: &Console, store: &Store, words: &str) -> Result<ListedConversation, Failure> {
    app.checked(all::find(app, store, words).await)
}

fn tell(
    app: &Console,
    as_json: bool,
    object: &Value,
    words: impl FnOnce() -> text::Text,
) -> Result<Exit, Failure> {
    if as_json {
        terminal::print_json(object);
    } else {
        terminal::print_line(&app.text(words()));
    }
    Ok(Exit::Done)
}

async fn list(
    app: &Console,
    store: &Store,
    query: ConversationQuery,
    none: text::Text,
    as_json: bool,
) -> Result<Exit, Failure> {
    let rows = app.checked(all::list(app, store, query).await)?;
    if as_json {
        let data: Vec<Value> = rows.iter().map(ListedConversation::to_json).collect();
        terminal::print_json(&json!({ "data": data }));
    } else if rows.is_empty() {
        app.note(none);
    } else {
        terminal::print_line(&table(app, &rows));
    }
    Ok(Exit::Done)
}

async fn show(
    app: &Console,
    store: &Store,
    id: &str,
    range: MessageRange,
    as_json: bool,
) -> Result<Exit, Failure> {
    let one = find(app, store, id).await?;
    let page = app.checked(all::messages_page(store, &one.row.id, range).await)?;
    if as_json {
        let mut object = whole_json(&one, page.data.into_iter());
        object["has_more"] = json!(page.has_more);
        object["before"] = json!(page.before);
        terminal::print_json(&object);
        return Ok(Exit::Done);
    }
    let (title, folder) = (one.title(), folder_words(app, &one));
    let (id, state) = (one_line(one.row.id.as_str()), state_words(app, &one));
    let head =
        text::conversations::show::Head { title: &title, id: &id, folder: &folder, state: &state };
    terminal::print_line(&app.text(head.text()));
    terminal::print_line(&spelled(&record_lines(app, &page.data)));
    if let Some(before) = page.before.filter(|_| page.has_more) {
        app.note(text::search::earlier(&one.short_id(), &before));
    }
    Ok(Exit::Done)
}

/// Messages as people read them, one after the other.
fn record_lines(app: &Console, records: &[MessageRecord]) -> String {
    let reader = app.reader();
    let line = |record: &MessageRecord| {
        let (who, said) = match record.role.as_str() {
            "user" => (text::chat::role::user(), record.content.clone()),
            _ => (text::chat::role::assistant(), terminal::laid_out(&record.content)),
        };
        format!("[{}] {}{said}", reader.moment(record.created_at), app.text(who))
    };
    records.iter().map(line).collect::<Vec<_>>().join("\n")
}

async fn search_messages(
    app: &Console,
    store: &Store,
    query: MessageQuery,
    as_json: bool,
) -> Result<Exit, Failure> {
    let words = query.words.clone();
    let found = app.checked(all::search(store, query).await)?;
    if found.unindexed > 0 {
        app.note(text::search::unindexed(&found.unindexed));
    }
    if as_json {
        terminal::print_json(&json!(found));
        return Ok(Exit::Done);
    }
    if found.data.is_empty() {
        app.note(text::search::none_found(&words));
        return Ok(Exit::Done);
    }
    let heads = [
        text::conversations::head::id(),
        text::search::head::at(),
        text::conversations::head::title(),
        text::search::head::excerpt(),
    ];
    let reader = app.reader();
    let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
    table.may_drop(&[1, 2]);
    for one in &found.data {
        table.row(vec![
            short_id(one.message.conversation_id.as_str()).to_owned(),
            reader.moment(one.message.created_at),
            one.title.clone(),
            one.excerpt.clone(),
        ]);
    }
    terminal::print_line(&table.show(reader.width));
    if let Some(next) = found.next {
        app.note(text::search::more(&next));
    }
    Ok(Exit::Done)
}

/// The conversations in whose title or messages the words occur.
async fn search(
    app: &Console,
    store: &Store,
    words: String,
    limit: usize,
    as_json: bool,
) -> Result<Exit, Failure> {
    let none = text::conversations::none_found(&words);
    let query = ConversationQuery {
        words: Some(words),
        archived: true,
        most: limit,
        ..ConversationQuery::default()
    };
    list(app, store, query, none, as_json).await
}

/// Gives a conversation this title, or one that the model makes.
async fn rename(
    app: &Console,
    store: &Store,
    id: &str,
    title: Option<&str>,
    as_json: bool,
) -> Result<Exit, Failure> {
    let one = find(app, store, id).await?;
    let title = app.checked(match title {
        Some(title) => all::rename(store, &one.row.id, title).await,
        None => all::retitle(app, store, &one.row.id).await,
    })?;
    tell(app, as_json, &json!({"conversation_id": one.row.id, "title": title}), || {
        text::conversations::renamed(&title)
    })
}

async fn archive(
    app: &Console,
    store: &Store,
    id: &str,
    on: bool,
    as_json: bool,
) -> Result<Exit, Failure> {
    let one = find(app, store, id).await?;
    app.checked(all::archive(store, &one.row.id, on).await)?;
    let title = one.title();
    tell(app, as_json, &json!({"conversation_id": one.row.id, "archived": on}), || match on {
        true => text::conversations::archived(&title),
        false => text::conversations::unarchived(&title),
    })
}

/// Marks conversations as read, one after the other; the first that cannot be found stops it.
async fn read(
    app: &Console,
    store: &Store,
    ids: &[String],
    upto: Option<&str>,
    as_json: bool,
) -> Result<Exit, Failure> {
    let mut done = Vec::new();
    for id in ids {
        let one = find(app, store, id).await?;
        app.checked(all::mark_read(store, &one.row.id, upto).await)?;
        done.push(one.row.id);
    }
    told_read(app, store, &done, as_json).await
}

async fn read_all(app: &Console, store: &Store, as_json: bool) -> Result<Exit, Failure> {
    let mut done = Vec::new();
    for one in app.checked(all::unread(app, store).await)? {
        app.checked(all::mark_read(store, &one.row.id, None).await)?;
        done.push(one.row.id);
    }
    told_read(app, store, &done, as_json).await
}

async fn told_read(
    app: &Console,
    store: &Store,
    done: &[ConversationId],
    as_json: bool,
) -> Result<Exit, Failure> {
    let left = app.checked(all::count_unread(store).await)?;
    let object = json!({"read": done, "unread": left});
    tell(app, as_json, &object, || text::search::read(&done.len(), &left.conversations))
}

async fn delete(
    app: &Console,
    store: &Store,
    id: &str,
    yes: bool,
    as_json: bool,
) -> Result<Exit, Failure> {
    let one = find(app, store, id).await?;
    app.checked(all::check_deletable(app, store, &one).await)?;
    let title = one.title();
    let agreement = Agreement {
        question: text::conversations::delete_sure(&title, &one.row.counts.last_pos),
        needs_yes: text::conversations::delete_needs_yes(&title),
        declined: text::conversations::not_deleted(),
    };
    app.agree(yes, agreement).await?;
    let runs = app.checked(all::delete(app, store, &one, "user").await)?;
    app.checked(cleaning::give_space_back(store).await)?;
    let object = json!({"conversation_id": one.row.id, "deleted": true, "runs": runs});
    tell(app, as_json, &object, || text::conversations::deleted(&title, &runs))
}

async fn export(
    app: &Console,
    store: &Store,
    id: &str,
    out: &Path,
    format: ConversationFormat,
) -> Result<Exit, Failure> {
    let one = find(app, store, id).await?;
    let folder = folder_words(app, &one);
    let text = app.checked(all::export(app, store, &one, &folder, format).await)?;
    if out == Path::new("-") {
        let is_for_people = format == ConversationFormat::Markdown;
        terminal::print_line(&if is_for_people { spelled(&text) } else { text });
        return Ok(Exit::Done);
    }
    let text = if text.ends_with('\n') { text } else { text + "\n" };
    app.checked(exchange::write_new(out, &text))?;
    app.note(text::conversations::written(&out.display()));
    Ok(Exit::Done)
}
