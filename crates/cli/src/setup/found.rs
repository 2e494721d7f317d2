//! Keys that the environment holds already: they are named and used.

use super::naming;
use everloop_app::models::lists;
use everloop_app::setup::{FoundProvider, SetupDraft, TypedNames, full_name, proposed};
use everloop_console::{Console, Failure, terminal};
use everloop_text as text;

/// Uses the first; the one question is the model's name, with a proposal.
pub(super) async fn used(
    app: &Console,
    found: &[FoundProvider],
) -> Result<Option<SetupDraft>, Failure> {
    let names = found.iter().flat_map(|found| found.variables.iter().map(String::as_str));
    let names = names.collect::<Vec<_>>().join(", ");
    terminal::eprint_line(&app.text(text::setup::found(&terminal::marks().done, &names)));
    let [first, others @ ..] = found else { return Ok(None) };
    for (provider, model) in
        others.iter().filter_map(|other| Some((&other.provider, proposed(app, &other.provider)?)))
    {
        let name = format!("{provider}/{model}");
        terminal::eprint_line(&app.text(text::setup::found_also(&name)));
    }
    let offered = lists::offered(app, &first.provider).await;
    let Some(proposal) = first.proposal(app, &offered) else {
        let Some(name) = naming::asked(app, &offered).await else { return Ok(None) };
        let name = full_name(&first.provider, &name, &offered);
        return app.checked(SetupDraft::of_model(app, &name)).map(Some);
    };
    let prompt = app.text(text::setup::model_name_or(&proposal));
    let (mut names, mut elsewhere) = (TypedNames::new(&offered), TypedNames::new(&[]));
    loop {
        let Some(typed) = terminal::ask(&prompt).await else { return Ok(None) };
        let is_of_another = others.iter().any(|other| other.is_of(&typed));
        let judged = match typed.as_str() {
            "" => Ok(()),
            name if is_of_another => naming::check(app, &mut elsewhere, name),
            name => naming::check(app, &mut names, name),
        };
        let name = match typed.as_str() {
            "" => proposal.clone(),
            name if is_of_another => name.to_owned(),
            name => full_name(&first.provider, name, &offered),
        };
        match judged {
            Ok(()) => return app.checked(SetupDraft::of_model(app, &name)).map(Some),
            Err(words) => terminal::eprint_line(&words),
        }
    }
}
