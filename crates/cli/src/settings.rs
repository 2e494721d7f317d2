//! Settings: `section.key` from the file, then `EVERLOOP_SECTION__KEY`, then `--set`; the last one
//! wins.

mod table;
mod value;

pub(crate) use table::TABLE;
pub(crate) use value::{Form, Item, Value, Wrong};

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// One setting that exists.
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) form: Form,
    pub(crate) default: &'static str,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(String),
    Environment(String),
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => f.write_str(path),
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("--set"),
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) key: String,
    pub(crate) origin: Origin,
    pub(crate) what: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// There is no such key; the nearest one that exists.
    Unknown(Option<&'static str>),
    /// The value does not fit.
    Bad(Wrong),
    /// `--set` without `=`.
    NotAnAssignment,
    /// The file is no TOML.
    Unreadable(String),
}

/// All settings with their values.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    values: BTreeMap<&'static str, (Value, Origin)>,
}

/// Settings, and the unknown keys of the file: those are only warnings.
pub(crate) struct Loaded {
    pub(crate) settings: Settings,
    pub(crate) warnings: Vec<Fault>,
}

impl Settings {
    /// Reads every layer.
    pub(crate) fn load(
        file: Option<(&Path, &str)>,
        environment: &[(String, String)],
        flags: &[String],
    ) -> Result<Loaded, Fault> {
        let mut settings = Self::defaults();
        let mut warnings = Vec::new();
        if let Some((path, text)) = file {
            let origin = Origin::File(path.display().to_string());
            settings.read_file(text, &origin, &mut warnings)?;
        }
        for (name, value) in environment {
            if let Some(key) = key_of_variable(name) {
                let origin = Origin::Environment(name.clone());
                match settings.set(&key, value, origin) {
                    Err(fault) if matches!(fault.what, FaultKind::Unknown(_)) => {
                        warnings.push(fault);
                    }
                    other => other?,
                }
            }
        }
        for flag in flags {
            let Some((key, value)) = flag.split_once('=') else {
                let what = FaultKind::NotAnAssignment;
                return Err(Fault { key: flag.clone(), origin: Origin::Flag, what });
            };
            settings.set(key.trim(), value.trim(), Origin::Flag)?;
        }
        Ok(Loaded { settings, warnings })
    }

    fn defaults() -> Self {
        let values = TABLE.iter().map(|setting| {
            let value = setting.form.read(setting.default);
            (setting.key, (value.expect("defaults fit their form"), Origin::Default))
        });
        Self { values: values.collect() }
    }

    fn read_file(
        &mut self,
        text: &str,
        origin: &Origin,
        warnings: &mut Vec<Fault>,
    ) -> Result<(), Fault> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| Fault {
            key: String::new(),
            origin: origin.clone(),
            what: FaultKind::Unreadable(error.to_string()),
        })?;
        for (section, content) in table {
            let toml::Value::Table(content) = content else {
                warnings.push(unknown(&section, origin.clone()));
                continue;
            };
            for (name, value) in content {
                let key = format!("{section}.{name}");
                let text = match value {
                    toml::Value::String(text) => text,
                    toml::Value::Integer(number) => number.to_string(),
                    toml::Value::Float(number) => number.to_string(),
                    toml::Value::Boolean(word) => word.to_string(),
                    toml::Value::Array(items) => joined(&items),
                    other => format!("{other:?}"),
                };
                match self.set(&key, &text, origin.clone()) {
                    Err(fault) if matches!(fault.what, FaultKind::Unknown(_)) => {
                        warnings.push(fault);
                    }
                    other => other?,
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), Fault> {
        let Some(setting) = TABLE.iter().find(|setting| setting.key == key) else {
            return Err(unknown(key, origin));
        };
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
    pub(crate) fn number(&self, key: &'static str) -> u64 {
        match self.value(key) {
            Value::Number(number) => *number,
            Value::Text(_) => unreachable!("{key} is a number"),
        }
    }

    /// A count that must fit the type it is used as; the table's bounds see to that.
    pub(crate) fn small(&self, key: &'static str) -> u32 {
        u32::try_from(self.number(key)).unwrap_or(u32::MAX)
    }

    /// A text; empty if it was not set.
    pub(crate) fn text(&self, key: &'static str) -> &str {
        match self.value(key) {
            Value::Text(text) => text,
            Value::Number(_) => unreachable!("{key} is a text"),
        }
    }

    /// The items of a list.
    pub(crate) fn list(&self, key: &'static str) -> impl Iterator<Item = &str> {
        value::items(self.text(key))
    }

    /// Every key with its value and origin, for `doctor`.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, String, &Origin)> {
        TABLE.iter().filter_map(|setting| {
            let (value, origin) = self.values.get(setting.key)?;
            Some((setting.key, setting.form.show(value), origin))
        })
    }
}

/// An array as a list: its texts with commas between them.
fn joined(items: &[toml::Value]) -> String {
    let texts = items.iter().map(|item| item.as_str().unwrap_or("?"));
    texts.collect::<Vec<_>>().join(",")
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

/// `EVERLOOP_LOOP__MAX_STEPS` is `loop.max_steps`.
fn key_of_variable(name: &str) -> Option<String> {
    let (section, key) = name.strip_prefix("EVERLOOP_")?.split_once("__")?;
    Some(format!("{}.{}", section.to_lowercase(), key.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::{FaultKind, Origin, Settings};
    use std::path::Path;

    fn from_file(text: &str) -> super::Loaded {
        Settings::load(Some((Path::new("config.toml"), text)), &[], &[]).unwrap()
    }

    #[test]
    fn the_last_layer_wins() {
        let file = (Path::new("config.toml"), "[loop]\nmax_steps = 3\n[model]\npatience = \"2s\"");
        let environment = [("EVERLOOP_LOOP__MAX_STEPS".to_owned(), "4".to_owned())];
        let flags = ["loop.max_steps=5".to_owned()];
        let layers = [(&environment[..0], &flags[..0]), (&environment[..], &flags[..0])];
        let steps = |environment, flags| {
            Settings::load(Some(file), environment, flags)
                .unwrap()
                .settings
                .number("loop.max_steps")
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
        let settings = Settings::load(None, &[], &[flag.to_owned()]).unwrap().settings;
        assert_eq!(settings.list("tools.channels").count(), 2);
        let shown = settings.all().find(|(key, ..)| *key == "tools.channels").unwrap().1;
        assert_eq!(shown, "ops=https://h.example/…, log=file:/x");
        for flag in ["tools.http_allow=a, *", "tools.channels=ops", "tools.channels=o=ftp://secret"]
        {
            let fault = Settings::load(None, &[], &[flag.to_owned()]).err().unwrap();
            assert!(matches!(fault.what, FaultKind::Bad(wrong) if wrong.text == "…"), "{flag}");
        }
    }

    #[test]
    fn an_unknown_key_is_a_warning_in_a_file_and_an_error_in_a_flag() {
        let loaded = from_file("[loop]\nmax_stepz = 3");
        assert_eq!(loaded.warnings[0].what, FaultKind::Unknown(Some("loop.max_steps")));
        let flag = Settings::load(None, &[], &["loop.max_stepz=3".to_owned()]).err().unwrap();
        assert_eq!(flag.origin, Origin::Flag);
        assert_eq!(flag.what, FaultKind::Unknown(Some("loop.max_steps")));
    }

    #[test]
    fn wrong_types_and_units_are_errors_everywhere() {
        for flag in ["loop.max_steps=many", "model.patience=8", "model.patience=8 parsecs"] {
            let fault = Settings::load(None, &[], &[flag.to_owned()]).err().unwrap();
            assert!(matches!(fault.what, FaultKind::Bad(_)), "{flag}");
        }
    }
}
