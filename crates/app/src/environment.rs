//! Where models and tools come from: the settings and environment of this process.

mod services;

pub use services::channels;

use crate::audit_file::AuditFile;
use crate::context::memory::{MEMORY_BYTES_MAX, Memory, MemorySection, MemoryWrite};
use crate::context::skill_tool::LoadSkill;
use crate::context::skills::find;
use crate::key;
use crate::learnt::ModelFactsFile;
use crate::notice::{AppNotice, Notices};
use crate::place::ModelPlace;
use crate::secrets::{self, SecretError};
use crate::settings::{Millis, Settings, keys};
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::moment;
use everloop_agenda::tools::{self, AgendaContext, ScheduleTool, TodoTool};
use everloop_engine::{AuditLog, Environment, Summary, SystemClock};
use everloop_mcp::Servers;
use everloop_models::{
    CallWay, CountingModel, Endpoint, ModelConnectError, ModelKnowledge, Timeouts, TraitStore,
    connect,
};
use everloop_ports::{Model, Registry, Tool as _};
use everloop_tools::{
    BUILT_IN, BuiltIn, CommandLimits, Delegate, Http, Needs, Network, SandboxSetting, Setting,
    ShellLimits, ShellSetting, Timeout, WebSetting, builtin_tools, forget_records,
    with_reads_outside,
};
use everloop_types::{
    Approval, EffectClass, Frame, Lang, ModelChoice, ModelError, ModelErrorKind, RunId, TODO_WRITE,
    ToolSpec,
};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

type ConnectedModel = (Arc<dyn Model>, String);

/// The models and tools that this process can reach.
pub struct LocalEnvironment {
    /// How long models are waited for, and how much is taken from them.
    endpoint: Endpoint,
    settings: Settings,
    key_file: PathBuf,
    /// What the built-in tools know, but for the workspace.
    tools: Setting,
    /// Where todos and schedules are kept; none where tools are only described.
    desk: Option<Agenda>,
    servers: Servers,
    models: Mutex<BTreeMap<String, ConnectedModel>>,
    places: Places,
    audit: Option<AuditFile>,
    notices: Notices,
}

/// Where skills, memories and the program itself lie; none where they are not wanted.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The user's folder, if skills are wanted at all.
    pub skills: Option<PathBuf>,
    /// The folder of all memories.
    pub memory: Option<PathBuf>,
    /// The program's own folders.
    pub own: Vec<PathBuf>,
    /// What was found out about models.
    pub learnt: Option<ModelFactsFile>,
}

impl LocalEnvironment {
    /// The models and tools of these settings. No tool may touch what is `protected`, and
    /// `records` is the folder for records of commands.
    pub fn new(
        settings: &Settings,
        key_file: PathBuf,
        protected: Vec<PathBuf>,
        records: PathBuf,
    ) -> Self {
        let endpoint = Endpoint {
            timeouts: Timeouts {
                connect_ms: settings.model.connect_timeout.ms(),
                first_byte_ms: settings.model.first_byte_timeout.ms(),
                idle_ms: settings.model.idle_timeout.ms(),
                total_ms: settings.model.total_timeout.ms(),
            },
            reply_bytes_max: settings.model.reply_max.length(),
            ..Endpoint::default()
        };
        let tools = Setting {
            guard: everloop_tools::own_program(),
            shell: shell(settings),
            protected,
            records: Some(records),
            http: Http {
                hosts: settings.tools.http_allow.iter().cloned().collect(),
                timeout_ms: settings.tools.http_timeout.ms(),
                bytes_max: settings.tools.output_max.length(),
                ..Http::default()
            },
            http_key_lifetime_ms: settings.tools.http_key_lifetime.ms(),
            channels: channels(settings),
            search: services::search(settings),
            web: Some(WebSetting {
                near: settings.tools.fetch_near.to_vec(),
                timeout_ms: settings.tools.fetch_timeout.ms(),
                bytes_max: settings.tools.fetch_max.length(),
                ..WebSetting::default()
            }),
            ..Setting::new(PathBuf::new())
        };
        secrets::commands(settings).iter().for_each(|words| {
            everloop_tools::register_programs(words.iter().map(String::as_str));
        });
        let settings = settings.clone();
        let (desk, models, places) = (None, Mutex::default(), Places::default());
        let servers = Servers::default();
        let audit = None;
        let notices = Notices::ignored();
        Self { endpoint, settings, key_file, tools, desk, servers, models, places, audit, notices }
    }

    /// The same, telling each call to a file.
    pub(crate) fn with_audit(mut self, audit: Option<AuditFile>) -> Self {
        self.audit = audit;
        self
    }

    /// The same, showing notices.
    #[must_use]
    pub(crate) fn with_notices(mut self, notices: Notices) -> Self {
        self.notices = notices;
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
        let place = ModelPlace::of(&self.settings, name);
        let key = key::find(&self.settings, &self.key_file, &place)?;
        if key.is_none() && place.needs_key() {
            let variables = key::variables(&self.settings, place.provider);
            return Err(EndpointError::NoKey(variables.into_iter().next().unwrap_or_default()));
        }
        let api_key = key.map(|key| key.secret);
        Ok(Endpoint { base_url: place.base_url, api_key, ..self.endpoint.clone() })
    }

    /// What is known about a model, and what was set for it.
    fn knowledge(&self, name: &str) -> ModelKnowledge {
        let set = self.settings.model.tool_calls;
        let notes = self.places.learnt.as_ref().map(|learnt| learnt.notes(name, &self.host(name)));
        ModelKnowledge { set, notes: notes.map(|notes| Arc::new(notes) as Arc<dyn TraitStore>) }
    }

    /// A model that is asked to call tools in this way, whatever is known about it.
    pub(crate) fn connected_by(
        &self,
        name: &str,
        way: CallWay,
    ) -> Result<ConnectedModel, ModelError> {
        let refused = |error: &dyn std::error::Error| {
            ModelError::new(ModelErrorKind::Refused, error.to_string())
        };
        let mut endpoint = self.endpoint(name).map_err(|error| refused(&error))?;
        endpoint.knowledge = ModelKnowledge { set: Some(way), notes: None };
        connect(name, endpoint).map_err(|error| refused(&error))
    }

    /// The machine on which a model is asked; empty if nobody is.
    pub fn host(&self, name: &str) -> String {
        match is_scripted(name) {
            true => String::new(),
            false => ModelPlace::of(&self.settings, name).host(),
        }
    }

    /// The tools that a new run in a workspace has.
    pub fn registry(&self, workspace: PathBuf, zone: &str, lang: Lang) -> Option<Registry> {
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
        let mut registry = builtin_tools(&setting).ok()?.with(Delegate);
        if !self.settings.tools.restrict_to_workspace {
            registry = with_reads_outside(registry, &setting).ok()?;
        }
        let registry = registry.with(TodoTool(office.clone())).with(ScheduleTool(office));
        Some(match self.load_skill(workspace) {
            Some(tool) => registry.with(tool),
            None => registry,
        })
    }

    /// The tool for skills, where there are any.
    fn load_skill(&self, workspace: PathBuf) -> Option<LoadSkill> {
        if !self.settings.context.skills {
            return None;
        }
        let (home, own) = (self.places.skills.clone(), self.tools.protected.clone());
        let found = find(home.as_deref(), &workspace);
        (!found.skills.is_empty()).then_some(LoadSkill { home, workspace, own })
    }
}

/// Loops themselves speak of these, so they are there whatever is enabled.
const OF_LOOPS: [&str; 2] = [TODO_WRITE, "ask_user"];

/// The tools that need what only the application knows.
const OF_APP: [BuiltIn; 2] = [
    BuiltIn {
        name: LoadSkill::NAME,
        class: EffectClass::Pure,
        approval: Approval::Allow,
        timeout: Timeout::Ms(30_000),
        resource_arg: None,
        needs: Needs::Skill,
    },
    BuiltIn {
        name: Delegate::NAME,
        class: EffectClass::Transactional,
        approval: Approval::Allow,
        timeout: Timeout::Ms(0),
        resource_arg: None,
        needs: Needs::Nothing,
    },
];

/// Every built-in tool.
pub(crate) fn built_in() -> impl Iterator<Item = &'static BuiltIn> {
    BUILT_IN.iter().chain(&tools::BUILT_IN).chain(&OF_APP)
}

/// The built-in tool whose name is most like this one.
pub(crate) fn nearest_tool(name: &str) -> &'static str {
    let far = |tool: &&BuiltIn| strsim::damerau_levenshtein(tool.name, name);
    built_in().min_by_key(far).map_or("", |tool| tool.name)
}

/// Whether new runs are offered a tool. `tools.enabled` is about built-in ones only.
pub(crate) fn is_enabled(settings: &Settings, name: &str) -> bool {
    OF_LOOPS.contains(&name)
        || settings.tools.enabled.iter().any(|enabled| enabled.as_str() == name)
        || !built_in().any(|tool| tool.name == name)
}

/// The tools that a new run is offered, out of those that there are.
pub fn offered(settings: &Settings, registry: &Registry) -> Vec<ToolSpec> {
    let most = settings.tools.max_retries;
    let mut tools = registry.specs_of(|name| is_enabled(settings, name));
    // A tool says whether it may be made again at all, and the person how often.
    for tool in tools.iter_mut().filter(|tool| tool.handling.retries > 0) {
        tool.handling.retries = most;
    }
    tools
}

/// What bounds shell commands, and the sandbox around them.
fn shell(settings: &Settings) -> ShellSetting {
    ShellSetting {
        limits: ShellLimits {
            timeout_ms: settings.tools.shell_timeout.ms(),
            output_bytes_max: settings.tools.output_max.length(),
            ..ShellLimits::default()
        },
        sandbox: SandboxSetting {
            mode: settings.tools.shell_sandbox,
            network: if settings.tools.shell_network { Network::On } else { Network::Off },
            limits: CommandLimits {
                cpu_s: settings.tools.shell_cpu.ms().div_ceil(1_000),
                memory_bytes: settings.tools.shell_memory.bytes(),
                file_bytes: settings.tools.shell_file_max.bytes(),
                processes: settings.tools.shell_processes,
            },
            readable: settings.tools.shell_readable.clone(),
            git: settings.tools.shell_git,
        },
        rules: settings.shell_rules().to_vec(),
        redact: Some(|text| secrets::redactor().text(text).into_owned()),
    }
}

/// How long a call of a built-in tool may take; 0 for no limit.
#[must_use]
pub fn timeout_ms(settings: &Settings, timeout: Timeout) -> u64 {
    match timeout {
        Timeout::Ms(ms) => ms,
        Timeout::Setting(key) => setting_timeout(settings, key).map_or(0, Millis::ms),
    }
}

/// The time that the table of tools refers to by its key.
fn setting_timeout(settings: &Settings, key: &str) -> Option<Millis> {
    let times = [
        (keys::tools::shell_timeout(), settings.tools.shell_timeout),
        (keys::tools::http_timeout(), settings.tools.http_timeout),
        (keys::tools::fetch_timeout(), settings.tools.fetch_timeout),
        (keys::search::timeout(), settings.search.timeout),
    ];
    times.into_iter().find(|(known, _)| known.as_str() == key).map(|(_, time)| time)
}

/// Whether a model plays a script instead of asking an endpoint.
pub fn is_scripted(name: &str) -> bool {
    name.starts_with("scripted/")
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The key cannot be resolved.
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
struct OtherEndpointError {
    begun: String,
    here: String,
}

impl LocalEnvironment {
    /// A model as its provider serves it.
    ///
    /// # Errors
    /// Why it cannot be asked.
    pub fn connected(&self, choice: &ModelChoice) -> Result<ConnectedModel, ModelError> {
        let host = self.host(&choice.name);
        if !choice.host.is_empty() && choice.host != host {
            let elsewhere = OtherEndpointError { begun: choice.host.clone(), here: host };
            return Err(ModelError::new(ModelErrorKind::Refused, elsewhere.to_string()));
        }
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = models.get(&choice.name) {
            return Ok(known.clone());
        }
        let mut endpoint = self.endpoint(&choice.name)?;
        endpoint.knowledge = self.knowledge(&choice.name);
        let refused =
            |error: ModelConnectError| ModelError::new(ModelErrorKind::Refused, error.to_string());
        let found = connect(&choice.name, endpoint).map_err(refused)?;
        models.insert(choice.name.clone(), found.clone());
        Ok(found)
    }
}

impl Environment for LocalEnvironment {
    fn model(&self, choice: &ModelChoice) -> Result<ConnectedModel, ModelError> {
        let (model, name) = self.connected(choice)?;
        Ok((Arc::new(CountingModel(model)), name))
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
        let section = MemorySection {
            mark: &format!("{} {}", summary.run, summary.number),
            title: &format!("{day}, {}", summary.run),
            text: summary.text,
            untrusted: summary.untrusted,
        };
        let added = Memory::of(folder, Path::new(&frame.workspace)).add(&section);
        match added {
            Ok(MemoryWrite::Now | MemoryWrite::Before) => {}
            Ok(MemoryWrite::Full) => self.notices.show(AppNotice::MemoryFull(MEMORY_BYTES_MAX)),
            // The run itself has the summary: it goes on.
            Err(error) => self.notices.show(AppNotice::MemoryNotWritten(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_tools_say_what_the_tools_say() {
        let skills = LoadSkill { home: None, workspace: PathBuf::new(), own: Vec::new() };
        for (row, tool) in OF_APP.iter().zip([skills.handling(), Delegate.handling()]) {
            let said = (tool.class, tool.approval, Timeout::Ms(tool.timeout_ms));
            assert_eq!((row.class, row.approval, row.timeout), said, "{}", row.name);
        }
    }

    #[test]
    fn every_setting_that_a_row_of_tools_names_exists() {
        let settings = Settings::defaults();
        for tool in built_in() {
            if let Timeout::Setting(key) = tool.timeout {
                assert!(setting_timeout(&settings, key).is_some(), "{}: {key}", tool.name);
            }
            if let Needs::Setting(key) = tool.needs {
                let found = crate::settings::find(key, crate::settings::SettingOrigin::Default);
                assert!(found.is_ok(), "{}: {key}", tool.name);
            }
        }
    }
}
