//! Looking at a run: its plan and its answer as they come, keys that stop it, lines typed ahead.

use super::editor::EditorInput;
use super::live::LiveView;
use super::person::{TerminalUi, WatchEnd};
use super::{clipboard, words};
use everloop_app::conversation::{ChatReply, Queue, Reaction, RunStop};
use everloop_app::following::FollowNews;
use everloop_app::reminding;
use everloop_app::runs::RunDetails;
use everloop_app::slash::{self, SlashKind};
use everloop_console::{Console, Failure, notices, terminal};
use everloop_markdown::StyledLine;
use everloop_text as text;
use everloop_types::{RunId, Status};

/// What stands before the input while a run works.
const BUSY_PROMPT: &str = "› ";

/// Whether a key asks the run to stop.
fn asks_to_stop(input: &EditorInput) -> bool {
    matches!(
        input,
        EditorInput::Interrupt { empty: true } | EditorInput::Escape | EditorInput::Rewind
    )
}

/// The words, or why the line would not outlive the chat.
fn unless_lost(app: &Console, kept: std::io::Result<()>, words: String) -> String {
    match kept {
        Ok(()) => words,
        Err(error) => app.text(text::error::system(&error)),
    }
}

/// Keeps a line until nothing works any more, and says so.
pub(super) fn keep_for_later(app: &Console, queue: &mut Queue, line: &str) {
    let kept = queue.push(line);
    let words = app.text(text::chat::queued(&line));
    terminal::print_line(&unless_lost(app, kept, words));
}

impl TerminalUi {
    /// Looks at a run until it stands still, is sent to the background, or the person leaves.
    pub(super) async fn look_at(&mut self, run: &RunId) -> Result<WatchEnd, Failure> {
        let app = self.chat.app.clone();
        let mut following = self.chat.conversation.shown().follow(run).await;
        let place = self.chat.place_of(run).await;
        let mut live = LiveView::new(&app, following.past().clone(), place);
        if self.announced.remove(run) {
            live.skip_recovery();
        }
        let mut stops = 0_u32;
        let mut reminders = tokio::time::interval(reminding::LOOK);
        self.show_busy_input();
        live.redraw();
        let ended = loop {
            tokio::select! {
                followed = following.next() => match followed {
                    FollowNews::Event(event) => live.take(&event),
                    FollowNews::MayHaveStopped => {
                        match self.chat.conversation.run(run).stop().await {
                            Ok(Some(stop)) => break Err(stop),
                            Ok(None) => {}
                            Err(_) => following.check_soon(),
                        }
                    }
                },
                () = live.redraw_when_due() => {}
                input = self.editor.next() => {
                    let looked = if asks_to_stop(&input) {
                        stops += 1;
                        self.stop(run, stops, &mut live).await?
                    } else {
                        self.pressed(run, input, &mut live).await?
                    };
                    if let Some(looked) = looked {
                        break Ok(looked);
                    }
                }
                exit = self.signals.next() => break Ok(WatchEnd::Signal(exit)),
                _ = reminders.tick() => self.chat.show_new_reminders().await,
            }
        };
        following.rest().await.iter().for_each(|event| live.take(event));
        self.chat.conversation.shown().note(&following);
        // What was shown here is not news any more.
        while self.chat.conversation.watch().try_recv().is_ok() {}
        live.erase();
        self.editor.hide();
        self.folded = live.folded();
        match ended {
            Ok(end) => Ok(end),
            Err(still) => {
                live.plan().iter().for_each(terminal::print_styled);
                Ok(self.say_stop(run, still, |text| live.unshown(text)).await)
            }
        }
    }

    /// What was said too late for the answer is the next message.
    fn queue_unheeded(&mut self, details: &RunDetails) {
        let mut unheeded = self.steered.remove(&details.row.run).unwrap_or_default();
        if details.row.status == Status::Canceled {
            return;
        }
        for heeded in details.heeded() {
            if let Some(place) = unheeded.iter().position(|word| word == heeded) {
                unheeded.remove(place);
            }
        }
        for word in unheeded.into_iter().rev() {
            let kept = self.queue.push_first(&word);
            let words = self.chat.text(text::chat::said_too_late(&word));
            terminal::print_line(&unless_lost(&self.chat.app, kept, words));
        }
    }

    /// After a cancel nothing begins by itself: what was typed ahead waits in the input line.
    fn show_held(&self) {
        if !self.queue.held {
            return;
        }
        for line in self.queue.lines() {
            terminal::print_line(&self.chat.text(text::chat::queued_held(&line)));
        }
    }

    fn keep_for_later(&mut self, line: &str) {
        keep_for_later(&self.chat.app, &mut self.queue, line);
    }

    async fn say_stop(
        &mut self,
        run: &RunId,
        stop: RunStop,
        unshown: impl Fn(&str) -> Option<String>,
    ) -> WatchEnd {
        self.chat.conversation.note_stop(run, &stop).await;
        let app = &self.chat.app;
        match stop {
            RunStop::Continued { to, loop_name } => {
                terminal::print_line(&words::continued(app, run, &to, &loop_name));
                // Words that the run did not take are for the one that takes over.
                if let Some(words) = self.steered.remove(run) {
                    self.steered.insert(to.clone(), words);
                }
                return WatchEnd::Continued(to);
            }
            RunStop::Ended(details) => {
                let last = words::last_words(app, &details);
                if let Some(text) = last.and_then(|text| unshown(&text)) {
                    terminal::print_markdown(&text);
                }
                words::afterword(app, &details).iter().for_each(terminal::print_styled);
                self.queue_unheeded(&details);
                self.show_held();
            }
            RunStop::Asks(open) => {
                let lines = words::question_lines(app, &open);
                notices::call(
                    app,
                    &lines.first().map(StyledLine::plain).into_iter().collect::<Vec<_>>(),
                );
                lines.iter().for_each(terminal::print_styled);
                words::show_answers(app, &open);
            }
            RunStop::ModelUnavailable(trouble) => {
                terminal::print_line(&words::model_unavailable(app, run, trouble.as_deref()));
            }
        }
        WatchEnd::Stopped
    }

    /// Ctrl-C: the first cancels, the second does not wait for a tool's grace, the third leaves.
    async fn stop(
        &mut self,
        run: &RunId,
        stops: u32,
        live: &mut LiveView<'_>,
    ) -> Result<Option<WatchEnd>, Failure> {
        match stops {
            1 => self.cancel(run, live).await?,
            2 => {
                live.stopping(self.chat.text(text::chat::not_waiting()));
                self.chat.conversation.run(run).hurry().await;
            }
            _ => return Ok(Some(WatchEnd::Leave)),
        }
        Ok(None)
    }

    async fn cancel(&mut self, run: &RunId, live: &mut LiveView<'_>) -> Result<(), Failure> {
        self.queue.held = true;
        live.stopping(self.chat.text(text::chat::canceling()));
        let sent = self.chat.conversation.run(run).cancel("ctrl-c").await;
        sent.map_err(|error| self.chat.fail(error))
    }

    /// The input while a run works. What was typed before stays in it.
    pub(super) fn show_busy_input(&mut self) {
        let unsent = std::mem::take(&mut self.unsent);
        self.editor.ask(&self.chat.app, BUSY_PROMPT, &unsent, &[]);
    }

    async fn pressed(
        &mut self,
        run: &RunId,
        input: EditorInput,
        live: &mut LiveView<'_>,
    ) -> Result<Option<WatchEnd>, Failure> {
        match input {
            EditorInput::Line(line) => return self.sent(run, line.trim(), live).await,
            EditorInput::Plan => live.toggle(),
            EditorInput::Unfold => live.unfold(),
            EditorInput::Redraw => live.redraw(),
            EditorInput::Gone => return Ok(Some(WatchEnd::Leave)),
            // A line that was cleared, and Ctrl-D, which leaves only where nothing works.
            EditorInput::Interrupt { .. }
            | EditorInput::End
            | EditorInput::Escape
            | EditorInput::Rewind
            | EditorInput::Instant(..) => {}
        }
        Ok(None)
    }

    /// A line that was sent meanwhile: to the model, a command, or for later.
    async fn sent(
        &mut self,
        run: &RunId,
        line: &str,
        live: &mut LiveView<'_>,
    ) -> Result<Option<WatchEnd>, Failure> {
        if line.is_empty() {
            live.redraw();
        } else if self.chat.conversation.router().is_cancel(line) {
            self.cancel(run, live).await?;
        } else if let Some(word) = line.strip_prefix(['!', '\u{ff01}']) {
            let sent = self.chat.conversation.run(run).steer(word.trim()).await;
            sent.map_err(|error| self.chat.fail(error))?;
            terminal::print_line(&self.chat.text(text::chat::steered(&word.trim())));
            self.steered.entry(run.clone()).or_default().push(word.trim().to_owned());
        } else if slash::is_command(line) {
            return Ok(self.commanded(run, line, live).await);
        } else {
            self.keep_for_later(line);
        }
        Ok(None)
    }

    async fn commanded(
        &mut self,
        run: &RunId,
        line: &str,
        live: &mut LiveView<'_>,
    ) -> Option<WatchEnd> {
        if self.chat.conversation.commands().has_custom(line) {
            self.keep_for_later(line);
            return None;
        }
        if let Ok(slash) = slash::read(line) {
            if slash.is(SlashKind::Loop) && !slash.rest.is_empty() {
                let reply = self.chat.conversation.request_switch(run, &slash.rest).await;
                terminal::print_line(&self.chat.reply(reply));
                return None;
            }
            // These lead to another run: they wait until this one stops.
            if slash.is(SlashKind::Follow) {
                self.keep_for_later(line);
                return None;
            }
        }
        match self.chat.send(line, None).await {
            Ok(Reaction::Reply(reply)) => {
                let is_mode = matches!(reply, ChatReply::ApprovalModeChosen(_));
                self.chat.show_reply(reply);
                if is_mode {
                    let mode = live.approval_mode().name();
                    terminal::print_line(&self.chat.text(text::approval::mode::run_keeps(&mode)));
                }
            }
            Err(failure) => terminal::print_error(&failure.words),
            Ok(Reaction::Background) => {
                terminal::print_line(&self.chat.text(text::chat::in_background(&run.short())));
                return Some(WatchEnd::Background);
            }
            Ok(Reaction::Quit) => return Some(WatchEnd::Leave),
            Ok(Reaction::Clear) => terminal::clear(),
            Ok(Reaction::Copy(text)) => {
                terminal::print_line(&clipboard::copy(&self.chat.app, &text))
            }
            Ok(
                Reaction::Follow(..)
                | Reaction::Confirm(_)
                | Reaction::Rewind(_)
                | Reaction::Tour
                | Reaction::Screen(_)
                | Reaction::RunCommand(_)
                | Reaction::Approve(..)
                | Reaction::Pick(..),
            ) => self.keep_for_later(line),
        }
        None
    }
}
