use super::decode::AnthropicReader;
use crate::wire::StreamDecoder;
use everloop_types::{
    CallId, ModelError, ModelErrorKind as Kind, Reply, StopCause, ToolCall, Usage,
};

const CALLS: &[u8] = include_bytes!("../../testdata/anthropic_calls.sse");

/// The reply and the deltas, from bytes that come in pieces of `size`.
fn decode_in(bytes: &[u8], size: usize) -> (Result<Reply, ModelError>, Vec<String>) {
    let mut deltas = Vec::new();
    let mut decoder = StreamDecoder::<AnthropicReader>::new(1 << 20);
    for chunk in bytes.chunks(size) {
        if let Err(e) = decoder.feed(chunk, &mut |delta| deltas.push(format!("{delta:?}"))) {
            return (Err(e), deltas);
        }
    }
    let reply = decoder.finish(&mut |delta| deltas.push(format!("{delta:?}")));
    (reply, deltas)
}

fn decode(events: &[&str]) -> Result<Reply, ModelError> {
    let text: String = events.iter().map(|data| format!("data: {data}\n\n")).collect();
    decode_in(text.as_bytes(), usize::MAX).0
}

fn call(id: &str, args: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), tool: "weather".to_owned(), args: args.to_owned() }
}

#[test]
fn text_thinking_and_parallel_calls_become_one_reply_and_its_deltas() {
    let expected = Reply {
        text: "I look both up: ü😀".to_owned(),
        reasoning: "Two cities, two calls.".to_owned(),
        calls: vec![call("toolu_a", r#"{"city":"Rome"}"#), call("toolu_b", r#"{"city":"Oslo"}"#)],
        usage: Usage { input_tokens: 120, output_tokens: 30, cached_tokens: 64 },
        stop: StopCause::ToolCalls,
        salvaged: false,
    };
    let (reply, deltas) = decode_in(CALLS, usize::MAX);
    assert_eq!(reply.unwrap(), expected);
    assert_eq!(deltas.len(), 4 + 2 + 3);
    assert_eq!(deltas[0], r#"Reasoning("Two cities, ")"#);
    assert_eq!(deltas[4], r#"CallStarted { index: 0, tool: "weather" }"#);
    assert_eq!(deltas[8], r#"CallArgs { index: 1, args: "{\"city\":\"Oslo\"}" }"#);
}

#[test]
fn stop_reasons_are_told_apart() {
    let stopped = |reason: &str| {
        let text = r#"{"type":"content_block_delta","index":0,"delta":{"text":"hi"}}"#;
        let end = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        decode(&[text, &end]).unwrap().stop
    };
    assert_eq!(stopped("end_turn"), StopCause::Done);
    assert_eq!(stopped("stop_sequence"), StopCause::Done);
    assert_eq!(stopped("max_tokens"), StopCause::Length);
    assert_eq!(stopped("model_context_window_exceeded"), StopCause::Length);
    assert_eq!(stopped("refusal"), StopCause::Filtered);
    assert_eq!(stopped("tool_use"), StopCause::Done, "no call came");
}

#[test]
fn errors_inside_of_a_stream_keep_their_kind() {
    let error = |name: &str| {
        let event =
            format!(r#"{{"type":"error","error":{{"type":"{name}","message":"said {name}"}}}}"#);
        let error = decode(&[r#"{"type":"ping"}"#, &event]).unwrap_err();
        assert_eq!(error.detail, format!("said {name}"));
        error.kind
    };
    for (name, kind) in [
        ("overloaded_error", Kind::Server),
        ("api_error", Kind::Server),
        ("rate_limit_error", Kind::RateLimited),
        ("timeout_error", Kind::TimedOut),
        ("invalid_request_error", Kind::Refused),
        ("authentication_error", Kind::Unauthorized),
        ("permission_error", Kind::Forbidden),
        ("billing_error", Kind::NoCredit),
        ("not_found_error", Kind::NotFound),
        ("request_too_large", Kind::Refused),
    ] {
        assert_eq!(error(name), kind, "{name}");
    }
}

#[test]
fn a_message_that_is_not_streamed_is_accepted() {
    let whole = r#"{"type":"message","role":"assistant","content":[
        {"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"so"},
        {"type":"tool_use","id":"t1","name":"weather","input":{"city":"Rome"}},
        {"type":"tool_use","id":"t2","name":"weather","input":{}}],
        "stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}"#;
    let reply = decode_in(whole.as_bytes(), 7).0.unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("so", "hm"));
    assert_eq!(reply.calls, [call("t1", r#"{"city":"Rome"}"#), call("t2", "{}")]);
    assert_eq!(reply.usage.total(), 7);
}

#[test]
fn events_that_are_not_known_say_nothing() {
    let text = r#"{"type":"content_block_delta","index":0,"delta":{"text":"hi"}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let odd = [
        r#"{"type":"aside","delta":{"text":"no"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"aside","text":"no"}}"#,
    ];
    assert_eq!(decode(&[odd[0], text, odd[1], end]).unwrap().text, "hi");
}
