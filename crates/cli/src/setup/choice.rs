//! Whose model: a numbered list, and the question.

use crate::console::Console;
use crate::terminal;
use everloop_app::frames::default_model;
use everloop_app::models::lists::LocalModels;
use everloop_app::secrets;
use everloop_app::settings::redact;
use everloop_app::setup::{ProviderAnswer, ProviderChoice, is_address};
use everloop_text as text;

/// Asks whose model is to be used.
pub(super) async fn provider(app: &Console, local: Option<&LocalModels>) -> ProviderChoice {
    show(app, local);
    let prompt = app.text(text::setup::prompt());
    loop {
        let Some(answer) = terminal::ask(&prompt).await else { return ProviderChoice::Nothing };
        match ProviderAnswer::read(&answer) {
            ProviderAnswer::Choice(ProviderChoice::Local) if local.is_none() => {
                terminal::complain(&app.text(text::setup::local_none()));
            }
            ProviderAnswer::Choice(choice) => return choice,
            ProviderAnswer::NeedsAddress => match address(app).await {
                Some(url) => return ProviderChoice::At(url),
                None => return ProviderChoice::Nothing,
            },
            ProviderAnswer::IsKey => is_key(app, &answer),
            ProviderAnswer::Unknown => terminal::complain(&app.text(text::setup::no_provider())),
        }
    }
}

/// Asks for the address of an endpoint; what is typed is not said again.
async fn address(app: &Console) -> Option<String> {
    let prompt = app.text(text::setup::address());
    loop {
        match terminal::ask(&prompt).await.filter(|answer| !answer.is_empty())? {
            url if is_address(&url) => return Some(url),
            key if redact::looks_like_a_key(&key) => is_key(app, &key),
            _ => terminal::complain(&app.text(text::setup::no_address())),
        }
    }
}

/// A key where none was asked for is not kept, and not said again.
fn is_key(app: &Console, key: &str) {
    secrets::redactor().learn(key.trim());
    terminal::complain(&app.text(text::setup::key_too_early()));
}

fn show(app: &Console, local: Option<&LocalModels>) {
    let name = default_model(app);
    let question = match name.is_empty() {
        true => app.text(text::setup::model()),
        false => app.text(text::setup::model_again(&name)),
    };
    let local = match local {
        Some(local) => app.text(text::setup::local_found(&local.url, &local.first())),
        None => app.text(text::setup::local_none()),
    };
    let last = match name.is_empty() {
        true => app.text(text::setup::nothing()),
        false => app.text(text::setup::keep()),
    };
    let listed = app.text(text::setup::providers());
    terminal::complain(&format!("\n{question}\n{listed}\n{local}\n{last}"));
}
