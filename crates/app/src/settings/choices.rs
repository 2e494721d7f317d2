//! Settings that take one of a few words. The words are written here; the types belong to whoever
//! acts on them.

use super::spec::SettingKind;
use super::value::SettingValue;
use crate::facts::FactPolicy;
use crate::log::{LogFormat, LogLevel};
use everloop_agenda::kept::CatchUp;
use everloop_analysis::ShareLevel;
use everloop_loops::LOOPS;
use everloop_models::CallWay;
use everloop_tools::{GitAccess, SandboxMode, SearchService};
use everloop_types::{ApprovalMode, LabelGuard, Lang, Unattended};

/// Writes the words of a type beside its values.
macro_rules! choice_setting {
    ($(#[$about:meta])* $Choice:ty { $($word:literal => $value:pat = $made:expr,)* }) => {
        $(#[$about])*
        impl SettingValue for $Choice {
            const KIND: SettingKind = SettingKind::OneOf(&[$($word),*]);

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($word => Some($made),)*
                    _ => None,
                }
            }

            fn write(&self) -> String {
                match self {
                    $($value => $word,)*
                }
                .to_owned()
            }
        }
    };
    ($(#[$about:meta])* $Choice:ty { $($word:literal => $value:ident,)* }) => {
        choice_setting! {
            $(#[$about])* $Choice { $($word => Self::$value = Self::$value,)* }
        }
    };
}

choice_setting!(SandboxMode { "auto" => Auto, "require" => Require, "off" => Off, });
choice_setting!(GitAccess { "read" => Read, "write" => Write, });
choice_setting!(LabelGuard { "ask" => Ask, "deny" => Deny, "off" => Off, });
choice_setting!(ApprovalMode { "ask" => Ask, "edits" => Edits, "plan" => Plan, "all" => All, });
choice_setting!(ShareLevel {
    "schema" => Schema,
    "aggregates" => Aggregates,
    "samples" => Samples,
});
choice_setting!(FactPolicy { "ask" => Ask, "auto" => Auto, });
choice_setting!(Unattended { "wait" => Wait, "deny" => Deny, });
choice_setting!(DecisionFallback { "reply-only" => ReplyOnly, });
choice_setting!(CatchUp { "once" => Once, "skip" => Skip, "all" => All, });
choice_setting!(RoundPreset {
    "simple" => Simple,
    "medium" => Medium,
    "complex" => Complex,
    "auto" => Auto,
});
choice_setting! {
    /// `None` is the language that the environment names.
    Option<Lang> {
        "auto" => None = None,
        "zh-CN" => Some(Lang::ZhCn) = Some(Lang::ZhCn),
        "en" => Some(Lang::En) = Some(Lang::En),
    }
}
choice_setting! {
    /// `None` is the way that was found to work with the model.
    Option<CallWay> {
        "auto" => None = None,
        "native" => Some(CallWay::Native) = Some(CallWay::Native),
        "schema" => Some(CallWay::Schema) = Some(CallWay::Schema),
        "tagged" => Some(CallWay::Tagged) = Some(CallWay::Tagged),
    }
}
choice_setting! {
    /// `None` is what fits the command: nothing, or `info` for a worker.
    Option<LogLevel> {
        "auto" => None = None,
        "off" => Some(LogLevel::Off) = Some(LogLevel::Off),
        "error" => Some(LogLevel::Error) = Some(LogLevel::Error),
        "warn" => Some(LogLevel::Warn) = Some(LogLevel::Warn),
        "info" => Some(LogLevel::Info) = Some(LogLevel::Info),
        "debug" => Some(LogLevel::Debug) = Some(LogLevel::Debug),
        "trace" => Some(LogLevel::Trace) = Some(LogLevel::Trace),
    }
}
choice_setting! {
    /// `None` is what fits the command: text, or JSON for a worker.
    Option<LogFormat> {
        "auto" => None = None,
        "text" => Some(LogFormat::Text) = Some(LogFormat::Text),
        "json" => Some(LogFormat::Json) = Some(LogFormat::Json),
    }
}
choice_setting! {
    /// `None` is no search.
    Option<SearchService> {
        "bing" => Some(SearchService::Bing) = Some(SearchService::Bing),
        "duckduckgo" => Some(SearchService::DuckDuckGo) = Some(SearchService::DuckDuckGo),
        "searxng" => Some(SearchService::Searxng) = Some(SearchService::Searxng),
        "off" => None = None,
    }
}

/// How many rounds plan-execute-think may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundPreset {
    /// Few rounds of few steps.
    Simple,
    /// In between.
    Medium,
    /// The most rounds.
    Complex,
    /// Chosen by what the goal asks for.
    Auto,
}

/// What becomes of a message on which nothing could be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionFallback {
    /// A plain apology, and no run.
    ReplyOnly,
}

/// The name of a loop that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopName(&'static str);

impl LoopName {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl SettingValue for LoopName {
    const KIND: SettingKind = SettingKind::OneOf(&LOOPS);

    fn from_text(text: &str) -> Option<Self> {
        LOOPS.into_iter().find(|name| *name == text).map(Self)
    }

    fn write(&self) -> String {
        self.0.to_owned()
    }
}

/// A time zone by its IANA name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneName(String);

impl ZoneName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `None` is the zone of the system.
impl SettingValue for Option<ZoneName> {
    const KIND: SettingKind = SettingKind::Zone;

    fn from_text(text: &str) -> Option<Self> {
        if text == "auto" {
            return Some(None);
        }
        jiff::tz::TimeZone::get(text).ok().map(|_| Some(ZoneName(text.to_owned())))
    }

    fn write(&self) -> String {
        self.as_ref().map_or("auto", ZoneName::as_str).to_owned()
    }
}

/// A time of the day: `08:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayTime(jiff::civil::Time);

impl DayTime {
    /// The time.
    #[must_use]
    pub const fn time(self) -> jiff::civil::Time {
        self.0
    }
}

impl SettingValue for DayTime {
    const KIND: SettingKind = SettingKind::Text;

    fn from_text(text: &str) -> Option<Self> {
        jiff::civil::Time::strptime("%H:%M", text).ok().map(Self)
    }

    fn write(&self) -> String {
        self.0.strftime("%H:%M").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_word_is_read_and_written_again<T: SettingValue>() {
        let SettingKind::OneOf(words) = T::KIND else { unreachable!("a choice") };
        for word in words {
            assert_eq!(T::from_text(word).map(|value| value.write()).as_deref(), Some(*word));
        }
        assert!(T::from_text("elsewhere").is_none() && T::from_text("").is_none());
    }

    #[test]
    fn choices_are_closed() {
        every_word_is_read_and_written_again::<SandboxMode>();
        every_word_is_read_and_written_again::<GitAccess>();
        every_word_is_read_and_written_again::<LabelGuard>();
        every_word_is_read_and_written_again::<ApprovalMode>();
        every_word_is_read_and_written_again::<Unattended>();
        every_word_is_read_and_written_again::<FactPolicy>();
        every_word_is_read_and_written_again::<CatchUp>();
        every_word_is_read_and_written_again::<RoundPreset>();
        every_word_is_read_and_written_again::<Option<Lang>>();
        every_word_is_read_and_written_again::<Option<CallWay>>();
        every_word_is_read_and_written_again::<Option<SearchService>>();
        every_word_is_read_and_written_again::<Option<LogLevel>>();
        every_word_is_read_and_written_again::<Option<LogFormat>>();
        every_word_is_read_and_written_again::<LoopName>();
        every_word_is_read_and_written_again::<bool>();
    }

    #[test]
    fn a_time_of_the_day_has_hours_and_minutes() {
        let read = |text: &str| DayTime::from_text(text).map(|time| time.write());
        assert_eq!(read("08:30").as_deref(), Some("08:30"));
        assert_eq!((read("8am"), read("24:10"), read("")), (None, None, None));
    }

    #[test]
    fn a_zone_exists_or_is_that_of_the_system() {
        assert_eq!(Option::<ZoneName>::from_text("auto"), Some(None));
        let rome = Option::<ZoneName>::from_text("Europe/Rome").flatten();
        assert_eq!(rome.as_ref().map(ZoneName::as_str), Some("Europe/Rome"));
        assert!(Option::<ZoneName>::from_text("Mars/Base").is_none());
    }
}
