//! A chat with a person at a terminal.

use super::editor::{Editor, Typed};
use super::follow::Still;
use super::session::{Heard, Session};
use crate::commands::tour;
use crate::exit::{Exit, Failure};
use crate::show::preview;
use crate::signals::Signals;
use crate::terminal;
use everloop_assistant::door::OpenQuestion;
use everloop_assistant::show::firing_lines;
use everloop_engine::Update;
use everloop_types::RunId;
use everloop_types::journal::Kind;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A second Ctrl-C within this time leaves.
const AGAIN: Duration = Duration::from_secs(2);

/// How often reminders are looked for while a person types.
const LOOK_FOR_REMINDERS: Duration = Duration::from_secs(1);

/// How looking at a run ended.
pub(super) enum Looked {
    Still,
    /// It is over, and this one goes on in its place.
    GoesOn(RunId),
    Background,
    Leave,
    Signal(Exit),
}

/// A person, and what they have typed ahead.
pub(super) struct Person {
    pub(super) session: Session,
    pub(super) signals: Signals,
    editor: Editor,
    /// Lines that wait for their turn.
    pub(super) queue: VecDeque<String>,
    /// What was told to the model of the run that is looked at.
    pub(super) told: Vec<String>,
    /// What was typed and not sent; it stands in the next line.
    pub(super) unsent: String,
}

pub(super) async fn talk(session: Session, first: Option<String>) -> Result<Exit, Failure> {
    let _kept = terminal::KeysKept::begin();
    let signals = Signals::new(&session.app)?;
    let editor = Editor::start(&session)?;
    let queue = first.into_iter().collect();
    let (told, unsent) = (Vec::new(), String::new());
    let mut person = Person { session, signals, editor, queue, told, unsent };
    let exit = person.talk().await;
    person.session.leave().await;
    exit
}

impl Person {
    async fn talk(&mut self) -> Result<Exit, Failure> {
        self.greet().await?;
        if let Some(run) = self.session.going().await?
            && let Some(exit) = self.looked(&run).await?
        {
            return Ok(exit);
        }
        loop {
            self.show_question().await;
            // A line that was typed ahead must not answer a question that nobody had seen.
            let ahead = match self.session.seen {
                Some(_) => None,
                None => self.queue.pop_front(),
            };
            let line = match ahead {
                Some(line) => {
                    terminal::answer(&format!("{}{line}", self.session.text("chat.you", &[])));
                    line
                }
                None => match self.next_line().await {
                    Ok(line) => line,
                    Err(exit) => return Ok(exit),
                },
            };
            match self.session.heard(&line).await {
                Heard::Said(words) => terminal::answer(&words),
                Heard::Confirm(command) => self.confirm(&command).await,
                Heard::Background => {
                    terminal::answer(&self.session.text("chat.nothing_in_front", &[]));
                }
                Heard::Clear => terminal::clear(),
                Heard::Tour => {
                    if let Err(failure) = tour::tour(&self.session.app).await {
                        terminal::answer(&failure.words);
                    }
                }
                Heard::Quit => return Ok(Exit::Done),
                Heard::Follow(run) => {
                    if let Some(exit) = self.looked(&run).await? {
                        return Ok(exit);
                    }
                }
            }
        }
    }

    /// Looks at a run; an exit if the person leaves.
    async fn looked(&mut self, run: &RunId) -> Result<Option<Exit>, Failure> {
        let mut run = run.clone();
        loop {
            return Ok(match self.look_at(&run).await? {
                Looked::GoesOn(to) => {
                    run = to;
                    continue;
                }
                Looked::Still | Looked::Background => None,
                Looked::Leave => Some(Exit::Done),
                Looked::Signal(exit) => Some(exit),
            });
        }
    }

    /// What is new since the last time: what was recovered, what fired, what waits.
    async fn greet(&mut self) -> Result<(), Failure> {
        let session = &self.session;
        for line in &session.recovered {
            terminal::answer(line);
        }
        let reader = session.reader();
        for line in firing_lines(&reader, &session.new_firings().await?) {
            terminal::answer(&line);
        }
        let unread = session.store().count_unread_firings().await;
        let unread = unread.map_err(|error| session.fail(&error))?;
        if unread > 0 {
            terminal::answer(&session.text("inbox.unread", &[("n", &unread.to_string())]));
        }
        let open = self.session.question_to_show().await?;
        let session = &self.session;
        let Some(open) = open else {
            terminal::answer(&session.text("chat.hello", &[]));
            return Ok(());
        };
        let run = session.store().run(&open.run).await.map_err(|error| session.fail(&error))?;
        let goal = run.map(|row| preview(&row.goal)).unwrap_or_default();
        let args = [("id", open.run.as_str()), ("goal", goal.as_str())];
        terminal::answer(&session.text("chat.still_asks", &args));
        self.show(&open);
        Ok(())
    }

    fn show(&self, open: &OpenQuestion) {
        terminal::answer(&open.text);
        terminal::answer(&self.session.how_to_answer(open));
    }

    /// Shows the question that the next plain line answers, if the person has not seen it.
    async fn show_question(&mut self) {
        // A store that fails for a moment is asked again before the next line.
        if let Ok(Some(open)) = self.session.question_to_show().await {
            let id = open.run.as_str();
            terminal::answer(&self.session.text("chat.asks", &[("id", id)]));
            self.show(&open);
        }
    }

    /// The next line, while reminders and the news of runs in the background are shown above it.
    async fn next_line(&mut self) -> Result<String, Exit> {
        let prompt = self.session.text("chat.you", &[]);
        let mut leaving: Option<Instant> = None;
        let mut reminders = tokio::time::interval(LOOK_FOR_REMINDERS);
        self.editor.ask(&prompt, std::mem::take(&mut self.unsent));
        loop {
            let typed = tokio::select! {
                typed = self.editor.next() => typed,
                Some(update) = self.session.watch.recv() => {
                    if let Some(news) = news(&self.session, &update).await {
                        self.editor.print(&news);
                    }
                    continue;
                }
                _ = reminders.tick() => {
                    let reader = self.session.reader();
                    // A store that fails for a moment is looked at again in a second.
                    let fired = self.session.new_firings().await.unwrap_or_default();
                    for line in firing_lines(&reader, &fired) {
                        self.editor.print(&line);
                    }
                    continue;
                }
                exit = self.signals.next() => return Err(exit),
            };
            match typed {
                Typed::Line(line) => return Ok(line),
                Typed::End => return Err(Exit::Done),
                Typed::Interrupt { empty: true } => {
                    if leaving.is_some_and(|at| at.elapsed() < AGAIN) {
                        terminal::answer("");
                        return Err(Exit::Done);
                    }
                    leaving = Some(Instant::now());
                    let asks = self.session.seen.is_some();
                    let key = if asks { "chat.question_stays" } else { "exit.again" };
                    // The editor paints its line where it was, so this goes through it.
                    self.editor.print(&self.session.text(key, &[]));
                }
                Typed::Plan => {
                    if let Heard::Said(words) = self.session.heard("/plan").await {
                        self.editor.print(&words);
                    }
                }
                Typed::Interrupt { empty: false } | Typed::Escape => {}
            }
            self.editor.ask(&prompt, String::new());
        }
    }

    /// Shows the command that a sentence became, and carries it out after a yes.
    async fn confirm(&mut self, command: &str) {
        let session = &self.session;
        terminal::answer(&session.text("rule.understood", &[("command", command)]));
        self.editor.ask(&session.text("rule.prompt", &[]), String::new());
        let words = match self.editor.next().await {
            Typed::Line(line) if everloop_text::means_yes(&line) => {
                session.perform_rule(command).await.unwrap_or_else(|failure| failure.words)
            }
            _ => session.text("rule.dropped", &[]),
        };
        terminal::answer(&words);
    }
}

/// What a run in the background has to say.
async fn news(session: &Session, update: &Arc<Update>) -> Option<String> {
    let Update::Entry(run, entry) = update.as_ref() else { return None };
    if !matches!(entry.kind, Kind::RunFinished(_) | Kind::Waiting(_)) {
        return None;
    }
    match session.still(run).await.ok()?? {
        Still::Over(shown) => {
            let (id, status) = (run.as_str(), shown.row.status.as_str());
            let said = session.text("chat.ended", &[("id", id), ("status", status)]);
            Some(format!("{said}\n{}", shown.text().unwrap_or_default()))
        }
        Still::GoesOn(words, _) => Some(words),
        Still::Asks(_) => Some(session.text("chat.will_ask", &[("id", run.as_str())])),
        Still::NoModel(_) => None,
    }
}
