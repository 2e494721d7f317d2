//! Whether the model that was chosen answers.

use everloop_app::frames::default_model;
use everloop_app::models::trial::{FirstWordError, first_word};
use everloop_app::trouble::ModelTrouble;
use everloop_console::{Console, terminal, trouble};
use everloop_text as text;
use everloop_types::ModelErrorKind;

/// What has to be asked for again where a model does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialProblem {
    Key,
    Name,
    /// Nothing that another answer would mend for certain.
    Other,
}

/// Asks for one word and tells how long the first one took. A failure changes nothing. Where a
/// person has just typed key and address, it is not said where they came from.
pub(super) async fn tell(app: &Console, is_typed: bool) -> Result<(), TrialProblem> {
    let name = default_model(app);
    let marks = terminal::marks();
    match first_word(app, &name).await {
        Ok(took) => {
            let seconds = format!("{:.1}", took.as_secs_f64());
            let shown = name.split_once('/').map_or(name.as_str(), |(_, model)| model);
            let works = text::setup::Works { mark: &marks.done, name: &shown, seconds: &seconds };
            terminal::eprint_line(&app.text(works.text()));
            Ok(())
        }
        Err(error) => {
            let detail = match &error {
                FirstWordError::Secret(error) => error.words(app.lang),
                FirstWordError::Model(error) => {
                    trouble::facts(app, &ModelTrouble::of(app, &name, error))
                }
                FirstWordError::TooSlow(seconds) => app.text(text::setup::too_slow(seconds)),
            };
            let detail = match is_typed {
                true => detail.lines().next().unwrap_or_default().to_owned(),
                false => detail,
            };
            let fails =
                text::setup::DoesNotWork { mark: &marks.failed, name: &name, detail: &detail };
            terminal::eprint_line(&app.text(fails.text()));
            Err(TrialProblem::of(&error))
        }
    }
}

impl TrialProblem {
    fn of(error: &FirstWordError) -> Self {
        match error {
            FirstWordError::Model(error) if error.is_about_the_key() => Self::Key,
            FirstWordError::Model(error) if error.kind == ModelErrorKind::NotFound => Self::Name,
            FirstWordError::Secret(_) => Self::Key,
            FirstWordError::Model(_) | FirstWordError::TooSlow(_) => Self::Other,
        }
    }
}
