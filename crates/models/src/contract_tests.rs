//! What every codec holds, as one table of cases: the faults that servers really produce.
//!
//! ```text
//!   Speaker: how one provider spells text, calls, usage, its end      ── three of them
//!   Case:    what comes over the wire, and what has to come of it     ── for each of them
//! ```

use crate::anthropic::decode::AnthropicReader;
use crate::gemini::decode::GeminiReader;
use crate::openai::codec::ChatReader;
use crate::testing::{CannedReply, FakeServer};
use crate::wire::{EventReader, StreamDecoder};
use crate::{Endpoint, connect};
use everloop_ports::{Model, Request, WirePrompt};
use everloop_types::{Message, ModelError, ModelErrorKind as Kind, Reply, StopCause, ToolChoice};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const REPLY_BYTES_MAX: usize = 1 << 16;

type Decoded = (Result<Reply, ModelError>, Vec<String>);

/// How one provider speaks.
struct Speaker {
    /// As in `provider/model`.
    provider: &'static str,
    /// A stream in the provider's documented form: reasoning, text, two parallel calls, usage.
    recorded: &'static [u8],
    /// From where on the recorded stream may break off without harm.
    finished_by: &'static str,
    decode: fn(&[u8], usize) -> Decoded,
    /// Events with a text.
    text: fn(&str) -> Vec<Value>,
    /// Events with one whole call.
    call: fn(&str, &str, Value) -> Vec<Value>,
    /// Events that end the reply and say what it has used: tokens read and written.
    end: fn(u64, u64) -> Vec<Value>,
    /// What follows the last event.
    mark: &'static str,
    /// An overload, as it is said inside of a stream.
    overload: fn() -> Value,
}

const SPEAKERS: [Speaker; 3] = [
    Speaker {
        provider: "openai",
        recorded: include_bytes!("../testdata/parallel_calls.sse"),
        finished_by: r#""finish_reason":"tool_calls"}]}"#,
        decode: decode::<ChatReader>,
        text: |text| vec![json!({"choices": [{"delta": {"content": text}}]})],
        call: |id, name, args| {
            let function = json!({"name": name, "arguments": args.to_string()});
            let call = json!({"index": 0, "id": id, "function": function});
            vec![json!({"choices": [{"delta": {"tool_calls": [call]}}]})]
        },
        end: |read, written| {
            let tokens = json!({"prompt_tokens": read, "completion_tokens": written});
            vec![
                json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
                json!({"choices": [], "usage": tokens}),
            ]
        },
        mark: "data: [DONE]\n\n",
        overload: || json!({"error": {"message": "overloaded", "code": 503}}),
    },
    Speaker {
        provider: "anthropic",
        recorded: include_bytes!("../testdata/anthropic_calls.sse"),
        finished_by: r#""usage":{"output_tokens":30}}"#,
        decode: decode::<AnthropicReader>,
        text: |text| {
            vec![json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": text}})]
        },
        call: |id, name, args| {
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            let delta = json!({"type": "input_json_delta", "partial_json": args.to_string()});
            vec![
                json!({"type": "content_block_start", "index": 0, "content_block": block}),
                json!({"type": "content_block_delta", "index": 0, "delta": delta}),
                json!({"type": "content_block_stop", "index": 0}),
            ]
        },
        end: |read, written| {
            let tokens = json!({"input_tokens": read, "output_tokens": written});
            vec![json!({"type": "message_delta", "usage": tokens,
                "delta": {"stop_reason": "end_turn"}})]
        },
        mark: "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        overload: || {
            json!({"type": "error",
                "error": {"type": "overloaded_error", "message": "overloaded"}})
        },
    },
    Speaker {
        provider: "gemini",
        recorded: include_bytes!("../testdata/gemini_calls.sse"),
        finished_by: r#""thoughtsTokenCount": 5},"modelVersion": "m-1","responseId": "r-1"}"#,
        decode: decode::<GeminiReader>,
        text: |text| vec![json!({"candidates": [{"content": {"parts": [{"text": text}]}}]})],
        call: |id, name, args| {
            let call = json!({"id": id, "name": name, "args": args});
            vec![json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]})]
        },
        end: |read, written| {
            let tokens = json!({"promptTokenCount": read, "candidatesTokenCount": written});
            vec![json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": tokens})]
        },
        mark: "",
        overload: || json!({"error": {"code": 503, "message": "overloaded"}}),
    },
];

/// The reply and the deltas, from bytes that come in pieces of `size`.
fn decode<R: EventReader>(bytes: &[u8], size: usize) -> Decoded {
    let mut deltas = Vec::new();
    let mut decoder = StreamDecoder::<R>::new(REPLY_BYTES_MAX);
    for chunk in bytes.chunks(size) {
        if let Err(e) = decoder.feed(chunk, &mut |delta| deltas.push(format!("{delta:?}"))) {
            return (Err(e), deltas);
        }
    }
    let reply = decoder.finish(&mut |delta| deltas.push(format!("{delta:?}")));
    (reply, deltas)
}

impl Speaker {
    fn read(&self, stream: impl AsRef<[u8]>) -> Result<Reply, ModelError> {
        (self.decode)(stream.as_ref(), usize::MAX).0
    }

    fn kind(&self, stream: impl AsRef<[u8]>) -> Option<Kind> {
        self.read(stream).err().map(|error| error.kind)
    }

    /// The end of a reply without what marks it.
    fn unmarked_end(&self) -> String {
        events(&(self.end)(5, 2))
    }

    /// A whole reply that says a text.
    fn says(&self, text: &str) -> String {
        events(&(self.text)(text)) + &self.unmarked_end() + self.mark
    }
}

fn events(data: &[Value]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// A promise that every codec keeps.
type Promise = fn(&Speaker);

/// The table. Each is run for each speaker; the name is the sentence that it proves.
const CASES: [(&str, Promise); 17] = [
    ("a stream is the same reply wherever its bytes are parted", parted_anywhere),
    ("a stream that is cut anywhere before its finish is an error", cut_anywhere),
    ("a finish without an end mark is an end", no_end_mark),
    ("a stream that ends without a finish is cut", no_finish),
    ("calls that carry the same number are two calls", repeated_index),
    ("pieces of a call without a number are one call", no_index),
    ("usage that comes only at the end is read", late_usage),
    ("an error inside of a stream with status 200 is an error", error_event),
    ("an error after some text is an error, not a short reply", error_after_text),
    ("a reply with nothing in it is empty", empty_reply),
    ("no bytes at all are an empty reply", no_bytes),
    ("a reply over the limit is too large, in text, calls and one endless line", oversized),
    ("halves of surrogate pairs are replaced", surrogate_halves),
    ("NUL is replaced, in text and arguments", nul),
    ("keep-alives and other fields say nothing", keep_alives),
    ("an event may span lines, and lines may end in CRLF", spread_lines),
    ("what is no event stream is malformed", no_stream),
];

#[test]
fn every_codec_keeps_the_contract() {
    for (_, promise) in CASES {
        SPEAKERS.iter().for_each(promise);
    }
}

fn parted_anywhere(speaker: &Speaker) {
    let (whole, whole_deltas) = (speaker.decode)(speaker.recorded, usize::MAX);
    let whole = whole.unwrap();
    assert_eq!((whole.calls.len(), whole.stop), (2, StopCause::ToolCalls));
    assert_eq!((whole.text.as_str(), whole.usage.cached_tokens), ("I look both up: ü😀", 64));
    let crlf = String::from_utf8(speaker.recorded.to_vec()).unwrap().replace('\n', "\r\n");
    for bytes in [speaker.recorded, crlf.as_bytes()] {
        // The first border lies after each byte in turn.
        for size in 1..bytes.len() {
            let (reply, deltas) = (speaker.decode)(bytes, size);
            assert_eq!(reply.unwrap(), whole, "{} in pieces of {size}", speaker.provider);
            assert_eq!(deltas, whole_deltas);
        }
    }
}

fn cut_anywhere(speaker: &Speaker) {
    let text = std::str::from_utf8(speaker.recorded).unwrap();
    let finish = text.rfind(speaker.finished_by).unwrap();
    for end in 1..finish {
        let kind = speaker.kind(&speaker.recorded[..end]);
        assert_eq!(kind, Some(Kind::Cut), "{} after {end} bytes", speaker.provider);
    }
    let unmarked = finish + speaker.finished_by.len();
    assert_eq!(speaker.read(&speaker.recorded[..unmarked]).unwrap().calls.len(), 2);
}

fn no_end_mark(speaker: &Speaker) {
    let unmarked = events(&(speaker.text)("hi")) + &speaker.unmarked_end();
    let reply = speaker.read(unmarked.trim_end()).unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("hi", StopCause::Done));
    assert_eq!(reply, speaker.read(speaker.says("hi")).unwrap());
}

fn no_finish(speaker: &Speaker) {
    assert_eq!(speaker.kind(events(&(speaker.text)("hi"))), Some(Kind::Cut));
    let call = (speaker.call)("a", "t", json!({"x": 1}));
    assert_eq!(speaker.kind(events(&call)), Some(Kind::Cut));
}

fn repeated_index(speaker: &Speaker) {
    let first = (speaker.call)("a", "t", json!({"x": 1}));
    let second = (speaker.call)("b", "u", json!({"y": 2}));
    let stream = events(&first) + &events(&second) + &speaker.unmarked_end();
    let calls = speaker.read(stream).unwrap().calls;
    let shown: Vec<_> =
        calls.iter().map(|c| (c.id.as_str(), c.tool.as_str(), c.args.as_str())).collect();
    assert_eq!(shown, [("a", "t", r#"{"x":1}"#), ("b", "u", r#"{"y":2}"#)]);
}

fn no_index(speaker: &Speaker) {
    let mut call = (speaker.call)("a", "t", json!({"x": 1}));
    for event in &mut call {
        without(event, "index");
    }
    let reply = speaker.read(events(&call) + &speaker.unmarked_end()).unwrap();
    assert_eq!((reply.calls.len(), reply.calls[0].args.as_str()), (1, r#"{"x":1}"#));
    assert_eq!(reply.stop, StopCause::ToolCalls);
}

fn without(value: &mut Value, name: &str) {
    match value {
        Value::Object(fields) => {
            fields.remove(name);
            fields.values_mut().for_each(|value| without(value, name));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| without(value, name)),
        _ => {}
    }
}

fn late_usage(speaker: &Speaker) {
    let usage = speaker.read(speaker.says("hi")).unwrap().usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (5, 2), "{}", speaker.provider);
}

fn error_event(speaker: &Speaker) {
    let expected = ModelError::new(Kind::Server, "overloaded");
    let event = (speaker.overload)();
    assert_eq!(speaker.read(events(std::slice::from_ref(&event))).unwrap_err(), expected);
    assert_eq!(speaker.read(event.to_string()).unwrap_err(), expected, "as a whole body");
}

fn error_after_text(speaker: &Speaker) {
    let stream = events(&(speaker.text)("so far")) + &events(&[(speaker.overload)()]);
    let (reply, deltas) = (speaker.decode)(stream.as_bytes(), 7);
    assert_eq!(reply.unwrap_err().kind, Kind::Server);
    assert_eq!(deltas, [r#"Text("so far")"#], "watchers saw what came");
}

fn empty_reply(speaker: &Speaker) {
    assert_eq!(speaker.kind(speaker.unmarked_end() + speaker.mark), Some(Kind::Empty));
    assert_eq!(speaker.kind(speaker.says(" \n")), Some(Kind::Empty));
}

fn no_bytes(speaker: &Speaker) {
    for nothing in ["", " \r\n", "\u{feff}"] {
        assert_eq!(speaker.kind(nothing), Some(Kind::Empty));
    }
}

fn oversized(speaker: &Speaker) {
    let half = "x".repeat(REPLY_BYTES_MAX / 2 + 1);
    let text = events(&(speaker.text)(&half));
    assert_eq!(speaker.kind(format!("{text}{text}")), Some(Kind::TooLarge));
    let call = events(&(speaker.call)("a", "t", json!({ "x": half })));
    let again = events(&(speaker.call)("b", "t", json!({ "x": half })));
    assert_eq!(speaker.kind(format!("{call}{again}")), Some(Kind::TooLarge));
    let line = format!("data: {}", "x".repeat(2 * REPLY_BYTES_MAX));
    assert_eq!((speaker.decode)(line.as_bytes(), 999).0.unwrap_err().kind, Kind::TooLarge);
}

fn surrogate_halves(speaker: &Speaker) {
    for (half, read) in [
        (r"a\ud800b", "a\u{fffd}b"),
        (r"a\udc00\ud83d\ude00", "a\u{fffd}😀"),
        (r"\ud83d", "\u{fffd}"),
    ] {
        let stream = speaker.says("HERE").replace("HERE", half);
        assert_eq!(speaker.read(stream).unwrap().text, read, "{}", speaker.provider);
    }
}

fn nul(speaker: &Speaker) {
    let escaped = speaker.says("a\0b");
    assert!(escaped.contains("\\u0000"));
    assert_eq!(speaker.read(&escaped).unwrap().text, "a\u{fffd}b");
    assert_eq!(speaker.read(escaped.replace("\\u0000", "\0")).unwrap().text, "a\u{fffd}b");
    let call = events(&(speaker.call)("a\0", "t\0", json!({"x": "\0"})));
    let calls = speaker.read(call + &speaker.unmarked_end()).unwrap().calls;
    assert!(!calls[0].id.as_str().contains('\0') && !calls[0].tool.contains('\0'));
    assert!(!calls[0].args.contains('\0'), "{:?}", calls[0].args);
}

fn keep_alives(speaker: &Speaker) {
    let (text, end) = (events(&(speaker.text)("hi")), speaker.unmarked_end());
    let noise = ": keep-alive\n\n:\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nid: 7\nretry: 5\n\ndata\n\n";
    let stream = format!("\u{feff}{noise}{text}{noise}{end}{noise}");
    assert_eq!(speaker.read(stream).unwrap().text, "hi", "{}", speaker.provider);
}

fn spread_lines(speaker: &Speaker) {
    let pretty: String = (speaker.text)("hi")
        .iter()
        .map(|event| serde_json::to_string_pretty(event).unwrap())
        .map(|text| text.lines().map(|line| format!("data: {line}\r\n")).collect::<String>())
        .collect();
    let stream = format!("{pretty}\r\n{}", speaker.unmarked_end());
    assert_eq!(speaker.read(stream).unwrap().text, "hi", "{}", speaker.provider);
}

fn no_stream(speaker: &Speaker) {
    assert_eq!(speaker.kind("<html>Bad gateway</html>"), Some(Kind::Malformed));
    assert_eq!(speaker.kind("data: {]\n\n"), Some(Kind::Malformed));
    assert_eq!(speaker.kind(r#"{"hello":"world"}"#), Some(Kind::Malformed));
    assert_eq!(speaker.kind("{\"hello\":"), Some(Kind::Cut));
}

/// What the client adds: statuses, time, and the size of what it takes, over a loopback socket.
#[tokio::test]
async fn every_client_keeps_the_contract() {
    for speaker in SPEAKERS {
        let text = events(&(speaker.text)("piece"));
        let limited = CannedReply::status(429, "retry-after: 7\r\n", "slow down");
        for (canned, kind) in [
            (limited, Kind::RateLimited),
            (CannedReply::status(529, "", "overloaded"), Kind::Server),
            (CannedReply::status(401, "", "who are you"), Kind::Unauthorized),
            (CannedReply::stream().then(text.as_bytes()).cut(), Kind::Cut),
            (CannedReply::stream().then(text.as_bytes()).end(), Kind::Cut),
            (CannedReply::stream().then(text.as_bytes()).stall(), Kind::TimedOut),
            (CannedReply::default().stall(), Kind::TimedOut),
            (CannedReply::stream().forever(": still here\n\n"), Kind::TimedOut),
            (CannedReply::stream().forever(text.repeat(500)), Kind::TooLarge),
            (CannedReply::json(""), Kind::Empty),
        ] {
            let server = FakeServer::start(vec![canned]);
            let error = asked(&speaker, &server).await.unwrap_err();
            assert_eq!(error.kind, kind, "{}: {}", speaker.provider, error.detail);
            let wait = (kind == Kind::RateLimited).then_some(7_000);
            assert_eq!(error.retry_after_ms, wait);
        }
        let whole = CannedReply::stream().then(speaker.says("hi").into_bytes()).cut();
        let server = FakeServer::start(vec![whole]);
        let reply = asked(&speaker, &server).await.unwrap();
        assert_eq!(reply.text, "hi", "a connection lost after the finish loses nothing");
    }
}

/// Comments say that the server is there, not that it gets on.
#[tokio::test]
async fn comments_keep_no_stream_alive_for_ever() {
    for speaker in SPEAKERS {
        let text = events(&(speaker.text)("piece"));
        let hangs = CannedReply::stream().then(text.as_bytes()).forever(": keep-alive\n\n");
        let server = FakeServer::start(vec![hangs]);
        let mut endpoint = Endpoint::at(server.url());
        endpoint.timeouts.idle_ms = 60;
        endpoint.timeouts.first_byte_ms = 300;
        let (model, name) = connect(&format!("{}/m", speaker.provider), endpoint).unwrap();
        let begun = Instant::now();
        let error = ask(&*model, &name).await.unwrap_err();
        assert_eq!(error.kind, Kind::TimedOut, "{}: {}", speaker.provider, error.detail);
        assert!(begun.elapsed() < Duration::from_secs(60), "far less than ten minutes");
    }
}

/// The time for a connection is part of the time until the first byte.
#[tokio::test]
async fn the_first_byte_is_waited_for_no_longer_than_the_settings_say() {
    let server = FakeServer::start(vec![CannedReply::default().stall()]);
    let mut endpoint = Endpoint::at(server.url());
    endpoint.timeouts.first_byte_ms = 50;
    endpoint.timeouts.connect_ms = 3_600_000;
    let (model, name) = connect(&format!("{}/m", SPEAKERS[0].provider), endpoint).unwrap();
    let begun = Instant::now();
    assert_eq!(ask(&*model, &name).await.unwrap_err().kind, Kind::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// llama.cpp closes a connection after each stream without a word.
#[tokio::test]
async fn a_kept_connection_that_was_closed_meanwhile_costs_no_attempt() {
    for speaker in SPEAKERS {
        let says = || CannedReply::stream().then(speaker.says("hi").into_bytes()).end();
        let server = FakeServer::start(vec![CannedReply::default().cut(), says()]);
        let error = asked(&speaker, &server).await.unwrap_err();
        assert_eq!(error.kind, Kind::Cut, "a first connection is not tried again");
        let closed = CannedReply::default().cut();
        let server =
            FakeServer::start(vec![says(), closed.clone(), says(), closed.clone(), closed]);
        let (model, name) =
            connect(&format!("{}/m", speaker.provider), Endpoint::at(server.url())).unwrap();
        for _ in 0..2 {
            assert_eq!(ask(&*model, &name).await.unwrap().text, "hi");
        }
        assert_eq!(server.seen().len(), 3);
        assert_eq!(ask(&*model, &name).await.unwrap_err().kind, Kind::Cut, "and only once");
    }
}

/// Who says that nothing more comes is not waited for.
#[tokio::test]
async fn an_end_mark_is_an_end_though_the_connection_stays() {
    for speaker in SPEAKERS.iter().filter(|speaker| !speaker.mark.is_empty()) {
        let server = FakeServer::start(vec![
            CannedReply::stream().then(speaker.says("hi").into_bytes()).stall(),
        ]);
        let begun = Instant::now();
        let (model, name) =
            connect(&format!("{}/m", speaker.provider), Endpoint::at(server.url())).unwrap();
        assert_eq!(ask(&*model, &name).await.unwrap().text, "hi");
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", speaker.provider);
    }
}

async fn asked(speaker: &Speaker, server: &FakeServer) -> Result<Reply, ModelError> {
    let mut endpoint = Endpoint::at(server.url());
    endpoint.timeouts.idle_ms = 60;
    endpoint.timeouts.total_ms = 600;
    endpoint.timeouts.first_byte_ms = 60;
    endpoint.timeouts.connect_ms = 60;
    endpoint.reply_bytes_max = REPLY_BYTES_MAX;
    let (model, name) = connect(&format!("{}/m", speaker.provider), endpoint).unwrap();
    ask(&*model, &name).await
}

async fn ask(model: &dyn Model, name: &str) -> Result<Reply, ModelError> {
    let request = Request {
        model: name,
        messages: &[Message::user("go")],
        wire: &mut WirePrompt::default(),
        tools: Vec::new(),
        choice: &ToolChoice::Auto,
        output: None,
        temperature_milli: 0,
        max_tokens: 64,
    };
    model.ask(request, &mut |_| ()).await
}
