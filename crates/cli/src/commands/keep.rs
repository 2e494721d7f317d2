//! `todo`, `view`, `schedule`, `inbox`: the verbs of the slash commands, for shells and scripts.
//!
//! Each becomes the command that a person would type in the chat, and goes the same way.

use super::exchange;
use crate::args::{
    EntryOptionArgs, InboxArgs, OnOff, ScheduleCommandArgs, ScheduleVerb, TodoCommandArgs,
    TodoFilterArgs, TodoOptionArgs, TodoVerb, ViewArgs,
};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::commands::{self, AgendaCommand, AgendaVerb, CommandError};
use everloop_agenda::portable::PortableContent;
use everloop_agenda::show;
use everloop_app::agenda::arguments::AgendaLine;
use everloop_app::agenda::{self, AgendaReading, UnreadReminders};
use everloop_text as text;

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    Text,
    Json,
}

impl AnswerForm {
    fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

impl TodoOptionArgs {
    fn add_to(&self, line: AgendaLine) -> AgendaLine {
        line.option("tag", self.tag.as_ref())
            .option("priority", self.priority.as_ref())
            .option("due", self.due.as_ref())
            .option("remind", self.remind.as_ref())
    }
}

impl TodoFilterArgs {
    fn add_to(&self, line: AgendaLine) -> AgendaLine {
        line.option("tag", self.tag.as_ref()).flag("open", self.open)
    }
}

impl EntryOptionArgs {
    fn add_to(&self, line: AgendaLine) -> AgendaLine {
        line.option("duration", self.duration.as_ref())
            .option("remind", self.remind.as_ref())
            .option("interval", self.interval.as_ref())
            .option("repeat", self.repeat.as_ref())
            .option("times", self.times.as_ref())
            .option("remind-start", self.remind_start.as_ref())
            .option("catch-up", self.catch_up.as_ref())
            .flag("allow-conflict", self.allow_conflict)
    }
}

pub(crate) async fn todo(app: &Console, args: TodoCommandArgs) -> Result<Exit, Failure> {
    let line = match &args.verb {
        TodoVerb::Add { text, said } => {
            said.add_to(AgendaLine::new(AgendaVerb::Todo, "add").words(text))
        }
        TodoVerb::List { filter, view } => {
            filter.add_to(AgendaLine::new(AgendaVerb::Todo, "list")).option("view", view.as_ref())
        }
        TodoVerb::Get { id } => AgendaLine::new(AgendaVerb::Todo, "get").id(id),
        TodoVerb::Update { id, text, said } => {
            said.add_to(AgendaLine::new(AgendaVerb::Todo, "update").id(id).words(text))
        }
        TodoVerb::Done { id } => AgendaLine::new(AgendaVerb::Todo, "done").words(id),
        TodoVerb::Reopen { id } => AgendaLine::new(AgendaVerb::Todo, "reopen").words(id),
        TodoVerb::Delete { id } => AgendaLine::new(AgendaVerb::Todo, "delete").words(id),
        TodoVerb::Search { word, filter } => {
            filter.add_to(AgendaLine::new(AgendaVerb::Todo, "search").words(word))
        }
        TodoVerb::Export { file } => {
            return exchange::export(app, PortableContent::Todos, file.as_deref()).await;
        }
        TodoVerb::Import { file } => {
            return exchange::import(app, PortableContent::Todos, file).await;
        }
    };
    perform_line(app, line, AnswerForm::of(args.json)).await
}

pub(crate) async fn view(app: &Console, args: ViewArgs) -> Result<Exit, Failure> {
    let line = args.filter.add_to(AgendaLine::new(AgendaVerb::View, &args.name));
    perform_line(app, line, AnswerForm::of(args.json)).await
}

pub(crate) async fn schedule(app: &Console, args: ScheduleCommandArgs) -> Result<Exit, Failure> {
    let line = match &args.verb {
        ScheduleVerb::Add { words, said } => {
            said.add_to(AgendaLine::new(AgendaVerb::Schedule, "add").words(words))
        }
        ScheduleVerb::List => AgendaLine::new(AgendaVerb::Schedule, "list"),
        ScheduleVerb::Get { id } => AgendaLine::new(AgendaVerb::Schedule, "get").id(id),
        ScheduleVerb::View { stretch, date } => AgendaLine::new(AgendaVerb::Schedule, "view")
            .words(std::slice::from_ref(stretch))
            .words(date),
        ScheduleVerb::Update { id, words, said } => {
            said.add_to(AgendaLine::new(AgendaVerb::Schedule, "update").id(id).words(words))
        }
        ScheduleVerb::Repeat { id, switch } => {
            let word = if *switch == OnOff::On { "on" } else { "off" };
            AgendaLine::new(AgendaVerb::Schedule, "repeat").id(id).words(&[word.to_owned()])
        }
        ScheduleVerb::Delete { id } => AgendaLine::new(AgendaVerb::Schedule, "delete").words(id),
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
    perform_line(app, line, AnswerForm::of(args.json)).await
}

async fn perform_line(app: &Console, line: AgendaLine, form: AnswerForm) -> Result<Exit, Failure> {
    let typed = line.typed();
    perform(app, &typed, |reader| line.parse(reader), form).await
}

/// A slash command, given as one line.
pub(crate) async fn line(app: &Console, line: &str, json: bool) -> Result<Exit, Failure> {
    let command = |reader: &show::DisplayContext| commands::parse(line, &reader.now);
    perform(app, line, command, AnswerForm::of(json)).await
}

/// Carries a command out, as the chat would. `said` is what it was made of.
async fn perform(
    app: &Console,
    said: &str,
    command: impl FnOnce(&show::DisplayContext) -> Result<AgendaCommand, CommandError>,
    form: AnswerForm,
) -> Result<Exit, Failure> {
    let reader = app.reader();
    let command = match command(&reader) {
        Ok(command) => command,
        Err(wrong) => {
            if form == AnswerForm::Json {
                terminal::answer(&show::wrong_json(&reader, &wrong).to_string());
                return Ok(Exit::Usage);
            }
            return Err(Failure { exit: Exit::Usage, words: show::wrong(&reader, &wrong) });
        }
    };
    let reading = AgendaReading::of(said, &command, &reader);
    if let Some(understood) = &reading.understood {
        app.note(text::command::understood(understood));
    }
    if let Some(year) = &reading.other_year {
        app.note(text::notice::other_year(year));
    }
    let store = app.open_to_read().await?;
    let answer = app.checked(agenda::perform(app, store, &command, &reader).await)?;
    match form {
        AnswerForm::Json => terminal::answer(&show::as_json(&reader, &answer).to_string()),
        AnswerForm::Text => {
            let words = show::answer(&reader, &answer);
            match &answer {
                Ok(_) => terminal::answer(&words),
                Err(_) => terminal::complain(&words),
            }
        }
    }
    Ok(if answer.is_ok() { Exit::Done } else { Exit::Failed })
}

/// The reminders that nobody has read yet. Looking fires what is due.
pub(crate) async fn inbox(app: &Console, args: &InboxArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let unread = app.checked(UnreadReminders::read(app, &store).await)?;
    let reader = app.reader();
    if args.json {
        terminal::answer_json(&unread.to_json(&reader));
    } else if unread.firings().is_empty() {
        terminal::answer(&app.text(text::inbox::empty()));
    } else {
        let lines = unread.firings().iter().map(|firing| show::firing_line(&reader, firing));
        lines.for_each(|line| terminal::answer(&line));
    }
    if args.read {
        app.checked(unread.mark_read(&store).await)?;
    }
    Ok(Exit::Done)
}
