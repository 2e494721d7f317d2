//! What is there and whether it works. Reads only, and shows no key.
//!
//! Deliberately absent: opening the store, which would make a file or bring one up to date, and
//! asking the model, which costs tokens.

mod machine;
mod model;
mod sandbox;
mod store;

pub use machine::{BuildFacts, FolderProblem, TerminalFacts};
pub use model::ModelFinding;
pub use sandbox::{WorkspaceFinding, sandbox_here, sandbox_words};

use crate::app::App;
use crate::config;
use crate::models::survey::ProviderInUse;
use crate::secrets::{self, SecretError};
use crate::settings::SettingError;
use everloop_loops::{AnyRun, LOOPS};
use everloop_mcp::ApprovalStatus;
use everloop_store::{Inspection, RunCheck};
use everloop_tools::{SandboxLevel, SandboxMode};
use everloop_types::LabelGuard;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The state of one thing. Programs get `ok`, `note` or `wrong`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CheckState {
    /// All is well.
    #[serde(rename = "ok")]
    Good,
    /// Not wrong, but good to know.
    #[serde(rename = "note")]
    Note,
    /// Not there; everloop works all the same.
    #[serde(rename = "note")]
    Missing,
    /// The settings or the machine are to be changed.
    #[serde(rename = "wrong")]
    WrongSetting,
    /// The data cannot be used.
    #[serde(rename = "wrong")]
    WrongData,
}

/// One thing that was looked at.
pub struct DoctorCheck {
    /// For scripts; never changes.
    pub name: &'static str,
    /// How it stands.
    pub state: CheckState,
    /// What was seen.
    pub finding: DoctorFinding,
}

/// What was seen of one thing.
pub enum DoctorFinding {
    /// The version of the program.
    Version(String),
    /// The folder with the data.
    DataFolder {
        /// The folder.
        folder: String,
        /// The bytes that are free there.
        free: Option<u64>,
        /// What is wrong with it.
        problem: Option<FolderProblem>,
    },
    /// The settings file.
    ConfigFile {
        /// Its path.
        path: String,
        /// Whether it was read.
        is_read: bool,
        /// What is wrong with the settings, with the lines on which it stands.
        faults: Vec<(SettingError, Option<usize>)>,
    },
    /// There is no database yet; where it would be.
    NoDatabase(String),
    /// The database.
    Database {
        /// Where it is.
        shown: String,
        /// What was seen of it.
        seen: Box<Inspection>,
        /// The process that drives runs.
        driven_by: Option<String>,
    },
    /// The database cannot be read.
    DatabaseUnread {
        /// Where it is.
        shown: String,
        /// Why.
        cause: String,
    },
    /// The checksums of runs.
    Journals(RunCheck),
    /// This process uses them, so that they cannot be checked.
    JournalsInUse,
    /// The checksums could not be read.
    JournalsUnread(String),
    /// The language that is spoken.
    Language(&'static str),
    /// The time zone.
    TimeZone(String),
    /// The terminal.
    Terminal(TerminalFacts),
    /// The providers that could be asked.
    Providers(Vec<ProviderInUse>),
    /// The default model.
    Model(ModelFinding),
    /// The secrets that the settings refer to.
    Secrets {
        /// How many there are.
        count: usize,
        /// Those that cannot be resolved.
        missing: Vec<(&'static str, SecretError)>,
    },
    /// What git says of itself.
    Git(Option<String>),
    /// One part of the sandbox: its version if it has one, or why it does not work.
    SandboxPart(Result<Option<String>, String>),
    /// What becomes of commands.
    Sandbox {
        /// How far the sandbox reaches.
        level: SandboxLevel,
        /// What the settings want.
        setting: SandboxMode,
    },
    /// What becomes of commands in this folder.
    Workspace {
        /// The folder.
        folder: String,
        /// What was seen.
        finding: WorkspaceFinding,
    },
    /// What happens to private data after others' words were read.
    LabelGuard(LabelGuard),
    /// MCP servers.
    Mcp {
        /// How many are approved.
        approved: u32,
        /// Those that wait for a person.
        waiting: Vec<String>,
    },
    /// The time that the clock shows.
    Clock(String),
}

/// All that was seen: checks for people, fields for scripts.
#[derive(Default)]
pub struct DoctorReport {
    /// What was looked at, in order.
    pub checks: Vec<DoctorCheck>,
    /// For scripts.
    pub fields: Map<String, Value>,
}

impl DoctorReport {
    /// Looks at everything.
    pub async fn read(app: &App, build: BuildFacts, terminal: TerminalFacts) -> Self {
        let mut report = Self::default();
        report.note("version", build.version);
        report.note("commit", build.commit);
        report.good("version", DoctorFinding::Version(build.version.to_owned()));
        report.data_folder(app);
        report.config_file(app);
        report.database(app).await;
        report.language(app);
        report.time_zone(app);
        report.terminal(terminal);
        report.model(app).await;
        report.secrets(app);
        report.git();
        report.sandbox_parts(app).await;
        report.mcp_servers(app);
        report.clock(build.date);
        report.settings(app);
        report
    }

    /// Adds a field for scripts.
    pub fn note(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    fn check(&mut self, name: &'static str, state: CheckState, finding: DoctorFinding) {
        self.checks.push(DoctorCheck { name, state, finding });
    }

    fn good(&mut self, name: &'static str, finding: DoctorFinding) {
        self.check(name, CheckState::Good, finding);
    }

    fn config_file(&mut self, app: &App) {
        let path = app.sources.path.display().to_string();
        let mut loaded = app.sources.read();
        // Which database is meant is found out later than what the settings say.
        loaded.errors.clone_from(&app.faults);
        let text = app.sources.text.clone().unwrap_or_default();
        let faults = config::faults(&loaded, &text);
        let state = match (faults.is_empty(), loaded.errors.is_empty()) {
            (true, _) => CheckState::Good,
            (false, true) => CheckState::Note,
            (false, false) => CheckState::WrongSetting,
        };
        self.note("config_file", path.as_str());
        self.note("config_file_exists", app.sources.path.exists());
        let is_read = app.sources.text.is_some();
        self.check("config_file", state, DoctorFinding::ConfigFile { path, is_read, faults });
    }

    /// Whether every secret that the settings refer to can be resolved. None is shown.
    fn secrets(&mut self, app: &App) {
        let count = secrets::references(&app.settings).len();
        if count == 0 {
            return;
        }
        let missing = secrets::learn_all(&app.settings);
        self.note("secrets", count);
        let is_good = missing.is_empty();
        let state = if is_good { CheckState::Good } else { CheckState::WrongSetting };
        self.check("secrets", state, DoctorFinding::Secrets { count, missing });
    }

    /// MCP servers: how many are approved, and which wait for a person. Runs none.
    fn mcp_servers(&mut self, app: &App) {
        let mut approved = 0;
        let mut waiting = Vec::new();
        for server in app.servers(&app.settings).all() {
            match server.approval_status() {
                ApprovalStatus::Good(_) => approved += 1,
                ApprovalStatus::Off => {}
                ApprovalStatus::New
                | ApprovalStatus::OtherCommand(_)
                | ApprovalStatus::OtherTools(..) => {
                    waiting.push(server.setting().name.clone());
                }
            }
        }
        self.note("mcp_waiting", waiting.clone());
        let state = if waiting.is_empty() { CheckState::Good } else { CheckState::Note };
        self.check("mcp", state, DoctorFinding::Mcp { approved, waiting });
    }

    /// What differs from the defaults, and what a run here would have.
    fn settings(&mut self, app: &App) {
        let all = app.sources.effective(&app.settings);
        let changed = all.iter().filter(|setting| setting.layer != "default");
        let changed = changed.map(|setting| {
            json!({"key": setting.key.as_str(), "value": setting.value, "layer": setting.layer,
                   "origin": setting.origin})
        });
        self.note("settings", changed.collect::<Vec<_>>());
        self.note("tools", tools(app));
        self.note("loops", LOOPS.map(known_loop).to_vec());
    }
}

/// The tools that a run in this folder would have.
fn tools(app: &App) -> Vec<String> {
    let here = std::env::current_dir().ok();
    let registry = here
        .and_then(|here| app.environment(&app.settings).registry(here, &app.zone_name(), app.lang));
    let offered = crate::environment::offered(&app.settings, &registry.unwrap_or_default());
    offered.into_iter().map(|spec| spec.name).collect()
}

/// The version governs how journals are folded; the fingerprint shows that two builds fold alike.
fn known_loop(name: &str) -> Value {
    let (version, fingerprint) = (AnyRun::version(name), AnyRun::fingerprint(name));
    json!({"name": name, "version": version, "fingerprint": fingerprint})
}
