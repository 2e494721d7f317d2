//! What each loop is, how it goes round, and what bounds it.

use crate::app::App;
use crate::error::AppError;
use crate::frames;
use everloop_loops::LoopSpec;
use serde::{Serialize, Serializer};

/// Settings that bound every run, whatever loop decides it.
const COMMON_KEYS: [&str; 11] = [
    "loop.calls_per_reply",
    "loop.repetitions",
    "loop.evidence",
    "budget.model_calls",
    "budget.tool_calls",
    "budget.tokens",
    "budget.work_time",
    "budget.money",
    "delegate.max_depth",
    "delegate.max_children",
    "context.tokens",
];

/// One loop, with what bounds its runs under the settings in force.
#[derive(Debug, Clone, Serialize)]
pub struct LoopInfo {
    /// Its name.
    pub name: &'static str,
    /// Whether new runs use it unless another is named.
    pub default: bool,
    /// The version of its journals.
    pub version: u32,
    /// What it does, in the person's language.
    pub does: String,
    /// A picture of how it goes round.
    pub picture: String,
    /// What it is good for.
    pub good_for: String,
    /// How many steps a run may take.
    pub step_limit: u32,
    /// The settings that bound its runs, with their values; its own come first.
    #[serde(serialize_with = "as_map")]
    pub settings: Vec<(&'static str, String)>,
    /// What else the loop says about itself.
    #[serde(skip)]
    pub spec: &'static LoopSpec,
}

fn as_map<S: Serializer>(
    settings: &[(&'static str, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(settings.iter().map(|(key, value)| (key, value)))
}

/// The loop of that name, or all of them.
///
/// # Errors
/// [`ChoiceError::UnknownLoop`](crate::ChoiceError::UnknownLoop).
pub fn loop_infos(app: &App, name: Option<&str>) -> Result<Vec<LoopInfo>, AppError> {
    let name = name.map(frames::loop_name).transpose()?;
    let is_meant = |spec: &&LoopSpec| name.as_deref().is_none_or(|name| spec.name == name);
    Ok(LoopSpec::all().filter(is_meant).map(|spec| info(app, spec)).collect())
}

fn info(app: &App, spec: &'static LoopSpec) -> LoopInfo {
    let texts = spec.texts();
    let [does, picture, good_for] = match texts {
        Some(texts) => [texts.does, texts.picture, texts.good].map(|text| text.in_lang(app.lang)),
        None => Default::default(),
    };
    LoopInfo {
        name: spec.name,
        default: app.settings.loops.default.as_str() == spec.name,
        version: spec.version,
        does,
        picture,
        good_for,
        step_limit: spec.step_limit(&frames::limits(app, spec.name).steps),
        settings: values(app, spec),
        spec,
    }
}

/// Each setting that bounds a run of this loop, with its value in force.
fn values(app: &App, spec: &LoopSpec) -> Vec<(&'static str, String)> {
    let all = app.sources.effective(&app.settings);
    let value_of = |key: &'static str| {
        let setting = all.iter().find(|setting| setting.key.as_str() == key)?;
        Some((key, setting.value.clone()))
    };
    spec.setting_keys().into_iter().chain(COMMON_KEYS).filter_map(value_of).collect()
}

#[cfg(test)]
mod tests {
    use crate::settings::SETTINGS;
    use everloop_loops::LoopSpec;

    /// A loop that is registered without them would be shown as keys, or without its settings.
    #[test]
    fn every_loop_has_its_texts_and_its_settings_exist() {
        for spec in LoopSpec::all() {
            assert!(spec.texts().is_some(), "{} lacks a text", spec.name);
            for key in spec.setting_keys() {
                let means = everloop_text::loops::setting::named(key);
                assert!(means.is_some(), "{}: no text on {key}", spec.name);
            }
            for key in spec.setting_keys() {
                assert!(
                    SETTINGS.iter().any(|setting| setting.key.as_str() == key),
                    "{}: no setting {key}",
                    spec.name
                );
            }
        }
    }
}
