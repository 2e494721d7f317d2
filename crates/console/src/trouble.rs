//! Why a model could not be asked, in words that help: what is wrong, where the key and the address
//! came from, and what mends it. No key is ever shown.

use crate::console::Console;
use everloop_app::trouble::{AdviceFor, ModelTrouble, provider_with_key};
use everloop_text as text;

/// What is wrong, where things came from, and what mends it.
pub fn words(app: &Console, trouble: &ModelTrouble, surface: AdviceFor) -> String {
    let advice = trouble.advice(app.lang, surface);
    let advice = advice.map(|advice| format!("\n  → {advice}")).unwrap_or_default();
    format!("{}{advice}", facts(app, trouble))
}

/// The same without advice, where the next question is the advice.
pub fn facts(app: &Console, trouble: &ModelTrouble) -> String {
    let mut lines = vec![trouble.message(app.lang)];
    if let Some(source) = trouble.suspect_key_source() {
        lines.push(format!("  {}", app.text(text::trouble::key_from(&source))));
    }
    if let Some(origin) = trouble.suspect_address_origin() {
        let chosen = text::trouble::address_from(&trouble.address, &origin);
        lines.push(format!("  {}", app.text(chosen)));
    }
    lines.join("\n")
}

/// That no model is chosen, in one line (PR-1).
pub fn no_model_line(app: &Console) -> String {
    match provider_with_key() {
        Some((provider, variable)) => app.text(text::door::no_model_name(&provider, &variable)),
        None => app.text(text::door::no_model()),
    }
}

/// The same in a chat at a terminal, where the set-up is a command.
pub fn no_model_in_chat(app: &Console) -> String {
    match provider_with_key() {
        Some((_, variable)) => app.text(text::door::no_model_name_setup(&variable)),
        None => app.text(text::door::no_model_setup()),
    }
}

/// That no model is chosen, and what is missing for one.
pub fn no_model(app: &Console) -> String {
    match provider_with_key() {
        Some((provider, variable)) => app.text(text::model::missing_name(&provider, &variable)),
        None => app.text(text::model::missing()),
    }
}
