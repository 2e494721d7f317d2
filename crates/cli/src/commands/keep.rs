//! `todo`, `view`, `schedule`, `inbox`: the verbs of the slash commands, for shells and scripts.
//!
//! Each becomes the command that a person would type in the chat, and goes the same way.

use super::exchange;
use crate::args::{
    EntryOptions, Filter, Inbox, OnOff, Schedule, ScheduleVerb, Todo, TodoOptions, TodoVerb,
    ViewTodos,
};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::commands::{self, AgendaCommand, AgendaVerb, CommandError, CommandWords};
use everloop_agenda::desk::AgendaResult;
use everloop_agenda::kept::reminders;
use everloop_agenda::portable::PortableContent;
use everloop_agenda::show;
use everloop_engine::{Clock, SystemClock};
use everloop_text as text;

/// Firings that are listed at once.
const LISTED_MAX: usize = 200;

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Words,
    Json,
}

impl Form {
    fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Words }
    }
}

/// A command that is put together from arguments. Its words stay apart: a shell has cut them
/// already, and what it says is a text stays one.
struct Line {
    verb: AgendaVerb,
    words: CommandWords,
}

impl Line {
    fn new(verb: AgendaVerb, part: &str) -> Self {
        Self { verb, words: CommandWords::default().text(part) }
    }

    fn id(self, id: &str) -> Self {
        Self { words: self.words.text(id), ..self }
    }

    fn words(self, words: &[String]) -> Self {
        Self { words: words.iter().fold(self.words, |all, word| all.text(word)), ..self }
    }

    fn option(self, name: &str, value: Option<&String>) -> Self {
        match value {
            Some(value) => Self { words: self.words.option(name).text(value), ..self },
            None => self,
        }
    }

    fn todo(self, said: &TodoOptions) -> Self {
        self.option("tag", said.tag.as_ref())
            .option("priority", said.priority.as_ref())
            .option("due", said.due.as_ref())
            .option("remind", said.remind.as_ref())
    }

    fn filter(self, filter: &Filter) -> Self {
        self.option("tag", filter.tag.as_ref()).flag("open", filter.open)
    }

    fn flag(self, name: &str, is_set: bool) -> Self {
        match is_set {
            true => Self { words: self.words.option(name), ..self },
            false => self,
        }
    }

    fn entry(self, said: &EntryOptions) -> Self {
        let line = self
            .option("duration", said.duration.as_ref())
            .option("remind", said.remind.as_ref())
            .option("interval", said.interval.as_ref())
            .option("repeat", said.repeat.as_ref())
            .option("times", said.times.as_ref())
            .option("remind-start", said.remind_start.as_ref())
            .option("catch-up", said.catch_up.as_ref());
        line.flag("allow-conflict", said.allow_conflict)
    }

    async fn perform(self, app: &Console, form: Form) -> Result<Exit, Failure> {
        let said = self.words.clone().rest();
        let command = |reader: &show::DisplayContext| {
            commands::parse_words(self.verb, self.words, &reader.now)
        };
        perform(app, &said, command, form).await
    }
}

pub(crate) async fn todo(app: &Console, args: Todo) -> Result<Exit, Failure> {
    let line = match &args.verb {
        TodoVerb::Add { text, said } => Line::new(AgendaVerb::Todo, "add").words(text).todo(said),
        TodoVerb::List { filter, view } => {
            Line::new(AgendaVerb::Todo, "list").filter(filter).option("view", view.as_ref())
        }
        TodoVerb::Get { id } => Line::new(AgendaVerb::Todo, "get").id(id),
        TodoVerb::Update { id, text, said } => {
            Line::new(AgendaVerb::Todo, "update").id(id).words(text).todo(said)
        }
        TodoVerb::Done { id } => Line::new(AgendaVerb::Todo, "done").words(id),
        TodoVerb::Reopen { id } => Line::new(AgendaVerb::Todo, "reopen").words(id),
        TodoVerb::Delete { id } => Line::new(AgendaVerb::Todo, "delete").words(id),
        TodoVerb::Search { word, filter } => {
            Line::new(AgendaVerb::Todo, "search").words(word).filter(filter)
        }
        TodoVerb::Export { file } => {
            return exchange::export(app, PortableContent::Todos, file.as_deref()).await;
        }
        TodoVerb::Import { file } => {
            return exchange::import(app, PortableContent::Todos, file).await;
        }
    };
    line.perform(app, Form::of(args.json)).await
}

pub(crate) async fn view(app: &Console, args: ViewTodos) -> Result<Exit, Failure> {
    let line = Line::new(AgendaVerb::View, &args.name).filter(&args.filter);
    line.perform(app, Form::of(args.json)).await
}

pub(crate) async fn schedule(app: &Console, args: Schedule) -> Result<Exit, Failure> {
    let line = match &args.verb {
        ScheduleVerb::Add { words, said } => {
            Line::new(AgendaVerb::Schedule, "add").words(words).entry(said)
        }
        ScheduleVerb::List => Line::new(AgendaVerb::Schedule, "list"),
        ScheduleVerb::Get { id } => Line::new(AgendaVerb::Schedule, "get").id(id),
        ScheduleVerb::View { stretch, date } => {
            Line::new(AgendaVerb::Schedule, "view").words(std::slice::from_ref(stretch)).words(date)
        }
        ScheduleVerb::Update { id, words, said } => {
            Line::new(AgendaVerb::Schedule, "update").id(id).words(words).entry(said)
        }
        ScheduleVerb::Repeat { id, switch } => {
            let word = if *switch == OnOff::On { "on" } else { "off" };
            Line::new(AgendaVerb::Schedule, "repeat").id(id).words(&[word.to_owned()])
        }
        ScheduleVerb::Delete { id } => Line::new(AgendaVerb::Schedule, "delete").words(id),
        ScheduleVerb::Export { file } => {
            return exchange::export(app, PortableContent::Schedule, file.as_deref()).await;
        }
        ScheduleVerb::Import { file } => {
            return exchange::import(app, PortableContent::Schedule, file).await;
        }
        ScheduleVerb::Simulate(wanted) => {
            return super::simulate::simulate(app, wanted, args.json).await;
        }
    };
    line.perform(app, Form::of(args.json)).await
}

/// A slash command, given as one line.
pub(crate) async fn line(app: &Console, line: &str, json: bool) -> Result<Exit, Failure> {
    let command = |reader: &show::DisplayContext| commands::parse(line, &reader.now);
    perform(app, line, command, Form::of(json)).await
}

/// Carries a command out, as the chat would. `said` is what it was made of.
async fn perform(
    app: &Console,
    said: &str,
    command: impl FnOnce(&show::DisplayContext) -> Result<AgendaCommand, CommandError>,
    form: Form,
) -> Result<Exit, Failure> {
    let reader = app.reader();
    let command = match command(&reader) {
        Ok(command) => command,
        Err(wrong) => {
            if form == Form::Json {
                terminal::answer(&show::wrong_json(&reader, &wrong).to_string());
                return Ok(Exit::Usage);
            }
            return Err(Failure { exit: Exit::Usage, words: show::wrong(&reader, &wrong) });
        }
    };
    if let Some(understood) = commands::echo(said, &command, &reader.now, reader.lang) {
        app.note(text::command::understood(&understood));
    }
    if let Some(year) = commands::other_year(said, &command, &reader.now) {
        app.note(text::notice::other_year(&year));
    }
    let store = app.open_to_read().await?;
    let answer = answer(app, store, &command, &reader).await?;
    match form {
        Form::Json => terminal::answer(&show::as_json(&reader, &answer).to_string()),
        Form::Words => {
            let words = show::answer(&reader, &answer);
            match &answer {
                Ok(_) => terminal::answer(&words),
                Err(_) => terminal::complain(&words),
            }
        }
    }
    Ok(if answer.is_ok() { Exit::Done } else { Exit::Failed })
}

async fn answer(
    app: &Console,
    store: everloop_store::Store,
    command: &AgendaCommand,
    reader: &show::DisplayContext,
) -> Result<AgendaResult, Failure> {
    let performed = app.desk(store).perform(command, &reader.now, None).await;
    performed.map_err(|error| app.store_failure(&error))
}

/// The reminders that nobody has read yet. Looking fires what is due.
pub(crate) async fn inbox(app: &Console, args: &Inbox) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let fail = |error| app.store_failure(&error);
    let now = SystemClock.now();
    match reminders::fire_due(&store, &app.customs(), now).await {
        // What cannot be written now fires when it can be.
        Err(error) if error.is_read_only() => {}
        fired => drop(fired.map_err(fail)?),
    }
    let unread = store.agenda().unread_firings(LISTED_MAX).await.map_err(fail)?;
    let reader = app.reader();
    if args.json {
        let rows: Vec<_> = unread.iter().map(|row| show::firing_json(&reader, row)).collect();
        terminal::answer(&serde_json::json!({"unread": rows}).to_string());
    } else if unread.is_empty() {
        terminal::answer(&app.text(text::inbox::empty()));
    }
    for firing in unread.iter().filter(|_| !args.json) {
        terminal::answer(&show::firing_line(&reader, firing));
    }
    if args.read {
        store.agenda().read_firings(&unread, now).await.map_err(fail)?;
    }
    Ok(Exit::Done)
}
