use super::render::render;
use crate::RequestParts;
use everloop_ports::WirePrompt;
use everloop_types::{CallId, Image, Message, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

fn plain<'a>() -> RequestParts<'a> {
    RequestParts {
        model: "m",
        tools: &[],
        choice: &ToolChoice::Auto,
        output: None,
        temperature_milli: Some(700),
        max_tokens: 9,
    }
}

fn body(ask: RequestParts<'_>, messages: &[Message]) -> Value {
    let bytes = render(ask, &mut WirePrompt::default(), messages, None);
    serde_json::from_slice(&bytes).unwrap()
}

fn call(id: &str, tool: &str, args: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), tool: tool.to_owned(), args: args.to_owned() }
}

fn said(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text: text.to_owned(), calls }
}

fn observed(id: &str, text: &str) -> Message {
    Message::Tool { call: CallId::new(id), text: text.to_owned() }
}

/// Without the marks for the cache, and whether each of the blocks had one.
fn unmarked(value: &mut Value, marks: &mut usize) {
    match value {
        Value::Object(fields) => {
            *marks += usize::from(fields.remove("cache_control").is_some());
            fields.values_mut().for_each(|value| unmarked(value, marks));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| unmarked(value, marks)),
        _ => {}
    }
}

#[test]
fn a_plain_request_has_nothing_that_was_not_asked_for() {
    let messages = [Message::System { text: "be \"kind\"".to_owned() }, Message::user("hi\n")];
    let bytes = render(plain(), &mut WirePrompt::default(), &messages, None);
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r#"{"model":"m","system":[{"type":"text","text":"be \"kind\"","#.to_owned()
            + r#""cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":["#
            + r#"{"type":"text","text":"hi\n","cache_control":{"type":"ephemeral"}}]}],"#
            + r#""stream":true,"max_tokens":9,"temperature":0.7}"#
    );
}

#[test]
fn roles_alternate_and_results_of_one_reply_are_one_message() {
    let png = Image { mime: "image/png".to_owned(), base64: "AAAA".to_owned() };
    let messages = [
        Message::User { text: "look".to_owned(), images: vec![png] },
        said("", vec![call("c1", "t", "{\"a\": 1}"), call("c~2", "no such tool", "[1]")]),
        observed("c1", "ok"),
        observed("c~2", ""),
        Message::user("go on"),
        said(" ", Vec::new()),
        Message::user("now"),
        said("done", Vec::new()),
    ];
    let mut body = body(plain(), &messages);
    let mut marks = 0;
    unmarked(&mut body, &mut marks);
    assert_eq!((marks, &body["system"]), (1, &Value::Null));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [
                {"type": "image", "source":
                    {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "text", "text": "look"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "t", "input": {"a": 1}},
                {"type": "tool_use", "id": "c-7e-2", "name": "no-20-such-20-tool",
                 "input": {"malformed": "[1]"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "ok"},
                {"type": "tool_result", "tool_use_id": "c-7e-2"},
                {"type": "text", "text": "go on"},
                {"type": "text", "text": "now"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        ])
    );
}

#[test]
fn tool_choices_and_limits_are_rendered() {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("does {name}"),
        schema: json!({"type": "object"}),
        ..ToolSpec::default()
    };
    let (one, two) = (tool("one"), tool("two"));
    let named = ToolChoice::Named("two".to_owned());
    for (choice, sent) in [
        (&ToolChoice::Auto, json!({"type": "auto"})),
        (&ToolChoice::None, json!({"type": "none"})),
        (&ToolChoice::Required, json!({"type": "any"})),
        (&named, json!({"type": "tool", "name": "two"})),
    ] {
        let body = body(RequestParts { tools: &[&one, &two], choice, ..plain() }, &[]);
        assert_eq!(body["tool_choice"], sent);
        let spec = json!({"name": "two", "description": "does two",
            "input_schema": {"type": "object"}});
        assert_eq!(body["tools"][1], spec);
    }
    let unset = body(RequestParts { max_tokens: 0, temperature_milli: Some(1500), ..plain() }, &[]);
    assert_eq!((&unset["max_tokens"], &unset["temperature"]), (&json!(4096), &json!(1)));
    let untold = body(RequestParts { temperature_milli: None, ..plain() }, &[]);
    assert_eq!(untold.get("temperature"), None);
}

/// The transcript of one long run, message by message.
fn transcript() -> Vec<Message> {
    let mut messages = vec![Message::System { text: "rules".to_owned() }, Message::user("goal")];
    for n in 0..12 {
        let ids = [format!("a{n}"), format!("b{n}")];
        let calls = ids.iter().map(|id| call(id, "t", "{}")).collect();
        messages.push(said(if n % 2 == 0 { "" } else { "so" }, calls));
        messages.extend(ids.iter().map(|id| observed(id, "seen")));
        if n % 3 == 0 {
            messages.push(Message::user(format!("question \"{n}\"")));
        }
    }
    messages
}

/// What is kept is never rewritten, and each body is what a fresh rendering gives, but for marks.
#[test]
fn the_prompt_is_a_growing_prefix_of_bytes() {
    let messages = transcript();
    let mut wire = WirePrompt::default();
    let mut before = Vec::new();
    for count in 1..=messages.len() {
        let extra = (count % 3 == 0).then_some("only now");
        let grown = render(plain(), &mut wire, &messages[..count], extra);
        let scratch = render(plain(), &mut WirePrompt::default(), &messages[..count], extra);
        assert!(wire.bytes().starts_with(&before), "message {count}");
        before = wire.bytes().to_vec();
        let [mut grown, mut scratch] =
            [grown, scratch].map(|body| serde_json::from_slice::<Value>(&body).unwrap());
        let mut marks = 0;
        unmarked(&mut grown, &mut marks);
        assert!(marks <= 4, "the API takes four marks, here are {marks}");
        unmarked(&mut scratch, &mut marks);
        assert_eq!(grown, scratch);
        let roles: Vec<_> = grown["messages"].as_array().unwrap().iter().collect();
        assert!(roles.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"]));
    }
}

/// The end of the request before and the end of this one.
#[test]
fn a_growing_prompt_is_marked_where_the_last_one_ended() {
    let messages = transcript();
    let mut wire = WirePrompt::default();
    drop(render(plain(), &mut wire, &messages[..5], None));
    let body = render(plain(), &mut wire, &messages[..9], Some("only now"));
    let body: Value = serde_json::from_slice(&body).unwrap();
    let list = body["messages"].as_array().unwrap();
    let blocks = list.iter().flat_map(|message| message["content"].as_array().unwrap());
    let marked: Vec<_> = blocks
        .filter(|block| block.get("cache_control").is_some())
        .map(|block| block["tool_use_id"].clone())
        .collect();
    assert_eq!(marked, [json!("b0"), json!("b1")]);
}

/// The last message is nothing here, so that only the form tells whose bytes are kept.
#[test]
fn what_was_rendered_for_another_provider_is_not_sent() {
    let messages = [Message::user("goal"), said("", Vec::new())];
    let mut wire = WirePrompt::default();
    wire.extend("openai", &messages, |out, _, _| out.body.extend_from_slice(b"{}"));
    let body = render(plain(), &mut wire, &messages, None);
    assert_eq!(body, render(plain(), &mut WirePrompt::default(), &messages, None));
}
