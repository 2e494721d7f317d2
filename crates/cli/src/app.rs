//! What every command needs: language, settings, folders, store, engine.

use crate::args::{Command, Common};
use crate::audit_file::AuditFile;
use crate::database::Database;
use crate::exit::{Exit, Failure};
use crate::home::Home;
use crate::means::{LocalEnvironment, Places};
use crate::prices::Prices;
use crate::secrets;
use crate::settings::{Fault, FaultKind, Origin, Settings, Sources, fault_words};
use crate::{build, own, terminal};
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::{AgendaConfig, CatchUp, moment};
use everloop_agenda::show::Reader;
use everloop_engine::{
    Clock, Engine, Identity, LeaseTimes, Rules, SharedClock, SystemClock, fresh_id,
};
use everloop_store::{Store, StoreError};
use everloop_text::{self as text, Text};
use everloop_tools::mcp::Servers;
use everloop_types::{Lang, RunId, WorkerId};
use jiff::tz::TimeZone;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A shorter lease would run out between two heartbeats on a busy machine.
const LEASE_MIN_MS: u64 = 600;

#[derive(Clone)]
pub(crate) struct App {
    pub(crate) lang: Lang,
    pub(crate) settings: Settings,
    /// Where the settings came from.
    pub(crate) sources: Sources,
    /// What cannot be used of the settings; empty unless the app was started all the same.
    pub(crate) faults: Vec<Fault>,
    pub(crate) home: Home,
    pub(crate) database: Database,
    /// Whether questions may be asked.
    pub(crate) interactive: bool,
    pub(crate) quiet: bool,
}

impl App {
    pub(crate) fn start(common: &Common) -> Result<Self, Failure> {
        let app = Self::start_anyway(common)?;
        match app.faults.first() {
            Some(fault) => Err(bad_setting(app.lang, fault)),
            None => Ok(app),
        }
    }

    /// Starts even if a setting cannot be used, for the commands that repair settings.
    pub(crate) fn start_anyway(common: &Common) -> Result<Self, Failure> {
        let fail = |exit, words| Failure { exit, words };
        let home = Home::find().map_err(|error| fail(Exit::Configuration, error.to_string()))?;
        let (mut app, warnings) = Self::of(sources(common, &home), home);
        app.interactive = !common.no_input && terminal::person_is_there();
        app.quiet = common.quiet;
        for warning in &warnings {
            terminal::complain(&fault_words(app.lang, warning));
        }
        Ok(app)
    }

    /// The same after the settings have changed.
    pub(crate) fn reread(&self, sources: Sources) -> Self {
        let (app, _) = Self::of(sources, self.home.clone());
        Self { interactive: self.interactive, quiet: self.quiet, ..app }
    }

    /// What the settings say, and what is odd about them.
    fn of(sources: Sources, home: Home) -> (Self, Vec<Fault>) {
        let first = early_language(sources.lang);
        let mut loaded = sources.read();
        let lang = match loaded.settings.text("ui.language") {
            name if sources.lang.is_none() && std::env::var_os("EVERLOOP_LANG").is_none() => {
                Lang::parse(name).unwrap_or(first)
            }
            _ => first,
        };
        let named = |name: &str| Database::named(name, &home);
        let address = secrets::behind(loaded.settings.text("store.database"), &loaded.settings);
        let found = address.map_err(|error| FaultKind::Secret(Box::new(error)));
        let found = found.and_then(|name| named(&name).ok_or(FaultKind::NoSuchDatabase));
        if let Err(what) = &found {
            let (key, origin) = ("store.database".to_owned(), Origin::Default);
            loaded.faults.push(Fault { key, origin, what: what.clone() });
        }
        let database = found.ok().or_else(|| named(""));
        let database = database.unwrap_or_else(|| unreachable!("no name is the embedded file"));
        let (settings, faults) = (loaded.settings, loaded.faults);
        let (interactive, quiet) = (false, false);
        let app = Self { lang, settings, sources, faults, home, database, interactive, quiet };
        secrets::learn_at_hand(&app.settings, &app.home, &app.key_file());
        (app, loaded.warnings)
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
        if !self.quiet {
            terminal::complain(&self.text(text));
        }
    }

    /// The same for a line that is in words already.
    pub(crate) fn note_line(&self, line: &str) {
        if !self.quiet {
            terminal::complain(line);
        }
    }

    /// Says that commands run without walls, if the settings turned them off: also to those who
    /// want quiet. Says too that the workspace is the home, where more is shut.
    pub(crate) fn warn_of_walls(&self, workspace: &str) {
        if self.settings.text("tools.shell_sandbox") == "off" {
            terminal::complain(&self.text(text::run::no_walls()));
        }
        if everloop_tools::holds_home(Path::new(workspace)) {
            self.note(text::run::in_home());
        }
    }

    /// A failure in the person's language.
    pub(crate) fn failure(&self, exit: Exit, text: Text) -> Failure {
        Failure { exit, words: self.text(text) }
    }

    pub(crate) fn store_failure(&self, error: &StoreError) -> Failure {
        self.failure(Exit::Data, text::error::store(&chain(error)))
    }

    /// Whether many processes, on many machines, may drive runs on the database.
    pub(crate) fn is_cluster(&self) -> bool {
        self.database.file().is_none()
    }

    pub(crate) async fn open_store(&self) -> Result<Store, Failure> {
        self.marked(self.screened(self.database.open().await)?).await
    }

    /// For commands that read, and for those that find out themselves that nothing can be written.
    pub(crate) async fn open_to_read(&self) -> Result<Store, Failure> {
        self.marked(self.screened(self.database.open_to_read().await)?).await
    }

    /// Writes into the database to which home it belongs.
    async fn marked(&self, store: Store) -> Result<Store, Failure> {
        if self.database.file().is_some()
            && let Ok(home) = self.home.id()
        {
            // Where this cannot be written, a copy counts as one of another home: the safe side.
            let _ = store.belong_to(&home).await;
        }
        Ok(store)
    }

    fn screened(&self, opened: Result<Store, StoreError>) -> Result<Store, Failure> {
        let store = opened.map_err(|error| self.store_failure(&error))?;
        Ok(store.with_redactor(secrets::redactor().clone()))
    }

    /// The models and tools that this process can reach.
    pub(crate) fn means(&self, settings: &Settings) -> LocalEnvironment {
        let key_file = crate::key::file(settings, &self.home);
        let effects = self.home.data().join("effects");
        let memory = settings.text("context.memory") == "on";
        let places = Places {
            skills: Home::of_user(),
            memory: memory.then(|| self.home.memory()),
            own: own::folders(&self.home).into_iter().chain([effects.clone()]).collect(),
            learnt: Some(self.learnt()),
        };
        let own = own::files(self, settings);
        let means = LocalEnvironment::new(settings, key_file, own, effects);
        means.with_places(places).with_servers(self.servers(settings))
    }

    /// What was found out about models.
    pub(crate) fn learnt(&self) -> crate::learnt::Learnt {
        crate::learnt::Learnt::in_folder(self.home.data())
    }

    /// The MCP servers of the settings.
    pub(crate) fn servers(&self, settings: &Settings) -> Servers {
        let guard = everloop_tools::own_program();
        Servers::new(settings.servers(), &self.home.data().join("mcp"), guard)
    }

    /// What models cost, as far as the user has said so. A table with a mistake is said to be one.
    pub(crate) fn prices(&self) -> Prices {
        let file = self.home.prices_file();
        Prices::load(&file).unwrap_or_else(|detail| {
            let file = file.display().to_string();
            self.note(text::prices::bad(&file, &detail));
            Prices::default()
        })
    }

    /// Where a key for the model may lie.
    pub(crate) fn key_file(&self) -> PathBuf {
        crate::key::file(&self.settings, &self.home)
    }

    /// The times of this process's place among others.
    pub(crate) fn lease(&self) -> LeaseTimes {
        LeaseTimes { lease_ms: self.settings.number("worker.lease").max(LEASE_MIN_MS) }
    }

    pub(crate) async fn engine(&self, store: Store) -> Result<Arc<Engine>, Failure> {
        // Before anything is taken up: a call that an earlier process left may show any of them.
        secrets::learn_all(self).iter().for_each(|missing| terminal::complain(missing));
        let rules = Rules {
            model_attempts: self.settings.small("model.attempts"),
            patience_ms: self.settings.number("model.patience"),
            tool_retry_ms: self.settings.number("tools.retry_delay"),
            owners_may_live: self.is_cluster(),
            ..Rules::default()
        };
        let clock: Arc<dyn Clock> = match self.is_cluster() {
            true => {
                let shown = store.time().await.map_err(|error| self.store_failure(&error))?;
                Arc::new(SharedClock::new(shown))
            }
            false => Arc::new(SystemClock),
        };
        let now = clock.now();
        let identity = Identity {
            worker: WorkerId::new(fresh_id("worker_", now)),
            build: build::VERSION.to_owned(),
        };
        let desk = self.desk(store.clone());
        let means = self.means(&self.settings).with_desk(desk);
        let means = Arc::new(means.with_audit(AuditFile::open(self)?));
        Ok(Engine::new(store, means, clock, identity, rules))
    }

    /// The person's zone, by its IANA name.
    pub(crate) fn zone_name(&self) -> String {
        match self.settings.text("ui.time_zone") {
            "auto" => self.system_zone(),
            name => name.to_owned(),
        }
    }

    /// The system's zone; UTC for one that has no name, which is said once.
    fn system_zone(&self) -> String {
        static SAID: std::sync::Once = std::sync::Once::new();
        let system = TimeZone::try_system();
        let name = system.as_ref().ok().and_then(TimeZone::iana_name);
        let variable = std::env::var_os("TZ").map(|zone| zone.to_string_lossy().into_owned());
        // Where nobody has set a zone, UTC is what every program takes.
        if name.is_none() && (system.is_ok() || variable.is_some()) {
            let zone = variable.unwrap_or_else(|| "/etc/localtime".to_owned());
            SAID.call_once(|| self.note(text::settings::zone_without_name(&zone)));
        }
        name.unwrap_or("UTC").to_owned()
    }

    /// The person who reads, and their time.
    pub(crate) fn reader(&self) -> Reader {
        let zone = TimeZone::get(&self.zone_name()).unwrap_or(TimeZone::UTC);
        let now = moment(SystemClock.now()).to_zoned(zone);
        Reader { lang: self.lang, now, width: terminal::width() }
    }

    /// Where todos and schedules are kept.
    pub(crate) fn desk(&self, store: Store) -> Agenda {
        Agenda::new(store, self.customs())
    }

    pub(crate) fn customs(&self) -> AgendaConfig {
        let settings = &self.settings;
        let ms = |key| i64::try_from(settings.number(key)).unwrap_or(i64::MAX);
        AgendaConfig {
            list_back_ms: ms("schedule.list_back"),
            list_ahead_ms: ms("schedule.list_ahead"),
            minutes: (ms("schedule.duration") / 60_000).max(1),
            catch_up: CatchUp::parse(settings.text("schedule.catch_up")).unwrap_or(CatchUp::Once),
            catch_up_max: settings.small("schedule.catch_up_max") as usize,
            default_reminder_ms: settings
                .number_or_off("agenda.default_reminder")
                .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
        }
    }

    /// The run that an id, or the end of one, means.
    pub(crate) async fn find_run(&self, store: &Store, id: &str) -> Result<RunId, Failure> {
        let found = store.find_runs(id).await.map_err(|error| self.store_failure(&error))?;
        let words = match found.as_slice() {
            [run] => return Ok(run.clone()),
            [] => self.text(text::run::not_found(&id)),
            several => {
                let all: Vec<&str> = several.iter().map(RunId::as_str).collect();
                self.text(text::run::ambiguous(&id, &all.join(", ")))
            }
        };
        Err(Failure { exit: Exit::Usage, words })
    }
}

/// An error with all its causes, in their own words.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        source = cause.source();
    }
    words
}

/// The layers of the settings, as far as they can be read.
fn sources(common: &Common, home: &Home) -> Sources {
    let path = home.config_file();
    let (text, trouble) = match std::fs::read_to_string(&path) {
        Ok(text) => (Some(text), None),
        Err(error) if is_absent(&error) => (None, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Sources {
        path,
        text,
        trouble,
        environment: environment().collect(),
        set: common
            .set
            .iter()
            .cloned()
            .chain(common.tz.iter().map(|zone| format!("ui.time_zone={zone}")))
            .collect(),
        database: common.database.clone(),
        lang: common.lang,
    }
}

/// A folder that cannot be is the store's to complain about.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// The variables that are text; a setting cannot be anything else.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// `--lang`, then `EVERLOOP_LANG`, then the locale; the settings come later because they may fail.
pub(crate) fn early_language(flag: Option<Lang>) -> Lang {
    let named = |name: &str| std::env::var(name).ok().and_then(|value| Lang::parse(&value));
    let variables = ["EVERLOOP_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
    flag.or_else(|| variables.into_iter().find_map(named)).unwrap_or_default()
}

fn bad_setting(lang: Lang, fault: &Fault) -> Failure {
    let exit = match fault.origin {
        Origin::Flag => Exit::Usage,
        _ => Exit::Configuration,
    };
    Failure { exit, words: fault_words(lang, fault) }
}
