use super::*;
use everloop_types::{ItemState, PlanItem};
use serde_json::{Value, json};

fn event(kind: EventKind) -> RunEvent {
    RunEvent { kind, run_id: RunId::new("run_1"), seq: 7, ts: Some(1_000) }
}

/// The names in the attributes of the variants.
fn names() -> Vec<&'static str> {
    let source = include_str!("events.rs");
    let (_, body) = source.split_once("pub enum EventKind {").expect("the enum");
    let (body, _) = body.split_once("\n}\n").expect("its end");
    let attributes = body.lines().filter_map(|line| line.strip_prefix("    #[serde(rename = \""));
    attributes.filter_map(|rest| rest.split_once('"')).map(|(name, _)| name).collect()
}

#[test]
fn every_event_is_documented() {
    let docs = include_str!("../../../docs/events.md");
    let names = names();
    assert!(names.len() > 30, "{names:?}");
    let missing: Vec<_> =
        names.iter().filter(|name| !docs.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/events.md lacks {missing:?}");
}

#[test]
fn every_documented_event_exists() {
    let docs = include_str!("../../../docs/events.md");
    let rows = docs.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = names();
    for first in rows.filter_map(|row| row.split_once(" |")) {
        for name in first.0.split(',').map(|name| name.trim().trim_matches('`')) {
            let is_field = ["type", "run_id", "seq", "ts"].contains(&name);
            assert!(is_field || names.contains(&name), "there is no event {name}");
        }
    }
}

#[test]
fn an_event_is_one_flat_object() {
    let cases = [
        (
            EventKind::RunStarted { goal: "g".to_owned(), loop_name: "react".to_owned() },
            json!({"type": "run.started", "goal": "g", "loop": "react"}),
        ),
        (EventKind::RunResumed {}, json!({"type": "run.resumed"})),
        (
            EventKind::RunWaiting(WaitingFor::User),
            json!({"type": "run.waiting", "waiting_for": "user"}),
        ),
        (
            EventKind::RunWaiting(WaitingFor::Child { child: RunId::new("run_2") }),
            json!({"type": "run.waiting", "waiting_for": "child", "child": "run_2"}),
        ),
        (
            RunEnding { status: Status::Succeeded, reason: None, note: None }.into(),
            json!({"type": "run.succeeded", "status": "succeeded", "reason": null}),
        ),
        (
            EventKind::StepNoted(EventNote { note: None, args: None, text: "hm".to_owned() }),
            json!({"type": "step.noted", "text": "hm"}),
        ),
        (
            EventKind::ToolCompleted(ToolOutcome {
                call_id: CallId::new("c1"),
                tool: "shell".to_owned(),
                ending: Ending::Ok,
                result: "done".to_owned(),
                duration_ms: 3,
                labels: Vec::new(),
                change: None,
            }),
            json!({"type": "tool.completed", "call_id": "c1", "tool": "shell", "ending": "ok",
                   "result": "done", "duration_ms": 3}),
        ),
    ];
    for (kind, mut expected) in cases {
        expected["run_id"] = json!("run_1");
        expected["seq"] = json!(7);
        expected["ts"] = json!(1_000);
        let event = event(kind);
        let read: Value = serde_json::from_str(&event.to_json()).expect("JSON");
        assert_eq!(read, expected);
        assert_eq!(serde_json::from_value::<RunEvent>(read).expect("an event"), event);
    }
}

#[test]
fn a_plan_keeps_the_fields_of_progress() {
    let plan = Progress {
        items: vec![PlanItem::new("one", ItemState::InProgress)],
        current: Some(0),
        version: 1,
        steps: 2,
        steps_max: 50,
        ..Progress::default()
    };
    let event = event(EventKind::PlanUpdated { plan: plan.clone() });
    let read: Value = serde_json::from_str(&event.to_json()).expect("JSON");
    assert_eq!(read["plan"], json!(plan));
    assert_eq!(serde_json::from_value::<RunEvent>(read).expect("an event"), event);
}

#[test]
fn a_delta_has_the_place_of_its_call_and_no_time() {
    let delta = RunEvent { ts: None, ..event(EventKind::MessageDelta { text: "hi".to_owned() }) };
    let expected = r#"{"type":"message.delta","text":"hi","run_id":"run_1","seq":7}"#;
    assert_eq!(delta.to_json(), expected);
    assert!(delta.is_delta() && !delta.is_stop());
}
