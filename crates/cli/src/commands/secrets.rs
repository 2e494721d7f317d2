//! `everloop secrets`: put a secret away, list the names, take one out. No value is ever printed.

use crate::args::SecretsVerb;
use crate::setup::hidden::{self, HiddenInput};
use everloop_app::secrets::{Reference, is_name, kept, redactor};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text::{self as text, TextOf};
use serde_json::{Value, json};
use std::io::Read;

pub(crate) fn secrets(app: &Console, args: SecretsVerb) -> Result<Exit, Failure> {
    match args {
        SecretsVerb::Set { name, file, json } => set(app, &name, file, json),
        SecretsVerb::List { json } => Ok(list(app, json)),
        SecretsVerb::Remove { name, json } => remove(app, &name, json),
    }
}

fn set(app: &Console, name: &str, in_file: bool, as_json: bool) -> Result<Exit, Failure> {
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
    if as_json {
        terminal::print_json(&json!({"name": name, "reference": reference.to_string()}));
    }
    app.note(text::secrets::kept(&name, &reference));
    Ok(Exit::Done)
}

fn list(app: &Console, as_json: bool) -> Exit {
    let all = kept::list(app);
    if as_json {
        let named = |(name, reference): &(String, Reference)| {
            let reference = reference.to_string();
            json!({"name": name, "reference": reference})
        };
        let data: Vec<Value> = all.iter().map(named).collect();
        terminal::print_json(&json!({ "data": data }));
        return Exit::Done;
    }
    if all.is_empty() {
        terminal::print_line(&app.text(text::secrets::none()));
    }
    for (name, reference) in all {
        terminal::print_line(&format!("{name}  {reference}"));
    }
    Exit::Done
}

fn remove(app: &Console, name: &str, as_json: bool) -> Result<Exit, Failure> {
    app.checked(kept::remove(app, name).map_err(Into::into))?;
    if as_json {
        terminal::print_json(&json!({ "removed": name }));
    }
    app.note(text::secrets::removed(&name));
    Ok(Exit::Done)
}
