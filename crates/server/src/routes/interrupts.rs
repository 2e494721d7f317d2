//! Questions that wait for a person: permissions, questions of a model, calls to settle.

use super::{JsonObject, ListPage, run_id};
use crate::api::Api;
use crate::json::{Body, PathOf, QueryOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::State;
use everloop_app::answers::AnswerIntent;
use everloop_app::interrupts::{self, OpenInterrupt, PastInterrupt};
use everloop_app::show::timestamp;
use everloop_types::{ApprovalScope, Question, QuestionKind, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A question that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Interrupt")]
pub(crate) struct ApiInterrupt {
    /// Its id.
    id: String,
    /// The run that asks.
    run_id: String,
    /// The conversation of the run.
    conversation_id: String,
    /// `ask`, `approve` or `settle`.
    kind: String,
    /// The question, as a person reads it.
    message: String,
    /// What is to be approved: the tool, the command or the diff, and what "always" may cover.
    request: Option<JsonObject>,
    /// What can be done about it.
    actions: Vec<&'static str>,
    /// The answers that it takes, one by one; empty if any words will do.
    options: Vec<InterruptOption>,
    /// `open`, `answered`, or `closed` if its run ended without an answer.
    status: &'static str,
    /// The answer, as the run got it.
    answer: Option<String>,
    /// When it was answered.
    answered_at: Option<String>,
}

/// An answer that a question takes, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct InterruptOption {
    /// The action.
    action: &'static str,
    /// The text that goes with it: what "always" covers, or what is known of a call.
    text: Option<&'static str>,
}

impl InterruptOption {
    fn plain(action: &'static str) -> Self {
        Self { action, text: None }
    }

    /// Those of a question.
    fn of(question: &Question) -> Vec<Self> {
        let respond = |word| Self { action: "respond", text: Some(word) };
        match question.kind {
            QuestionKind::Ask => Vec::new(),
            QuestionKind::Settle => ["happened", "not", "unknown"].map(respond).to_vec(),
            QuestionKind::Approve => {
                let request = question.request.as_deref();
                let scopes = request.map_or(&[][..], |request| &request.scopes);
                let always = |scope: &ApprovalScope| Self {
                    action: "accept_always",
                    text: Some(scope.word()),
                };
                let editable = request.and_then(|request| request.editable.as_ref());
                let edit = editable.map(|_| Self::plain("edit"));
                let first = std::iter::once(Self::plain("accept"));
                let all = first.chain(scopes.iter().map(always)).chain(edit);
                all.chain([Self::plain("decline")]).collect()
            }
        }
    }
}

/// Which questions are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InterruptParams {
    /// `open`, as without it, or `answered`: those that were answered last.
    status: Option<String>,
    /// Only those of this conversation.
    conversation_id: Option<String>,
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InterruptAnswer {
    /// What is done.
    pub(crate) action: InterruptAction,
    /// The words: an answer, a reason, a changed command, or what "always" covers.
    pub(crate) text: Option<String>,
}

/// What is done about a question.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InterruptAction {
    /// Allows a call once.
    Accept,
    /// Allows it from now on.
    AcceptAlways,
    /// Allows it, changed.
    Edit,
    /// Answers in words.
    Respond,
    /// Does not allow it.
    Decline,
}

pub(crate) fn add(api: &mut Api) {
    let list = Operation::get("/v1/interrupts", "Questions that wait for a person")
        .query::<InterruptParams>()
        .answers::<ListPage<ApiInterrupt>>(200);
    api.route(list, list_interrupts);
    let get = Operation::get("/v1/interrupts/{id}", "One question, open or answered");
    api.route(get.answers::<ApiInterrupt>(200), get_interrupt);
    let path = "/v1/interrupts/{id}/answer";
    let answer = Operation::post(
        path,
        "Answers a question; the first answer counts, and the same one again is the same",
    )
    .body::<InterruptAnswer>()
    .answers::<JsonObject>(200)
    .problems(&[ProblemCode::AlreadyAnswered]);
    api.route(answer, answer_interrupt);
}

impl ApiInterrupt {
    fn of(open: &OpenInterrupt) -> Self {
        let question = &open.question;
        let kind = json!(question.question.kind);
        let kind = kind.as_str().unwrap_or_default().to_owned();
        let actions = match kind.as_str() {
            "approve" => vec!["accept", "accept_always", "edit", "decline"],
            _ => vec!["respond"],
        };
        let request = question.question.request.as_ref().map(|request| JsonObject(json!(request)));
        Self {
            id: open.question.id(),
            run_id: question.run.to_string(),
            conversation_id: open.conversation.to_string(),
            kind,
            message: question.text.clone(),
            request,
            actions,
            options: InterruptOption::of(&question.question),
            status: "open",
            answer: None,
            answered_at: None,
        }
    }

    fn of_past(past: PastInterrupt) -> Self {
        let PastInterrupt { question, conversation, answer, is_open } = past;
        let shown = Self::of(&OpenInterrupt { question, conversation });
        let status = match (&answer, is_open) {
            (Some(_), _) => "answered",
            (None, true) => "open",
            (None, false) => "closed",
        };
        let actions = if is_open { shown.actions } else { Vec::new() };
        let options = if is_open { shown.options } else { Vec::new() };
        let answered_at = answer.as_ref().map(|given| timestamp(given.at));
        let answer = answer.map(|given| given.text);
        Self { status, actions, options, answer, answered_at, ..shown }
    }
}

async fn list_interrupts(
    State(state): State<ServerState>,
    QueryOf(params): QueryOf<InterruptParams>,
) -> Result<Body<ListPage<ApiInterrupt>>, Problem> {
    let mut data: Vec<ApiInterrupt> = match params.status.as_deref().unwrap_or("open") {
        "open" => interrupts::open(state.store()).await?.iter().map(ApiInterrupt::of).collect(),
        "answered" => {
            let past = interrupts::answered(state.store()).await?;
            past.into_iter().map(ApiInterrupt::of_past).collect()
        }
        _ => return Err(Problem::of_field("status", "is open or answered")),
    };
    if let Some(conversation) = &params.conversation_id {
        data.retain(|one| one.conversation_id == *conversation);
    }
    Ok(Body(ListPage { data, next_cursor: None }))
}

async fn get_interrupt(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
) -> Result<Body<ApiInterrupt>, Problem> {
    let (run, question) = parse_interrupt_id(&id)?;
    let found = interrupts::find(state.store(), &run, question).await?;
    found.map(ApiInterrupt::of_past).map(Body).ok_or_else(|| ProblemCode::NotFound.bare())
}

impl InterruptAnswer {
    /// What it means.
    pub(crate) fn intent(&self) -> Result<AnswerIntent, Problem> {
        let said = self.text.as_deref().map(str::trim).filter(|said| !said.is_empty());
        let said = said.map(str::to_owned);
        let missing = || Problem::of_field("text", "is missing");
        Ok(match self.action {
            InterruptAction::Accept => AnswerIntent::Accept,
            InterruptAction::AcceptAlways => AnswerIntent::AcceptAlways(said),
            InterruptAction::Edit => AnswerIntent::Edit(said.ok_or_else(missing)?),
            InterruptAction::Respond => AnswerIntent::Words(said.ok_or_else(missing)?),
            InterruptAction::Decline => AnswerIntent::Decline(said),
        })
    }
}

/// The run and the question that an id names.
pub(crate) fn parse_interrupt_id(id: &str) -> Result<(RunId, &str), Problem> {
    let (run, question) = id.split_once('.').ok_or_else(|| ProblemCode::NotFound.bare())?;
    Ok((run_id(run)?, question))
}

async fn answer_interrupt(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Body(answer): Body<InterruptAnswer>,
) -> Result<Body<JsonObject>, Problem> {
    let (run, question) = parse_interrupt_id(&id)?;
    super::messages::run_row(&state, &run).await?;
    let intent = answer.intent()?;
    interrupts::answer(&state.app, state.engine(), &run, question, &intent).await?;
    Ok(Body(JsonObject(json!({"id": id, "run_id": run, "status": "answered"}))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_the_answers_that_it_takes() {
        let question = |asked: serde_json::Value| -> Vec<(&'static str, Option<&'static str>)> {
            let question: Question = serde_json::from_value(asked).unwrap();
            let options = InterruptOption::of(&question);
            options.iter().map(|option| (option.action, option.text)).collect()
        };
        let asked = |kind: &str| json!({"id": "q", "kind": kind, "call": "c", "text": "?"});
        assert_eq!(question(asked("ask")), []);
        let words = ["happened", "not", "unknown"].map(|word| ("respond", Some(word)));
        assert_eq!(question(asked("settle")), words);
        assert_eq!(question(asked("approve")), [("accept", None), ("decline", None)]);
        let mut shell = asked("approve");
        shell["request"] = json!({"tool": "shell", "folder": "/w", "editable": "command",
            "preview": {"kind": "call"}, "cause": {"kind": "tool"},
            "scopes": [{"scope": "exact", "resource": "args:1"}, {"scope": "conversation"}]});
        let told = question(shell);
        let always = |word| ("accept_always", Some(word));
        let expected =
            [("accept", None), always("exact"), always("here"), ("edit", None), ("decline", None)];
        assert_eq!(told, expected);
    }
}
