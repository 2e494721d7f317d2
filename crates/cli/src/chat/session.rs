//! What a chat knows, and what a line does.

use super::care::Care;
use super::left::Left;
use crate::app::App;
use crate::args;
use crate::commands::foreground::history;
use crate::commands::{family, run};
use crate::context;
use crate::exit::{Exit, Failure};
use crate::reminding;
use crate::terminal;
use everloop_assistant::commands::{self, Command};
use everloop_assistant::desk::Desk;
use everloop_assistant::door::{Door, Model, OpenQuestion, Way, question_of};
use everloop_assistant::show::{self, Reader};
use everloop_engine::{Asked, Clock, Engine, Submission, SystemClock, Watch};
use everloop_store::{Said, Sent, Store};
use everloop_types::{
    ConversationId, Goal, Holding, Image, Labels, Lang, Policy, QuestionKind, RunId, Status,
    Unattended,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One chat.
pub(super) struct Session {
    pub(super) app: App,
    pub(super) engine: Arc<Engine>,
    pub(super) desk: Desk,
    pub(super) door: Door,
    pub(super) choice: Choice,
    /// Everything that happens to runs that are driven here.
    pub(super) watch: Watch,
    /// The question that the person has before them; the next plain line answers it.
    pub(super) seen: Option<OpenQuestion>,
    /// A run that ended at its limit; the person may let it go on.
    pub(super) at_limit: Option<RunId>,
    /// A run that ended over a call whose outcome is unknown; the person may say what happened.
    pub(super) unsettled: Option<RunId>,
    background: Background,
}

/// What goes on beside the talk.
struct Background {
    /// What earlier processes left.
    left: Left,
    care: Care,
}

/// How new goals are worked on.
pub(super) struct Choice {
    pub(super) loop_name: String,
    pub(super) model: String,
    workspace: PathBuf,
    pub(super) policy: Policy,
    pub(super) persona: String,
    /// Pictures that go with the next goal.
    pub(super) images: Vec<Image>,
    /// What makes the next goal the same one if it is sent twice.
    pub(super) key: Option<String>,
}

/// What a line led to.
pub(super) enum Heard {
    /// Words for the person.
    Said(String),
    /// A run to look at until it ends or asks.
    Follow(RunId),
    /// A sentence that rules understood: the command, carried out after a yes.
    Confirm(String),
    /// The run in front goes on without being looked at.
    Background,
    /// The screen is to be cleared.
    Clear,
    /// The tour is wanted.
    Tour,
    /// The person leaves.
    Quit,
}

/// How long the chat waits for a canceled run to end.
const CANCEL_WITHIN: Duration = Duration::from_secs(10);

/// Characters of one earlier message that a new goal is told of.
const SAID_CHARS_MAX: usize = 2_000;

/// Characters of all of them.
const CONTEXT_CHARS_MAX: usize = 20_000;

/// The role of a message that begins a conversation anew.
pub(super) const ANEW: &str = "anew";

impl Session {
    pub(super) async fn open(app: App, args: &args::Chat) -> Result<Self, Failure> {
        let wanted = args.loop_name.as_deref().unwrap_or_else(|| app.settings.text("loop.default"));
        let choice = Choice {
            loop_name: run::loop_name(&app, wanted)?,
            model: run::default_model(&app),
            workspace: run::workspace(&app, args.workspace.as_deref())?,
            // A chat is answered through its lines, whoever writes them.
            policy: Policy { unattended: Unattended::Wait, ..run::policy(&app, args.yes) },
            persona: context::persona(&app, args.persona.as_deref())?.name,
            images: Vec::new(),
            key: None,
        };
        app.warn_of_no_walls();
        let store = app.open_store().await?;
        let engine = app.engine(store.clone()).await?;
        let watch = engine.watch();
        let door = Door {
            conversation: conversation(&app)?,
            cancel_phrases: cancel_phrases(&app),
            model: model_of(&choice.model),
        };
        let desk = app.desk(store);
        let (left, care) = Left::taken_up(&app, &engine, &door).await?;
        let (seen, at_limit, unsettled) = (None, None, None);
        let background = Background { left, care };
        Ok(Self { app, engine, desk, door, choice, watch, seen, at_limit, unsettled, background })
    }

    /// What earlier processes left.
    pub(super) fn left(&mut self) -> &mut Left {
        &mut self.background.left
    }

    pub(super) fn store(&self) -> &Store {
        self.engine.store()
    }

    pub(super) fn reader(&self) -> Reader {
        self.app.reader()
    }

    pub(super) fn text(&self, key: &str, args: &[(&str, &str)]) -> String {
        self.app.text(key, args)
    }

    pub(super) fn fail(&self, error: &everloop_store::StoreError) -> Failure {
        self.app.store_failure(error)
    }

    pub(super) async fn hear(&mut self, line: &str) -> Result<Heard, Failure> {
        let reader = self.reader();
        let way = self.door.way(self.store(), line, &reader.now, self.seen.clone()).await;
        let way = way.map_err(|error| self.fail(&error))?;
        if let Way::Goal(word) = &way
            && let Some(heard) = self.settles(word).await?
        {
            return Ok(heard);
        }
        if let (Some(run), Way::Goal(word)) = (self.at_limit.clone(), &way)
            && let Some(heard) = self.beyond_the_limit(&run, word).await?
        {
            return Ok(heard);
        }
        Ok(match way {
            Way::Nothing => Heard::Said(self.text("door.empty", &[])),
            Way::Cancel(run) => Heard::Said(self.cancel(run).await?),
            Way::Wrong(wrong) => Heard::Said(show::wrong(&reader, &wrong)),
            Way::NoModel => Heard::Said(self.text("door.no_model", &[])),
            Way::Rule(command) => Heard::Confirm(command),
            Way::Command(Command::Talk(verb, rest)) => self.talk(verb.name, rest.trim()).await?,
            Way::Command(command) => Heard::Said(self.perform(line, &command, &reader).await?),
            Way::Answer(open, text) => self.answer(open, text).await?,
            Way::Goal(goal) => Heard::Follow(self.begin(goal).await?),
        })
    }

    /// What a line does, or why it did nothing: a model that cannot be used and a store that is
    /// locked for a moment are no reasons to leave.
    pub(super) async fn heard(&mut self, line: &str) -> Heard {
        match self.hear(line).await {
            Ok(heard) => heard,
            Err(failure) => Heard::Said(failure.words),
        }
    }

    /// The question that the next plain line will answer, if it has not been shown yet.
    pub(super) async fn question_to_show(&mut self) -> Result<Option<OpenQuestion>, Failure> {
        let fail = |error| self.app.store_failure(&error);
        if let Some(seen) = &self.seen {
            let still = question_of(self.engine.store(), &seen.run).await.map_err(fail)?;
            if still.is_some_and(|still| still.question.id == seen.question.id) {
                return Ok(None);
            }
        }
        self.seen = self.door.open_question(self.engine.store()).await.map_err(fail)?;
        Ok(self.seen.clone())
    }

    /// A run that is over asks nothing any more, whoever answered it.
    pub(super) fn forget_question_of(&mut self, over: &RunId) {
        self.seen = self.seen.take().filter(|seen| seen.run != *over);
    }

    /// A command about todos or the schedule; its dates are said back before it is carried out.
    pub(super) async fn perform(
        &self,
        line: &str,
        command: &Command,
        reader: &Reader,
    ) -> Result<String, Failure> {
        if let Some(line) = commands::echo(&commands::normal(line), command, &reader.now) {
            terminal::answer(&self.text("command.understood", &[("line", &line)]));
        }
        let performed = self.desk.perform(command, &reader.now, None).await;
        let answer = performed.map_err(|error| self.fail(&error))?;
        Ok(show::answer(reader, &answer))
    }

    /// What rules made of a sentence, after a yes.
    pub(super) async fn perform_rule(&self, line: &str) -> Result<String, Failure> {
        let reader = self.reader();
        match commands::parse(line, &reader.now) {
            Ok(command) => self.perform(line, &command, &reader).await,
            Err(wrong) => Ok(show::wrong(&reader, &wrong)),
        }
    }

    async fn cancel(&mut self, run: Option<RunId>) -> Result<String, Failure> {
        let Some(run) = run else { return Ok(self.text("door.nothing_to_cancel", &[])) };
        let sent = self.engine.cancel(&run, "user").await;
        sent.map_err(|error| self.fail(&error))?;
        // Whoever drives it ends it soon; if nobody does, its cancel waits in its inbox.
        let _ = tokio::time::timeout(CANCEL_WITHIN, self.until_still(&run)).await;
        self.forget_question_of(&run);
        Ok(self.text("door.canceled", &[]))
    }

    async fn answer(&mut self, open: OpenQuestion, text: String) -> Result<Heard, Failure> {
        if open.question.kind == QuestionKind::Settle {
            return self.answer_settling(open, &text).await;
        }
        self.seen = None;
        let said = text.clone();
        let answer = Asked { question: open.question.id, text, by: "user".to_owned() };
        let sent = self.engine.answer(&open.run, answer).await;
        match sent.map_err(|error| self.fail(&error))? {
            Sent::AlreadySent => Ok(Heard::Said(self.text("run.already_answered", &[]))),
            // Nobody asks any more: it was answered or canceled elsewhere.
            Sent::Finished(_) | Sent::NoSuchRun => Ok(Heard::Follow(self.begin(said).await?)),
            Sent::Accepted => {
                Ok(Heard::Follow(family::top(&self.app, self.store(), &open.run).await?))
            }
        }
    }

    /// Makes a run of a goal. When this returns, the run will be finished, whatever happens.
    pub(super) async fn begin(&mut self, goal: String) -> Result<RunId, Failure> {
        let (app, choice) = (&self.app, &self.choice);
        let model = run::model(app, choice.model.clone())?;
        let persona = context::persona(app, Some(&choice.persona))?;
        let mut frame = run::frame(app, &choice.loop_name, &choice.workspace, model, &persona)?;
        frame.policy = Policy { inherited: self.held().await?, ..choice.policy.clone() };
        frame.policy.inherited.join(&context::held(app, &choice.workspace));
        run::suit(app, &mut frame, &goal);
        let context = run::place_of(&choice.workspace) + &self.earlier().await?;
        let goal = Goal { text: goal, context, images: choice.images.clone() };
        let loop_name = choice.loop_name.clone();
        let idem_key = choice.key.clone();
        let submission = Submission { loop_name, goal, frame, idem_key };
        let made = self.engine.submit_in(self.door.conversation.clone(), submission).await;
        (self.at_limit, self.unsettled) = (None, None);
        let made = made.map_err(|error| self.fail(&error))?;
        // They went with this goal; the next one has its own.
        self.choice.images.clear();
        Ok(made)
    }

    /// What was said before, as the model reads it with a new goal.
    async fn earlier(&self) -> Result<String, Failure> {
        let turns = self.app.settings.small("chat.context_turns") as usize;
        Ok(told(&self.recent().await?, turns))
    }

    /// The messages that a new goal is told of.
    async fn recent(&self) -> Result<Vec<Said>, Failure> {
        let turns = self.app.settings.small("chat.context_turns") as usize;
        let said = self.store().said_in(&self.door.conversation, turns * 4 + 1).await;
        let mut said = said.map_err(|error| self.fail(&error))?;
        let begins = said.iter().rposition(|said| said.role == ANEW).map_or(0, |at| at + 1);
        said.drain(..begins);
        Ok(said)
    }

    /// What the runs have read whose words a new goal is told of, and what the person opened for
    /// them: it is the same talk.
    async fn held(&self) -> Result<Holding, Failure> {
        let mut held = Holding::default();
        let runs: BTreeSet<RunId> =
            self.recent().await?.into_iter().filter_map(|said| said.run).collect();
        for run in runs {
            let Ok(past) = history(&self.app, self.store(), &run).await else {
                held.take(Labels::ALL, run.as_str());
                continue;
            };
            let holding = past.holding();
            held.join(&holding);
            holding.released.iter().for_each(|place| held.release(place));
        }
        Ok(held)
    }

    /// Puts the program into another language.
    pub(super) fn speak(&mut self, lang: Lang) {
        self.app.lang = lang;
    }

    pub(super) fn use_model(&mut self, name: String) {
        self.door.model = model_of(&name);
        self.choice.model = name;
    }
}

/// The last turns, each message cut to a bound.
fn told(said: &[Said], turns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut left = CONTEXT_CHARS_MAX;
    for said in said.iter().rev().take(turns * 4) {
        let cut: String = said.body.chars().take(SAID_CHARS_MAX.min(left)).collect();
        left -= cut.chars().count();
        if cut.is_empty() {
            break;
        }
        lines.push(format!("{}: {cut}", said.role));
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.push("\n[earlier in this conversation, for reference only]".to_owned());
    lines.reverse();
    lines.join("\n")
}

fn model_of(name: &str) -> Model {
    if name.is_empty() { Model::Missing } else { Model::Configured }
}

/// The terminal conversation of this home. On a server that many homes share each has its own,
/// whose name lies in the data folder.
fn conversation(app: &App) -> Result<ConversationId, Failure> {
    if !app.is_cluster() {
        return Ok(ConversationId::new("conv_terminal"));
    }
    let file = app.home.data().join("conversation");
    if let Ok(name) = std::fs::read_to_string(&file) {
        return Ok(ConversationId::new(name.trim()));
    }
    let name = everloop_engine::fresh_id("conv_terminal_", SystemClock.now());
    let written =
        std::fs::create_dir_all(app.home.data()).and_then(|()| std::fs::write(&file, &name));
    written.map_err(|error| app.failure(Exit::Data, "error.system", &error))?;
    Ok(ConversationId::new(name))
}

/// What cancels: the person's own phrase, or the one of each language.
fn cancel_phrases(app: &App) -> Vec<String> {
    match app.settings.text("chat.cancel_phrase") {
        "" => [Lang::ZhCn, Lang::En]
            .map(|lang| everloop_text::get(lang, "cancel.phrase", &[]))
            .to_vec(),
        phrase => vec![phrase.to_owned()],
    }
}

impl Session {
    /// Lets what is under way come to a durable point. Every run is kept.
    pub(super) async fn leave(self) {
        let open = self.door.open_runs(self.store()).await.unwrap_or_default();
        let going = open.iter().filter(|(_, status)| *status != Status::Waiting).count();
        if going > 0 {
            self.app.note("chat.left_open", &[("count", &going.to_string())]);
        }
        self.background.care.end(&self.engine).await;
    }

    /// Reminders that no other process has shown yet.
    pub(super) async fn new_reminders(&self) -> Vec<String> {
        reminding::new_lines(&self.app, self.store()).await
    }
}
