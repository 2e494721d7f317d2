//! The commands about the conversation, its runs and the program itself.

use super::earlier::ANEW;
use super::session::{Heard, Session};
use crate::commands::{exchange, fork, loops, personas, run, runs};
use crate::context;
use crate::exit::Failure;
use crate::show::{backed_plan_lines, plan_head, preview};
use crate::terminal::{self, marks};
use crate::trouble;
use everloop_agenda::commands::{VERBS, find};
use everloop_agenda::context::images::IMAGES_MAX;
use everloop_agenda::portable::What;
use everloop_agenda::show::{Table, firing_line, padded};
use everloop_store::{RunFilter, RunRow};
use everloop_text as text;
use everloop_types::{Lang, RunId, Status};
use std::path::{Path, PathBuf};

/// Characters that are enough to mean a run among words.
const ID_CHARS_MIN: usize = 6;

/// Runs, messages and reminders that are listed at once.
const RUNS_LISTED: usize = 20;
const SAID_LISTED: usize = 20;
const UNREAD_LISTED: usize = 100;

/// Runs among which the one to go back to is looked for.
const RESUMABLE: usize = 200;

impl Session {
    /// Carries out a command that is about this chat.
    pub(super) async fn talk(&mut self, verb: &str, rest: &str) -> Result<Heard, Failure> {
        Ok(Heard::Said(match verb {
            "help" => self.help(rest),
            "inbox" => self.inbox(rest).await?,
            "plan" => self.plan().await?,
            "runs" => self.runs().await?,
            "history" => self.history(rest).await?,
            "loop" if !rest.is_empty() && self.seen.is_some() => return self.switch(rest).await,
            "loop" => self.choose_loop(rest),
            "model" => self.choose_model(rest),
            "persona" => self.choose_persona(rest),
            "image" => self.attach(rest),
            "lang" => self.choose_language(rest),
            "new" => self.anew().await?,
            "export" | "import" => self.exchange(verb, rest).await?,
            "settle" => return self.settle(rest).await,
            "resume" => return self.resume(rest).await,
            "fork" => return self.fork(rest).await,
            "bg" if rest.is_empty() => return Ok(Heard::Background),
            "bg" => self.background(rest).await?,
            "tour" => return Ok(Heard::Tour),
            "clear" => return Ok(Heard::Clear),
            "quit" => return Ok(Heard::Quit),
            _ => self.text(text::command::not_here()),
        }))
    }

    fn help(&self, name: &str) -> String {
        let lang = self.app.lang;
        let name = name.trim_start_matches('/');
        let Some(verb) = find(name).filter(|_| !name.is_empty()) else {
            let lines = VERBS.iter().map(|verb| {
                format!("  {}  {}", padded(&format!("/{}", verb.name), 10), verb.help(lang))
            });
            let mut all = vec![self.text(text::chat::help::commands())];
            all.extend(lines);
            all.push(self.text(text::chat::help::dates()));
            return all.join("\n");
        };
        let mut lines = vec![format!("/{}: {}", verb.name, verb.help(lang))];
        lines.extend(verb.usages(lang).into_iter().map(|usage| format!("  {usage}")));
        lines.join("\n")
    }

    async fn inbox(&self, rest: &str) -> Result<String, Failure> {
        let fail = |error| self.fail(&error);
        let unread = self.store().unread_firings(UNREAD_LISTED).await.map_err(fail)?;
        if unread.is_empty() {
            return Ok(self.text(text::inbox::empty()));
        }
        let reader = self.reader();
        let mut lines: Vec<String> = unread.iter().map(|row| firing_line(&reader, row)).collect();
        if rest == "read" {
            let now = self.engine.clock().now();
            self.store().read_firings(&unread, now).await.map_err(fail)?;
            lines.push(self.text(text::inbox::read(&unread.len())));
        } else {
            lines.push(self.text(text::inbox::how_to_read()));
        }
        Ok(lines.join("\n"))
    }

    /// The newest run that waits or works and that no other terminal has, whoever began it; the
    /// newest of all if all are over.
    async fn to_resume(&self) -> Result<Result<RunId, String>, Failure> {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: RESUMABLE };
        let rows = self.store().runs(&filter).await.map_err(|error| self.fail(&error))?;
        let others = self.terminals().of_others();
        let tops = || rows.iter().filter(|row| row.origin.parent.is_none());
        let is_over = |row: &RunRow| row.status.is_final() || row.status == Status::Quarantined;
        let is_open = |row: &&RunRow| !is_over(row) && !others.contains(&row.run);
        let run = tops().find(is_open).or_else(|| tops().next()).map(|row| row.run.clone());
        Ok(run.ok_or_else(|| self.text(text::chat::no_run())))
    }

    /// The run that an id means, or the newest of this conversation.
    async fn meant(&self, id: &str) -> Result<Result<RunId, String>, Failure> {
        if !id.is_empty() {
            return match self.app.find_run(self.store(), id).await {
                Ok(run) => Ok(Ok(run)),
                Err(failure) => Ok(Err(failure.words)),
            };
        }
        let open = self.door.open_runs(self.store()).await.map_err(|error| self.fail(&error))?;
        let open = open.into_iter().map(|(run, _)| run).find(|run| self.terminals().has(run));
        let newest = self.store().runs_of(&self.door.conversation, 1).await;
        let newest = newest.map_err(|error| self.fail(&error))?.into_iter().next();
        Ok(open.or(newest).ok_or_else(|| self.text(text::chat::no_run())))
    }

    async fn plan(&self) -> Result<String, Failure> {
        let run = match self.meant("").await? {
            Ok(run) => run,
            Err(words) => return Ok(words),
        };
        let shown = runs::shown(&self.app, self.store(), &run).await?;
        if shown.progress.items.is_empty() {
            return Ok(self.text(text::chat::no_plan(&run)));
        }
        let mut lines = vec![plan_head(&self.app, &shown.progress)];
        lines.extend(backed_plan_lines(&self.app, &shown.progress, &marks()));
        Ok(lines.join("\n"))
    }

    async fn runs(&self) -> Result<String, Failure> {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: RUNS_LISTED };
        let rows = self.store().runs(&filter).await.map_err(|error| self.fail(&error))?;
        if rows.is_empty() {
            return Ok(self.text(text::chat::no_run()));
        }
        let reader = self.reader();
        let heads = [
            text::chat::runs::id(),
            text::chat::runs::status(),
            text::chat::runs::r#loop(),
            text::chat::runs::at(),
            text::chat::runs::goal(),
        ];
        let mut table = Table::new(heads.map(|head| self.text(head)).to_vec());
        for row in rows {
            let id = row.run.to_string();
            table.row(vec![
                id,
                everloop_text::status(self.app.lang, row.status).to_owned(),
                row.loop_name,
                reader.moment(row.times.created_at),
                preview(&row.goal),
            ]);
        }
        Ok(table.show(reader.width))
    }

    async fn history(&self, rest: &str) -> Result<String, Failure> {
        let most = rest.parse().unwrap_or(SAID_LISTED).clamp(1, 1_000);
        // Where the conversation began anew is no word of anybody's.
        let said = self.store().said_in(&self.door.conversation, 2 * most).await;
        let mut said = said.map_err(|error| self.fail(&error))?;
        said.retain(|said| said.role != ANEW);
        let reader = self.reader();
        let lines = said.iter().skip(said.len().saturating_sub(most)).map(|said| {
            let who = self.text(role(&said.role));
            format!("[{}] {who}{}", reader.moment(said.created_at), said.body)
        });
        let lines: Vec<String> = lines.collect();
        Ok(match lines.is_empty() {
            true => self.text(text::chat::nothing_said()),
            false => lines.join("\n"),
        })
    }

    fn choose_loop(&mut self, name: &str) -> String {
        if name.is_empty() {
            return loops::short_list(&self.app, &self.choice.loop_name);
        }
        match run::loop_name(&self.app, name) {
            Ok(name) => {
                self.choice.loop_name = name;
                self.text(text::chat::loop_now(&self.choice.loop_name))
            }
            Err(failure) => failure.words,
        }
    }

    /// The run whose question the person has before them goes on under another loop.
    async fn switch(&mut self, name: &str) -> Result<Heard, Failure> {
        let Some(open) = self.seen.clone() else { return Ok(Heard::Said(self.choose_loop(name))) };
        match self.wish(&open.run, name).await? {
            Ok(words) => {
                if !self.app.quiet {
                    terminal::complain(&words);
                }
                self.seen = None;
                Ok(Heard::Follow(open.run))
            }
            Err(words) => Ok(Heard::Said(words)),
        }
    }

    fn choose_model(&mut self, name: &str) -> String {
        if name.is_empty() {
            return match self.choice.model.as_str() {
                "" => trouble::no_model_line(&self.app),
                name => self.text(text::chat::model_is(&name)),
            };
        }
        match run::model(&self.app, name.to_owned()) {
            Ok(name) => {
                self.use_model(name);
                self.text(text::chat::model_now(&self.choice.model))
            }
            Err(failure) => failure.words,
        }
    }

    fn choose_persona(&mut self, name: &str) -> String {
        if name.is_empty() {
            return personas::short_list(&self.app, &self.choice.persona);
        }
        match context::persona(&self.app, Some(name)) {
            Ok(persona) => {
                self.choice.persona = persona.name;
                self.text(text::persona::now(&self.choice.persona))
            }
            Err(failure) => failure.words,
        }
    }

    /// `/image FILE`: a picture that goes with the next goal.
    fn attach(&mut self, file: &str) -> String {
        if file.is_empty() {
            let how = self.text(text::usage::image());
            return self.text(text::command::usage(&how));
        }
        if self.choice.images.len() >= IMAGES_MAX {
            return self.text(text::image::too_many(&IMAGES_MAX));
        }
        match context::image(&self.app, Path::new(file)) {
            Ok(image) => {
                self.choice.images.push(image);
                let files = [PathBuf::from(file)];
                let held = context::pictured(&self.app, &self.choice.workspace, &files);
                self.choice.policy.inherited.join(&held);
                let count = self.choice.images.len().to_string();
                self.text(text::image::attached(&count, &file))
            }
            Err(failure) => failure.words,
        }
    }

    fn choose_language(&mut self, name: &str) -> String {
        let Some(lang) = Lang::parse(name) else {
            let how = self.text(text::usage::lang());
            return self.text(text::command::usage(&how));
        };
        self.speak(lang);
        self.text(text::chat::lang_now())
    }

    async fn anew(&self) -> Result<String, Failure> {
        let now = self.engine.clock().now();
        let id = everloop_engine::fresh_id("message_", now);
        let said = self.store().say_in(&self.door.conversation, &id, ANEW, "-", now).await;
        said.map_err(|error| self.fail(&error))?;
        Ok(self.text(text::chat::anew()))
    }

    async fn resume(&mut self, id: &str) -> Result<Heard, Failure> {
        let meant = if id.is_empty() { self.to_resume().await? } else { self.meant(id).await? };
        let run = match meant {
            Ok(run) => run,
            Err(words) => return Ok(Heard::Said(words)),
        };
        self.wake(&run).await?;
        Ok(Heard::Follow(run))
    }

    /// `/fork [ID] [WORD]`: the first word is an id if a run has it.
    async fn fork(&mut self, rest: &str) -> Result<Heard, Failure> {
        let (first, word) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (id, word) = match self.app.find_run(self.store(), first).await {
            // A short word may be the end of some run's id by chance.
            Ok(_) if first.chars().count() >= ID_CHARS_MIN => (first, word.trim()),
            _ if first.starts_with("run_") => (first, word.trim()),
            _ => ("", rest),
        };
        let run = match self.meant(id).await? {
            Ok(run) => run,
            Err(words) => return Ok(Heard::Said(words)),
        };
        match fork::again(&self.app, &self.engine, &run, word, None).await {
            Ok(forked) => Ok(Heard::Follow(forked)),
            Err(failure) => Ok(Heard::Said(failure.words)),
        }
    }

    async fn background(&mut self, goal: &str) -> Result<String, Failure> {
        if self.choice.model.is_empty() {
            return Ok(trouble::no_model_line(&self.app));
        }
        let run = self.begin(goal.to_owned()).await?;
        Ok(self.text(text::chat::in_background(&run)))
    }

    /// `/export chat|todos|schedule [FILE]`, `/import todos|schedule FILE`.
    async fn exchange(&self, verb: &str, rest: &str) -> Result<String, Failure> {
        let (name, file) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (what, file) = (What::parse(name), file.trim());
        let done = match (verb, name, what) {
            ("export", "chat" | "", _) => Ok(self.history("1000").await?),
            ("export", _, Some(what)) => exchange::exported(&self.app, self.store(), what).await,
            ("import", _, Some(what)) if !file.is_empty() => {
                let done = exchange::imported(&self.app, self.store(), what, Path::new(file)).await;
                return Ok(done.unwrap_or_else(|failure| failure.words));
            }
            _ => {
                let how =
                    if verb == "export" { text::usage::export() } else { text::usage::import() };
                let how = self.text(how);
                return Ok(self.text(text::command::usage(&how)));
            }
        };
        let text = match done {
            Ok(text) if !file.is_empty() => {
                let written = exchange::written(&self.app, Path::new(file), &text);
                written.map(|file| self.text(text::chat::written(&file)))
            }
            done => done,
        };
        Ok(text.unwrap_or_else(|failure| failure.words))
    }
}

fn role(name: &str) -> text::Text {
    if name == "user" { text::chat::role::user() } else { text::chat::role::assistant() }
}
