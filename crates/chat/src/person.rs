//! A chat with a person at a terminal.

use super::editor::Editor;
use super::{Chat, ChatAgain, TalkEnd, clipboard, opening, placing, screens, words};
use everloop_app::conversation::{ChatReply, Queue, QueueTurn, Reaction};
use everloop_app::router::OpenQuestion;
use everloop_app::slash;
use everloop_console::show::{approval, preview};
use everloop_console::{Console, Exit, Failure, Signals, screen, terminal};
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use everloop_types::RunId;
use std::collections::{BTreeMap, BTreeSet};

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
    /// A signal that came while a command ran or a question was open.
    pub(super) ended_by: Option<Exit>,
    pub(super) editor: Editor,
    /// Lines that wait for their turn.
    pub(super) queue: Queue,
    /// What was said when the program was started.
    first: Option<String>,
    /// The conversation that the person chose, as the line that leads to it.
    picked: Option<String>,
    /// What was said to the models of runs that work, by run.
    pub(super) steered: BTreeMap<RunId, Vec<String>>,
    /// A command that a sentence became; it waits for a yes.
    pub(super) proposed: Option<String>,
    /// What was typed and not sent; it stands in the next line.
    pub(super) unsent: String,
    /// The application after a set-up: the chat begins again with it.
    pub(super) set_up: Option<Console>,
    /// What Ctrl-O shows: the reasoning and the result that were folded last.
    pub(super) folded: Vec<StyledLine>,
    /// Runs whose recovery the person was told of.
    pub(super) announced: BTreeSet<RunId>,
    /// The question that can be answered: nobody was typing any more when it was on the screen.
    pub(super) ready_for: String,
}

pub(super) async fn talk(chat: Chat, first: Option<String>) -> Result<TalkEnd, Failure> {
    let signals = Signals::new(&chat.app)?;
    let editor = Editor::start(&chat.app, chat.conversation.choice().workspace())?;
    let queue = Queue::open(&chat.app, chat.conversation.id());
    let mut person = TerminalUi {
        chat,
        signals,
        ended_by: None,
        editor,
        queue,
        first,
        picked: None,
        steered: BTreeMap::new(),
        proposed: None,
        unsent: String::new(),
        set_up: None,
        folded: Vec::new(),
        announced: BTreeSet::new(),
        ready_for: String::new(),
    };
    let exit = person.talk().await;
    let waiting = person.queue.lines().count();
    if waiting > 0 && person.set_up.is_none() {
        person.chat.app.note(text::chat::queue_kept(&waiting));
    }
    let conversation = &person.chat.conversation;
    let again = person.set_up.take().map(|console| ChatAgain {
        console,
        store: conversation.store().clone(),
        request: conversation.request(),
    });
    person.chat.leave().await;
    match (exit?, again) {
        (_, Some(again)) => Ok(TalkEnd::SetUp(Box::new(again))),
        (exit, None) => Ok(TalkEnd::Left(exit)),
    }
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
            self.chat.show_missed_news().await;
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
                    terminal::print_error(&words);
                    self.remind_of_question();
                    continue;
                }
            };
            if let Some(exit) = self.react(reaction).await? {
                return Ok(exit);
            }
        }
    }

    fn show_reply(&mut self, reply: ChatReply) {
        // These ask themselves.
        let asks = matches!(
            reply,
            ChatReply::WhichScope(_) | ChatReply::HowToEdit(_) | ChatReply::UnclearPermission(_)
        );
        let is_taken_up = matches!(reply, ChatReply::ConversationOpened(..));
        self.chat.show_reply(reply);
        if is_taken_up {
            // The question of a conversation that was taken up is shown whole.
            let seen = self.chat.conversation.questions().seen();
            seen.iter().for_each(|open| self.show(open));
        } else if !asks {
            self.remind_of_question();
        }
    }

    /// Shows what a line led to; an exit if the person leaves.
    async fn react(&mut self, reaction: Reaction) -> Result<Option<Exit>, Failure> {
        match reaction {
            // An empty line says nothing; a question that waits is shown again.
            Reaction::Reply(ChatReply::Empty) => self.remind_of_question(),
            Reaction::Reply(reply) => self.show_reply(reply),
            Reaction::Confirm(command) => self.proposed = Some(command),
            Reaction::Background => {
                let asks = self.chat.conversation.awaits_answer();
                let words = if asks {
                    text::chat::question_waits()
                } else {
                    text::chat::nothing_in_front()
                };
                terminal::print_line(&self.chat.text(words));
            }
            Reaction::Clear => terminal::clear(),
            Reaction::Rewind(turns) => {
                if let Some(words) = self.chat.pick_turn(&turns).await {
                    self.say(&words);
                }
            }
            Reaction::Tour => {
                let _own = screen::suspend();
                screens::show_tour(&self.chat).await;
            }
            Reaction::Screen(screen) => {
                if self.show_screen(screen).await {
                    return Ok(Some(Exit::Done));
                }
            }
            Reaction::Copy(text) => self.say(&clipboard::copy(&self.chat.app, &text)),
            Reaction::RunCommand(command) => self.run_command(&command).await,
            Reaction::Approve(command, line) => {
                if self.approve_command(&command).await {
                    self.first = Some(line);
                }
            }
            Reaction::Quit => return Ok(Some(Exit::Done)),
            Reaction::Pick(rows, _) if rows.is_empty() => {
                self.say(&placing::conversations(&self.chat.app, &rows));
            }
            Reaction::Pick(rows, _) => {
                let picked = opening::pick(&self.chat.app, &rows).await;
                self.picked = picked.map(|id| format!("/resume {id}"));
            }
            Reaction::Follow(run, note) => {
                note.into_iter().for_each(|note| self.chat.show_note(note));
                return self.looked(&run).await;
            }
        }
        Ok(None)
    }

    /// The next line: one that was typed ahead, or one that is typed now.
    async fn line(&mut self) -> Result<ChatLine, Exit> {
        self.queue.move_to(self.chat.conversation.id());
        if let Some(text) = self.picked.take() {
            return Ok(ChatLine { text, queued: None });
        }
        let is_free = !self.chat.conversation.awaits_answer() && self.proposed.is_none();
        let turn = self.queue.turn(is_free);
        match (self.first.take_if(|_| is_free), turn) {
            (Some(text), _) => Ok(self.said(ChatLine { text, queued: None })),
            (None, QueueTurn::Send(ahead)) => {
                Ok(self.said(ChatLine { text: ahead.line, queued: Some(ahead.id) }))
            }
            (None, QueueTurn::Offer(ahead)) if self.unsent.is_empty() && self.editor.is_empty() => {
                self.unsent = ahead.line;
                Ok(ChatLine { text: self.next_line().await?, queued: Some(ahead.id) })
            }
            _ => Ok(ChatLine { text: self.next_line().await?, queued: None }),
        }
    }

    fn said(&self, line: ChatLine) -> ChatLine {
        terminal::print_line(&format!("{}{}", self.chat.text(text::chat::you()), line.text));
        line
    }

    /// Shows a reply. What the next line answers is no longer in view then.
    fn say(&self, words: &str) {
        terminal::print_line(words);
        self.remind_of_question();
    }

    pub(super) fn remind_of_question(&self) {
        let open = words::reminder_of_question(&self.chat.app, &self.chat.conversation);
        open.iter().for_each(|line| terminal::print_line(line));
    }

    /// What the line does. One from the queue stays there until it has done so, and a message that
    /// could not be sent stands in the input line again; then why, in words.
    async fn send(&mut self, line: ChatLine) -> Result<Reaction, String> {
        let dropped = line.queued.is_some() && line.text.trim().is_empty();
        let sent = match dropped {
            true => Err(self.chat.text(text::chat::queued_dropped())),
            false => match self.chat.send(&line.text, line.queued.as_deref()).await {
                Ok(reaction) => Ok(reaction),
                // A command that was wrong is told of, and can be had again with the arrow key.
                Err(failure) if failure.exit == Exit::Usage || slash::is_command(&line.text) => {
                    Err(failure.words)
                }
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
            terminal::print_line(&self.chat.text(text::error::system(&error)));
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
        let chat = &self.chat;
        let continues = placing::continues(&chat.app, &chat.conversation);
        let opening = placing::opening(&chat.app, &chat.conversation);
        continues.iter().chain(&opening).for_each(|line| terminal::print_line(line));
        let left = self.chat.conversation.take_leftovers();
        for line in words::leftovers(&self.chat.app, &left) {
            terminal::print_line(&line);
        }
        self.announced.extend(left.runs.iter().cloned());
        for line in self.queue.lines() {
            terminal::print_line(&self.chat.text(text::chat::queued_before(&line)));
        }
        // What the leftovers name goes on here already. A store that fails for a moment says less.
        let others = self.chat.conversation.left_conversations().await.unwrap_or_default();
        let others = others.iter().flat_map(|one| placing::left(&self.chat.app, one, &left));
        others.for_each(|line| terminal::print_line(&line));
        self.chat.show_new_reminders().await;
        let mode = self.chat.conversation.choice().approval_mode();
        if !mode.is_ask() {
            terminal::print_line(&approval::mode_line(&self.chat.app, mode));
        }
        let greeting = self.chat.conversation.greeting().await;
        let greeting = greeting.map_err(|error| self.chat.fail(error))?;
        let chat = &self.chat;
        let place = chat.place().words(chat.app.lang).join(" · ");
        terminal::print_styled(&StyledLine::new(Tone::Dim, &place));
        if greeting.unread > 0 {
            terminal::print_line(&chat.text(text::inbox::unread(&greeting.unread)));
        }
        match greeting.question {
            None => terminal::print_line(&chat.text(text::chat::hello())),
            Some((open, goal)) => {
                let asks = text::chat::still_asks(&open.run.short(), &preview(&goal));
                terminal::print_line(&chat.text(asks));
                self.show(&open);
            }
        }
        Ok(left.runs)
    }

    fn show(&self, open: &OpenQuestion) {
        words::question_lines(&self.chat.app, open).iter().for_each(terminal::print_styled);
        words::show_answers(&self.chat.app, open);
    }

    /// Shows the question that the next plain line answers, if the person has not seen it.
    pub(super) async fn show_question(&mut self) {
        if let Some(words) = self.chat.gone_question().await {
            terminal::print_line(&words);
        }
        // A store that fails for a moment is asked again before the next line.
        if let Ok(Some(open)) = self.chat.conversation.questions_mut().take_next().await {
            let id = open.run.short();
            terminal::print_line(&self.chat.text(text::chat::asks(&id)));
            self.show(&open);
        }
        for line in self.chat.questions_elsewhere().await {
            terminal::print_line(&line);
        }
    }

    /// Whether a line was about the command that waits for a yes.
    async fn confirms(&mut self, line: &str) -> bool {
        let Some(command) = self.proposed.take() else { return false };
        let effect = self.chat.confirm(command, line).await;
        effect.words.iter().for_each(|words| terminal::print_line(words));
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
