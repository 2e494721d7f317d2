//! Settings: reading them with their layers, changing one, and trying models.

use super::forms::FormFields;
use super::frame::PageRequest;
use super::respond::{page, see_other};
use super::settings_audit::{self, AuditPageParams};
use super::settings_parts as parts;
use crate::json::PathOf;
use crate::live_settings::needs_restart;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_app::catalog;
use everloop_app::config::{self, ConfigError, SettingNow};
use everloop_app::error::AppError;
use everloop_app::models::lists;
use everloop_app::models::trial::ModelTrial;
use everloop_app::settings::{
    self as app_settings, EffectiveSetting, SettingKind, SettingOrigin, SettingProblem, SettingSpec,
};
use everloop_app::setup;
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::say;
use everloop_pages::settings::{
    self as view, SettingControl, SettingRowView, SettingsPart, SettingsView,
};
use everloop_text::pages as words;
use everloop_types::Lang;
use serde::Deserialize;
use std::path::Path;

/// Sections in the order in which people need them.
const SECTIONS: [&str; 28] = [
    "model",
    "persona",
    "ui",
    "approvals",
    "loop",
    "budget",
    "schedule",
    "agenda",
    "chat",
    "memory",
    "tools",
    "skills",
    "mcp",
    "search",
    "context",
    "delegate",
    "workspaces",
    "tasks",
    "analysis",
    "index",
    "heartbeat",
    "agent",
    "secrets",
    "store",
    "audit",
    "log",
    "worker",
    "server",
];

const TIME_UNITS: [&str; 5] = ["ms", "s", "m", "h", "d"];
const SIZE_UNITS: [&str; 5] = ["KB", "MB", "KiB", "MiB", "GiB"];
const OFF: &str = "off";

/// Which section is wanted, and what of the audit.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SectionParams {
    #[serde(default)]
    section: String,
    #[serde(flatten)]
    audit: AuditPageParams,
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(params): Query<SectionParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let title = say(lang, words::nav::settings());
    let (mut frame, _) = request.frame(&state, NavPlace::Settings, title).await?;
    frame.script = Some("busy.js");
    let section = SECTIONS.into_iter().find(|name| *name == params.section).unwrap_or(SECTIONS[0]);
    let part = match section {
        "model" => SettingsPart::Models(parts::models(&request, &state)),
        "approvals" => SettingsPart::Approvals(parts::approvals(&request, &state).await?),
        "tools" => SettingsPart::Catalog(parts::tools(&request, &state)?),
        "skills" => SettingsPart::Catalog(parts::skills(&request, &state)?),
        "persona" => SettingsPart::Catalog(parts::personas(&request, &state)),
        "mcp" => SettingsPart::Servers(parts::servers(&request, &state)),
        "audit" => {
            SettingsPart::Audit(settings_audit::read(&request, &state, &params.audit).await?)
        }
        _ => SettingsPart::Nothing,
    };
    let named = |name: &str| words::section::named(name).map(|text| say(lang, text));
    let view = SettingsView {
        sections: SECTIONS
            .iter()
            .map(|name| ((*name).to_owned(), named(name).unwrap_or_else(|| (*name).to_owned())))
            .collect(),
        section: section.to_owned(),
        items: rows(&request, &state, section),
        part,
        file: state.app.sources.path.display().to_string(),
        told: state.flashes.get(request.session_name(), "settings"),
    };
    Ok(page(view::view(&frame, &view)))
}

fn rows(request: &PageRequest, state: &ServerState, section: &str) -> Vec<SettingRowView> {
    let all = state.app.sources.effective(&state.app.settings);
    let of_section = all.into_iter().filter(|setting| setting.key.section() == section);
    of_section.filter_map(|setting| row(request, state, &setting)).collect()
}

fn row(
    request: &PageRequest,
    state: &ServerState,
    setting: &EffectiveSetting,
) -> Option<SettingRowView> {
    let (lang, key) = (request.lang(), setting.key.as_str());
    let spec = app_settings::find(key, SettingOrigin::Default).ok()?;
    let (name, about) = naming(lang, spec);
    let refused = state.flashes.get(request.session_name(), &refusal(key));
    let (typed, problem) = match refused.as_deref().and_then(|said| said.split_once('\n')) {
        Some((typed, why)) => (Some(typed.to_owned()), Some(why.to_owned())),
        None => (None, None),
    };
    let text = state.app.sources.text.as_deref().unwrap_or_default();
    Some(SettingRowView {
        key: key.to_owned(),
        name,
        about,
        control: control(state, spec, typed.as_deref().unwrap_or(&setting.value)),
        origin: origin(lang, setting),
        is_overridden: matches!(setting.layer, "environment" | "flag"),
        is_in_file: app_settings::file::line_of(text, key).is_some(),
        needs_restart: needs_restart(key),
        problem,
    })
}

/// Where the words about a value that was refused are kept.
fn refusal(key: &str) -> String {
    format!("setting {key}")
}

/// What decided a setting, short: the name of the file, the variable or the flag.
fn origin(lang: Lang, setting: &EffectiveSetting) -> String {
    match setting.layer {
        "default" => say(lang, words::settings_page::origin_default()),
        "file" => {
            let name = Path::new(&setting.origin).file_name();
            name.map_or_else(|| setting.origin.clone(), |name| name.to_string_lossy().into_owned())
        }
        _ => setting.origin.clone(),
    }
}

/// What people call a setting, and what else is to be said of it.
fn naming(lang: Lang, spec: &SettingSpec) -> (String, String) {
    let about = spec.description(lang);
    if let Some(name) = words::setting::named(spec.key.as_str()) {
        return (say(lang, name), about);
    }
    let stops = ["; ", ": ", "；", "："].into_iter();
    let parted = stops.filter_map(|stop| about.split_once(stop)).min_by_key(|(name, _)| name.len());
    // A name does not end within code.
    let parted = parted.filter(|(name, _)| name.matches('`').count() % 2 == 0);
    let (name, rest) = parted.unwrap_or((&about, ""));
    (capital(name), capital(rest))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn control(state: &ServerState, spec: &SettingSpec, value: &str) -> SettingControl {
    let value = value.to_owned();
    let range = |scale: u64| {
        let range = spec.range.as_ref().filter(|range| *range.end() < u64::MAX);
        range.map(|range| ((range.start() / scale).to_string(), (range.end() / scale).to_string()))
    };
    match spec.kind {
        SettingKind::OneOf(["on", "off"]) => SettingControl::Switch(value == "on"),
        SettingKind::OneOf(all) => {
            SettingControl::Choice(value, all.iter().map(|word| (*word).to_owned()).collect())
        }
        SettingKind::Count => SettingControl::Number { value, range: range(1), is_decimal: false },
        SettingKind::Decimal => {
            let short = value.trim_end_matches('0').trim_end_matches('.');
            let value = if value.contains('.') { short.to_owned() } else { value };
            SettingControl::Number { value, range: range(1_000), is_decimal: true }
        }
        SettingKind::Duration => measure(&value, &TIME_UNITS),
        SettingKind::DurationOrOff => {
            measure(&value, &[OFF, TIME_UNITS[1], TIME_UNITS[2], TIME_UNITS[3], TIME_UNITS[4]])
        }
        SettingKind::Size => measure(&value, &SIZE_UNITS),
        _ if spec.key.as_str() == "persona.default" => {
            let all = catalog::persona_infos(&state.app).into_iter().map(|one| one.name);
            SettingControl::Choice(value, all.collect())
        }
        _ => SettingControl::Line(value, spec.example()),
    }
}

fn measure(value: &str, units: &[&'static str]) -> SettingControl {
    let end = value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    SettingControl::Measure {
        number: number.trim().to_owned(),
        unit: unit.to_owned(),
        units: units.to_vec(),
    }
}

/// Why a value was refused, in words; nothing if the cause is not what was typed.
fn refused(lang: Lang, error: &ConfigError, kept: &str) -> Option<String> {
    let text = match error {
        ConfigError::Setting(error) => match &error.problem {
            SettingProblem::Mismatch(mismatch) => words::settings_page::OutOfForm {
                text: &mismatch.text,
                expected: &mismatch.expected,
                kept: &kept,
            }
            .text(),
            _ => return Some(error.words(lang)),
        },
        ConfigError::ValueIsKey => words::settings_page::value_is_key(),
        ConfigError::UnknownDatabase => words::settings_page::no_database(),
        ConfigError::NotEditable(error) => words::settings_page::file_faulty(error),
        ConfigError::NotWritten(_) | ConfigError::KeyNotKept { .. } => return None,
    };
    Some(say(lang, text))
}

/// What is typed into the fields of a setting, as it is written in the file.
fn typed(fields: &FormFields) -> String {
    let (value, unit) = (fields.get("value").trim(), fields.get("unit"));
    match unit {
        OFF => OFF.to_owned(),
        unit => format!("{value}{unit}"),
    }
}

pub(crate) async fn set(
    State(state): State<ServerState>,
    PathOf(key): PathOf<String>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let (lang, session) = (request.lang(), request.session_name());
    // Somebody may have edited the file a moment ago.
    let state = state.reread().await;
    let value = typed(&fields);
    state.flashes.clear(session, &refusal(&key));
    state.flashes.clear(session, "settings");
    let spec = app_settings::find(&key, SettingOrigin::Default);
    let name = spec.map_or_else(|_| key.clone(), |spec| naming(lang, spec).0);
    match config::set(&state.app, &key, &value) {
        Ok(change) => {
            state.reread().await;
            let mut said = say(lang, saved(&key, &name, &change.now));
            if let Some((old, new)) = &change.new_owner {
                said.push(' ');
                said.push_str(&say(lang, everloop_text::config::new_owner(old, new)));
            }
            state.flashes.put(session, "settings", said);
        }
        Err(AppError::Config(error)) => {
            let kept = config::get(&state.app, &key).unwrap_or_default();
            let Some(why) = refused(lang, &error, &kept) else {
                return Err(AppError::Config(error).into());
            };
            let shown = if matches!(error, ConfigError::ValueIsKey) { "" } else { value.as_str() };
            state.flashes.put(session, &refusal(&key), format!("{shown}\n{why}"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(see_other(fields.back()))
}

/// That a value is saved, and from when on it counts.
fn saved(key: &str, name: &str, now: &SettingNow) -> everloop_text::Text {
    match now {
        SettingNow::Setting(now) if matches!(now.layer, "environment" | "flag") => {
            words::settings_page::saved_below(&name, &now.origin)
        }
        _ if needs_restart(key) => words::settings_page::saved_later(&name),
        _ => words::settings_page::saved(&name),
    }
}

/// Takes a setting out of the file.
pub(crate) async fn unset(
    State(state): State<ServerState>,
    PathOf(key): PathOf<String>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let state = state.reread().await;
    config::unset(&state.app, &key)?;
    state.flashes.clear(request.session_name(), &refusal(&key));
    state.reread().await;
    let spec = app_settings::find(&key, SettingOrigin::Default);
    let name = spec.map_or_else(|_| key.clone(), |spec| naming(request.lang(), spec).0);
    let said = say(request.lang(), words::settings_page::was_reset(&name));
    state.flashes.put(request.session_name(), "settings", said);
    Ok(see_other(fields.back()))
}

/// Tries a model, and keeps what was found for the page.
pub(crate) async fn test(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let name = fields.some("model");
    let kept = format!("model {}", name.as_deref().unwrap_or_default());
    let said = match ModelTrial::run(&state.app, name).await {
        Ok(trial) => parts::tested(lang, &trial),
        Err(error) => format!("!{}", everloop_app::error::chain(&error)),
    };
    state.flashes.put(request.session_name(), &kept, said);
    Ok(see_other(fields.back()))
}

/// Takes a key for a provider. It is tried first, and never shown.
pub(crate) async fn key(
    State(state): State<ServerState>,
    PathOf(provider): PathOf<String>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let state = state.reread().await;
    let said = match setup::typed_key(fields.get("key")).filter(|key| !key.is_empty()) {
        None => words::settings_page::key_is_address(),
        Some(key) => match lists::offered_to(&state.app, &provider, "", &key).await {
            Err(error) if error.is_about_the_key() => {
                words::settings_page::key_refused(&error.detail)
            }
            _ => {
                let kept = setup::keep_key(&state.app, &key, &provider)?.to_string();
                config::set(&state.app, &format!("providers.{provider}.key"), &kept)?;
                state.reread().await;
                words::settings_page::key_kept(&kept)
            }
        },
    };
    state.flashes.put(request.session_name(), "settings", say(lang, said));
    Ok(see_other(fields.back()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_section_of_the_settings_is_on_the_page_and_has_a_name() {
        let known: BTreeSet<&str> =
            app_settings::SETTINGS.iter().map(|spec| spec.key.section()).collect();
        let shown: BTreeSet<&str> = SECTIONS.into_iter().collect();
        let unknown: Vec<_> = known.difference(&shown).collect();
        assert_eq!(unknown, Vec::<&&str>::new(), "sections that the page leaves out");
        assert_eq!(shown.len(), SECTIONS.len(), "a section that is there twice");
        for name in SECTIONS {
            assert!(words::section::named(name).is_some(), "{name} has no name for people");
        }
    }
}
