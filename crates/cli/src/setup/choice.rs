//! Whose model: a numbered list, and the question.

use super::guarded;
use super::hidden::HiddenInput;
use everloop_app::frames::default_model;
use everloop_app::models::lists::LocalModels;
use everloop_app::secrets;
use everloop_app::settings::redact;
use everloop_app::setup::{ProviderAnswer, ProviderChoice, is_address};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;

/// Asks whose model is to be used.
pub(super) async fn provider(
    app: &Console,
    local: Option<&LocalModels>,
) -> Result<ProviderChoice, Failure> {
    show(app, local);
    loop {
        let answer = asked(app.text(text::setup::prompt())).await?;
        match ProviderAnswer::read(&answer) {
            ProviderAnswer::Choice(ProviderChoice::Local) if local.is_none() => {
                terminal::eprint_line(&app.text(text::setup::local_none()));
            }
            ProviderAnswer::Choice(choice) => return Ok(choice),
            ProviderAnswer::NeedsAddress => {
                let url = address(app).await?;
                return Ok(url.map_or(ProviderChoice::Nothing, ProviderChoice::At));
            }
            ProviderAnswer::IsKey => is_key(app, &answer),
            ProviderAnswer::Unknown => terminal::eprint_line(&app.text(text::setup::no_provider())),
        }
    }
}

/// Asks for the address of an endpoint; what is typed is not said again.
async fn address(app: &Console) -> Result<Option<String>, Failure> {
    loop {
        match asked(app.text(text::setup::address())).await? {
            nothing if nothing.is_empty() => return Ok(None),
            url if is_address(&url) => return Ok(Some(url)),
            key if redact::looks_like_a_key(&key) => is_key(app, &key),
            _ => terminal::eprint_line(&app.text(text::setup::no_address())),
        }
    }
}

/// A line that is shown as long as it is no key.
async fn asked(prompt: String) -> Result<String, Failure> {
    match guarded::ask(prompt).await {
        HiddenInput::Line(line) => Ok(line),
        HiddenInput::GivenUp => Err(Failure { exit: Exit::Interrupted, words: String::new() }),
    }
}

/// A key where none was asked for is not kept, and not said again.
fn is_key(app: &Console, key: &str) {
    secrets::redactor().learn(key.trim());
    terminal::eprint_line(&app.text(text::setup::key_too_early()));
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
    terminal::eprint_line(&format!("\n{question}\n{listed}\n{local}\n{last}"));
}
