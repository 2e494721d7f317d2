//! A chat with a person at a terminal.

use super::editor::{Editor, EditorInput};
use super::{Chat, words};
use crate::commands::tour;
use crate::exit::{Exit, Failure};
use crate::show::preview;
use crate::signals::Signals;
use crate::terminal;
use everloop_app::conversation::{Queue, QueueTurn, Reaction};
use everloop_app::reminding;
use everloop_app::router::OpenQuestion;
use everloop_text as text;
use everloop_types::RunId;
use std::time::{Duration, Instant};

/// A second Ctrl-C within this time leaves.
const AGAIN: Duration = Duration::from_secs(2);

/// How looking at a run ended.
pub(super) enum WatchEnd {
    Stopped,
    /// It is over, and this one goes on in its place.
    Continued(RunId),
    Background,
    Leave,
    Signal(Exit),
}

/// A person, and what they have typed ahead.
pub(super) struct TerminalUi {
    pub(super) chat: Chat,
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

pub(super) async fn talk(chat: Chat, first: Option<String>) -> Result<Exit, Failure> {
    let _kept = terminal::KeysKept::begin();
    let signals = Signals::new(&chat.app)?;
    let editor = Editor::start(&chat.app)?;
    let queue = Queue::open(&chat.app);
    let (told, proposed, unsent) = (Vec::new(), None, String::new());
    let mut person = TerminalUi { chat, signals, editor, queue, first, told, proposed, unsent };
    let exit = person.talk().await;
    let waiting = person.queue.lines().count();
    if waiting > 0 {
        person.chat.app.note(text::chat::queue_kept(&waiting));
    }
    person.chat.leave().await;
    exit
}

impl TerminalUi {
    async fn talk(&mut self) -> Result<Exit, Failure> {
        // One that was taken up may be over by now; its answer is shown all the same.
        let mut runs = self.greet().await?;
        if runs.is_empty() {
            let working = self.chat.conversation.working_run().await;
            runs.extend(working.map_err(|error| self.chat.fail(error))?);
        }
        for run in runs {
            if let Some(exit) = self.looked(&run).await? {
                return Ok(exit);
            }
        }
        loop {
            for line in self.chat.missed_news().await {
                terminal::answer(&line);
            }
            self.show_question().await;
            let line = match self.line().await {
                Ok(line) => line,
                Err(exit) => return Ok(exit),
            };
            if self.confirms(&line.text).await {
                continue;
            }
            let reaction = match self.send(line).await {
                Ok(reaction) => reaction,
                Err(words) => {
                    self.say(&words);
                    continue;
                }
            };
            match reaction {
                Reaction::Reply(reply) => self.say(&self.chat.reply(reply)),
                Reaction::Confirm(command) => self.proposed = Some(command),
                Reaction::Background => {
                    terminal::answer(&self.chat.text(text::chat::nothing_in_front()));
                }
                Reaction::Clear => terminal::clear(),
                Reaction::Tour => {
                    if let Err(failure) = tour::tour(&self.chat.app).await {
                        terminal::answer(&failure.words);
                    }
                }
                Reaction::Quit => return Ok(Exit::Done),
                Reaction::Follow(run, note) => {
                    note.into_iter().for_each(|note| self.chat.show_note(note));
                    if let Some(exit) = self.looked(&run).await? {
                        return Ok(exit);
                    }
                }
            }
        }
    }

    /// The next line: one that was typed ahead, or one that is typed now.
    async fn line(&mut self) -> Result<ChatLine, Exit> {
        let is_free = !self.chat.conversation.awaits_answer() && self.proposed.is_none();
        let turn = self.queue.turn(is_free);
        match (self.first.take_if(|_| is_free), turn) {
            (Some(text), _) => Ok(self.said(ChatLine { text, queued: None })),
            (None, QueueTurn::Send(ahead)) => {
                Ok(self.said(ChatLine { text: ahead.line, queued: Some(ahead.id) }))
            }
            (None, QueueTurn::Offer(ahead)) if self.unsent.is_empty() => {
                self.unsent = ahead.line;
                Ok(ChatLine { text: self.next_line().await?, queued: Some(ahead.id) })
            }
            _ => Ok(ChatLine { text: self.next_line().await?, queued: None }),
        }
    }

    fn said(&self, line: ChatLine) -> ChatLine {
        terminal::answer(&format!("{}{}", self.chat.text(text::chat::you()), line.text));
        line
    }

    /// Shows a reply. What the next line answers is no longer in view then.
    fn say(&self, words: &str) {
        terminal::answer(words);
        let open = words::reminder_of_question(&self.chat.app, &self.chat.conversation);
        open.iter().for_each(|line| terminal::answer(line));
    }

    /// What the line does. One from the queue stays there until it has done so, and one that could
    /// not be carried out stands in the input line again; then why, in words.
    async fn send(&mut self, line: ChatLine) -> Result<Reaction, String> {
        let dropped = line.queued.is_some() && line.text.trim().is_empty();
        let sent = match dropped {
            true => Err(self.chat.text(text::chat::queued_dropped())),
            false => match self.chat.send(&line.text, line.queued.as_deref()).await {
                Ok(reaction) => Ok(reaction),
                Err(failure) => {
                    self.queue.held = true;
                    self.unsent = line.text;
                    return Err(failure.words);
                }
            },
        };
        if let Some(id) = line.queued
            && let Err(error) = self.queue.gone(&id)
        {
            terminal::answer(&self.chat.text(text::error::system(&error)));
        }
        sent
    }

    /// Looks at a run; an exit if the person leaves.
    async fn looked(&mut self, run: &RunId) -> Result<Option<Exit>, Failure> {
        let mut run = run.clone();
        loop {
            return Ok(match self.look_at(&run).await? {
                WatchEnd::Continued(to) => {
                    run = to;
                    continue;
                }
                WatchEnd::Stopped | WatchEnd::Background => None,
                WatchEnd::Leave => Some(Exit::Done),
                WatchEnd::Signal(exit) => Some(exit),
            });
        }
    }

    /// What is new since the last time: what was recovered, what fired, what waits. Gives back the
    /// runs that were taken up.
    async fn greet(&mut self) -> Result<Vec<RunId>, Failure> {
        let left = self.chat.conversation.take_leftovers();
        for line in words::leftovers(&self.chat.app, &left) {
            terminal::answer(&line);
        }
        for line in self.queue.lines() {
            terminal::answer(&self.chat.text(text::chat::queued_before(&line)));
        }
        for line in self.chat.new_reminders().await {
            terminal::answer(&line);
        }
        let greeting = self.chat.conversation.greeting().await;
        let greeting = greeting.map_err(|error| self.chat.fail(error))?;
        let chat = &self.chat;
        if greeting.unread > 0 {
            terminal::answer(&chat.text(text::inbox::unread(&greeting.unread)));
        }
        if greeting.waiting_elsewhere > 0 {
            terminal::answer(&chat.text(text::chat::some_wait(&greeting.waiting_elsewhere)));
        }
        match greeting.question {
            None => terminal::answer(&chat.text(text::chat::hello())),
            Some((open, goal)) => {
                let asks = text::chat::still_asks(&open.run.as_str(), &preview(&goal));
                terminal::answer(&chat.text(asks));
                self.show(&open);
            }
        }
        Ok(left.runs)
    }

    fn show(&self, open: &OpenQuestion) {
        terminal::answer(&open.text);
        terminal::answer(&words::how_to_answer(&self.chat.app, open));
    }

    /// Shows the question that the next plain line answers, if the person has not seen it.
    async fn show_question(&mut self) {
        if let Some(words) = self.chat.gone_question().await {
            terminal::answer(&words);
        }
        // A store that fails for a moment is asked again before the next line.
        if let Ok(Some(open)) = self.chat.conversation.questions_mut().take_next().await {
            let id = open.run.as_str();
            terminal::answer(&self.chat.text(text::chat::asks(&id)));
            self.show(&open);
        }
        for line in self.chat.questions_elsewhere().await {
            terminal::answer(&line);
        }
    }

    /// What stands before the next line, below the command that waits for a yes.
    fn prompt(&self) -> String {
        let Some(command) = &self.proposed else { return self.chat.text(text::chat::you()) };
        terminal::answer(&words::confirmation(&self.chat.app, command));
        self.chat.text(text::rule::prompt())
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
                Some(update) = self.chat.conversation.watch().recv() => {
                    let gone = match self.chat.conversation.questions().asks_in(&update) {
                        true => self.chat.gone_question().await,
                        false => None,
                    };
                    let news = self.chat.news_in(&update).await;
                    gone.iter().chain(&news).for_each(|line| self.editor.print(line));
                    continue;
                }
                _ = reminders.tick() => {
                    for line in self.chat.new_reminders().await {
                        self.editor.print(&line);
                        terminal::ring();
                    }
                    let gone = self.chat.gone_question().await;
                    let ended = self.chat.missed_news().await;
                    gone.iter().chain(&ended).for_each(|line| self.editor.print(line));
                    continue;
                }
                exit = self.signals.next() => return Err(exit),
            };
            match typed {
                EditorInput::Line(line) => return Ok(line),
                EditorInput::End => return Err(Exit::Done),
                // A key that stops is a no.
                EditorInput::Interrupt { .. } | EditorInput::Escape if self.proposed.is_some() => {
                    self.proposed = None;
                    // The editor paints its line where it was, so this goes through it.
                    self.editor.print(&self.chat.text(text::rule::dropped()));
                    prompt = self.prompt();
                }
                EditorInput::Interrupt { empty: true } => {
                    if leaving.is_some_and(|at| at.elapsed() < AGAIN) {
                        terminal::answer("");
                        return Err(Exit::Done);
                    }
                    leaving = Some(Instant::now());
                    let asks = self.chat.conversation.questions().seen().is_some();
                    let key = if asks { text::chat::question_stays() } else { text::exit::again() };
                    // The editor paints its line where it was, so this goes through it.
                    self.editor.print(&self.chat.text(key));
                }
                EditorInput::Plan => {
                    if let Ok(Reaction::Reply(reply)) = self.chat.send("/plan", None).await {
                        self.editor.print(&self.chat.reply(reply));
                    }
                }
                EditorInput::Interrupt { empty: false } | EditorInput::Escape => {}
            }
            self.editor.ask(&prompt, String::new());
        }
    }

    /// Whether a line was about the command that waits for a yes.
    async fn confirms(&mut self, line: &str) -> bool {
        let Some(command) = self.proposed.take() else { return false };
        let effect = self.chat.confirm(command, line).await;
        effect.words.iter().for_each(|words| terminal::answer(words));
        self.unsent = effect.edit.unwrap_or_else(|| std::mem::take(&mut self.unsent));
        self.proposed = effect.proposed;
        !effect.goes_on
    }
}

/// A line, and which one of the queue it was.
struct ChatLine {
    text: String,
    queued: Option<String>,
}
