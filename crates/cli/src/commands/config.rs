//! `everloop config`: look at the settings, and change the file they stand in.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::survey::line;
use crate::terminal;
use everloop_app::config::{self, ConfigCheck, ConfigReport, SettingNow};
use everloop_app::models::survey::survey;
use everloop_app::settings::{SettingError, file};
use everloop_text as text;
use std::path::Path;
use std::process::Command;
use unicode_width::UnicodeWidthStr;

pub(crate) async fn config(app: &Console, args: args::ConfigVerb) -> Result<Exit, Failure> {
    match args {
        args::ConfigVerb::Get { key } => get(app, &key),
        args::ConfigVerb::Set { key, value } => set(app, &key, &value),
        args::ConfigVerb::Unset { key } => unset(app, &key),
        args::ConfigVerb::Show { json: true, .. } => show_json(app),
        args::ConfigVerb::Show { origin, .. } => show(app, origin),
        args::ConfigVerb::Edit => edit(app).await,
        args::ConfigVerb::Setup => {
            app.checked(config::current_text(app))?;
            crate::setup::first_run(app).await?;
            Ok(Exit::Done)
        }
        args::ConfigVerb::Path => {
            terminal::answer(&app.sources.path.display().to_string());
            Ok(Exit::Done)
        }
    }
}

fn get(app: &Console, key: &str) -> Result<Exit, Failure> {
    terminal::answer(&app.checked(config::get(app, key))?);
    Ok(Exit::Done)
}

fn show(app: &Console, origin: bool) -> Result<Exit, Failure> {
    app.checked(config::check_usable(app))?;
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
        terminal::answer(&line(app, &provider));
    }
    Ok(Exit::Done)
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn show_json(app: &Console) -> Result<Exit, Failure> {
    terminal::answer_json(&app.checked(ConfigReport::read(app))?);
    Ok(Exit::Done)
}

fn set(app: &Console, key: &str, text: &str) -> Result<Exit, Failure> {
    let change = app.checked(config::set(app, key, text))?;
    tell(app, key, change.now);
    if let Some((old, new)) = change.new_owner {
        terminal::complain(&app.text(text::config::new_owner(&old, &new)));
    }
    Ok(Exit::Done)
}

/// Says what is in force now, which a variable or a flag may decide.
fn tell(app: &Console, key: &str, now: SettingNow) {
    let now = match now {
        SettingNow::Setting(now) => now,
        SettingNow::Provider(provider) => {
            return provider.iter().for_each(|provider| app.note_line(&line(app, provider)));
        }
    };
    let (value, origin) = (&now.value, &now.origin);
    match now.layer {
        "environment" | "flag" => {
            let overridden = text::config::Overridden { key: &key, value, origin };
            terminal::complain(&app.text(overridden.text()));
        }
        _ => app.note(text::config::InForce { key: &key, value, origin }.text()),
    }
}

fn unset(app: &Console, key: &str) -> Result<Exit, Failure> {
    match app.checked(config::unset(app, key))? {
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
    fault_words(app, &check.faults).iter().for_each(|words| terminal::complain(words));
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

/// What is wrong with the settings, with the lines on which it stands.
pub(crate) fn fault_words(app: &Console, faults: &[(SettingError, Option<usize>)]) -> Vec<String> {
    let words = |(fault, line): &(SettingError, Option<usize>)| {
        let words = fault.words(app.lang);
        match line {
            Some(line) => app.text(text::config::fault_at(line, &words)),
            None => words,
        }
    };
    faults.iter().map(words).collect()
}
