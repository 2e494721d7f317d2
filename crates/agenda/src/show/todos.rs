//! Todos as a table, as a card, and as what a command would change.

use super::{DisplayContext, TextTable, card as rows_of, none};
use crate::commands::TodoMark;
use crate::desk::TodoListing;
use crate::kept::moment;
use everloop_store::TodoRow;
use everloop_text::{self as text, TextOf};
use everloop_types::{UtcMs, one_line};

/// Todos that a proposal names.
const PROPOSED_MAX: usize = 10;

/// What a card shows for a value that is not there.
const NONE: &str = "-";

/// Due date, reminder, priority and tags of a todo, where it has them.
pub(super) fn details(reader: &DisplayContext, todo: &TodoRow) -> Vec<String> {
    let said = &todo.said;
    let mut details = Vec::new();
    let mut detail = |text: TextOf, value: Option<String>| {
        details.extend(value.map(|value| reader.text(text(&value))));
    };
    detail(text::todo::detail::due, said.due_at.map(|at| reader.moment(at)));
    detail(text::todo::detail::remind, said.remind_at.map(|at| reader.moment(at)));
    detail(text::todo::detail::priority, (said.priority > 0).then(|| said.priority.to_string()));
    let many = said.tags.len() > 1;
    let key: TextOf = if many { text::todo::detail::tags } else { text::todo::detail::tag };
    detail(key, Some(tags(reader, todo)).filter(|tags| !tags.is_empty()));
    details
}

fn tags(reader: &DisplayContext, todo: &TodoRow) -> String {
    let tags: Vec<String> = todo.said.tags.iter().map(|tag| one_line(tag)).collect();
    tags.join(&reader.text(text::show::listed()))
}

/// `done`, `overdue` or `today`; nothing for a todo that is simply open.
fn mark(reader: &DisplayContext, todo: &TodoRow) -> String {
    let now = reader.now.timestamp().as_millisecond();
    let day = |at: UtcMs| moment(at).to_zoned(reader.now.time_zone().clone()).date();
    match (todo.done_at, todo.said.due_at) {
        (Some(_), _) => reader.text(text::todo::state::done()),
        (None, Some(due)) if due < now => reader.text(text::todo::state::overdue()),
        (None, Some(due)) if day(due) == reader.now.date() => {
            reader.text(text::todo::state::today())
        }
        (None, _) => String::new(),
    }
}

/// A moment in few columns: without this year, and without the time where it is the end of a day.
pub(super) fn when(reader: &DisplayContext, at: UtcMs) -> String {
    let zoned = moment(at).to_zoned(reader.now.time_zone().clone());
    let day = if zoned.year() == reader.now.year() { "%m-%d" } else { "%Y-%m-%d" };
    let is_day_end = (zoned.hour(), zoned.minute()) == (23, 59);
    let form = if is_day_end { day.to_owned() } else { format!("{day} %H:%M") };
    zoned.strftime(&form).to_string()
}

pub(super) fn list(reader: &DisplayContext, list: &TodoListing) -> String {
    let todos = &list.todos;
    if todos.is_empty() {
        return none::show(reader, list);
    }
    let open = todos.iter().filter(|todo| todo.done_at.is_none()).count().to_string();
    let foot = reader.text(text::todo::count(&todos.len(), &open));
    format!("{}\n{foot}", table(reader, todos).show(reader.width))
}

fn table(reader: &DisplayContext, todos: &[TodoRow]) -> TextTable {
    let heads = [
        text::todo::head::id(),
        text::todo::head::state(),
        text::todo::head::priority(),
        text::todo::head::due(),
        text::todo::head::remind(),
        text::todo::head::tag(),
        text::todo::head::text(),
    ];
    let mut table = TextTable::new(heads.map(|head| reader.text(head)).to_vec());
    table.may_drop(&[4, 2, 5]);
    for todo in todos {
        let said = &todo.said;
        let at = |at: Option<UtcMs>| at.map(|at| when(reader, at)).unwrap_or_default();
        table.row(vec![
            todo.id.to_string(),
            mark(reader, todo),
            if said.priority > 0 { said.priority.to_string() } else { String::new() },
            at(said.due_at),
            at(said.remind_at),
            tags(reader, todo),
            said.text.clone(),
        ]);
    }
    table
}

/// What a mark on so many todos means.
#[must_use]
pub fn proposal_line(reader: &DisplayContext, mark: TodoMark, count: usize) -> String {
    reader.text(match mark {
        TodoMark::Done => text::todo::proposed::done(&count),
        TodoMark::Reopen => text::todo::proposed::reopen(&count),
        TodoMark::Delete => text::todo::proposed::delete(&count),
    })
}

/// What a command would do to these todos, and how to have it done.
pub(super) fn proposed(reader: &DisplayContext, mark: TodoMark, todos: &[TodoRow]) -> String {
    let count = todos.len();
    let mut lines = vec![proposal_line(reader, mark, count)];
    let shown = todos.iter().take(PROPOSED_MAX);
    lines.extend(shown.map(|todo| format!("  #{} {}", todo.id, one_line(&todo.said.text))));
    if count > PROPOSED_MAX {
        lines.push(format!("  … +{}", count - PROPOSED_MAX));
    }
    let ids: Vec<String> = todos.iter().map(|todo| todo.id.to_string()).collect();
    let command = format!("/todo {} {}", mark.as_str(), ids.join(" "));
    lines.push(reader.text(text::todo::proposed::how(&command)));
    lines.join("\n")
}

pub(super) fn card(reader: &DisplayContext, todo: &TodoRow) -> String {
    let said = &todo.said;
    let at = |at: Option<UtcMs>| at.map_or(NONE.to_owned(), |at| reader.moment(at));
    let state = Some(mark(reader, todo)).filter(|mark| !mark.is_empty());
    let state = state.unwrap_or_else(|| reader.text(text::todo::state::open()));
    let priority = if said.priority > 0 { said.priority.to_string() } else { NONE.to_owned() };
    let tags = Some(tags(reader, todo)).filter(|tags| !tags.is_empty());
    let rows = [
        (text::todo::head::id(), todo.id.to_string()),
        (text::todo::head::text(), said.text.clone()),
        (text::todo::head::state(), state),
        (text::todo::head::tag(), tags.unwrap_or_else(|| NONE.to_owned())),
        (text::todo::head::priority(), priority),
        (text::todo::head::due(), at(said.due_at)),
        (text::todo::head::remind(), at(said.remind_at)),
        (text::todo::head::created(), reader.moment(todo.created_at)),
        (text::todo::head::done(), at(todo.done_at)),
    ];
    let is_empty = |value: &String| value == NONE;
    rows_of(reader, rows.into_iter().filter(|(_, value)| !is_empty(value)).collect())
}
