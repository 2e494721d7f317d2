//! The first run: at most two questions, each answer a line of the settings that can be read.
//!
//! ```text
//!   language? ──► keys in the environment ──────► name?  ─┐
//!                 none ──► model? ──1 key──► whose? ──────┼──► one tiny request ──► places, hints
//!                             │ ──2 local─────────────────┤
//!                             └──3 nothing, or set already┘
//! ```
//!
//! A key is asked for before anything else about it, unseen, and goes where secrets go.

mod found;
pub(crate) mod hidden;
pub(crate) mod probe;

use crate::app::App;
use crate::commands::run::default_model;
use crate::commands::{self, config};
use crate::exit::{Exit, Failure};
use crate::place::Place;
use crate::secrets;
use crate::settings::{Origin, Sources, file, find, redact};
use crate::{build, terminal};
use everloop_types::Lang;

/// What is proposed of each provider's models.
const PROPOSED: [(&str, &str); 3] =
    [("openai", "gpt-5-mini"), ("anthropic", "claude-sonnet-4-5"), ("gemini", "gemini-2.5-flash")];

/// Names of models that are shown at once.
const NAMES_SHOWN: usize = 12;

/// What the key is called in the keychain.
const KEY_NAME: &str = "model";

/// Asks for language and model and writes the answers; the app as it is afterwards.
///
/// Only for a terminal: elsewhere it says which commands do the same.
pub(crate) async fn first_run(app: &App) -> Result<App, Failure> {
    if !app.interactive {
        let words = app.text("model.missing", &[]);
        return Err(Failure { exit: Exit::Configuration, words });
    }
    terminal::complain(&app.text("setup.welcome", &[("version", build::NUMBER)]));
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
    let args = [("mark", terminal::marks().done), ("data", &data), ("config", &config)];
    terminal::complain(&chosen.text("setup.places", &args));
    terminal::complain(&format!("\n{}", chosen.text("setup.hints", &[])));
    Ok(chosen)
}

async fn language(app: &App) -> Result<App, Failure> {
    let detected = name_of(app.lang);
    let prompt = app.text("setup.language", &[("detected", detected)]);
    let chosen = loop {
        match terminal::ask(&prompt).await.as_deref() {
            None | Some("") => break detected,
            Some("1") => break name_of(Lang::ZhCn),
            Some("2") => break name_of(Lang::En),
            Some(other) => match Lang::parse(other) {
                Some(lang) => break name_of(lang),
                None => not_understood(app, "1, 2"),
            },
        }
    };
    let mut app = write(app, &[("ui.language", chosen)])?;
    // The answer counts from now on, whatever the environment says.
    app.lang = Lang::parse(chosen).unwrap_or(app.lang);
    Ok(app)
}

fn name_of(lang: Lang) -> &'static str {
    match lang {
        Lang::ZhCn => "zh-CN",
        Lang::En => "en",
    }
}

fn not_understood(app: &App, choices: &str) {
    terminal::complain(&app.text("setup.not_understood", &[("choices", choices)]));
}

/// A model that the environment names needs no question.
fn from_environment(app: &App) -> bool {
    let names = ["EVERLOOP_MODEL", "OPENAI_BASE_URL", app.settings.text("model.key_env")];
    if !is_set(&"EVERLOOP_MODEL") {
        return false;
    }
    let names: Vec<&str> = names.into_iter().filter(is_set).collect();
    let (names, model) = (names.join(", "), default_model(app));
    let args = [("mark", terminal::marks().done), ("names", &names), ("model", &model)];
    terminal::complain(&app.text("setup.from_environment", &args));
    true
}

async fn model(app: App) -> Result<App, Failure> {
    let local = probe::local().await;
    show_choices(&app, local.as_ref());
    let prompt = app.text("setup.prompt", &[]);
    loop {
        match (terminal::ask(&prompt).await.as_deref(), &local) {
            (Some("1"), _) => return with_key(app).await,
            (Some("2"), Some(local)) => {
                let name = format!("openai/{}", local.model);
                let lines = [("model.base_url", local.url.as_str()), ("model.default", &name)];
                return write(&app, &lines);
            }
            (Some("2"), None) => terminal::complain(&app.text("setup.local_none", &[])),
            (None | Some("" | "3"), _) => return Ok(app),
            (Some(_), _) => not_understood(&app, "1, 2, 3"),
        }
    }
}

fn show_choices(app: &App, local: Option<&probe::Local>) {
    let name = default_model(app);
    let key = app.key_file().display().to_string();
    let local = match local {
        Some(local) => {
            let args = [("url", local.url.as_str()), ("model", local.model.as_str())];
            app.text("setup.local_found", &args)
        }
        None => app.text("setup.local_none", &[]),
    };
    let (question, last) = match name.is_empty() {
        true => (app.text("setup.model", &[]), app.text("setup.nothing", &[])),
        false => (app.text("setup.model_again", &[("name", &name)]), app.text("setup.keep", &[])),
    };
    let first = app.text("setup.enter_key", &[("file", &key)]);
    terminal::complain(&format!("\n{question}\n{first}\n{local}\n{last}"));
}

/// A key, and whatever cannot be guessed from it.
async fn with_key(app: App) -> Result<App, Failure> {
    let Some(key) = key(&app).await? else { return Ok(app) };
    let (provider, url) = match provider_of(&key) {
        Some(provider) => (provider.to_owned(), String::new()),
        None => whose(&app).await,
    };
    let mut lines = vec![("model.base_url", url)];
    if !key.is_empty() {
        lines.extend(keep_key(&app, &key, &provider)?.map(|kept| ("model.key", kept)));
    }
    // What was not set need not be emptied.
    lines.retain(|(key, value)| !value.is_empty() || !app.settings.text(key).is_empty());
    let lines: Vec<(&'static str, &str)> =
        lines.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let app = write(&app, &lines)?;
    match name(&app, &provider).await {
        Some(name) => write(&app, &[("model.default", &name)]),
        None => {
            terminal::complain(&app.text("setup.no_name", &[]));
            Ok(app)
        }
    }
}

/// Asks for the key without showing it; nothing if the person gives up on it.
async fn key(app: &App) -> Result<Option<String>, Failure> {
    let prompt = app.text("setup.key", &[]);
    let typed = tokio::task::spawn_blocking(move || hidden::ask(&prompt)).await;
    match typed {
        Ok(hidden::Typed::Line(key)) => {
            let key = key.trim().to_owned();
            secrets::redactor().learn(&key);
            Ok(Some(key))
        }
        // The terminal is as it was again; nothing was written.
        _ => Err(Failure { exit: Exit::Interrupted, words: String::new() }),
    }
}

/// Whose key it is, where its beginning says so.
fn provider_of(key: &str) -> Option<&'static str> {
    match key {
        _ if key.starts_with("sk-ant-") => Some("anthropic"),
        _ if key.starts_with("AIza") => Some("gemini"),
        _ => None,
    }
}

/// The provider, and the address unless it is the usual one.
async fn whose(app: &App) -> (String, String) {
    let usual = match std::env::var("OPENAI_BASE_URL") {
        Ok(url) if is_address(&url) => url,
        _ => everloop_models::OPENAI_URL.to_owned(),
    };
    let prompt = app.text("setup.whose", &[("default", &usual)]);
    loop {
        match terminal::ask(&prompt).await.as_deref() {
            None | Some("") => return ("openai".to_owned(), usual),
            Some(name @ ("anthropic" | "gemini")) => return (name.to_owned(), String::new()),
            Some("openai") => {
                return ("openai".to_owned(), everloop_models::OPENAI_URL.to_owned());
            }
            Some(url) if is_address(url) => return ("openai".to_owned(), url.to_owned()),
            Some(_) => terminal::complain(&app.text("setup.no_address", &[])),
        }
    }
}

/// Whether something could be asked there, and it holds no key.
fn is_address(text: &str) -> bool {
    everloop_models::connect("openai/x", everloop_models::Endpoint::at(text)).is_ok()
        && !redact::looks_like_a_key(text)
}

/// What is proposed of a provider's models, where it is asked at its usual address.
fn proposed(app: &App, provider: &str) -> Option<&'static str> {
    let name = format!("{provider}/");
    if Place::of(&app.settings, &name).address() != everloop_models::usual_url(provider) {
        return None;
    }
    PROPOSED.iter().find(|(name, _)| *name == provider).map(|(_, model)| *model)
}

/// The model with its provider: the one that is proposed or the only one that is offered, else the
/// one that the person names.
async fn name(app: &App, provider: &str) -> Option<String> {
    let offered = probe::offered(app, provider).await;
    let proposed = proposed(app, provider);
    let chosen = match (proposed, offered.as_slice()) {
        (Some(proposed), []) => proposed.to_owned(),
        (Some(proposed), some) if some.iter().any(|name| name == proposed) => proposed.to_owned(),
        (_, [only]) => only.clone(),
        _ => asked_name(app, &offered).await?,
    };
    Some(full_name(provider, &chosen, &offered))
}

async fn asked_name(app: &App, offered: &[String]) -> Option<String> {
    if !offered.is_empty() {
        let names = offered.iter().take(NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>();
        terminal::complain(&app.text("setup.offers", &[("names", &names.join(", "))]));
    }
    let prompt = app.text("setup.model_name", &[]);
    loop {
        let name = terminal::ask(&prompt).await.filter(|name| !name.is_empty())?;
        if !redact::looks_like_a_key(&name) || offered.contains(&name) {
            return Some(name);
        }
        terminal::complain(&app.text("config.is_a_key", &[]));
    }
}

/// The name with the provider in front. What the endpoint itself calls `openai/x` keeps that.
fn full_name(provider: &str, name: &str, offered: &[String]) -> String {
    let has_it = name.split_once('/').is_some_and(|(first, _)| first == provider);
    match has_it && !offered.iter().any(|known| known == name) {
        true => name.to_owned(),
        false => format!("{provider}/{name}"),
    }
}

/// Puts the key where secrets go: into the keychain, else into a file of its own. Says what the
/// settings must say of that.
fn keep_key(app: &App, key: &str, provider: &str) -> Result<Option<String>, Failure> {
    let mark = terminal::marks().done;
    if let Some(kept) = commands::secrets::in_the_keychain(app, KEY_NAME, key)? {
        let kept = kept.to_string();
        let args = [("mark", mark), ("reference", kept.as_str())];
        terminal::complain(&app.text("setup.key_in_keychain", &args));
        return Ok(Some(kept));
    }
    let path = app.key_file();
    let shown = path.display().to_string();
    // A file that others could read is replaced, not filled.
    let _ = std::fs::remove_file(&path);
    file::write(&path, &format!("{key}\n")).map_err(|error| {
        let args = [("file", shown.as_str()), ("detail", &error.to_string())];
        Failure { exit: Exit::Configuration, words: app.text("setup.key_not_kept", &args) }
    })?;
    let args = [("mark", mark), ("file", shown.as_str())];
    terminal::complain(&app.text("setup.key_kept", &args));
    // The file is where a key is looked for last; what comes before it must not hide this one.
    let name = format!("{provider}/");
    let variables = crate::key::variables(&app.settings, &Place::of(&app.settings, &name));
    let hidden = secrets::of_model(&app.settings).is_some() || variables.iter().any(is_set);
    Ok(hidden.then(|| secrets::Reference::File(path).to_string()))
}

fn is_set(name: &&str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty())
}

/// Writes answers to the settings file, and shows each line.
fn write(app: &App, lines: &[(&'static str, &str)]) -> Result<App, Failure> {
    let mut text = app.sources.text.clone().unwrap_or_default();
    for (key, value) in lines {
        // The settings are shown and copied; a key that gets there is lost.
        if redact::looks_like_a_key(value) {
            let words = app.text("config.is_a_key", &[]);
            return Err(Failure { exit: Exit::Configuration, words });
        }
        let setting = find(key, Origin::CommandLine);
        let setting = setting.unwrap_or_else(|_| unreachable!("{key} is in the table"));
        text = file::with(&text, setting, value)
            .map_err(|error| config::cannot_change(app, &error))?;
    }
    config::write(app, &text)?;
    for (key, value) in lines {
        let line = format!("{key} = {value:?}");
        let args = [("mark", terminal::marks().done), ("line", line.as_str())];
        terminal::complain(&app.text("setup.wrote", &args));
    }
    let sources: Sources = app.sources.with_text(Some(text));
    let lang = app.lang;
    Ok(App { lang, ..app.reread(sources) })
}

#[cfg(test)]
mod tests {
    use super::{full_name, is_address, provider_of};

    #[test]
    fn a_name_gets_its_provider_once_and_the_endpoint_has_the_last_word() {
        let offered = ["openai/gpt-5".to_owned()];
        assert_eq!(full_name("openai", "qwen3:8b", &[]), "openai/qwen3:8b");
        assert_eq!(full_name("openai", "openai/gpt-5", &[]), "openai/gpt-5");
        assert_eq!(full_name("openai", "openai/gpt-5", &offered), "openai/openai/gpt-5");
        assert_eq!(full_name("gemini", "flash", &[]), "gemini/flash");
    }

    #[test]
    fn a_key_tells_whose_it_is_and_is_no_address() {
        assert_eq!(provider_of("sk-ant-fake"), Some("anthropic"));
        assert_eq!(provider_of("AIzaFake"), Some("gemini"));
        assert_eq!(provider_of("sk-fake"), None);
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
