//! `everloop personas`: how the assistant may speak.

use crate::args;
use everloop_app::catalog::{PersonaInfo, persona_info, persona_infos};
use everloop_console::show::choices::persona_choices;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use everloop_types::spelled;
use serde_json::json;

pub(crate) fn personas(app: &Console, args: &args::PersonasArgs) -> Result<Exit, Failure> {
    match &args.name {
        Some(name) => {
            let persona = app.checked(persona_info(app, name))?;
            if args.json {
                terminal::print_json(&persona);
            } else {
                terminal::print_line(&whole(app, &persona));
            }
        }
        None if args.json => {
            terminal::print_json(&json!({ "personas": persona_infos(app) }));
        }
        None => terminal::print_line(&persona_choices(app, app.settings.persona.default.as_str())),
    }
    Ok(Exit::Done)
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
