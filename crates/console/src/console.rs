//! The application as the terminal has it: who is there, and lines to them.

use crate::exit::{Exit, Failure};
use crate::failure;
use crate::terminal;
use everloop_agenda::show::DisplayContext;
use everloop_app::early_language;
use everloop_app::home::Home;
use everloop_app::settings::{SettingFlags, SettingSources};
use everloop_app::{App, AppError, AppNotice, Notices, OpenOptions};
use everloop_engine::Engine;
use everloop_markdown::StyledLine;
use everloop_store::{Store, StoreError};
use everloop_text::{self as text, Text};
use everloop_tools::SandboxMode;
use everloop_types::{Lang, RunId};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

/// How the program was started, as the command line says it.
pub struct ConsoleOptions {
    /// Settings of the command line.
    pub flags: SettingFlags,
    /// Whether lines of progress are left out.
    pub quiet: bool,
    /// Whether a person may be asked, where one is there.
    pub may_ask: bool,
    /// The version of the program, which runs are recorded with.
    pub build: String,
}

/// The application, and how the person at the terminal wants it.
#[derive(Clone)]
pub struct Console {
    app: App,
    /// Whether questions may be asked.
    pub interactive: bool,
    /// Whether lines of progress are left out.
    pub quiet: bool,
}

/// A question that must be answered with a yes.
pub struct Agreement {
    /// What is asked.
    pub question: Text,
    /// Said where nobody can be asked.
    pub needs_yes: Text,
    /// Said after any other answer.
    pub declined: Text,
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
    /// Reads the settings; refuses to start if one of them cannot be used.
    pub fn start(options: ConsoleOptions) -> Result<Self, Failure> {
        let console = Self::start_anyway(options)?;
        match console.faults.first() {
            Some(fault) => Err(failure::of_setting(console.lang, fault)),
            None => Ok(console),
        }
    }

    /// Starts even if a setting cannot be used, for the commands that repair settings.
    pub fn start_anyway(options: ConsoleOptions) -> Result<Self, Failure> {
        let home = Home::find()
            .map_err(|error| Failure { exit: Exit::Configuration, words: error.to_string() })?;
        let ConsoleOptions { flags, quiet, may_ask, build } = options;
        let lang = early_language(flags.lang);
        let notices = Notices::new(move |notice| show_notice(lang, quiet, &notice));
        let sources = SettingSources::find(&home, flags);
        let app = App::open_anyway(OpenOptions { sources, home, build, notices });
        let console = Self { app, interactive: false, quiet };
        Ok(console.with_person(may_ask && terminal::person_is_there()))
    }

    /// The same with or without a person who can be asked.
    pub fn with_person(mut self, interactive: bool) -> Self {
        self.interactive = interactive;
        self.app.attended = interactive;
        self
    }

    /// The same in another language.
    pub fn with_language(mut self, lang: Lang) -> Self {
        self.app.lang = lang;
        self
    }

    /// The same without lines of progress.
    pub fn quietly(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// The same after the settings have changed.
    pub fn reread(&self, sources: SettingSources) -> Self {
        Self { app: self.app.reread(sources), ..self.clone() }
    }

    /// The application alone.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// A text in the person's language.
    pub fn text(&self, text: Text) -> String {
        text.in_lang(self.lang)
    }

    /// A line of progress, unless the person wants quiet.
    pub fn note(&self, text: Text) {
        self.note_line(&self.text(text));
    }

    /// The same for a line that is in words already.
    pub fn note_line(&self, line: &str) {
        if !self.quiet {
            terminal::eprint_line(line);
        }
    }

    /// The same for a line with a look.
    pub fn note_styled(&self, line: &StyledLine) {
        if !self.quiet {
            terminal::eprint_styled(line);
        }
    }

    /// Says that commands run without a sandbox, if the settings turned it off: also to those who
    /// want quiet. Says too that the workspace is the home, where more is closed.
    pub fn warn_of_sandbox(&self, workspace: &str) {
        if self.settings.tools.shell_sandbox == SandboxMode::Off {
            terminal::eprint_line(&self.text(text::run::no_sandbox()));
        }
        if everloop_tools::holds_home(Path::new(workspace)) {
            self.note(text::run::in_home());
        }
    }

    /// Asks a question that `--yes` may have answered; a refusal if nobody can be asked, or if the
    /// answer is not a yes.
    pub async fn agree(&self, yes: bool, ask: Agreement) -> Result<(), Failure> {
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
    pub fn failure(&self, exit: Exit, text: Text) -> Failure {
        Failure { exit, words: self.text(text) }
    }

    /// That the database refused.
    pub fn store_failure(&self, error: &StoreError) -> Failure {
        self.failure(Exit::Data, text::error::store(&everloop_app::error::chain(error)))
    }

    /// What an error of the application is for the person, and for scripts.
    pub fn fail(&self, error: AppError) -> Failure {
        failure::of(self, error)
    }

    /// The same for a result.
    pub fn checked<T>(&self, result: Result<T, AppError>) -> Result<T, Failure> {
        result.map_err(|error| self.fail(error))
    }

    /// Which of these names was meant, as a sentence; nothing if none is near.
    pub fn near<'a>(&self, name: &str, all: impl IntoIterator<Item = &'a str>) -> String {
        let hint = |nearest: &str| self.text(text::near::hint(&nearest));
        everloop_app::near::near(name, all).map_or_else(String::new, hint)
    }

    /// The database, made if there is none.
    pub async fn open_store(&self) -> Result<Store, Failure> {
        self.app.open_store().await.map_err(|error| self.fail(error))
    }

    /// For commands that read, and for those that find out themselves that nothing can be written.
    pub async fn open_to_read(&self) -> Result<Store, Failure> {
        self.app.open_to_read().await.map_err(|error| self.fail(error))
    }

    /// The engine over a store, with models and tools.
    pub async fn engine(&self, store: Store) -> Result<Arc<Engine>, Failure> {
        self.app.engine(store).await.map_err(|error| self.fail(error))
    }

    /// The run that an id, or the end of one, means.
    pub async fn find_run(&self, store: &Store, id: &str) -> Result<RunId, Failure> {
        self.app.find_run(store, id).await.map_err(|error| self.fail(error))
    }

    /// The person who reads, and their time.
    pub fn reader(&self) -> DisplayContext {
        self.app.reader_at(terminal::width())
    }
}

/// Shows a notice on stderr; some are left out where the person wants quiet.
fn show_notice(lang: Lang, quiet: bool, notice: &AppNotice) {
    let (words, is_minor) = failure::of_notice(lang, notice);
    if !(quiet && is_minor) {
        terminal::eprint_line(&words);
    }
}
