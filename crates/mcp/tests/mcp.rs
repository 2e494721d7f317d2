//! MCP servers: the real reference servers, and one that does what servers must not do.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "mcp/den.rs"]
mod den;
#[path = "mcp/http.rs"]
mod http;
#[path = "mcp/misdeeds.rs"]
mod misdeeds;

use den::{Den, denial, lost, node, reference, seen};
use everloop_ports::CallContext;
use everloop_types::{Approval, EffectClass, Ending};
use serde_json::json;
use std::time::{Duration, Instant};

async fn everything() -> Option<Den> {
    let program = reference("server-everything")?;
    let den = Den::new(node(&[&program, "stdio"]), |_| {});
    den.approve().await;
    Some(den)
}

#[tokio::test]
async fn the_reference_server_answers_in_words() {
    let Some(den) = everything().await else { return };
    let echo = den.see("echo", json!({"message": "hello"})).await;
    assert_eq!((echo.ending, echo.text.as_str()), (Ending::Ok, "Echo: hello"));
    let sum = den.see("get-sum", json!({"a": 2, "b": 40})).await.text;
    assert!(sum.contains("42"), "{sum}");
    let image = den.see("get-tiny-image", json!({})).await.text;
    assert!(image.contains("[image, image/png, ") && image.contains("not shown]"), "{image}");
    assert!(image.len() < 1_000);
    let links = den.see("get-resource-links", json!({"count": 2})).await.text;
    assert!(links.matches("[link to ").count() >= 2, "{links}");
    let weather = den.see("get-structured-content", json!({"location": "New York"})).await.text;
    assert!(weather.contains("temperature"), "{weather}");
}

#[tokio::test]
async fn arguments_are_checked_before_anything_is_sent() {
    let Some(den) = everything().await else { return };
    let wrong = den.see("get-sum", json!({"a": "two"})).await;
    assert_eq!(wrong.ending, Ending::Error);
    assert!(wrong.text.starts_with("bad arguments: "), "{}", wrong.text);
    assert!(wrong.text.contains("b: is missing"), "{}", wrong.text);
}

/// A server that may ask for samples, roots or answers offers tools for that.
#[tokio::test]
async fn the_reference_server_sees_a_client_that_does_nothing_for_it() {
    let Some(den) = everything().await else { return };
    let names: Vec<String> = den.offered().into_iter().map(|spec| spec.name).collect();
    assert!(names.contains(&"srv__echo".to_owned()));
    for refused in ["sampling", "elicitation", "roots"] {
        assert!(!names.iter().any(|name| name.contains(refused)), "{names:?}");
    }
}

#[tokio::test]
async fn a_canceled_call_comes_back_within_a_second_and_the_next_one_works() {
    let Some(den) = everything().await else { return };
    let tool = den.tool("trigger-long-running-operation");
    let context = CallContext::new("key");
    // Already connected, so that what is measured is the call.
    den.see("echo", json!({"message": "x"})).await;
    let cancel = context.cancel.clone();
    let long = r#"{"duration": 600, "steps": 2}"#;
    let call = tool.call(long, &context);
    let begun = Instant::now();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(call, stop);
    assert!(begun.elapsed() < Duration::from_millis(1_300), "{:?}", begun.elapsed());
    assert!(lost(done).contains("canceled"));
    let again = den.see("echo", json!({"message": "again"})).await;
    assert_eq!(again.text, "Echo: again");
}

#[tokio::test]
async fn the_file_server_keeps_to_its_folder_and_its_hints_count_once_it_is_trusted() {
    let Some(program) = reference("server-filesystem") else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "inside").unwrap();
    let way = node(&[&program, root.to_str().unwrap()]);
    let mut den = Den::new(way, |_| {});
    den.approve().await;
    let path = |name: &str| json!({"path": root.join(name).to_str().unwrap()});
    let read = den.see("read_text_file", path("a.txt")).await;
    assert_eq!((read.ending, read.text.as_str()), (Ending::Ok, "inside"));
    let outside = den.see("read_text_file", json!({"path": "/etc/hostname"})).await;
    assert_eq!(outside.ending, Ending::Error);
    assert!(outside.text.contains("denied"), "{}", outside.text);
    let mut write = path("b.txt");
    write["content"] = json!("made");
    assert_eq!(den.see("write_file", write).await.ending, Ending::Ok);
    assert_eq!(std::fs::read_to_string(root.join("b.txt")).unwrap(), "made");
    let handling = |den: &Den, tool: &str| {
        let handling = den.tool(tool).spec().handling.clone();
        (handling.class, handling.approval)
    };
    assert_eq!(handling(&den, "read_text_file"), (EffectClass::Dangerous, Approval::Ask));
    den.setting.trusted = true;
    den.reread();
    assert_eq!(handling(&den, "read_text_file"), (EffectClass::Pure, Approval::Allow));
    assert_ne!(handling(&den, "write_file").0, EffectClass::Pure);
}

#[tokio::test]
async fn another_command_is_not_run_until_it_is_approved() {
    if !den::has_node() {
        return;
    }
    let mut den = Den::misbehaving("good", |_| {});
    assert!(den.offered().is_empty(), "nobody has approved it");
    den.approve().await;
    let spec = den.tool("act").spec().clone();
    assert_eq!(seen(den.act().await).text, "acted");
    assert_eq!(den.acts(), "done\n");
    let everloop_mcp::ServerTransport::Command { args, .. } = &mut den.setting.way else {
        panic!()
    };
    args.push("more".to_owned());
    den.reread();
    assert!(den.offered().is_empty());
    let held = den.held(&spec);
    assert!(denial(&held).await.contains("another command"));
    let call = held.call(r#"{"text":"again"}"#, &CallContext::new("key")).await;
    assert_eq!(seen(call).ending, Ending::Denied);
    assert_eq!(den.acts(), "done\n");
    den.setting.enabled = false;
    den.reread();
    assert!(denial(&den.held(&spec)).await.contains("turned off"));
}
