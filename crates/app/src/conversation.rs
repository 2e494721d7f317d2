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

mod commands;
mod confirm;
mod custom;
mod earlier;
mod file_notes;
mod leftovers;
mod news;
mod others;
mod own_commands;
mod place;
mod questions;
mod queue;
mod reaction;
mod settle;
mod shown;
mod stop;
mod terminals;

pub use commands::{
    ChatScreen, CopyPart, FactList, FactReply, RewindReport, RewindTurn, SLASH_COMMANDS,
    history_text,
};
pub use confirm::ConfirmationResult;
pub use custom::{CommandEntry, ConversationCommands, UnusableCommand, UnusableReason};
pub(crate) use earlier::{EarlierTurns, is_mark};
pub use leftovers::{Leftover, Leftovers};
pub use news::{ConversationNews, News, NewsElsewhere};
pub use others::LeftConversation;
pub use own_commands::{CommandWatch, OwnCommandEnd};
pub(crate) use place::EARLIER_CONVERSATION;
pub use place::{ConversationOpening, ConversationRequest, ConversationSelection};
pub use questions::{Greeting, OpenQuestions, QuestionElsewhere};
pub use queue::{LineChoice, Queue, QueueTurn, QueuedLine};
pub use reaction::{AgendaReply, ChatReply, InboxChange, Reaction};
pub use shown::ShownRuns;
pub use stop::{ConversationRun, RunStop, is_at_limit};
pub(crate) use terminals::Terminals;

use crate::app::App;
use crate::background::BackgroundTasks;
use crate::briefing;
use crate::error::AppError;
use crate::facts;
use crate::frames::{self, RunOptions};
use crate::mentions::MentionedFiles;
use crate::router::{ModelState, Route, Router};
use crate::runs;
use everloop_agenda::commands::{self as agenda_commands, AgendaCommand, CommandError};
use everloop_agenda::desk::Agenda;
use everloop_agenda::show::DisplayContext;
use everloop_engine::{Engine, Submission, Watch};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{
    ApprovalMode, ConversationId, Goal, Image, Lang, Policy, RunId, Taint, Unattended,
};
use own_commands::OwnCommand;
use place::ConversationPlace;
use settle::UnsettledCalls;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    place: ConversationPlace,
    opening: ConversationOpening,
    /// The facts that were listed last, in the order of their numbers.
    listed_facts: Vec<everloop_types::FactId>,
}

/// How new goals are worked on.
pub struct RunChoice {
    loop_name: String,
    model: String,
    workspace: PathBuf,
    policy: Policy,
    persona: String,
    /// Images that go with the next goal.
    images: Vec<Image>,
    /// Commands that the person ran; their output goes with the next goal.
    commands: Vec<OwnCommand>,
}

/// How one goal is worked on, where that is not as others are.
#[derive(Debug, Default)]
struct GoalOptions {
    loop_name: Option<String>,
    model: Option<String>,
}

/// A run that a goal became, and what is to be said of the files that the goal names.
struct BegunRun {
    run: RunId,
    note: Option<ChatReply>,
}

impl From<BegunRun> for Reaction {
    fn from(begun: BegunRun) -> Self {
        Self::Follow(begun.run, begun.note)
    }
}

impl RunChoice {
    fn read(app: &App, options: &RunOptions) -> Result<Self, AppError> {
        let workspace = frames::workspace(options.workspace.as_deref())?;
        // A conversation is answered through its lines, whoever writes them.
        let mode = frames::wanted_mode(app, options);
        let mut policy = Policy { unattended: Unattended::Wait, ..frames::policy(app, mode) };
        policy.inherited = briefing::pictured(app, &workspace, &options.images);
        Ok(Self {
            loop_name: frames::wanted_loop(app, options, &workspace)?,
            model: frames::wanted_model(app, options)?,
            workspace,
            policy,
            persona: briefing::persona(app, options.persona.as_deref())?.name,
            images: briefing::images(app, &options.images)?,
            commands: Vec::new(),
        })
    }

    /// The folder.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The loop.
    #[must_use]
    pub fn loop_name(&self) -> &str {
        &self.loop_name
    }

    /// The model; empty if there is none.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The persona.
    #[must_use]
    pub fn persona(&self) -> &str {
        &self.persona
    }

    /// What is done without asking.
    #[must_use]
    pub fn approval_mode(&self) -> ApprovalMode {
        self.policy.mode
    }

    fn use_mode(&mut self, mode: ApprovalMode) {
        self.policy.mode = mode;
        self.policy.approve_all = mode == ApprovalMode::All;
    }
}

impl Conversation {
    /// Opens the conversation that is asked for, takes up what earlier processes left in it, and
    /// begins to drive runs if no other process does.
    ///
    /// # Errors
    /// If something that is named does not exist, or the store fails.
    pub async fn open(
        app: App,
        options: &RunOptions,
        request: &ConversationRequest,
    ) -> Result<Self, AppError> {
        let store = app.open_store().await?;
        Self::open_on(app, options, request, store).await
    }

    /// The same on a database that is open already: a process opens one only once.
    ///
    /// # Errors
    /// As [`Conversation::open`].
    pub async fn open_on(
        app: App,
        options: &RunOptions,
        request: &ConversationRequest,
        store: Store,
    ) -> Result<Self, AppError> {
        let mut choice = RunChoice::read(&app, options)?;
        let mut terminals = Terminals::open(&app);
        let mut folder = choice.workspace.clone();
        let (place, opening) =
            ConversationPlace::choose(&app, &store, request, &mut folder, &mut terminals).await?;
        // A folder that the person named is theirs to name.
        if options.workspace.is_none() {
            choice.workspace = folder;
        }
        let engine = app.engine(store.clone()).await?;
        let shown = ShownRuns::new(engine.clone());
        let watch = engine.watch();
        let router = router(&app, &choice.model);
        let agenda = app.agenda(store);
        let others = terminals.of_others().runs;
        let (leftovers, background) = Leftovers::take_up(&app, &engine, &place.id, &others).await?;
        leftovers.runs.iter().for_each(|run| terminals.take(run));
        let unsettled = UnsettledCalls::new(engine.clone(), place.id.clone());
        let questions =
            OpenQuestions::open(engine.store().clone(), place.id.clone(), terminals).await?;
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
            place,
            opening,
            listed_facts: Vec::new(),
        })
    }

    /// The conversation's id.
    #[must_use]
    pub fn id(&self) -> &ConversationId {
        &self.place.id
    }

    /// How to open this conversation again.
    #[must_use]
    pub fn request(&self) -> ConversationRequest {
        self.place.request(self.place.selection())
    }

    /// Which conversation was opened, and why not another one.
    #[must_use]
    pub fn opening(&self) -> &ConversationOpening {
        &self.opening
    }

    /// Goes on with another conversation. Runs of the one that is left work on.
    async fn enter(&mut self, which: ConversationSelection) -> Result<(), AppError> {
        self.place.mark_read(self.store()).await;
        let request = self.place.request(which);
        let mut folder = self.choice.workspace.clone();
        let terminals = &mut self.questions.terminals;
        let store = self.engine.store();
        let chosen =
            ConversationPlace::choose(&self.app, store, &request, &mut folder, terminals).await?;
        (self.place, self.opening) = chosen;
        self.choice.workspace = folder;
        self.at_limit = None;
        self.listed_facts.clear();
        self.unsettled = UnsettledCalls::new(self.engine.clone(), self.place.id.clone());
        self.questions.enter(self.place.id.clone()).await
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

    /// How new goals are worked on.
    #[must_use]
    pub fn choice(&self) -> &RunChoice {
        &self.choice
    }

    /// The commands that can be typed here.
    #[must_use]
    pub fn commands(&self) -> ConversationCommands<'_> {
        ConversationCommands { app: &self.app, workspace: &self.choice.workspace }
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
        let reader = self.app.reader_at(None);
        let menu = self.questions.take_scope_menu();
        let route = self.router.route(line, &reader.now, self.questions.seen.clone());
        let reaction = match route {
            Route::Nothing => Reaction::Reply(ChatReply::Empty),
            Route::Cancel => Reaction::Reply(self.cancel().await?),
            Route::Wrong(wrong @ CommandError::NoSuchCommand(..)) => {
                self.custom(line, wrong, key).await?
            }
            Route::Wrong(wrong) => Reaction::Reply(ChatReply::Wrong(wrong)),
            Route::OwnCommand(command) => Reaction::RunCommand(command),
            Route::NoModel => Reaction::Reply(ChatReply::NoModel),
            Route::Rule(command) => Reaction::Confirm(command),
            Route::Look(command, line) => {
                let done = self.perform(&line, &command, &reader).await?;
                let understood = Some(line);
                Reaction::Reply(ChatReply::Agenda(AgendaReply { understood, ..done }))
            }
            Route::Slash(slash) => slash.handle(self).await?,
            Route::Answer(open, text) => self.answer(open, text, menu).await?,
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
            && let Some(reaction) =
                self.run(&run).handle_limit_reply(&goal, self.choice.policy.approve_all).await?
        {
            return Ok(reaction);
        }
        Ok(self.begin(goal, key, &GoalOptions::default()).await?.into())
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
        let notes = agenda_commands::notes(&said, command, &reader.now);
        let result = self.agenda.perform(command, &reader.now, None).await?;
        Ok(AgendaReply { understood, notes, result })
    }

    /// Carries out a line about todos or the schedule.
    async fn perform_line(&self, line: &str) -> Result<ChatReply, AppError> {
        let reader = self.app.reader_at(None);
        match agenda_commands::parse(line, &reader.now) {
            Ok(command) => Ok(ChatReply::Agenda(self.perform(line, &command, &reader).await?)),
            Err(wrong) => Ok(ChatReply::Wrong(wrong)),
        }
    }

    /// Makes a run of a goal. When this returns, the run will be finished, whatever happens.
    async fn begin(
        &mut self,
        goal: String,
        key: Option<&str>,
        options: &GoalOptions,
    ) -> Result<BegunRun, AppError> {
        let app = &self.app;
        let choice = &self.choice;
        let model = options.model.as_ref().unwrap_or(&choice.model);
        let model = frames::model(app, model.clone())?;
        let loop_name = options.loop_name.as_ref().unwrap_or(&choice.loop_name).clone();
        let persona = briefing::persona(app, Some(&choice.persona))?;
        let mut frame = frames::frame(app, &loop_name, &choice.workspace, model, &persona)?;
        let earlier = EarlierTurns::of(app, self.store(), &self.place.id).await?;
        let mut inherited = earlier.held(self.store()).await;
        inherited.join(&choice.policy.inherited);
        frame.policy = Policy { inherited, ..choice.policy.clone() };
        frames::ask_about_edits(app, &mut frame);
        frame.policy.inherited.join(&briefing::held(app, &choice.workspace));
        frames::fit_rounds_to_goal(app, &mut frame, &goal);
        let mentioned = MentionedFiles::read(app, &choice.workspace, &goal, &frame.policy);
        frame.policy.inherited.join(&mentioned.held);
        facts::brief(app, self.store(), &mut frame).await?;
        let context = frames::place_of(&choice.workspace)
            + frames::mode_note(&frame.policy)
            + &earlier.told()
            + &choice.told_commands()
            + &mentioned.context;
        let images = choice.images.iter().cloned().chain(mentioned.images).collect();
        let goal = Goal { text: goal, context, images };
        let idem_key = key.map(str::to_owned);
        let submission =
            Submission { loop_name, goal, frame, idem_key, profile: Default::default() };
        self.at_limit = None;
        self.unsettled.run = None;
        self.place.record(&self.app, self.engine.store(), &self.choice.workspace).await?;
        let made = self.engine.submit_in(self.place.id.clone(), submission).await?;
        self.questions.terminals.take(&made);
        // They went with this goal; the next one has its own.
        self.choice.images.clear();
        self.choice.commands.clear();
        self.choice.policy.inherited = Taint::default();
        let notes = mentioned.notes;
        let note = (!notes.is_empty()).then(|| ChatReply::Mentions(notes));
        Ok(BegunRun { run: made, note })
    }

    /// Lets what is under way come to a durable point. Every run is kept.
    pub async fn leave(self) {
        self.place.mark_read(self.store()).await;
        self.background.end(&self.engine).await;
    }
}

/// The router of this home.
#[must_use]
pub fn router(app: &App, model: &str) -> Router {
    Router { cancel_phrases: cancel_phrases(app), model: model_state(model) }
}

fn model_state(name: &str) -> ModelState {
    if name.is_empty() { ModelState::Missing } else { ModelState::Configured }
}

/// What cancels: the person's own phrase, or the one of each language.
fn cancel_phrases(app: &App) -> Vec<String> {
    match app.settings.chat.cancel_phrase.as_str() {
        "" => [Lang::ZhCn, Lang::En].map(|lang| text::cancel::phrase().in_lang(lang)).to_vec(),
        phrase => vec![phrase.to_owned()],
    }
}
