use super::*;
use crate::RequestParts;
use crate::openai::quirks::{COMMON, OPENAI};
use everloop_ports::WirePrompt;
use everloop_types::{CallId, Image, Message, OutputSchema, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

fn plain<'a>() -> RequestParts<'a> {
    RequestParts {
        model: "m",
        tools: &[],
        choice: &ToolChoice::Auto,
        output: None,
        temperature_milli: Some(700),
        max_tokens: 0,
    }
}

fn tool(name: &str) -> ToolSpec {
    let (description, schema) = (format!("does {name}"), json!({"type": "object"}));
    ToolSpec { name: name.to_owned(), description, schema, ..ToolSpec::default() }
}

fn body(ask: RequestParts<'_>, messages: &[Message]) -> Value {
    let bytes = render(&COMMON, ask, &mut WirePrompt::default(), messages, None);
    serde_json::from_slice(&bytes).unwrap()
}

fn call(args: &str) -> ToolCall {
    ToolCall { id: CallId::new("c1"), tool: "t".to_owned(), args: args.to_owned() }
}

#[test]
fn a_plain_request_has_nothing_that_was_not_asked_for() {
    let messages = [Message::System { text: "be \"kind\"".to_owned() }, Message::user("hi\n")];
    let bytes = render(&COMMON, plain(), &mut WirePrompt::default(), &messages, None);
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r#"{"model":"m","messages":[{"role":"system","content":"be \"kind\""},"#.to_owned()
            + r#"{"role":"user","content":"hi\n"}],"stream":true,"#
            + r#""stream_options":{"include_usage":true},"temperature":0.7}"#
    );
}

#[test]
fn every_kind_of_message_is_rendered() {
    let png = Image { mime: "image/png".to_owned(), base64: "AAAA".to_owned() };
    let messages = [
        Message::User { text: "see".to_owned(), images: vec![png] },
        Message::Assistant { text: String::new(), calls: vec![call("{\"a\": 1}")] },
        Message::Tool { call: CallId::new("c1"), text: "ok".to_owned() },
        Message::Assistant { text: "done".to_owned(), calls: Vec::new() },
    ];
    assert_eq!(
        body(plain(), &messages)["messages"],
        json!([
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "text", "text": "see"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function",
                 "function": {"name": "t", "arguments": "{\"a\": 1}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            {"role": "assistant", "content": "done"},
        ])
    );
}

#[test]
fn arguments_of_the_past_are_always_an_object() {
    for (written, sent) in [
        ("{\"b\":1,\"a\":2}", "{\"b\":1,\"a\":2}"),
        ("", "{}"),
        ("{\"a\":", r#"{"malformed":"{\"a\":"}"#),
        ("[1]", r#"{"malformed":"[1]"}"#),
    ] {
        let said = Message::Assistant { text: String::new(), calls: vec![call(written)] };
        let body = body(plain(), &[said]);
        assert_eq!(body["messages"][0]["tool_calls"][0]["function"]["arguments"], sent);
    }
}

#[test]
fn tool_choices_schemas_and_limits_are_rendered() {
    let (one, two) = (tool("one"), tool("two"));
    let named = ToolChoice::Named("two".to_owned());
    for (choice, sent) in [
        (&ToolChoice::Auto, json!("auto")),
        (&ToolChoice::None, json!("none")),
        (&ToolChoice::Required, json!("required")),
        (&named, json!({"type": "function", "function": {"name": "two"}})),
    ] {
        let body = body(RequestParts { tools: &[&one, &two], choice, ..plain() }, &[]);
        assert_eq!(body["tool_choice"], sent);
        assert_eq!(body["tools"][1]["function"]["description"], "does two");
    }
    let output = OutputSchema { name: "out".to_owned(), schema: json!({"type": "object"}) };
    let ask = RequestParts {
        output: Some(&output),
        max_tokens: 9,
        temperature_milli: Some(2000),
        ..plain()
    };
    let body = body(ask, &[]);
    let wanted = json!({"name": "out", "schema": {"type": "object"}});
    assert_eq!(body["response_format"], json!({"type": "json_schema", "json_schema": wanted}));
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(9), &json!(2)));
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
}

/// Each body begins with the bytes of the one before, up to the end of its last message.
#[test]
fn the_prompt_is_a_growing_prefix_of_bytes() {
    let mut wire = WirePrompt::default();
    let mut messages = Vec::new();
    let mut before: Option<Vec<u8>> = None;
    let tool = tool("t");
    for n in 0..20 {
        messages.push(Message::user(format!("question \"{n}\"")));
        let tools: &[&ToolSpec] = if n % 2 == 0 { &[&tool] } else { &[] };
        let ask = RequestParts { tools, max_tokens: n, ..plain() };
        let extra = (n % 3 == 0).then_some("only now");
        let body = render(&COMMON, ask, &mut wire, &messages, extra);
        let scratch = render(&COMMON, ask, &mut WirePrompt::default(), &messages, extra);
        assert_eq!(body, scratch);
        let end = b"{\"model\":\"m\",\"messages\":[".len() + wire.bytes().len();
        if let Some(before) = before {
            assert!(body.starts_with(&before), "message {n}");
        }
        before = Some(body[..end].to_vec());
    }
}

#[test]
fn a_shorter_transcript_is_rendered_anew() {
    let mut wire = WirePrompt::default();
    drop(render(&COMMON, plain(), &mut wire, &[Message::user("a"), Message::user("b")], None));
    let body = render(&COMMON, plain(), &mut wire, &[Message::user("summary")], None);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["messages"], json!([{"role": "user", "content": "summary"}]));
    // A reset that was forgotten: no fewer messages, but others.
    let body =
        render(&COMMON, plain(), &mut wire, &[Message::user("other"), Message::user("b")], None);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["messages"][0]["content"], "other");
    wire.reset();
    assert_eq!((wire.count(), wire.bytes()), (0, &b""[..]));
}

#[test]
fn openai_itself_gets_the_spelling_that_its_reasoning_models_accept() {
    let body = |ask: RequestParts<'_>| {
        let bytes = render(&OPENAI, ask, &mut WirePrompt::default(), &[], None);
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let cold = body(RequestParts { max_tokens: 9, ..plain() });
    assert_eq!((cold.get("max_tokens"), &cold["max_completion_tokens"]), (None, &json!(9)));
    assert_eq!(cold["temperature"], json!(0.7));
    let usual = body(RequestParts { temperature_milli: Some(1000), ..plain() });
    assert_eq!(usual.get("temperature"), None);
    let untold = body(RequestParts { temperature_milli: None, ..plain() });
    assert_eq!(untold.get("temperature"), None);
}

#[test]
fn a_prompt_rendered_for_another_provider_is_rendered_anew() {
    let messages = [Message::user("a"), Message::user("b")];
    let mut wire = WirePrompt::default();
    wire.extend("other", &messages, |out, _, _| out.body.extend_from_slice(b"<other>"));
    let body = render(&COMMON, plain(), &mut wire, &messages, None);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
}
