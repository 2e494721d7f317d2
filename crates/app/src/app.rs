//! One open application: language, settings, folders, and what is made of them.

use crate::audit_file::AuditFile;
use crate::database::Database;
use crate::environment::{LiveEnvironment, LocalEnvironment, Places};
use crate::error::{AppError, RunError};
use crate::home::Home;
use crate::learnt::ModelFactsFile;
use crate::notice::{AppNotice, Notices};
use crate::prices::Prices;
use crate::scheduling::ScheduledRuns;
use crate::settings::{
    Millis, SettingError, SettingOrigin, SettingProblem, SettingSources, Settings, keys,
};
use crate::turns::RunStarter;
use crate::{own, secrets};
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::{AgendaConfig, moment};
use everloop_agenda::show::DisplayContext;
use everloop_engine::{
    Clock, Engine, EngineRules, LeaseTimes, MembershipPolicy, SystemClock, WorkerIdentity, fresh_id,
};
use everloop_mcp::Servers;
use everloop_store::{Store, StoreError};
use everloop_types::{Lang, RunId, WorkerId};
use jiff::tz::TimeZone;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A shorter lease would run out between two heartbeats on a busy machine.
const LEASE_MIN_MS: u64 = 600;

/// How long a worker that begins waits for its server, and how often it looks.
const SERVER_WAIT: Duration = Duration::from_secs(20);
const SERVER_LOOK: Duration = Duration::from_millis(500);

/// Everything that a surface shares with the engine. Cheap to clone.
#[derive(Clone)]
pub struct App {
    /// The person's language.
    pub lang: Lang,
    /// The settings in force.
    pub settings: Settings,
    /// Where the settings came from.
    pub sources: SettingSources,
    /// What cannot be used of the settings; empty unless the app was opened all the same.
    pub faults: Vec<SettingError>,
    /// The folders of the person.
    pub home: Home,
    /// Where everything durable is.
    pub database: Database,
    /// Whether a person can answer questions while a run works.
    pub attended: bool,
    /// The version that is written into journals.
    build: String,
    notices: Notices,
}

/// What a surface opens an application with.
pub struct OpenOptions {
    /// The layers of the settings.
    pub sources: SettingSources,
    /// The folders of the person.
    pub home: Home,
    /// The version that is written into journals.
    pub build: String,
    /// Where notices go.
    pub notices: Notices,
}

impl App {
    /// Opens an application with settings that can all be used.
    ///
    /// # Errors
    /// [`AppError::Setting`] for the first setting that cannot be used.
    pub fn open(options: OpenOptions) -> Result<Self, AppError> {
        let mut app = Self::open_anyway(options);
        match app.faults.is_empty() {
            true => Ok(app),
            false => Err(AppError::Setting(Box::new(app.faults.swap_remove(0)))),
        }
    }

    /// Opens one even if a setting cannot be used, for the commands that repair settings.
    #[must_use]
    pub fn open_anyway(options: OpenOptions) -> Self {
        let OpenOptions { sources, home, build, notices } = options;
        let (app, warnings) = Self::of(sources, home, build, notices);
        for warning in warnings {
            app.notices.show(AppNotice::Setting(warning));
        }
        app
    }

    /// The same after the settings have changed.
    #[must_use]
    pub fn reread(&self, sources: SettingSources) -> Self {
        let (home, build, notices) = (self.home.clone(), self.build.clone(), self.notices.clone());
        let (app, _) = Self::of(sources, home, build, notices);
        Self { attended: self.attended, ..app }
    }

    /// What the settings say, and what is odd about them.
    fn of(
        sources: SettingSources,
        home: Home,
        build: String,
        notices: Notices,
    ) -> (Self, Vec<SettingError>) {
        let first = early_language(sources.lang);
        let mut loaded = sources.read();
        let is_named = sources.lang.is_some() || std::env::var_os("EVERLOOP_LANG").is_some();
        let lang = loaded.settings.ui.language.filter(|_| !is_named).unwrap_or(first);
        let named = |name: &str| Database::named(name, &home);
        let address = secrets::behind(loaded.settings.store.database.as_str(), &loaded.settings);
        let found = address.map_err(|error| SettingProblem::Secret(Box::new(error)));
        let found = found.and_then(|name| named(&name).ok_or(SettingProblem::UnknownDatabase));
        if let Err(what) = &found {
            let (key, origin) = (keys::store::database().to_string(), SettingOrigin::Default);
            loaded.errors.push(SettingError { key, origin, problem: what.clone() });
        }
        let database = found.ok().or_else(|| named(""));
        let database = database.unwrap_or_else(|| unreachable!("no name is the embedded file"));
        let (settings, faults) = (loaded.settings, loaded.errors);
        let attended = false;
        let app =
            Self { lang, settings, sources, faults, home, database, attended, build, notices };
        secrets::learn_at_hand(&app.settings, &app.home, &app.key_file());
        (app, loaded.warnings)
    }

    /// Where notices go.
    pub(crate) fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Shows a notice.
    pub(crate) fn notify(&self, notice: AppNotice) {
        self.notices.show(notice);
    }

    /// Opens the database.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn open_store(&self) -> Result<Store, AppError> {
        let store = self.screened(self.database.open().await)?;
        self.marked(&store).await;
        Ok(store)
    }

    /// The same; a server that is just being started anew is waited for. `away` hears of it once.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn open_store_patiently(
        &self,
        away: impl Fn(&StoreError),
    ) -> Result<Store, AppError> {
        let until = Instant::now() + SERVER_WAIT;
        let mut told = false;
        // A file is opened once: nobody starts it anew.
        while self.database.is_shared() && Instant::now() < until {
            let opened = self.database.open().await;
            let Some(error) = opened.err().filter(StoreError::is_transient) else { break };
            if !std::mem::replace(&mut told, true) {
                away(&error);
            }
            tokio::time::sleep(SERVER_LOOK).await;
        }
        self.open_store().await
    }

    /// For commands that read, and for those that find out themselves that nothing can be written.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn open_to_read(&self) -> Result<Store, AppError> {
        let store = self.screened(self.database.open_to_read().await)?;
        self.marked(&store).await;
        Ok(store)
    }

    /// Writes into the database to which home it belongs.
    async fn marked(&self, store: &Store) {
        if self.database.file().is_some()
            && let Ok(home) = self.home.id()
        {
            // Where this cannot be written, a copy counts as one of another home: the safe side.
            let _ = store.maintenance().belong_to(&home).await;
        }
    }

    fn screened(&self, opened: Result<Store, StoreError>) -> Result<Store, AppError> {
        Ok(opened?.with_redactor(secrets::redactor().clone()))
    }

    /// The models and tools that this process can reach.
    #[must_use]
    pub fn environment(&self, settings: &Settings) -> LocalEnvironment {
        let key_file = crate::key::file(settings, &self.home);
        let effects = self.home.data().join("effects");
        let memory = settings.context.memory;
        let places = Places {
            skills: Home::of_user(),
            memory: memory.then(|| self.home.memory()),
            own: own::folders(&self.home).into_iter().chain([effects.clone()]).collect(),
            learnt: Some(self.learnt()),
        };
        let own = own::files(self, settings);
        let environment = LocalEnvironment::new(settings, key_file, own, effects);
        let environment = environment.with_places(places).with_notices(self.notices.clone());
        environment.with_servers(self.servers(settings))
    }

    /// What was found out about models.
    pub fn learnt(&self) -> ModelFactsFile {
        ModelFactsFile::in_folder(self.home.data())
    }

    /// The MCP servers of the settings.
    pub fn servers(&self, settings: &Settings) -> Servers {
        let guard = everloop_tools::own_program();
        Servers::new(settings.servers(), &self.home.data().join("mcp"), guard)
    }

    /// What models cost, as far as the user has said so. A table with a mistake is said to be one.
    pub fn prices(&self) -> Prices {
        let file = self.home.prices_file();
        let loaded = Prices::load(&file);
        loaded.unwrap_or_else(|detail| {
            self.notify(AppNotice::Prices { file, detail });
            Prices::default()
        })
    }

    /// Where a key for the model may lie.
    pub fn key_file(&self) -> PathBuf {
        crate::key::file(&self.settings, &self.home)
    }

    /// How this process shares the runs of the database with others.
    #[must_use]
    pub fn membership(&self) -> MembershipPolicy {
        let lease_ms = self.settings.worker.lease.ms().max(LEASE_MIN_MS);
        self.database.membership(LeaseTimes { lease_ms })
    }

    /// An engine over a store, with everything that this process can reach.
    ///
    /// # Errors
    /// If the store or the audit file fails.
    pub async fn engine(&self, store: Store) -> Result<Arc<Engine>, AppError> {
        Ok(self.live_engine(store).await?.0)
    }

    /// The same, with the environment that follows changes of the settings.
    ///
    /// # Errors
    /// If the store or the audit file fails.
    pub(crate) async fn live_engine(
        &self,
        store: Store,
    ) -> Result<(Arc<Engine>, Arc<LiveEnvironment>), AppError> {
        // Before anything is taken up: a call that an earlier process left may show any of them.
        self.learn_secrets();
        let membership = self.membership();
        let rules = EngineRules {
            model_attempts: self.settings.model.attempts,
            patience_ms: self.settings.model.patience.ms(),
            tool_retry_ms: self.settings.tools.retry_delay.ms(),
            owners_may_live: membership.owners_may_live(),
            ..EngineRules::default()
        };
        let clock = membership.clock(&store).await?;
        let now = clock.now();
        let identity = WorkerIdentity {
            worker: WorkerId::new(fresh_id("worker_", now)),
            build: self.build.clone(),
        };
        let live = LiveEnvironment::new(self.environment_of(&store), AuditFile::open(self)?);
        let live = Arc::new(live);
        Ok((Engine::new(store, live.clone(), clock, identity, rules), live))
    }

    /// Everything that this process can reach, over a store.
    pub(crate) fn environment_of(&self, store: &Store) -> LocalEnvironment {
        let desk = self.agenda(store.clone());
        let starter = RunStarter { app: self.clone(), store: store.clone() };
        self.environment(&self.settings).with_desk(desk).with_starter(starter)
    }

    /// Learns every secret that the settings refer to, so that none is ever shown.
    pub(crate) fn learn_secrets(&self) {
        for (key, error) in secrets::learn_all(&self.settings) {
            self.notify(AppNotice::Secret { key, error });
        }
    }

    /// The person's zone, by its IANA name.
    pub(crate) fn zone_name(&self) -> String {
        match &self.settings.ui.time_zone {
            Some(zone) => zone.as_str().to_owned(),
            None => self.system_zone(),
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
            SAID.call_once(|| self.notify(AppNotice::ZoneWithoutName(zone)));
        }
        name.unwrap_or("UTC").to_owned()
    }

    /// The person who reads, and their time.
    #[must_use]
    pub fn reader_at(&self, width: Option<usize>) -> DisplayContext {
        let zone = TimeZone::get(&self.zone_name()).unwrap_or(TimeZone::UTC);
        let now = moment(SystemClock.now()).to_zoned(zone);
        DisplayContext { lang: self.lang, now, width }
    }

    /// The version that is written into journals.
    pub(crate) fn build(&self) -> &str {
        &self.build
    }

    /// Where todos and schedules are kept.
    pub fn agenda(&self, store: Store) -> Agenda {
        let starter = Arc::new(ScheduledRuns::new(self, &store));
        Agenda::new(store, self.agenda_config()).starting(starter)
    }

    /// How the settings want todos and the schedule treated.
    pub fn agenda_config(&self) -> AgendaConfig {
        let settings = &self.settings;
        AgendaConfig {
            list_back_ms: settings.schedule.list_back.signed_ms(),
            list_ahead_ms: settings.schedule.list_ahead.signed_ms(),
            minutes: (settings.schedule.duration.signed_ms() / 60_000).max(1),
            catch_up: settings.schedule.catch_up,
            catch_up_max: settings.schedule.catch_up_max,
            default_reminder_ms: settings.agenda.default_reminder.map(Millis::signed_ms),
            pause_after: settings.schedule.pause_after,
        }
    }

    /// The run that an id, or the end of one, means.
    ///
    /// # Errors
    /// [`RunError::NotFound`], [`RunError::Ambiguous`], or if the store fails.
    pub async fn find_run(&self, store: &Store, id: &str) -> Result<RunId, AppError> {
        let mut found = store.runs().find(id).await?;
        match found.len() {
            0 => Err(RunError::NotFound(id.to_owned()).into()),
            1 => Ok(found.swap_remove(0)),
            _ => Err(RunError::Ambiguous { id: id.to_owned(), all: found }.into()),
        }
    }
}

/// `--lang`, then `EVERLOOP_LANG`, then the locale; the settings come later because they may fail.
#[must_use]
pub fn early_language(flag: Option<Lang>) -> Lang {
    let named = |name: &str| std::env::var(name).ok().and_then(|value| Lang::parse(&value));
    let variables = ["EVERLOOP_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
    flag.or_else(|| variables.into_iter().find_map(named)).unwrap_or_default()
}
