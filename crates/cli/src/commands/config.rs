//! `everloop config`: look at the settings, and change the file they stand in.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::survey::{Surveyed, survey};
use crate::terminal;
use everloop_app::place;
use everloop_app::settings::file::{self, EditError};
use everloop_app::settings::providers::{self, ProviderPart};
use everloop_app::settings::{
    self, LoadedSettings, SettingError, SettingOrigin, SettingProblem, SettingSpec, SettingTarget,
    keys, redact,
};
use everloop_text::{self as text, Text};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use unicode_width::UnicodeWidthStr;

pub(crate) async fn config(app: &Console, args: args::Config) -> Result<Exit, Failure> {
    match args {
        args::Config::Get { key } => get(app, &key),
        args::Config::Set { key, value } => set(app, &key, &value),
        args::Config::Unset { key } => unset(app, &key),
        args::Config::Show { json: true, .. } => show_json(app),
        args::Config::Show { origin, .. } => show(app, origin),
        args::Config::Edit => edit(app).await,
        args::Config::Setup => {
            old_text(app)?;
            crate::setup::first_run(app).await?;
            Ok(Exit::Done)
        }
        args::Config::Path => {
            terminal::answer(&app.sources.path.display().to_string());
            Ok(Exit::Done)
        }
    }
}

/// The setting of this name, or words with the nearest one.
fn known(app: &Console, key: &str) -> Result<&'static SettingSpec, Failure> {
    settings::find(key, SettingOrigin::CommandLine).map_err(|fault| wrong_usage(app, &fault))
}

fn wrong_usage(app: &Console, fault: &SettingError) -> Failure {
    Failure { exit: Exit::Usage, words: fault.words(app.lang) }
}

fn get(app: &Console, key: &str) -> Result<Exit, Failure> {
    if let Some((provider, part)) = providers::named(key) {
        usable(app)?;
        let value = match part {
            ProviderPart::BaseUrl => redact::shown(app.settings.own_address_of(provider)),
            ProviderPart::Key => {
                app.settings.key_of(provider).map_or_else(String::new, |at| at.to_string())
            }
        };
        terminal::answer(&value);
        return Ok(Exit::Done);
    }
    let key = known(app, key)?.key;
    usable(app)?;
    let all = app.sources.effective(&app.settings);
    for setting in all.iter().filter(|setting| setting.key == key) {
        terminal::answer(&setting.value);
    }
    Ok(Exit::Done)
}

/// Settings of which some cannot be used are not shown as if they were in force.
fn usable(app: &Console) -> Result<(), Failure> {
    match app.faults.first() {
        Some(fault) => {
            let words = fault.words(app.lang);
            let exit = match fault.origin {
                SettingOrigin::Flag => Exit::Usage,
                _ => Exit::Configuration,
            };
            Err(Failure { exit, words })
        }
        None => Ok(()),
    }
}

fn show(app: &Console, origin: bool) -> Result<Exit, Failure> {
    usable(app)?;
    let all = app.sources.effective(&app.settings);
    let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let keys = widest(&mut all.iter().map(|setting| setting.key.as_str().width()));
    let values = widest(&mut all.iter().map(|setting| setting.value.width()));
    for setting in &all {
        let key = padded(setting.key.as_str(), keys);
        let line = match origin {
            true => format!("{key}  {}  {}", padded(&setting.value, values), setting.origin),
            false => format!("{key}  {}", setting.value),
        };
        terminal::answer(line.trim_end());
    }
    for provider in survey(app) {
        terminal::answer(&provider.line(app));
    }
    Ok(Exit::Done)
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn show_json(app: &Console) -> Result<Exit, Failure> {
    usable(app)?;
    let all = app.sources.effective(&app.settings);
    let all = all.iter().map(|setting| {
        json!({"key": setting.key.as_str(), "value": setting.value,
               "layer": setting.layer, "origin": setting.origin})
    });
    let providers: Vec<_> = survey(app).iter().map(Surveyed::object).collect();
    let report = json!({"config_file": app.sources.path.display().to_string(),
                        "providers": providers,
                        "settings": all.collect::<Vec<_>>()});
    terminal::answer(&report.to_string());
    Ok(Exit::Done)
}

fn set(app: &Console, key: &str, text: &str) -> Result<Exit, Failure> {
    let target = SettingTarget::find(key, SettingOrigin::CommandLine)
        .map_err(|error| wrong_usage(app, &error))?;
    let usage = |text: Text| app.failure(Exit::Usage, text);
    // The settings are shown and copied; a key that gets there is lost.
    if redact::looks_like_a_key(text) {
        return Err(usage(text::config::is_a_key()));
    }
    let text = text.trim();
    target.check(text).map_err(|mismatch| {
        let key = key.to_owned();
        let origin = SettingOrigin::CommandLine;
        let problem = SettingProblem::Mismatch(mismatch);
        wrong_usage(app, &SettingError { key, origin, problem })
    })?;
    let is_database = key == keys::store::database().as_str();
    if is_database && everloop_app::database::Database::named(text, &app.home).is_none() {
        return Err(usage(text::settings::no_such_database()));
    }
    let changed = file::with(&old_text(app)?, key, target.kind(), text);
    let changed = changed.map_err(|error| cannot_change(app, &error))?;
    write(app, &changed)?;
    tell(app, key, changed);
    tell_of_new_owner(app, key, text);
    Ok(Exit::Done)
}

/// Another provider's model gets the address and the key that stand in the settings without a name.
fn tell_of_new_owner(app: &Console, key: &str, name: &str) {
    let (old, new) = (app.settings.owner(keys::model::base_url()), place::provider(name));
    let model = &app.settings.model;
    let named = !model.base_url.is_empty()
        || model.key.reference().is_some()
        || !model.key_command.is_empty();
    if key == keys::model::default().as_str() && old != new && (named || app.key_file().exists()) {
        terminal::complain(&app.text(text::config::new_owner(&old, &new)));
    }
}

/// The text of the file; a file that cannot be read is not written over.
fn old_text(app: &Console) -> Result<String, Failure> {
    match &app.sources.trouble {
        Some(detail) => Err(unwritable(app, detail)),
        None => Ok(app.sources.text.clone().unwrap_or_default()),
    }
}

/// Writes the settings file, or says why it cannot be written.
pub(crate) fn write(app: &Console, text: &str) -> Result<(), Failure> {
    file::write(&app.sources.path, text).map_err(|error| unwritable(app, &error))
}

fn unwritable(app: &Console, detail: &dyn std::fmt::Display) -> Failure {
    let (path, detail) = (app.sources.path.display().to_string(), detail.to_string());
    Failure { exit: Exit::Configuration, words: app.text(text::config::unwritable(&path, &detail)) }
}

/// A file that is broken cannot be changed line by line.
pub(crate) fn cannot_change(app: &Console, error: &EditError) -> Failure {
    let (path, detail) = (app.sources.path.display().to_string(), error.to_string());
    Failure {
        exit: Exit::Configuration,
        words: app.text(text::config::cannot_change(&path, &detail)),
    }
}

/// Says what is in force now, which a variable or a flag may decide.
fn tell(app: &Console, key: &str, text: String) {
    let sources = app.sources.with_text(Some(text));
    let settings = sources.read().settings;
    let all = sources.effective(&settings);
    let Some(now) = all.iter().find(|setting| setting.key.as_str() == key) else {
        let provider = providers::named(key).map_or("", |(provider, _)| provider);
        let mut changed = app.clone();
        changed.settings = settings;
        changed.sources = sources;
        let known = survey(&changed);
        let line = known.iter().find(|known| known.name == provider).map(|it| it.line(app));
        line.iter().filter(|_| !app.quiet).for_each(|line| terminal::complain(line));
        return;
    };
    match now.layer {
        "environment" | "flag" => terminal::complain(&app.text(
            text::config::Overridden { key: &key, value: &now.value, origin: &now.origin }.text(),
        )),
        _ => app.note(
            text::config::InForce { key: &key, value: &now.value, origin: &now.origin }.text(),
        ),
    }
}

fn unset(app: &Console, key: &str) -> Result<Exit, Failure> {
    let without = file::without(&old_text(app)?, key);
    match without.map_err(|error| cannot_change(app, &error))? {
        Some(text) => {
            write(app, &text)?;
            tell(app, key, text);
        }
        // A key that stands in the file may go even if nobody knows it.
        None => {
            let key = known(app, key)?.key;
            app.note(text::config::was_not_set(&key));
        }
    }
    Ok(Exit::Done)
}

async fn edit(app: &Console) -> Result<Exit, Failure> {
    let path = app.sources.path.clone();
    file::make_folder(&path).map_err(|error| unwritable(app, &error))?;
    open_editor(app, &path).await?;
    Ok(checked(app, std::fs::read_to_string(&path).ok()))
}

/// Lets the person edit a file with the editor of their choice.
pub(crate) async fn open_editor(app: &Console, path: &Path) -> Result<(), Failure> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    // Through a shell, because the variable may hold arguments too.
    let mut command = Command::new("/bin/sh");
    command
        .env("PATH", everloop_tools::search_path())
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(path);
    let ended = tokio::task::spawn_blocking(move || command.status()).await;
    let worked = matches!(&ended, Ok(Ok(status)) if status.success());
    if !worked {
        let words = app.text(text::config::editor_failed(&editor));
        return Err(Failure { exit: Exit::Failed, words });
    }
    Ok(())
}

/// Reads the new text and names every fault with its line.
fn checked(app: &Console, text: Option<String>) -> Exit {
    let sources = app.sources.with_text(text.clone());
    let loaded = sources.read();
    let text = text.unwrap_or_default();
    for words in fault_lines(app, &loaded, &text) {
        terminal::complain(&words);
    }
    match loaded.errors.is_empty() {
        true => {
            app.note(text::config::file_is_good(&sources.path.display()));
            Exit::Done
        }
        false => Exit::Configuration,
    }
}

/// What is wrong with the settings, with the lines on which it stands.
pub(crate) fn fault_lines(app: &Console, loaded: &LoadedSettings, text: &str) -> Vec<String> {
    let all = loaded.errors.iter().chain(&loaded.warnings);
    let worded = all.map(|fault| {
        let words = fault.words(app.lang);
        let in_file = matches!(fault.origin, SettingOrigin::File(_)) && !fault.names_its_line();
        let line = in_file.then(|| file::line_of(text, &fault.key));
        match line.flatten() {
            Some(line) => app.text(text::config::fault_at(&line, &words)),
            None => words,
        }
    });
    worded.collect()
}
