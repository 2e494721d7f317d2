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
use everloop_agenda::commands::{self, AgendaCommand, AgendaVerb, CommandError, CommandWords};
use everloop_agenda::portable::PortableContent;
use everloop_agenda::show;
use everloop_app::agenda::{self, AgendaReading, UnreadReminders};
use everloop_text as text;

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    CommandWords,
    Json,
}

impl AnswerForm {
    fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::CommandWords }
    }
}

/// A command that is put together from arguments. Its words stay apart: a shell has cut them
/// already, and what it says is a text stays one.
struct AgendaLine {
    verb: AgendaVerb,
    words: CommandWords,
}

impl AgendaLine {
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

    fn todo(self, said: &TodoOptionArgs) -> Self {
        self.option("tag", said.tag.as_ref())
            .option("priority", said.priority.as_ref())
            .option("due", said.due.as_ref())
            .option("remind", said.remind.as_ref())
    }

    fn filter(self, filter: &TodoFilterArgs) -> Self {
        self.option("tag", filter.tag.as_ref()).flag("open", filter.open)
    }

    fn flag(self, name: &str, is_set: bool) -> Self {
        match is_set {
            true => Self { words: self.words.option(name), ..self },
            false => self,
        }
    }

    fn entry(self, said: &EntryOptionArgs) -> Self {
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

    async fn perform(self, app: &Console, form: AnswerForm) -> Result<Exit, Failure> {
        let said = self.words.clone().rest();
        let command = |reader: &show::DisplayContext| {
            commands::parse_words(self.verb, self.words, &reader.now)
        };
        perform(app, &said, command, form).await
    }
}

pub(crate) async fn todo(app: &Console, args: TodoCommandArgs) -> Result<Exit, Failure> {
    let line = match &args.verb {
        TodoVerb::Add { text, said } => {
            AgendaLine::new(AgendaVerb::Todo, "add").words(text).todo(said)
        }
        TodoVerb::List { filter, view } => {
            AgendaLine::new(AgendaVerb::Todo, "list").filter(filter).option("view", view.as_ref())
        }
        TodoVerb::Get { id } => AgendaLine::new(AgendaVerb::Todo, "get").id(id),
        TodoVerb::Update { id, text, said } => {
            AgendaLine::new(AgendaVerb::Todo, "update").id(id).words(text).todo(said)
        }
        TodoVerb::Done { id } => AgendaLine::new(AgendaVerb::Todo, "done").words(id),
        TodoVerb::Reopen { id } => AgendaLine::new(AgendaVerb::Todo, "reopen").words(id),
        TodoVerb::Delete { id } => AgendaLine::new(AgendaVerb::Todo, "delete").words(id),
        TodoVerb::Search { word, filter } => {
            AgendaLine::new(AgendaVerb::Todo, "search").words(word).filter(filter)
        }
        TodoVerb::Export { file } => {
            return exchange::export(app, PortableContent::Todos, file.as_deref()).await;
        }
        TodoVerb::Import { file } => {
            return exchange::import(app, PortableContent::Todos, file).await;
        }
    };
    line.perform(app, AnswerForm::of(args.json)).await
}

pub(crate) async fn view(app: &Console, args: ViewArgs) -> Result<Exit, Failure> {
    let line = AgendaLine::new(AgendaVerb::View, &args.name).filter(&args.filter);
    line.perform(app, AnswerForm::of(args.json)).await
}

pub(crate) async fn schedule(app: &Console, args: ScheduleCommandArgs) -> Result<Exit, Failure> {
    let line = match &args.verb {
        ScheduleVerb::Add { words, said } => {
            AgendaLine::new(AgendaVerb::Schedule, "add").words(words).entry(said)
        }
        ScheduleVerb::List => AgendaLine::new(AgendaVerb::Schedule, "list"),
        ScheduleVerb::Get { id } => AgendaLine::new(AgendaVerb::Schedule, "get").id(id),
        ScheduleVerb::View { stretch, date } => AgendaLine::new(AgendaVerb::Schedule, "view")
            .words(std::slice::from_ref(stretch))
            .words(date),
        ScheduleVerb::Update { id, words, said } => {
            AgendaLine::new(AgendaVerb::Schedule, "update").id(id).words(words).entry(said)
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
    line.perform(app, AnswerForm::of(args.json)).await
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
        AnswerForm::CommandWords => {
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
