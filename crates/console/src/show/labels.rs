//! What a run has read, for people and for scripts.

use crate::console::Console;
use everloop_text::{self as text, TextOf};
use everloop_types::{Taint, one_line};

/// The line of `runs show`, if the run holds anything.
pub fn labels_line(app: &Console, holding: &Taint) -> Option<String> {
    let parts: [(TextOf, _); 3] = [
        (text::runs::labels_private, &holding.private),
        (text::runs::labels_untrusted, &holding.untrusted),
        (text::runs::labels_released, &holding.released),
    ];
    let parts = parts.into_iter().filter(|(_, sources)| !sources.is_empty());
    let parts: Vec<String> =
        parts.map(|(key, sources)| app.text(key(&one_line(&sources.join("; "))))).collect();
    let value = parts.join(", ");
    (!value.is_empty()).then(|| app.text(text::runs::show_labels(&value)))
}
