//! The chat: the conversation of this home, in a terminal or over pipes.
//!
//! On a terminal `person` talks, with an editor and a live plan; elsewhere `lines` does, one line
//! one input. Deliberately absent: what a line does (`app`), what runs do (`engine`).

mod editor;
mod history;
mod keys;
mod lines;
mod live;
mod look;
mod person;
mod words;

pub(crate) use words::answered;

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::{setup, terminal};
use everloop_agenda::show::firing_lines;
use everloop_app::AppError;
use everloop_app::conversation::{ChatReply, ConfirmationResult, Conversation, Reaction};
use everloop_app::frames::{RunOptions, default_model};
use everloop_app::router::{OpenQuestion, Router};
use everloop_engine::Update;
use everloop_text::{self as text, Text};

pub(crate) async fn chat(app: &Console, args: &args::ChatArgs) -> Result<Exit, Failure> {
    let at_terminal = app.interactive && terminal::answers_are_seen();
    let no_model = args.how.model.is_none() && default_model(app).is_empty();
    // Nobody may be asked, and nothing would come: a terminal is no pipe of commands.
    if no_model && !app.interactive && terminal::person_is_there() {
        let words = crate::trouble::no_model(app);
        return Err(Failure { exit: Exit::Configuration, words });
    }
    let app = match at_terminal && no_model && !app.sources.path.exists() {
        true => setup::first_run(app).await?,
        false => app.clone(),
    };
    let chat = Chat::open(app, &RunOptions::from(&args.how)).await?;
    match at_terminal {
        true => person::talk(chat, args.message.clone()).await,
        false => lines::talk(chat, args.message.clone()).await,
    }
}

/// The router of the chats of this home.
pub(crate) fn router(app: &Console, model: &str) -> Result<Router, Failure> {
    everloop_app::conversation::router(app, model).map_err(|error| app.fail(error))
}

/// What a line did while a command waited for a yes.
#[derive(Default)]
struct ConfirmEffect {
    /// What is shown.
    words: Option<String>,
    /// The command that waits for a yes from now on.
    proposed: Option<String>,
    /// The command that the person wants to write anew.
    edit: Option<String>,
    /// Whether the line goes its usual way.
    goes_on: bool,
}

/// The conversation, and the terminal that it is shown on.
struct Chat {
    app: Console,
    conversation: Conversation,
}

impl Chat {
    async fn open(app: Console, options: &RunOptions) -> Result<Self, Failure> {
        let opened = Conversation::open(app.app().clone(), options).await;
        let conversation = opened.map_err(|error| app.fail(error))?;
        app.warn_of_sandbox(&conversation.workspace().display().to_string());
        Ok(Self { app, conversation })
    }

    fn text(&self, text: Text) -> String {
        self.app.text(text)
    }

    fn fail(&self, error: AppError) -> Failure {
        self.app.fail(error)
    }

    /// What a line does.
    async fn send(&mut self, line: &str, key: Option<&str>) -> Result<Reaction, Failure> {
        let reaction = self.conversation.send_once(line, key).await;
        self.app.lang = self.conversation.app().lang;
        reaction.map_err(|error| self.fail(error))
    }

    fn reply(&self, reply: ChatReply) -> String {
        words::reply(&self.app, &self.conversation, reply)
    }

    /// What was done, or why it was not, in words.
    fn outcome(&self, done: Result<ChatReply, AppError>) -> String {
        match done {
            Ok(reply) => self.reply(reply),
            Err(error) => self.fail(error).words,
        }
    }

    /// Shows what comes before a run that is looked at. That a run changes its loop is progress,
    /// which is left out where the person wants quiet.
    fn show_note(&self, note: ChatReply) {
        let is_progress = matches!(note, ChatReply::Switch { .. });
        let words = self.reply(note);
        match is_progress {
            true => self.app.note_line(&words),
            false => terminal::complain(&words),
        }
    }

    /// Reminders that no other process has shown yet.
    async fn new_reminders(&self) -> Vec<String> {
        firing_lines(&self.app.reader(), &self.conversation.new_reminders().await)
    }

    /// The ends of runs in the background.
    async fn missed_news(&mut self) -> Vec<String> {
        let news = self.conversation.missed_news().await;
        news.iter().map(|news| words::news(&self.app, news)).collect()
    }

    /// What an update says about a run in the background.
    async fn news_in(&mut self, update: &Update) -> Option<String> {
        let news = self.conversation.news_in(update).await?;
        Some(words::news(&self.app, &news))
    }

    /// Says that the question before the person was answered elsewhere, if it was.
    async fn gone_question(&mut self) -> Option<String> {
        let run = self.conversation.questions_mut().take_gone().await?;
        Some(self.text(text::chat::question_gone(&run)))
    }

    /// Questions that other terminals show, each told of once.
    async fn questions_elsewhere(&mut self) -> Vec<String> {
        let open = self.conversation.questions_mut().elsewhere().await;
        let line = |open: &OpenQuestion| {
            let question = crate::show::preview(&open.text);
            self.text(text::chat::other_asks(&question, &open.run.as_str()))
        };
        open.iter().map(line).collect()
    }

    /// What a line does while a command waits for a yes.
    async fn confirm(&self, command: String, line: &str) -> ConfirmEffect {
        let line = line.trim();
        let mut effect = ConfirmEffect::default();
        match self.conversation.verdict(&command, line).await {
            ConfirmationResult::Over(done) => effect.words = Some(self.outcome(*done)),
            ConfirmationResult::Dropped => effect.words = Some(self.text(text::rule::dropped())),
            ConfirmationResult::Edit => effect.edit = Some(command),
            ConfirmationResult::Instead(other) => effect.proposed = Some(other),
            ConfirmationResult::Unclear => {
                effect.proposed = Some(command);
                effect.words = (!line.is_empty()).then(|| self.text(text::rule::unclear(&line)));
            }
            ConfirmationResult::Another => {
                effect.proposed = Some(command);
                effect.goes_on = true;
            }
        }
        effect
    }

    async fn leave(self) {
        words::note_working(&self.app, self.conversation.count_working().await);
        self.conversation.leave().await;
    }
}
