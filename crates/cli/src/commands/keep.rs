//! `todo`, `view`, `schedule`, `inbox`: the verbs of the slash commands, for shells and scripts.
//!
//! Each becomes the command that a person would type in the chat, and goes the same way.

use super::exchange;
use crate::args::{
    EntryOptionArgs, InboxArgs, OnOff, ScheduleCommandArgs, ScheduleVerb, TodoCommandArgs,
    TodoFilterArgs, TodoMarkArgs, TodoOptionArgs, TodoVerb, ViewArgs,
};
use everloop_agenda::commands::{
    self, AgendaCommand, AgendaVerb, CommandError, TodoCommand, TodoMark,
};
use everloop_agenda::desk::{AgendaResult, CommandOutcome};
use everloop_agenda::portable::PortableContent;
use everloop_agenda::show;
use everloop_app::agenda::arguments::AgendaLine;
use everloop_app::agenda::{self, AgendaReading, UnreadReminders};
use everloop_console::{Console, Exit, Failure, agenda_colors, terminal};
use everloop_store::TodoRow;
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
        let line = self.tag.iter().fold(line, |line, tag| line.option("tag", Some(tag)));
        line.option("priority", self.priority.as_ref())
            .option("due", self.due.as_ref())
            .option("remind", self.remind.as_ref())
    }
}

impl TodoFilterArgs {
    fn add_to(&self, line: AgendaLine) -> AgendaLine {
        let line = self.tag.iter().fold(line, |line, tag| line.option("tag", Some(tag)));
        line.flag("open", self.open)
    }
}

impl TodoMarkArgs {
    fn line(&self, part: &str) -> AgendaLine {
        let line = AgendaLine::new(AgendaVerb::Todo, part).words(&self.id);
        self.filter.add_to(line).option("view", self.view.as_ref())
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
            .option("run", self.run.run.as_ref())
            .option("cron", self.run.cron.as_ref())
            .option("zone", self.run.zone.as_ref())
            .option("loop", self.run.run_loop.as_ref())
            .option("persona", self.run.persona.as_ref())
            .option("workspace", self.run.workspace.as_ref())
            .option("conversation", self.run.conversation.as_ref())
            .option("overlap", self.run.overlap.as_ref())
            .option("pause-after", self.run.pause_after.as_ref())
    }
}

pub(crate) async fn todo(app: &Console, args: TodoCommandArgs) -> Result<Exit, Failure> {
    match &args.verb {
        Some(TodoVerb::Export { file }) => {
            exchange::export(app, PortableContent::Todos, file.as_deref()).await
        }
        Some(TodoVerb::Import { file }) => {
            exchange::import(app, PortableContent::Todos, file).await
        }
        verb => {
            let (line, is_sure) = todo_line(verb.as_ref());
            let typed = line.typed();
            let form = AnswerForm::of(args.json);
            perform(app, &typed, |reader| line.parse(reader), form, is_sure).await
        }
    }
}

/// The command of a verb, and whether a change of many is confirmed. Without a verb, and for those
/// that read or write files, it lists.
pub(crate) fn todo_line(verb: Option<&TodoVerb>) -> (AgendaLine, bool) {
    let new = |part| AgendaLine::new(AgendaVerb::Todo, part);
    let line = match verb {
        None | Some(TodoVerb::Export { .. } | TodoVerb::Import { .. }) => new("list"),
        Some(TodoVerb::Add { text, said }) => said.add_to(new("add").words(text)),
        Some(TodoVerb::List { filter, view }) => {
            filter.add_to(new("list")).option("view", view.as_ref())
        }
        Some(TodoVerb::Get { id }) => new("get").id(id),
        Some(TodoVerb::Update { id, text, said }) => said.add_to(new("update").id(id).words(text)),
        Some(TodoVerb::Done(marked)) => marked.line("done"),
        Some(TodoVerb::Reopen(marked)) => marked.line("reopen"),
        Some(TodoVerb::Delete(marked)) => marked.line("delete"),
        Some(TodoVerb::Undo { count }) => new("undo").words(count.as_slice()),
        Some(TodoVerb::Snooze { words }) => new("snooze").words(words),
        Some(TodoVerb::Search { word, filter }) => filter.add_to(new("search").words(word)),
    };
    let is_sure = match verb {
        Some(TodoVerb::Done(marked) | TodoVerb::Reopen(marked) | TodoVerb::Delete(marked)) => {
            marked.yes
        }
        _ => false,
    };
    (line, is_sure)
}

pub(crate) async fn view(app: &Console, args: ViewArgs) -> Result<Exit, Failure> {
    perform_line(app, view_line(&args), AnswerForm::of(args.json)).await
}

/// The command of a view.
pub(crate) fn view_line(args: &ViewArgs) -> AgendaLine {
    let name = args.name.as_deref().unwrap_or("list");
    args.filter.add_to(AgendaLine::new(AgendaVerb::View, name))
}

pub(crate) async fn schedule(app: &Console, args: ScheduleCommandArgs) -> Result<Exit, Failure> {
    match &args.verb {
        Some(ScheduleVerb::Export { file }) => {
            exchange::export(app, PortableContent::Schedule, file.as_deref()).await
        }
        Some(ScheduleVerb::Import { file }) => {
            exchange::import(app, PortableContent::Schedule, file).await
        }
        Some(ScheduleVerb::Simulate(wanted)) => {
            super::simulate::simulate(app, wanted, args.json).await
        }
        verb => perform_line(app, schedule_line(verb.as_ref()), AnswerForm::of(args.json)).await,
    }
}

/// The command of a verb. Without one, and for those that read or write files, it lists.
pub(crate) fn schedule_line(verb: Option<&ScheduleVerb>) -> AgendaLine {
    let new = |part| AgendaLine::new(AgendaVerb::Schedule, part);
    match verb {
        None
        | Some(
            ScheduleVerb::List
            | ScheduleVerb::Export { .. }
            | ScheduleVerb::Import { .. }
            | ScheduleVerb::Simulate(_),
        ) => new("list"),
        Some(ScheduleVerb::Add { words, said }) => said.add_to(new("add").words(words)),
        Some(ScheduleVerb::Get { id }) => new("get").id(id),
        Some(ScheduleVerb::View { stretch, date }) => {
            new("view").words(std::slice::from_ref(stretch)).words(date)
        }
        Some(ScheduleVerb::Update { id, words, said }) => {
            said.add_to(new("update").id(id).words(words))
        }
        Some(ScheduleVerb::Repeat { id, switch }) => {
            let word = if *switch == OnOff::On { "on" } else { "off" };
            new("repeat").id(id).words(&[word.to_owned()])
        }
        Some(ScheduleVerb::Delete { id }) => new("delete").words(id),
        Some(ScheduleVerb::Pause { id }) => new("pause").id(id),
        Some(ScheduleVerb::Resume { id }) => new("resume").id(id),
        Some(ScheduleVerb::Run { id }) => new("run").id(id),
        Some(ScheduleVerb::Runs { id }) => new("runs").id(id),
    }
}

async fn perform_line(app: &Console, line: AgendaLine, form: AnswerForm) -> Result<Exit, Failure> {
    let typed = line.typed();
    perform(app, &typed, |reader| line.parse(reader), form, false).await
}

/// A slash command, given as one line.
pub(crate) async fn line(app: &Console, line: &str, json: bool) -> Result<Exit, Failure> {
    let command = |reader: &show::DisplayContext| commands::parse(line, &reader.now);
    perform(app, line, command, AnswerForm::of(json), false).await
}

/// Carries a command out, as the chat would. `said` is what it was made of.
async fn perform(
    app: &Console,
    said: &str,
    command: impl FnOnce(&show::DisplayContext) -> Result<AgendaCommand, CommandError>,
    form: AnswerForm,
    is_sure: bool,
) -> Result<Exit, Failure> {
    let reader = app.reader();
    let command = match command(&reader) {
        Ok(command) => command,
        Err(wrong) => {
            if form == AnswerForm::Json {
                terminal::print_line(&show::wrong_json(&reader, &wrong).to_string());
                return Ok(Exit::Usage);
            }
            return Err(Failure { exit: Exit::Usage, words: show::wrong(&reader, &wrong) });
        }
    };
    let reading = AgendaReading::of(said, &command, &reader);
    if let Some(understood) = &reading.understood {
        app.note(text::command::understood(understood));
    }
    for note in &reading.notes {
        app.note_line(&show::note(&reader, note));
    }
    let store = app.open_to_read().await?;
    let mut answer = app.checked(agenda::perform(app, store.clone(), &command, &reader).await)?;
    if let Ok(CommandOutcome::Proposed(mark, todos)) = &answer {
        let is_confirmed = is_sure || form == AnswerForm::Text && confirms(app, *mark, todos).await;
        if !is_confirmed {
            return Ok(leave_undone(app, &reader, &answer, form));
        }
        let ids = todos.iter().map(|todo| todo.id).collect();
        let command = AgendaCommand::Todo(TodoCommand::Mark(*mark, ids));
        answer = app.checked(agenda::perform(app, store, &command, &reader).await)?;
    }
    match form {
        AnswerForm::Json => terminal::print_line(&show::as_json(&reader, &answer).to_string()),
        AnswerForm::Text => print_answer(app, &reader, &answer),
    }
    Ok(if answer.is_ok() { Exit::Done } else { Exit::Failed })
}

fn print_answer(app: &Console, reader: &show::DisplayContext, answer: &AgendaResult) {
    let words = show::answer(reader, answer);
    match answer {
        Ok(CommandOutcome::TodosDeleted(_) | CommandOutcome::EntriesDeleted(_)) => {
            terminal::print_line(&words);
            app.note(text::todo::undo_hint(&"everloop todo undo"));
        }
        Ok(_) => agenda_colors::print(app.lang, &words),
        Err(_) => terminal::eprint_line(&words),
    }
}

/// Shows a change of many that nobody has confirmed.
fn leave_undone(
    app: &Console,
    reader: &show::DisplayContext,
    answer: &AgendaResult,
    form: AnswerForm,
) -> Exit {
    match form {
        AnswerForm::Json => terminal::print_line(&show::as_json(reader, answer).to_string()),
        AnswerForm::Text if app.interactive => {
            terminal::eprint_line(&app.text(text::rule::dropped()));
        }
        AnswerForm::Text => {
            terminal::eprint_line(&show::answer(reader, answer));
            terminal::eprint_line(&app.text(text::todo::proposed::yes()));
        }
    }
    Exit::NeedsPerson
}

/// Whether a person wants all of these changed.
async fn confirms(app: &Console, mark: TodoMark, todos: &[TodoRow]) -> bool {
    if !app.interactive {
        return false;
    }
    let reader = app.reader();
    terminal::eprint_line(&show::proposal_line(&reader, mark, todos.len()));
    for todo in todos {
        terminal::eprint_line(&format!(
            "  #{} {}",
            todo.id,
            everloop_types::one_line(&todo.said.text)
        ));
    }
    let said = terminal::ask(&app.text(text::todo::proposed::ask(&todos.len()))).await;
    said.is_some_and(|said| matches!(text::meaning(&said), text::Meaning::Yes))
}

/// The reminders that nobody has read yet. Looking fires what is due.
pub(crate) async fn inbox(app: &Console, args: &InboxArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let unread = app.checked(UnreadReminders::read(app, &store).await)?;
    let reader = app.reader();
    if args.json {
        terminal::print_json(&unread.to_json(&reader));
    } else if unread.firings().is_empty() {
        terminal::print_line(&app.text(text::inbox::empty()));
    } else {
        let lines = unread.firings().iter().map(|firing| show::firing_line(&reader, firing));
        lines.for_each(|line| terminal::print_line(&line));
    }
    if args.read {
        app.checked(unread.mark_read(&store).await)?;
    }
    Ok(Exit::Done)
}
