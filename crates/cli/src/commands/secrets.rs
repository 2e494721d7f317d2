//! `everloop secrets`: put a secret away, list the names, take one out. No value is ever printed.

use crate::args::SecretsVerb;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::setup::hidden::{self, HiddenInput};
use crate::terminal;
use everloop_app::secrets::{is_name, kept, redactor};
use everloop_text::{self as text, TextOf};
use serde_json::json;
use std::io::Read;

pub(crate) fn secrets(app: &Console, args: SecretsVerb) -> Result<Exit, Failure> {
    match args {
        SecretsVerb::Set { name, file } => set(app, &name, file),
        SecretsVerb::List { json } => Ok(list(app, json)),
        SecretsVerb::Remove { name } => remove(app, &name),
    }
}

fn set(app: &Console, name: &str, in_file: bool) -> Result<Exit, Failure> {
    let usage = |text: TextOf| app.failure(Exit::Usage, text(&name));
    if !is_name(name) {
        return Err(usage(text::secrets::bad_name));
    }
    let value = match app.interactive {
        true => match hidden::ask(&app.text(text::secrets::ask(&name))) {
            HiddenInput::Line(line) => line,
            HiddenInput::GivenUp => return Ok(Exit::Interrupted),
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
    let reference = app.checked(kept::keep(app, name, value, in_file).map_err(Into::into))?;
    if !redactor().learn(value) {
        app.note(text::secrets::too_plain(&name));
    }
    app.note(text::secrets::kept(&name, &reference));
    Ok(Exit::Done)
}

fn list(app: &Console, as_json: bool) -> Exit {
    let all = kept::list(app);
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
    Exit::Done
}

fn remove(app: &Console, name: &str) -> Result<Exit, Failure> {
    app.checked(kept::remove(app, name).map_err(Into::into))?;
    app.note(text::secrets::removed(&name));
    Ok(Exit::Done)
}
