//! What a call brings and where it leads.

use super::*;
use crate::{CallId, Handling, Policy, ToolSpec};

fn frame() -> Frame {
    let tool = |name: &str, flow| ToolSpec {
        name: name.into(),
        handling: Handling { flow, ..Handling::default() },
        ..ToolSpec::default()
    };
    let out = |sends| Some(DataFlow::brings(Labels::UNTRUSTED).sends(sends));
    let tools = vec![
        tool("read_file", Some(DataFlow::workspace())),
        tool("search_code", Some(DataFlow::below())),
        tool("http_get", out(SendTarget::Arg("url".into()))),
        tool("search", out(SendTarget::To("search.example".into()))),
        tool("write_file", Some(DataFlow::NOTHING.sends(SendTarget::Later("path".into())))),
        tool("shell", Some(DataFlow::brings(Labels::ALL))),
        tool("plugin", None),
    ];
    let policy = Policy {
        label_guard: Some(LabelGuard::Ask),
        untrusted_paths: ["vendor/**", "my files/**", "文/**"].map(Into::into).to_vec(),
        ..Policy::default()
    };
    Frame { tools, policy, workspace: "/work".into(), ..Frame::default() }
}

fn call(tool: &str, args: Value) -> ToolCall {
    ToolCall { id: CallId::new("c"), tool: tool.into(), args: args.to_string() }
}

fn way(tool: &str, args: Value) -> Option<String> {
    frame().way_out(&call(tool, args), CallSandbox::Active).map(|way| way.place)
}

#[test]
fn files_of_the_person_are_trusted_and_those_of_others_are_not() {
    let read = |path: &str| call("read_file", serde_json::json!({"path": path}));
    let brings = |path: &str| frame().brings(&read(path), "vendor/x is named in the text");
    assert_eq!(brings("notes.txt"), Labels::PRIVATE);
    assert_eq!(brings("vendor/x/README.md"), Labels::ALL);
    assert_eq!(brings("src/../vendor/x"), Labels::ALL);
    assert_eq!(brings("../elsewhere"), Labels::ALL, "what cannot be placed is not trusted");
}

#[test]
fn what_a_search_found_in_files_of_others_is_not_trusted() {
    let search = call("search_code", serde_json::json!({"query": "TODO"}));
    for (found, labels) in [
        ("src/main.rs:3: // TODO", Labels::PRIVATE),
        ("src/main.rs:3: // TODO\nvendor/x/lib.rs:1: // TODO", Labels::ALL),
        ("diff --git a/vendor/x b/vendor/x", Labels::ALL),
        ("nothing found", Labels::PRIVATE),
        // Git writes some names between quotes, and others with their blanks.
        ("diff --git \"a/vendor/\\303\\244.txt\" \"b/vendor/\\303\\244.txt\"", Labels::ALL),
        (" M \"vendor/\\\"x\\\".txt\"", Labels::ALL),
        ("?? \"\\346\\226\\207/x\"", Labels::ALL),
        ("?? my files/x.txt", Labels::ALL),
        ("R  src/a -> \"vendor/\\ta\"", Labels::ALL),
        ("?? \"src/vendor\\t.txt\"", Labels::PRIVATE),
    ] {
        assert_eq!(frame().brings(&search, found), labels, "{found}");
    }
}

#[test]
fn a_tool_that_says_nothing_about_itself_may_do_anything() {
    let call = call("plugin", serde_json::json!({"b": 1, "a": 2}));
    assert_eq!(frame().brings(&call, ""), Labels::ALL);
    let way = frame().way_out(&call, CallSandbox::Active).unwrap();
    assert_eq!(way.place, "plugin → {\"a\":2,\"b\":1}");
}

#[test]
fn runs_from_before_labels_have_none() {
    let mut frame = frame();
    frame.policy.label_guard = None;
    assert_eq!(frame.brings(&call("plugin", Value::Null), ""), Labels::default());
}

#[test]
fn a_way_out_is_named_by_its_host_its_service_or_its_exact_arguments() {
    use serde_json::json;
    let url = |url: &str| way("http_get", json!({"url": url}));
    assert_eq!(url("https://A.example/?q=secret").as_deref(), Some("http_get → a.example"));
    assert_ne!(url("https://a.example@evil.example/1"), url("https://a.example@evil.example/2"));
    assert_eq!(way("search", json!({"query": "x"})).as_deref(), Some("search → search.example"));
    assert_eq!(way("shell", json!({"command": "ls"})), None);
    let bare = frame().way_out(&call("shell", json!({"command": "ls"})), CallSandbox::None);
    assert!(bare.unwrap().place.contains("ls"));
}

#[test]
fn files_that_later_runs_read_as_instructions_are_ways_out() {
    use serde_json::json;
    for path in [
        "AGENTS.md",
        "docs/agents.md",
        ".agents/skills/x/SKILL.md",
        ".git/hooks/pre-push",
        ".vscode/tasks.json",
        ".mcp.json",
        "sub/.claude/settings.json",
        ".cursorrules",
        ".pre-commit-config.yaml",
    ] {
        let way = frame().way_out(&call("write_file", json!({"path": path})), CallSandbox::Active);
        assert!(way.is_some_and(|way| way.to_later_runs), "{path}");
    }
    assert_eq!(way("write_file", json!({"path": "notes.md"})), None);
}

#[test]
fn private_and_untrusted_together_hold_back_and_a_release_opens_one_place() {
    let out = |place: &str| Egress { place: place.into(), to_later_runs: false };
    let later = Egress { place: "w".into(), to_later_runs: true };
    let mut holding = Taint::default();
    assert!(!holding.blocks(&out("a")));
    holding.take(Labels::UNTRUSTED, "page");
    assert!(!holding.blocks(&out("a")) && holding.blocks(&later));
    holding.take(Labels::PRIVATE, "file");
    assert!(holding.blocks(&out("a")));
    holding.release("a");
    assert!(!holding.blocks(&out("a")) && holding.blocks(&out("b")));
}

#[test]
fn what_is_remembered_has_a_bound_and_labels_never_go() {
    let mut holding = Taint::default();
    for n in 0..1_000 {
        holding.take(Labels::ALL, &format!("source {n}"));
        holding.release(&format!("place {n}"));
    }
    assert_eq!(holding.labels(), Labels::ALL);
    assert!(holding.private.len() <= SOURCES_MAX && holding.released.len() <= RELEASED_MAX);
    let long = call("read_file", serde_json::json!({"path": "x\n".repeat(500)}));
    assert!(source_of(&long).chars().count() <= SOURCE_CHARS_MAX + 1);
}
