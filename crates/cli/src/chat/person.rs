//! A chat with a person at a terminal.

use super::confirm::Verdict;
use super::editor::{Editor, Typed};
use super::queue::Queue;
use super::session::{Heard, Session};
use crate::commands::tour;
use crate::exit::{Exit, Failure};
use crate::reminding;
use crate::show::preview;
use crate::signals::Signals;
use crate::terminal;
use everloop_agenda::door::OpenQuestion;
use everloop_text as text;
use everloop_types::RunId;
use std::time::{Duration, Instant};

/// A second Ctrl-C within this time leaves.
const AGAIN: Duration = Duration::from_secs(2);

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
    pub(super) queue: Queue,
    /// What was said when the program was started.
    first: Option<String>,
    /// What was told to the model of the run that is looked at.
    pub(super) told: Vec<String>,
    /// A command that a sentence became; it waits for a yes.
    proposed: Option<String>,
    /// What was typed and not sent; it stands in the next line.
    pub(super) unsent: String,
}

pub(super) async fn talk(session: Session, first: Option<String>) -> Result<Exit, Failure> {
    let _kept = terminal::KeysKept::begin();
    let signals = Signals::new(&session.app)?;
    let editor = Editor::start(&session)?;
    let queue = Queue::open(&session.app);
    let (told, proposed, unsent) = (Vec::new(), None, String::new());
    let mut person = Person { session, signals, editor, queue, first, told, proposed, unsent };
    let exit = person.talk().await;
    let waiting = person.queue.lines().count();
    if waiting > 0 {
        person.session.app.note(text::chat::queue_kept(&waiting));
    }
    person.session.leave().await;
    exit
}

impl Person {
    async fn talk(&mut self) -> Result<Exit, Failure> {
        self.greet().await?;
        // One that was taken up may be over by now; its answer is shown all the same.
        let mut runs = std::mem::take(&mut self.session.left().runs);
        if runs.is_empty() {
            runs.extend(self.session.going().await?);
        }
        for run in runs {
            if let Some(exit) = self.looked(&run).await? {
                return Ok(exit);
            }
        }
        loop {
            for line in self.session.unheard().await {
                terminal::answer(&line);
            }
            self.show_question().await;
            let line = match self.line().await {
                Ok(line) => line,
                Err(exit) => return Ok(exit),
            };
            if let Some(words) = self.confirms(&line.text).await {
                if !words.is_empty() {
                    terminal::answer(&words);
                }
                continue;
            }
            match self.heard(line).await {
                Heard::Said(words) => {
                    terminal::answer(&words);
                    // Something else was said: what the next line answers is no longer in view.
                    let open = self.session.reminder_of_question();
                    open.iter().for_each(|line| terminal::answer(line));
                }
                Heard::Confirm(command) => self.proposed = Some(command),
                Heard::Background => {
                    terminal::answer(&self.session.text(text::chat::nothing_in_front()));
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

    /// The next line: one that was typed ahead, or one that is typed now.
    async fn line(&mut self) -> Result<Line, Exit> {
        // A line that was typed ahead must not answer a question that nobody had seen.
        let asks = self.session.seen.is_some() || self.session.unsettled.is_some();
        let free = !asks && self.proposed.is_none();
        self.queue.held &= self.queue.first().is_some();
        let ahead = self.queue.first().filter(|_| free).cloned();
        match (self.first.take_if(|_| free), ahead) {
            (Some(text), _) => Ok(self.said(Line { text, queued: None })),
            (None, Some(ahead)) if !self.queue.held => {
                Ok(self.said(Line { text: ahead.line, queued: Some(ahead.id) }))
            }
            (None, Some(ahead)) if self.unsent.is_empty() => {
                self.unsent = ahead.line;
                Ok(Line { text: self.next_line().await?, queued: Some(ahead.id) })
            }
            _ => Ok(Line { text: self.next_line().await?, queued: None }),
        }
    }

    fn said(&self, line: Line) -> Line {
        terminal::answer(&format!("{}{}", self.session.text(text::chat::you()), line.text));
        line
    }

    /// What the line does. One from the queue stays there until it has done so, and one that could
    /// not be heard stands in the input line again.
    async fn heard(&mut self, line: Line) -> Heard {
        self.session.choice.key.clone_from(&line.queued);
        let heard = match line.queued.is_some() && line.text.trim().is_empty() {
            true => Ok(Heard::Said(self.session.text(text::chat::queued_dropped()))),
            false => self.session.hear(&line.text).await,
        };
        self.session.choice.key = None;
        let heard = match heard {
            Ok(heard) => heard,
            Err(failure) => {
                self.queue.held = true;
                self.unsent = line.text;
                return Heard::Said(failure.words);
            }
        };
        if let Some(id) = line.queued
            && let Err(error) = self.queue.gone(&id)
        {
            terminal::answer(&self.session.text(text::error::system(&error)));
        }
        heard
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
        for line in &self.session.left().lines {
            terminal::answer(line);
        }
        let session = &self.session;
        for line in self.queue.lines() {
            terminal::answer(&session.text(text::chat::queued_before(&line)));
        }
        for line in session.new_reminders().await {
            terminal::answer(&line);
        }
        let unread = session.store().count_unread_firings().await;
        let unread = unread.map_err(|error| session.fail(&error))?;
        if unread > 0 {
            terminal::answer(&session.text(text::inbox::unread(&unread)));
        }
        if let Some(waiting) = session.waiting_elsewhere().await? {
            terminal::answer(&waiting);
        }
        let open = self.session.question_to_show().await?;
        let session = &self.session;
        let Some(open) = open else {
            terminal::answer(&session.text(text::chat::hello()));
            return Ok(());
        };
        let run = session.store().run(&open.run).await.map_err(|error| session.fail(&error))?;
        let goal = run.map(|row| preview(&row.goal)).unwrap_or_default();
        terminal::answer(&session.text(text::chat::still_asks(&open.run, &goal)));
        self.show(&open);
        Ok(())
    }

    fn show(&self, open: &OpenQuestion) {
        terminal::answer(&open.text);
        terminal::answer(&self.session.how_to_answer(open));
    }

    /// Shows the question that the next plain line answers, if the person has not seen it.
    async fn show_question(&mut self) {
        if let Some(words) = self.session.gone_question().await {
            terminal::answer(&words);
        }
        // A store that fails for a moment is asked again before the next line.
        if let Ok(Some(open)) = self.session.question_to_show().await {
            let id = open.run.as_str();
            terminal::answer(&self.session.text(text::chat::asks(&id)));
            self.show(&open);
        }
        for line in self.session.questions_of_others().await {
            terminal::answer(&line);
        }
    }

    /// What stands before the next line, below the command that waits for a yes.
    fn prompt(&self) -> String {
        let Some(command) = &self.proposed else { return self.session.text(text::chat::you()) };
        terminal::answer(&self.session.confirmation(command));
        self.session.text(text::rule::prompt())
    }

    /// The next line, while reminders and the news of runs in the background are shown above it.
    async fn next_line(&mut self) -> Result<String, Exit> {
        let mut prompt = self.prompt();
        let mut leaving: Option<Instant> = None;
        let mut reminders = tokio::time::interval(reminding::LOOK);
        self.editor.ask(&prompt, std::mem::take(&mut self.unsent));
        loop {
            let typed = tokio::select! {
                typed = self.editor.next() => typed,
                Some(update) = self.session.watch.recv() => {
                    let gone = match self.session.asks_in(&update) {
                        true => self.session.gone_question().await,
                        false => None,
                    };
                    let news = self.session.news_in(&update).await;
                    gone.iter().chain(&news).for_each(|line| self.editor.print(line));
                    continue;
                }
                _ = reminders.tick() => {
                    for line in self.session.new_reminders().await {
                        self.editor.print(&line);
                        terminal::ring();
                    }
                    let gone = self.session.gone_question().await;
                    let ended = self.session.unheard().await;
                    gone.iter().chain(&ended).for_each(|line| self.editor.print(line));
                    continue;
                }
                exit = self.signals.next() => return Err(exit),
            };
            match typed {
                Typed::Line(line) => return Ok(line),
                Typed::End => return Err(Exit::Done),
                // A key that stops is a no.
                Typed::Interrupt { .. } | Typed::Escape if self.proposed.is_some() => {
                    self.proposed = None;
                    // The editor paints its line where it was, so this goes through it.
                    self.editor.print(&self.session.text(text::rule::dropped()));
                    prompt = self.prompt();
                }
                Typed::Interrupt { empty: true } => {
                    if leaving.is_some_and(|at| at.elapsed() < AGAIN) {
                        terminal::answer("");
                        return Err(Exit::Done);
                    }
                    leaving = Some(Instant::now());
                    let asks = self.session.seen.is_some();
                    let key = if asks { text::chat::question_stays() } else { text::exit::again() };
                    // The editor paints its line where it was, so this goes through it.
                    self.editor.print(&self.session.text(key));
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

    /// What a line does while a command waits for a yes; none if it goes its usual way.
    async fn confirms(&mut self, line: &str) -> Option<String> {
        let command = self.proposed.take()?;
        match self.session.verdict(&command, line).await {
            Verdict::Over(words) => Some(words),
            Verdict::Edit => {
                self.unsent = command;
                Some(String::new())
            }
            Verdict::Instead(command) => {
                self.proposed = Some(command);
                Some(String::new())
            }
            Verdict::Unclear(words) => {
                self.proposed = Some(command);
                Some(words)
            }
            Verdict::Another => {
                self.proposed = Some(command);
                None
            }
        }
    }
}

/// A line, and which one of the queue it was.
struct Line {
    text: String,
    queued: Option<String>,
}
