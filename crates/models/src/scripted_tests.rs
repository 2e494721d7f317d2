use super::*;
use everloop_ports::WirePrompt;
use serde_json::json;

async fn ask(model: &ScriptedModel, messages: &[Message]) -> (Result<Reply, ModelError>, String) {
    let mut wire = WirePrompt::default();
    let mut deltas = Vec::new();
    let request = Request {
        model: "script",
        messages,
        wire: &mut wire,
        tools: Vec::new(),
        choice: &ToolChoice::Auto,
        output: None,
        temperature_milli: 0,
        max_tokens: 0,
    };
    let reply = model.ask(request, &mut |delta| deltas.push(format!("{delta:?}"))).await;
    (reply, deltas.join(" "))
}

fn prompt(replies: usize) -> Vec<Message> {
    let mut messages = vec![Message::user("eight by")];
    for _ in 0..replies {
        messages.push(Message::Assistant { text: "said".to_owned(), calls: Vec::new() });
    }
    messages
}

#[tokio::test]
async fn the_prompt_alone_decides_which_reply_comes() {
    let script = || {
        ScriptedModel::new(vec![
            ScriptedReply::calls("shell", json!({"cmd": "ls"})).and_calls("now", json!({})),
            ScriptedReply::says("done"),
        ])
        .keeping_requests()
    };
    let (first, deltas) = ask(&script(), &prompt(0)).await;
    assert_eq!(first.unwrap().calls.len(), 2);
    assert!(deltas.starts_with("CallStarted { index: 0, tool: \"shell\" } CallArgs"));
    let restarted = script();
    let (second, deltas) = ask(&restarted, &prompt(1)).await;
    let usage = Usage { input_tokens: 3, output_tokens: 1, cached_tokens: 2 };
    let expected = Reply { text: "done".to_owned(), usage, ..Reply::default() };
    assert_eq!(second.unwrap(), expected);
    assert_eq!(deltas, "Text(\"done\")");
    assert_eq!(restarted.requests(), 1);
    assert_eq!(restarted.seen()[0].messages, prompt(1));
}

#[tokio::test]
async fn past_the_end_the_closing_words_come_or_a_refusal() {
    let (reply, _) = ask(&ScriptedModel::new(Vec::new()).closing("bye"), &prompt(7)).await;
    assert_eq!(reply.unwrap().text, "bye");
    let (reply, _) = ask(&ScriptedModel::new(Vec::new()), &prompt(0)).await;
    let refused = ModelError::new(ModelErrorKind::Refused, "script has no further reply");
    assert_eq!(reply.unwrap_err(), refused);
}

#[tokio::test]
async fn failures_come_first_and_a_step_without_words_fails_for_good() {
    let model = ScriptedModel::new(vec![
        ScriptedReply::says("ok").failing(ModelErrorKind::Server).failing(ModelErrorKind::Cut),
        ScriptedReply::fails(ModelErrorKind::Unreachable),
    ]);
    let mut kinds = Vec::new();
    for _ in 0..3 {
        kinds.push(ask(&model, &prompt(0)).await.0.map(|r| r.text).map_err(|e| e.kind));
    }
    let expected = [Err(ModelErrorKind::Server), Err(ModelErrorKind::Cut), Ok("ok".to_owned())];
    assert_eq!(kinds, expected);
    for _ in 0..2 {
        let error = ask(&model, &prompt(1)).await.0.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Unreachable);
    }
}

#[tokio::test(start_paused = true)]
async fn text_comes_in_pieces_with_a_delay_before_each() {
    let model = crate::scripted_file::parse(
        r#"{"replies":[{"text":"héllo wörld","chunk":4,"delay_ms":1000}]}"#,
    )
    .unwrap();
    let start = tokio::time::Instant::now();
    let (reply, deltas) = ask(&model, &prompt(0)).await;
    assert_eq!(reply.unwrap().text, "héllo wörld");
    assert_eq!(deltas, r#"Text("héll") Text("o wö") Text("rld")"#);
    assert_eq!(start.elapsed().as_millis(), 3000);
}

#[tokio::test]
async fn a_file_holds_replies_calls_and_failures() {
    let model = crate::scripted_file::parse(
        r#"{"replies":[{"calls":[{"tool":"shell","args":{"cmd":"ls"}},{"tool":"now"}],
            "fail":["rate_limited"]}], "closing":"bye"}"#,
    )
    .unwrap();
    assert_eq!(ask(&model, &prompt(0)).await.0.unwrap_err().kind, ModelErrorKind::RateLimited);
    let calls = ask(&model, &prompt(0)).await.0.unwrap().calls;
    let calls: Vec<_> = calls.iter().map(|c| (c.tool.as_str(), c.args.as_str())).collect();
    assert_eq!(calls, [("shell", r#"{"cmd":"ls"}"#), ("now", "{}")]);
    assert_eq!(ask(&model, &prompt(1)).await.0.unwrap().text, "bye");
    assert!(crate::scripted_file::parse(r#"{"replies":[{"txet":"x"}]}"#).is_err());
}
