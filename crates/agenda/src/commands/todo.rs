//! `/todo` and `/view`.

use super::marks::{self, add_tags};
use super::options::{self, DayMeans, Remind, ahead_of_now, moment};
use super::update::{self, TimeShift};
use super::words::{CommandWords, known, option_within, quoted, unquoted};
use super::{CommandError, exact};
use crate::time::{TextSubject, texts};
use everloop_text::{self as text, Text, TextOf};
use everloop_types::Lang;
use jiff::{Timestamp, Zoned};

/// A command about todos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TodoCommand {
    /// A new one.
    Add(NewTodo),
    /// Those of a view.
    List(TodoView, TodoFilter),
    /// One of them.
    Get(i64),
    /// The given values change; the rest stays.
    Update(i64, NewTodo),
    /// The same for several.
    UpdateAll(Vec<i64>, NewTodo),
    /// This is done to each of them.
    Mark(TodoMark, Vec<i64>),
    /// This is proposed for all that a view and a filter select.
    MarkAll(TodoMark, TodoView, TodoFilter),
    /// The newest reminder, or the newest of that number, comes again at this moment.
    Snooze(Option<i64>, Timestamp),
    /// The todo of the newest reminder is done.
    DoneReminded,
    /// So many of the last changes of the agenda are undone.
    Undo(u32),
    /// Those with a word in them.
    Search(String, TodoFilter),
    /// Which views there are.
    Views,
}

/// What can be done to several todos at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TodoMark {
    /// They are done.
    Done,
    /// They are open again.
    Reopen,
    /// They are deleted.
    Delete,
}

impl TodoMark {
    /// Its name in commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Reopen => "reopen",
            Self::Delete => "delete",
        }
    }
}

/// Selects todos.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TodoFilter {
    /// Only those with all of these tags.
    pub tags: Vec<String>,
    /// Whether finished ones are left out.
    pub open_only: bool,
}

/// A predefined selection of todos.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TodoView {
    /// All of them.
    #[default]
    All,
    /// Due today.
    Today,
    /// Due, and not done.
    Overdue,
    /// Due after today.
    Upcoming,
    /// Neither due nor with a tag.
    Inbox,
}

impl TodoView {
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
        let name = known(name);
        Self::ALL.into_iter().find(|view| view.as_str() == name)
    }
}

/// The given values of a todo; the others are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTodo {
    /// The text; required for a new todo.
    pub text: Option<String>,
    /// Its tags; an empty list removes them.
    pub tags: Option<Vec<String>>,
    /// Tags that are added to those it has.
    pub more_tags: Vec<String>,
    /// The priority: 1 is the most urgent, 0 is none.
    pub priority: Option<i64>,
    /// The due time; the inner `None` removes it.
    pub due: Option<Option<Timestamp>>,
    /// The change of the due time, if the new time is incomplete.
    pub shift: Option<TimeShift>,
    /// When the user is reminded.
    pub remind: Option<Remind>,
}

/// The maximum length of a text in characters.
pub(super) const TEXT_CHARS_MAX: usize = 2_000;

/// The maximum length of a tag in characters.
const TAG_CHARS_MAX: usize = 100;

pub(super) fn parse(mut words: CommandWords, now: &Zoned) -> Result<TodoCommand, CommandError> {
    let part = words.next().unwrap_or_else(|| "list".to_owned());
    match part.to_lowercase().as_str() {
        "add" | "new" => new_todo(words, now),
        "list" | "ls" => list(words),
        "get" | "show" => number(words, text::usage::todo::get).map(TodoCommand::Get),
        "done" | "finish" | "complete" => {
            marks::mark(words, text::usage::todo::done, TodoMark::Done)
        }
        "undo" => marks::undo(words),
        "snooze" => marks::snooze(words, now),
        "reopen" => marks::mark(words, text::usage::todo::reopen, TodoMark::Reopen),
        "delete" | "rm" | "del" | "remove" => {
            marks::mark(words, text::usage::todo::delete, TodoMark::Delete)
        }
        "update" | "edit" => {
            let first = CommandWords::default().text(&words.next().unwrap_or_default());
            let ids = marks::numbers(first, UPDATE)?;
            let todo = update::todo(words, now)?;
            Ok(match ids.as_slice() {
                [id] => TodoCommand::Update(*id, todo),
                _ => TodoCommand::UpdateAll(ids, todo),
            })
        }
        "search" => {
            let (text, filter, view) = filtered(words, text::usage::todo::search)?;
            match (text.as_str(), view) {
                ("", _) | (_, Some(_)) => Err(CommandError::Usage(text::usage::todo::search())),
                _ => Ok(TodoCommand::Search(text, filter)),
            }
        }
        _ => Err(CommandError::Usage(text::usage::todo())),
    }
}

fn list(words: CommandWords) -> Result<TodoCommand, CommandError> {
    let (text, filter, view) = filtered(words, text::usage::todo::list)?;
    match text.as_str() {
        "" => Ok(TodoCommand::List(view.unwrap_or_default(), filter)),
        _ => Err(CommandError::Usage(text::usage::todo::list())),
    }
}

pub(super) fn parse_view(words: CommandWords) -> Result<TodoCommand, CommandError> {
    let (text, filter, view) = filtered(words, text::usage::view)?;
    if view.is_some() {
        return Err(CommandError::Usage(text::usage::view()));
    }
    match text.as_str() {
        "list" => Ok(TodoCommand::Views),
        name => TodoView::parse(name)
            .map(|view| TodoCommand::List(view, filter))
            .ok_or(CommandError::Usage(text::usage::view())),
    }
}

/// Plain words, and the options that select todos.
pub(super) fn filtered(
    mut words: CommandWords,
    usage: fn() -> Text,
) -> Result<(String, TodoFilter, Option<TodoView>), CommandError> {
    let (mut text, mut filter, mut view) = (Vec::new(), TodoFilter::default(), None);
    while !words.is_empty() {
        match words.next_option().as_deref() {
            Some("tag") => {
                let value = words.next().ok_or(CommandError::Usage(usage()))?;
                add_tags(&mut filter.tags, marks::listed_tags(&value));
            }
            Some("open") => filter.open_only = true,
            Some("view") => {
                let name = words.next().unwrap_or_default();
                view = Some(TodoView::parse(&name).ok_or(CommandError::BadValue(
                    "view",
                    name,
                    usage(),
                ))?);
            }
            Some(other) => return Err(CommandError::NoSuchOption(other.to_owned(), usage())),
            None => text.extend(words.next()),
        }
    }
    Ok((text.join(" "), filter, view))
}

const ADD: fn() -> Text = text::usage::todo::add;
pub(super) const UPDATE: fn() -> Text = text::usage::todo::update;

/// The values of a todo before its text is parsed.
pub(super) struct TodoInput {
    pub(super) todo: NewTodo,
    pub(super) text: String,
    /// Whether the text is quoted and taken literally.
    pub(super) verbatim: bool,
}

pub(super) fn said_of_todo(
    mut words: CommandWords,
    now: &Zoned,
    usage: fn() -> Text,
) -> Result<TodoInput, CommandError> {
    let (mut todo, mut text) = (NewTodo::default(), String::new());
    while !words.is_empty() {
        let has_text = !text.is_empty() || usage() == UPDATE();
        match words.next_option().as_deref() {
            Some("tag") => {
                let value = words.next().ok_or(CommandError::Usage(usage()))?;
                let tags = todo.tags.get_or_insert_default();
                if !options::is_none(&value) {
                    add_tags(tags, marks::listed_tags(&value));
                }
            }
            Some("priority") => {
                let value = words.next().unwrap_or_default();
                let number = options::priority(&value).ok_or(CommandError::BadValue(
                    "priority",
                    value,
                    usage(),
                ))?;
                once(&mut todo.priority, number, "priority", usage)?;
            }
            Some("due") => {
                let due = options::due(&mut words, now, usage, has_text)?;
                let (due, shift) = due;
                once(&mut todo.due, due, "due", usage)?;
                todo.shift = shift.filter(|_| usage() == UPDATE());
            }
            Some("remind") => {
                let remind = options::remind(&mut words, now, usage, has_text)?;
                once(&mut todo.remind, remind, "remind", usage)?;
            }
            Some(other) => return Err(CommandError::NoSuchOption(other.to_owned(), usage())),
            None => words.next_into(&mut text),
        }
    }
    let verbatim = unquoted(&text).len() < text.len();
    let mut text = unquoted(&text).trim().to_owned();
    if !verbatim {
        (text, todo.more_tags) = marks::take_tags(&text);
    }
    for tag in todo.tags.iter().flatten().chain(&todo.more_tags) {
        short(text::command::tag_too_long, tag, TAG_CHARS_MAX)?;
    }
    short(text::command::text_too_long, &text, TEXT_CHARS_MAX)?;
    Ok(TodoInput { todo, text, verbatim })
}

/// Sets the value of an option, which may be given once.
pub(super) fn once<T>(
    slot: &mut Option<T>,
    value: T,
    name: &'static str,
    usage: fn() -> Text,
) -> Result<(), CommandError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(CommandError::Twice(name, usage())),
    }
}

fn new_todo(words: CommandWords, now: &Zoned) -> Result<TodoCommand, CommandError> {
    let TodoInput { mut todo, mut text, verbatim } = said_of_todo(words, now, ADD)?;
    // A date behind an option is the value of that option, and no date of the text.
    if todo.due.is_none() && !verbatim && option_within(&text).is_none() {
        let read = texts::read(&text, now, TextSubject::Todo);
        let read = read.map_err(|unclear| CommandError::unclear(&text, unclear.0))?;
        if let Some(when) = read.when {
            if when.repeat.is_some() {
                return Err(CommandError::TodosDoNotRepeat);
            }
            let when = ahead_of_now(when, &read.phrase, now)?;
            todo.due = moment(&when, now, DayMeans::End).map(Some);
            todo.remind = todo.remind.or(read.ahead.map(Remind::Before));
            text = match options::asked(&read.title) {
                Some(rest) => {
                    todo.remind = todo.remind.or(options::asked_for(&when, now));
                    rest
                }
                None => read.title,
            };
        } else if read.ahead.is_some() {
            return Err(CommandError::ReminderNeedsDue);
        }
    }
    if text.is_empty() {
        return Err(CommandError::Usage(ADD()));
    }
    let due = todo.due.flatten();
    if todo.remind.is_some_and(|remind| remind != Remind::Never) && due.is_none() {
        return Err(CommandError::ReminderNeedsDue);
    }
    let zoned = due.map(|due| due.to_zoned(now.time_zone().clone()));
    options::not_after(todo.remind, zoned.as_ref(), now)?;
    Ok(TodoCommand::Add(NewTodo { text: Some(text), ..todo }))
}

/// Numbers as a command writes them.
pub(super) fn written_numbers(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

/// Checks the length of a text in characters.
pub(super) fn short(too_long: TextOf, text: &str, most: usize) -> Result<(), CommandError> {
    if text.chars().count() > most { Err(CommandError::TooLong(too_long(&most))) } else { Ok(()) }
}

/// The number of something, and nothing after it.
pub(super) fn number(mut words: CommandWords, usage: fn() -> Text) -> Result<i64, CommandError> {
    let id = id(&mut words, usage)?;
    if words.is_empty() { Ok(id) } else { Err(CommandError::Usage(usage())) }
}

/// The number of something.
pub(super) fn id(words: &mut CommandWords, usage: fn() -> Text) -> Result<i64, CommandError> {
    marks::number_of(&words.next().unwrap_or_default()).ok_or(CommandError::Usage(usage()))
}

pub(super) fn canonical(command: &TodoCommand, now: &Zoned, lang: Lang) -> String {
    match command {
        TodoCommand::Add(todo) => {
            // Words that look like a date must not be parsed as one later.
            let text = todo.text.as_deref().unwrap_or_default();
            let read = texts::read(text, now, TextSubject::Todo);
            let is_plain = read.is_ok_and(|read| read.when.is_none() && read.ahead.is_none());
            let is_plain = is_plain || is_quoted(text);
            let due = match todo.due {
                Some(Some(due)) => Some(Some(due)),
                _ if is_plain => None,
                _ => Some(None),
            };
            format!("/todo add {}", said(todo, due, now, lang))
        }
        TodoCommand::Update(id, todo) => {
            format!("/todo update {id} {}", said(todo, todo.due, now, lang))
        }
        TodoCommand::UpdateAll(ids, todo) => {
            let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
            format!("/todo update {} {}", ids.join(","), said(todo, todo.due, now, lang))
        }
        TodoCommand::Get(id) => format!("/todo get {id}"),
        TodoCommand::Mark(mark, ids) => {
            format!("/todo {} {}", mark.as_str(), written_numbers(ids))
        }
        TodoCommand::MarkAll(mark, view, filter) => {
            let view = match view {
                TodoView::All => String::new(),
                view => format!(" --view {}", view.as_str()),
            };
            format!("/todo {}{view}{}", mark.as_str(), filter_options(filter))
        }
        TodoCommand::Snooze(id, at) => {
            let id = id.map(|id| format!(" {id}")).unwrap_or_default();
            format!("/snooze{id} {}", exact(*at, now))
        }
        TodoCommand::DoneReminded => "/done".to_owned(),
        TodoCommand::Undo(1) => "/todo undo".to_owned(),
        TodoCommand::Undo(count) => format!("/todo undo {count}"),
        TodoCommand::List(view, filter) => {
            format!("/view {}{}", view.as_str(), filter_options(filter))
        }
        TodoCommand::Search(word, filter) => {
            format!("/todo search {word}{}", filter_options(filter))
        }
        TodoCommand::Views => "/view list".to_owned(),
    }
}

fn filter_options(filter: &TodoFilter) -> String {
    let mut options = String::new();
    for tag in &filter.tags {
        options.push_str(&format!(" --tag {}", quoted(tag)));
    }
    if filter.open_only {
        options.push_str(" --open");
    }
    options
}

/// Whether a text is written in quotes, because a word of it would be read as an option.
fn is_quoted(text: &str) -> bool {
    option_within(text).is_some() && !text.contains('"')
}

fn said(todo: &NewTodo, due: Option<Option<Timestamp>>, now: &Zoned, lang: Lang) -> String {
    let part = todo.shift.filter(|shift| shift.is_part());
    let amount = todo.shift.filter(|shift| !shift.is_part());
    let text = todo
        .text
        .as_deref()
        .map(|text| if is_quoted(text) { format!("\"{text}\"") } else { text.to_owned() });
    let mut line = text.or(amount.map(TimeShift::words)).unwrap_or_default();
    for tag in &todo.more_tags {
        line.push_str(&format!("{}#{tag}", if line.is_empty() { "" } else { " " }));
    }
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let gap = if line.is_empty() { "" } else { " " };
            line.push_str(&format!("{gap}--{name} {}", quoted(&value)));
        }
    };
    match &todo.tags {
        Some(tags) if tags.is_empty() => option("tag", Some("none".to_owned())),
        tags => tags.iter().flatten().for_each(|tag| option("tag", Some(tag.clone()))),
    }
    option("priority", todo.priority.map(|n| n.to_string()));
    let due = due.filter(|_| part.is_none());
    option("due", part.map(TimeShift::words));
    option("due", due.map(|due| due.map_or("none".to_owned(), |at| exact(at, now))));
    option("remind", todo.remind.map(|remind| remind_words(remind, now, lang)));
    line
}

/// A reminder as its option writes it.
pub(super) fn remind_words(remind: Remind, now: &Zoned, lang: Lang) -> String {
    match remind {
        Remind::Never => "none".to_owned(),
        Remind::At(at) => exact(at, now),
        Remind::Before(ahead) => ahead.said(lang),
    }
}
