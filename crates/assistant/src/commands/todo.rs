//! `/todo` and `/view`.

use super::{
    DayMeans, Wrong, date_alone, date_option, moment, words::Words, words::quoted, words::unquoted,
    written,
};
use crate::time::dates::{self, When};
use jiff::{Timestamp, Zoned};

/// What is asked about todos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TodoCommand {
    /// A new one.
    Add(NewTodo),
    /// Those of a view.
    List(View, Filter),
    /// One of them.
    Get(i64),
    /// Another text, and whatever else is said; the rest stays.
    Update(i64, NewTodo),
    /// It is done.
    Done(i64),
    /// It is not done after all.
    Reopen(i64),
    /// It is taken away.
    Delete(i64),
    /// Those with a word in them.
    Search(String, Filter),
    /// Which views there are.
    Views,
}

/// Which todos are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those of this group.
    pub tag: Option<String>,
    /// Whether done ones are left out.
    pub open_only: bool,
}

/// A way to look at todos.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    /// All of them.
    #[default]
    All,
    /// Due today.
    Today,
    /// Due, and not done.
    Overdue,
    /// Due after today.
    Upcoming,
    /// Neither due nor in a group.
    Inbox,
}

impl View {
    /// Every view.
    pub const ALL: [Self; 5] = [Self::All, Self::Today, Self::Overdue, Self::Upcoming, Self::Inbox];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Today => "today",
            Self::Overdue => "overdue",
            Self::Upcoming => "upcoming",
            Self::Inbox => "inbox",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.as_str() == name.to_lowercase())
    }
}

/// What is said of a todo; what is not said is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTodo {
    /// What is to be done.
    pub text: String,
    /// Its group.
    pub tag: Option<String>,
    /// How urgent it is: 1 is the most urgent, 0 says nothing.
    pub priority: Option<i64>,
    /// When it must be done; none within for "no longer".
    pub due: Option<Option<Timestamp>>,
    /// When the person is reminded; none within for "no longer".
    pub remind: Option<Option<Timestamp>>,
}

/// Most characters of a text that a person keeps.
pub(super) const TEXT_CHARS_MAX: usize = 2_000;

/// Most characters of the name of a group.
const TAG_CHARS_MAX: usize = 100;

pub(super) fn parse(mut words: Words, now: &Zoned) -> Result<TodoCommand, Wrong> {
    let part = words.next().unwrap_or_else(|| "list".to_owned());
    match part.to_lowercase().as_str() {
        "add" => {
            let todo = new_todo(words, now, "usage.todo.add", From::Anything)?;
            match todo.remind {
                Some(Some(_)) if !matches!(todo.due, Some(Some(_))) => Err(Wrong::ReminderNeedsDue),
                _ => Ok(TodoCommand::Add(todo)),
            }
        }
        "list" | "ls" => list(words),
        "get" | "show" => number(words, "usage.todo.get").map(TodoCommand::Get),
        "done" => number(words, "usage.todo.done").map(TodoCommand::Done),
        "reopen" => number(words, "usage.todo.reopen").map(TodoCommand::Reopen),
        "delete" | "rm" => number(words, "usage.todo.delete").map(TodoCommand::Delete),
        "update" | "edit" => {
            let id = id(&mut words, "usage.todo.update")?;
            let todo = new_todo(words, now, "usage.todo.update", From::TextOnly)?;
            Ok(TodoCommand::Update(id, todo))
        }
        "search" => {
            let (text, filter, view) = filtered(words, "usage.todo.search")?;
            match (text.as_str(), view) {
                ("", _) | (_, Some(_)) => Err(Wrong::Usage("usage.todo.search")),
                _ => Ok(TodoCommand::Search(text, filter)),
            }
        }
        _ => Err(Wrong::Usage("usage.todo")),
    }
}

fn list(words: Words) -> Result<TodoCommand, Wrong> {
    let (text, filter, view) = filtered(words, "usage.todo.list")?;
    match text.as_str() {
        "" => Ok(TodoCommand::List(view.unwrap_or_default(), filter)),
        _ => Err(Wrong::Usage("usage.todo.list")),
    }
}

pub(super) fn parse_view(words: Words) -> Result<TodoCommand, Wrong> {
    let (text, filter, view) = filtered(words, "usage.view")?;
    if view.is_some() {
        return Err(Wrong::Usage("usage.view"));
    }
    match text.as_str() {
        "list" => Ok(TodoCommand::Views),
        name => View::parse(name)
            .map(|view| TodoCommand::List(view, filter))
            .ok_or(Wrong::Usage("usage.view")),
    }
}

/// Plain words, and the options that choose todos.
fn filtered(
    mut words: Words,
    usage: &'static str,
) -> Result<(String, Filter, Option<View>), Wrong> {
    let (mut text, mut filter, mut view) = (Vec::new(), Filter::default(), None);
    while !words.is_empty() {
        match words.next_option().as_deref() {
            Some("tag") => filter.tag = Some(words.next().ok_or(Wrong::Usage(usage))?),
            Some("open") => filter.open_only = true,
            Some("view") => {
                let name = words.next().unwrap_or_default();
                view = Some(View::parse(&name).ok_or(Wrong::BadValue("view", name, usage))?);
            }
            Some(other) => return Err(Wrong::NoSuchOption(other.to_owned(), usage)),
            None => text.extend(words.next()),
        }
    }
    Ok((text.join(" "), filter, view))
}

/// Where a due date may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// In its option, or at the beginning of the text if it has a time of day.
    Anything,
    /// In its option only: a text that is changed is taken as it is.
    TextOnly,
}

fn new_todo(
    mut words: Words,
    now: &Zoned,
    usage: &'static str,
    from: From,
) -> Result<NewTodo, Wrong> {
    let (mut todo, mut text) = (NewTodo::default(), String::new());
    while !words.is_empty() {
        match words.next_option().as_deref() {
            Some("tag") => todo.tag = Some(words.next().ok_or(Wrong::Usage(usage))?),
            Some("priority") => {
                let value = words.next().unwrap_or_default();
                let number = value.parse().ok().filter(|n: &i64| *n >= 0);
                todo.priority = Some(number.ok_or(Wrong::BadValue("priority", value, usage))?);
            }
            Some("due") => {
                let when = date(&mut words, now, usage, &text)?;
                todo.due = Some(when.and_then(|when| moment(&when, now, DayMeans::End)));
            }
            Some("remind") => {
                let when = date(&mut words, now, usage, &text)?;
                todo.remind = Some(when.and_then(|when| moment(&when, now, DayMeans::Morning)));
            }
            Some(other) => return Err(Wrong::NoSuchOption(other.to_owned(), usage)),
            None => words.next_into(&mut text),
        }
    }
    todo.text = unquoted(&text).trim().to_owned();
    if from == From::Anything && todo.due.is_none() {
        take_leading_date(&mut todo, now);
    }
    short("command.tag_too_long", todo.tag.as_deref().unwrap_or_default(), TAG_CHARS_MAX)?;
    short("command.text_too_long", &todo.text, TEXT_CHARS_MAX)?;
    if todo.text.is_empty() { Err(Wrong::Usage(usage)) } else { Ok(todo) }
}

/// A text of at most so many characters.
pub(super) fn short(key: &'static str, text: &str, most: usize) -> Result<(), Wrong> {
    if text.chars().count() > most { Err(Wrong::TooLong(key, most)) } else { Ok(()) }
}

/// A text that begins with a date and a time of day is due then.
fn take_leading_date(todo: &mut NewTodo, now: &Zoned) {
    let Some((when, length)) = dates::leading(&todo.text, now) else { return };
    let rest = todo.text[length..].trim_start();
    let apart = todo.text[length..].starts_with(' ');
    if when.precision == dates::Precision::Minute
        && when.repeat.is_none()
        && apart
        && !rest.is_empty()
    {
        todo.due = moment(&when, now, DayMeans::End).map(Some);
        todo.text = rest.to_owned();
    }
}

/// The date among the words that follow; `none` for no date. After it may come the text, if it did
/// not come before.
fn date(
    words: &mut Words,
    now: &Zoned,
    usage: &'static str,
    text: &str,
) -> Result<Option<When>, Wrong> {
    let when = match text.is_empty() {
        true => date_option(words, now, usage)?,
        false => date_alone(words, now, usage)?,
    };
    match when {
        Some(when) if when.repeat.is_some() => Err(Wrong::TodosDoNotRepeat),
        when => Ok(when),
    }
}

/// The number of something, and nothing after it.
pub(super) fn number(mut words: Words, usage: &'static str) -> Result<i64, Wrong> {
    let id = id(&mut words, usage)?;
    if words.is_empty() { Ok(id) } else { Err(Wrong::Usage(usage)) }
}

/// The number of something.
pub(super) fn id(words: &mut Words, usage: &'static str) -> Result<i64, Wrong> {
    let word = words.next().unwrap_or_default();
    word.trim_start_matches('#').parse().map_err(|_| Wrong::Usage(usage))
}

pub(super) fn canonical(command: &TodoCommand, now: &Zoned) -> String {
    match command {
        TodoCommand::Add(todo) => format!("/todo add {}", said(todo, now)),
        TodoCommand::Update(id, todo) => format!("/todo update {id} {}", said(todo, now)),
        TodoCommand::Get(id) => format!("/todo get {id}"),
        TodoCommand::Done(id) => format!("/todo done {id}"),
        TodoCommand::Reopen(id) => format!("/todo reopen {id}"),
        TodoCommand::Delete(id) => format!("/todo delete {id}"),
        TodoCommand::List(view, filter) => {
            format!("/view {}{}", view.as_str(), filter_options(filter))
        }
        TodoCommand::Search(word, filter) => {
            format!("/todo search {word}{}", filter_options(filter))
        }
        TodoCommand::Views => "/view list".to_owned(),
    }
}

fn filter_options(filter: &Filter) -> String {
    let mut options = String::new();
    if let Some(tag) = &filter.tag {
        options.push_str(&format!(" --tag {}", quoted(tag)));
    }
    if filter.open_only {
        options.push_str(" --open");
    }
    options
}

fn said(todo: &NewTodo, now: &Zoned) -> String {
    let mut line = todo.text.clone();
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            line.push_str(&format!(" --{name} {}", quoted(&value)));
        }
    };
    let date = |at: Option<Option<Timestamp>>| {
        at.map(|at| at.map_or("none".to_owned(), |at| written(at, now)))
    };
    option("tag", todo.tag.clone());
    option("priority", todo.priority.map(|n| n.to_string()));
    option("due", date(todo.due));
    option("remind", date(todo.remind));
    line
}
