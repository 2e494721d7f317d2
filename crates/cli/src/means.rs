//! Where models and tools come from: the settings and environment of this process.

mod services;

pub(crate) use services::channels;

use crate::audit_file::AuditFile;
use crate::key;
use crate::learnt::Learnt;
use crate::place::Place;
use crate::secrets::{self, SecretError};
use crate::settings::Settings;
use everloop_agenda::context::memory::{Added, MEMORY_BYTES_MAX, Memory, Section};
use everloop_agenda::context::skill_tool::LoadSkill;
use everloop_agenda::context::skills::find;
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::moment;
use everloop_agenda::tools::{self, AgendaContext, ScheduleTool, TodoTool};
use everloop_engine::{AuditLog, Environment, Summary, SystemClock};
use everloop_models::{
    CallWay, ConnectError, Counted, Endpoint, Knowledge, Model, Notes, Timeouts, connect,
};
use everloop_text as text;
use everloop_tools::mcp::Servers;
use everloop_tools::{
    BUILT_IN, BuiltIn, Delegate, GitAccess, Host, Http, Limits, Network, Registry, Sandbox,
    Setting, ShellLimits, ShellSetting, WallSetting, WebSetting, forget_records,
};
use everloop_types::{
    Frame, Lang, ModelChoice, ModelError, ModelErrorKind, RunId, TODO_WRITE, ToolSpec,
};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

type Connected = (Arc<dyn Model>, String);

/// The models and tools that this process can reach.
pub(crate) struct LocalEnvironment {
    /// How long models are waited for, and how much is taken from them.
    endpoint: Endpoint,
    settings: Settings,
    key_file: PathBuf,
    /// What the built-in tools know, but for the workspace.
    tools: Setting,
    /// Where todos and schedules are kept; none where tools are only described.
    desk: Option<Agenda>,
    servers: Servers,
    models: Mutex<BTreeMap<String, Connected>>,
    places: Places,
    audit: Option<AuditFile>,
}

/// Where skills, memories and the program itself lie; none where they are not wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// The user's folder, if skills are wanted at all.
    pub(crate) skills: Option<PathBuf>,
    /// The folder of all memories.
    pub(crate) memory: Option<PathBuf>,
    /// The program's own folders.
    pub(crate) own: Vec<PathBuf>,
    /// What was found out about models.
    pub(crate) learnt: Option<Learnt>,
}

impl LocalEnvironment {
    pub(crate) fn new(
        settings: &Settings,
        key_file: PathBuf,
        protected: Vec<PathBuf>,
        records: PathBuf,
    ) -> Self {
        let size = |key| usize::try_from(settings.number(key)).unwrap_or(usize::MAX);
        let endpoint = Endpoint {
            timeouts: Timeouts {
                connect_ms: settings.number("model.connect_timeout"),
                first_byte_ms: settings.number("model.first_byte_timeout"),
                idle_ms: settings.number("model.idle_timeout"),
                total_ms: settings.number("model.total_timeout"),
            },
            reply_bytes_max: size("model.reply_max"),
            ..Endpoint::default()
        };
        let tools = Setting {
            guard: everloop_tools::own_program(),
            shell: shell(settings),
            protected,
            records: Some(records),
            http: Http {
                hosts: settings.list("tools.http_allow").filter_map(Host::parse).collect(),
                timeout_ms: settings.number("tools.http_timeout"),
                bytes_max: size("tools.output_max"),
                ..Http::default()
            },
            http_key_lifetime_ms: settings.number("tools.http_key_lifetime"),
            channels: channels(settings),
            search: services::search(settings),
            web: Some(WebSetting {
                near: settings.list("tools.fetch_near").filter_map(Host::parse).collect(),
                timeout_ms: settings.number("tools.fetch_timeout"),
                bytes_max: size("tools.fetch_max"),
                ..WebSetting::default()
            }),
            ..Setting::new(PathBuf::new())
        };
        secrets::commands(settings).iter().for_each(|words| {
            everloop_tools::will_run(words.iter().map(String::as_str));
        });
        let settings = settings.clone();
        let (desk, models, places) = (None, Mutex::default(), Places::default());
        let servers = Servers::default();
        let audit = None;
        Self { endpoint, settings, key_file, tools, desk, servers, models, places, audit }
    }

    /// The same, telling each call to a file.
    pub(crate) fn with_audit(mut self, audit: Option<AuditFile>) -> Self {
        self.audit = audit;
        self
    }

    /// The same, with the tools of these servers.
    pub(crate) fn with_servers(mut self, servers: Servers) -> Self {
        self.servers = servers;
        self
    }

    /// The same, where skills and memories can be found.
    pub(crate) fn with_places(mut self, places: Places) -> Self {
        self.places = places;
        self
    }

    /// The same, where todos and schedules can be kept.
    pub(crate) fn with_desk(mut self, desk: Agenda) -> Self {
        self.desk = Some(desk);
        self
    }

    /// Why the key of a model cannot be used, if a file for one is there. A scripted model asks
    /// nobody, so it needs none.
    pub(crate) fn key_error(&self, name: &str) -> Option<SecretError> {
        match self.endpoint(name) {
            Err(EndpointError::Secret(error)) => Some(error),
            Err(EndpointError::NoKey(_)) | Ok(_) => None,
        }
    }

    /// Where a model is asked, and with which key.
    pub(crate) fn endpoint(&self, name: &str) -> Result<Endpoint, EndpointError> {
        if is_scripted(name) {
            return Ok(self.endpoint.clone());
        }
        let place = Place::of(&self.settings, name);
        let key = key::find(&self.settings, &self.key_file, &place)?;
        if key.is_none() && place.needs_key() {
            let variables = key::variables(&self.settings, place.provider);
            return Err(EndpointError::NoKey(variables.into_iter().next().unwrap_or_default()));
        }
        let api_key = key.map(|key| key.secret);
        Ok(Endpoint { base_url: place.base_url, api_key, ..self.endpoint.clone() })
    }

    /// What is known about a model, and what was set for it.
    fn knowledge(&self, name: &str) -> Knowledge {
        let set = CallWay::parse(self.settings.text("model.tool_calls"));
        let notes = self.places.learnt.as_ref().map(|learnt| learnt.notes(name, &self.host(name)));
        Knowledge { set, notes: notes.map(|notes| Arc::new(notes) as Arc<dyn Notes>) }
    }

    /// A model that is asked to call tools in this way, whatever is known about it.
    pub(crate) fn connected_by(&self, name: &str, way: CallWay) -> Result<Connected, ModelError> {
        let refused = |error: &dyn std::error::Error| {
            ModelError::new(ModelErrorKind::Refused, error.to_string())
        };
        let mut endpoint = self.endpoint(name).map_err(|error| refused(&error))?;
        endpoint.knowledge = Knowledge { set: Some(way), notes: None };
        connect(name, endpoint).map_err(|error| refused(&error))
    }

    /// The machine on which a model is asked; empty if nobody is.
    pub(crate) fn host(&self, name: &str) -> String {
        match is_scripted(name) {
            true => String::new(),
            false => Place::of(&self.settings, name).host(),
        }
    }

    /// The tools that a new run in a workspace has.
    pub(crate) fn registry(&self, workspace: PathBuf, zone: &str, lang: Lang) -> Option<Registry> {
        Some(self.servers.offer(self.own(workspace, zone, lang)?))
    }

    /// Our own tools for a workspace and a person.
    fn own(&self, workspace: PathBuf, zone: &str, lang: Lang) -> Option<Registry> {
        let office = AgendaContext {
            desk: self.desk.clone(),
            clock: Arc::new(SystemClock),
            zone: TimeZone::get(zone).unwrap_or(TimeZone::UTC),
            lang,
        };
        let setting = Setting { workspace: workspace.clone(), ..self.tools.clone() };
        let mut registry = Registry::builtin(&setting).ok()?.with(Delegate);
        if self.settings.text("tools.restrict_to_workspace") == "off" {
            registry = registry.reading_outside(&setting).ok()?;
        }
        let registry = registry.with(TodoTool(office.clone())).with(ScheduleTool(office));
        Some(match self.load_skill(workspace) {
            Some(tool) => registry.with(tool),
            None => registry,
        })
    }

    /// The tool for skills, where there are any.
    fn load_skill(&self, workspace: PathBuf) -> Option<LoadSkill> {
        if self.settings.text("context.skills") != "on" {
            return None;
        }
        let (home, own) = (self.places.skills.clone(), self.tools.protected.clone());
        let found = find(home.as_deref(), &workspace);
        (!found.skills.is_empty()).then_some(LoadSkill { home, workspace, own })
    }
}

/// Loops themselves speak of these, so they are there whatever is enabled.
const OF_LOOPS: [&str; 2] = [TODO_WRITE, "ask_user"];

/// Every built-in tool.
pub(crate) fn built_in() -> impl Iterator<Item = &'static BuiltIn> {
    BUILT_IN.iter().chain(&tools::BUILT_IN)
}

/// The built-in tool whose name is most like this one.
pub(crate) fn nearest_tool(name: &str) -> &'static str {
    let far = |tool: &&BuiltIn| strsim::damerau_levenshtein(tool.name, name);
    built_in().min_by_key(far).map_or("", |tool| tool.name)
}

/// Whether new runs are offered a tool. `tools.enabled` is about built-in ones only.
pub(crate) fn is_enabled(settings: &Settings, name: &str) -> bool {
    OF_LOOPS.contains(&name)
        || settings.list("tools.enabled").any(|enabled| enabled == name)
        || !built_in().any(|tool| tool.name == name)
}

/// The tools that a new run is offered, out of those that there are.
pub(crate) fn offered(settings: &Settings, registry: &Registry) -> Vec<ToolSpec> {
    let most = settings.small("tools.max_retries");
    let mut tools = registry.specs_of(|name| is_enabled(settings, name));
    // A tool says whether it may be made again at all, and the person how often.
    for tool in tools.iter_mut().filter(|tool| tool.handling.retries > 0) {
        tool.handling.retries = most;
    }
    tools
}

/// What bounds shell commands, and what stands around them.
fn shell(settings: &Settings) -> ShellSetting {
    let output_bytes_max = usize::try_from(settings.number("tools.output_max"));
    ShellSetting {
        limits: ShellLimits {
            timeout_ms: settings.number("tools.shell_timeout"),
            output_bytes_max: output_bytes_max.unwrap_or(usize::MAX),
            ..ShellLimits::default()
        },
        walls: WallSetting {
            sandbox: Sandbox::parse(settings.text("tools.shell_sandbox")).unwrap_or_default(),
            network: match settings.text("tools.shell_network") {
                "on" => Network::On,
                _ => Network::Off,
            },
            limits: Limits {
                cpu_s: settings.number("tools.shell_cpu").div_ceil(1_000),
                memory_bytes: settings.number("tools.shell_memory"),
                file_bytes: settings.number("tools.shell_file_max"),
                processes: settings.number("tools.shell_processes"),
            },
            readable: settings.list("tools.shell_readable").map(PathBuf::from).collect(),
            git: GitAccess::parse(settings.text("tools.shell_git")).unwrap_or_default(),
        },
        rules: settings.shell_rules().to_vec(),
        redact: Some(|text| secrets::redactor().text(text).into_owned()),
    }
}

/// Whether a model plays a script instead of asking an endpoint.
pub(crate) fn is_scripted(name: &str) -> bool {
    name.starts_with("scripted/")
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The provider wants a key, and this variable is not set.
    #[error("{0} is not set")]
    NoKey(String),
}

impl From<EndpointError> for ModelError {
    fn from(error: EndpointError) -> Self {
        let kind = match &error {
            EndpointError::Secret(_) => ModelErrorKind::Refused,
            EndpointError::NoKey(_) => ModelErrorKind::NoKey,
        };
        Self::new(kind, error.to_string())
    }
}

/// A run is not asked elsewhere than it was begun: what it has read would go there.
#[derive(Debug, thiserror::Error)]
#[error(
    "the run was begun with a model on {begun}, and here it would be asked on {here}: set the base \
     URL as it was, or fork the run to go on here"
)]
struct Elsewhere {
    begun: String,
    here: String,
}

impl LocalEnvironment {
    /// A model as its provider serves it.
    pub(crate) fn connected(&self, choice: &ModelChoice) -> Result<Connected, ModelError> {
        let host = self.host(&choice.name);
        if !choice.host.is_empty() && choice.host != host {
            let elsewhere = Elsewhere { begun: choice.host.clone(), here: host };
            return Err(ModelError::new(ModelErrorKind::Refused, elsewhere.to_string()));
        }
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = models.get(&choice.name) {
            return Ok(known.clone());
        }
        let mut endpoint = self.endpoint(&choice.name)?;
        endpoint.knowledge = self.knowledge(&choice.name);
        let refused =
            |error: ConnectError| ModelError::new(ModelErrorKind::Refused, error.to_string());
        let found = connect(&choice.name, endpoint).map_err(refused)?;
        models.insert(choice.name.clone(), found.clone());
        Ok(found)
    }
}

impl Environment for LocalEnvironment {
    fn model(&self, choice: &ModelChoice) -> Result<Connected, ModelError> {
        let (model, name) = self.connected(choice)?;
        Ok((Arc::new(Counted(model)), name))
    }

    /// A workspace that is gone leaves no tools: each call is answered with that.
    fn tools(&self, frame: &Frame) -> Arc<Registry> {
        let workspace = PathBuf::from(&frame.workspace);
        let files: Vec<PathBuf> = self.tools.channels.files().collect();
        crate::own::make_within(&workspace, &self.places.own, &files);
        let own = self.own(workspace, &frame.time_zone, frame.language).unwrap_or_default();
        Arc::new(self.servers.offer_to(frame, own))
    }

    fn audit_log(&self) -> Option<&dyn AuditLog> {
        self.audit.as_ref().map(|file| file as &dyn AuditLog)
    }

    fn forget(&self, run: &RunId) {
        if let Some(records) = &self.tools.records {
            // What is left is looked for again whenever old data is cleared away.
            let _ = forget_records(records, run);
        }
    }

    fn remember(&self, frame: &Frame, summary: &Summary<'_>) {
        let Some(folder) = &self.places.memory else { return };
        let zone = TimeZone::get(&frame.time_zone).unwrap_or(TimeZone::UTC);
        let day = moment(summary.at).to_zoned(zone).strftime("%Y-%m-%d %H:%M");
        let section = Section {
            mark: &format!("{} {}", summary.run, summary.number),
            title: &format!("{day}, {}", summary.run),
            text: summary.text,
            untrusted: summary.untrusted,
        };
        let added = Memory::of(folder, Path::new(&frame.workspace)).add(&section);
        let words = match added {
            Ok(Added::Now | Added::Before) => return,
            Ok(Added::Full) => {
                let most = MEMORY_BYTES_MAX.to_string();
                text::memory::full(&most).in_lang(frame.language)
            }
            // The run itself has the summary: it goes on.
            Err(error) => {
                let detail = error.to_string();
                text::memory::not_written(&detail).in_lang(frame.language)
            }
        };
        crate::terminal::complain(&words);
    }
}
