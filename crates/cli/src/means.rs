//! Where models and tools come from: the settings and environment of this process.

use crate::key::KeyError;
use crate::settings::Settings;
use everloop_assistant::desk::Desk;
use everloop_assistant::tools::{Office, ScheduleTool, TodoTool};
use everloop_engine::{Means, SystemClock};
use everloop_models::{Endpoint, Model, Secret, Timeouts, connect};
use everloop_tools::{
    Channel, Channels, Host, Http, Limits, Network, Registry, Sandbox, SearchService,
    SearchSetting, Setting, ShellLimits, ShellSetting, WallSetting,
};
use everloop_types::{Frame, Lang, ModelChoice, ModelError, ModelErrorKind};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

type Connected = (Arc<dyn Model>, String);

/// The models and tools that this process can reach.
pub(crate) struct LocalMeans {
    endpoint: Endpoint,
    /// Why there is no key although a file for one is there.
    key_error: Option<KeyError>,
    /// What the built-in tools know, but for the workspace.
    tools: Setting,
    /// Where todos and schedules are kept; none where tools are only described.
    desk: Option<Desk>,
    models: Mutex<BTreeMap<String, Connected>>,
}

impl LocalMeans {
    pub(crate) fn new(
        settings: &Settings,
        key: Result<Option<Secret>, KeyError>,
        protected: Vec<PathBuf>,
        records: PathBuf,
    ) -> Self {
        let (api_key, key_error) = match key {
            Ok(key) => (key, None),
            Err(error) => (None, Some(error)),
        };
        let size = |key| usize::try_from(settings.number(key)).unwrap_or(usize::MAX);
        let endpoint = Endpoint {
            base_url: base_url(settings),
            api_key,
            timeouts: Timeouts {
                connect_ms: settings.number("model.connect_timeout"),
                first_byte_ms: settings.number("model.first_byte_timeout"),
                idle_ms: settings.number("model.idle_timeout"),
                total_ms: settings.number("model.total_timeout"),
            },
            reply_bytes_max: size("model.reply_max"),
        };
        let tools = Setting {
            guard: std::env::current_exe().ok(),
            shell: shell(settings),
            protected,
            records: Some(records),
            http: Http {
                hosts: settings.list("tools.http_allow").filter_map(Host::parse).collect(),
                timeout_ms: settings.number("tools.http_timeout"),
                bytes_max: size("tools.output_max"),
            },
            http_key_lifetime_ms: settings.number("tools.http_key_lifetime"),
            channels: channels(settings),
            search: search(settings),
            ..Setting::new(PathBuf::new())
        };
        Self { endpoint, key_error, tools, desk: None, models: Mutex::default() }
    }

    /// The same, where todos and schedules can be kept.
    pub(crate) fn with_desk(mut self, desk: Desk) -> Self {
        self.desk = Some(desk);
        self
    }

    /// Why the key cannot be used, if a file for one is there.
    pub(crate) fn key_error(&self) -> Option<&KeyError> {
        self.key_error.as_ref()
    }

    /// The tools for a workspace and a person.
    pub(crate) fn registry(&self, workspace: PathBuf, zone: &str, lang: Lang) -> Option<Registry> {
        let office = Office {
            desk: self.desk.clone(),
            clock: Arc::new(SystemClock),
            zone: TimeZone::get(zone).unwrap_or(TimeZone::UTC),
            lang,
        };
        let registry = Registry::builtin(&Setting { workspace, ..self.tools.clone() }).ok()?;
        Some(registry.with(TodoTool(office.clone())).with(ScheduleTool(office)))
    }
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
        },
        rules: settings.shell_rules().to_vec(),
    }
}

/// Where messages may go.
pub(crate) fn channels(settings: &Settings) -> Channels {
    settings.list("tools.channels").filter_map(Channel::parse).collect()
}

/// Where to search, unless it is off.
fn search(settings: &Settings) -> Option<SearchSetting> {
    Some(SearchSetting {
        service: SearchService::parse(settings.text("search.provider"))?,
        base_url: settings.text("search.base_url").to_owned(),
        timeout_ms: settings.number("search.timeout"),
        top_k: usize::try_from(settings.number("search.top_k")).unwrap_or(1),
    })
}

/// Whether a model plays a script instead of asking an endpoint.
pub(crate) fn is_scripted(name: &str) -> bool {
    name.starts_with("scripted/")
}

/// The endpoint that was chosen, if one was.
pub(crate) fn base_url(settings: &Settings) -> String {
    match settings.text("model.base_url") {
        "" => std::env::var("OPENAI_BASE_URL").unwrap_or_default(),
        url => url.to_owned(),
    }
}

impl Means for LocalMeans {
    fn model(&self, choice: &ModelChoice) -> Result<Connected, ModelError> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = models.get(&choice.name) {
            return Ok(known.clone());
        }
        // A scripted model asks nobody, so it needs no key.
        if let Some(error) = self.key_error.as_ref().filter(|_| !is_scripted(&choice.name)) {
            return Err(ModelError::new(ModelErrorKind::Refused, error.to_string()));
        }
        let found = connect(&choice.name, self.endpoint.clone())
            .map_err(|error| ModelError::new(ModelErrorKind::Refused, error.to_string()))?;
        models.insert(choice.name.clone(), found.clone());
        Ok(found)
    }

    /// A workspace that is gone leaves no tools: each call is answered with that.
    fn tools(&self, frame: &Frame) -> Arc<Registry> {
        let workspace = PathBuf::from(&frame.workspace);
        Arc::new(self.registry(workspace, &frame.time_zone, frame.language).unwrap_or_default())
    }
}
