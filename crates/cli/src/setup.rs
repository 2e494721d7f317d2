//! The first run: at most two questions, each answer a line of the settings that can be read.
//!
//! ```text
//!   language? ──► model? ──1 key──► base URL, key, name ─┐
//!                    │ ──2 local──────────────────────────┼──► one tiny request ──► places, hints
//!                    └──3 nothing, or the environment ────┘
//! ```

pub(crate) mod hidden;
pub(crate) mod probe;

use crate::app::App;
use crate::commands::config;
use crate::commands::run::default_model;
use crate::exit::{Exit, Failure};
use crate::secrets;
use crate::settings::{Origin, Sources, file, find};
use crate::{build, terminal};
use everloop_types::Lang;

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
    let chosen = match from_environment(&app) {
        true => app,
        false => model(app).await?,
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
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
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

async fn with_key(app: App) -> Result<App, Failure> {
    let usual = everloop_models::OPENAI_URL;
    let prompt = app.text("setup.base_url", &[("default", usual)]);
    let url = terminal::ask(&prompt).await.filter(|url| !url.is_empty());
    let url = url.unwrap_or_else(|| usual.to_owned());
    keep_key(&app).await?;
    let app = write(&app, &[("model.base_url", &url)])?;
    let offered = probe::offered(&app).await;
    let prompt = match offered.as_slice() {
        [only] => app.text("setup.model_name_or", &[("default", only)]),
        _ => app.text("setup.model_name", &[]),
    };
    let name = terminal::ask(&prompt).await.unwrap_or_default();
    let name = match (name.as_str(), offered.as_slice()) {
        ("", [only]) => only.clone(),
        ("", _) => {
            terminal::complain(&app.text("setup.no_name", &[]));
            return Ok(app);
        }
        (name, _) => name.to_owned(),
    };
    write(&app, &[("model.default", &full_name(&name, &offered))])
}

/// The name with the provider in front. What the endpoint itself calls `openai/x` keeps that.
fn full_name(name: &str, offered: &[String]) -> String {
    match name.starts_with("openai/") && !offered.iter().any(|known| known == name) {
        true => name.to_owned(),
        false => format!("openai/{name}"),
    }
}

/// Asks for the key without showing it, and keeps it beside the settings.
async fn keep_key(app: &App) -> Result<(), Failure> {
    let variable = app.settings.text("model.key_env");
    if std::env::var(variable).is_ok_and(|key| !key.is_empty()) {
        terminal::complain(&app.text("setup.key_from_environment", &[("name", variable)]));
        return Ok(());
    }
    let prompt = app.text("setup.key", &[]);
    let typed = tokio::task::spawn_blocking(move || hidden::ask(&prompt)).await;
    let key = match typed {
        Ok(hidden::Typed::Line(key)) if !key.trim().is_empty() => key,
        Ok(hidden::Typed::Line(_)) => return Ok(()),
        // The terminal is as it was again; nothing was written.
        _ => return Err(Failure { exit: Exit::Interrupted, words: String::new() }),
    };
    secrets::redactor().learn(&key);
    let path = app.key_file();
    let shown = path.display().to_string();
    // A file that others could read is replaced, not filled.
    let _ = std::fs::remove_file(&path);
    file::write(&path, &format!("{}\n", key.trim())).map_err(|error| {
        let args = [("file", shown.as_str()), ("detail", &error.to_string())];
        Failure { exit: Exit::Configuration, words: app.text("setup.key_not_kept", &args) }
    })?;
    let args = [("mark", terminal::marks().done), ("file", shown.as_str())];
    terminal::complain(&app.text("setup.key_kept", &args));
    Ok(())
}

/// Writes answers to the settings file, and shows each line.
fn write(app: &App, lines: &[(&'static str, &str)]) -> Result<App, Failure> {
    let mut text = app.sources.text.clone().unwrap_or_default();
    for (key, value) in lines {
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
    use super::full_name;

    #[test]
    fn a_name_gets_its_provider_once_and_the_endpoint_has_the_last_word() {
        let offered = ["openai/gpt-5".to_owned()];
        assert_eq!(full_name("qwen3:8b", &[]), "openai/qwen3:8b");
        assert_eq!(full_name("openai/gpt-5", &[]), "openai/gpt-5");
        assert_eq!(full_name("openai/gpt-5", &offered), "openai/openai/gpt-5");
    }
}
