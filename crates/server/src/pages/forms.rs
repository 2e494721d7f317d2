//! What forms send, and the answers to questions.

use super::asks::{self, is_of_ended_run};
use super::frame::PageRequest;
use super::respond::see_other;
use super::session::PageSession;
use crate::json::PathOf;
use crate::problem::{Problem, ProblemCode};
use crate::routes::interrupts::{InterruptAction, InterruptAnswer, parse_interrupt_id};
use crate::routes::messages::run_row;
use crate::state::ServerState;
use axum::extract::{FromRequest, Request, State};
use axum::response::Response;
use everloop_app::answers::AnswerError;
use everloop_app::interrupts;
use everloop_app::settling::{self, SettleWord};
use everloop_engine::SettleResult;
use everloop_pages::parts::say;
use everloop_store::RunRow;
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::SettledOutcome;
use std::collections::BTreeMap;

/// The header in which scripts send the token.
const TOKEN_HEADER: &str = "x-csrf-token";

/// The fields of a form whose token is right.
pub(crate) struct FormFields(BTreeMap<String, String>);

/// The path, if it is one of this server.
pub(crate) fn local_path(path: &str) -> &str {
    let is_local = path.starts_with('/')
        && !path.starts_with("//")
        && !path.contains('\\')
        && path.bytes().all(|byte| byte.is_ascii_graphic());
    if is_local { path } else { "/" }
}

impl FormFields {
    /// A field; empty if it is not there.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A field that has something in it.
    pub(crate) fn some(&self, name: &str) -> Option<String> {
        let value = self.get(name).trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The page that the form stands on.
    pub(crate) fn back(&self) -> &str {
        local_path(self.get("back"))
    }
}

/// Refuses a request of a script that does not bring the token of its session.
///
/// # Errors
/// [`ProblemCode::ForbiddenOrigin`].
pub(crate) fn check_token(
    session: &PageSession,
    headers: &axum::http::HeaderMap,
) -> Result<(), Problem> {
    match has_token(session, sent_token(headers)) {
        true => Ok(()),
        false => Err(ProblemCode::ForbiddenOrigin.because("the token of the page is missing")),
    }
}

/// Whether a request comes from a page of this session.
fn has_token(session: &PageSession, given: Option<&str>) -> bool {
    let digest = |text: &str| blake3::hash(text.as_bytes());
    given.is_some_and(|given| digest(given) == digest(&session.csrf))
}

/// The token that a script sent.
pub(super) fn sent_token(headers: &axum::http::HeaderMap) -> Option<&str> {
    headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok())
}

impl FromRequest<ServerState> for FormFields {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, Problem> {
        let session = request.extensions().get::<PageSession>().cloned();
        let header = sent_token(request.headers()).map(str::to_owned);
        let form = axum::Form::<Vec<(String, String)>>::from_request(request, state).await;
        let axum::Form(fields) =
            form.map_err(|refused| ProblemCode::BadRequest.because(refused.body_text()))?;
        Self(fields.into_iter().collect()).checked(session.as_ref(), header.as_deref())
    }
}

impl FormFields {
    /// The fields, if the token that came with them is that of the session.
    pub(super) fn checked(
        self,
        session: Option<&PageSession>,
        header: Option<&str>,
    ) -> Result<Self, Problem> {
        if let Some(session) = session {
            let given = header.or_else(|| Some(self.get("csrf")));
            if !has_token(session, given) {
                return Err(ProblemCode::ForbiddenOrigin.because("the token of the form is wrong"));
            }
        }
        Ok(self)
    }

    /// Fields that came in another form.
    pub(super) fn of(fields: BTreeMap<String, String>) -> Self {
        Self(fields)
    }
}

/// The answer that a button and the fields beside it mean.
fn answer_of(fields: &FormFields) -> Result<InterruptAnswer, Problem> {
    let choice = fields.get("choice");
    let (verb, rest) = choice.split_once(':').unwrap_or((choice, ""));
    let action = match verb {
        "accept" => InterruptAction::Accept,
        "always" => InterruptAction::AcceptAlways,
        "edit" => InterruptAction::Edit,
        "decline" | "respond_no" => InterruptAction::Decline,
        // A field that is sent with Enter has no button.
        "respond" | "" => InterruptAction::Respond,
        _ => return Err(Problem::of_field("choice", choice)),
    };
    let text = match verb {
        "edit" => fields.some("edited"),
        "respond_no" => fields.some("reason"),
        "always" | "respond" if !rest.is_empty() => Some(rest.to_owned()),
        // Words of one's own count more than an option that was chosen before.
        _ => fields.some("text").or_else(|| fields.some("pick")),
    };
    Ok(InterruptAnswer { action, text })
}

/// Records what became of a call whose outcome is unknown, or looks first. If nothing is found the
/// question stays, and the page says so.
async fn settle(
    state: &ServerState,
    request: &PageRequest,
    id: &str,
    word: SettleWord,
    back: &str,
) -> Result<(), Problem> {
    let (row, open) = asks::call_of(state, id).await?;
    let Some(open) = open else {
        tell(state, request, &row, back, words::ask::was_answered());
        return Ok(());
    };
    let report = settling::settle(state.engine(), &open, word).await?;
    let said = match &report.settling {
        Some((_, SettleResult::Already(_) | SettleResult::NotOpen)) => words::ask::was_answered(),
        Some((settled, _)) => settled_words(Some(*settled)),
        None => settled_words(None),
    };
    tell(state, request, &row, back, said);
    Ok(())
}

/// What was recorded about a call.
pub(super) fn settled_words(settled: Option<SettledOutcome>) -> Text {
    match settled {
        Some(SettledOutcome::Happened) => words::ask::recorded_happened(),
        Some(SettledOutcome::Not) => words::ask::recorded_not(),
        None => words::ask::still_unknown(),
    }
}

/// Says on the page that a form stands on what it came to.
pub(super) fn tell(
    state: &ServerState,
    request: &PageRequest,
    row: &RunRow,
    back: &str,
    said: Text,
) {
    let page = if back.starts_with("/inbox") {
        "inbox".to_owned()
    } else if back.starts_with("/runs/") {
        format!("run:{}", row.run)
    } else {
        format!("chat:{}", row.conversation)
    };
    state.flashes.put(request.session_name(), &page, say(request.lang(), said));
}

/// What an answer says of a call whose outcome is unknown.
fn settle_word(choice: &str) -> Option<SettleWord> {
    match choice {
        "probe" => Some(SettleWord::Probe),
        "respond:happened" => Some(SettleWord::Happened),
        "respond:not" => Some(SettleWord::DidNot),
        _ => None,
    }
}

pub(crate) async fn answer(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let word = settle_word(fields.get("choice"));
    if let Some(word) = word.filter(|word| *word == SettleWord::Probe || is_of_ended_run(&id)) {
        settle(&state, &request, &id, word, fields.back()).await?;
        return Ok(see_other(fields.back()));
    }
    let (run, question) = parse_interrupt_id(&id)?;
    let row = run_row(&state, &run).await?;
    let intent = answer_of(&fields)?.intent()?;
    match interrupts::answer(&state.app, state.engine(), &run, question, &intent).await {
        Ok(()) => Ok(see_other(fields.back())),
        // Somebody else was faster: the page says so, and shows what they said.
        Err(AnswerError::AsksNothing | AnswerError::OtherQuestion(_)) => {
            tell(&state, &request, &row, fields.back(), words::ask::was_answered());
            Ok(see_other(fields.back()))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_only_to_pages_of_this_server() {
        assert_eq!(local_path("/runs/run_1?at=3"), "/runs/run_1?at=3");
        for bad in
            ["", "//evil.example", "https://evil.example", "/\\evil", "/a\nb", "javascript:x"]
        {
            assert_eq!(local_path(bad), "/", "{bad}");
        }
    }
}
