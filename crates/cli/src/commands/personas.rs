//! `everloop personas`: how the assistant may speak.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::catalog::{PersonaInfo, persona_info, persona_infos};
use everloop_text as text;
use everloop_types::{one_line, spelled};
use serde_json::json;

pub(crate) fn personas(app: &Console, args: &args::PersonasArgs) -> Result<Exit, Failure> {
    match &args.name {
        Some(name) => {
            let persona = app.checked(persona_info(app, name))?;
            if args.json {
                terminal::answer_json(&persona);
            } else {
                terminal::answer(&whole(app, &persona));
            }
        }
        None if args.json => {
            terminal::answer_json(&json!({ "personas": persona_infos(app) }));
        }
        None => terminal::answer(&short_list(app, app.settings.persona.default.as_str())),
    }
    Ok(Exit::Done)
}

/// One line for each persona, with a mark before the one that is chosen.
pub(crate) fn short_list(app: &Console, chosen: &str) -> String {
    let line = |persona: &PersonaInfo| {
        let mark = if persona.name == chosen { "*" } else { " " };
        format!(
            "{mark} {}  {}",
            padded(&one_line(&persona.name), 12),
            one_line(&persona.description)
        )
    };
    let mut lines: Vec<String> = persona_infos(app).iter().map(line).collect();
    lines.push(app.text(text::persona::own(&app.home.personas().display())));
    lines.join("\n")
}

fn whole(app: &Console, persona: &PersonaInfo) -> String {
    let mut lines = vec![format!("{}  {}", persona.name, persona.description)];
    if !persona.tools.is_empty() {
        lines.push(app.text(text::persona::tools(&persona.tools.join(", "))));
    }
    if let Some(value) = persona.temperature {
        lines.push(app.text(text::persona::temperature(&value)));
    }
    if let Some(most) = persona.max_tokens {
        lines.push(app.text(text::persona::max_tokens(&most)));
    }
    lines.push(String::new());
    lines.push(spelled(&persona.text));
    lines.join("\n")
}
