//! What clients of other assistants send besides the words: instructions, pictures, what they
//! follow; and the form in which they read errors.

use crate::support::{Home, says};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use serde_json::{Value, json};

/// One pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn hello() -> ScriptedReply {
    ScriptedReply::says("Hello.")
}

/// The messages of the newest request to the model.
fn asked(model: &FakeServer) -> Vec<Value> {
    let last = model.seen().last().unwrap().json();
    last["messages"].as_array().unwrap().clone()
}

#[test]
fn system_messages_and_instructions_are_instructions() {
    let model = FakeServer::openai(vec![hello(), hello()]);
    let home = Home::new().endpoint(&model.url()).with_token();
    let served = home.serve();
    let talk = json!([
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Ahoy."},
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": "who are you?"},
    ]);
    let body = json!({"model": "everloop/react", "messages": talk});
    served.post("/v1/chat/completions", &body).is(200);
    let sent = asked(&model);
    let system = sent[0]["content"].as_str().unwrap();
    assert!(system.contains("Answer like a pirate.\nBe brief."), "{system}");
    let goal = sent.last().unwrap()["content"].as_str().unwrap();
    assert!(goal.starts_with("who are you?"), "{goal}");
    assert!(goal.contains("user: hi\nassistant: Ahoy."), "{goal}");
    assert!(!goal.contains("pirate"), "{goal}");

    let body = json!({"model": "everloop", "input": "hi", "instructions": "Speak Latin."});
    let first = served.post("/v1/responses", &body).is(200).json();
    assert_eq!(first["instructions"], "Speak Latin.");
    assert!(asked(&model)[0]["content"].as_str().unwrap().contains("Speak Latin."));
    let body = json!({"model": "everloop/react", "input": "and now?", "previous_response_id": first["id"]});
    let second = served.post("/v1/responses", &body).is(200).json();
    assert_eq!(
        (&second["previous_response_id"], &second["instructions"]),
        (&first["id"], &Value::Null)
    );
    let sent = asked(&model);
    assert!(!sent[0]["content"].as_str().unwrap().contains("Latin"), "they count for one request");
    assert!(sent.last().unwrap()["content"].as_str().unwrap().contains("Hello."));
    let again = served.get(&format!("/v1/responses/{}", second["id"].as_str().unwrap())).json();
    for field in ["previous_response_id", "instructions", "model"] {
        assert_eq!(again[field], second[field], "{field}");
    }
}

#[test]
fn conversations_of_single_requests_are_read_and_not_listed_and_a_response_is_streamed_again() {
    let home = Home::scripted(&[says("Hello."), says("Hello.")]).with_token();
    let served = home.serve();
    let talk = json!([{"role": "user", "content": "hi"}]);
    let body = json!({"model": "everloop/react", "messages": talk});
    served.post("/v1/chat/completions", &body).is(200);
    let body = json!({"model": "everloop/react", "input": "hi again"});
    let response = served.post("/v1/responses", &body).is(200).json();
    let listed = |query: &str| -> Vec<Value> {
        let list = served.get(&format!("/v1/conversations{query}")).is(200).json();
        list["data"].as_array().unwrap().clone()
    };
    assert_eq!(listed(""), [] as [Value; 0]);
    let all = listed("?one_off=true");
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|one| one["has_unread"] == false), "{all:?}");
    let path = format!("/v1/responses/{}?stream=true", response["id"].as_str().unwrap());
    let streamed = served.get(&path).is(200);
    let events = streamed.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).unwrap()).collect();
    let numbers: Vec<&Value> = events.iter().map(|event| &event["sequence_number"]).collect();
    assert_eq!(json!(numbers), json!((0..events.len()).collect::<Vec<_>>()));
    assert_eq!(events[0]["response"]["output"], json!([]));
    let last = &events.last().unwrap()["response"];
    assert_eq!(last["output"][0]["content"][0]["text"], "Hello.");
}

#[test]
fn pictures_reach_the_model_and_what_cannot_be_read_is_refused() {
    let model = FakeServer::openai(vec![hello()]);
    let home = Home::new().endpoint(&model.url()).with_token();
    let served = home.serve();
    let ask = |part: Value| {
        let content = json!([{"type": "text", "text": "what is this?"}, part]);
        let talk = json!([{"role": "user", "content": content}]);
        served.post("/v1/chat/completions", &json!({"model": "everloop", "messages": talk}))
    };
    let url = format!("data:image/png;base64,{PNG}");
    ask(json!({"type": "image_url", "image_url": {"url": url}})).is(200);
    let sent = asked(&model).last().unwrap().to_string();
    assert!(sent.contains(PNG), "{sent}");
    for (part, said) in [
        (
            json!({"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}),
            "data: URL",
        ),
        (json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}), "png"),
        (json!({"type": "input_audio", "input_audio": {"data": "AAAA"}}), "input_audio"),
    ] {
        let error = ask(part).is(422).json()["error"].clone();
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        assert_eq!(error["param"], "messages");
    }
    assert_eq!(model.seen().len(), 1, "nothing was asked for what was refused");
}

#[test]
fn a_model_is_looked_up_by_name_and_errors_have_the_form_that_clients_read() {
    let home = Home::scripted(&[]).with_token();
    let served = home.serve();
    for name in ["everloop", "everloop/react", "everloop%2Freact"] {
        let model = served.get(&format!("/v1/models/{name}")).is(200).json();
        assert_eq!(model["id"], name.replace("%2F", "/"));
    }
    for name in ["gpt-5", "everloop/dance", "everloopx", "everloop/react/x"] {
        let error = served.get(&format!("/v1/models/{name}")).is(404).json()["error"].clone();
        assert_eq!(error["type"], "invalid_request_error", "{name}");
        assert!(error["code"].is_string() && error["message"].is_string(), "{error}");
    }
    let host = format!("Host: {}", served.address);
    let refused = served.raw("GET /v1/models", &[&host], "").is(401);
    assert_eq!(refused.header("content-type"), Some("application/json"));
    assert_eq!(refused.json()["error"]["code"], "unauthorized");
    // Other paths keep theirs.
    let other = served.raw("GET /v1/runs", &[&host], "").is(401);
    assert_eq!(other.code(), "unauthorized");
}
