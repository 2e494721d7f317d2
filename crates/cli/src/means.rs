//! Where models and tools come from: the settings and environment of this process.

use crate::key;
use crate::place::Place;
use crate::secrets::{self, SecretError};
use crate::settings::Settings;
use everloop_assistant::desk::Desk;
use everloop_assistant::tools::{Office, ScheduleTool, TodoTool};
use everloop_engine::{Means, SystemClock};
use everloop_models::{Endpoint, Model, Timeouts, connect};
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
    /// How long models are waited for, and how much is taken from them.
    endpoint: Endpoint,
    settings: Settings,
    key_file: PathBuf,
    /// What the built-in tools know, but for the workspace.
    tools: Setting,
    /// Where todos and schedules are kept; none where tools are only described.
    desk: Option<Desk>,
    models: Mutex<BTreeMap<String, Connected>>,
}

impl LocalMeans {
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
        let settings = settings.clone();
        Self { endpoint, settings, key_file, tools, desk: None, models: Mutex::default() }
    }

    /// The same, where todos and schedules can be kept.
    pub(crate) fn with_desk(mut self, desk: Desk) -> Self {
        self.desk = Some(desk);
        self
    }

    /// Why the key of a model cannot be used, if a file for one is there. A scripted model asks
    /// nobody, so it needs none.
    pub(crate) fn key_error(&self, name: &str) -> Option<SecretError> {
        let place = Place::of(&self.settings, name);
        key::find(&self.settings, &self.key_file, &place).err().filter(|_| !is_scripted(name))
    }

    /// Where a model is asked, and with which key.
    pub(crate) fn endpoint(&self, name: &str) -> Result<Endpoint, SecretError> {
        let place = Place::of(&self.settings, name);
        let api_key = match is_scripted(name) {
            true => None,
            false => key::find(&self.settings, &self.key_file, &place)?,
        };
        Ok(Endpoint { base_url: place.base_url, api_key, ..self.endpoint.clone() })
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
        redact: Some(|text| secrets::redactor().text(text).into_owned()),
    }
}

/// Where messages may go.
pub(crate) fn channels(settings: &Settings) -> Channels {
    let address = |item: &str| match secrets::channel(item) {
        // One whose address cannot be had is no channel here; the start has said so.
        Some((name, reference)) => {
            let found = secrets::resolve(&reference, settings).ok()?;
            Channel::parse(&format!("{name}={found}"))
        }
        None => Channel::parse(item),
    };
    settings.list("tools.channels").filter_map(address).collect()
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

impl Means for LocalMeans {
    fn model(&self, choice: &ModelChoice) -> Result<Connected, ModelError> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = models.get(&choice.name) {
            return Ok(known.clone());
        }
        let refused = |error: &dyn std::error::Error| {
            ModelError::new(ModelErrorKind::Refused, error.to_string())
        };
        let endpoint = self.endpoint(&choice.name).map_err(|error| refused(&error))?;
        let found = connect(&choice.name, endpoint).map_err(|error| refused(&error))?;
        models.insert(choice.name.clone(), found.clone());
        Ok(found)
    }

    /// A workspace that is gone leaves no tools: each call is answered with that.
    fn tools(&self, frame: &Frame) -> Arc<Registry> {
        let workspace = PathBuf::from(&frame.workspace);
        Arc::new(self.registry(workspace, &frame.time_zone, frame.language).unwrap_or_default())
    }
}
