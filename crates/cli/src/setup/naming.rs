//! The name of a model, asked for until it can be one.

use crate::console::Console;
use crate::terminal;
use everloop_app::setup::{NameProblem, TypedNames};
use everloop_text as text;

/// Names of models that are shown at once.
const NAMES_SHOWN: usize = 12;

/// Asks for the name of a model, until it can be one. Nothing if the person gives up on it.
pub(super) async fn asked(app: &Console, offered: &[String]) -> Option<String> {
    if !offered.is_empty() {
        terminal::complain(&app.text(text::setup::offers(&listed(offered))));
    }
    let prompt = app.text(text::setup::model_name());
    let mut names = TypedNames::new(offered);
    loop {
        let name = terminal::ask(&prompt).await.filter(|name| !name.is_empty())?;
        match check(app, &mut names, &name) {
            Ok(()) => return Some(name),
            Err(words) => terminal::complain(&words),
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
