//! `todo`, `view` and `schedule` on a server elsewhere.

use super::RemoteConsole;
use crate::args::{ScheduleCommandArgs, ScheduleVerb, TodoCommandArgs, TodoVerb, ViewArgs};
use crate::commands::keep;
use everloop_app::agenda::arguments::AgendaLine;
use everloop_console::{Exit, Failure};
use everloop_console::{agenda_colors, terminal};
use everloop_text as text;
use serde_json::{Value, json};

impl RemoteConsole<'_> {
    pub(super) async fn todo(&self, args: TodoCommandArgs) -> Result<Exit, Failure> {
        match &args.verb {
            Some(TodoVerb::Export { .. }) => Err(self.refuse("everloop todo export")),
            Some(TodoVerb::Import { .. }) => Err(self.refuse("everloop todo import")),
            verb => {
                let (line, is_sure) = keep::todo_line(verb.as_ref());
                self.command(&line, args.json, is_sure).await
            }
        }
    }

    pub(super) async fn view(&self, args: ViewArgs) -> Result<Exit, Failure> {
        self.command(&keep::view_line(&args), args.json, false).await
    }

    pub(super) async fn schedule(&self, args: ScheduleCommandArgs) -> Result<Exit, Failure> {
        match &args.verb {
            Some(ScheduleVerb::Export { .. }) => Err(self.refuse("everloop schedule export")),
            Some(ScheduleVerb::Import { .. }) => Err(self.refuse("everloop schedule import")),
            Some(ScheduleVerb::Simulate(_)) => Err(self.refuse("everloop schedule simulate")),
            verb => self.command(&keep::schedule_line(verb.as_ref()), args.json, false).await,
        }
    }

    async fn command(&self, line: &AgendaLine, json: bool, is_sure: bool) -> Result<Exit, Failure> {
        let mut asked = line.to_json();
        asked["sure"] = json!(is_sure);
        self.agenda(&asked, json).await
    }

    /// A command as a person types it in the chat.
    pub(super) async fn agenda_line(&self, line: &str, json: bool) -> Result<Exit, Failure> {
        self.agenda(&json!({ "line": line }), json).await
    }

    async fn agenda(&self, asked: &Value, json: bool) -> Result<Exit, Failure> {
        let done = self.checked(self.server.post("v1/records/agenda", asked, None).await)?;
        for note in done["notes"].as_array().into_iter().flatten() {
            self.app.note_line(note.as_str().unwrap_or_default());
        }
        let words = done["text"].as_str().unwrap_or_default();
        let outcome = done["outcome"].as_str().unwrap_or_default();
        let exit = match outcome {
            "done" => Exit::Done,
            "proposed" => Exit::NeedsPerson,
            "wrong" => Exit::Usage,
            _ => Exit::Failed,
        };
        match outcome {
            _ if json => terminal::print_line(&done["answer"].to_string()),
            "done" => agenda_colors::print(self.app.lang, words),
            "proposed" => {
                terminal::eprint_line(words);
                terminal::eprint_line(&self.app.text(text::todo::proposed::yes()));
            }
            "wrong" => return Err(Failure { exit, words: words.to_owned() }),
            _ => terminal::eprint_line(words),
        }
        Ok(exit)
    }
}
