use super::render::render;
use crate::RequestParts;
use everloop_ports::WirePrompt;
use everloop_types::{CallId, Image, Message, OutputSchema, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

fn plain<'a>() -> RequestParts<'a> {
    RequestParts {
        model: "gemini-2.5-flash",
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

#[test]
fn a_plain_request_has_nothing_that_was_not_asked_for() {
    let messages = [Message::System { text: "be \"kind\"".to_owned() }, Message::user("hi\n")];
    let bytes = render(plain(), &mut WirePrompt::default(), &messages, None);
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r#"{"systemInstruction":{"parts":[{"text":"be \"kind\""}]},"contents":[{"role":"user","#
            .to_owned()
            + r#""parts":[{"text":"hi\n"}]}],"generationConfig":{"candidateCount":1,"#
            + r#""temperature":0.7,"maxOutputTokens":9}}"#
    );
}

#[test]
fn every_kind_of_message_is_rendered_and_results_find_their_name() {
    let png = Image { mime: "image/png".to_owned(), base64: "AAAA".to_owned() };
    let messages = [
        Message::User { text: "look".to_owned(), images: vec![png] },
        said("so", vec![call("c1", "t", "{\"a\": 1}"), call("c~2", "u", "[1]")]),
        observed("c1", "ok"),
        observed("c~2", ""),
        Message::user("go on"),
        said("", Vec::new()),
        said("done", Vec::new()),
    ];
    assert_eq!(
        body(plain(), &messages)["contents"],
        json!([
            {"role": "user", "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": "look"}]},
            {"role": "model", "parts": [
                {"text": "so"},
                {"functionCall": {"id": "c1", "name": "t", "args": {"a": 1}}},
                {"functionCall": {"id": "c-7e-2", "name": "u", "args": {"malformed": "[1]"}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "c1", "name": "t", "response": {"result": "ok"}}},
                {"functionResponse": {"id": "c-7e-2", "name": "u", "response": {"result": ""}}}]},
            {"role": "user", "parts": [{"text": "go on"}]},
            {"role": "model", "parts": [{"text": "done"}]},
        ])
    );
}

/// Models of the third generation refuse calls of the past without a signature.
#[test]
fn newer_models_get_a_stand_in_for_the_first_signature() {
    let messages = [said("", vec![call("a", "t", "{}"), call("b", "t", "{}")])];
    let signatures = |model: &str| {
        let body = body(RequestParts { model, ..plain() }, &messages);
        let parts = body["contents"][0]["parts"].as_array().unwrap().clone();
        parts.iter().map(|part| part.get("thoughtSignature").is_some()).collect::<Vec<_>>()
    };
    for model in ["gemini-3-pro", "models/gemini-3.8-flash", "gemini-flash-latest"] {
        assert_eq!(signatures(model), [true, false], "{model}");
    }
    for model in ["gemini-2.5-pro", "models/gemini-1.5-flash"] {
        assert_eq!(signatures(model), [false, false], "{model}");
    }
    // What was rendered for one of them is not sent to the other.
    let mut wire = WirePrompt::default();
    drop(render(plain(), &mut wire, &messages, None));
    let bytes =
        render(RequestParts { model: "gemini-3-pro", ..plain() }, &mut wire, &messages, None);
    assert!(String::from_utf8(bytes).unwrap().contains("thoughtSignature"));
}

#[test]
fn tool_choices_and_schemas_are_rendered() {
    let tool = |name: &str, schema: Value| ToolSpec {
        name: name.to_owned(),
        description: format!("does {name}"),
        schema,
        ..ToolSpec::default()
    };
    let one = tool("one", json!({"type": "object", "properties": {}}));
    let schema = json!({"type": "object", "additionalProperties": false,
        "properties": {"x": {"type": "integer", "format": "uint"}}});
    let two = tool("two", schema.clone());
    let named = ToolChoice::Named("two".to_owned());
    for (choice, sent) in [
        (&ToolChoice::Auto, json!({"mode": "AUTO"})),
        (&ToolChoice::None, json!({"mode": "NONE"})),
        (&ToolChoice::Required, json!({"mode": "ANY"})),
        (&named, json!({"mode": "ANY", "allowedFunctionNames": ["two"]})),
    ] {
        let body = body(RequestParts { tools: &[&one, &two], choice, ..plain() }, &[]);
        assert_eq!(body["toolConfig"]["functionCallingConfig"], sent);
        let narrow = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
        assert_eq!(
            body["tools"],
            json!([{"functionDeclarations": [
                {"name": "one", "description": "does one"},
                {"name": "two", "description": "does two", "parameters": narrow}]}])
        );
    }
    let output = OutputSchema { name: "out".to_owned(), schema };
    let (tools, choice) = (&[&one][..], &ToolChoice::None);
    let body = body(RequestParts { tools, choice, output: Some(&output), ..plain() }, &[]);
    assert_eq!(body.get("tools"), None, "the API takes no schema beside tools");
    assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
    let x = &body["generationConfig"]["responseSchema"]["properties"]["x"];
    assert_eq!(x, &json!({"type": "integer"}));
}

#[test]
fn the_prompt_is_a_growing_prefix_of_bytes() {
    let mut messages = vec![Message::System { text: "rules".to_owned() }, Message::user("goal")];
    for n in 0..8 {
        let ids = [format!("a{n}"), format!("b{n}")];
        messages.push(said("", ids.iter().map(|id| call(id, "t", "{}")).collect()));
        messages.extend(ids.iter().map(|id| observed(id, "seen")));
        messages.push(Message::user(format!("question \"{n}\"")));
    }
    let mut wire = WirePrompt::default();
    let mut before: Vec<u8> = Vec::new();
    for count in 1..=messages.len() {
        let extra = (count % 3 == 0).then_some("only now");
        let grown = render(plain(), &mut wire, &messages[..count], extra);
        let scratch = render(plain(), &mut WirePrompt::default(), &messages[..count], extra);
        assert_eq!(grown, scratch);
        assert!(serde_json::from_slice::<Value>(&grown).is_ok());
        assert!(wire.bytes().starts_with(&before), "message {count}");
        before = wire.bytes().to_vec();
    }
}
