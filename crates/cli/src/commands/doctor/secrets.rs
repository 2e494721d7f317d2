//! Whether every secret that the settings refer to can be had. None is shown.

use super::{Check, Report, State};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::of_notice;
use everloop_app::Notice;
use everloop_app::secrets::{learn_all, references};
use everloop_text as text;

pub(super) fn secrets(app: &Console, report: &mut Report) {
    let count = references(&app.settings).len();
    if count == 0 {
        return;
    }
    let missing = learn_all(&app.settings).into_iter();
    let missing: Vec<String> =
        missing.map(|(key, error)| of_notice(app.lang, &Notice::Secret { key, error }).0).collect();
    let detail = app.text(text::doctor::secrets_detail(&count));
    let good = |detail: String| Check::good(app, "secrets", text::doctor::secrets(), detail);
    report.note("secrets", count);
    report.note("secrets_missing", missing.clone());
    report.checks.push(match missing.is_empty() {
        true => good(detail),
        false => good(missing.len().to_string())
            .but(State::Wrong(Exit::Configuration), missing.join("\n")),
    });
}
