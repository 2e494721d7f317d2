//! The first run: language, provider, key, model; each answer a line of the settings that can be
//! read.
//!
//! ```text
//!   language? ──► keys in the environment ─────────► model? ─┐
//!                 none ──► provider? ──known──► key? ──► model? ─► one tiny request ──► hints
//!                             │ ──local──────────────────────┤
//!                             │ ──other──► address? ──► key? ┘
//!                             └──nothing, or as it is
//! ```
//!
//! A key is typed unseen, tried before it is kept, and goes where secrets go, by the name of its
//! provider.

mod choice;
mod found;
pub(crate) mod hidden;
mod naming;
pub(crate) mod probe;

use crate::commands::{self, config};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::{build, terminal};
use choice::Choice;
use everloop_app::frames::default_model;
use everloop_app::place::{self, Place};
use everloop_app::secrets;
use everloop_app::settings::{
    SettingKind, SettingOrigin, SettingSources, SettingTarget, file, keys, redact,
};
use everloop_text as text;
use everloop_types::Lang;
use std::path::Path;

/// What is proposed of each provider's models.
const PROPOSED: [(&str, &str); 9] = [
    ("openai", "gpt-5-mini"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-flash"),
    ("deepseek", "deepseek-chat"),
    ("qwen", "qwen-plus"),
    ("qwen-intl", "qwen-plus"),
    ("glm", "glm-4.6"),
    ("glm-intl", "glm-4.6"),
    ("xai", "grok-4"),
];

/// Asks for language and model and writes the answers; the app as it is afterwards.
///
/// Only for a terminal: elsewhere it says which commands do the same.
pub(crate) async fn first_run(app: &Console) -> Result<Console, Failure> {
    if !app.interactive {
        let words = crate::trouble::no_model(app);
        return Err(Failure { exit: Exit::Configuration, words });
    }
    terminal::complain(&app.text(text::setup::welcome(&build::NUMBER)));
    let app = language(app).await?;
    let chosen = match (from_environment(&app), found::keys(&app)) {
        (true, _) => app,
        (false, found) if found.is_empty() || !default_model(&app).is_empty() => model(app).await?,
        (false, found) => found::used(app, &found).await?,
    };
    if !default_model(&chosen).is_empty() {
        probe::tell(&chosen).await;
    }
    let (data, config) = (chosen.home.data().display(), chosen.sources.path.display());
    let (data, config) = (data.to_string(), config.to_string());
    terminal::complain(&chosen.text(
        text::setup::Places { mark: &terminal::marks().done, data: &data, config: &config }.text(),
    ));
    terminal::complain(&format!("\n{}", chosen.text(text::setup::hints())));
    Ok(chosen)
}

async fn language(app: &Console) -> Result<Console, Failure> {
    let detected = name_of(app.lang);
    let prompt = app.text(text::setup::language(&detected));
    let chosen = loop {
        match terminal::ask(&prompt).await.as_deref() {
            None | Some("") => break detected,
            Some(said) => match language_said(said) {
                Some(lang) => break name_of(lang),
                None => not_understood(app, "1, 2"),
            },
        }
    };
    let mut app = write(app, &[(keys::ui::language().as_str(), chosen)])?;
    // The answer counts from now on, whatever the environment says.
    app.lang = Lang::parse(chosen).unwrap_or(app.lang);
    Ok(app)
}

/// A language by its number or by a name that people use.
fn language_said(said: &str) -> Option<Lang> {
    let said = said.trim().to_lowercase();
    match said.as_str() {
        name if choice::is_one_of(name, text::setup::words_zh()) => Some(Lang::ZhCn),
        name if choice::is_one_of(name, text::setup::words_en()) => Some(Lang::En),
        other => Lang::parse(other),
    }
}

fn name_of(lang: Lang) -> &'static str {
    match lang {
        Lang::ZhCn => "zh-CN",
        Lang::En => "en",
    }
}

fn not_understood(app: &Console, choices: &str) {
    terminal::complain(&app.text(text::setup::not_understood(&choices)));
}

/// A model that the environment names needs no question.
fn from_environment(app: &Console) -> bool {
    if !is_set("EVERLOOP_MODEL") {
        return false;
    }
    let model = default_model(app);
    let provider = place::provider(&model);
    let mut names = vec!["EVERLOOP_MODEL".to_owned(), place::address_variable(provider)];
    names.extend(everloop_app::key::variables(&app.settings, provider));
    names.retain(|name| is_set(name));
    let names = names.join(", ");
    terminal::complain(
        &app.text(
            text::setup::FromEnvironment {
                mark: &terminal::marks().done,
                names: &names,
                model: &model,
            }
            .text(),
        ),
    );
    true
}

/// Who is to be asked, where, and with which key.
struct Wanted {
    provider: String,
    /// Empty for the usual address, or for the one that the environment names.
    url: String,
    /// What was typed; empty if nothing was.
    key: String,
    /// What is offered there.
    offered: Vec<String>,
}

async fn model(app: Console) -> Result<Console, Failure> {
    let local = probe::local().await;
    let wanted = match choice::provider(&app, local.as_ref()).await {
        Choice::Nothing => return Ok(app),
        Choice::Local => {
            let Some(local) = local else { return Ok(app) };
            let (provider, key) = (local.provider().to_owned(), String::new());
            let is_usual = everloop_models::usual_url(&provider) == local.url;
            let url = if is_usual { String::new() } else { local.url };
            return chosen(app, Wanted { provider, url, key, offered: vec![local.model] }).await;
        }
        Choice::Known(provider) => with_key(&app, provider, String::new()).await?,
        Choice::At(url) => with_key(&app, choice::OTHER.to_owned(), url).await?,
    };
    match wanted {
        Some(wanted) => chosen(app, wanted).await,
        None => Ok(app),
    }
}

/// Asks for the key until it is not refused; nothing if the person gives up on it.
async fn with_key(app: &Console, provider: String, url: String) -> Result<Option<Wanted>, Failure> {
    loop {
        let key = typed_key(app, &provider).await?;
        let wanted = Wanted { provider: provider.clone(), url: url.clone(), key, offered: vec![] };
        match probe::listed(app, &wanted).await {
            Ok(offered) => return Ok(Some(Wanted { offered, ..wanted })),
            Err(error) if error.is_about_the_key() && !wanted.key.is_empty() => {
                terminal::complain(
                    &app.text(text::setup::key_refused(&terminal::marks().failed, &error.detail)),
                );
            }
            // It may have no list, or be out of reach for now.
            Err(_) => return Ok(Some(wanted)),
        }
    }
}

/// Asks for the key without showing it. An address is none.
async fn typed_key(app: &Console, provider: &str) -> Result<String, Failure> {
    loop {
        let prompt = app.text(text::setup::key(&provider));
        let typed = tokio::task::spawn_blocking(move || hidden::ask(&prompt)).await;
        let Ok(hidden::Typed::Line(key)) = typed else {
            // The terminal is as it was again; nothing was written.
            return Err(Failure { exit: Exit::Interrupted, words: String::new() });
        };
        let key = key.trim().to_owned();
        if !key.contains("://") {
            secrets::redactor().learn(&key);
            return Ok(key);
        }
        terminal::complain(&app.text(text::setup::key_is_address()));
    }
}

/// Asks for the model, and writes down what was chosen.
async fn chosen(app: Console, wanted: Wanted) -> Result<Console, Failure> {
    let Some(name) = name(&app, &wanted).await else {
        terminal::complain(&app.text(text::setup::no_name()));
        return Ok(app);
    };
    let provider = wanted.provider.as_str();
    let mut lines = Vec::new();
    if !wanted.url.is_empty() {
        lines.push((format!("providers.{provider}.base_url"), wanted.url.clone()));
    }
    if !wanted.key.is_empty() {
        let kept = keep_key(&app, &wanted.key, provider)?;
        lines.push((format!("providers.{provider}.key"), kept));
    }
    lines.push((keys::model::default().as_str().to_owned(), name));
    let app = without_old(&app, &wanted)?;
    let lines: Vec<(&str, &str)> =
        lines.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    write(&app, &lines)
}

/// Takes away what was said of the former model without its name: it would be the new one's now.
fn without_old(app: &Console, wanted: &Wanted) -> Result<Console, Failure> {
    let mut text = app.sources.text.clone().unwrap_or_default();
    let (old, new) = (app.settings.owner(keys::model::key_file()).to_owned(), &wanted.provider);
    let key_file = app.key_file();
    if old != *new && key_file.exists() {
        let kept = app.home.secrets().join(key_name(&old));
        let moved = file::make_folder(&kept).and_then(|_| std::fs::rename(&key_file, &kept));
        moved.map_err(|error| not_kept(app, &kept, &error))?;
        let reference = secrets::Reference::File(kept).to_string();
        let key = format!("providers.{old}.key");
        text = file::with(&text, &key, SettingKind::Reference, &reference)
            .map_err(|error| config::cannot_change(app, &error))?;
    }
    let address = app.settings.model.base_url.as_str();
    let owner = app.settings.owner(keys::model::base_url());
    let mut gone = vec![
        keys::model::key().as_str(),
        keys::model::key_command().as_str(),
        keys::model::key_env().as_str(),
    ];
    if owner != new.as_str() || !wanted.url.is_empty() {
        gone.push(keys::model::base_url().as_str());
    }
    // An address that a person gave stays that of its provider.
    let is_in_file = app.settings.origin(keys::model::base_url()).rank() == 1;
    if owner != new.as_str() && is_in_file && app.settings.own_address_of(owner).is_empty() {
        let key = format!("providers.{owner}.base_url");
        text = file::with(&text, &key, SettingKind::Text, address)
            .map_err(|error| config::cannot_change(app, &error))?;
    }
    for key in gone {
        let shorter = file::without(&text, key);
        text = shorter.map_err(|error| config::cannot_change(app, &error))?.unwrap_or(text);
    }
    let lang = app.lang;
    Ok(app.reread(app.sources.with_text(Some(text))).with_language(lang))
}

/// Whether something could be asked there, and it holds no key.
fn is_address(text: &str) -> bool {
    everloop_models::connect("openai/x", everloop_models::Endpoint::at(text)).is_ok()
        && !redact::looks_like_a_key(text)
}

/// What is proposed of a provider's models, where it is asked at its usual address.
fn proposed(app: &Console, provider: &str) -> Option<&'static str> {
    let name = format!("{provider}/");
    if Place::of(&app.settings, &name).address() != everloop_models::usual_url(provider) {
        return None;
    }
    PROPOSED.iter().find(|(name, _)| *name == provider).map(|(_, model)| *model)
}

/// The model with its provider: the one that is proposed or the only one that is offered, else the
/// one that the person names.
async fn name(app: &Console, wanted: &Wanted) -> Option<String> {
    let offered = &wanted.offered;
    let proposed = proposed(app, &wanted.provider).filter(|_| wanted.url.is_empty());
    let chosen = match (proposed, offered.as_slice()) {
        (Some(proposed), []) => proposed.to_owned(),
        (Some(proposed), some) if some.iter().any(|name| name == proposed) => proposed.to_owned(),
        (_, [only]) => only.clone(),
        _ => naming::asked(app, offered).await?,
    };
    Some(naming::full(&wanted.provider, &chosen, offered))
}

/// What a provider's key is called where secrets are.
fn key_name(provider: &str) -> String {
    format!("model-{provider}")
}

/// Puts the key where secrets go: into the keychain, else into a file of its own. Says what the
/// settings must say of that.
fn keep_key(app: &Console, key: &str, provider: &str) -> Result<String, Failure> {
    let (mark, name) = (terminal::marks().done, key_name(provider));
    if let Some(kept) = commands::secrets::in_the_keychain(app, &name, key)? {
        let kept = kept.to_string();
        terminal::complain(&app.text(text::setup::key_in_keychain(&mark, &kept)));
        return Ok(kept);
    }
    let path = app.home.secrets().join(name);
    // A file that others could read is replaced, not filled.
    let _ = std::fs::remove_file(&path);
    file::write(&path, &format!("{key}\n")).map_err(|error| not_kept(app, &path, &error))?;
    let shown = path.display().to_string();
    terminal::complain(&app.text(text::setup::key_kept(&mark, &shown)));
    Ok(secrets::Reference::File(path).to_string())
}

fn not_kept(app: &Console, path: &Path, error: &std::io::Error) -> Failure {
    let (shown, detail) = (path.display().to_string(), error.to_string());
    Failure {
        exit: Exit::Configuration,
        words: app.text(text::setup::key_not_kept(&shown, &detail)),
    }
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty())
}

/// Writes answers to the settings file, and shows each line.
fn write(app: &Console, lines: &[(&str, &str)]) -> Result<Console, Failure> {
    let mut text = app.sources.text.clone().unwrap_or_default();
    for (key, value) in lines {
        // The settings are shown and copied; a key that gets there is lost.
        if redact::looks_like_a_key(value) {
            let words = app.text(text::config::is_a_key());
            return Err(Failure { exit: Exit::Configuration, words });
        }
        let Ok(target) = SettingTarget::find(key, SettingOrigin::CommandLine) else {
            unreachable!("{key} is in the table")
        };
        text = file::with(&text, key, target.kind(), value)
            .map_err(|error| config::cannot_change(app, &error))?;
    }
    config::write(app, &text)?;
    for (key, value) in lines {
        let line = format!("{key} = {value:?}");
        terminal::complain(&app.text(text::setup::wrote(&terminal::marks().done, &line)));
    }
    let sources: SettingSources = app.sources.with_text(Some(text));
    let lang = app.lang;
    Ok(app.reread(sources).with_language(lang))
}

#[cfg(test)]
mod tests {
    use super::is_address;
    use super::naming::full as full_name;

    #[test]
    fn a_name_gets_its_provider_once_and_the_endpoint_has_the_last_word() {
        let offered = ["openai/gpt-5".to_owned()];
        assert_eq!(full_name("openai", "qwen3:8b", &[]), "openai/qwen3:8b");
        assert_eq!(full_name("openai", "openai/gpt-5", &[]), "openai/gpt-5");
        assert_eq!(full_name("openai", "openai/gpt-5", &offered), "openai/openai/gpt-5");
        assert_eq!(full_name("gemini", "flash", &[]), "gemini/flash");
    }

    #[test]
    fn an_address_is_told_from_a_key() {
        for (text, is) in [
            ("http://127.0.0.1:8080/v1", true),
            ("https://api.example.com", true),
            ("sk-abcdefg", false),
            ("gpt-5", false),
            ("http://me:secret@host/v1", false),
        ] {
            assert_eq!(is_address(text), is, "{text}");
        }
    }
}
