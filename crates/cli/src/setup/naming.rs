//! The name of a model, as a person types it: one word, and one that is known or wanted twice.

use crate::console::Console;
use crate::terminal;
use everloop_app::settings::redact;
use everloop_text as text;

/// Names of models that are shown at once.
const NAMES_SHOWN: usize = 12;

const NAME_CHARS_MAX: usize = 200;

/// A name where nobody says which there are.
const EXAMPLE: &str = "gpt-5-mini";

/// Asks for the name of a model, until it can be one. Nothing if the person gives up on it.
pub(super) async fn asked(app: &Console, offered: &[String]) -> Option<String> {
    if !offered.is_empty() {
        terminal::complain(&app.text(text::setup::offers(&listed(offered))));
    }
    let prompt = app.text(text::setup::model_name());
    let mut names = Names::new(offered);
    loop {
        let name = terminal::ask(&prompt).await.filter(|name| !name.is_empty())?;
        match names.judge(app, &name) {
            Ok(()) => return Some(name),
            Err(words) => terminal::complain(&words),
        }
    }
}

/// The name with the provider in front. What the endpoint itself calls `openai/x` keeps that.
pub(super) fn full(provider: &str, name: &str, offered: &[String]) -> String {
    let has_it = name.split_once('/').is_some_and(|(first, _)| first == provider);
    match has_it && !offered.iter().any(|known| known == name) {
        true => name.to_owned(),
        false => format!("{provider}/{name}"),
    }
}

/// The names that are typed for one question.
pub(super) struct Names<'a> {
    offered: &'a [String],
    /// One that nobody offers; typed again it is meant.
    doubted: Option<String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(offered: &'a [String]) -> Self {
        Self { offered, doubted: None }
    }

    /// Whether a name can be used; else what to say before it is asked for again.
    pub(super) fn judge(&mut self, app: &Console, name: &str) -> Result<(), String> {
        let bare = name.split_once('/').map_or(name, |(_, bare)| bare);
        if self.offered.iter().any(|known| known == name || known == bare) {
            return Ok(());
        }
        if redact::looks_like_a_key(name) {
            return Err(app.text(text::config::is_a_key()));
        }
        if !is_name(name) {
            let example = self.offered.first().map_or(EXAMPLE, String::as_str);
            return Err(app.text(text::setup::name_wrong(&example)));
        }
        if self.offered.is_empty() || self.doubted.as_deref() == Some(name) {
            return Ok(());
        }
        self.doubted = Some(name.to_owned());
        Err(app.text(text::setup::name_unknown(&name, &listed(self.offered))))
    }
}

fn listed(offered: &[String]) -> String {
    offered.iter().take(NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// `model`, `model:tag`, `house/model`: no sentence and no address.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:/@+-".contains(c);
    let parts = || text.split('/');
    text.len() <= NAME_CHARS_MAX
        && text.chars().all(fits)
        && text.chars().any(|c| c.is_ascii_alphanumeric())
        && parts().all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn a_name_is_one_word_and_no_address() {
        for name in ["gpt-5-mini", "qwen2.5:7b", "Qwen/Qwen2.5-7B-Instruct", "claude@20250101"] {
            assert!(is_name(name), "{name}");
        }
        for text in [
            "the cheap one please",
            "随便用一个便宜的",
            "gpt 5",
            "http://h/v1",
            "a/",
            "",
            "---",
            "gpt-5，谢谢",
        ] {
            assert!(!is_name(text), "{text}");
        }
    }
}
