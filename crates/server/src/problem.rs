//! Problems (RFC 9457): a stable code, a title in the reader's language, a detail.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everloop_app::answers::AnswerError;
use everloop_app::error::{ConversationError, RunError, chain};
use everloop_app::facts::FactError;
use everloop_app::turns::SendError;
use everloop_app::{AppError, ModelChoiceError};
use everloop_store::StoreError;
use everloop_text as text;
use everloop_types::Lang;
use schemars::JsonSchema;
use serde::Serialize;

/// Where an answer to a request that was refused says why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub(crate) code: ProblemCode,
    pub(crate) detail: Option<String>,
    /// The field that is wrong, if one is.
    pub(crate) field: Option<String>,
    /// Seconds after which it may be tried again.
    pub(crate) retry_after: Option<u64>,
}

/// Every problem that a request can meet. Names never change.
macro_rules! problem_codes {
    ($($code:ident $name:literal $status:ident;)*) => {
        /// What went wrong, as programs read it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ProblemCode { $($code,)* }

        impl ProblemCode {
            /// Every code, for the API's document.
            pub(crate) const ALL: &[Self] = &[$(Self::$code,)*];

            /// The stable name.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            /// The status that goes with it.
            pub(crate) fn status(self) -> StatusCode {
                match self { $(Self::$code => StatusCode::$status,)* }
            }
        }
    };
}

problem_codes! {
    NotFound "not_found" NOT_FOUND;
    NoSuchRoute "no_such_route" NOT_FOUND;
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED;
    Unauthorized "unauthorized" UNAUTHORIZED;
    ForbiddenHost "forbidden_host" FORBIDDEN;
    ForbiddenOrigin "forbidden_origin" FORBIDDEN;
    BadRequest "bad_request" BAD_REQUEST;
    InvalidInput "invalid_input" UNPROCESSABLE_ENTITY;
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE;
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE;
    RequestTimeout "request_timeout" REQUEST_TIMEOUT;
    TooManyRequests "too_many_requests" TOO_MANY_REQUESTS;
    TooManyConnections "too_many_connections" SERVICE_UNAVAILABLE;
    Conflict "conflict" CONFLICT;
    AlreadyAnswered "already_answered" CONFLICT;
    PreconditionFailed "precondition_failed" PRECONDITION_FAILED;
    KeyReused "key_reused" UNPROCESSABLE_ENTITY;
    KeyInUse "key_in_use" CONFLICT;
    BadCursor "bad_cursor" BAD_REQUEST;
    EventAhead "event_ahead" BAD_REQUEST;
    EventsTrimmed "events_trimmed" GONE;
    ChannelUnavailable "channel_unavailable" BAD_GATEWAY;
    ModelUnavailable "model_unavailable" CONFLICT;
    DatabaseUnavailable "database_unavailable" SERVICE_UNAVAILABLE;
    ReadOnly "read_only" SERVICE_UNAVAILABLE;
    Internal "internal" INTERNAL_SERVER_ERROR;
}

/// The body of a problem.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemBody {
    /// `about:blank`: the code says what it is.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// What went wrong, in the reader's language.
    pub(crate) title: String,
    /// The status of the answer.
    pub(crate) status: u16,
    /// What went wrong this time.
    pub(crate) detail: Option<String>,
    /// The path of the request.
    pub(crate) instance: String,
    /// The stable name of the problem.
    pub(crate) code: String,
    /// The fields that are wrong.
    pub(crate) errors: Vec<FieldProblem>,
    /// The id of the request, as in the server's log.
    pub(crate) trace_id: String,
}

/// The body of a problem for clients of other assistants.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FacadeError {
    /// What went wrong.
    pub(crate) error: FacadeErrorBody,
}

/// What went wrong, as clients of other assistants read it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FacadeErrorBody {
    /// What went wrong, in the reader's language.
    pub(crate) message: String,
    /// `invalid_request_error`, `rate_limit_error` or `server_error`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// The stable name of the problem.
    pub(crate) code: String,
    /// The field that is wrong, if one is.
    pub(crate) param: Option<String>,
}

/// A field that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FieldProblem {
    /// The field.
    pub(crate) field: String,
    /// What is wrong with it.
    pub(crate) message: String,
}

impl ProblemCode {
    /// The problem without a detail.
    pub(crate) fn bare(self) -> Problem {
        Problem { code: self, detail: None, field: None, retry_after: None }
    }

    /// The problem with what happened this time.
    pub(crate) fn because(self, detail: impl Into<String>) -> Problem {
        Problem { detail: Some(detail.into()), ..self.bare() }
    }
}

impl Problem {
    /// A field with a value that cannot be used.
    pub(crate) fn of_field(field: &str, detail: impl Into<String>) -> Self {
        let field = Some(field.to_owned());
        Self { field, ..ProblemCode::InvalidInput.because(detail) }
    }

    /// The body, in a language.
    pub(crate) fn body(&self, lang: Lang, instance: &str, trace_id: &str) -> ProblemBody {
        let name = self.code.name();
        let title = text::api::problem::named(name).map(|title| title.in_lang(lang));
        let message = || self.detail.clone().unwrap_or_default();
        let wrong = |field: &String| FieldProblem { field: field.clone(), message: message() };
        ProblemBody {
            kind: "about:blank",
            title: title.unwrap_or_else(|| name.to_owned()),
            status: self.code.status().as_u16(),
            detail: self.detail.clone(),
            instance: instance.to_owned(),
            code: name.to_owned(),
            errors: self.field.iter().map(wrong).collect(),
            trace_id: trace_id.to_owned(),
        }
    }
}

impl Problem {
    /// The body for clients of other assistants, in a language.
    pub(crate) fn facade_body(&self, lang: Lang) -> FacadeError {
        let body = self.body(lang, "", "");
        let message = match body.detail {
            Some(detail) => format!("{}: {detail}", body.title),
            None => body.title,
        };
        let kind = match self.code.status() {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        FacadeError {
            error: FacadeErrorBody { message, kind, code: body.code, param: self.field.clone() },
        }
    }
}

impl IntoResponse for Problem {
    /// Without a body yet: the outermost layer knows the language and the path.
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == ProblemCode::Unauthorized {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response.extensions_mut().insert(std::sync::Arc::new(self));
        response
    }
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        let detail = chain(&error);
        let code = match &error {
            AppError::Store(error) => return of_store(error),
            AppError::Run(RunError::NotFound(_)) => ProblemCode::NotFound,
            AppError::Run(RunError::Type(_)) => ProblemCode::InvalidInput,
            AppError::Run(_) => ProblemCode::Conflict,
            AppError::Conversation(error) => of_conversation(error),
            AppError::Model(ModelChoiceError::NoModel) => ProblemCode::ModelUnavailable,
            AppError::Model(_) | AppError::File(_) => ProblemCode::InvalidInput,
            AppError::Choice(_) => ProblemCode::InvalidInput,
            AppError::Config(error) if error.is_about_the_input() => ProblemCode::InvalidInput,
            AppError::Home(_) | AppError::Setting(_) | AppError::Config(_) | AppError::Copy(_) => {
                ProblemCode::Internal
            }
        };
        code.because(detail)
    }
}

fn of_conversation(error: &ConversationError) -> ProblemCode {
    match error {
        ConversationError::NotFound(_)
        | ConversationError::NoMessage(_)
        | ConversationError::Fact(FactError::NotFound(_) | FactError::Ambiguous { .. }) => {
            ProblemCode::NotFound
        }
        ConversationError::BadTitle(_)
        | ConversationError::RequestId(_)
        | ConversationError::Fact(FactError::Empty | FactError::TooLong { .. }) => {
            ProblemCode::InvalidInput
        }
        ConversationError::Fact(FactError::Changed(_)) => ProblemCode::PreconditionFailed,
        ConversationError::Ambiguous { .. }
        | ConversationError::InUse(_)
        | ConversationError::Working { .. }
        | ConversationError::NoTitle(_)
        | ConversationError::Fact(FactError::TooMany(_) | FactError::WrongStatus { .. }) => {
            ProblemCode::Conflict
        }
    }
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Empty => Self::of_field("text", "is empty"),
            AnswerError::AsksNothing | AnswerError::OtherQuestion(_) => {
                ProblemCode::AlreadyAnswered.bare()
            }
            AnswerError::Unclear { text, .. } => {
                Self::of_field("text", format!("{text:?} does not answer the question"))
            }
            AnswerError::App(error) => error.into(),
        }
    }
}

impl From<SendError> for Problem {
    fn from(error: SendError) -> Self {
        let detail = chain(&error);
        match error {
            SendError::App(error) => error.into(),
            SendError::Busy(_) => ProblemCode::Conflict.because(detail),
            SendError::Full(_) => Self::of_field("text", detail),
            SendError::Pictures => Self::of_field("attachments", detail),
            SendError::Disk(_) => ProblemCode::Internal.because(detail),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        of_store(&error)
    }
}

fn of_store(error: &StoreError) -> Problem {
    tracing::error!(error = %chain(error), "the store failed");
    let code = match error {
        error if error.is_read_only() => ProblemCode::ReadOnly,
        error if error.is_transient() => ProblemCode::DatabaseUnavailable,
        _ => ProblemCode::Internal,
    };
    let problem = code.because(chain(error));
    match code {
        ProblemCode::DatabaseUnavailable => Problem { retry_after: Some(1), ..problem },
        _ => problem,
    }
}

/// What is wrong with a body or a query, without the words of the framework, and the field if one
/// is named.
fn of_reading(code: ProblemCode, text: &str) -> Problem {
    let is_head = |head: &&str| head.starts_with("Failed to ");
    let split = text.split_once(": ").filter(|(head, _)| is_head(head));
    let words = split.map_or(text, |(_, words)| words);
    let is_path = |path: &&str| {
        path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte))
    };
    let named = words.split_once(": ").map(|(path, _)| path).filter(is_path);
    let unknown = words.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let field = named.or(unknown).filter(|_| code == ProblemCode::InvalidInput);
    Problem { field: field.map(str::to_owned), ..code.because(words) }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let code = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ProblemCode::BodyTooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ProblemCode::UnsupportedMediaType,
            StatusCode::UNPROCESSABLE_ENTITY => ProblemCode::InvalidInput,
            _ => ProblemCode::BadRequest,
        };
        of_reading(code, &rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        of_reading(ProblemCode::InvalidInput, &rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(_: PathRejection) -> Self {
        // An ill-formed id names nothing.
        ProblemCode::NotFound.bare()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_names_its_field_and_not_the_framework() {
        let read = |text: &str| {
            let problem = of_reading(ProblemCode::InvalidInput, text);
            (problem.field, problem.detail.unwrap())
        };
        let body = "Failed to deserialize the JSON body into the target type: ";
        let typed = read(&format!("{body}run.goal: invalid type: integer `1`"));
        let wanted = "run.goal: invalid type: integer `1`".to_owned();
        assert_eq!(typed, (Some("run.goal".to_owned()), wanted));
        let (field, detail) =
            read("Failed to deserialize query string: unknown field `x`, nothing");
        assert_eq!(field.as_deref(), Some("x"));
        assert_eq!(detail, "unknown field `x`, nothing");
        let (field, detail) = read("missing field `text` at line 1 column 2");
        assert_eq!((field, detail.len()), (None, 39));
    }
}
