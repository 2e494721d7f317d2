//! The faults that servers really produce, each as bytes.

use super::ChatDecoder;
use everloop_types::{
    CallId, ModelError, ModelErrorKind as Kind, Reply, StopCause, ToolCall, Usage,
};

const PARALLEL: &[u8] = include_bytes!("../../../testdata/parallel_calls.sse");
const WHOLE: &[u8] = include_bytes!("../../../testdata/whole_reply.json");
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

/// The reply and the deltas, from bytes that come in pieces of `size`.
fn decode_in(bytes: &[u8], size: usize) -> (Result<Reply, ModelError>, Vec<String>) {
    let mut deltas = Vec::new();
    let mut decoder = ChatDecoder::new(1 << 20);
    for chunk in bytes.chunks(size) {
        if let Err(e) = decoder.feed(chunk, &mut |delta| deltas.push(format!("{delta:?}"))) {
            return (Err(e), deltas);
        }
    }
    let reply = decoder.finish(&mut |delta| deltas.push(format!("{delta:?}")));
    (reply, deltas)
}

fn decode(bytes: impl AsRef<[u8]>) -> Result<Reply, ModelError> {
    decode_in(bytes.as_ref(), usize::MAX).0
}

fn kind(bytes: impl AsRef<[u8]>) -> Kind {
    decode(bytes).unwrap_err().kind
}

/// A stream of these data, with `[DONE]`.
fn stream(data: &[&str]) -> String {
    let mut text: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    text
}

fn call_parts(parts: &[&str]) -> Vec<ToolCall> {
    let chunk = |part: &&str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{part}]}}}}]}}"#);
    let mut data: Vec<_> = parts.iter().map(chunk).collect();
    data.push(STOP.to_owned());
    let data: Vec<_> = data.iter().map(String::as_str).collect();
    decode(stream(&data)).unwrap().calls
}

fn call(id: &str, tool: &str, args: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), tool: tool.to_owned(), args: args.to_owned() }
}

fn said(text: &str) -> String {
    let content = serde_json::to_string(text).unwrap();
    format!(r#"{{"choices":[{{"delta":{{"content":{content}}}}}]}}"#)
}

#[test]
fn a_stream_becomes_the_same_reply_however_it_is_cut_into_chunks() {
    let expected = Reply {
        text: "I look both up: ü😀".to_owned(),
        reasoning: "Two cities, two calls.".to_owned(),
        calls: vec![
            call("call_a", "weather", r#"{"city":"Rome"}"#),
            call("call_b", "weather", r#"{"city":"Oslo"}"#),
        ],
        usage: Usage { input_tokens: 120, output_tokens: 30, cached_tokens: 64 },
        stop: StopCause::ToolCalls,
        salvaged: false,
    };
    let (_, whole_deltas) = decode_in(PARALLEL, usize::MAX);
    let crlf = String::from_utf8(PARALLEL.to_vec()).unwrap().replace('\n', "\r\n");
    for size in [1, 2, 3, 7, 64, 1000, usize::MAX] {
        for bytes in [PARALLEL, crlf.as_bytes()] {
            let (reply, deltas) = decode_in(bytes, size);
            assert_eq!(reply.unwrap(), expected, "in pieces of {size}");
            assert_eq!(deltas, whole_deltas);
        }
    }
    assert_eq!(whole_deltas.len(), 4 + 2 + 3);
    assert_eq!(whole_deltas[4], r#"CallStarted { index: 0, tool: "weather" }"#);
    assert_eq!(whole_deltas[7], r#"CallArgs { index: 1, args: "{\"city\":\"Oslo\"}" }"#);
}

#[test]
fn a_stream_that_breaks_off_anywhere_before_its_finish_is_cut() {
    let text = std::str::from_utf8(PARALLEL).unwrap();
    let finish = text.find(r#""finish_reason":"tool_calls"}]}"#).unwrap();
    for end in 1..finish {
        let kind = decode(&PARALLEL[..end]).err().map(|e| e.kind);
        assert_eq!(kind, Some(Kind::Cut), "after {end} bytes");
    }
}

#[test]
fn a_finish_reason_without_done_is_an_end() {
    let text = std::str::from_utf8(PARALLEL).unwrap();
    let reply = decode(text.split("data: [DONE]").next().unwrap()).unwrap();
    assert_eq!(reply.usage.input_tokens, 120);
    let reply = decode(format!("data: {}\n\ndata: {STOP}", said("hi"))).unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("hi", StopCause::Done));
    let torn = decode(format!("data: {}\n\ndata: {STOP}\n\ndata: [DO", said("hi"))).unwrap();
    assert_eq!(torn, reply);
    let reply = decode(stream(&[&said("hi")])).unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("hi", StopCause::Done));
}

#[test]
fn calls_are_told_apart_with_broken_numbers_and_ids() {
    let begin = r#"{"id":"a","function":{"name":"t","arguments":"{\"x\""}}"#;
    let go_on = r#"{"function":{"arguments":":1}"}}"#;
    let whole = r#"{"x":1}"#;
    // No index at all, the continuation without an id.
    assert_eq!(call_parts(&[begin, go_on]), [call("a", "t", whole)]);
    // Two calls that both carry index 0, told apart by their ids.
    let a = r#"{"index":0,"id":"a","function":{"name":"t","arguments":"{\"x\":1}"}}"#;
    let b = r#"{"index":0,"id":"b","function":{"name":"u","arguments":"{\"y\""}}"#;
    let b_on = r#"{"index":0,"function":{"arguments":":2}"}}"#;
    let two = [call("a", "t", whole), call("b", "u", r#"{"y":2}"#)];
    assert_eq!(call_parts(&[a, b, b_on]), two);
    assert_eq!(call_parts(&[&format!("{a},{b}"), b_on]), two);
    // The id is repeated with each piece, or the name is.
    let again = r#"{"index":0,"id":"a","function":{"name":"t","arguments":":1}"}}"#;
    let first = r#"{"index":0,"id":"a","function":{"name":"t","arguments":"{\"x\""}}"#;
    assert_eq!(call_parts(&[first, again]), [call("a", "t", whole)]);
    // Neither ids nor numbers that differ: whole arguments end a call.
    let bare = r#"{"index":0,"function":{"name":"t","arguments":"{\"x\":1}"}}"#;
    assert_eq!(call_parts(&[bare, bare]), [call("", "t", whole), call("", "t", whole)]);
    // The same id for calls of different numbers.
    let other = r#"{"index":1,"id":"a","function":{"name":"t","arguments":"{}"}}"#;
    assert_eq!(call_parts(&[a, other]), [call("a", "t", whole), call("a", "t", "{}")]);
}

#[test]
fn arguments_may_be_an_object_or_missing_and_ids_null() {
    let object = r#"{"index":0,"id":null,"function":{"name":"t","arguments":{"x":[1]}}}"#;
    assert_eq!(call_parts(&[object]), [call("", "t", r#"{"x":[1]}"#)]);
    let none = r#"{"index":0,"id":"a","function":{"name":"t"}}"#;
    assert_eq!(call_parts(&[none]), [call("a", "t", "{}")]);
    let broken = r#"{"index":0,"function":{"name":"t","arguments":"{\"x\":\"\\ud800\"}"}}"#;
    assert_eq!(call_parts(&[broken]), [call("", "t", "{\"x\":\"\u{fffd}\"}")]);
}

#[test]
fn ten_thousand_calls_in_one_reply_are_read() {
    let part = |n: usize| {
        format!(r#"{{"index":{n},"id":"c{n}","function":{{"name":"t","arguments":"{{}}"}}}}"#)
    };
    let parts: Vec<_> = (0..10_000).map(part).collect();
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    let calls = call_parts(&parts);
    assert_eq!((calls.len(), calls[9_999].id.as_str()), (10_000, "c9999"));
}

#[test]
fn a_whole_json_reply_to_a_stream_request_is_accepted() {
    let (reply, deltas) = decode_in(WHOLE, 10);
    let expected = Reply {
        calls: vec![call("", "now", r#"{"zone":"UTC"}"#)],
        usage: Usage { input_tokens: 10, output_tokens: 4, cached_tokens: 8 },
        stop: StopCause::ToolCalls,
        ..Reply::default()
    };
    assert_eq!(reply.unwrap(), expected);
    assert_eq!(deltas.len(), 2);
    assert_eq!(kind(&WHOLE[..200]), Kind::Cut);
    assert_eq!(kind(r#"{"hello":"world"}"#), Kind::Malformed);
}

#[test]
fn errors_with_status_200_are_errors() {
    let limited = r#"{"error":{"message":"slow","type":"x","code":429}}"#;
    let error = decode(limited).unwrap_err();
    assert_eq!((error.kind, error.detail.as_str()), (Kind::RateLimited, "slow"));
    assert_eq!(kind(stream(&[&said("so far"), limited])), Kind::RateLimited);
    assert_eq!(kind(stream(&[r#"{"error":"out of memory"}"#])), Kind::Server);
    let long = r#"{"error":{"message":"long","code":"context_length_exceeded"}}"#;
    assert_eq!(kind(stream(&[long])), Kind::TooLong);
    let old = r#"{"object":"error","message":"no such model","code":404}"#;
    assert_eq!(decode(old).unwrap_err(), ModelError::new(Kind::NotFound, "no such model"));
    assert_eq!(kind(format!("data: {}\n\nerror: {limited}\n\n", said("x"))), Kind::RateLimited);
    assert_eq!(kind(format!("data: {}\n\n{limited}\n", said("x"))), Kind::RateLimited);
}

#[test]
fn nothing_at_all_is_empty_and_what_is_no_reply_is_malformed() {
    assert_eq!(kind(""), Kind::Empty);
    assert_eq!(kind(" \r\n"), Kind::Empty);
    assert_eq!(kind(stream(&[])), Kind::Empty);
    assert_eq!(kind(stream(&[&said(" \n"), STOP])), Kind::Empty);
    assert_eq!(kind(r#"{"choices":[{"message":{"content":"","tool_calls":[]}}]}"#), Kind::Empty);
    assert_eq!(kind("<html>Bad gateway</html>"), Kind::Malformed);
    assert_eq!(kind("data: {]\n\n"), Kind::Malformed);
    let filtered = r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#;
    assert_eq!(decode(stream(&[filtered])).unwrap().stop, StopCause::Filtered);
}

#[test]
fn damaged_text_is_replaced_and_never_an_error() {
    let text = |json: &[u8]| {
        let mut bytes = br#"data: {"choices":[{"delta":{"content":""#.to_vec();
        bytes.extend_from_slice(json);
        bytes.extend_from_slice(b"\"},\"finish_reason\":\"stop\"}]}\n\n");
        decode(bytes).unwrap().text
    };
    assert_eq!(text(br"a\ud800b"), "a\u{fffd}b");
    assert_eq!(text(br"a\udc00\ud83d\ude00"), "a\u{fffd}😀");
    assert_eq!(text(br"a\u0000b"), "a\u{fffd}b");
    assert_eq!(text(b"a\xff\xfeb"), "a\u{fffd}\u{fffd}b");
    assert_eq!(text(b"a\0b\tc"), "a\u{fffd}b\tc");
}

#[test]
fn events_may_span_lines_lack_blank_lines_and_have_other_fields() {
    let (a, b) = (said("a"), said("b"));
    let unspaced = format!("data:{a}\ndata:{b}\ndata:{STOP}\ndata:[DONE]\n");
    assert_eq!(decode(unspaced).unwrap().text, "ab");
    let half = a.find(':').unwrap() + 1;
    let (left, right) = a.split_at(half);
    let spread =
        format!("event: chunk\nid: 1\ndata: {left}\ndata: {right}\n\nretry: 5\ndata: {STOP}\n\n");
    assert_eq!(decode(spread).unwrap().text, "a");
    let padded = format!("\u{feff}\n\n:\n\ndata\n\ndata: {a}\n\ndata: {STOP}\n\n");
    assert_eq!(decode(padded).unwrap().text, "a");
}

#[test]
fn contents_in_parts_and_other_names_for_reasoning_are_read() {
    let parts = r#"{"choices":[{"delta":{"content":[{"type":"text","text":"hi"}]}}]}"#;
    let reasoning = r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#;
    let both = r#"{"choices":[{"delta":{"reasoning":"m","reasoning_content":"m"}}]}"#;
    let refusal = r#"{"choices":[{"delta":{"refusal":"!"}}],"usage":null}"#;
    let reply = decode(stream(&[reasoning, both, parts, refusal, STOP])).unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("hi!", "hmm"));
}

#[test]
fn a_reply_over_the_limit_is_refused_whatever_its_shape() {
    let long = said(&"x".repeat(600_000));
    assert_eq!(kind(stream(&[&long, &long, STOP])), Kind::TooLarge);
    assert_eq!(kind(format!("data: {}", "x".repeat(2 << 20))), Kind::TooLarge);
    assert_eq!(kind(format!("{{{}", " ".repeat(2 << 20))), Kind::TooLarge);
    let lines = "data: \"x\n".repeat(400_000);
    assert_eq!(kind(format!("data: {{\n{lines}")), Kind::TooLarge);
}
