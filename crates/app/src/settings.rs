//! Settings: `section.key` from the file, then `EVERLOOP_SECTION__KEY`, then `--set`; the last one
//! wins.

pub mod approvals;
pub mod endpoints;
mod fault_words;
pub mod file;
pub mod redact;
pub mod rules;
pub mod servers;
mod sources;
mod table;
mod value;

pub use fault_words::fault_words;
pub use sources::Sources;
pub use table::TABLE;
pub use value::{Form, Item, Value, Wrong};

use crate::secrets::SecretError;
use approvals::WrongApproval;
use endpoints::Endpoints;
use everloop_tools::ShellRule;
use everloop_tools::mcp::ServerSetting;
use everloop_types::ApprovalRule;
use rules::WrongRule;
use servers::{WrittenServer, WrongServer};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// One setting that exists.
pub struct Setting {
    pub key: &'static str,
    pub form: Form,
    pub default: &'static str,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(String),
    Environment(String),
    Flag,
    /// An argument that names a setting.
    CommandLine,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => f.write_str(path),
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("--set"),
            Self::CommandLine => f.write_str("config"),
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub key: String,
    pub origin: Origin,
    pub what: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// There is no such key; the nearest one that exists.
    Unknown(Option<&'static str>),
    /// The value does not fit.
    Bad(Wrong),
    /// `--set` without `=`.
    NotAnAssignment,
    /// The file is no TOML.
    Unreadable(String),
    /// The file is there and cannot be read.
    NoFile(String),
    /// The database's address is of no kind that is known.
    NoSuchDatabase,
    /// A rule on commands that cannot be used.
    Rule(WrongRule),
    /// An MCP server that cannot be used.
    Server(Box<WrongServer>),
    /// A rule on calls that cannot be used.
    Approval(Box<WrongApproval>),
    /// The secret that it refers to cannot be had.
    Secret(Box<SecretError>),
}

/// All settings with their values.
#[derive(Debug, Clone)]
pub struct Settings {
    values: BTreeMap<&'static str, (Value, Origin)>,
    shell_rules: Vec<ShellRule>,
    servers: Vec<WrittenServer>,
    approval_rules: Vec<ApprovalRule>,
    endpoints: Endpoints,
}

/// Settings, the unknown keys of the file, which are only warnings, and what cannot be used.
pub struct Loaded {
    pub settings: Settings,
    pub warnings: Vec<Fault>,
    pub faults: Vec<Fault>,
}

impl Loaded {
    /// Keeps a fault in its place; an unknown key is only a warning where files may be newer.
    fn keep(&mut self, fault: Fault) {
        match fault.what {
            FaultKind::Unknown(_) if !matches!(fault.origin, Origin::Flag) => {
                self.warnings.push(fault);
            }
            _ => self.faults.push(fault),
        }
    }
}

impl Loaded {
    fn set(&mut self, key: &str, text: &str, origin: Origin) {
        let taken = self.settings.take_of_provider(key, text, &origin);
        if let Err(fault) = taken.unwrap_or_else(|| self.settings.set(key, text, origin)) {
            self.keep(fault);
        }
    }

    fn read_file(&mut self, text: &str, origin: &Origin) {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let what = FaultKind::Unreadable(toml::de::Error::to_string(&error));
                return self.keep(Fault { key: String::new(), origin: origin.clone(), what });
            }
        };
        let (rules, wrong) = rules::read(text);
        self.settings.shell_rules = rules;
        for wrong in wrong {
            let (key, what) = (rules::KEY.to_owned(), FaultKind::Rule(wrong));
            self.keep(Fault { key, origin: origin.clone(), what });
        }
        let (servers, wrong) = servers::read(text);
        self.settings.servers = servers;
        for wrong in wrong {
            let (key, what) = (servers::KEY.to_owned(), FaultKind::Server(Box::new(wrong)));
            self.keep(Fault { key, origin: origin.clone(), what });
        }
        let (rules, wrong) = approvals::read(text);
        self.settings.approval_rules = rules;
        for wrong in wrong {
            let (key, what) = (approvals::KEY.to_owned(), FaultKind::Approval(Box::new(wrong)));
            self.keep(Fault { key, origin: origin.clone(), what });
        }
        for (section, content) in table {
            let toml::Value::Table(content) = content else {
                self.keep(unknown(&section, origin.clone()));
                continue;
            };
            for (name, value) in content {
                let key = format!("{section}.{name}");
                if let (endpoints::SECTION, toml::Value::Table(inner)) = (&*section, &value) {
                    for (last, value) in inner {
                        self.set(&format!("{key}.{last}"), &plain(value), origin.clone());
                    }
                    continue;
                }
                let text = plain(&value);
                if ![rules::KEY, servers::KEY, approvals::KEY].contains(&key.as_str()) {
                    self.set(&key, &text, origin.clone());
                }
            }
        }
    }
}

impl Settings {
    /// Reads every layer; what cannot be used is passed over and told.
    pub fn read(
        file: Option<(&Path, &str)>,
        environment: &[(String, String)],
        flags: &[String],
    ) -> Loaded {
        let settings = Self::defaults();
        let mut loaded = Loaded { settings, warnings: Vec::new(), faults: Vec::new() };
        if let Some((path, text)) = file {
            loaded.read_file(text, &Origin::File(path.display().to_string()));
        }
        loaded.settings.end_layer();
        if let Some((name, mode)) = environment.iter().find(|(name, _)| name == AGENT_MODE)
            && !mode.is_empty()
        {
            let name = Origin::Environment(name.clone());
            loaded.set("loop.default", &mode_name(mode), name);
        }
        for (name, value) in environment {
            if let Some(key) = key_of_variable(name) {
                loaded.set(&key, value, Origin::Environment(name.clone()));
            }
        }
        loaded.settings.end_layer();
        for flag in flags {
            match flag.split_once('=') {
                Some((key, value)) => loaded.set(key.trim(), value.trim(), Origin::Flag),
                None => {
                    let what = FaultKind::NotAnAssignment;
                    loaded.keep(Fault { key: flag.clone(), origin: Origin::Flag, what });
                }
            }
        }
        loaded.settings.end_layer();
        loaded
    }

    fn defaults() -> Self {
        let values = TABLE.iter().map(|setting| {
            let value = setting.form.read(setting.default);
            (setting.key, (value.expect("defaults fit their form"), Origin::Default))
        });
        Self {
            values: values.collect(),
            shell_rules: Vec::new(),
            servers: Vec::new(),
            approval_rules: Vec::new(),
            endpoints: Endpoints::default(),
        }
    }

    fn set(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), Fault> {
        let setting = find(key, origin.clone())?;
        match setting.form.read(text) {
            Ok(value) => {
                self.values.insert(setting.key, (value, origin));
                Ok(())
            }
            Err(wrong) => Err(Fault { key: key.to_owned(), origin, what: FaultKind::Bad(wrong) }),
        }
    }

    fn value(&self, key: &'static str) -> &Value {
        &self.values.get(key).unwrap_or_else(|| unreachable!("{key} is in the table")).0
    }

    /// A count, a duration in milliseconds or a size in bytes.
    pub fn number(&self, key: &'static str) -> u64 {
        match self.value(key) {
            Value::Number(number) => *number,
            Value::Text(_) => unreachable!("{key} is a number"),
        }
    }

    /// A number that may be switched off.
    pub fn number_or_off(&self, key: &'static str) -> Option<u64> {
        match self.value(key) {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        }
    }

    /// A count that must fit the type it is used as; the table's bounds see to that.
    pub fn small(&self, key: &'static str) -> u32 {
        u32::try_from(self.number(key)).unwrap_or(u32::MAX)
    }

    /// A text; empty if it was not set.
    pub fn text(&self, key: &'static str) -> &str {
        match self.value(key) {
            Value::Text(text) => text,
            Value::Number(_) => unreachable!("{key} is a text"),
        }
    }

    /// The rules on commands; only the file has them.
    pub fn shell_rules(&self) -> &[ShellRule] {
        &self.shell_rules
    }

    /// The MCP servers; only the file has them.
    pub fn servers(&self) -> Vec<ServerSetting> {
        let (call_ms, start_ms) = (self.number("mcp.timeout"), self.number("mcp.start_timeout"));
        self.servers.iter().map(|server| server.with_times(call_ms, start_ms)).collect()
    }

    /// The rules on calls; only the file has them.
    pub fn approval_rules(&self) -> &[ApprovalRule] {
        &self.approval_rules
    }

    /// What holds an address, of a server or a channel.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        let texts = self.values.values().filter_map(|(value, _)| match value {
            Value::Text(text) => Some(text.as_str()),
            Value::Number(_) => None,
        });
        let own = self.named_providers().map(|name| self.own_address_of(name));
        texts.chain(own).flat_map(value::items).filter(|text| text.contains("://"))
    }

    /// The items of a list.
    pub fn list(&self, key: &'static str) -> impl Iterator<Item = &str> {
        value::items(self.text(key))
    }

    /// The settings that are not as they are by default, with their values as they are typed.
    pub fn changed(&self) -> impl Iterator<Item = (&'static Setting, String)> {
        TABLE.iter().filter_map(|setting| {
            let (value, _) = self.values.get(setting.key)?;
            let default = setting.form.read(setting.default).ok();
            (default.as_ref() != Some(value)).then(|| (setting, setting.form.show(value)))
        })
    }

    /// Every key with its value and origin, without what could be a secret.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, String, &Origin)> {
        TABLE.iter().filter_map(|setting| {
            let (value, origin) = self.values.get(setting.key)?;
            let shown = redact::shown(setting.key, &setting.form.show(value));
            Some((setting.key, shown, origin))
        })
    }
}

/// A value of the file as it would be typed.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(word) => word.to_string(),
        toml::Value::Array(items) => joined(items),
        other => format!("{other:?}"),
    }
}

/// An array as a list: its texts with commas between them.
fn joined(items: &[toml::Value]) -> String {
    let texts = items.iter().map(|item| item.as_str().unwrap_or("?"));
    texts.collect::<Vec<_>>().join(",")
}

/// The setting of this name, or that there is none, with the nearest.
pub fn find(key: &str, origin: Origin) -> Result<&'static Setting, Fault> {
    TABLE.iter().find(|setting| setting.key == key).ok_or_else(|| unknown(key, origin))
}

fn unknown(key: &str, origin: Origin) -> Fault {
    let nearest = TABLE
        .iter()
        .map(|setting| (strsim::damerau_levenshtein(key, setting.key), setting.key))
        .min()
        .filter(|(distance, _)| *distance <= 6)
        .map(|(_, key)| key);
    Fault { key: key.to_owned(), origin, what: FaultKind::Unknown(nearest) }
}

/// Another name for `loop.default`, with underscores (TD-6 to TD-9).
const AGENT_MODE: &str = "AGENT_MODE";

/// The loop that a mode means, in letters of any size; what means none stays as it was written.
pub fn mode_name(mode: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::{Fault, FaultKind, Loaded, Origin, Settings};
    use std::path::Path;

    fn load(
        file: Option<(&Path, &str)>,
        environment: &[(String, String)],
        flags: &[String],
    ) -> Result<Loaded, Fault> {
        let loaded = Settings::read(file, environment, flags);
        match loaded.faults.first() {
            Some(fault) => Err(fault.clone()),
            None => Ok(loaded),
        }
    }

    fn from_file(text: &str) -> Loaded {
        load(Some((Path::new("config.toml"), text)), &[], &[]).unwrap()
    }

    #[test]
    fn the_last_layer_wins() {
        let file = (Path::new("config.toml"), "[loop]\nmax_steps = 3\n[model]\npatience = \"2s\"");
        let environment = [("EVERLOOP_LOOP__MAX_STEPS".to_owned(), "4".to_owned())];
        let flags = ["loop.max_steps=5".to_owned()];
        let layers = [(&environment[..0], &flags[..0]), (&environment[..], &flags[..0])];
        let steps = |environment, flags| {
            load(Some(file), environment, flags).unwrap().settings.number("loop.max_steps")
        };
        assert_eq!(layers.map(|(e, f)| steps(e, f)), [3, 4]);
        assert_eq!(steps(&environment, &flags), 5);
    }

    #[test]
    fn a_list_is_an_array_in_the_file_and_has_commas_elsewhere_and_shows_no_secret() {
        let file = "[tools]\nhttp_allow = [\"a.example\", \"localhost:80\"]";
        let hosts = from_file(file).settings;
        assert_eq!(
            hosts.list("tools.http_allow").collect::<Vec<_>>(),
            ["a.example", "localhost:80"]
        );
        let flag = "tools.channels=ops=https://h.example/secret, log=file:/x";
        let settings = load(None, &[], &[flag.to_owned()]).unwrap().settings;
        assert_eq!(settings.list("tools.channels").count(), 2);
        let shown = settings.all().find(|(key, ..)| *key == "tools.channels").unwrap().1;
        assert_eq!(shown, "ops=https://h.example/…, log=file:/x");
        for flag in ["tools.http_allow=a, *", "tools.channels=ops", "tools.channels=o=ftp://secret"]
        {
            let fault = load(None, &[], &[flag.to_owned()]).err().unwrap();
            assert!(matches!(fault.what, FaultKind::Bad(wrong) if wrong.text == "…"), "{flag}");
        }
    }

    #[test]
    fn an_unknown_key_is_a_warning_in_a_file_and_an_error_in_a_flag() {
        let loaded = from_file("[loop]\nmax_stepz = 3");
        assert_eq!(loaded.warnings[0].what, FaultKind::Unknown(Some("loop.max_steps")));
        let flag = load(None, &[], &["loop.max_stepz=3".to_owned()]).err().unwrap();
        assert_eq!(flag.origin, Origin::Flag);
        assert_eq!(flag.what, FaultKind::Unknown(Some("loop.max_steps")));
    }

    #[test]
    fn wrong_types_and_units_are_errors_everywhere() {
        for flag in ["loop.max_steps=many", "model.patience=8", "model.patience=8 parsecs"] {
            let fault = load(None, &[], &[flag.to_owned()]).err().unwrap();
            assert!(matches!(fault.what, FaultKind::Bad(_)), "{flag}");
        }
    }

    #[test]
    fn agent_mode_names_the_loop_with_underscores_and_the_setting_goes_before_it() {
        let named = |variables: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let variables: Vec<(String, String)> = variables.iter().map(own).collect();
            let loaded = load(None, &variables, &[]).map_err(|fault| fault.key);
            loaded.map(|loaded| loaded.settings.text("loop.default").to_owned())
        };
        for name in everloop_loops::LOOPS {
            let mode = name.replace('-', "_");
            for mode in [mode.to_uppercase(), mode, name.to_uppercase()] {
                assert_eq!(named(&[("AGENT_MODE", &mode)]), Ok(name.to_owned()), "{mode}");
            }
        }
        assert_eq!(super::mode_name("Day_Dreaming"), "Day_Dreaming", "as it was written");
        let both = [("EVERLOOP_LOOP__DEFAULT", "react"), ("AGENT_MODE", "staged")];
        assert_eq!(named(&both), Ok("react".to_owned()));
        assert_eq!(named(&[("AGENT_MODE", "")]), Ok("plan-replan".to_owned()));
        assert_eq!(named(&[("AGENT_MODE", "dreaming")]), Err("loop.default".to_owned()));
    }
}
