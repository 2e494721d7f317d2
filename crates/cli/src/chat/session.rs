//! What a chat knows, and what a line does.

use super::care::Care;
use super::earlier::Earlier;
use super::entrance::{door, model_of};
use super::left::Left;
use super::terminals::Terminals;
use crate::app::App;
use crate::args;
use crate::commands::{family, run};
use crate::context;
use crate::exit::Failure;
use crate::reminding;
use crate::terminal;
use crate::trouble;
use everloop_agenda::commands::{self, Command};
use everloop_agenda::desk::Agenda;
use everloop_agenda::door::{OpenQuestion, Router, Way};
use everloop_agenda::show::{self, Reader};
use everloop_engine::{Engine, Submission, Watch};
use everloop_store::Store;
use everloop_text as text;
use everloop_types::{Goal, Image, Lang, Policy, RunId, Status, Taint, Unattended};
use std::path::PathBuf;
use std::sync::Arc;

/// One chat.
pub(super) struct Session {
    pub(super) app: App,
    pub(super) engine: Arc<Engine>,
    pub(super) desk: Agenda,
    pub(super) door: Router,
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
    terminals: Terminals,
}

/// How new goals are worked on.
pub(super) struct Choice {
    pub(super) loop_name: String,
    pub(super) model: String,
    pub(super) workspace: PathBuf,
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

impl Session {
    pub(super) async fn open(app: App, args: &args::Chat) -> Result<Self, Failure> {
        let how = &args.how;
        let workspace = run::workspace(&app, how.workspace.as_deref())?;
        let mut policy = Policy { unattended: Unattended::Wait, ..run::policy(&app, how.yes) };
        policy.inherited = context::pictured(&app, &workspace, &how.image);
        let choice = Choice {
            loop_name: run::wanted_loop(&app, how, &workspace)?,
            model: run::wanted_model(&app, how)?,
            workspace,
            // A chat is answered through its lines, whoever writes them.
            policy,
            persona: context::persona(&app, how.persona.as_deref())?.name,
            images: context::images(&app, &how.image)?,
            key: None,
        };
        app.warn_of_walls(&choice.workspace.display().to_string());
        let store = app.open_store().await?;
        let engine = app.engine(store.clone()).await?;
        let watch = engine.watch();
        let door = door(&app, &choice.model)?;
        let desk = app.desk(store);
        let mut terminals = Terminals::open(&app);
        let (left, care) = Left::taken_up(&app, &engine, &door).await?;
        left.runs.iter().for_each(|run| terminals.take(run));
        let (seen, at_limit, unsettled) = (None, None, None);
        let background = Background { left, care, terminals };
        let mut session =
            Self { app, engine, desk, door, choice, watch, seen, at_limit, unsettled, background };
        session.take_up_questions().await?;
        Ok(session)
    }

    /// Which terminal has which run.
    pub(super) fn terminals(&self) -> &Terminals {
        &self.background.terminals
    }

    pub(super) fn terminals_mut(&mut self) -> &mut Terminals {
        &mut self.background.terminals
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

    pub(super) fn text(&self, text: everloop_text::Text) -> String {
        self.app.text(text)
    }

    pub(super) fn fail(&self, error: &everloop_store::StoreError) -> Failure {
        self.app.store_failure(error)
    }

    pub(super) async fn hear(&mut self, line: &str) -> Result<Heard, Failure> {
        let reader = self.reader();
        let way = self.door.way(line, &reader.now, self.seen.clone());
        let heard = match way {
            Way::Nothing => Heard::Said(self.text(text::door::empty())),
            Way::Cancel => Heard::Said(self.cancel().await?),
            Way::Wrong(wrong) => Heard::Said(show::wrong(&reader, &wrong)),
            Way::Steer => Heard::Said(self.text(text::chat::nothing_to_steer())),
            Way::NoModel => Heard::Said(trouble::no_model_line(&self.app)),
            Way::Rule(command) => Heard::Confirm(command),
            Way::Look(command, line) => {
                terminal::answer(&self.text(text::command::understood(&line)));
                Heard::Said(self.perform(&line, &command, &reader).await?)
            }
            Way::Command(Command::Talk(verb, rest)) => self.talk(verb.name, rest.trim()).await?,
            Way::Command(command) => Heard::Said(self.perform(line, &command, &reader).await?),
            Way::Answer(open, text) => self.answer(open, text).await?,
            Way::Goal(goal) => self.goal(goal).await?,
        };
        if let Heard::Follow(run) = &heard {
            let top = family::top(&self.app, self.store(), run).await?;
            self.terminals_mut().take(&top);
        }
        Ok(heard)
    }

    /// A plain line without an open question: a word about the run that ended last, or a new goal.
    async fn goal(&mut self, goal: String) -> Result<Heard, Failure> {
        if let Some(heard) = self.settles(&goal).await? {
            return Ok(heard);
        }
        if let Some(run) = self.at_limit.clone()
            && let Some(heard) = self.handle_limit_reply(&run, &goal).await?
        {
            return Ok(heard);
        }
        Ok(Heard::Follow(self.begin(goal).await?))
    }

    /// What a line does, or why it did nothing: a model that cannot be used and a store that is
    /// locked for a moment are no reasons to leave.
    pub(super) async fn heard(&mut self, line: &str) -> Heard {
        match self.hear(line).await {
            Ok(heard) => heard,
            Err(failure) => Heard::Said(failure.words),
        }
    }

    /// A command about todos or the schedule; its dates are said back before it is carried out.
    pub(super) async fn perform(
        &self,
        line: &str,
        command: &Command,
        reader: &Reader,
    ) -> Result<String, Failure> {
        let said = commands::normal(line);
        if let Some(line) = commands::echo(&said, command, &reader.now, reader.lang) {
            terminal::answer(&self.text(text::command::understood(&line)));
        }
        if let Some(year) = commands::other_year(&said, command, &reader.now) {
            terminal::answer(&self.text(text::notice::other_year(&year)));
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

    /// Makes a run of a goal. When this returns, the run will be finished, whatever happens.
    pub(super) async fn begin(&mut self, goal: String) -> Result<RunId, Failure> {
        let (app, choice) = (&self.app, &self.choice);
        let model = run::model(app, choice.model.clone())?;
        let persona = context::persona(app, Some(&choice.persona))?;
        let mut frame = run::frame(app, &choice.loop_name, &choice.workspace, model, &persona)?;
        let earlier = Earlier::of(app, self.store(), &self.door.conversation).await?;
        let mut inherited = earlier.held(app, self.store()).await;
        inherited.join(&choice.policy.inherited);
        frame.policy = Policy { inherited, ..choice.policy.clone() };
        frame.policy.inherited.join(&context::held(app, &choice.workspace));
        run::suit(app, &mut frame, &goal);
        let context = run::place_of(&choice.workspace) + &earlier.told();
        let goal = Goal { text: goal, context, images: choice.images.clone() };
        let loop_name = choice.loop_name.clone();
        let idem_key = choice.key.clone();
        let submission = Submission { loop_name, goal, frame, idem_key };
        let made = self.engine.submit_in(self.door.conversation.clone(), submission).await;
        (self.at_limit, self.unsettled) = (None, None);
        let made = made.map_err(|error| self.fail(&error))?;
        self.terminals_mut().take(&made);
        // They went with this goal; the next one has its own.
        self.choice.images.clear();
        self.choice.policy.inherited = Taint::default();
        Ok(made)
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

impl Session {
    /// Lets what is under way come to a durable point. Every run is kept.
    pub(super) async fn leave(self) {
        let open = self.door.open_runs(self.store()).await.unwrap_or_default();
        let going = open.iter().filter(|(_, status)| *status != Status::Waiting).count();
        if going > 0 {
            self.app.note(text::chat::left_open(&going));
        }
        self.background.care.end(&self.engine).await;
    }

    /// Reminders that no other process has shown yet.
    pub(super) async fn new_reminders(&self) -> Vec<String> {
        reminding::new_lines(&self.app, self.store()).await
    }
}
