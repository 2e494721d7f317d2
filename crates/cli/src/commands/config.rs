//! `everloop config`: look at the settings, and change the file they stand in.

use crate::args;
use everloop_app::config::{self, ConfigCheck, ConfigReport, SettingNow};
use everloop_app::models::survey::survey;
use everloop_app::settings::{EffectiveSetting, file};
use everloop_console::show::doctor;
use everloop_console::show::survey::line as survey_line;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use unicode_width::UnicodeWidthStr;

/// Columns of a value after which its origin follows.
const VALUE_COLUMNS: usize = 28;

/// Columns of an origin and the gaps before it; where they are missing there are no columns.
const ORIGIN_COLUMNS: usize = 16;

pub(crate) async fn config(app: &Console, args: args::ConfigVerb) -> Result<Exit, Failure> {
    match args {
        args::ConfigVerb::Get { key, json } => get(app, &key, json),
        args::ConfigVerb::Set { key, value, json } => set(app, &key, &value, json),
        args::ConfigVerb::Unset { key, json } => unset(app, &key, json),
        args::ConfigVerb::Show { json: true, .. } => show_json(app),
        args::ConfigVerb::Show { origin, .. } => show(app, origin),
        args::ConfigVerb::Edit => edit(app).await,
        args::ConfigVerb::Setup => {
            app.checked(config::current_text(app))?;
            crate::setup::first_run(app).await?;
            Ok(Exit::Done)
        }
        args::ConfigVerb::Path { json } => {
            let path = app.sources.path.display().to_string();
            match json {
                true => terminal::print_json(&json!({ "path": path })),
                false => terminal::print_line(&path),
            }
            Ok(Exit::Done)
        }
    }
}

fn get(app: &Console, key: &str, as_json: bool) -> Result<Exit, Failure> {
    let group = group(app, key);
    if !group.is_empty() {
        app.checked(config::check_usable(app))?;
        match as_json {
            true => terminal::print_json(&json!({ "data": group })),
            false => group.iter().for_each(|setting| {
                terminal::print_line(&format!("{} = {}", setting.key, setting.value));
            }),
        }
        return Ok(Exit::Done);
    }
    let value = app.checked(config::get(app, key))?;
    match as_json {
        true => terminal::print_json(&described(app, key, value)),
        false => terminal::print_line(&value),
    }
    Ok(Exit::Done)
}

/// The settings of a group such as `loop`; none if it is no group.
fn group(app: &Console, name: &str) -> Vec<EffectiveSetting> {
    let mut all = app.sources.effective(&app.settings);
    if all.iter().any(|setting| setting.key.as_str() == name) {
        return Vec::new();
    }
    let head = format!("{}.", name.trim_end_matches('.'));
    all.retain(|setting| setting.key.as_str().starts_with(&head));
    all
}

/// A setting as programs read it: its value, and what decided about it.
fn described(app: &Console, key: &str, value: String) -> Value {
    let effective = app.sources.effective(&app.settings);
    match effective.into_iter().find(|setting| setting.key.as_str() == key) {
        Some(setting) => json!(setting),
        None => json!({ "key": key, "value": value }),
    }
}

fn show(app: &Console, origin: bool) -> Result<Exit, Failure> {
    app.checked(config::check_usable(app))?;
    let all = app.sources.effective(&app.settings);
    let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
    let keys = widest(&mut all.iter().map(|setting| setting.key.as_str().width()));
    // One long value must not push every origin off the screen.
    let values = widest(&mut all.iter().map(|setting| setting.value.width())).min(VALUE_COLUMNS);
    let is_narrow = terminal::line_style().width < keys + values + ORIGIN_COLUMNS;
    for setting in &all {
        let key = padded(setting.key.as_str(), keys);
        let (line, below) = if !origin {
            (format!("{key}  {}", setting.value), keys + 2)
        } else if is_narrow {
            (format!("{}  {}  ({})", setting.key.as_str(), setting.value, setting.origin), 4)
        } else {
            let value = padded(&setting.value, values);
            (format!("{key}  {value}  {}", setting.origin), keys + 2)
        };
        terminal::print_styled(&StyledLine::new(Tone::Plain, line.trim_end()).hanging(below));
    }
    for provider in survey(app) {
        terminal::print_line(&survey_line(app, &provider));
    }
    Ok(Exit::Done)
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn show_json(app: &Console) -> Result<Exit, Failure> {
    terminal::print_json(&app.checked(ConfigReport::read(app))?);
    Ok(Exit::Done)
}

fn set(app: &Console, key: &str, text: &str, as_json: bool) -> Result<Exit, Failure> {
    let change = app.checked(config::set(app, key, text))?;
    match as_json {
        true => tell_json(key, Some(&change.now)),
        false => tell(app, key, change.now),
    }
    if let Some((old, new)) = change.new_owner {
        terminal::eprint_line(&app.text(text::config::new_owner(&old, &new)));
    }
    Ok(Exit::Done)
}

/// Says what is in force now, which a variable or a flag may decide.
fn tell(app: &Console, key: &str, now: SettingNow) {
    let now = match now {
        SettingNow::Setting(now) => now,
        SettingNow::Provider(provider) => {
            return provider.iter().for_each(|provider| app.note_line(&survey_line(app, provider)));
        }
    };
    let (value, origin) = (&now.value, &now.origin);
    match now.layer {
        "environment" | "flag" => {
            let overridden = text::config::Overridden { key: &key, value, origin };
            terminal::eprint_line(&app.text(overridden.text()));
        }
        _ => app.note(text::config::InForce { key: &key, value, origin }.text()),
    }
}

/// The same for programs.
fn tell_json(key: &str, now: Option<&SettingNow>) {
    terminal::print_json(&match now {
        Some(SettingNow::Setting(now)) => json!(now),
        Some(SettingNow::Provider(_)) | None => json!({ "key": key }),
    });
}

fn unset(app: &Console, key: &str, as_json: bool) -> Result<Exit, Failure> {
    match app.checked(config::unset(app, key))? {
        now if as_json => tell_json(key, now.as_ref()),
        Some(now) => tell(app, key, now),
        None => app.note(text::config::was_not_set(&key)),
    }
    Ok(Exit::Done)
}

async fn edit(app: &Console) -> Result<Exit, Failure> {
    let path = app.sources.path.clone();
    let made = file::make_folder(&path).map_err(|error| config::not_written(&error).into());
    app.checked(made)?;
    open_editor(app, &path).await?;
    let check = ConfigCheck::read(app);
    doctor::fault_words(app, &check.faults).iter().for_each(|words| terminal::eprint_line(words));
    if !check.is_usable {
        return Ok(Exit::Configuration);
    }
    app.note(text::config::file_is_good(&path.display()));
    Ok(Exit::Done)
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
