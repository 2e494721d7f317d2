//! What happened to a call that nobody saw end, said afterwards.

use crate::support::{Home, calls, eventually, says};
use serde_json::json;

/// A run that ended over a command that was killed half way.
fn unsettled() -> (Home, String) {
    let command = "echo once >> log; cat gate";
    let home = Home::scripted(&[
        calls("shell", json!({ "command": command })),
        says("I do not know whether it ended."),
    ]);
    let made = std::process::Command::new("mkfifo").arg(home.work("gate")).status().unwrap();
    assert!(made.success());
    let mut first = home.spawn(["run", "--loop", "react", "--yes", "append a line"]);
    first.until("shell");
    eventually("the line", || (home.read("log") == "once\n").then_some(()));
    first.kill9();
    home.deserted();
    let run = home.newest();
    home.run(["runs", "resume", &run]).ends_with(7).says(&["everloop runs settle"]);
    (home, run)
}

#[test]
fn an_unsettled_run_is_settled_once_and_its_journal_stays_as_it_is() {
    let (home, run) = unsettled();
    let events = home.events(&run);
    let shown = home.show(&run);
    assert_eq!((&shown["status"], &shown["settled_since"]), (&json!("unsettled"), &json!(false)));
    let unknown = &shown["unknowns"][0];
    assert_eq!((&unknown["tool"], &unknown["settled"]), (&json!("shell"), &json!(null)));
    let effect = unknown["effect"].as_str().unwrap();
    let probed = home.run(["runs", "settle", &run, "probe"]).ends_with(7);
    probed.says(&["can't tell", "cut short after it started"]);
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    assert_eq!(list["data"][0]["open_unknowns"], 1);
    let settled = home.run(["runs", "settle", &run, "happened"]).ends_with(0);
    assert!(settled.stdout.contains("it happened"), "{}", settled.stdout);
    let shown = home.show(&run);
    assert_eq!((&shown["status"], &shown["settled_since"]), (&json!("unsettled"), &json!(true)));
    let verdict = &shown["unknowns"][0]["settled"];
    assert_eq!((&verdict["verdict"], &verdict["by"]), (&json!("happened"), &json!("user")));
    home.run(["runs", "settle", &run, "not"])
        .ends_with(2)
        .says(&["has no call whose outcome is open"]);
    let other = home.run(["runs", "settle", &run, "not", "--effect", effect]).ends_with(2);
    other.says(&["settled before", "it happened"]);
    home.run(["runs", "settle", &run, "not", "--effect", "9:9"]).ends_with(2);
    assert_eq!(home.events(&run), events, "the journal is not written again");
    home.verified(&run);
}

#[test]
fn settling_speaks_both_languages() {
    let (home, run) = unsettled();
    let shown = home.run(["runs", "show", &run, "--lang", "zh-CN"]).ends_with(0);
    assert!(shown.stdout.contains("结果未知，自"), "{}", shown.stdout);
    shown.says(&["确认结果：everloop runs settle"]);
    let settled = home.run(["runs", "settle", &run, "not", "--lang", "zh-CN"]).ends_with(0);
    assert!(settled.stdout.contains("没有执行"), "{}", settled.stdout);
    let list = home.run(["runs", "list", "--lang", "zh-CN"]).ends_with(0);
    assert!(list.stdout.contains("结果未知，之后已确认"), "{}", list.stdout);
    let list = home.run(["runs", "list"]).ends_with(0);
    assert!(list.stdout.contains("unsettled, settled since"), "{}", list.stdout);
}

#[test]
fn on_the_pages_an_unsettled_run_needs_a_person_until_somebody_says_what_happened() {
    let (home, run) = unsettled();
    let home = home.with_token();
    let served = home.serve();
    let page = |path: &str| {
        served.request(&format!("GET {path}"), &["Accept: text/html"], "").is(200).body
    };
    let conversation = served.get(&format!("/v1/runs/{run}")).json()["conversation_id"].clone();
    let chat = format!("/chat/{}", conversation.as_str().unwrap());
    let needs = page("/inbox?part=needs");
    let (_, form) = needs.split_once(&format!("action=\"/do/interrupts/{run}.effect.")).unwrap();
    let place = form.split('"').next().unwrap();
    let answer = format!("/do/interrupts/{run}.effect.{place}");
    assert!(page(&chat).contains(&answer), "the chat has the card too");
    let retry = format!("/do/runs/{run}/retry");
    assert!(!page("/inbox?part=failed").contains(&retry));
    let say = |choice: &str| {
        let kind = ["Content-Type: application/x-www-form-urlencoded"];
        let body = format!("choice={choice}&back={}", chat.replace('/', "%2F"));
        served.request(&format!("POST {answer}"), &kind, &body).is(303);
    };
    say("probe");
    assert!(page(&chat).contains("The outcome is still unknown."));
    say("respond%3Ahappened");
    let chat = page(&chat);
    assert!(chat.contains("Recorded: it happened.") && !chat.contains(&answer), "{chat}");
    assert!(chat.contains("unsettled, settled since"), "{chat}");
    assert!(page(&format!("/runs/{run}")).contains("it happened (settled by user"));
    assert!(!page("/inbox?part=failed").contains(&retry), "nothing is left to do");
    assert_eq!(home.show(&run)["settled_since"], json!(true));
}
