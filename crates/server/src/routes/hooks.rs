//! Webhooks from outside. Their signature opens the door, not the token.

use super::JsonObject;
use super::shapes::WebhookMessage;
use crate::api::Api;
use crate::guard::RequestLang;
use crate::json::{Body, PathOf};
use crate::openapi::Operation;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use everloop_app::channels::{self, ChannelError, ChannelSendError};
use everloop_app::error::chain;
use everloop_app::settings::SignedChannel;
use everloop_types::Lang;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Where webhooks come in.
pub(crate) const PREFIX: &str = "/hooks/";

pub(crate) fn add(api: &mut Api) {
    let path = "/hooks/{channel}";
    let receive = Operation::post(path, "Takes in a signed message (Standard Webhooks)")
        .open()
        .body::<WebhookMessage>()
        .takes("webhook-id", "The id of the message: the same id twice is one message.")
        .takes("webhook-timestamp", "When it was sent, in seconds of UTC.")
        .takes("webhook-signature", "`v1,` and the HMAC-SHA256 of id, timestamp and body.")
        .answers::<JsonObject>(202)
        .problems(&[ProblemCode::BodyTooLarge]);
    api.route(receive, receive_hook);
    let list = Operation::get("/v1/channels", "The channels of the settings");
    api.route(list.answers::<JsonObject>(200), list_channels);
    let path = "/v1/channels/{name}/test";
    let test = Operation::post(path, "Sends one message to a channel, to see whether it arrives")
        .body::<ChannelTest>()
        .answers::<JsonObject>(200)
        .problems(&[ProblemCode::Conflict, ProblemCode::ChannelUnavailable]);
    api.route(test, test_channel);
}

/// A message that tries a channel.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChannelTest {
    /// The thread of the other side; none if it is left out.
    #[serde(default)]
    thread: String,
}

async fn list_channels(State(state): State<ServerState>) -> Body<JsonObject> {
    let shown = |channel: &SignedChannel| {
        json!({"name": channel.name(), "kind": channel.kind(), "workspace": channel.workspace(),
            "sends": channel.target().is_some(), "approve": channel.approves()})
    };
    let data: Vec<_> = state.app.settings.channels().iter().map(shown).collect();
    Body(JsonObject(json!({"data": data, "next_cursor": null})))
}

async fn test_channel(
    State(state): State<ServerState>,
    Extension(RequestLang(lang)): Extension<RequestLang>,
    PathOf(name): PathOf<String>,
    Body(test): Body<ChannelTest>,
) -> Result<Body<JsonObject>, Problem> {
    let sent = channels::send_test(&state.app, &name, &test.thread).await;
    let message_id = sent.map_err(|error| of_sending(error, lang))?;
    Ok(Body(JsonObject(json!({"channel": name, "message_id": message_id, "sent": true}))))
}

async fn receive_hook(
    State(state): State<ServerState>,
    PathOf(channel): PathOf<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Body<JsonObject>), Problem> {
    let text = |value: &axum::http::HeaderValue| value.to_str().ok().map(str::to_owned);
    let headers: Vec<(String, String)> = headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
        .collect();
    let taken = channels::receive(&state.app, state.engine(), &channel, &headers, &body).await;
    let taken = taken.map_err(of_hook)?;
    let answer = json!({"run_id": taken.run, "conversation_id": taken.conversation,
        "reply": taken.reply, "duplicate": taken.duplicate});
    Ok((StatusCode::ACCEPTED, Body(JsonObject(answer))))
}

fn of_sending(error: ChannelSendError, lang: Lang) -> Problem {
    let words = error.words(lang);
    match error {
        ChannelSendError::Channel(error) => of_channel(error),
        ChannelSendError::OneWay(_) => ProblemCode::Conflict.because(words),
        ChannelSendError::NotSent { .. } => ProblemCode::ChannelUnavailable.because(words),
    }
}

/// Whoever has shown no signature is not told where the secret is.
fn of_hook(error: ChannelError) -> Problem {
    if let ChannelError::Secret(_) = &error {
        tracing::error!(error = %chain(&error), "a webhook could not be checked");
        return ProblemCode::Internal.bare();
    }
    of_channel(error)
}

fn of_channel(error: ChannelError) -> Problem {
    let code = match error {
        ChannelError::App(error) => return error.into(),
        ChannelError::NoSuchChannel(_) => ProblemCode::NotFound,
        ChannelError::Unsigned | ChannelError::TooOld => ProblemCode::Unauthorized,
        ChannelError::TooLarge => ProblemCode::BodyTooLarge,
        ChannelError::Secret(_) => ProblemCode::Internal,
        ChannelError::Header(_) | ChannelError::Body(_) | ChannelError::Empty => {
            ProblemCode::BadRequest
        }
    };
    code.because(chain(&error))
}
