//! Signed webhooks, as the Standard Webhooks specification has them, in both directions.
//!
//! ```text
//!   webhook-id: msg_1   webhook-timestamp: 1763456789   webhook-signature: v1,BASE64 v1,BASE64
//!   signed: id.timestamp.body, with HMAC-SHA256 and the secret behind `whsec_`
//!   body: {"type": "message", "timestamp": "…", "data": {"thread": "…", "text": "…"}}
//! ```

use super::{
    BODY_BYTES_MAX, ChannelAccess, ChannelError, ChannelField, ChannelKind, FieldForm,
    InboundMessage, InboundRequest, OutboundMessage,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use everloop_agenda::kept::moment;
use everloop_ports::BoxFuture;
use everloop_tools::post_webhook;
use everloop_types::UtcMs;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde_json::json;
use sha2::Sha256;

const ID: &str = "webhook-id";
const TIMESTAMP: &str = "webhook-timestamp";
const SIGNATURE: &str = "webhook-signature";

/// How far the time of a request may be from now, as the specification suggests.
const TOLERANCE_MS: i64 = 5 * 60_000;

/// Characters of the longest id and thread.
const NAME_CHARS_MAX: usize = 256;

/// What both sides sign with.
const SECRET: &str = "secret";

/// Where answers go.
const URL: &str = "url";

const FIELDS: [ChannelField; 2] = [
    ChannelField { name: SECRET, form: FieldForm::Secret, required: true },
    ChannelField { name: URL, form: FieldForm::Address, required: false },
];

/// Signed webhooks.
#[derive(Debug, Clone, Copy)]
pub struct Webhook;

/// The body of a message from outside; further fields are left to the other side.
#[derive(Debug, Deserialize)]
struct WebhookBody {
    data: WebhookData,
}

#[derive(Debug, Deserialize)]
struct WebhookData {
    thread: String,
    text: String,
}

/// The key behind a secret: what follows `whsec_`, decoded, or the bytes themselves.
fn key(secret: &str) -> Vec<u8> {
    let secret = secret.trim();
    let encoded = secret.strip_prefix("whsec_");
    let decoded = encoded.and_then(|text| STANDARD.decode(text).ok());
    decoded.unwrap_or_else(|| secret.as_bytes().to_vec())
}

/// A key may have any length, so there is always one.
fn mac(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key(secret)).ok()?;
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Some(mac)
}

/// The signature of a request, as its header has it.
#[must_use]
pub fn signature(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> String {
    let mac = mac(secret, id, timestamp, body).map(Mac::finalize);
    let signed = mac.map(|mac| STANDARD.encode(mac.into_bytes())).unwrap_or_default();
    format!("v1,{signed}")
}

/// Checks the time and the signatures of a request; gives back its id.
///
/// # Errors
/// [`ChannelError::Header`], [`ChannelError::TooOld`] or [`ChannelError::Unsigned`].
pub fn verify<'r>(secret: &str, request: &'r InboundRequest<'_>) -> Result<&'r str, ChannelError> {
    let (id, written) = (request.header(ID)?, request.header(TIMESTAMP)?);
    let seconds: i64 = written.parse().map_err(|_| ChannelError::Header(TIMESTAMP))?;
    if id.chars().count() > NAME_CHARS_MAX {
        return Err(ChannelError::Header(ID));
    }
    let fits = |given: &str| {
        let given = given.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
        let mac = mac(secret, id, written, request.body);
        // In constant time.
        given.zip(mac).is_some_and(|(given, mac)| mac.verify_slice(&given).is_ok())
    };
    if !request.header(SIGNATURE)?.split_whitespace().any(fits) {
        return Err(ChannelError::Unsigned);
    }
    let off = request.now.saturating_sub(seconds.saturating_mul(1_000)).saturating_abs();
    if off > TOLERANCE_MS { Err(ChannelError::TooOld) } else { Ok(id) }
}

/// The body of a message for the other side.
fn outgoing(message: &OutboundMessage<'_>) -> Vec<u8> {
    let at = moment(message.at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let data = json!({"thread": message.thread, "text": message.text, "id": message.id});
    json!({"type": "message.reply", "timestamp": at, "data": data}).to_string().into_bytes()
}

fn seconds(at: UtcMs) -> String {
    at.div_euclid(1_000).to_string()
}

impl ChannelKind for Webhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn fields(&self) -> &'static [ChannelField] {
        &FIELDS
    }

    fn target(&self) -> Option<&'static str> {
        Some(URL)
    }

    fn read(
        &self,
        channel: &ChannelAccess,
        request: &InboundRequest<'_>,
    ) -> Result<InboundMessage, ChannelError> {
        if request.body.len() > BODY_BYTES_MAX {
            return Err(ChannelError::TooLarge);
        }
        let id = verify(channel.field(SECRET), request)?.to_owned();
        let body: WebhookBody = serde_json::from_slice(request.body)
            .map_err(|error| ChannelError::Body(error.to_string()))?;
        let WebhookData { thread, text } = body.data;
        if thread.is_empty() || thread.chars().count() > NAME_CHARS_MAX {
            let detail = format!("thread has 1 to {NAME_CHARS_MAX} characters");
            return Err(ChannelError::Body(detail));
        }
        if text.trim().is_empty() {
            return Err(ChannelError::Empty);
        }
        let channel = format!("{}:{}", self.name(), channel.name);
        Ok(InboundMessage { channel, thread, text, id })
    }

    /// A request may be ahead by the tolerance, and is accepted until it is behind by it.
    fn replay_ms(&self) -> i64 {
        2 * TOLERANCE_MS + 60_000
    }

    fn send<'a>(
        &'a self,
        channel: &'a ChannelAccess,
        message: OutboundMessage<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let (body, timestamp) = (outgoing(&message), seconds(message.at));
            let signed = signature(channel.field(SECRET), message.id, &timestamp, &body);
            let headers = [(ID, message.id), (TIMESTAMP, &timestamp), (SIGNATURE, &signed)];
            post_webhook(channel.field(URL), body, &headers).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channels::tests::refused_as;

    const SIGNED_WITH: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const NOW: UtcMs = 1_614_265_330_000;

    fn signed(body: &[u8]) -> Vec<(String, String)> {
        let stamp = "1614265330";
        let signature = signature(SIGNED_WITH, "msg_1", stamp, body);
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![header("Webhook-Id", "msg_1"), header(TIMESTAMP, stamp), header(SIGNATURE, &signature)]
    }

    fn check(headers: &[(String, String)], body: &[u8], now: UtcMs) -> Result<String, u16> {
        let request = InboundRequest { headers, body, now };
        verify(SIGNED_WITH, &request).map(str::to_owned).map_err(|error| refused_as(&error))
    }

    #[test]
    fn the_example_of_the_specification_is_signed_as_there() {
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = signature(SIGNED_WITH, id, "1614265330", b"{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_request_is_accepted_if_one_of_its_signatures_fits_and_its_time_is_near() {
        let body = b"{}";
        let mut headers = signed(body);
        assert_eq!(check(&headers, body, NOW), Ok("msg_1".to_owned()));
        headers[2].1 = format!("v1,AAAA v1a,BBBB {}", headers[2].1);
        assert_eq!(check(&headers, body, NOW + TOLERANCE_MS), Ok("msg_1".to_owned()));
        assert_eq!(check(&headers, body, NOW + TOLERANCE_MS + 1_000), Err(401), "too old");
        assert_eq!(check(&headers, body, NOW - TOLERANCE_MS - 1_000), Err(401), "too far ahead");
        assert_eq!(check(&headers, b"{ }", NOW), Err(401), "another body");
        for (at, value) in [(0, "msg_2"), (1, "1614265331"), (2, "v1,AAAA"), (2, "v2,x")] {
            let mut other = signed(body);
            other[at].1 = value.to_owned();
            assert_eq!(check(&other, body, NOW), Err(401), "{value}");
        }
        for (at, value) in [(0, " "), (1, "soon")] {
            let mut other = signed(body);
            other[at].1 = value.to_owned();
            assert_eq!(check(&other, body, NOW), Err(400), "{value}");
        }
        assert_eq!(check(&headers[1..], body, NOW), Err(400), "no id");
    }

    #[test]
    fn a_message_has_a_thread_and_a_text() {
        let own = [(SECRET, SIGNED_WITH.to_owned())].into();
        let channel = ChannelAccess { name: "ops".to_owned(), own };
        let read = |body: &str| {
            let headers = signed(body.as_bytes());
            let request = InboundRequest { headers: &headers, body: body.as_bytes(), now: NOW };
            Webhook.read(&channel, &request).map_err(|error| refused_as(&error))
        };
        let message = read(r#"{"type":"message","data":{"thread":"t1","text":"hi","by":"me"}}"#);
        let (channel_name, thread) = ("webhook:ops".to_owned(), "t1".to_owned());
        let (text, id) = ("hi".to_owned(), "msg_1".to_owned());
        assert_eq!(message, Ok(InboundMessage { channel: channel_name, thread, text, id }));
        for body in ["[]", r#"{"data":{"text":"hi"}}"#, r#"{"data":{"thread":"","text":"hi"}}"#] {
            assert_eq!(read(body), Err(400), "{body}");
        }
        assert_eq!(read(r#"{"data":{"thread":"t","text":" "}}"#), Err(400));
        let long = " ".repeat(BODY_BYTES_MAX + 1);
        assert_eq!(read(&long), Err(413));
    }
}
