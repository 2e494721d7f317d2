//! `everloop personas`: how the assistant may speak.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::briefing;
use everloop_app::context::personas::Persona;
use everloop_text as text;
use everloop_types::{one_line, spelled};
use serde_json::{Value, json};

pub(crate) fn personas(app: &Console, args: &args::Personas) -> Result<Exit, Failure> {
    let chosen = app.settings.persona.default.as_str();
    match (&args.name, args.json) {
        (Some(name), json) => {
            let persona = app.checked(briefing::persona(app, Some(name)))?;
            match json {
                true => terminal::answer(&as_json(app, &persona, chosen).to_string()),
                false => terminal::answer(&whole(app, &persona)),
            }
        }
        (None, true) => {
            let found = briefing::personas(app);
            let all: Vec<Value> = found.all.iter().map(|one| as_json(app, one, chosen)).collect();
            terminal::answer(&json!({ "personas": all }).to_string());
        }
        (None, false) => terminal::answer(&short_list(app, chosen)),
    }
    Ok(Exit::Done)
}

/// One line for each persona, with a mark before the one that is chosen.
pub(crate) fn short_list(app: &Console, chosen: &str) -> String {
    let line = |persona: &Persona| {
        let mark = if persona.name == chosen { "*" } else { " " };
        format!(
            "{mark} {}  {}",
            padded(&one_line(&persona.name), 12),
            one_line(&description(app, persona))
        )
    };
    let mut lines: Vec<String> = briefing::personas(app).all.iter().map(line).collect();
    lines.push(app.text(text::persona::own(&app.home.personas().display())));
    lines.join("\n")
}

/// What a persona is like. Those that are built in have their line in the catalogue.
fn description(app: &Console, persona: &Persona) -> String {
    match &persona.file {
        Some(_) => persona.description.clone(),
        None => text::persona::is::named(&persona.name).map(|it| app.text(it)).unwrap_or_default(),
    }
}

fn whole(app: &Console, persona: &Persona) -> String {
    let mut lines = vec![format!("{}  {}", persona.name, description(app, persona))];
    if !persona.tools.is_empty() {
        lines.push(app.text(text::persona::tools(&persona.tools.join(", "))));
    }
    if let Some(milli) = persona.temperature_milli {
        let value = format!("{}", f64::from(milli) / 1_000.0);
        lines.push(app.text(text::persona::temperature(&value)));
    }
    if let Some(most) = persona.max_tokens {
        lines.push(app.text(text::persona::max_tokens(&most)));
    }
    lines.push(String::new());
    lines.push(spelled(&persona.text));
    lines.join("\n")
}

fn as_json(app: &Console, persona: &Persona, chosen: &str) -> Value {
    json!({
        "name": persona.name,
        "description": description(app, persona),
        "default": persona.name == chosen,
        "built_in": persona.file.is_none(),
        "tools": persona.tools,
        "temperature": persona.temperature_milli.map(|milli| f64::from(milli) / 1_000.0),
        "max_tokens": persona.max_tokens,
        "text": persona.text,
    })
}
