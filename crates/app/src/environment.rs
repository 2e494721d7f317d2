//! Where models and tools come from: the settings and environment of this process.

mod limits;
mod live;
mod services;

pub use limits::timeout_ms;
pub use live::LiveEnvironment;
pub use services::channels;

use crate::analysis;
use crate::context::memory::{MEMORY_BYTES_MAX, Memory, MemorySection, MemoryWrite};
use crate::context::skill_tool::LoadSkill;
use crate::context::skills::find;
use crate::facts::tools::{self as of_facts, FactContext, MemoryPropose, MemorySearch};
use crate::key;
use crate::learnt::ModelFactsFile;
use crate::notice::{AppNotice, Notices};
use crate::place::ModelPlace;
use crate::secrets::{self, SecretError};
use crate::settings::Settings;
use crate::turns::{RunStarter, StartRun};
use crate::undo;
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::moment;
use everloop_agenda::tools::{self, AgendaContext, ScheduleTool, TodoTool};
use everloop_engine::{EndedTask, Environment, Submission, Summary, SystemClock};
use everloop_mcp::Servers;
use everloop_models::{
    CallWay, CountingModel, Endpoint, ModelConnectError, ModelKnowledge, TraitStore, connect,
};
use everloop_ports::{BoxFuture, Model, Registry, Tool as _};
use everloop_tools::{
    BUILT_IN, BuiltIn, Delegate, Http, Needs, Setting, Shell, Timeout, WebSetting, Workspace,
    WorkspaceError, builtin_tools, forget_records, with_reads_outside,
};
use everloop_types::{
    AnalysisTerms, Approval, EffectClass, Frame, Lang, ModelChoice, ModelError, ModelErrorKind,
    RunId, Status, TODO_WRITE, ToolSpec,
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
    /// Starts the runs of decisions; none where tools are only described.
    starter: Option<RunStarter>,
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
        let endpoint = services::endpoint(settings);
        let tools = Setting {
            guard: everloop_tools::own_program(),
            shell: limits::shell(settings),
            protected,
            checkpoints: records.parent().map(|data| undo::checkpoints(settings, data)),
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
            max_sleep_ms: settings.tasks.max_sleep.ms(),
            ..Setting::new(PathBuf::new())
        };
        let tools = Setting { index: limits::index_of(settings, &tools), ..tools };
        secrets::commands(settings).iter().for_each(|words| {
            everloop_tools::register_programs(words.iter().map(String::as_str));
        });
        let settings = settings.clone();
        let (desk, models, places) = (None, Mutex::default(), Places::default());
        let servers = Servers::default();
        let starter = None;
        let notices = Notices::ignored();
        Self {
            endpoint,
            settings,
            key_file,
            tools,
            desk,
            servers,
            models,
            places,
            starter,
            notices,
        }
    }

    /// A workspace as the file tools of a run see it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn guarded_workspace(&self, root: &Path) -> Result<Workspace, WorkspaceError> {
        Setting { workspace: root.to_owned(), ..self.tools.clone() }.guarded_workspace()
    }

    /// The same, where decisions can start runs.
    pub(crate) fn with_starter(mut self, starter: RunStarter) -> Self {
        self.starter = Some(starter);
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

    /// The same, with the connections of an earlier one if the settings name the same servers.
    pub(crate) fn with_servers_of(mut self, earlier: &Self) -> Self {
        if self.settings.servers() == earlier.settings.servers() {
            self.servers = earlier.servers.clone();
        }
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
        Some(self.servers.offer(self.own(workspace, zone, lang, None)?))
    }

    /// Our own tools for a workspace and a person.
    fn own(
        &self,
        workspace: PathBuf,
        zone: &str,
        lang: Lang,
        terms: Option<&AnalysisTerms>,
    ) -> Option<Registry> {
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
        let facts = FactContext {
            store: self.desk.as_ref().map(|desk| desk.store().clone()),
            settings: self.settings.clone(),
            workspace: workspace.display().to_string(),
        };
        let registry = registry.with(MemoryPropose(facts.clone())).with(MemorySearch(facts));
        let registry = match self.analyses() {
            Some(folder) => {
                let files = setting.guarded_workspace().ok().map(Arc::new);
                let context = analysis::context(&self.settings, folder, files, terms, lang);
                let shell = Shell::of(&setting).ok().map(Arc::new);
                analysis::with_tools(registry, &self.settings, &context, shell)
            }
            None => registry,
        };
        Some(match self.load_skill(workspace) {
            Some(tool) => registry.with(tool),
            None => registry,
        })
    }

    /// The sandbox of commands around another folder.
    pub(crate) fn shell_in(&self, workspace: PathBuf) -> Option<Shell> {
        Shell::of(&Setting { workspace, ..self.tools.clone() }).ok()
    }

    /// The folder of all analyses.
    fn analyses(&self) -> Option<PathBuf> {
        Some(self.tools.records.as_deref()?.parent()?.join("analysis"))
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
        edits_files: false,
    },
    BuiltIn {
        name: Delegate::NAME,
        class: EffectClass::Transactional,
        approval: Approval::Allow,
        timeout: Timeout::Ms(0),
        resource_arg: None,
        needs: Needs::Nothing,
        edits_files: false,
    },
];

/// Every built-in tool.
pub(crate) fn built_in() -> impl Iterator<Item = &'static BuiltIn> {
    let of_others = tools::BUILT_IN.iter().chain(&OF_APP).chain(&of_facts::BUILT_IN);
    BUILT_IN.iter().chain(of_others).chain(&everloop_analysis::BUILT_IN)
}

/// Whether a built-in tool writes files of the workspace itself.
pub(crate) fn edits_files(name: &str) -> bool {
    built_in().any(|tool| tool.edits_files && tool.name == name)
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
        // A decision has one tool, and nothing of the workspace.
        if let Some(start) = self.starter.as_ref().and_then(|it| StartRun::of(it, frame)) {
            return Arc::new(Registry::default().with(start));
        }
        let workspace = PathBuf::from(&frame.workspace);
        let files: Vec<PathBuf> = self.tools.channels.files().collect();
        crate::own::make_within(&workspace, &self.places.own, &files);
        let terms = frame.analysis.as_deref();
        let own = self.own(workspace, &frame.time_zone, frame.language, terms).unwrap_or_default();
        Arc::new(self.servers.offer_to(frame, own))
    }

    fn follow_up<'a>(&'a self, ended: EndedTask<'a>) -> BoxFuture<'a, Option<Submission>> {
        Box::pin(async move { self.starter.as_ref()?.follow_up(ended).await })
    }

    fn last_words<'a>(
        &'a self,
        run: &'a RunId,
        frame: &'a Frame,
        status: Status,
        words: &'a str,
    ) -> BoxFuture<'a, Option<String>> {
        let settings = &self.settings;
        Box::pin(async move {
            analysis::last_words(settings, &self.analyses()?, run, frame, status, words).await
        })
    }

    fn forget(&self, run: &RunId) {
        if let Some(folder) = self.analyses() {
            analysis::forget(&folder, run);
        }
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
        for tool in built_in() {
            if let Needs::Setting(key) = tool.needs {
                let found = crate::settings::find(key, crate::settings::SettingOrigin::Default);
                assert!(found.is_ok(), "{}: {key}", tool.name);
            }
        }
    }
}
