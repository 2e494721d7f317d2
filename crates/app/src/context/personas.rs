//! Personas: how the assistant speaks, and what it works with by default.

use super::front_matter;
use everloop_types::Lang;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of one persona's file.
const PERSONA_BYTES_MAX: u64 = 16 * 1_024;

/// Files that are read of a folder.
const PERSONAS_MAX: usize = 100;

/// The name of the one that is there if nobody has chosen another.
pub(crate) const DEFAULT: &str = "default";

/// A name, and its file in English and in Chinese.
macro_rules! built_in {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("personas/", $name, ".md")),
            include_str!(concat!("personas/zh/", $name, ".md")),
        )
    };
}

const BUILT_IN: [(&str, &str, &str); 5] = [
    built_in!("default"),
    built_in!("concise"),
    built_in!("coder"),
    built_in!("analyst"),
    built_in!("teacher"),
];

/// One persona.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Persona {
    /// Its name: that of its file.
    pub name: String,
    /// What it is like, in one line; those that are built in have theirs in the catalog.
    pub description: String,
    /// What the model is told.
    pub text: String,
    /// The tools that it works with; empty for all.
    pub tools: Vec<String>,
    /// Thousandths, in place of `model.temperature`.
    pub temperature_milli: Option<u32>,
    /// In place of `model.max_tokens`.
    pub max_tokens: Option<u32>,
    /// The file of a persona of the user's.
    pub file: Option<PathBuf>,
}

/// Why a persona cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PersonaError {
    /// It cannot be read.
    #[error("it cannot be read")]
    Unreadable(#[source] std::io::Error),
    /// It is longer than one may be.
    #[error("it has more than {PERSONA_BYTES_MAX} bytes")]
    TooLarge,
    /// A number that is none, or out of bounds.
    #[error("{0} is no number that fits")]
    Number(&'static str),
}

/// All personas, by name, and what cannot be used.
#[derive(Debug, Default)]
pub(crate) struct Personas {
    /// Those that are built in first.
    pub all: Vec<Persona>,
    /// Files that cannot be used, and why.
    pub bad: Vec<(PathBuf, PersonaError)>,
}

impl Personas {
    /// Those that are built in, in the person's language, and those of a folder; of the same name,
    /// the folder's.
    #[must_use]
    pub(crate) fn find(folder: &Path, lang: Lang) -> Self {
        let built_in = BUILT_IN.iter().filter_map(|(name, en, zh)| {
            let text = if lang == Lang::ZhCn { zh } else { en };
            Persona::parse(name, text).ok()
        });
        let mut found = Self { all: built_in.collect(), bad: Vec::new() };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
        files.sort();
        for file in files.into_iter().take(PERSONAS_MAX) {
            match Persona::read(&file) {
                Ok(persona) => found.take(persona),
                Err(why) => found.bad.push((file, why)),
            }
        }
        found
    }

    fn take(&mut self, persona: Persona) {
        match self.all.iter_mut().find(|known| known.name == persona.name) {
            Some(known) => *known = persona,
            None => self.all.push(persona),
        }
    }

    /// The persona of that name.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> Option<&Persona> {
        self.all.iter().find(|persona| persona.name == name)
    }
}

impl Persona {
    fn read(file: &Path) -> Result<Self, PersonaError> {
        let mut text = String::new();
        let opened = File::open(file).map_err(PersonaError::Unreadable)?;
        let read = opened.take(PERSONA_BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(PersonaError::Unreadable)?;
        if text.len() as u64 > PERSONA_BYTES_MAX {
            return Err(PersonaError::TooLarge);
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self { file: Some(file.to_owned()), ..Self::parse(&name, &text)? })
    }

    /// A file without front matter is all text.
    fn parse(name: &str, text: &str) -> Result<Self, PersonaError> {
        let (fields, body) =
            front_matter::split(text).unwrap_or_else(|| (Default::default(), text));
        let temperature = fields.text("temperature").map(milli).transpose()?;
        let max_tokens = fields.text("max_tokens").map(str::parse).transpose();
        Ok(Self {
            name: name.to_owned(),
            description: fields.text("description").unwrap_or_default().to_owned(),
            text: body.trim().to_owned(),
            tools: fields.list("tools"),
            temperature_milli: temperature,
            max_tokens: max_tokens.map_err(|_| PersonaError::Number("max_tokens"))?,
            file: None,
        })
    }
}

/// A temperature in thousandths: from 0 to 2.
fn milli(text: &str) -> Result<u32, PersonaError> {
    let wrong = || PersonaError::Number("temperature");
    let value: f64 = text.parse().map_err(|_| wrong())?;
    match (0.0..=2.0).contains(&value) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2000")]
        true => Ok((value * 1_000.0).round() as u32),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::Personas;
    use everloop_types::Lang;
    use std::path::Path;

    #[test]
    fn those_that_are_built_in_are_the_same_in_both_languages_but_for_the_words() {
        let of = |lang| Personas::find(Path::new("/nowhere"), lang).all;
        let (english, chinese) = (of(Lang::En), of(Lang::ZhCn));
        assert_eq!((english.len(), chinese.len()), (5, 5));
        for (en, zh) in english.iter().zip(&chinese) {
            assert_eq!((&en.name, &en.tools), (&zh.name, &zh.tools));
            assert_eq!(en.temperature_milli, zh.temperature_milli, "{}", en.name);
            assert!(en.text.is_ascii() && !zh.text.is_ascii(), "{}", en.name);
        }
    }
}
