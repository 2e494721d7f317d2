//! One conversation: what it knows, and what a line does.
//!
//! ```text
//!   line ──► Router::route ──► Conversation::send ──► ChatReply │ Follow a run │ Confirm │ Quit
//!                                      │
//!   background tasks: drive what is ready, fire reminders, deliver messages (while it is open)
//! ```
//!
//! Deliberately absent: terminals and pages (the surfaces'), sentences (a surface makes them of a
//! [`Reaction`]).

mod background;
mod commands;
mod confirm;
mod earlier;
mod leftovers;
mod news;
mod questions;
mod queue;
mod reaction;
mod settle;
mod shown;
mod stop;
mod terminals;

pub use commands::{SLASH_COMMANDS, history_text};
pub use confirm::ConfirmationResult;
pub(crate) use earlier::EarlierTurns;
pub use leftovers::{Leftover, Leftovers};
pub use news::News;
pub use questions::{Greeting, OpenQuestions};
pub use queue::{Queue, QueueTurn, QueuedLine};
pub use reaction::{AgendaReply, ChatReply, InboxChange, Reaction};
pub use shown::ShownRuns;
pub use stop::{ConversationRun, RunStop, is_at_limit};

use crate::app::App;
use crate::briefing;
use crate::error::AppError;
use crate::frames::{self, RunOptions};
use crate::router::{ModelState, Route, Router};
use crate::runs;
use background::BackgroundTasks;
use everloop_agenda::commands::{self as agenda_commands, AgendaCommand};
use everloop_agenda::desk::Agenda;
use everloop_agenda::show::{self, DisplayContext};
use everloop_engine::{Clock, Engine, Submission, SystemClock, Watch, fresh_id};
use everloop_store::{Firing, Store};
use everloop_text as text;
use everloop_types::{ConversationId, Goal, Image, Lang, Policy, RunId, Status, Taint, Unattended};
use settle::UnsettledCalls;
use std::path::PathBuf;
use std::sync::Arc;
use terminals::Terminals;

/// One conversation that is open in this process.
pub struct Conversation {
    app: App,
    engine: Arc<Engine>,
    agenda: Agenda,
    router: Router,
    choice: RunChoice,
    /// Everything that happens to runs that are driven here.
    watch: Watch,
    questions: OpenQuestions,
    /// A run that ended at its limit; the person may let it go on.
    at_limit: Option<RunId>,
    unsettled: UnsettledCalls,
    background: BackgroundTasks,
    leftovers: Option<Leftovers>,
    shown: ShownRuns,
}

/// How new goals are worked on.
struct RunChoice {
    loop_name: String,
    model: String,
    workspace: PathBuf,
    policy: Policy,
    persona: String,
    /// Images that go with the next goal.
    images: Vec<Image>,
}

impl Conversation {
    /// Opens the conversation of this home, takes up what earlier processes left, and begins to
    /// drive runs if no other process does.
    ///
    /// # Errors
    /// If something that is named does not exist, or the store fails.
    pub async fn open(app: App, options: &RunOptions) -> Result<Self, AppError> {
        let workspace = frames::workspace(options.workspace.as_deref())?;
        // A conversation is answered through its lines, whoever writes them.
        let mut policy =
            Policy { unattended: Unattended::Wait, ..frames::policy(&app, options.approve_all) };
        policy.inherited = briefing::pictured(&app, &workspace, &options.images);
        let choice = RunChoice {
            loop_name: frames::wanted_loop(&app, options, &workspace)?,
            model: frames::wanted_model(&app, options)?,
            workspace,
            policy,
            persona: briefing::persona(&app, options.persona.as_deref())?.name,
            images: briefing::images(&app, &options.images)?,
        };
        let store = app.open_store().await?;
        let engine = app.engine(store.clone()).await?;
        let shown = ShownRuns::new(engine.clone());
        let watch = engine.watch();
        let router = router(&app, &choice.model)?;
        let agenda = app.desk(store);
        let mut terminals = Terminals::open(&app);
        let (leftovers, background) = Leftovers::take_up(&app, &engine, &router).await?;
        leftovers.runs.iter().for_each(|run| terminals.take(run));
        let conversation = router.conversation.clone();
        let unsettled = UnsettledCalls::new(engine.clone(), conversation.clone());
        let questions =
            OpenQuestions::open(engine.store().clone(), conversation, terminals).await?;
        Ok(Self {
            app,
            engine,
            agenda,
            router,
            choice,
            watch,
            questions,
            at_limit: None,
            unsettled,
            background,
            leftovers: Some(leftovers),
            shown,
        })
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// What drives the runs.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Where everything durable is.
    #[must_use]
    pub fn store(&self) -> &Store {
        self.engine.store()
    }

    /// Everything that happens to runs that are driven here.
    pub fn watch(&mut self) -> &mut Watch {
        &mut self.watch
    }

    /// Which way lines go.
    #[must_use]
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// The folder that new goals work in.
    #[must_use]
    pub fn workspace(&self) -> &std::path::Path {
        &self.choice.workspace
    }

    /// The loop of new goals.
    #[must_use]
    pub fn loop_name(&self) -> &str {
        &self.choice.loop_name
    }

    /// The persona of new goals.
    #[must_use]
    pub fn persona(&self) -> &str {
        &self.choice.persona
    }

    /// The questions of the conversation.
    #[must_use]
    pub fn questions(&self) -> &OpenQuestions {
        &self.questions
    }

    /// The questions of the conversation, to show or to forget one.
    pub fn questions_mut(&mut self) -> &mut OpenQuestions {
        &mut self.questions
    }

    /// Whether the next plain line answers something.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        self.questions.seen.is_some() || self.unsettled.run.is_some()
    }

    /// Which events of its runs were shown.
    pub fn shown(&mut self) -> &mut ShownRuns {
        &mut self.shown
    }

    /// What earlier processes left; once.
    pub fn take_leftovers(&mut self) -> Leftovers {
        self.leftovers.take().unwrap_or_default()
    }

    fn reader(&self) -> DisplayContext {
        self.app.reader_at(None)
    }

    /// What a line does. When this returns, it is durable.
    ///
    /// # Errors
    /// If the store fails, or something that the line names cannot be used. Nothing was begun then.
    pub async fn send(&mut self, line: &str) -> Result<Reaction, AppError> {
        self.send_once(line, None).await
    }

    /// The same for a line that may be sent again after a crash: `key` makes it one run.
    ///
    /// # Errors
    /// As [`Conversation::send`].
    pub async fn send_once(&mut self, line: &str, key: Option<&str>) -> Result<Reaction, AppError> {
        let reader = self.reader();
        let route = self.router.route(line, &reader.now, self.questions.seen.clone());
        let reaction = match route {
            Route::Nothing => Reaction::Reply(ChatReply::Empty),
            Route::Cancel => Reaction::Reply(self.cancel().await?),
            Route::Wrong(wrong) => Reaction::Reply(ChatReply::Wrong(wrong)),
            Route::Steer => Reaction::Reply(ChatReply::NothingToSteer),
            Route::NoModel => Reaction::Reply(ChatReply::NoModel),
            Route::Rule(command) => Reaction::Confirm(command),
            Route::Look(command, line) => {
                let done = self.perform(&line, &command, &reader).await?;
                let understood = Some(line);
                Reaction::Reply(ChatReply::Agenda(AgendaReply { understood, ..done }))
            }
            Route::Slash(slash) => slash.handle(self).await?,
            Route::Answer(open, text) => self.answer(open, text).await?,
            Route::Goal(goal) => self.goal(goal, key).await?,
        };
        if let Reaction::Follow(run, _) = &reaction {
            let top = runs::top(self.store(), run).await?;
            self.questions.terminals.take(&top);
        }
        Ok(reaction)
    }

    /// A plain line without an open question: a word about the run that ended last, or a new goal.
    async fn goal(&mut self, goal: String, key: Option<&str>) -> Result<Reaction, AppError> {
        if let Some(reaction) = self.unsettled.settle_by_line(&mut self.questions, &goal).await? {
            return Ok(reaction);
        }
        if let Some(run) = self.at_limit.take()
            && let Some(reaction) = self.run(&run).handle_limit_reply(&goal).await?
        {
            return Ok(reaction);
        }
        Ok(Reaction::Follow(self.begin(goal, key).await?, None))
    }

    /// A command about todos or the schedule; its dates are said back.
    async fn perform(
        &self,
        line: &str,
        command: &AgendaCommand,
        reader: &DisplayContext,
    ) -> Result<AgendaReply, AppError> {
        let said = agenda_commands::normal(line);
        let understood = agenda_commands::echo(&said, command, &reader.now, reader.lang);
        let other_year = agenda_commands::other_year(&said, command, &reader.now);
        let answer = self.agenda.perform(command, &reader.now, None).await?;
        Ok(AgendaReply { understood, other_year, answer: show::answer(reader, &answer) })
    }

    /// Carries out a line about todos or the schedule.
    async fn perform_line(&self, line: &str) -> Result<ChatReply, AppError> {
        let reader = self.reader();
        match agenda_commands::parse(line, &reader.now) {
            Ok(command) => Ok(ChatReply::Agenda(self.perform(line, &command, &reader).await?)),
            Err(wrong) => Ok(ChatReply::Wrong(wrong)),
        }
    }

    /// Makes a run of a goal. When this returns, the run will be finished, whatever happens.
    async fn begin(&mut self, goal: String, key: Option<&str>) -> Result<RunId, AppError> {
        let app = &self.app;
        let choice = &self.choice;
        let model = frames::model(app, choice.model.clone())?;
        let persona = briefing::persona(app, Some(&choice.persona))?;
        let mut frame = frames::frame(app, &choice.loop_name, &choice.workspace, model, &persona)?;
        let earlier = EarlierTurns::of(app, self.store(), &self.router.conversation).await?;
        let mut inherited = earlier.held(self.store()).await;
        inherited.join(&choice.policy.inherited);
        frame.policy = Policy { inherited, ..choice.policy.clone() };
        frame.policy.inherited.join(&briefing::held(app, &choice.workspace));
        frames::fit_rounds_to_goal(app, &mut frame, &goal);
        let context = frames::place_of(&choice.workspace) + &earlier.told();
        let goal = Goal { text: goal, context, images: choice.images.clone() };
        let loop_name = choice.loop_name.clone();
        let idem_key = key.map(str::to_owned);
        let submission = Submission { loop_name, goal, frame, idem_key };
        self.at_limit = None;
        self.unsettled.run = None;
        let made = self.engine.submit_in(self.router.conversation.clone(), submission).await?;
        self.questions.terminals.take(&made);
        // They went with this goal; the next one has its own.
        self.choice.images.clear();
        self.choice.policy.inherited = Taint::default();
        Ok(made)
    }

    fn use_model(&mut self, name: String) {
        self.router.model = model_state(&name);
        self.choice.model = name;
    }

    /// How many runs of the conversation work on when it is left.
    pub async fn count_working(&self) -> usize {
        let open = self.questions.open_runs().await.unwrap_or_default();
        open.iter().filter(|(_, status)| *status != Status::Waiting).count()
    }

    /// Lets what is under way come to a durable point. Every run is kept.
    pub async fn leave(self) {
        self.background.end(&self.engine).await;
    }

    /// Reminders that no other process has shown yet. A store that fails for a moment is asked
    /// again.
    pub async fn new_reminders(&self) -> Vec<Firing> {
        crate::reminding::take_new(&self.app, self.store()).await.unwrap_or_default()
    }
}

/// The router of the terminal conversation of this home.
///
/// # Errors
/// If the conversation's name cannot be kept.
pub fn router(app: &App, model: &str) -> Result<Router, AppError> {
    Ok(Router {
        conversation: conversation_id(app)?,
        cancel_phrases: cancel_phrases(app),
        model: model_state(model),
    })
}

fn model_state(name: &str) -> ModelState {
    if name.is_empty() { ModelState::Missing } else { ModelState::Configured }
}

/// The terminal conversation of this home. On a server that many homes share each has its own,
/// whose name lies in the data folder.
fn conversation_id(app: &App) -> Result<ConversationId, AppError> {
    if !app.database.is_shared() {
        return Ok(ConversationId::new("conv_terminal"));
    }
    let file = app.home.data().join("conversation");
    if let Ok(name) = std::fs::read_to_string(&file) {
        return Ok(ConversationId::new(name.trim()));
    }
    let name = fresh_id("conv_terminal_", SystemClock.now());
    let written =
        std::fs::create_dir_all(app.home.data()).and_then(|()| std::fs::write(&file, &name));
    written.map_err(AppError::Home)?;
    Ok(ConversationId::new(name))
}

/// What cancels: the person's own phrase, or the one of each language.
fn cancel_phrases(app: &App) -> Vec<String> {
    match app.settings.chat.cancel_phrase.as_str() {
        "" => [Lang::ZhCn, Lang::En].map(|lang| text::cancel::phrase().in_lang(lang)).to_vec(),
        phrase => vec![phrase.to_owned()],
    }
}
