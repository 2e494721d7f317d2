//! Whole calls over a loopback socket.

use super::*;
use crate::testing::{CannedReply, FakeServer};
use crate::{Secret, Timeouts};
use everloop_types::{
    Image, ModelError, ModelErrorKind as Kind, OutputSchema, Reply, ToolCall, ToolChoice, ToolSpec,
    Usage,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PARALLEL: &str = include_str!("../../testdata/parallel_calls.sse");
const HI: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n\
                  data: [DONE]\n\n";
const PIECE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"piece\"}}]}\n\n";
const PATIENCE: Duration = Duration::from_secs(10);

fn model_with(server: &FakeServer, change: impl FnOnce(&mut Endpoint)) -> OpenAi {
    let mut endpoint = Endpoint::at(server.url());
    change(&mut endpoint);
    OpenAi::new(endpoint).unwrap()
}

fn model_at(server: &FakeServer) -> OpenAi {
    model_with(server, |_| ())
}

#[derive(Default)]
struct Asked {
    tools: Vec<ToolSpec>,
    choice: ToolChoice,
    output: Option<OutputSchema>,
    images: Vec<Image>,
}

impl Asked {
    async fn of(&self, model: &OpenAi) -> (Result<Reply, ModelError>, Vec<String>) {
        let messages = [Message::User { text: "go".to_owned(), images: self.images.clone() }];
        let mut deltas = Vec::new();
        let request = Request {
            model: "m-1",
            messages: &messages,
            wire: &mut WirePrompt::default(),
            tools: self.tools.iter().collect(),
            choice: &self.choice,
            output: self.output.as_ref(),
            temperature_milli: 0,
            max_tokens: 64,
        };
        let reply = model.ask(request, &mut |delta| deltas.push(format!("{delta:?}"))).await;
        (reply, deltas)
    }
}

async fn plainly(model: &OpenAi) -> Result<Reply, ModelError> {
    Asked::default().of(model).await.0
}

async fn kind_of(canned: CannedReply) -> Kind {
    let server = FakeServer::start(vec![canned]);
    plainly(&model_at(&server)).await.unwrap_err().kind
}

/// Waits beside the runtime, which has to go on for the connection to close.
async fn client_left(server: FakeServer) -> Option<usize> {
    tokio::task::spawn_blocking(move || server.client_left(PATIENCE)).await.unwrap()
}

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    ToolSpec { name: name.to_owned(), schema, ..ToolSpec::default() }
}

fn text_stream(text: &str) -> CannedReply {
    let event = json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    CannedReply::sse(format!("data: {event}\n\ndata: [DONE]\n\n"))
}

fn call(tool: &str, args: &str) -> ToolCall {
    ToolCall { id: everloop_types::CallId::new(""), tool: tool.into(), args: args.into() }
}

#[tokio::test]
async fn text_reasoning_and_parallel_calls_stream_in() {
    let mut canned = CannedReply::stream();
    for piece in PARALLEL.as_bytes().chunks(97) {
        canned = canned.then(piece);
    }
    let server = FakeServer::start(vec![canned.end()]);
    let model = model_with(&server, |e| e.api_key = Some(Secret::new("sk-1")));
    let (reply, deltas) = Asked::default().of(&model).await;
    let reply = reply.unwrap();
    assert_eq!(reply.text, "I look both up: ü😀");
    assert_eq!(reply.reasoning, "Two cities, two calls.");
    assert_eq!(reply.calls.len(), 2);
    assert_eq!(reply.usage.cached_tokens, 64);
    assert_eq!(deltas.len(), 9);
    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", seen.head);
    assert!(seen.head.contains("authorization: Bearer sk-1\r\n"));
    assert_eq!(seen.json()["stream"], json!(true));
}

#[tokio::test]
async fn choices_schemas_and_pictures_go_over_the_wire() {
    let called = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c",
        "function":{"name":"b","arguments":"{}"}}]},"finish_reason":"stop"}]}"#;
    let called = format!("{}\n\ndata: [DONE]\n\n", called.replace('\n', ""));
    let server = FakeServer::start(vec![
        CannedReply::sse(called),
        CannedReply::sse(HI),
        CannedReply::sse(HI),
    ]);
    let model = model_at(&server);
    let tools = vec![tool("a"), tool("b")];
    let named = ToolChoice::Named("b".to_owned());
    let forced = Asked { tools: tools.clone(), choice: named, ..Asked::default() };
    assert_eq!(forced.of(&model).await.0.unwrap().stop, everloop_types::StopCause::ToolCalls);
    let free = Asked { tools, choice: ToolChoice::None, ..Asked::default() };
    free.of(&model).await.0.unwrap();
    let output = OutputSchema { name: "out".to_owned(), schema: json!({"type": "object"}) };
    let images = vec![Image { mime: "image/png".to_owned(), base64: "QUJD".to_owned() }];
    let shaped = Asked { output: Some(output), images, ..Asked::default() };
    shaped.of(&model).await.0.unwrap();
    let seen: Vec<Value> = server.seen().iter().map(|seen| seen.json()).collect();
    assert_eq!(seen[0]["tool_choice"]["function"]["name"], "b");
    assert_eq!(seen[0]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(seen[1]["tool_choice"], "none");
    assert_eq!(seen[2]["response_format"]["json_schema"]["name"], "out");
    let url = &seen[2]["messages"][0]["content"][0]["image_url"]["url"];
    assert_eq!(url, "data:image/png;base64,QUJD");
}

#[tokio::test]
async fn statuses_become_typed_errors() {
    let body = r#"{"error":{"message":"wrong key sk-1","code":"invalid_api_key"}}"#;
    for (status, kind) in [
        (400, Kind::Refused),
        (401, Kind::Unauthorized),
        (402, Kind::NoCredit),
        (403, Kind::Forbidden),
        (404, Kind::NotFound),
        (422, Kind::Refused),
        (302, Kind::Refused),
        (408, Kind::TimedOut),
        (504, Kind::TimedOut),
        (500, Kind::Server),
        (503, Kind::Server),
        (529, Kind::Server),
    ] {
        let server = FakeServer::start(vec![CannedReply::status(status, "", body)]);
        let model = model_with(&server, |e| e.api_key = Some(Secret::new("sk-1")));
        let error = plainly(&model).await.unwrap_err();
        let detail = format!("HTTP {status}: wrong key [secret]");
        let status = Some(status);
        assert_eq!(error, ModelError { status, ..ModelError::new(kind, detail) });
        assert!(!format!("{model:?}").contains("sk-1"));
    }
    let slow = CannedReply::status(429, "retry-after: 7\r\n", "slow down");
    let server = FakeServer::start(vec![slow]);
    let error = plainly(&model_at(&server)).await.unwrap_err();
    assert_eq!((error.kind, error.retry_after_ms), (Kind::RateLimited, Some(7_000)));
    assert_eq!(error.detail, "HTTP 429: slow down");
}

/// Providers share no name for it, and some say it with a status that means something else.
#[tokio::test]
async fn a_prompt_that_is_too_long_and_an_account_without_credit_are_told_apart() {
    let quota = r#"{"error":{"message":"check your plan","code":"insufficient_quota"}}"#;
    let openai = r#"{"error":{"message":"This model's maximum context length is 8192 tokens."}}"#;
    let llama = r#"{"error":{"message":"the request exceeds the available context size"}}"#;
    let gemini = r#"{"error":{"message":"API key not valid. Please pass a valid API key."}}"#;
    for (status, body, kind) in [
        (429, quota, Kind::NoCredit),
        (400, openai, Kind::TooLong),
        (400, llama, Kind::TooLong),
        (413, openai, Kind::TooLong),
        (400, gemini, Kind::Unauthorized),
        (400, r#"{"error":{"message":"bad value"}}"#, Kind::Refused),
    ] {
        let server = FakeServer::start(vec![CannedReply::status(status, "", body)]);
        let error = plainly(&model_at(&server)).await.unwrap_err();
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{body}");
    }
}

/// A redirect to another host is not followed: the key would go there.
#[tokio::test]
async fn a_redirect_is_told_and_never_followed() {
    let elsewhere = FakeServer::start(vec![CannedReply::json("{}")]);
    for status in [301, 302, 307, 308] {
        let headers = format!("location: {}/v1/chat/completions\r\n", elsewhere.url());
        let server = FakeServer::start(vec![CannedReply::status(status, &headers, "")]);
        let model = model_with(&server, |e| e.api_key = Some(Secret::new("sk-1")));
        let error = plainly(&model).await.unwrap_err();
        assert!(error.detail.contains("has moved to"), "{}", error.detail);
    }
    assert!(elsewhere.seen().is_empty(), "{:?}", elsewhere.seen());
}

#[tokio::test]
async fn broken_replies_become_typed_errors() {
    assert_eq!(kind_of(CannedReply::stream().then(PIECE).cut()).await, Kind::Cut);
    assert_eq!(kind_of(CannedReply::stream().then(PIECE).end()).await, Kind::Cut);
    assert_eq!(kind_of(CannedReply::default().cut()).await, Kind::Cut);
    assert_eq!(kind_of(CannedReply::json("")).await, Kind::Empty);
    assert_eq!(kind_of(CannedReply::json(r#"{"error":{"message":"x"}}"#)).await, Kind::Server);
    assert_eq!(kind_of(CannedReply::json("<html>")).await, Kind::Malformed);
}

#[tokio::test]
async fn a_connection_lost_after_the_finish_loses_nothing() {
    let finished = HI.split("data: [DONE]").next().unwrap();
    let server = FakeServer::start(vec![CannedReply::stream().then(finished).cut()]);
    assert_eq!(plainly(&model_at(&server)).await.unwrap().text, "hi");
}

#[tokio::test]
async fn silence_ends_at_the_time_out_of_its_part() {
    let times = Timeouts { connect_ms: 10, first_byte_ms: 40, idle_ms: 50, total_ms: 60_000 };
    for canned in [CannedReply::default().stall(), CannedReply::stream().then(PIECE).stall()] {
        let server = FakeServer::start(vec![canned]);
        let model = model_with(&server, |e| e.timeouts = times);
        assert_eq!(plainly(&model).await.unwrap_err().kind, Kind::TimedOut);
        assert_eq!(client_left(server).await, Some(0));
    }
}

#[tokio::test]
async fn an_endless_stream_ends_at_the_total_time() {
    let server = FakeServer::start(vec![CannedReply::stream().forever(": still here\n\n")]);
    let model = model_with(&server, |e| e.timeouts.total_ms = 200);
    let start = Instant::now();
    let error = plainly(&model).await.unwrap_err();
    assert_eq!(error, ModelError::new(Kind::TimedOut, "the reply took too long"));
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(client_left(server).await, Some(0));
}

#[tokio::test]
async fn an_endpoint_that_is_down_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let model = OpenAi::new(Endpoint::at(format!("http://{address}/v1/"))).unwrap();
    let error = plainly(&model).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unreachable);
    assert!(error.detail.contains("refused"), "{}", error.detail);
}

#[tokio::test]
async fn fifty_megabytes_of_text_are_too_large() {
    let text = "x".repeat(64 << 10);
    let event = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}));
    let mut canned = CannedReply::stream();
    for _ in 0..800 {
        canned = canned.then(event.as_bytes());
    }
    assert_eq!(kind_of(canned.end()).await, Kind::TooLarge);
    let line = format!("data: {}", "x".repeat(50 << 20));
    assert_eq!(kind_of(CannedReply::sse(line)).await, Kind::TooLarge);
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    for canned in [CannedReply::default().stall(), CannedReply::stream().then(PIECE).stall()] {
        let server = FakeServer::start(vec![canned]);
        let model = model_at(&server);
        let call = plainly(&model);
        let arrived = async {
            while server.seen().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            reply = call => panic!("a stalled call has replied: {reply:?}"),
            () = arrived => {}
        }
        assert_eq!(client_left(server).await, Some(0));
    }
}

#[tokio::test]
async fn one_connection_serves_many_calls() {
    let refused = CannedReply::status(500, "", "x");
    let server = FakeServer::start(vec![CannedReply::sse(HI), refused, CannedReply::sse(HI)]);
    let model = model_at(&server);
    for good in [true, false, true] {
        assert_eq!(plainly(&model).await.is_ok(), good);
    }
    let connections: Vec<_> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 0, 0]);
}

/// One request is one model call: words go to whoever asked, with what they cost, and the next
/// request goes the other way.
#[tokio::test]
async fn a_forced_call_that_is_ignored_is_asked_for_as_json_the_next_time() {
    let json = text_stream("```json\n{\"x\": 1}\n```");
    let server = FakeServer::start(vec![text_stream("no"), json.clone(), json]);
    let model = model_at(&server);
    let choice = ToolChoice::Named("b".to_owned());
    let asked = Asked { tools: vec![tool("a"), tool("b")], choice, ..Asked::default() };
    let words = asked.of(&model).await.0.unwrap();
    let one = Usage { input_tokens: 5, output_tokens: 2, cached_tokens: 0 };
    assert_eq!((words.text.as_str(), words.calls.len(), words.usage), ("no", 0, one));
    let (reply, deltas) = asked.of(&model).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), &reply.calls[..]), ("", &[call("b", "{\"x\": 1}")][..]));
    assert_eq!((deltas.len(), reply.usage), (2, one));
    // It helped, so the endpoint is remembered.
    asked.of(&model).await.0.unwrap();
    let seen: Vec<Value> = server.seen().iter().map(|seen| seen.json()).collect();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0]["messages"].as_array().unwrap().len(), 1);
    for portable in &seen[1..] {
        assert_eq!(portable.get("tools"), None);
        assert_eq!(portable["response_format"]["json_schema"]["schema"], tool("b").schema);
        assert_eq!(portable["messages"].as_array().unwrap().len(), 2);
    }
}

/// An empty reply is an attempt that failed, as for any call; the next attempt is portable.
#[tokio::test]
async fn a_forced_call_with_an_empty_reply_is_asked_for_as_json_the_next_time() {
    let hollow =
        r#"{"choices":[{"message":{"content":"","tool_calls":[]},"finish_reason":"stop"}]}"#;
    let server = FakeServer::start(vec![CannedReply::json(hollow), text_stream("{\"x\": 1}")]);
    let model = model_at(&server);
    let asked = Asked { tools: vec![tool("a")], choice: ToolChoice::Required, ..Asked::default() };
    assert_eq!(asked.of(&model).await.0.unwrap_err().kind, Kind::Empty);
    assert_eq!(asked.of(&model).await.0.unwrap().calls, [call("a", "{\"x\": 1}")]);
}

#[tokio::test]
async fn any_of_several_tools_is_asked_for_with_its_name() {
    let wanted = text_stream(r#"{"tool":"b","arguments":{"x":2}}"#);
    let server = FakeServer::start(vec![text_stream("I would rather talk"), wanted]);
    let model = model_at(&server);
    let tools = vec![tool("a"), tool("b")];
    let asked = Asked { tools, choice: ToolChoice::Required, ..Asked::default() };
    assert_eq!(asked.of(&model).await.0.unwrap().text, "I would rather talk");
    assert_eq!(asked.of(&model).await.0.unwrap().calls, [call("b", "{\"x\":2}")]);
    let schema = &server.seen()[1].json()["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["anyOf"][1]["properties"]["tool"]["const"], "b");
}

#[tokio::test]
async fn a_forced_call_ignored_in_both_ways_is_what_was_said() {
    let no = || text_stream("no");
    let server =
        FakeServer::start(vec![no(), no(), no(), CannedReply::status(400, "", "no schema")]);
    let model = model_at(&server);
    let asked = Asked { tools: vec![tool("a")], choice: ToolChoice::Required, ..Asked::default() };
    for _ in 0..3 {
        assert_eq!(asked.of(&model).await.0.unwrap().text, "no");
    }
    let error = asked.of(&model).await.0.unwrap_err();
    assert_eq!(error, ModelError::new(Kind::IgnoredToolChoice, "HTTP 400: no schema"));
    let forced: Vec<bool> =
        server.seen().iter().map(|seen| seen.json().get("tools").is_some()).collect();
    assert_eq!(forced, [true, false, true, false], "the ways take turns");
    let nameless = Asked { choice: ToolChoice::Required, ..Asked::default() };
    assert_eq!(nameless.of(&model).await.0.unwrap_err().kind, Kind::Refused);
}

#[tokio::test]
async fn the_scripted_server_plays_replies_by_the_prompt() {
    use crate::ScriptedReply;
    let replies = vec![
        ScriptedReply::says("héllo").reasoning("hm").in_chunks(2).failing(Kind::Server),
        ScriptedReply::calls("t", json!({"x": 1})),
    ];
    let server = FakeServer::openai(replies);
    let model = model_at(&server);
    assert_eq!(plainly(&model).await.unwrap_err().kind, Kind::Server);
    let (reply, deltas) = Asked::default().of(&model).await;
    assert_eq!(reply.unwrap().text, "héllo");
    assert_eq!(deltas, ["Reasoning(\"hm\")", "Text(\"hé\")", "Text(\"ll\")", "Text(\"o\")"]);
    let body = json!({"messages": [{"role": "assistant", "content": "héllo"}]});
    let reply = model
        .0
        .client
        .post::<ChatReader>("chat/completions", body.to_string().into_bytes(), &mut |_| ())
        .await
        .unwrap();
    assert_eq!(reply.calls[0].id.as_str(), "call_1_0");
}
