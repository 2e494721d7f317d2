//! What every request shares.

use crate::comparing::CompareLoops;
use crate::comparison_desk::ComparisonDesk;
use crate::live_settings::LiveSettings;
use crate::live_token::LiveToken;
use crate::metrics::Metrics;
use crate::pages::{FilesOfRuns, Flashes, LiveSnapshots, ModelNames, ShownTour, UnknownCalls};
use crate::rate::RateLimiter;
use everloop_agenda::show::DisplayContext;
use everloop_app::App;
use everloop_app::access_token::AccessToken;
use everloop_app::interrupts::QuestionCache;
use everloop_app::mcp_servers::McpOffer;
use everloop_app::serving::ServiceSession;
use everloop_app::turns::MessageQueues;
use everloop_engine::Engine;
use everloop_store::Store;
use everloop_types::Lang;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What a server is opened with.
pub struct ServerOptions {
    /// The token that opens everything but health checks.
    pub token: AccessToken,
    /// The version that is shown.
    pub version: String,
    /// Host names under which the server may be addressed, beside loopback and the settings'.
    pub hosts: Vec<String>,
    /// Compares loops, if the program can.
    pub comparison: Option<Arc<dyn CompareLoops>>,
    /// Whether connections are encrypted by this server.
    pub is_https: bool,
}

/// The state of a server, as one request sees it: the settings stay the same from its beginning
/// to its end. A clone has the settings that are in force when it is made. Cheap to clone.
pub struct ServerState {
    pub(crate) app: Arc<App>,
    shared: Arc<SharedState>,
}

/// What the routes read of it.
pub struct SharedState {
    /// The settings in force.
    live: LiveSettings,
    pub(crate) session: ServiceSession,
    pub(crate) token: LiveToken,
    pub(crate) version: String,
    /// Names of the address that it listens on.
    hosts: BTreeSet<String>,
    pub(crate) metrics: Metrics,
    pub(crate) rate: RateLimiter,
    pub(crate) comparison: Option<Arc<dyn CompareLoops>>,
    /// One place: a comparison takes all cores.
    pub(crate) comparing: Arc<Semaphore>,
    /// The comparison that a page started.
    pub(crate) comparisons: ComparisonDesk,
    /// What forms came to.
    pub(crate) flashes: Flashes,
    /// What goes on behind the pages.
    pub(crate) behind: BehindPages,
    /// Whether cookies are sent over encrypted connections only.
    pub(crate) is_https: bool,
    /// Ends open event streams when the server stops.
    pub(crate) stopping: CancellationToken,
}

/// What pages begin and show later.
#[derive(Default)]
pub(crate) struct BehindPages {
    /// What MCP servers offered to a person who has not decided yet, by their names.
    pub(crate) offers: Mutex<BTreeMap<String, McpOffer>>,
    /// The tour that is shown on a page.
    pub(crate) tour: ShownTour,
    /// Messages that wait for the end of a run.
    pub(crate) queues: MessageQueues,
    /// The models that a message can be sent to.
    pub(crate) models: ModelNames,
    /// The files of runs, as far as they were looked for.
    pub(crate) files: FilesOfRuns,
    /// What waiting runs ask.
    pub(crate) questions: QuestionCache,
    /// What open pages are told of.
    pub(crate) live: LiveSnapshots,
    /// The calls of ended runs whose outcome was unknown.
    pub(crate) unknown_calls: UnknownCalls,
}

impl std::ops::Deref for ServerState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.shared
    }
}

impl Clone for ServerState {
    fn clone(&self) -> Self {
        Self { app: self.shared.live.now(), shared: self.shared.clone() }
    }
}

impl ServerState {
    /// The state of a server over an open session.
    #[must_use]
    pub fn new(app: App, session: ServiceSession, options: ServerOptions) -> Self {
        let hosts = options.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        let app = Arc::new(app);
        let stopping = CancellationToken::new();
        let shared = Arc::new(SharedState {
            live: LiveSettings::new(app.clone()),
            flashes: Flashes::default(),
            behind: BehindPages::default(),
            is_https: options.is_https,
            session,
            token: LiveToken::new(options.token, stopping.clone()),
            version: options.version,
            hosts,
            metrics: Metrics::default(),
            rate: RateLimiter::default(),
            comparison: options.comparison,
            comparing: Arc::new(Semaphore::new(1)),
            comparisons: ComparisonDesk::default(),
            stopping,
        });
        Self { app, shared }
    }

    /// Differs whenever other settings are in force.
    pub(crate) fn settings_revision(&self) -> u64 {
        self.shared.live.revision()
    }

    /// Goes on with the settings as they are written now. Settings of which one cannot be used
    /// change nothing. The state with the settings in force.
    pub(crate) async fn reread(&self) -> Self {
        self.shared.live.reread(&self.shared.session).await;
        self.clone()
    }

    /// Looks after the file of the settings and that of the token until the server stops.
    pub(crate) async fn watch_files(self) {
        tokio::select! {
            () = self.shared.stopping.cancelled() => {}
            () = self.shared.live.watch(&self.shared.session) => {}
            () = self.shared.token.watch(&self.app) => {}
        }
    }

    /// Whether a name, in small letters, is one of this server beside loopback.
    pub(crate) fn is_own_name(&self, name: &str) -> bool {
        let set = &self.app.settings.server.hosts;
        self.shared.hosts.contains(name) || set.iter().any(|host| host.eq_ignore_ascii_case(name))
    }

    /// Who reads, in their language.
    pub(crate) fn reader(&self, lang: Lang) -> DisplayContext {
        DisplayContext { lang, ..self.app.reader_at(None) }
    }

    /// The path of a link that opens the pages once, within ten minutes.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn open_link(&self) -> std::io::Result<String> {
        Ok(format!("/open?key={}", self.token.now().sessions.make_link()?))
    }
}

impl SharedState {
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        self.session.engine()
    }

    pub(crate) fn store(&self) -> &Store {
        self.engine().store()
    }
}
