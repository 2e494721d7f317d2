//! The application as the terminal has it: who is there, and lines to them.

use crate::args::{Command, CommonArgs};
use crate::build;
use crate::exit::{Exit, Failure};
use crate::failure;
use crate::terminal;
use everloop_agenda::show::DisplayContext;
use everloop_app::home::Home;
use everloop_app::settings::{SettingFlags, SettingSources};
use everloop_app::{App, AppError, AppNotice, Notices, OpenOptions};
use everloop_engine::Engine;
use everloop_store::{Store, StoreError};
use everloop_text::{self as text, Text};
use everloop_tools::SandboxMode;
use everloop_types::{Lang, RunId};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

pub(crate) use everloop_app::early_language;

/// The application, and how the person at the terminal wants it.
#[derive(Clone)]
pub(crate) struct Console {
    app: App,
    /// Whether questions may be asked.
    pub(crate) interactive: bool,
    pub(crate) quiet: bool,
}

/// A question that must be answered with a yes.
pub(crate) struct Agreement {
    pub(crate) question: Text,
    /// Said where nobody can be asked.
    pub(crate) needs_yes: Text,
    /// Said after any other answer.
    pub(crate) declined: Text,
}

impl Deref for Console {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl DerefMut for Console {
    fn deref_mut(&mut self) -> &mut App {
        &mut self.app
    }
}

impl Console {
    pub(crate) fn start(common: &CommonArgs) -> Result<Self, Failure> {
        let console = Self::start_anyway(common)?;
        match console.faults.first() {
            Some(fault) => Err(failure::of_setting(console.lang, fault)),
            None => Ok(console),
        }
    }

    /// Starts even if a setting cannot be used, for the commands that repair settings.
    pub(crate) fn start_anyway(common: &CommonArgs) -> Result<Self, Failure> {
        let home = Home::find()
            .map_err(|error| Failure { exit: Exit::Configuration, words: error.to_string() })?;
        let lang = early_language(common.lang);
        let quiet = common.quiet;
        let notices = Notices::new(move |notice| show_notice(lang, quiet, &notice));
        let flags = SettingFlags {
            set: common.set.clone(),
            time_zone: common.tz.clone(),
            database: common.database.clone(),
            lang: common.lang,
        };
        let sources = SettingSources::find(&home, flags);
        let build = build::VERSION.to_owned();
        let app = App::open_anyway(OpenOptions { sources, home, build, notices });
        let console = Self { app, interactive: false, quiet };
        Ok(console.with_person(!common.no_input && terminal::person_is_there()))
    }

    /// The same with or without a person who can be asked.
    pub(crate) fn with_person(mut self, interactive: bool) -> Self {
        self.interactive = interactive;
        self.app.attended = interactive;
        self
    }

    /// The same in another language.
    pub(crate) fn with_language(mut self, lang: Lang) -> Self {
        self.app.lang = lang;
        self
    }

    /// The same without lines of progress.
    pub(crate) fn quietly(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// The same after the settings have changed.
    pub(crate) fn reread(&self, sources: SettingSources) -> Self {
        Self { app: self.app.reread(sources), ..self.clone() }
    }

    /// The application alone.
    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// One thread drives one run; only a worker and a comparison have more to do.
    pub(crate) fn threads(&self, command: Option<&Command>) -> usize {
        match command {
            Some(Command::Worker(_) | Command::Compare(_)) => {
                std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
            }
            _ => 1,
        }
    }

    /// A text in the person's language.
    pub(crate) fn text(&self, text: Text) -> String {
        text.in_lang(self.lang)
    }

    /// A line of progress, unless the person wants quiet.
    pub(crate) fn note(&self, text: Text) {
        self.note_line(&self.text(text));
    }

    /// The same for a line that is in words already.
    pub(crate) fn note_line(&self, line: &str) {
        if !self.quiet {
            terminal::complain(line);
        }
    }

    /// Says that commands run without a sandbox, if the settings turned it off: also to those who
    /// want quiet. Says too that the workspace is the home, where more is closed.
    pub(crate) fn warn_of_sandbox(&self, workspace: &str) {
        if self.settings.tools.shell_sandbox == SandboxMode::Off {
            terminal::complain(&self.text(text::run::no_sandbox()));
        }
        if everloop_tools::holds_home(Path::new(workspace)) {
            self.note(text::run::in_home());
        }
    }

    /// Asks a question that `--yes` may have answered; a refusal if nobody can be asked, or if the
    /// answer is not a yes.
    pub(crate) async fn agree(&self, yes: bool, ask: Agreement) -> Result<(), Failure> {
        if yes {
            return Ok(());
        }
        if !self.interactive {
            return Err(self.failure(Exit::NeedsPerson, ask.needs_yes));
        }
        let answer = terminal::ask(&self.text(ask.question)).await;
        if answer.is_some_and(|answer| everloop_text::means_yes(&answer)) {
            return Ok(());
        }
        Err(self.failure(Exit::NeedsPerson, ask.declined))
    }

    /// A failure in the person's language.
    pub(crate) fn failure(&self, exit: Exit, text: Text) -> Failure {
        Failure { exit, words: self.text(text) }
    }

    pub(crate) fn store_failure(&self, error: &StoreError) -> Failure {
        self.failure(Exit::Data, text::error::store(&everloop_app::error::chain(error)))
    }

    /// What an error of the application is for the person, and for scripts.
    pub(crate) fn fail(&self, error: AppError) -> Failure {
        failure::of(self, error)
    }

    /// The same for a result.
    pub(crate) fn checked<T>(&self, result: Result<T, AppError>) -> Result<T, Failure> {
        result.map_err(|error| self.fail(error))
    }

    /// Which of these names was meant, as a sentence; nothing if none is near.
    pub(crate) fn near<'a>(&self, name: &str, all: impl IntoIterator<Item = &'a str>) -> String {
        let hint = |nearest: &str| self.text(text::near::hint(&nearest));
        everloop_app::near::near(name, all).map_or_else(String::new, hint)
    }

    pub(crate) async fn open_store(&self) -> Result<Store, Failure> {
        self.app.open_store().await.map_err(|error| self.fail(error))
    }

    /// For commands that read, and for those that find out themselves that nothing can be written.
    pub(crate) async fn open_to_read(&self) -> Result<Store, Failure> {
        self.app.open_to_read().await.map_err(|error| self.fail(error))
    }

    pub(crate) async fn engine(&self, store: Store) -> Result<Arc<Engine>, Failure> {
        self.app.engine(store).await.map_err(|error| self.fail(error))
    }

    /// The run that an id, or the end of one, means.
    pub(crate) async fn find_run(&self, store: &Store, id: &str) -> Result<RunId, Failure> {
        self.app.find_run(store, id).await.map_err(|error| self.fail(error))
    }

    /// The person who reads, and their time.
    pub(crate) fn reader(&self) -> DisplayContext {
        self.app.reader_at(terminal::width())
    }
}

/// Shows a notice on stderr; some are left out where the person wants quiet.
fn show_notice(lang: Lang, quiet: bool, notice: &AppNotice) {
    let (words, is_minor) = failure::of_notice(lang, notice);
    if !(quiet && is_minor) {
        terminal::complain(&words);
    }
}
