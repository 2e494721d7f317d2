//! The name of a model, asked for until it can be one.

use everloop_app::setup::{NameProblem, TypedNames};
use everloop_console::{Console, terminal};
use everloop_text as text;

/// Names of models that are shown at once.
const NAMES_SHOWN: usize = 12;

/// Asks for the name of a model, until it can be one; the return key alone takes the first that is
/// offered. Nothing if the person gives up on it.
pub(super) async fn asked(app: &Console, offered: &[String]) -> Option<String> {
    if !offered.is_empty() {
        terminal::eprint_line(&app.text(text::setup::offers(&listed(offered))));
    }
    let first = offered.first();
    let prompt = app.text(match first {
        Some(first) => text::setup::model_name_or(first),
        None => text::setup::model_name(),
    });
    let mut names = TypedNames::new(offered);
    loop {
        let typed = terminal::ask(&prompt).await?;
        let name = Some(typed).filter(|name| !name.is_empty()).or_else(|| first.cloned())?;
        match check(app, &mut names, &name) {
            Ok(()) => return Some(name),
            Err(words) => terminal::eprint_line(&words),
        }
    }
}

/// Whether a name can be used; else what to say before it is asked for again.
pub(super) fn check(app: &Console, names: &mut TypedNames<'_>, name: &str) -> Result<(), String> {
    names.check(name).map_err(|problem| {
        app.text(match problem {
            NameProblem::IsKey => text::config::is_a_key(),
            NameProblem::Malformed(example) => text::setup::name_wrong(&example),
            NameProblem::NotOffered => text::setup::name_unknown(&name, &listed(names.offered)),
        })
    })
}

fn listed(offered: &[String]) -> String {
    offered.iter().take(NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ")
}
