//! Whose model: a numbered list, and the names that people have for providers.

use crate::console::Console;
use crate::terminal;
use everloop_app::frames::default_model;
use everloop_app::models::lists::LocalModels;
use everloop_app::secrets;
use everloop_app::settings::redact;
use everloop_app::setup::is_address;
use everloop_models::providers;
use everloop_text as text;
use everloop_types::Lang;

/// What an endpoint is called that nobody else has a name for.
pub(super) const OTHER: &str = "custom";

/// Those that are listed, in this order; every other one is taken by its name.
const LISTED: [&str; 7] = ["deepseek", "qwen", "glm", "moonshot", "openai", "anthropic", "gemini"];

/// What was chosen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Known(String),
    /// An OpenAI-compatible endpoint at this address.
    At(String),
    /// What was found on this machine.
    Local,
    Nothing,
}

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Choice(Choice),
    /// An address is to be asked for.
    Other,
    IsKey,
    Unknown,
}

fn understood(answer: &str) -> Answer {
    let name: String = answer.trim().to_lowercase().chars().map(half_width).collect();
    let number = name.trim_end_matches(['.', '。', '、']).parse::<usize>();
    match number {
        Ok(0) => return Answer::Choice(Choice::Nothing),
        Ok(number @ 1..=7) => return Answer::Choice(Choice::Known(LISTED[number - 1].to_owned())),
        Ok(8) => return Answer::Choice(Choice::Local),
        Ok(9) => return Answer::Other,
        _ => {}
    }
    match name.as_str() {
        "" => return Answer::Choice(Choice::Nothing),
        name if is_one_of(name, text::setup::words_local()) => {
            return Answer::Choice(Choice::Local);
        }
        name if is_one_of(name, text::setup::words_other()) => return Answer::Other,
        _ => {}
    }
    let called = called();
    let mut called = called.split('|').filter_map(|pair| pair.split_once('='));
    let called = called.find(|(called, _)| *called == name).map(|(_, name)| name);
    let known = called.unwrap_or(&name);
    if providers().any(|provider| provider.name == known) {
        return Answer::Choice(Choice::Known(known.to_owned()));
    }
    match answer.trim() {
        url if is_address(url) => Answer::Choice(Choice::At(url.to_owned())),
        key if redact::looks_like_a_key(key) => Answer::IsKey,
        _ => Answer::Unknown,
    }
}

/// What people call providers, in any language and in lower case: `name=provider|…`.
fn called() -> String {
    text::setup::called().in_lang(Lang::En)
}

pub(super) fn is_one_of(name: &str, words: text::Text) -> bool {
    words.in_lang(Lang::En).split('|').any(|word| word == name)
}

/// A full-width digit or letter as the plain one.
fn half_width(c: char) -> char {
    match u32::from(c) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Asks whose model is to be used.
pub(super) async fn provider(app: &Console, local: Option<&LocalModels>) -> Choice {
    show(app, local);
    let prompt = app.text(text::setup::prompt());
    loop {
        let Some(answer) = terminal::ask(&prompt).await else { return Choice::Nothing };
        match understood(&answer) {
            Answer::Choice(Choice::Local) if local.is_none() => {
                terminal::complain(&app.text(text::setup::local_none()));
            }
            Answer::Choice(choice) => return choice,
            Answer::Other => match address(app).await {
                Some(url) => return Choice::At(url),
                None => return Choice::Nothing,
            },
            Answer::IsKey => is_key(app, &answer),
            Answer::Unknown => terminal::complain(&app.text(text::setup::no_provider())),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_known_by_its_number_and_by_every_name_people_have_for_it() {
        for (answer, provider) in [
            ("1", "deepseek"),
            ("２", "qwen"),
            ("3.", "glm"),
            ("DeepSeek", "deepseek"),
            ("深度求索", "deepseek"),
            ("通义", "qwen"),
            ("通义千问", "qwen"),
            ("智谱", "glm"),
            ("月之暗面", "moonshot"),
            ("Kimi", "moonshot"),
            ("qwen-intl", "qwen-intl"),
            ("Claude", "anthropic"),
            ("openrouter", "openrouter"),
            ("ollama", "ollama"),
        ] {
            let known = Answer::Choice(Choice::Known(provider.to_owned()));
            assert_eq!(understood(answer), known, "{answer}");
        }
        assert_eq!(understood(""), Answer::Choice(Choice::Nothing));
        assert_eq!(understood("8"), Answer::Choice(Choice::Local));
        assert_eq!(understood("其他"), Answer::Other);
        let at = Answer::Choice(Choice::At("http://h:1/v1".to_owned()));
        assert_eq!(understood("http://h:1/v1"), at);
        assert_eq!(understood("sk-abcdef0123456789"), Answer::IsKey);
        assert_eq!(understood("nonsense"), Answer::Unknown);
        for pair in called().split('|') {
            let (_, name) = pair.split_once('=').unwrap();
            assert!(providers().any(|known| known.name == name), "{name}");
        }
    }
}
