//! Errors of facts as sentences and exit codes.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::facts::status_text;
use everloop_app::facts::{FactDecision, FactError, short_id};
use everloop_text as text;

/// Why a fact was not written or changed.
pub(super) fn of_fact(app: &Console, error: &FactError) -> Failure {
    let (exit, text) = match error {
        FactError::NotFound(id) => (Exit::Usage, text::facts::not_found(id)),
        FactError::Ambiguous { id, all } => {
            let all: Vec<&str> = all.iter().map(|id| id.as_str()).collect();
            (Exit::Usage, text::facts::ambiguous(id, &all.join(", ")))
        }
        FactError::Empty => (Exit::Usage, text::facts::empty()),
        FactError::TooLong { chars, most } => (Exit::Usage, text::facts::too_long(chars, most)),
        FactError::TooMany(most) => (Exit::Limit, text::facts::too_many(most)),
        FactError::WrongStatus { id, status, wanted } => {
            let (id, status) = (short_id(id), app.text(status_text(*status)));
            let text = match wanted {
                FactDecision::Reject => text::facts::wrong_status::reject(&id, &status),
                FactDecision::Accept | FactDecision::Withdraw => {
                    text::facts::wrong_status::other(&id, &status)
                }
            };
            (Exit::Failed, text)
        }
        FactError::Changed(id) => (Exit::Failed, text::facts::changed(&short_id(id))),
    };
    app.failure(exit, text)
}
