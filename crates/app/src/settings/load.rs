//! Reading the layers: the file, then the environment, then `--set`.

use super::error::{SettingError, SettingProblem};
use super::keys::agent;
use super::{
    SettingKey, SettingOrigin, Settings, approval_rules, mcp_servers, providers, shell_rules,
    signed_channels, unknown,
};
use std::path::Path;

/// Settings, warnings about unknown keys, and what cannot be used.
pub struct LoadedSettings {
    /// The settings in force, without what cannot be used.
    pub settings: Settings,
    /// Unknown keys where files may be newer than the program.
    pub warnings: Vec<SettingError>,
    /// What cannot be used.
    pub errors: Vec<SettingError>,
}

impl Settings {
    /// Reads every layer; what cannot be used is left out and reported.
    #[must_use]
    pub fn read(
        file: Option<(&Path, &str)>,
        environment: &[(String, String)],
        flags: &[String],
    ) -> LoadedSettings {
        let settings = Self::defaults();
        let mut loaded = LoadedSettings { settings, warnings: Vec::new(), errors: Vec::new() };
        if let Some((path, text)) = file {
            loaded.read_file(text, &SettingOrigin::File(path.display().to_string()));
        }
        loaded.settings.end_layer();
        loaded.read_environment(environment);
        loaded.settings.end_layer();
        loaded.read_flags(flags);
        loaded.settings.end_layer();
        loaded
    }
}

impl LoadedSettings {
    /// Keeps an error in its place; an unknown key is only a warning where files may be newer.
    fn report(&mut self, error: SettingError) {
        let is_warning = matches!(error.problem, SettingProblem::Unknown(_))
            && !matches!(error.origin, SettingOrigin::Flag);
        if is_warning {
            self.warnings.push(error);
        } else {
            self.errors.push(error);
        }
    }

    fn set(&mut self, key: &str, text: &str, origin: SettingOrigin) {
        let taken = self.settings.take_of_provider(key, text, &origin);
        if let Err(error) = taken.unwrap_or_else(|| self.settings.set(key, text, origin)) {
            self.report(error);
        }
    }

    fn read_file(&mut self, text: &str, origin: &SettingOrigin) {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let problem = SettingProblem::NotToml(toml::de::Error::to_string(&error));
                let origin = origin.clone();
                return self.report(SettingError { key: String::new(), origin, problem });
            }
        };
        self.read_tables(text, origin);
        for (section, content) in table {
            let toml::Value::Table(content) = content else {
                self.report(unknown(&section, origin.clone()));
                continue;
            };
            for (name, value) in content {
                self.read_value(&section, &name, &value, origin);
            }
        }
    }

    /// What is a table of its own and not a single value.
    fn read_tables(&mut self, text: &str, origin: &SettingOrigin) {
        let mut problems: Vec<(&str, SettingProblem)> = Vec::new();
        let (rules, errors) = shell_rules::read(text);
        self.settings.shell_rules = rules;
        problems
            .extend(errors.into_iter().map(|it| (shell_rules::KEY, SettingProblem::ShellRule(it))));
        let (servers, errors) = mcp_servers::read(text);
        self.settings.servers = servers;
        problems.extend(
            errors
                .into_iter()
                .map(|it| (mcp_servers::KEY, SettingProblem::McpServer(Box::new(it)))),
        );
        let (rules, errors) = approval_rules::read(text);
        self.settings.approval_rules = rules;
        problems.extend(
            errors
                .into_iter()
                .map(|it| (approval_rules::KEY, SettingProblem::ApprovalRule(Box::new(it)))),
        );
        let (channels, errors) = signed_channels::read(text);
        self.settings.channels = channels;
        problems.extend(
            errors
                .into_iter()
                .map(|it| (signed_channels::SECTION, SettingProblem::SignedChannel(Box::new(it)))),
        );
        for (key, problem) in problems {
            self.report(SettingError { key: key.to_owned(), origin: origin.clone(), problem });
        }
    }

    fn read_value(
        &mut self,
        section: &str,
        name: &str,
        value: &toml::Value,
        origin: &SettingOrigin,
    ) {
        let key = format!("{section}.{name}");
        if let (providers::SECTION, toml::Value::Table(inner)) = (section, value) {
            for (last, value) in inner {
                self.set(&format!("{key}.{last}"), &typed_text(value), origin.clone());
            }
            return;
        }
        if section == signed_channels::SECTION {
            return;
        }
        let tables = [shell_rules::KEY, mcp_servers::KEY, approval_rules::KEY];
        if !tables.contains(&key.as_str()) {
            self.set(&key, &typed_text(value), origin.clone());
        }
    }

    fn read_environment(&mut self, environment: &[(String, String)]) {
        if let Some((name, mode)) = environment.iter().find(|(name, _)| name == AGENT_MODE)
            && !mode.is_empty()
        {
            let origin = SettingOrigin::Environment(name.clone());
            let key = super::keys::loops::default();
            self.set(key.as_str(), &mode_name(mode), origin);
        }
        for (known, key, written) in AGENT_NAMES {
            let found = environment.iter().find(|(name, value)| name == known && !value.is_empty());
            if let Some((name, value)) = found {
                let origin = SettingOrigin::Environment(name.clone());
                self.set(key().as_str(), &written(value.trim()), origin);
            }
        }
        for (name, value) in environment {
            if let Some(key) = key_of_variable(name) {
                self.set(&key, value, SettingOrigin::Environment(name.clone()));
            }
        }
    }

    fn read_flags(&mut self, flags: &[String]) {
        for flag in flags {
            if let Some((key, value)) = flag.split_once('=') {
                self.set(key.trim(), value.trim(), SettingOrigin::Flag);
            } else {
                let problem = SettingProblem::NotAnAssignment;
                let origin = SettingOrigin::Flag;
                self.report(SettingError { key: flag.clone(), origin, problem });
            }
        }
    }
}

/// A value of the file as it would be typed.
fn typed_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(word) => word.to_string(),
        toml::Value::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().unwrap_or("?"));
            texts.collect::<Vec<_>>().join(",")
        }
        other => format!("{other:?}"),
    }
}

/// Another name for `loop.default`, with underscores (TD-6 to TD-9).
const AGENT_MODE: &str = "AGENT_MODE";

/// Other names for settings of `agent` (DR-18), and how their values are written here.
const AGENT_NAMES: [AgentVariable; 5] = [
    ("AGENT_LOOP_ENABLED", agent::loop_enabled, switch_word),
    ("AGENT_DECISION_MODEL", agent::decision_model, str::to_owned),
    ("AGENT_ALLOWED_RUN_TYPES", agent::allowed_run_types, str::to_owned),
    ("AGENT_DECISION_TIMEOUT_SECONDS", agent::decision_timeout, with_seconds),
    ("AGENT_DECISION_FALLBACK_MODE", agent::fallback_mode, fallback_word),
];

/// A variable, the setting that it means, and how its value is written there.
type AgentVariable = (&'static str, fn() -> SettingKey, fn(&str) -> String);

/// `true` and `1` are `on`; what means neither stays as it was written.
fn switch_word(value: &str) -> String {
    match value.to_lowercase().as_str() {
        "true" | "1" | "yes" => "on".to_owned(),
        "false" | "0" | "no" => "off".to_owned(),
        other => other.to_owned(),
    }
}

/// Seconds without a unit.
fn with_seconds(value: &str) -> String {
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{value}s")
    } else {
        value.to_owned()
    }
}

fn fallback_word(value: &str) -> String {
    value.to_lowercase().replace('_', "-")
}

/// The loop that a mode means, in any case; what means none stays as it was written.
#[must_use]
pub(crate) fn mode_name(mode: &str) -> String {
    let name = mode.trim().to_lowercase().replace(['_', ' '], "-");
    if everloop_loops::LOOPS.contains(&name.as_str()) { name } else { mode.to_owned() }
}

/// `EVERLOOP_LOOP__MAX_STEPS` is `loop.max_steps`, and `EVERLOOP_PROVIDERS__MY_HUB__BASE_URL` is
/// `providers.my-hub.base_url`.
fn key_of_variable(name: &str) -> Option<String> {
    let (section, key) = name.strip_prefix("EVERLOOP_")?.split_once("__")?;
    if let ("PROVIDERS", Some((provider, last))) = (section, key.split_once("__")) {
        let provider = provider.to_lowercase().replace('_', "-");
        return Some(format!("providers.{provider}.{}", last.to_lowercase()));
    }
    Some(format!("{}.{}", section.to_lowercase(), key.to_lowercase()))
}
