//! A model that is added in one go, as a page does it: nothing is written before it has answered.

use super::{
    ChosenProvider, NameProblem, SetupDraft, TypedNames, full_name, is_address, needs_no_key,
};
use crate::app::App;
use crate::error::AppError;
use crate::models::lists;
use crate::models::trial::{ModelTrial, TrialVerdict};
use crate::place::default_name;

/// What a person typed about a model.
#[derive(Debug, Clone, Default)]
pub struct ModelToAdd {
    /// As in `provider/model`.
    pub provider: String,
    /// Empty for the provider's usual address.
    pub url: String,
    /// Empty where none is needed, or where one is there already.
    pub key: String,
    /// Empty for the usual one.
    pub name: String,
    /// A name that nobody offers and that is meant all the same.
    pub insists: bool,
}

/// A model that was added.
pub struct AddedModel {
    /// Its full name.
    pub name: String,
    /// What its trial found.
    pub trial: ModelTrial,
    /// Whether a variable or a flag names another one, which goes first.
    pub is_overridden: bool,
}

/// Why a model was not added. The settings are as they were.
pub enum AddModelError {
    /// The address is none.
    NoAddress,
    /// The provider refuses the key; what it says.
    KeyRefused(String),
    /// Which of these models.
    NeedsName(Vec<String>),
    /// The name cannot be used; what is offered.
    Name(NameProblem, Vec<String>),
    /// It does not answer.
    Silent(Box<ModelTrial>),
    /// Something else.
    App(Box<AppError>),
}

impl From<AppError> for AddModelError {
    fn from(error: AppError) -> Self {
        Self::App(Box::new(error))
    }
}

impl ModelToAdd {
    /// Tries the model with the key that was typed, and makes it the default one if it answers.
    ///
    /// # Errors
    /// [`AddModelError`].
    pub async fn add(self, app: &App) -> Result<AddedModel, AddModelError> {
        if !self.url.is_empty() && !is_address(&self.url) {
            return Err(AddModelError::NoAddress);
        }
        let (chosen, name) = self.chosen(app).await?;
        let draft = SetupDraft::of(app, &chosen, &name)?;
        // What a variable names is not what is tried here.
        let sources = app.sources.with_text(Some(draft.text().to_owned())).with_model(&name);
        let trial = ModelTrial::run(&app.reread(sources), Some(name.clone())).await?;
        if trial.verdict() == TrialVerdict::Silent {
            return Err(AddModelError::Silent(Box::new(trial)));
        }
        let written = draft.write(app)?;
        let now = app.reread(app.sources.with_text(Some(written.text)));
        let is_overridden = default_name(&now.settings) != name;
        Ok(AddedModel { name, trial, is_overridden })
    }

    /// The provider with what it offers, and the model's full name.
    async fn chosen(&self, app: &App) -> Result<(ChosenProvider, String), AddModelError> {
        let asked = lists::offered_to(app, &self.provider, &self.url, &self.key).await;
        let offered = match asked {
            Ok(offered) => offered,
            Err(error) if error.is_about_the_key() && !needs_no_key(&self.provider) => {
                return Err(AddModelError::KeyRefused(error.detail));
            }
            // It may have no list, or be out of reach: the trial will tell.
            Err(_) => Vec::new(),
        };
        let (provider, url, key) = (self.provider.clone(), self.url.clone(), self.key.clone());
        let chosen = ChosenProvider { provider, url, key, offered };
        let name = match self.name.trim() {
            "" => chosen.sole_model(app),
            name => Some(name.to_owned()),
        };
        let Some(name) = name else { return Err(AddModelError::NeedsName(chosen.offered)) };
        let problem = TypedNames::new(&chosen.offered).check(&name).err();
        match problem.filter(|problem| !(self.insists && *problem == NameProblem::NotOffered)) {
            Some(problem) => Err(AddModelError::Name(problem, chosen.offered)),
            None => {
                let full = full_name(&self.provider, &name, &chosen.offered);
                Ok((chosen, full))
            }
        }
    }
}
