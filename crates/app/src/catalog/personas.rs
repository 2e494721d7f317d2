//! How the assistant may speak.

use crate::app::App;
use crate::briefing;
use crate::context::personas::Persona;
use crate::error::AppError;
use everloop_text as text;
use serde::Serialize;

/// One persona.
#[derive(Debug, Clone, Serialize)]
pub struct PersonaInfo {
    /// Its name.
    pub name: String,
    /// What it is like, in one line.
    pub description: String,
    /// Whether it is the one that the settings choose.
    pub default: bool,
    /// Whether it comes with the program.
    pub built_in: bool,
    /// The tools that it works with; empty for all.
    pub tools: Vec<String>,
    /// In place of `model.temperature`.
    pub temperature: Option<f64>,
    /// In place of `model.max_tokens`.
    pub max_tokens: Option<u32>,
    /// What the model is told.
    pub text: String,
}

/// All personas of this home.
#[must_use]
pub fn persona_infos(app: &App) -> Vec<PersonaInfo> {
    briefing::personas(app).all.iter().map(|persona| info(app, persona)).collect()
}

/// The persona of that name.
///
/// # Errors
/// [`ChoiceError::UnknownPersona`](crate::ChoiceError::UnknownPersona), or
/// [`ChoiceError::PersonaTool`](crate::ChoiceError::PersonaTool).
pub fn persona_info(app: &App, name: &str) -> Result<PersonaInfo, AppError> {
    Ok(info(app, &briefing::persona(app, Some(name))?))
}

fn info(app: &App, persona: &Persona) -> PersonaInfo {
    // Those that are built in have their line in the catalog of texts.
    let description = match &persona.file {
        Some(_) => persona.description.clone(),
        None => text::persona::is::named(&persona.name)
            .map(|text| text.in_lang(app.lang))
            .unwrap_or_default(),
    };
    PersonaInfo {
        name: persona.name.clone(),
        description,
        default: persona.name == app.settings.persona.default.as_str(),
        built_in: persona.file.is_none(),
        tools: persona.tools.clone(),
        temperature: persona.temperature_milli.map(|milli| f64::from(milli) / 1_000.0),
        max_tokens: persona.max_tokens,
        text: persona.text.clone(),
    }
}
