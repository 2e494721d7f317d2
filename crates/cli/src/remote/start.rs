//! `run` and `-p` on a server elsewhere.

use super::RemoteConsole;
use crate::args::{OutputFormat, PrintArgs, RunArgs, RunOptionArgs};
use crate::commands::print;
use everloop_agenda::commands;
use everloop_app::router::Route;
use everloop_app::slash::SlashKind;
use everloop_console::terminal;
use everloop_console::{Exit, Failure};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_text as text;
use everloop_types::RunId;
use serde_json::{Value, json};

/// What came of a line.
enum RemoteLine {
    Done(Exit),
    Goal(String),
}

impl RemoteConsole<'_> {
    pub(super) async fn print(&self, args: PrintArgs) -> Result<Exit, Failure> {
        let app = self.app.clone().quietly().with_person(false);
        let remote = RemoteConsole { app: &app, server: self.server.clone() };
        remote.print_quietly(args).await
    }

    async fn print_quietly(&self, mut args: PrintArgs) -> Result<Exit, Failure> {
        if args.continued {
            return Err(self.refuse("everloop -p -c"));
        }
        let piped = print::input(self.app)?;
        let (question, attached) = match args.question.take() {
            Some(question) => (question, Some(piped).filter(|piped| !piped.is_empty())),
            None => (piped, None),
        };
        if question.trim().is_empty() {
            return Err(self.app.failure(Exit::Usage, text::print::no_question()));
        }
        match args.resume.take() {
            Some(Some(id)) => {
                return self.resume(&id, Some((question, None)), args.output_format).await;
            }
            Some(None) => return Err(self.refuse("everloop -p -r")),
            None => {}
        }
        let goal = match self.route(&question, args.output_format).await? {
            RemoteLine::Done(exit) => return Ok(exit),
            RemoteLine::Goal(goal) => goal,
        };
        let mut asked = self.request(&args.how)?;
        asked["goal"] = json!(goal);
        asked["attached"] = json!(attached);
        self.start(&asked, false, args.output_format).await
    }

    pub(super) async fn run(&self, args: RunArgs) -> Result<Exit, Failure> {
        let mut asked = self.request(&args.how)?;
        asked["title"] = json!(args.title);
        if let Some(run_type) = &args.run_type {
            let input = args.input.as_deref().unwrap_or("{}");
            let input: Value = serde_json::from_str(input)
                .map_err(|error| self.app.failure(Exit::Usage, text::tasks::not_json(&error)))?;
            asked["type"] = json!(run_type);
            asked["input"] = input;
        } else {
            let goal = args.goal.as_deref().unwrap_or_default();
            match self.route(goal, args.output_format).await? {
                RemoteLine::Done(exit) => return Ok(exit),
                RemoteLine::Goal(goal) => asked["goal"] = json!(goal),
            }
        }
        self.start(&asked, args.background, args.output_format).await
    }

    /// The options of a run, as the server takes them.
    fn request(&self, how: &RunOptionArgs) -> Result<Value, Failure> {
        if !how.image.is_empty() {
            return Err(self.refuse("--image"));
        }
        let approve = how.approve.map(|mode| mode.name());
        Ok(json!({
            "loop": how.loop_name, "model": how.model, "persona": how.persona,
            "workspace": how.workspace, "approve": approve, "yes": how.yes,
        }))
    }

    /// The same front door as here; what it lists or changes is at the server.
    async fn route(&self, line: &str, format: OutputFormat) -> Result<RemoteLine, Failure> {
        let (app, reader) = (self.app, self.app.reader());
        let json = format != OutputFormat::Text;
        let failure = |exit, words| Err(Failure { exit, words });
        // Whether there is a model is for the server to know.
        match everloop_app::conversation::router(app, "server").route(line, &reader.now, None) {
            Route::Nothing => failure(Exit::Usage, app.text(text::run::no_goal())),
            Route::Cancel => Ok(RemoteLine::Done(self.nothing_to_cancel())),
            Route::Wrong(_) => Ok(RemoteLine::Done(self.agenda_line(line, json).await?)),
            Route::OwnCommand(_) => failure(Exit::Usage, app.text(text::own::only_terminal())),
            Route::Slash(slash) => match slash.command.kind {
                SlashKind::Cancel => Ok(RemoteLine::Done(self.nothing_to_cancel())),
                SlashKind::Agenda => Ok(RemoteLine::Done(self.agenda_line(line, json).await?)),
                _ => failure(Exit::Usage, app.text(text::front::only_in_chat(&slash.command.name))),
            },
            Route::Look(_, command) => {
                app.note(text::command::understood(&command));
                Ok(RemoteLine::Done(self.agenda_line(&command, json).await?))
            }
            Route::Rule(command) => {
                let command = commands::shown(&command, &reader.now, reader.lang);
                terminal::print_line(&command);
                failure(Exit::NeedsPerson, app.text(text::front::not_done(&command)))
            }
            Route::NoModel => Ok(RemoteLine::Goal(line.to_owned())),
            Route::Answer(_, goal) | Route::Goal(goal) => Ok(RemoteLine::Goal(goal)),
        }
    }

    fn nothing_to_cancel(&self) -> Exit {
        terminal::print_line(&self.app.text(text::door::nothing_to_cancel()));
        Exit::Done
    }

    /// Starts a run. A request that is sent again starts it once.
    async fn start(
        &self,
        asked: &Value,
        background: bool,
        format: OutputFormat,
    ) -> Result<Exit, Failure> {
        let key = fresh_id("cli_", SystemClock.now());
        let mut sent = asked.clone();
        if let Some(fields) = sent.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let begun = self.checked(self.server.post("v1/runs", &sent, Some(&key)).await)?;
        let run = RunId::new(begun["id"].as_str().unwrap_or_default());
        if background {
            self.queued(&run, format);
            return Ok(Exit::Done);
        }
        self.app.note(text::run::begun(&run.short()));
        self.follow(&run, 0, format).await
    }

    /// Says that a run waits for a worker.
    pub(super) fn queued(&self, run: &RunId, format: OutputFormat) {
        terminal::print_line(&match format {
            OutputFormat::Text => run.to_string(),
            OutputFormat::Json | OutputFormat::StreamJson => {
                json!({"run_id": run, "status": "queued"}).to_string()
            }
        });
        self.app.note(text::run::queued(&run.short()));
    }
}
