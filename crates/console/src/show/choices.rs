//! What a person can choose from, a line each.

use crate::console::Console;
use everloop_agenda::show::padded;
use everloop_app::catalog::{PersonaInfo, persona_infos};
use everloop_loops::LoopSpec;
use everloop_text as text;
use everloop_types::one_line;

/// One line for each loop, with a mark before the one that is chosen.
pub fn loop_choices(app: &Console, chosen: &str) -> String {
    let line = |spec: &LoopSpec| {
        let mark = if spec.name == chosen { "*" } else { " " };
        let does = spec.texts().map(|texts| app.text(texts.does)).unwrap_or_default();
        format!("{mark} {}  {does}", padded(spec.name, 18))
    };
    let mut lines: Vec<String> = LoopSpec::all().map(line).collect();
    lines.push(app.text(text::loops::now(&chosen)));
    lines.join("\n")
}

/// One line for each persona, with a mark before the one that is chosen.
pub fn persona_choices(app: &Console, chosen: &str) -> String {
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
