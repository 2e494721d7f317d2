//! What is logged, where to and how: decided once from the settings and the environment.

use super::VARIABLE;
use crate::settings::{
    SettingError, SettingMismatch, SettingOrigin, SettingProblem, Settings, keys,
};
use tracing_subscriber::filter::{LevelFilter, Targets};

/// What every target of this program begins with.
const OWN_TARGETS: &str = "everloop";

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What went wrong and needs somebody.
    Error,
    /// What went wrong and was dealt with.
    Warn,
    /// What runs and effects did.
    Info,
    /// Plans, requests and commits too.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// All of them, from the least to the most.
    const ALL: [Self; 6] =
        [Self::Off, Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    const fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// Which kind of process logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSurface {
    /// A command that a person or a script calls; it logs nothing unless it is told to.
    Command,
    /// A process that runs until it is stopped; it logs unless it is told not to.
    Service,
}

/// A filter as it was written: one level, and levels of single targets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LogDirectives {
    level: LogLevel,
    targets: Vec<(String, LogLevel)>,
}

impl LogDirectives {
    /// Reads `info` or `info,everloop_engine=debug`.
    fn parse(text: &str) -> Option<Self> {
        let mut directives = Self { level: LogLevel::Off, targets: Vec::new() };
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                None => directives.level = LogLevel::parse(&part.to_lowercase())?,
                Some((target, level)) if is_target(target) => {
                    let level = LogLevel::parse(&level.to_lowercase())?;
                    directives.targets.push((target.to_owned(), level));
                }
                Some(_) => return None,
            }
        }
        Some(directives)
    }

    fn is_off(&self) -> bool {
        self.level == LogLevel::Off && self.targets.iter().all(|(_, level)| *level == LogLevel::Off)
    }
}

fn is_target(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
    !text.is_empty() && text.chars().all(is_part)
}

/// What is logged, where to and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlan {
    directives: LogDirectives,
    format: LogFormat,
    file: Option<String>,
    keeps_content: bool,
}

impl LogPlan {
    /// Decides; `None` if nothing is logged. `variable` is the value of `EVERLOOP_LOG`.
    ///
    /// # Errors
    /// If `variable` is neither a level nor a filter.
    pub fn new(
        settings: &Settings,
        variable: &str,
        surface: LogSurface,
        on_terminal: bool,
    ) -> Result<Option<Self>, SettingError> {
        let wanted = &settings.log;
        let usual = if surface == LogSurface::Service { LogLevel::Info } else { LogLevel::Off };
        let is_variable_set = !variable.trim().is_empty();
        let directives = if is_variable_set {
            LogDirectives::parse(variable).ok_or_else(|| mismatch(variable))?
        } else {
            LogDirectives { level: wanted.level.unwrap_or(usual), targets: Vec::new() }
        };
        let file = Some(wanted.file.clone()).filter(|path| !path.is_empty());
        let was_asked_for =
            is_variable_set || settings.origin(keys::log::level()).is_of_this_process();
        let would_disturb = on_terminal && file.is_none() && !was_asked_for;
        if directives.is_off() || would_disturb {
            return Ok(None);
        }
        let usual_format =
            if surface == LogSurface::Service { LogFormat::Json } else { LogFormat::Text };
        let format = wanted.format.unwrap_or(usual_format);
        Ok(Some(Self { directives, format, file, keeps_content: wanted.content }))
    }

    /// The file that lines are appended to, if they do not go to stderr.
    pub(super) fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    pub(super) fn format(&self) -> LogFormat {
        self.format
    }

    pub(super) fn keeps_content(&self) -> bool {
        self.keeps_content
    }

    /// A level alone is about this program. Other crates log headers and bodies, so they are
    /// logged only by name and only where content is.
    pub(super) fn filter(&self) -> Targets {
        let is_allowed = |target: &str| target.starts_with(OWN_TARGETS) || self.keeps_content;
        let named = self.directives.targets.iter();
        let named = named.filter(|(target, _)| is_allowed(target));
        let named = named.map(|(target, level)| (target.clone(), level.filter()));
        Targets::new().with_target(OWN_TARGETS, self.directives.level.filter()).with_targets(named)
    }
}

fn mismatch(text: &str) -> SettingError {
    let expected = "off | error | warn | info | debug | trace | info,everloop_engine=debug";
    let mismatch = SettingMismatch { text: text.to_owned(), expected: expected.to_owned() };
    SettingError {
        key: keys::log::level().to_string(),
        origin: SettingOrigin::Environment(VARIABLE.to_owned()),
        problem: SettingProblem::Mismatch(mismatch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LogSurface::{Command, Service};
    use tracing::Level;

    fn settings(flags: &[&str]) -> Settings {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let loaded = Settings::read(None, &[], &flags);
        assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
        loaded.settings
    }

    fn plan(flags: &[&str], variable: &str, surface: LogSurface) -> Option<LogPlan> {
        LogPlan::new(&settings(flags), variable, surface, false).unwrap()
    }

    #[test]
    fn a_command_logs_when_it_is_told_to_and_a_service_unless_it_is_told_not_to() {
        assert_eq!(plan(&[], "", Command), None);
        assert_eq!(plan(&["log.level=off"], "", Service), None);
        assert_eq!(plan(&["log.level=debug"], "off", Service), None);
        let service = plan(&[], "", Service).unwrap();
        assert_eq!((service.directives.level, service.format), (LogLevel::Info, LogFormat::Json));
        let told = plan(&["log.level=warn", "log.format=json"], "debug", Command).unwrap();
        assert_eq!((told.directives.level, told.format), (LogLevel::Debug, LogFormat::Json));
        assert_eq!(plan(&["log.level=info"], " ", Command).unwrap().format, LogFormat::Text);
    }

    #[test]
    fn a_terminal_is_written_to_only_if_this_call_asks_for_it() {
        let on_terminal = |settings: &Settings, variable: &str| {
            LogPlan::new(settings, variable, Service, true).unwrap().is_some()
        };
        let in_file = "[log]\nlevel = \"debug\"\n";
        let path = std::path::Path::new("config.toml");
        let of_file = Settings::read(Some((path, in_file)), &[], &[]).settings;
        assert!(!on_terminal(&settings(&[]), "") && !on_terminal(&of_file, ""));
        assert!(on_terminal(&settings(&[]), "info") && on_terminal(&of_file, "info"));
        assert!(on_terminal(&settings(&["log.level=info"]), ""));
        assert!(on_terminal(&settings(&["log.file=a.log"]), ""));
    }

    #[test]
    fn a_filter_has_a_level_and_levels_of_targets() {
        let filter = |variable: &str| plan(&[], variable, Command).unwrap().filter();
        let quiet = filter("info,everloop_engine=debug,hyper=trace");
        assert!(quiet.would_enable("everloop_engine::drive", &Level::DEBUG));
        assert!(quiet.would_enable("everloop_models", &Level::INFO));
        assert!(!quiet.would_enable("everloop_models", &Level::DEBUG));
        assert!(!quiet.would_enable("hyper", &Level::ERROR));
        assert!(!filter("trace").would_enable("h2::codec", &Level::ERROR));
        let open = plan(&["log.content=on"], "info,hyper=debug", Command).unwrap().filter();
        assert!(open.would_enable("hyper::proto", &Level::DEBUG));
        assert!(!open.would_enable("h2", &Level::ERROR));
    }

    #[test]
    fn a_filter_that_cannot_be_read_is_an_error() {
        for wrong in ["inof", "info,=debug", "everloop_engine=loud", "a b=info", "3"] {
            let error = LogPlan::new(&settings(&[]), wrong, Command, false).unwrap_err();
            assert_eq!(error.origin, SettingOrigin::Environment(VARIABLE.to_owned()), "{wrong}");
        }
    }
}
