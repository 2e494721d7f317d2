//! What an answer to "whose model?" means: a number, or a name that people have for a provider.

use super::is_address;
use crate::settings::redact;
use everloop_models::providers;
use everloop_text as text;
use everloop_types::Lang;

/// The name of an endpoint that has no other.
pub const CUSTOM_PROVIDER: &str = "custom";

/// Those that are listed, in this order; every other one is taken by its name.
const LISTED: [&str; 13] = [
    "openai",
    "anthropic",
    "gemini",
    "deepseek",
    "qwen",
    "qwen-intl",
    "glm",
    "glm-intl",
    "moonshot",
    "moonshot-intl",
    "openrouter",
    "ollama",
    "llamacpp",
];

/// The numbers behind them: what is found on this machine, and any address.
const LOCAL: usize = LISTED.len() + 1;
const OTHER: usize = LISTED.len() + 2;

/// The providers that are listed, in their order, each with the name that people know.
pub fn listed_providers(lang: Lang) -> impl Iterator<Item = (&'static str, String)> {
    let lines = text::setup::providers().in_lang(lang);
    let labels: Vec<String> = lines.lines().map(label).collect();
    LISTED.into_iter().zip(labels)
}

/// A line of the list without its number.
fn label(line: &str) -> String {
    let name = line.split_once(". ").map_or(line, |(_, name)| name);
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The provider that was chosen.
#[derive(Debug, PartialEq, Eq)]
pub enum ProviderChoice {
    /// One whose address is known, by its name.
    Known(String),
    /// An OpenAI-compatible endpoint at this address.
    At(String),
    /// What was found on this machine.
    Local,
    /// None.
    Nothing,
}

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
pub enum ProviderAnswer {
    /// Somebody's model.
    Choice(ProviderChoice),
    /// An endpoint whose address is to be asked for.
    NeedsAddress,
    /// It is a key, which was not asked for.
    IsKey,
    /// It is not understood.
    Unknown,
}

impl ProviderAnswer {
    /// Reads an answer.
    #[must_use]
    pub fn read(answer: &str) -> Self {
        let name = plain_answer(answer);
        let number = name.trim_end_matches(['.', '。', '、']).parse::<usize>();
        match number {
            Ok(0) => return Self::Choice(ProviderChoice::Nothing),
            Ok(LOCAL) => return Self::Choice(ProviderChoice::Local),
            Ok(OTHER) => return Self::NeedsAddress,
            Ok(number) => {
                let listed = LISTED.get(number - 1).map(|name| (*name).to_owned());
                let choice = listed.map(|name| Self::Choice(ProviderChoice::Known(name)));
                return choice.unwrap_or(Self::Unknown);
            }
            Err(_) => {}
        }
        match name.as_str() {
            "" => return Self::Choice(ProviderChoice::Nothing),
            name if is_one_of(name, text::setup::words_local()) => {
                return Self::Choice(ProviderChoice::Local);
            }
            name if is_one_of(name, text::setup::words_other()) => return Self::NeedsAddress,
            _ => {}
        }
        let known = provider_called(&name).unwrap_or(name);
        if providers().any(|provider| provider.name == known) {
            return Self::Choice(ProviderChoice::Known(known));
        }
        match answer.trim() {
            url if is_address(url) => Self::Choice(ProviderChoice::At(url.to_owned())),
            key if redact::looks_like_a_key(key) => Self::IsKey,
            _ => Self::Unknown,
        }
    }
}

/// A language by its number or by a name that people use.
#[must_use]
pub fn read_language(answer: &str) -> Option<Lang> {
    let answer = answer.trim().to_lowercase();
    match answer.as_str() {
        name if is_one_of(name, text::setup::words_zh()) => Some(Lang::ZhCn),
        name if is_one_of(name, text::setup::words_en()) => Some(Lang::En),
        other => Lang::parse(other),
    }
}

/// The provider that people call so, in any language and in lower case.
#[must_use]
pub fn provider_called(name: &str) -> Option<String> {
    let names = text::setup::called().in_lang(Lang::En);
    let mut pairs = names.split('|').filter_map(|pair| pair.split_once('='));
    pairs.find(|(other, _)| *other == name).map(|(_, known)| known.to_owned())
}

fn is_one_of(name: &str, words: text::Text) -> bool {
    words.in_lang(Lang::En).split('|').any(|word| word == name)
}

/// A short answer as it is compared: in lower case, with plain letters and digits.
#[must_use]
pub fn plain_answer(answer: &str) -> String {
    answer.trim().to_lowercase().chars().map(half_width).collect()
}

/// A full-width digit or letter as the plain one.
fn half_width(c: char) -> char {
    match u32::from(c) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_provider_has_a_label_without_its_number() {
        for lang in [Lang::En, Lang::ZhCn] {
            let all: Vec<_> = listed_providers(lang).collect();
            assert_eq!(all.len(), LISTED.len());
            assert_eq!(all[0], ("openai", "OpenAI".to_owned()));
            assert!(all.iter().all(|(_, label)| !label.starts_with(|c: char| c.is_ascii_digit())));
        }
    }

    #[test]
    fn a_provider_is_known_by_its_number_and_by_every_name_people_have_for_it() {
        for (answer, provider) in [
            ("4", "deepseek"),
            ("５", "qwen"),
            ("8.", "glm-intl"),
            ("13", "llamacpp"),
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
            let known = ProviderAnswer::Choice(ProviderChoice::Known(provider.to_owned()));
            assert_eq!(ProviderAnswer::read(answer), known, "{answer}");
        }
        let at = ProviderChoice::At("http://h:1/v1".to_owned());
        for (answer, meaning) in [
            ("", ProviderAnswer::Choice(ProviderChoice::Nothing)),
            ("14", ProviderAnswer::Choice(ProviderChoice::Local)),
            ("15", ProviderAnswer::NeedsAddress),
            ("16", ProviderAnswer::Unknown),
            ("其他", ProviderAnswer::NeedsAddress),
            ("http://h:1/v1", ProviderAnswer::Choice(at)),
            ("sk-abcdef0123456789", ProviderAnswer::IsKey),
            ("nonsense", ProviderAnswer::Unknown),
        ] {
            assert_eq!(ProviderAnswer::read(answer), meaning, "{answer}");
        }
        for pair in text::setup::called().in_lang(Lang::En).split('|') {
            let (_, name) = pair.split_once('=').unwrap();
            assert!(providers().any(|known| known.name == name), "{name}");
        }
    }
}
