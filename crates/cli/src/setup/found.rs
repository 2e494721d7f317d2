//! Keys that the environment holds already: they are named and used.

use super::naming::{self, Names};
use super::{is_address, is_set, probe, proposed, write};
use crate::console::Console;
use crate::exit::Failure;
use crate::terminal;
use everloop_app::place::address_variable;
use everloop_app::settings::keys;
use everloop_models::providers;
use everloop_text as text;

/// A provider that the environment has a key or an address for.
pub(super) struct Found {
    provider: String,
    variables: Vec<String>,
}

/// Every provider that could be asked at once, in the order in which one is chosen.
pub(super) fn keys(app: &Console) -> Vec<Found> {
    // The best known goes first.
    let first = providers().filter(|known| known.name == "openai");
    let others = providers().filter(|known| known.name != "openai");
    let mut used: Vec<String> = Vec::new();
    let found = first.chain(others).map(|known| {
        let mut variables = everloop_app::key::variables(&app.settings, known.name);
        // A variable that regional siblings share is taken for the first of them.
        variables.retain(|name| is_set(name) && !used.contains(name));
        variables.truncate(1);
        used.extend(variables.iter().cloned());
        let address = address_variable(known.name);
        if std::env::var(&address).is_ok_and(|it| is_address(&it)) {
            variables.push(address);
        }
        Found { provider: known.name.to_owned(), variables }
    });
    found.filter(|found| !found.variables.is_empty()).collect()
}

/// Uses the first; the one question is the model's name, with a proposal.
pub(super) async fn used(app: Console, found: &[Found]) -> Result<Console, Failure> {
    let names = found.iter().flat_map(|found| found.variables.iter().map(String::as_str));
    let names = names.collect::<Vec<_>>().join(", ");
    terminal::complain(&app.text(text::setup::found(&terminal::marks().done, &names)));
    let [first, others @ ..] = found else { return Ok(app) };
    for (provider, model) in
        others.iter().filter_map(|other| Some((&other.provider, proposed(&app, &other.provider)?)))
    {
        let name = format!("{provider}/{model}");
        terminal::complain(&app.text(text::setup::found_also(&name)));
    }
    let offered = probe::offered(&app, &first.provider).await;
    let proposal = proposed(&app, &first.provider).map(str::to_owned);
    let proposal = match (proposal, offered.as_slice()) {
        (Some(name), offered) if offered.is_empty() || offered.contains(&name) => Some(name),
        (_, offered) => offered.first().cloned(),
    };
    let Some(proposal) = proposal.map(|name| naming::full(&first.provider, &name, &offered)) else {
        let Some(name) = naming::asked(&app, &offered).await else { return Ok(app) };
        return write(
            &app,
            &[(keys::model::default().as_str(), &naming::full(&first.provider, &name, &offered))],
        );
    };
    let prompt = app.text(text::setup::model_name_or(&proposal));
    let (mut names, mut elsewhere) = (Names::new(&offered), Names::new(&[]));
    loop {
        let Some(typed) = terminal::ask(&prompt).await else { return Ok(app) };
        let is_of_another = is_of_another(&typed, others);
        let judged = match typed.as_str() {
            "" => Ok(()),
            name if is_of_another => elsewhere.judge(&app, name),
            name => names.judge(&app, name),
        };
        let name = match typed.as_str() {
            "" => proposal.clone(),
            name if is_of_another => name.to_owned(),
            name => naming::full(&first.provider, name, &offered),
        };
        match judged {
            Ok(()) => return write(&app, &[(keys::model::default().as_str(), &name)]),
            Err(words) => terminal::complain(&words),
        }
    }
}

fn is_of_another(name: &str, others: &[Found]) -> bool {
    let provider = name.split_once('/').map(|(provider, _)| provider);
    others.iter().any(|other| Some(other.provider.as_str()) == provider)
}
