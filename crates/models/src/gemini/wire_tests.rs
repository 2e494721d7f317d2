//! Whole calls over a loopback socket.

use super::*;
use crate::Endpoint;
use crate::Secret;
use crate::testing::{CannedReply, FakeServer};
use everloop_ports::{Model as _, Request};
use everloop_types::{
    ModelError, ModelErrorKind as Kind, OutputSchema, Reply, StopCause, ToolSpec,
};
use serde_json::{Value, json};

const CALLS: &str = include_str!("../../testdata/gemini_calls.sse");

fn model_at(server: &FakeServer) -> Provider<GeminiCodec> {
    let api_key = Some(Secret::new("AIza-1"));
    Provider::new(GeminiCodec, Endpoint { api_key, ..Endpoint::at(server.url()) }).unwrap()
}

#[derive(Default)]
struct Asked {
    tools: Vec<ToolSpec>,
    choice: ToolChoice,
    output: Option<OutputSchema>,
}

impl Asked {
    async fn of(&self, model: &Provider<GeminiCodec>) -> (Result<Reply, ModelError>, Vec<String>) {
        let messages = [Message::System { text: "rules".to_owned() }, Message::user("go")];
        let mut deltas = Vec::new();
        let request = Request {
            model: "gemini-2.5-flash",
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

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    ToolSpec { name: name.to_owned(), schema, ..ToolSpec::default() }
}

fn stream(part: Value) -> CannedReply {
    let event = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
    CannedReply::sse(format!("data: {event}\r\n\r\n"))
}

#[tokio::test]
async fn a_call_names_the_model_in_its_path_and_streams_in() {
    let mut canned = CannedReply::stream();
    for piece in CALLS.as_bytes().chunks(97) {
        canned = canned.then(piece);
    }
    let server = FakeServer::start(vec![canned.end()]);
    let (reply, deltas) = Asked::default().of(&model_at(&server)).await;
    let reply = reply.unwrap();
    assert_eq!((reply.calls.len(), reply.usage.cached_tokens, deltas.len()), (2, 64, 8));
    let seen = &server.seen()[0];
    let line = "POST /v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse HTTP/1.1\r\n";
    assert!(seen.head.starts_with(line), "{}", seen.head);
    assert!(seen.head.contains("x-goog-api-key: AIza-1\r\n"));
    assert!(!seen.head.contains("authorization"));
}

#[tokio::test]
async fn statuses_become_typed_errors_and_say_when_to_come_back() {
    let error = |code: u16, details: Value| {
        let error = json!({"code": code, "message": "key AIza-1", "details": details});
        json!({ "error": error })
    };
    let retry = json!([{"@type": "google.rpc.RetryInfo", "retryDelay": "7s"}]);
    for (status, body, kind, retry_after_ms) in [
        (429, error(429, retry.clone()), Kind::RateLimited, Some(7_000)),
        (429, json!([error(429, retry)]), Kind::RateLimited, Some(7_000)),
        (400, error(400, json!([])), Kind::Refused, None),
        (503, error(503, json!([])), Kind::Server, None),
        (504, error(504, json!([])), Kind::TimedOut, None),
    ] {
        let server = FakeServer::start(vec![CannedReply::status(status, "", &body.to_string())]);
        let found = Asked::default().of(&model_at(&server)).await.0.unwrap_err();
        let detail = format!("HTTP {status}: key [secret]");
        let status = Some(status);
        let told = ModelError { retry_after_ms, status, ..ModelError::new(kind, detail) };
        assert_eq!(found, told);
    }
}

#[tokio::test]
async fn a_schema_is_taken_as_it_is_without_tools_and_by_a_tool_beside_them() {
    let call = json!({"functionCall": {"name": "reply_out", "args": {"x": 2}}});
    let server = FakeServer::start(vec![stream(json!({"text": "{\"x\":1}"})), stream(call)]);
    let model = model_at(&server);
    let output = Some(OutputSchema { name: "out".to_owned(), schema: tool("").schema });
    let mut asked = Asked { output, ..Asked::default() };
    assert_eq!(asked.of(&model).await.0.unwrap().text, "{\"x\":1}");
    asked.tools = vec![tool("a")];
    let reply = asked.of(&model).await.0.unwrap();
    let shown = (reply.text.as_str(), reply.calls.len(), reply.stop);
    assert_eq!(shown, ("{\"x\":2}", 0, StopCause::Done));
    let seen: Vec<Value> = server.seen().iter().map(|seen| seen.json()).collect();
    assert_eq!(seen[0]["generationConfig"]["responseSchema"], tool("").schema);
    assert_eq!(seen[1]["generationConfig"].get("responseSchema"), None);
    assert_eq!(seen[1]["toolConfig"]["functionCallingConfig"]["mode"], "ANY");
}

#[tokio::test]
async fn a_forced_call_that_is_ignored_is_asked_for_as_json_the_next_time() {
    let json = || stream(json!({"text": "{\"x\": 1}"}));
    let server = FakeServer::start(vec![stream(json!({"text": "no"})), json(), json()]);
    let model = model_at(&server);
    let choice = ToolChoice::Named("b".to_owned());
    let asked = Asked { tools: vec![tool("a"), tool("b")], choice, ..Asked::default() };
    assert_eq!(asked.of(&model).await.0.unwrap().text, "no");
    for _ in 0..2 {
        let reply = asked.of(&model).await.0.unwrap();
        assert_eq!(
            (reply.calls[0].tool.as_str(), reply.calls[0].args.as_str()),
            ("b", "{\"x\": 1}")
        );
    }
    let seen: Vec<Value> = server.seen().iter().map(|seen| seen.json()).collect();
    assert_eq!(seen.len(), 3, "what was learnt is remembered");
    assert_eq!(seen[2]["generationConfig"]["responseSchema"], tool("b").schema);
}
