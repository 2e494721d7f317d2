//! The commands about the conversation, its runs and the program itself.

use super::earlier::ANEW;
use super::{Conversation, InboxChange, Reaction, Reply};
use crate::briefing;
use crate::context::images::IMAGES_MAX;
use crate::error::{AppError, ChoiceError};
use crate::exchange;
use crate::forks;
use crate::frames;
use crate::runs::RunDetails;
use everloop_agenda::commands::{Verb, find};
use everloop_agenda::portable::What;
use everloop_store::{ConversationMessage, RunFilter, RunRow};
use everloop_text as text;
use everloop_types::{Lang, RunId, Status};
use std::path::{Path, PathBuf};

/// Characters that are enough to mean a run among words.
const ID_CHARS_MIN: usize = 6;

/// Runs, messages and reminders that are listed at once.
const RUNS_LISTED: usize = 20;
const SAID_LISTED: usize = 20;
const UNREAD_LISTED: usize = 100;

/// Messages that `/export chat` writes.
const SAID_EXPORTED: &str = "1000";

/// Runs among which the one to go back to is looked for.
const RESUMABLE: usize = 200;

impl Conversation {
    /// Carries out a command that is about this conversation.
    pub(super) async fn command(
        &mut self,
        verb: &'static Verb,
        rest: &str,
    ) -> Result<Reaction, AppError> {
        Ok(Reaction::Reply(match verb.name {
            "help" => help(rest),
            "inbox" => self.inbox(rest).await?,
            "plan" => self.plan().await?,
            "runs" => self.runs().await?,
            "history" => Reply::History(self.history(rest).await?),
            "loop" if !rest.is_empty() && self.seen.is_some() => return self.switch(rest).await,
            "loop" => self.choose_loop(rest)?,
            "model" => self.choose_model(rest)?,
            "persona" => self.choose_persona(rest)?,
            "image" => self.attach(verb, rest)?,
            "lang" => self.choose_language(verb, rest),
            "new" => self.begin_anew().await?,
            "export" => self.export(verb, rest).await?,
            "import" => self.import(verb, rest).await?,
            "settle" => return self.settle(rest).await,
            "resume" => return self.resume(rest).await,
            "fork" => return self.fork(rest).await,
            "bg" if rest.is_empty() => return Ok(Reaction::Background),
            "bg" => self.begin_in_background(rest).await?,
            "tour" => return Ok(Reaction::Tour),
            "clear" => return Ok(Reaction::Clear),
            "quit" => return Ok(Reaction::Quit),
            _ => Reply::NotHere,
        }))
    }

    async fn inbox(&self, rest: &str) -> Result<Reply, AppError> {
        let unread = self.store().agenda().unread_firings(UNREAD_LISTED).await?;
        if rest != "read" || unread.is_empty() {
            return Ok(Reply::Inbox(unread, InboxChange::Kept));
        }
        self.store().agenda().read_firings(&unread, self.engine.clock().now()).await?;
        Ok(Reply::Inbox(unread, InboxChange::MarkedRead))
    }

    /// The run to go back to: one that is under way and that no other terminal has, else the last.
    async fn run_to_resume(&self) -> Result<Option<RunId>, AppError> {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: RESUMABLE };
        let rows = self.store().runs().list(&filter).await?;
        let others = self.terminals.of_others();
        let tops = || rows.iter().filter(|row| row.origin.parent.is_none());
        let is_over = |row: &RunRow| row.status.is_final() || row.status == Status::Quarantined;
        let is_open = |row: &&RunRow| !is_over(row) && !others.contains(&row.run);
        Ok(tops().find(is_open).or_else(|| tops().next()).map(|row| row.run.clone()))
    }

    /// The run that an id means, or the newest of this conversation.
    async fn named_run(&self, id: &str) -> Result<Option<RunId>, AppError> {
        if !id.is_empty() {
            return self.app.find_run(self.store(), id).await.map(Some);
        }
        let open = self.router.open_runs(self.store()).await?;
        let open = open.into_iter().map(|(run, _)| run).find(|run| self.terminals.has(run));
        if open.is_some() {
            return Ok(open);
        }
        Ok(self
            .store()
            .conversations()
            .runs_of(&self.router.conversation, 1)
            .await?
            .into_iter()
            .next())
    }

    async fn plan(&self) -> Result<Reply, AppError> {
        let Some(run) = self.named_run("").await? else { return Ok(Reply::NoRun) };
        let details = RunDetails::read(&self.app, self.store(), &run).await?;
        if details.progress.items.is_empty() {
            return Ok(Reply::NoPlan(run));
        }
        Ok(Reply::Plan(Box::new(details)))
    }

    async fn runs(&self) -> Result<Reply, AppError> {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: RUNS_LISTED };
        let rows = self.store().runs().list(&filter).await?;
        Ok(if rows.is_empty() { Reply::NoRun } else { Reply::Runs(rows) })
    }

    async fn history(&self, rest: &str) -> Result<Vec<ConversationMessage>, AppError> {
        let most = rest.parse().unwrap_or(SAID_LISTED).clamp(1, 1_000);
        let mut said =
            self.store().conversations().messages(&self.router.conversation, 2 * most).await?;
        // The mark of a new beginning is not a message.
        said.retain(|said| said.role != ANEW);
        Ok(said.split_off(said.len().saturating_sub(most)))
    }

    fn choose_loop(&mut self, name: &str) -> Result<Reply, AppError> {
        if name.is_empty() {
            return Ok(Reply::Loops);
        }
        self.choice.loop_name = frames::loop_name(name)?;
        Ok(Reply::LoopChosen(self.choice.loop_name.clone()))
    }

    /// The run whose question the person has before them goes on under another loop.
    async fn switch(&mut self, name: &str) -> Result<Reaction, AppError> {
        let Some(open) = self.seen.clone() else {
            return self.choose_loop(name).map(Reaction::Reply);
        };
        let reply = self.request_switch(&open.run, name).await;
        if matches!(&reply, Reply::Switch { requested: Ok(_), .. }) {
            self.seen = None;
            return Ok(Reaction::Follow(open.run, Some(reply)));
        }
        Ok(Reaction::Reply(reply))
    }

    fn choose_model(&mut self, name: &str) -> Result<Reply, AppError> {
        if name.is_empty() {
            return Ok(match self.choice.model.as_str() {
                "" => Reply::NoModel,
                name => Reply::ModelIs(name.to_owned()),
            });
        }
        let name = frames::model(&self.app, name.to_owned())?;
        self.use_model(name.clone());
        Ok(Reply::ModelChosen(name))
    }

    fn choose_persona(&mut self, name: &str) -> Result<Reply, AppError> {
        if name.is_empty() {
            return Ok(Reply::Personas);
        }
        self.choice.persona = briefing::persona(&self.app, Some(name))?.name;
        Ok(Reply::PersonaChosen(self.choice.persona.clone()))
    }

    /// `/image FILE`: an image that goes with the next goal.
    fn attach(&mut self, verb: &'static Verb, file: &str) -> Result<Reply, AppError> {
        if file.is_empty() {
            return Ok(Reply::Usage(verb));
        }
        if self.choice.images.len() >= IMAGES_MAX {
            return Err(ChoiceError::TooManyImages(IMAGES_MAX).into());
        }
        self.choice.images.push(briefing::image(&self.app, Path::new(file))?);
        let files = [PathBuf::from(file)];
        let held = briefing::pictured(&self.app, &self.choice.workspace, &files);
        self.choice.policy.inherited.join(&held);
        Ok(Reply::ImageAttached(PathBuf::from(file), self.choice.images.len()))
    }

    fn choose_language(&mut self, verb: &'static Verb, name: &str) -> Reply {
        let Some(lang) = Lang::parse(name) else { return Reply::Usage(verb) };
        self.speak(lang);
        Reply::LanguageChosen
    }

    async fn begin_anew(&self) -> Result<Reply, AppError> {
        let now = self.engine.clock().now();
        let id = everloop_engine::fresh_id("message_", now);
        self.store().conversations().say(&self.router.conversation, &id, ANEW, "-", now).await?;
        Ok(Reply::BeganAnew)
    }

    async fn resume(&mut self, id: &str) -> Result<Reaction, AppError> {
        let found =
            if id.is_empty() { self.run_to_resume().await? } else { self.named_run(id).await? };
        let Some(run) = found else { return Ok(Reaction::Reply(Reply::NoRun)) };
        self.wake(&run).await?;
        Ok(Reaction::Follow(run, None))
    }

    /// `/fork [ID] [WORD]`: the first word is an id if a run has it.
    async fn fork(&mut self, rest: &str) -> Result<Reaction, AppError> {
        let (first, word) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (id, word) = match self.app.find_run(self.store(), first).await {
            // A short word may be the end of some run's id by chance.
            Ok(_) if first.chars().count() >= ID_CHARS_MIN => (first, word.trim()),
            _ if first.starts_with("run_") => (first, word.trim()),
            _ => ("", rest),
        };
        let Some(run) = self.named_run(id).await? else {
            return Ok(Reaction::Reply(Reply::NoRun));
        };
        let forked = forks::continue_run(&self.app, &self.engine, &run, word, None).await?;
        Ok(Reaction::Follow(forked, None))
    }

    async fn begin_in_background(&mut self, goal: &str) -> Result<Reply, AppError> {
        if self.choice.model.is_empty() {
            return Ok(Reply::NoModel);
        }
        Ok(Reply::InBackground(self.begin(goal.to_owned(), None).await?))
    }

    /// `/export chat|todos|schedule [FILE]`.
    async fn export(&self, verb: &'static Verb, rest: &str) -> Result<Reply, AppError> {
        let (name, file) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let text = match (name, What::parse(name)) {
            ("chat" | "", _) if file.trim().is_empty() => {
                return Ok(Reply::History(self.history(SAID_EXPORTED).await?));
            }
            ("chat" | "", _) => self.written_history().await?,
            (_, Some(what)) => exchange::export(&self.reader(), self.store(), what).await?,
            _ => return Ok(Reply::Usage(verb)),
        };
        let file = file.trim();
        if file.is_empty() {
            return Ok(Reply::Exported(text));
        }
        exchange::write_new(Path::new(file), &text)?;
        Ok(Reply::Written(PathBuf::from(file)))
    }

    /// The messages of the conversation as a file has them.
    async fn written_history(&self) -> Result<String, AppError> {
        let said = self.history(SAID_EXPORTED).await?;
        Ok(history_text(&self.app, &self.reader(), &said))
    }

    /// `/import todos|schedule FILE`.
    async fn import(&self, verb: &'static Verb, rest: &str) -> Result<Reply, AppError> {
        let (name, file) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (Some(what), file) = (What::parse(name), file.trim()) else {
            return Ok(Reply::Usage(verb));
        };
        if file.is_empty() {
            return Ok(Reply::Usage(verb));
        }
        let reader = self.reader();
        let done = exchange::import(&self.app, &reader, self.store(), what, Path::new(file));
        Ok(Reply::Imported(done.await?))
    }
}

/// Messages, one a line, with when and who.
#[must_use]
pub fn history_text(
    app: &crate::App,
    reader: &everloop_agenda::show::Reader,
    said: &[ConversationMessage],
) -> String {
    let line = |said: &ConversationMessage| {
        let who = match said.role.as_str() {
            "user" => text::chat::role::user().in_lang(app.lang),
            _ => text::chat::role::assistant().in_lang(app.lang),
        };
        format!("[{}] {who}{}", reader.moment(said.created_at), said.body)
    };
    said.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn help(name: &str) -> Reply {
    let name = name.trim_start_matches('/');
    Reply::Help(find(name).filter(|_| !name.is_empty()))
}
