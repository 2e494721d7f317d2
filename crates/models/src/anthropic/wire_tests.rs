//! Whole calls over a loopback socket.

use super::*;
use crate::Endpoint;
use crate::testing::{CannedReply, FakeServer};
use crate::{Secret, Timeouts};
use everloop_ports::{Model as _, Request};
use everloop_types::{
    ModelError, ModelErrorKind as Kind, OutputSchema, Reply, StopCause, ToolChoice, ToolSpec,
};
use serde_json::{Value, json};

const CALLS: &str = include_str!("../../testdata/anthropic_calls.sse");

fn model_at(server: &FakeServer) -> Provider<AnthropicCodec> {
    let api_key = Some(Secret::new("sk-ant-1"));
    Provider::new(AnthropicCodec, Endpoint { api_key, ..Endpoint::at(server.url()) }).unwrap()
}

#[derive(Default)]
struct Asked {
    tools: Vec<ToolSpec>,
    choice: ToolChoice,
    output: Option<OutputSchema>,
}

impl Asked {
    async fn of(
        &self,
        model: &Provider<AnthropicCodec>,
    ) -> (Result<Reply, ModelError>, Vec<String>) {
        let messages = [Message::System { text: "rules".to_owned() }, Message::user("go")];
        let mut deltas = Vec::new();
        let request = Request {
            model: "m-1",
            messages: &messages,
            wire: &mut WirePrompt::default(),
            tools: self.tools.iter().collect(),
            choice: &self.choice,
            output: self.output.as_ref(),
            temperature_milli: 500,
            max_tokens: 64,
        };
        let reply = model.ask(request, &mut |delta| deltas.push(format!("{delta:?}"))).await;
        (reply, deltas)
    }
}

async fn plainly(model: &Provider<AnthropicCodec>) -> Result<Reply, ModelError> {
    Asked::default().of(model).await.0
}

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    ToolSpec { name: name.to_owned(), schema, ..ToolSpec::default() }
}

fn stream(events: &[Value]) -> CannedReply {
    let event = |data: &Value| format!("event: {}\ndata: {data}\n\n", data["type"]);
    CannedReply::sse(events.iter().map(event).collect::<String>())
}

fn text_stream(text: &str) -> CannedReply {
    stream(&[
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 5}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"text": text}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ])
}

fn call_stream(name: &str, pieces: &[&str]) -> CannedReply {
    let mut events = vec![json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": "t1", "name": name, "input": {}}})];
    events.extend(pieces.iter().map(|piece| {
        json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": piece}})
    }));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    events.push(json!({"type": "message_stop"}));
    stream(&events)
}

fn bodies(server: &FakeServer) -> Vec<Value> {
    server.seen().iter().map(|seen| seen.json()).collect()
}

#[tokio::test]
async fn a_call_carries_key_and_version_and_streams_in() {
    let mut canned = CannedReply::stream();
    for piece in CALLS.as_bytes().chunks(97) {
        canned = canned.then(piece);
    }
    let server = FakeServer::start(vec![canned.end()]);
    let (reply, deltas) = Asked::default().of(&model_at(&server)).await;
    let reply = reply.unwrap();
    assert_eq!((reply.calls.len(), reply.usage.cached_tokens, deltas.len()), (2, 64, 9));
    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{}", seen.head);
    assert!(seen.head.contains("x-api-key: sk-ant-1\r\n"));
    assert!(seen.head.contains("anthropic-version: 2023-06-01\r\n"));
    assert!(!seen.head.contains("authorization"));
    assert_eq!(seen.json()["system"][0]["text"], "rules");
}

#[tokio::test]
async fn overload_passes_and_limits_say_when_to_come_back() {
    let body = |name: &str| {
        json!({"type": "error", "error": {"type": name, "message": "key sk-ant-1"}}).to_string()
    };
    let server = FakeServer::start(vec![
        CannedReply::status(529, "", &body("overloaded_error")),
        CannedReply::status(429, "retry-after: 7\r\n", &body("rate_limit_error")),
        CannedReply::status(401, "", &body("authentication_error")),
        CannedReply::status(413, "", &body("request_too_large")),
    ]);
    let model = model_at(&server);
    for (status, kind, retry_after_ms) in [
        (529, Kind::Server, None),
        (429, Kind::RateLimited, Some(7_000)),
        (401, Kind::Unauthorized, None),
        (413, Kind::Refused, None),
    ] {
        let error = plainly(&model).await.unwrap_err();
        let detail = format!("HTTP {status}: key [secret]");
        let status = Some(status);
        let told = ModelError { retry_after_ms, status, ..ModelError::new(kind, detail) };
        assert_eq!(error, told);
    }
}

#[tokio::test]
async fn a_schema_is_asked_for_by_a_tool_and_comes_back_as_text() {
    let pieces = ["{\"x\":", "1}"];
    let server = FakeServer::start(vec![call_stream("reply_out", &pieces)]);
    let schema = tool("").schema;
    let output = Some(OutputSchema { name: "out".to_owned(), schema: schema.clone() });
    let asked = Asked { output, ..Asked::default() };
    let (reply, deltas) = asked.of(&model_at(&server)).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("{\"x\":1}", 0));
    assert_eq!(reply.stop, StopCause::Done);
    assert_eq!(deltas, [r#"Text("{\"x\":")"#, r#"Text("1}")"#]);
    let body = &bodies(&server)[0];
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "reply_out"}));
    assert_eq!(body["tools"][0]["input_schema"], schema);
}

/// The API takes no choice at the top of a tool's arguments.
#[tokio::test]
async fn a_choice_between_forms_is_one_object_for_the_tool() {
    let form = |status: &str| {
        json!({"type": "object", "required": ["status"],
            "properties": {"status": {"type": "string", "const": status}}})
    };
    let server = FakeServer::start(vec![call_stream("reply_out", &["{\"status\":\"b\"}"])]);
    let schema = json!({"anyOf": [form("a"), form("b")]});
    let output = Some(OutputSchema { name: "out".to_owned(), schema });
    let asked = Asked { output, ..Asked::default() };
    assert_eq!(asked.of(&model_at(&server)).await.0.unwrap().text, "{\"status\":\"b\"}");
    let sent = &bodies(&server)[0]["tools"][0]["input_schema"];
    assert_eq!((&sent["type"], sent.get("anyOf")), (&json!("object"), None));
    assert_eq!(sent["properties"]["status"]["enum"], json!(["a", "b"]));
}

#[tokio::test]
async fn with_a_schema_and_tools_the_model_may_call_either() {
    let server = FakeServer::start(vec![
        call_stream("a", &["{}"]),
        call_stream("reply_out", &["{\"x\":2}"]),
    ]);
    let output = Some(OutputSchema { name: "out".to_owned(), schema: tool("").schema });
    let asked = Asked { tools: vec![tool("a")], output, ..Asked::default() };
    let model = model_at(&server);
    let called = asked.of(&model).await.0.unwrap();
    assert_eq!((called.calls[0].tool.as_str(), called.stop), ("a", StopCause::ToolCalls));
    let replied = asked.of(&model).await.0.unwrap();
    assert_eq!((replied.text.as_str(), replied.calls.len()), ("{\"x\":2}", 0));
    assert_eq!(bodies(&server)[0]["tool_choice"], json!({"type": "any"}));
}

/// A model that thinks in any case refuses to be forced, and is asked in words.
#[tokio::test]
async fn a_forced_call_that_is_refused_is_asked_for_in_words() {
    let words = "Thinking may not be enabled when tool_choice forces tool use.";
    let error = json!({"type": "error",
        "error": {"type": "invalid_request_error", "message": words}});
    let refused = CannedReply::status(400, "", &error.to_string());
    let json = || text_stream("{\"x\": 1}");
    let server = FakeServer::start(vec![refused, json(), json()]);
    let model = model_at(&server);
    let choice = ToolChoice::Named("b".to_owned());
    let asked = Asked { tools: vec![tool("a"), tool("b")], choice, ..Asked::default() };
    for _ in 0..2 {
        let reply = asked.of(&model).await.0.unwrap();
        assert_eq!(
            (reply.calls[0].tool.as_str(), reply.calls[0].args.as_str()),
            ("b", "{\"x\": 1}")
        );
    }
    let seen = bodies(&server);
    assert_eq!(seen.len(), 3, "what was learnt is remembered");
    assert_eq!(seen[0]["tool_choice"], json!({"type": "tool", "name": "b"}));
    for portable in &seen[1..] {
        assert_eq!(portable.get("tools"), None);
        let asked = portable["messages"][0]["content"][1]["text"].as_str().unwrap();
        assert!(asked.contains("JSON arguments of a call of the tool `b`"), "{asked}");
    }
}

#[tokio::test]
async fn a_model_that_wants_no_temperature_gets_none() {
    let error = json!({"error": {"type": "invalid_request_error",
        "message": "`temperature` is deprecated for this model."}});
    let refused = CannedReply::status(400, "", &error.to_string());
    let server = FakeServer::start(vec![refused, text_stream("hi"), text_stream("hi")]);
    let model = model_at(&server);
    for _ in 0..2 {
        assert_eq!(plainly(&model).await.unwrap().text, "hi");
    }
    let told: Vec<_> =
        bodies(&server).iter().map(|body| body.get("temperature").is_some()).collect();
    assert_eq!(told, [true, false, false]);
}

#[tokio::test]
async fn silence_and_broken_streams_are_typed_errors() {
    let opened = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n";
    let times = Timeouts { connect_ms: 10, first_byte_ms: 40, idle_ms: 50, total_ms: 60_000 };
    for (canned, kind) in [
        (CannedReply::stream().then(opened).cut(), Kind::Cut),
        (CannedReply::stream().then(opened).end(), Kind::Cut),
        (CannedReply::stream().then(opened).stall(), Kind::TimedOut),
        (CannedReply::json("<html>"), Kind::Malformed),
    ] {
        let server = FakeServer::start(vec![canned]);
        let endpoint = Endpoint { timeouts: times, ..Endpoint::at(server.url()) };
        let model = Provider::new(AnthropicCodec, endpoint).unwrap();
        assert_eq!(plainly(&model).await.unwrap_err().kind, kind);
    }
}
