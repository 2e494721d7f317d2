//! Whether the model that was chosen answers.

use crate::console::Console;
use crate::terminal;
use crate::trouble;
use everloop_app::frames::default_model;
use everloop_app::models::trial::{FirstWordError, first_word};
use everloop_app::trouble::{AdviceFor, ModelTrouble};
use everloop_text as text;

/// Asks for one word and tells how long the first one took. A failure changes nothing.
pub(super) async fn tell(app: &Console) {
    let name = default_model(app);
    let marks = terminal::marks();
    let words = match first_word(app, &name).await {
        Ok(took) => {
            let seconds = format!("{:.1}", took.as_secs_f64());
            let shown = name.split_once('/').map_or(name.as_str(), |(_, model)| model);
            app.text(
                text::setup::Works { mark: &marks.done, name: &shown, seconds: &seconds }.text(),
            )
        }
        Err(error) => {
            let detail = match &error {
                FirstWordError::Secret(error) => error.words(app.lang),
                FirstWordError::Model(error) => {
                    trouble::words(app, &ModelTrouble::of(app, &name, error), AdviceFor::Shell)
                }
                FirstWordError::TooSlow(seconds) => app.text(text::setup::too_slow(seconds)),
            };
            app.text(
                text::setup::DoesNotWork { mark: &marks.failed, name: &name, detail: &detail }
                    .text(),
            )
        }
    };
    terminal::complain(&words);
}
