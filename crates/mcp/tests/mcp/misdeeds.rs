//! One misdeed a test.

use super::den::{Den, denial, has_node, lost, seen};
use everloop_mcp::{ApprovalStatus, McpConnectError, ServerSetting, SkipReason};
use everloop_ports::{CallContext, ToolReturn};
use everloop_types::Ending;
use serde_json::json;
use std::time::{Duration, Instant};

fn short(setting: &mut ServerSetting) {
    setting.timeout_ms = 700;
}

#[tokio::test]
async fn a_rug_pull_is_refused_and_nothing_is_called_until_a_person_approves() {
    if !has_node() {
        return;
    }
    let mut den = Den::misbehaving("rug", |_| {});
    den.approve().await;
    let spec = den.tool("act").spec().clone();
    // From now on it says something else.
    std::fs::write(den.file(), "").unwrap();
    let refused = seen(den.act().await);
    assert_eq!(refused.ending, Ending::Denied);
    assert!(refused.text.contains("everloop mcp approve srv"), "{}", refused.text);
    assert_eq!(den.acts(), "");
    den.reread();
    assert!(den.offered().is_empty());
    assert!(denial(&den.held(&spec)).await.contains("other tools"));
    let ApprovalStatus::OtherTools(was, now) = den.approval_status() else { panic!() };
    assert_eq!(was.listing.difference(&now).changed, ["act"]);
    den.approve().await;
    let other = denial(&den.held(&spec)).await;
    assert!(other.contains("another one than when this run began"), "{other}");
    assert_eq!(seen(den.act().await).text, "acted");
}

#[tokio::test]
async fn tools_that_change_while_the_server_runs_are_compared_before_the_next_call() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("live", |_| {});
    den.approve().await;
    assert_eq!(seen(den.act().await).text, "swapped");
    assert_eq!(seen(den.act().await).ending, Ending::Denied);
    assert_eq!(den.acts(), "done\n");
    assert!(den.offered().is_empty());
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_leaves_it_lost_and_the_next_call_starts_another() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("die", |_| {});
    den.approve().await;
    for n in 1..3 {
        let why = lost(den.act().await);
        assert!(why.contains("brought no answer"), "{why}");
        assert_eq!(den.acts(), "done\n".repeat(n));
    }
}

#[tokio::test]
async fn a_call_that_is_never_answered_ends_in_time_and_its_server_with_it() {
    if !has_node() {
        return;
    }
    for mode in ["hang", "broken", "flood"] {
        let den = Den::misbehaving(mode, short);
        den.approve().await;
        let begun = Instant::now();
        let why = lost(den.act().await);
        assert!(why.contains("out of time"), "{mode}: {why}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{mode}");
    }
}

#[tokio::test]
async fn a_server_that_never_begins_or_leaves_at_once_is_said_to() {
    if !has_node() {
        return;
    }
    let fails = async |mode: &str| {
        let den = Den::misbehaving(mode, |setting| setting.start_timeout_ms = 1_500);
        den.servers.all()[0].introduce().await.unwrap_err()
    };
    assert!(matches!(fails("mute").await, McpConnectError::TimedOut(1_500)));
    assert!(matches!(
        fails("leave").await,
        McpConnectError::Ended(_) | McpConnectError::TimedOut(_)
    ));
    assert!(matches!(fails("circles").await, McpConnectError::Protocol(_)));
    let mut den = Den::misbehaving("good", |_| {});
    den.setting.way = everloop_mcp::ServerTransport::Command {
        program: "/nonexistent/server".to_owned(),
        args: Vec::new(),
        env: Default::default(),
    };
    den.reread();
    let error = den.servers.all()[0].introduce().await.unwrap_err();
    assert!(matches!(error, McpConnectError::Start(_)), "{error}");
}

#[tokio::test]
async fn all_pages_of_a_list_are_read() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("pages", |_| {});
    let names: Vec<String> = den.approve().await.offers.into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["tool0", "tool1", "tool2"]);
}

#[tokio::test]
async fn names_schemas_and_words_that_no_model_should_get_are_left_out() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("names", |_| {});
    let listing = den.approve().await;
    let why =
        |name: &str| listing.left_out.iter().find(|out| out.name.starts_with(name)).unwrap().why;
    assert_eq!(why("a.b"), SkipReason::SameName);
    assert_eq!(why("a/b"), SkipReason::SameName);
    assert_eq!(why("xxx"), SkipReason::NameTooLong);
    assert_eq!(why("huge"), SkipReason::TooLarge);
    assert_eq!(why("list"), SkipReason::NoObject);
    assert_eq!(why("tags"), SkipReason::HiddenText);
    assert_eq!(why("bidi"), SkipReason::HiddenText);
    let offered = den.offered();
    assert_eq!(offered.len(), 2);
    for spec in offered {
        assert!(spec.description.starts_with("[In the words of the MCP server srv"));
        assert!(spec.description.len() < 3_000);
    }
}

#[tokio::test]
async fn what_a_server_wants_from_us_is_refused() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("wants", |_| {});
    den.approve().await;
    let told = seen(den.act().await).text;
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("a: ") && lines[0].contains("-32601"), "{told}");
    assert_eq!(lines[1], r#"b: {"roots":[]}"#);
    assert!(lines[2].contains("decline") || lines[2].contains("-32"), "{told}");
}

#[tokio::test]
async fn long_answers_are_cut_and_errors_are_errors() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("big", |_| {});
    den.approve().await;
    let context = CallContext { observation_chars: 1_000, ..CallContext::new("key") };
    let big = seen(den.tool("act").call(r#"{"text":"x"}"#, &context).await);
    assert!(big.text.chars().count() <= 1_000 && big.text.contains("left out"), "{}", big.text);
    for (mode, words) in [("error", "it went wrong"), ("refuse", "no such thing")] {
        let den = Den::misbehaving(mode, |_| {});
        den.approve().await;
        let error = seen(den.act().await);
        assert_eq!(error.ending, Ending::Error);
        assert!(error.text.contains(words), "{}", error.text);
    }
    let chatter = Den::misbehaving("chatter", |_| {});
    chatter.approve().await;
    assert_eq!(seen(chatter.act().await).text, "said");
}

/// The runner gives each test a process of its own, so a variable of ours disturbs no other test.
#[tokio::test]
async fn a_server_gets_its_own_secret_and_none_of_ours_and_cannot_bring_it_back() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("env", |_| {});
    let error = den.servers.all()[0].introduce().await.unwrap_err();
    assert!(matches!(error, McpConnectError::NoVariable(name) if name == "EVERLOOP_TEST_TOKEN"));
    let helper = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "misdeeds::environment_of_a_server", "--nocapture"])
        .env("EVERLOOP_TEST_TOKEN", "hunter2hunter2")
        .env("OPENAI_API_KEY", "sk-ours")
        .output()
        .unwrap();
    assert!(helper.status.success(), "{}", String::from_utf8_lossy(&helper.stdout));
}

/// Does something only in the process that the test above starts.
#[tokio::test]
async fn environment_of_a_server() {
    if std::env::var_os("EVERLOOP_TEST_TOKEN").is_none() {
        return;
    }
    let den = Den::misbehaving("env", |_| {});
    den.approve().await;
    let told = seen(den.act().await).text;
    assert!(told.contains("TOKEN=[secret]") && told.contains("PLAIN=for all to see"), "{told}");
    assert!(!told.contains("hunter2") && !told.contains("sk-ours"), "{told}");
    assert!(!told.contains("EVERLOOP_TEST_TOKEN"), "{told}");
    // Ending the server closes its log.
    drop(den.servers.all()[0].introduce().await);
    let log = den.log();
    assert!(!log.contains("hunter2"), "{log}");
    assert!(log.len() < 300 * 1024);
}

#[tokio::test]
async fn a_server_and_its_children_end_with_us() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("tree", |_| {});
    den.approve().await;
    let server = seen(den.act().await).text;
    let child = den.acts().trim().to_owned();
    let lives = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(" Z"))
    };
    assert!(lives(&server) && lives(&child));
    drop(den);
    let until = Instant::now() + Duration::from_secs(10);
    while lives(&server) || lives(&child) {
        assert!(Instant::now() < until, "still there");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_call_that_was_canceled_before_it_began_is_not_made() {
    if !has_node() {
        return;
    }
    let den = Den::misbehaving("good", |_| {});
    den.approve().await;
    let context = CallContext::new("key");
    context.cancel.cancel();
    let done = den.tool("act").call(&json!({"text": "x"}).to_string(), &context).await;
    assert!(matches!(done, ToolReturn::Seen(seen) if seen.ending == Ending::Canceled));
    assert_eq!(den.acts(), "");
}
