//! Looking at a run: its plan and its answer as they come, keys that stop it, lines typed ahead.

use super::keys::{ChatKey, KeyReader};
use super::live::LiveView;
use super::person::{TerminalUi, WatchEnd};
use super::words;
use crate::exit::Failure;
use crate::terminal;
use everloop_app::conversation::{Reaction, RunStop};
use everloop_app::following::FollowNews;
use everloop_app::reminding;
use everloop_app::runs::RunDetails;
use everloop_app::slash::{self, SlashKind};
use everloop_text as text;
use everloop_types::{RunId, Status};

impl TerminalUi {
    /// Looks at a run until it stands still, is sent to the background, or the person leaves.
    pub(super) async fn look_at(&mut self, run: &RunId) -> Result<WatchEnd, Failure> {
        let app = self.chat.app.clone();
        let mut following = self.chat.conversation.shown().follow(run).await;
        let mut live = LiveView::new(&app, following.past().clone());
        let mut keys = KeyReader::listen();
        let mut stops = 0_u32;
        let mut reminders = tokio::time::interval(reminding::LOOK);
        live.typed = std::mem::take(&mut self.unsent);
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
                key = keys.next() => {
                    let looked = match key {
                        // What is typed is cleared first, as on any line.
                        ChatKey::Stop if live.typed.is_empty() => {
                            stops += 1;
                            self.stop(run, stops, &mut live).await?
                        }
                        key => self.pressed(run, key, &mut live).await?,
                    };
                    if let Some(looked) = looked {
                        break Ok(looked);
                    }
                }
                exit = self.signals.next() => break Ok(WatchEnd::Signal(exit)),
                _ = reminders.tick() => self.remind(&mut live).await,
            }
        };
        following.rest().await.iter().for_each(|event| live.take(event));
        self.chat.conversation.shown().note(&following);
        // What was shown here is not news any more.
        while self.chat.conversation.watch().try_recv().is_ok() {}
        live.erase();
        drop(keys);
        self.unsent = std::mem::take(&mut live.typed);
        Ok(ended.unwrap_or_else(|still| {
            live.plan().iter().for_each(|line| terminal::answer(line));
            self.say_stop(run, still)
        }))
    }

    async fn remind(&self, live: &mut LiveView<'_>) {
        for line in self.chat.new_reminders().await {
            live.print(&line);
            terminal::ring();
        }
    }

    /// What was said too late for the answer is the next message.
    fn queue_unheeded(&mut self, details: &RunDetails) {
        let mut unheeded = std::mem::take(&mut self.told);
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
            terminal::answer(&self.unless_lost(kept, words));
        }
    }

    /// After a cancel nothing begins by itself: what was typed ahead waits in the input line.
    fn show_held(&self) {
        if !self.queue.held {
            return;
        }
        for line in self.queue.lines() {
            terminal::answer(&self.chat.text(text::chat::queued_held(&line)));
        }
    }

    /// The words, or why the line would not outlive the chat.
    fn unless_lost(&self, kept: std::io::Result<()>, words: String) -> String {
        match kept {
            Ok(()) => words,
            Err(error) => self.chat.text(text::error::system(&error)),
        }
    }

    fn keep_for_later(&mut self, line: &str, live: &mut LiveView<'_>) {
        let kept = self.queue.push(line);
        let words = self.chat.text(text::chat::queued(&line));
        live.print(&self.unless_lost(kept, words));
    }

    fn say_stop(&mut self, run: &RunId, stop: RunStop) -> WatchEnd {
        self.chat.conversation.note_stop(run, &stop);
        let app = &self.chat.app;
        match stop {
            RunStop::Continued { to, loop_name } => {
                terminal::answer(&words::continued(app, run, &to, &loop_name));
                return WatchEnd::Continued(to);
            }
            RunStop::Ended(details) => {
                if let Some(text) = words::last_words(app, &details) {
                    terminal::answer(&text);
                }
                for line in words::afterword(app, &details) {
                    terminal::answer(&line);
                }
                self.queue_unheeded(&details);
                self.show_held();
            }
            RunStop::Asks(open) => {
                terminal::ring();
                terminal::answer(&open.text);
                terminal::answer(&words::how_to_answer(app, &open));
            }
            RunStop::ModelUnavailable(trouble) => {
                terminal::answer(&words::model_unavailable(app, run, trouble.as_deref()));
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
                live.print(&self.chat.text(text::chat::not_waiting()));
                self.chat.conversation.run(run).hurry().await;
            }
            _ => return Ok(Some(WatchEnd::Leave)),
        }
        Ok(None)
    }

    async fn cancel(&mut self, run: &RunId, live: &mut LiveView<'_>) -> Result<(), Failure> {
        self.queue.held = true;
        live.print(&self.chat.text(text::chat::canceling()));
        let sent = self.chat.conversation.run(run).cancel("ctrl-c").await;
        sent.map_err(|error| self.chat.fail(error))
    }

    async fn pressed(
        &mut self,
        run: &RunId,
        key: ChatKey,
        live: &mut LiveView<'_>,
    ) -> Result<Option<WatchEnd>, Failure> {
        match key {
            ChatKey::Send => {
                let line = std::mem::take(&mut live.typed);
                return self.sent(run, line.trim(), live).await;
            }
            ChatKey::Text(text) => live.typed.push_str(&text),
            ChatKey::Erase => drop(live.typed.pop()),
            ChatKey::EraseAll | ChatKey::Stop => live.typed.clear(),
            ChatKey::Plan => live.toggle(),
            ChatKey::Redraw => {}
        }
        live.redraw();
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
            live.print(&self.chat.text(text::chat::steered(&word.trim())));
            self.told.push(word.trim().to_owned());
        } else if slash::is_command(line) {
            return Ok(self.commanded(run, line, live).await);
        } else {
            self.keep_for_later(line, live);
        }
        Ok(None)
    }

    async fn commanded(
        &mut self,
        run: &RunId,
        line: &str,
        live: &mut LiveView<'_>,
    ) -> Option<WatchEnd> {
        live.erase();
        if let Ok(slash) = slash::read(line) {
            if slash.is(SlashKind::Loop) && !slash.rest.is_empty() {
                let reply = self.chat.conversation.request_switch(run, &slash.rest).await;
                live.print(&self.chat.reply(reply));
                return None;
            }
            // These lead to another run: they wait until this one stops.
            if slash.is(SlashKind::Follow) {
                self.keep_for_later(line, live);
                return None;
            }
        }
        match self.chat.send(line, None).await {
            Ok(Reaction::Reply(reply)) => live.print(&self.chat.reply(reply)),
            Err(failure) => live.print(&failure.words),
            Ok(Reaction::Background) => {
                live.print(&self.chat.text(text::chat::in_background(&run)));
                return Some(WatchEnd::Background);
            }
            Ok(Reaction::Quit) => return Some(WatchEnd::Leave),
            Ok(Reaction::Clear) => live.redraw(),
            Ok(Reaction::Follow(..) | Reaction::Confirm(_) | Reaction::Tour) => {
                self.keep_for_later(line, live);
            }
        }
        None
    }
}
