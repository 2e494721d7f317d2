//! `everloop secrets`: put a secret away, list the names, take one out. No value is ever printed.
//!
//! They go to the keychain where one answers, else into files of their own that nobody else can
//! read. A list of names stands beside the files: a keychain tells names only with their values.

use crate::args::Secrets;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::setup::hidden::{self, Typed};
use crate::terminal;
use everloop_app::secrets::{Reference, SecretError, is_name, keychain, redactor};
use everloop_app::settings::file;
use everloop_text::{self as text, TextOf};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

pub(crate) fn secrets(app: &Console, args: Secrets) -> Result<Exit, Failure> {
    match args {
        Secrets::Set { name, file } => set(app, &name, file),
        Secrets::List { json } => list(app, json),
        Secrets::Remove { name } => remove(app, &name),
    }
}

fn set(app: &Console, name: &str, in_file: bool) -> Result<Exit, Failure> {
    let usage = |text: TextOf| app.failure(Exit::Usage, text(&name));
    if !is_name(name) {
        return Err(usage(text::secrets::bad_name));
    }
    let value = match app.interactive {
        true => match hidden::ask(&app.text(text::secrets::ask(&name))) {
            Typed::Line(line) => line,
            Typed::GivenUp => return Ok(Exit::Interrupted),
        },
        false => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(64 << 10).read_to_string(&mut text);
            read.map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))?;
            text
        }
    };
    let value = value.trim();
    if value.is_empty() {
        return Err(usage(text::secrets::no_value));
    }
    let in_keychain = match in_file {
        true => None,
        false => in_the_keychain(app, name, value)?,
    };
    let reference = match in_keychain {
        Some(reference) => reference,
        None => {
            let path = app.home.secrets().join(name);
            file::write(&path, &format!("{value}\n")).map_err(|error| unwritten(app, &error))?;
            Reference::File(path)
        }
    };
    if !redactor().learn(value) {
        app.note(text::secrets::too_plain(&name));
    }
    app.note(text::secrets::kept(&name, &reference));
    Ok(Exit::Done)
}

/// Puts a secret into the keychain, if one answers here.
pub(crate) fn in_the_keychain(
    app: &Console,
    name: &str,
    value: &str,
) -> Result<Option<Reference>, Failure> {
    let timeout_ms = app.settings.secrets.timeout.ms();
    if !keychain::is_there(timeout_ms) {
        return Ok(None);
    }
    keychain::keep(name, value, timeout_ms).map_err(|error| failed(app, &error))?;
    let mut names = in_keychain(app);
    names.insert(name.to_owned());
    write_names(app, &names)?;
    Ok(Some(Reference::Keychain(name.to_owned())))
}

fn list(app: &Console, as_json: bool) -> Result<Exit, Failure> {
    let kept = in_keychain(app).into_iter().map(|name| (name.clone(), Reference::Keychain(name)));
    let files = in_files(app).into_iter().map(|name| {
        let path = app.home.secrets().join(&name);
        (name, Reference::File(path))
    });
    let all: Vec<(String, Reference)> = kept.chain(files).collect();
    if all.is_empty() && !as_json {
        app.note(text::secrets::none());
    }
    for (name, reference) in all {
        let reference = reference.to_string();
        terminal::answer(&match as_json {
            true => json!({"name": name, "reference": reference}).to_string(),
            false => format!("{name}  {reference}"),
        });
    }
    Ok(Exit::Done)
}

fn remove(app: &Console, name: &str) -> Result<Exit, Failure> {
    let mut names = in_keychain(app);
    let was_kept = names.remove(name);
    if was_kept {
        let timeout_ms = app.settings.secrets.timeout.ms();
        keychain::remove(name, timeout_ms).map_err(|error| failed(app, &error))?;
        write_names(app, &names)?;
    }
    let was_file = in_files(app).contains(name);
    if was_file {
        let removed = std::fs::remove_file(app.home.secrets().join(name));
        removed.map_err(|error| unwritten(app, &error))?;
    }
    if !was_kept && !was_file {
        let words = app.text(text::secrets::not_there(&name));
        return Err(Failure { exit: Exit::Usage, words });
    }
    app.note(text::secrets::removed(&name));
    Ok(Exit::Done)
}

fn names_file(app: &Console) -> PathBuf {
    app.home.secrets().join(".keychain")
}

fn in_keychain(app: &Console) -> BTreeSet<String> {
    let text = std::fs::read_to_string(names_file(app)).unwrap_or_default();
    text.lines().filter(|name| is_name(name)).map(str::to_owned).collect()
}

fn write_names(app: &Console, names: &BTreeSet<String>) -> Result<(), Failure> {
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    file::write(&names_file(app), &text).map_err(|error| unwritten(app, &error))
}

fn in_files(app: &Console) -> BTreeSet<String> {
    let found = std::fs::read_dir(app.home.secrets()).into_iter().flatten().flatten();
    found
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|it| is_name(it))
        .collect()
}

fn failed(app: &Console, error: &SecretError) -> Failure {
    Failure { exit: Exit::Failed, words: error.words(app.lang) }
}

fn unwritten(app: &Console, error: &std::io::Error) -> Failure {
    let folder = app.home.secrets().display().to_string();
    let detail = error.to_string();
    Failure { exit: Exit::Failed, words: app.text(text::secrets::unwritten(&folder, &detail)) }
}
