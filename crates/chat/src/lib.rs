//! The chat: the conversation of this home, in a terminal or over pipes.
//!
//! On a terminal `person` talks, with an editor and a live plan; elsewhere `lines` does, one line
//! one input. Deliberately absent: what a line does (`app`), what runs do (`engine`), and the
//! commands of the shell, which the program that opens the chat lends it ([`ShellPages`]).

mod asking;
mod by_key;
mod clipboard;
mod completing;
mod editor;
mod lines;
mod live;
mod look;
mod opening;
mod person;
mod placing;
mod replies;
mod rewind;
mod screens;
mod words;

pub use by_key::KeyAnswers;
pub use opening::{ChatOptions, ChatTarget};
pub use screens::{PageFuture, ShellPage, ShellPages};

use everloop_agenda::show::{firing_lines, hinted_lines};
use everloop_app::AppError;
use everloop_app::conversation::{
    ChatReply, ConfirmationResult, Conversation, ConversationRequest, Reaction,
};
use everloop_app::frames::{RunOptions, default_model};
use everloop_app::reminding::ReminderWatch;
use everloop_console::show::{StatusPlace, answering, short_folder};
use everloop_console::{Console, Exit, Failure, agenda_colors, notices, terminal};
use everloop_engine::Update;
use everloop_markdown::{StyledLine, Tone};
use everloop_store::Store;
use everloop_text::{self as text, Text};
use everloop_types::RunId;

/// Talks until the person leaves or the input ends.
pub async fn chat(
    app: &Console,
    wanted: ChatOptions,
    pages: &'static dyn ShellPages,
) -> Result<Exit, Failure> {
    let at_terminal = app.interactive && terminal::answers_are_seen();
    let no_model = wanted.run.model.is_none() && default_model(app).is_empty();
    // Nobody may be asked, and nothing would come: a terminal is no pipe of commands.
    if no_model && !app.interactive && terminal::person_is_there() {
        let words = everloop_console::trouble::no_model(app);
        return Err(Failure { exit: Exit::Configuration, words });
    }
    let mut app = match at_terminal && no_model && !app.sources.path.exists() {
        true => pages.set_up(app).await?,
        false => app.clone(),
    };
    let Some(start) = opening::start(&app, &wanted, at_terminal).await? else {
        return Ok(Exit::Done);
    };
    let mut options = wanted.run;
    let (mut first, mut request) = (start.first, start.request);
    let mut store = app.open_store().await?;
    loop {
        let chat = Chat::open(app, pages, &options, &request, store).await?;
        // A terminal that cannot be drawn on gets plain lines.
        if !at_terminal || terminal::is_dumb() {
            return lines::talk(chat, first).await;
        }
        match person::talk(chat, first.take()).await? {
            TalkEnd::Left(exit) => return Ok(exit),
            TalkEnd::SetUp(again) => {
                // What was chosen just now counts, whatever the command line said.
                options.model = None;
                app = again.console;
                store = again.store;
                request = again.request;
            }
        }
    }
}

/// How a talk at a terminal ended.
enum TalkEnd {
    Left(Exit),
    /// It goes on with other settings.
    SetUp(Box<ChatAgain>),
}

/// The same conversation with other settings, on the same database.
struct ChatAgain {
    console: Console,
    store: Store,
    request: ConversationRequest,
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
    pages: &'static dyn ShellPages,
    reminders: ReminderWatch,
}

impl Chat {
    async fn open(
        app: Console,
        pages: &'static dyn ShellPages,
        options: &RunOptions,
        request: &ConversationRequest,
        store: Store,
    ) -> Result<Self, Failure> {
        let opened = Conversation::open_on(app.app().clone(), options, request, store).await;
        let conversation = opened.map_err(|error| app.fail(error))?;
        app.warn_of_sandbox(&conversation.choice().workspace().display().to_string());
        Ok(Self { app, conversation, pages, reminders: ReminderWatch::begin() })
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

    /// Where and how a run works: not as new goals would be, which may have changed since.
    async fn place_of(&self, run: &RunId) -> StatusPlace {
        match self.conversation.store().journal().frame(run).await {
            Ok(Some(frame)) => {
                let price = self.app.prices().of_model(&frame.model.name);
                StatusPlace::of_frame(&frame, self.conversation.choice().loop_name(), price)
            }
            // A store that fails for a moment.
            _ => self.place(),
        }
    }

    /// Where and how new goals are worked on.
    fn place(&self) -> StatusPlace {
        let home = std::env::home_dir();
        let choice = self.conversation.choice();
        StatusPlace {
            model: choice.model().to_owned(),
            loop_name: choice.loop_name().to_owned(),
            folder: short_folder(choice.workspace(), home.as_deref()),
            approval_mode: choice.approval_mode(),
            price: self.app.prices().of_model(choice.model()),
            ..StatusPlace::default()
        }
    }

    /// What was done, or why it was not, in words.
    fn outcome(&self, done: Result<ChatReply, AppError>) -> String {
        match done {
            Ok(reply) => self.reply(reply),
            Err(error) => self.fail(error).words,
        }
    }

    /// Shows a reply with its look.
    fn show_reply(&self, reply: ChatReply) {
        match &reply {
            ChatReply::Answered(meaning) => {
                terminal::print_styled(&answering::answered_line(&self.app, meaning));
            }
            ChatReply::Plan(details) => {
                words::plan(&self.app, details).iter().for_each(terminal::print_styled);
            }
            ChatReply::Agenda(_) => agenda_colors::print(self.app.lang, &self.reply(reply)),
            _ => terminal::print_line(&self.reply(reply)),
        }
    }

    /// Shows what comes before a run that is looked at. That a run changes its loop is progress,
    /// which is left out where the person wants quiet.
    fn show_note(&self, note: ChatReply) {
        match &note {
            ChatReply::Switch { .. } => self.app.note_line(&self.reply(note)),
            ChatReply::Answered(meaning) => {
                terminal::eprint_styled(&answering::answered_line(&self.app, meaning));
            }
            _ => terminal::eprint_line(&self.reply(note)),
        }
    }

    /// Shows reminders that this terminal has not shown yet.
    async fn show_new_reminders(&self) {
        for line in self.new_reminders().await {
            terminal::print_styled(&StyledLine::new(Tone::Warning, &line).hanging(2));
        }
    }

    /// Reminders that this terminal has not shown yet. Whoever looks elsewhere is called, once.
    async fn new_reminders(&self) -> Vec<String> {
        let new = self.reminders.look(&self.app, self.conversation.store()).await;
        notices::announce(&self.app, &new.ours);
        match terminal::answers_are_seen() {
            true => hinted_lines(&self.app.reader(), &[new.ours, new.others].concat()),
            // A script reads each of them once.
            false => firing_lines(&self.app.reader(), &new.ours),
        }
    }

    /// Shows what runs of this conversation do that another terminal has: that they work, what they
    /// ask, how they end.
    async fn show_news_elsewhere(&mut self) {
        // A store that fails for a moment is asked again in a second.
        let news = self.conversation.news().elsewhere().await.unwrap_or_default();
        news.iter().for_each(|news| words::show_news_elsewhere(&self.app, news));
        if self.conversation.news().watches_others() {
            let asked = self.questions_elsewhere().await;
            asked.iter().for_each(|line| terminal::print_line(line));
        }
    }

    /// Shows the ends of runs in the background.
    async fn show_missed_news(&mut self) {
        let news = self.conversation.news().missed().await;
        news.iter().for_each(|news| words::show_news(&self.app, news));
    }

    /// Shows what an update says about a run in the background.
    async fn show_news_in(&mut self, update: &Update) {
        let news = self.conversation.news().of_update(update).await;
        news.iter().for_each(|news| words::show_news(&self.app, news));
    }

    /// Says that the question before the person was answered elsewhere, if it was.
    async fn gone_question(&mut self) -> Option<String> {
        let run = self.conversation.questions_mut().take_gone().await?;
        Some(self.text(text::chat::question_gone(&run.short())))
    }

    /// Questions that are not asked here, each told of once.
    async fn questions_elsewhere(&mut self) -> Vec<String> {
        let open = self.conversation.questions_mut().elsewhere().await;
        open.iter().map(|open| placing::question_elsewhere(&self.app, open)).collect()
    }

    /// What a line does while a command waits for a yes.
    async fn confirm(&self, command: String, line: &str) -> ConfirmEffect {
        let line = line.trim();
        let mut effect = ConfirmEffect::default();
        match self.conversation.verdict(&command, line).await {
            ConfirmationResult::Over(done) => effect.words = Some(self.outcome(*done)),
            ConfirmationResult::Dropped => effect.words = Some(self.text(text::rule::dropped())),
            ConfirmationResult::Edit => effect.edit = Some(command),
            ConfirmationResult::Instead(other) => {
                effect.words = Some(self.text(text::rule::dropped()));
                effect.proposed = Some(other);
            }
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
        words::note_working(&self.app, self.conversation.questions().count_working().await);
        self.conversation.leave().await;
    }
}
