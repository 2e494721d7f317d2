//! Looking at a run: its plan and its answer as they come, keys that stop it, lines typed ahead.

use super::follow::Still;
use super::keys::{Key, Keys};
use super::live::Live;
use super::person::{Looked, Person};
use super::session::Heard;
use crate::exit::Failure;
use crate::reminding;
use crate::show::{Followed, Following, Shown};
use crate::terminal;
use crate::trouble::Trouble;
use everloop_agenda::commands::Command;
use everloop_types::journal::InboxMessage;
use everloop_types::{RunId, Status};

impl Person {
    /// Looks at a run until it stands still, is sent to the background, or the person leaves.
    pub(super) async fn look_at(&mut self, run: &RunId) -> Result<Looked, Failure> {
        let app = self.session.app.clone();
        let mut following = Following::begin(&self.session.engine, run).await;
        let mut live = Live::new(&app, following.past().clone());
        let mut keys = Keys::listen();
        let mut stops = 0_u32;
        let mut reminders = tokio::time::interval(reminding::LOOK);
        live.typed = std::mem::take(&mut self.unsent);
        live.redraw();
        let ended = loop {
            tokio::select! {
                followed = following.next() => match followed {
                    Followed::Event(event) => live.take(&event),
                    Followed::MayHaveStopped => match self.session.still(run).await {
                        Ok(Some(still)) => break Err(still),
                        Ok(None) => {}
                        Err(_) => following.check_soon(),
                    },
                },
                () = live.redraw_when_due() => {}
                key = keys.next() => {
                    let looked = match key {
                        // What is typed is cleared first, as on any line.
                        Key::Stop if live.typed.is_empty() => {
                            stops += 1;
                            self.stop(run, stops, &mut live).await?
                        }
                        key => self.pressed(run, key, &mut live).await?,
                    };
                    if let Some(looked) = looked {
                        break Ok(looked);
                    }
                }
                exit = self.signals.next() => break Ok(Looked::Signal(exit)),
                _ = reminders.tick() => self.remind(&mut live).await,
            }
        };
        following.rest().await.iter().for_each(|event| live.take(event));
        // What was shown here is no news any more.
        while self.session.watch.try_recv().is_ok() {}
        live.erase();
        drop(keys);
        self.unsent = std::mem::take(&mut live.typed);
        Ok(ended.unwrap_or_else(|still| {
            live.plan().iter().for_each(|line| terminal::answer(line));
            self.say_still(run, still)
        }))
    }

    async fn remind(&self, live: &mut Live<'_>) {
        for line in self.session.new_reminders().await {
            live.print(&line);
            terminal::ring();
        }
    }

    /// What was said too late for the answer is the next message.
    fn queue_unheeded(&mut self, shown: &Shown) {
        let mut unheeded = std::mem::take(&mut self.told);
        if shown.row.status == Status::Canceled {
            return;
        }
        for heeded in shown.heeded() {
            if let Some(place) = unheeded.iter().position(|word| word == heeded) {
                unheeded.remove(place);
            }
        }
        for word in unheeded.into_iter().rev() {
            let kept = self.queue.push_first(&word);
            let words = self.session.text("chat.said_too_late", &[("word", &word)]);
            terminal::answer(&self.unless_lost(kept, words));
        }
    }

    /// After a cancel nothing begins by itself: what was typed ahead waits in the input line.
    fn show_held(&self) {
        if !self.queue.held {
            return;
        }
        for line in self.queue.lines() {
            terminal::answer(&self.session.text("chat.queued_held", &[("line", line)]));
        }
    }

    /// The words, or why the line would not outlive the chat.
    fn unless_lost(&self, kept: std::io::Result<()>, words: String) -> String {
        match kept {
            Ok(()) => words,
            Err(error) => self.session.text("error.system", &[("detail", &error.to_string())]),
        }
    }

    fn keep_for_later(&mut self, line: &str, live: &mut Live<'_>) {
        let kept = self.queue.push(line);
        let words = self.session.text("chat.queued", &[("line", line)]);
        live.print(&self.unless_lost(kept, words));
    }

    fn say_still(&mut self, run: &RunId, still: Still) -> Looked {
        let session = &mut self.session;
        match still {
            Still::GoesOn(words, to) => {
                terminal::answer(&words);
                session.terminals_mut().forget(run);
                session.terminals_mut().take(&to);
                return Looked::GoesOn(to);
            }
            Still::Over(shown) => {
                session.terminals_mut().forget(run);
                if let Some(text) = shown.said(Trouble::of_run(&session.app, &shown).as_ref()) {
                    terminal::answer(&text);
                }
                for line in session.afterword(&shown) {
                    terminal::answer(&line);
                }
                self.queue_unheeded(&shown);
                self.show_held();
            }
            Still::Asks(open) => {
                terminal::ring();
                terminal::answer(&open.text);
                terminal::answer(&session.how_to_answer(&open));
                session.seen = Some(open);
            }
            Still::NoModel(trouble) => {
                let args = [("trouble", trouble.as_str()), ("id", run.as_str())];
                terminal::answer(&session.text("chat.model_down", &args));
            }
        }
        Looked::Still
    }

    /// Ctrl-C: the first cancels, the second does not wait for a tool's grace, the third leaves.
    async fn stop(
        &mut self,
        run: &RunId,
        stops: u32,
        live: &mut Live<'_>,
    ) -> Result<Option<Looked>, Failure> {
        match stops {
            1 => self.cancel(run, live).await?,
            2 => {
                let session = &self.session;
                live.print(&session.text("chat.not_waiting", &[]));
                session.engine.hurry(run);
                let below = session.store().descendants(run).await.unwrap_or_default();
                below.iter().for_each(|run| session.engine.hurry(run));
            }
            _ => return Ok(Some(Looked::Leave)),
        }
        Ok(None)
    }

    async fn cancel(&mut self, run: &RunId, live: &mut Live<'_>) -> Result<(), Failure> {
        self.queue.held = true;
        live.print(&self.session.text("chat.canceling", &[]));
        let sent = self.session.engine.cancel(run, "ctrl-c").await;
        sent.map(drop).map_err(|error| self.session.fail(&error))
    }

    async fn pressed(
        &mut self,
        run: &RunId,
        key: Key,
        live: &mut Live<'_>,
    ) -> Result<Option<Looked>, Failure> {
        match key {
            Key::Send => {
                let line = std::mem::take(&mut live.typed);
                return self.sent(run, line.trim(), live).await;
            }
            Key::Text(text) => live.typed.push_str(&text),
            Key::Erase => drop(live.typed.pop()),
            Key::EraseAll | Key::Stop => live.typed.clear(),
            Key::Plan => live.toggle(),
            Key::Redraw => {}
        }
        live.redraw();
        Ok(None)
    }

    /// A line that was sent meanwhile: to the model, a command, or for later.
    async fn sent(
        &mut self,
        run: &RunId,
        line: &str,
        live: &mut Live<'_>,
    ) -> Result<Option<Looked>, Failure> {
        let session = &mut self.session;
        if line.is_empty() {
            live.redraw();
        } else if session.door.is_cancel(line) {
            self.cancel(run, live).await?;
        } else if let Some(word) = line.strip_prefix(['!', '\u{ff01}']) {
            let dedupe = everloop_engine::fresh_id("steer_", session.engine.clock().now());
            let letter = InboxMessage::Steer { text: word.trim().to_owned() };
            let sent = session.engine.send(run, &dedupe, &letter).await;
            sent.map_err(|error| session.fail(&error))?;
            live.print(&session.text("chat.steered", &[("word", word.trim())]));
            self.told.push(word.trim().to_owned());
        } else if everloop_agenda::commands::is_command(line) {
            return Ok(self.commanded(run, line, live).await);
        } else {
            self.keep_for_later(line, live);
        }
        Ok(None)
    }

    async fn commanded(&mut self, run: &RunId, line: &str, live: &mut Live<'_>) -> Option<Looked> {
        live.erase();
        if let Some(name) = wanted_loop(line, &self.session.reader().now) {
            let wished = self.session.wish(run, &name).await;
            let words = wished.map(|said| said.unwrap_or_else(|why| why));
            live.print(&words.unwrap_or_else(|failure| failure.words));
            return None;
        }
        let heard = match everloop_agenda::commands::follows(line) {
            // These lead to another run: they wait until this one stands still.
            true => None,
            false => Some(self.session.heard(line).await),
        };
        match heard {
            Some(Heard::Said(words)) => live.print(&words),
            Some(Heard::Background) => {
                live.print(&self.session.text("chat.in_background", &[("id", run.as_str())]));
                return Some(Looked::Background);
            }
            Some(Heard::Quit) => return Some(Looked::Leave),
            Some(Heard::Clear) => live.redraw(),
            Some(Heard::Follow(_) | Heard::Confirm(_) | Heard::Tour) | None => {
                self.keep_for_later(line, live);
            }
        }
        None
    }
}

/// The loop that `/loop NAME` names.
fn wanted_loop(line: &str, now: &jiff::Zoned) -> Option<String> {
    match everloop_agenda::commands::parse(line, now) {
        Ok(Command::Talk(verb, name)) if verb.name == "loop" && !name.is_empty() => Some(name),
        _ => None,
    }
}
