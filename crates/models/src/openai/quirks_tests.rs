//! One test for each row of the table: what goes over the wire, and what comes of it.

use super::*;
use crate::testing::{CannedReply, FakeServer};
use everloop_types::{ModelError, OutputSchema, Reply, ToolChoice, ToolSpec};
use serde_json::{Value, json};

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    ToolSpec { name: name.to_owned(), schema, ..ToolSpec::default() }
}

fn says(text: &str) -> CannedReply {
    let event = json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]});
    CannedReply::sse(format!("data: {event}\n\ndata: [DONE]\n\n"))
}

fn calls(tool: &str) -> CannedReply {
    let function = json!({"name": tool, "arguments": "{\"x\":1}"});
    let delta = json!({"tool_calls": [{"index": 0, "id": "c", "function": function}]});
    let event = json!({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]});
    CannedReply::sse(format!("data: {event}\n\ndata: [DONE]\n\n"))
}

/// What is asked of a provider.
#[derive(Default)]
struct Asked {
    tools: Vec<ToolSpec>,
    choice: ToolChoice,
    output: Option<OutputSchema>,
    way: Option<CallWay>,
}

impl Asked {
    fn forced(choice: ToolChoice, tools: &[&str]) -> Self {
        let tools = tools.iter().map(|name| tool(name)).collect();
        Self { tools, choice, ..Self::default() }
    }

    /// The reply, and the bodies that were sent for it.
    async fn of(
        &self,
        provider: &str,
        replies: Vec<CannedReply>,
    ) -> (Result<Reply, ModelError>, Vec<Value>) {
        let server = FakeServer::start(replies);
        let knowledge = crate::ModelKnowledge { set: self.way, notes: None };
        let endpoint = Endpoint { knowledge, ..Endpoint::at(server.url()) };
        let model = OpenAi::of(provider, endpoint).unwrap();
        let messages = [Message::System { text: "rules".to_owned() }, Message::user("go")];
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
        let reply = model.ask(request, &mut |_| ()).await;
        (reply, server.seen().iter().map(|seen| seen.json()).collect())
    }
}

fn named(name: &str) -> ToolChoice {
    ToolChoice::Named(name.to_owned())
}

fn schema() -> Asked {
    let output = Some(OutputSchema { name: "out".to_owned(), schema: tool("").schema });
    Asked { output, ..Asked::default() }
}

/// The last message of a body.
fn last(body: &Value) -> &str {
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

/// One request was enough, and it asked for JSON in words.
fn asked_in_words(bodies: &[Value]) {
    assert_eq!(bodies.len(), 1, "a forced call is not even tried: {bodies:?}");
    assert_eq!((bodies[0].get("tools"), bodies[0].get("tool_choice")), (None, None));
    assert!(last(&bodies[0]).starts_with("Reply with nothing but"), "{}", last(&bodies[0]));
}

#[tokio::test]
async fn deepseek_does_not_think_and_takes_a_schema_in_words() {
    let (reply, bodies) = schema().of("deepseek", vec![says("{\"x\":1}")]).await;
    assert_eq!(reply.unwrap().text, "{\"x\":1}");
    assert_eq!(bodies[0]["thinking"], json!({"type": "disabled"}));
    assert_eq!(bodies[0]["response_format"], json!({"type": "json_object"}));
    assert!(last(&bodies[0]).contains("\"x\""), "the words hold the schema");
    let forced = Asked::forced(named("b"), &["a", "b"]);
    let (reply, bodies) = forced.of("deepseek", vec![calls("b")]).await;
    assert_eq!(reply.unwrap().calls[0].tool, "b");
    assert_eq!(bodies[0]["tool_choice"]["function"]["name"], "b");
}

#[tokio::test]
async fn glm_knows_no_choice_but_auto_and_no_stream_options() {
    let forced = Asked::forced(named("b"), &["a", "b"]);
    let (reply, bodies) = forced.of("glm", vec![says("{\"x\":1}")]).await;
    assert_eq!(reply.unwrap().calls[0].tool, "b");
    asked_in_words(&bodies);
    assert_eq!(bodies[0].get("stream_options"), None);
    assert_eq!(bodies[0]["response_format"], json!({"type": "json_object"}));
    let silent = Asked::forced(ToolChoice::None, &["a"]);
    let (_, bodies) = silent.of("glm", vec![says("hi")]).await;
    assert_eq!((bodies[0].get("tools"), bodies[0].get("tool_choice")), (None, None));
    let free = Asked::forced(ToolChoice::Auto, &["a"]);
    let (_, bodies) = free.of("glm", vec![says("hi")]).await;
    assert_eq!(bodies[0]["tool_choice"], "auto");
}

#[tokio::test]
async fn qwen_can_be_told_a_name_but_not_that_some_tool_is_required() {
    let one = Asked::forced(ToolChoice::Required, &["a"]);
    let (reply, bodies) = one.of("qwen", vec![calls("a")]).await;
    assert_eq!(reply.unwrap().calls[0].tool, "a");
    assert_eq!(bodies[0]["tool_choice"]["function"]["name"], "a");
    let several = Asked::forced(ToolChoice::Required, &["a", "b"]);
    let answer = says(r#"{"tool":"b","arguments":{"x":2}}"#);
    let (reply, bodies) = several.of("qwen", vec![answer]).await;
    assert_eq!(reply.unwrap().calls[0].args, "{\"x\":2}");
    asked_in_words(&bodies);
    let (_, bodies) = schema().of("qwen", vec![says("{}")]).await;
    assert_eq!(bodies[0]["response_format"], json!({"type": "json_object"}));
}

#[tokio::test]
async fn ollama_ignores_every_choice_but_follows_a_schema() {
    for choice in [named("b"), ToolChoice::Required] {
        let answer = says(r#"{"tool":"b","arguments":{"x":2},"x":1}"#);
        let forced = Asked::forced(choice, &["a", "b"]);
        let (reply, bodies) = forced.of("ollama", vec![answer]).await;
        assert_eq!(reply.unwrap().calls[0].tool, "b");
        asked_in_words(&bodies);
        assert_eq!(bodies[0]["response_format"]["type"], "json_schema");
    }
    let silent = Asked::forced(ToolChoice::None, &["a"]);
    let (_, bodies) = silent.of("ollama", vec![says("hi")]).await;
    assert_eq!(bodies[0].get("tools"), None, "what is on offer would be called");
}

#[tokio::test]
async fn llamacpp_is_given_one_tool_where_one_is_named_and_tools_are_native() {
    let mut forced = Asked::forced(named("b"), &["a", "b"]);
    let (reply, bodies) = forced.of("llamacpp", vec![says("{\"x\":1}")]).await;
    assert_eq!(reply.unwrap().calls[0].tool, "b");
    asked_in_words(&bodies);
    forced.way = Some(CallWay::Native);
    let (reply, bodies) = forced.of("llamacpp", vec![calls("b")]).await;
    assert_eq!(reply.unwrap().calls[0].tool, "b");
    assert_eq!(bodies[0]["tool_choice"], "required");
    let offered: Vec<_> = bodies[0]["tools"].as_array().unwrap().iter().collect();
    assert_eq!(offered.len(), 1);
    assert_eq!(offered[0]["function"]["name"], "b");
}

#[tokio::test]
async fn vllm_takes_all_choices_and_schemas_as_they_are() {
    let forced = Asked::forced(named("b"), &["a", "b"]);
    let (_, bodies) = forced.of("vllm", vec![calls("b")]).await;
    assert_eq!(bodies[0]["tool_choice"]["function"]["name"], "b");
    assert_eq!(bodies[0]["tools"].as_array().unwrap().len(), 2);
    let (_, bodies) = schema().of("vllm", vec![says("{}")]).await;
    assert_eq!(bodies[0]["response_format"]["type"], "json_schema");
    assert_eq!(bodies[0]["max_tokens"], 64);
    assert_eq!(bodies[0]["stream_options"], json!({"include_usage": true}));
}

/// Two names for the same thing in replies; both are read, whoever sends them.
#[tokio::test]
async fn reasoning_is_read_under_the_names_of_ollama_vllm_and_the_others() {
    for (provider, field) in [
        ("ollama", "reasoning"),
        ("vllm", "reasoning"),
        ("llamacpp", "reasoning_content"),
        ("deepseek", "reasoning_content"),
        ("glm", "reasoning_content"),
        ("qwen", "reasoning_content"),
    ] {
        let event = json!({"choices": [{"delta": {field: "hm", "content": "hi"},
            "finish_reason": "stop"}]});
        let canned = CannedReply::sse(format!("data: {event}\n\n"));
        let reply = Asked::default().of(provider, vec![canned]).await.0.unwrap();
        assert_eq!((reply.reasoning.as_str(), reply.text.as_str()), ("hm", "hi"), "{provider}");
    }
}
