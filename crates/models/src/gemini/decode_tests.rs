use super::decode::GeminiReader;
use crate::wire::StreamDecoder;
use everloop_types::{
    CallId, ModelError, ModelErrorKind as Kind, Reply, StopCause, ToolCall, Usage,
};

const CALLS: &[u8] = include_bytes!("../../testdata/gemini_calls.sse");

fn decode_bytes(bytes: &[u8]) -> (Result<Reply, ModelError>, Vec<String>) {
    let mut deltas = Vec::new();
    let mut decoder = StreamDecoder::<GeminiReader>::new(1 << 20);
    if let Err(e) = decoder.feed(bytes, &mut |delta| deltas.push(format!("{delta:?}"))) {
        return (Err(e), deltas);
    }
    let reply = decoder.finish(&mut |delta| deltas.push(format!("{delta:?}")));
    (reply, deltas)
}

fn decode(events: &[&str]) -> Result<Reply, ModelError> {
    let text: String = events.iter().map(|data| format!("data: {data}\r\n\r\n")).collect();
    decode_bytes(text.as_bytes()).0
}

fn call(id: &str, tool: &str, args: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), tool: tool.to_owned(), args: args.to_owned() }
}

#[test]
fn text_thoughts_and_parallel_calls_become_one_reply_and_its_deltas() {
    let expected = Reply {
        text: "I look both up: ü😀".to_owned(),
        reasoning: "Two cities, two calls.".to_owned(),
        calls: vec![
            call("", "weather", r#"{"city":"Rome"}"#),
            call("", "weather", r#"{"city":"Oslo"}"#),
        ],
        usage: Usage { input_tokens: 120, output_tokens: 30, cached_tokens: 64 },
        stop: StopCause::ToolCalls,
        salvaged: false,
    };
    let (reply, deltas) = decode_bytes(CALLS);
    assert_eq!(reply.unwrap(), expected);
    assert_eq!(deltas.len(), 4 + 4);
    assert_eq!(deltas[6], r#"CallStarted { index: 1, tool: "weather" }"#);
}

#[test]
fn calls_keep_the_ids_that_came_and_need_no_arguments() {
    let parts = r#"{"functionCall":{"id":"x1","name":"a","args":{}}},
        {"functionCall":{"name":"b"}},{"functionCall":{"name":"b"}}"#;
    let event =
        format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"STOP"}}]}}"#);
    let calls = decode(&[&event.replace('\n', "")]).unwrap().calls;
    assert_eq!(calls, [call("x1", "a", "{}"), call("", "b", "{}"), call("", "b", "{}")]);
}

#[test]
fn finish_reasons_are_told_apart() {
    let stopped = |reason: &str| {
        let event = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"hi"}}]}},
            "finishReason":"{reason}","finishMessage":"so it was"}}]}}"#
        );
        decode(&[&event.replace('\n', "")])
    };
    for (reason, cause) in [
        ("STOP", StopCause::Done),
        ("OTHER", StopCause::Done),
        ("MAX_TOKENS", StopCause::Length),
        ("SAFETY", StopCause::Filtered),
        ("RECITATION", StopCause::Filtered),
        ("BLOCKLIST", StopCause::Filtered),
        ("PROHIBITED_CONTENT", StopCause::Filtered),
        ("SPII", StopCause::Filtered),
    ] {
        assert_eq!(stopped(reason).unwrap().stop, cause, "{reason}");
    }
    let botched = stopped("MALFORMED_FUNCTION_CALL").unwrap_err();
    let detail = "the call was malformed: MALFORMED_FUNCTION_CALL: so it was";
    assert_eq!(botched, ModelError::new(Kind::Malformed, detail));
    assert_eq!(stopped("FINISH_REASON_UNSPECIFIED").unwrap_err().kind, Kind::Cut);
    let silent = r#"{"candidates":[{"finishReason":"SAFETY","index":0}]}"#;
    assert_eq!(decode(&[silent]).unwrap().stop, StopCause::Filtered);
}

#[test]
fn a_blocked_prompt_is_refused_for_good() {
    let blocked = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},
        "usageMetadata":{"promptTokenCount":9}}"#;
    let error = decode(&[&blocked.replace('\n', "")]).unwrap_err();
    let detail = "the prompt was blocked: PROHIBITED_CONTENT";
    assert_eq!(error, ModelError::new(Kind::Refused, detail));
    assert_eq!(decode_bytes(blocked.as_bytes()).0.unwrap_err(), error, "also when not streamed");
}

#[test]
fn errors_with_status_200_say_when_to_come_back() {
    let limited = r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED",
        "details":[{"@type":"type.googleapis.com/google.rpc.Help"},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7.5s"}]}}"#;
    let error = decode(&[&limited.replace('\n', "")]).unwrap_err();
    let expected = ModelError::new(Kind::RateLimited, "slow");
    assert_eq!(error, ModelError { retry_after_ms: Some(7_500), ..expected });
}
