//! Every built-in tool's schema against good and bad arguments.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::Place;
use everloop_ports::{CallContext, ToolReturn};
use everloop_types::{Approval, EffectClass, Observation, OnUnknown, ToolSpec, check_args};
use serde_json::{Value, json};

fn spec(name: &str) -> ToolSpec {
    Place::new().registry.get(name).unwrap().spec().clone()
}

#[test]
fn tools_come_in_a_fixed_order_with_a_fixed_handling() {
    use Approval::{Allow, Ask};
    use EffectClass::{Dangerous, Probeable, Pure, Transactional};
    let seen: Vec<_> = Place::new()
        .registry
        .specs()
        .into_iter()
        .map(|spec| {
            let handling = spec.handling;
            assert_eq!(handling.on_unknown, OnUnknown::TellModel);
            (spec.name, handling.class, handling.approval, handling.timeout_ms)
        })
        .collect();
    let expected = [
        ("read_file", Pure, Allow, 30_000),
        ("list_dir", Pure, Allow, 30_000),
        ("search_code", Pure, Allow, 30_000),
        ("edit_file", Probeable, Allow, 30_000),
        ("write_file", Probeable, Allow, 30_000),
        ("shell", Dangerous, Ask, 120_000),
        ("ask_user", Transactional, Allow, 0),
        ("todo_write", Transactional, Allow, 5_000),
        ("sleep", Transactional, Allow, 0),
    ];
    assert_eq!(seen, expected.map(|(name, a, b, c)| (name.to_owned(), a, b, c)));
    assert_eq!(spec("write_file").handling.resource_arg.as_deref(), Some("path"));
    assert_eq!(spec("ask_user").text_arg.as_deref(), Some("question"));
}

#[test]
fn a_schema_is_what_the_model_needs_and_no_more() {
    assert_eq!(
        spec("write_file").schema,
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "content": { "type": "string" },
                "expect_hash": { "type": "string", "x-rare": true },
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        })
    );
    let states = json!(["pending", "in_progress", "completed", "cancelled"]);
    let item = "/properties/todos/items/properties/status/enum";
    assert_eq!(spec("todo_write").schema.pointer(item), Some(&states));
}

/// Arguments and what is wrong with them.
type Bad = (&'static str, &'static str);

const NOT_AN_OBJECT: [Bad; 5] = [
    (r#""x""#, "must be an object, not string"),
    ("[1]", "must be an object, not array"),
    ("3", "must be an object, not number"),
    ("null", "must be an object, not null"),
    ("true", "must be an object, not boolean"),
];

/// A tool, good arguments for it, and bad ones.
const CASES: &[(&str, &[&str], &[Bad])] = &[
    (
        "read_file",
        &[r#"{"path":"a"}"#, r#" {"path":""} "#],
        &[
            ("{}", "path: is missing"),
            ("", "path: is missing"),
            (r#"{"path":3}"#, "path: must be string, not number"),
            (r#"{"path":null}"#, "path: must be string, not null"),
            (r#"{"path":"a","mode":1}"#, "mode: is not an argument"),
            (r#"{"file":"a"}"#, "path: is missing; file: is not an argument"),
        ],
    ),
    (
        "list_dir",
        &[r#"{"path":"."}"#],
        &[
            ("{}", "path: is missing"),
            (r#"{"path":["a"]}"#, "path: must be string, not array"),
            (r#"{"path":"a","all":true}"#, "all: is not an argument"),
        ],
    ),
    (
        "sleep",
        &[r#"{"seconds":0}"#],
        &[
            ("{}", "seconds: is missing"),
            (r#"{"seconds":"1"}"#, "seconds: must be integer, not string"),
            (r#"{"seconds":1,"x":1}"#, "x: is not an argument"),
        ],
    ),
    (
        "search_code",
        &[r#"{"query":"a"}"#, r#"{"query":"a","path":"b","glob":"*.rs","regex":true}"#],
        &[
            ("{}", "query: is missing"),
            (r#"{"query":"a","regex":"yes"}"#, "regex: must be boolean, not string"),
            (r#"{"query":"a","hidden":true}"#, "hidden: is not an argument"),
        ],
    ),
    (
        "edit_file",
        &[r#"{"path":"a","old":"b","new":""}"#],
        &[
            ("{}", "path: is missing; old: is missing; new: is missing"),
            (r#"{"path":"a","old":1,"new":""}"#, "old: must be string, not number"),
            (r#"{"path":"a","old":"b","new":"c","all":1}"#, "all: must be boolean, not number"),
            (r#"{"path":"a","old":"b","new":"c","each":true}"#, "each: is not an argument"),
        ],
    ),
    (
        "write_file",
        &[r#"{"path":"a","content":""}"#],
        &[
            ("{}", "path: is missing; content: is missing"),
            (r#"{"path":"a"}"#, "content: is missing"),
            (r#"{"path":"a","content":{}}"#, "content: must be string, not object"),
            (r#"{"path":"a","content":"","x":1}"#, "x: is not an argument"),
        ],
    ),
    (
        "shell",
        &[r#"{"command":"ls"}"#],
        &[
            ("{}", "command: is missing"),
            (r#"{"command":false}"#, "command: must be string, not boolean"),
            (r#"{"command":"ls","sandbox":false}"#, "sandbox: is not an argument"),
        ],
    ),
    (
        "ask_user",
        &[r#"{"question":"why?"}"#],
        &[
            ("{}", "question: is missing"),
            (r#"{"question":1}"#, "question: must be string, not number"),
            (r#"{"question":"a","b":1}"#, "b: is not an argument"),
        ],
    ),
    (
        "todo_write",
        &[
            r#"{"todos":[],"merge":false}"#,
            r#"{"todos":[{"id":"1","content":"a","status":"pending"}],"merge":true}"#,
            r#"{"items":[]}"#,
            r#"{"items":[{"text":"a","state":"pending"}]}"#,
        ],
        &[
            (
                r#"{"todos":[{"id":"1","content":"a","status":"done"}]}"#,
                "todos[0].status: must be one of \"pending\", \"in_progress\", \"completed\", \
                     \"cancelled\"",
            ),
            (r#"{"todos":[{"content":"a","status":"pending"}]}"#, "todos[0].id: is missing"),
            (r#"{"todos":[],"merge":"yes"}"#, "merge: must be boolean, not string"),
            (r#"{"items":{}}"#, "items: must be array, not object"),
            (r#"{"items":["a"]}"#, "items[0]: must be object, not string"),
            (r#"{"items":[],"x":1}"#, "x: is not an argument"),
        ],
    ),
];

#[test]
fn good_arguments_pass_and_bad_ones_are_told_with_their_path() {
    assert_eq!(CASES.len(), Place::new().registry.specs().len());
    for (name, good, bad) in CASES {
        let spec = spec(name);
        for args in *good {
            assert_eq!(check_args(&spec, args), Ok(serde_json::from_str(args).unwrap()));
        }
        for (args, wrong) in bad.iter().chain(&NOT_AN_OBJECT) {
            // The order of properties is the schema's business.
            let mut seen: Vec<String> =
                check_args(&spec, args).unwrap_err().split("; ").map(str::to_owned).collect();
            let mut expected: Vec<&str> = wrong.split("; ").collect();
            seen.sort();
            expected.sort();
            assert_eq!(seen, expected, "{name} {args}");
        }
        for args in ["{", "path", r#"{"path":"a"} x"#] {
            let wrong = check_args(&spec, args).unwrap_err();
            assert!(wrong.starts_with("not JSON: "), "{wrong}");
        }
    }
}

#[test]
fn what_other_argument_types_produce_is_checked_too() {
    let schema = json!({
        "type": "object",
        "$defs": {
            "Unit": { "oneOf": [{ "const": "km" }, { "const": "mile" }] },
            "Node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } } },
            "Loop": { "$ref": "#/$defs/Loop" },
        },
        "properties": {
            "count": { "type": "integer", "minimum": 1, "maximum": 5 },
            "name": { "type": ["string", "null"], "minLength": 2, "maxLength": 3 },
            "unit": { "anyOf": [{ "$ref": "#/$defs/Unit" }, { "type": "null" }] },
            "list":
                { "type": "array", "minItems": 1, "maxItems": 2, "items": { "type": "number" } },
            "node": { "$ref": "#/$defs/Node" },
            "loop": { "$ref": "#/$defs/Loop" },
            "none": false,
        },
        "additionalProperties": { "type": "boolean" },
    });
    let spec = ToolSpec { schema, ..ToolSpec::default() };
    let good = [
        json!({"count": 5, "name": null, "unit": "km", "list": [1.5], "more": true}),
        json!({"name": "漢字漢", "unit": null, "node": {"next": {"next": {}}}, "loop": 1}),
    ];
    for args in good {
        assert_eq!(check_args(&spec, &args.to_string()), Ok(args));
    }
    let bad = [
        (json!({"count": 0}), "count: must be at least 1"),
        (json!({"count": 6}), "count: must be at most 5"),
        (json!({"count": 1.5}), "count: must be integer, not number"),
        (json!({"name": "a"}), "name: must be at least 2 characters"),
        (json!({"name": "abcd"}), "name: must be at most 3 characters"),
        (json!({"name": 1}), "name: must be string or null, not number"),
        (json!({"unit": "foot"}), "unit: fits none of the allowed forms"),
        (json!({"list": []}), "list: must be at least 1 items"),
        (json!({"list": [1, "a"]}), "list[1]: must be number, not string"),
        (json!({"node": {"next": {"next": 1}}}), "node.next.next: must be object, not number"),
        (json!({"none": 1}), "none: is not allowed"),
        (json!({"more": 1}), "more: must be boolean, not number"),
    ];
    for (args, wrong) in bad {
        assert_eq!(check_args(&spec, &args.to_string()), Err(wrong.to_owned()));
    }
}

#[test]
fn many_problems_are_counted_instead_of_listed() {
    let spec = ToolSpec { schema: json!({"additionalProperties": false}), ..ToolSpec::default() };
    let args: Value = (0..8).map(|n| (format!("a{n}"), json!(1))).collect();
    let wrong = check_args(&spec, &args.to_string()).unwrap_err();
    assert!(wrong.starts_with("a0: is not an argument; "));
    assert!(wrong.ends_with("a4: is not an argument; 3 more problems"));
}

#[tokio::test]
async fn bad_arguments_are_an_observation_of_the_call() {
    let place = Place::new();
    for (args, wrong) in [("[\"x\"]", "must be an object, not array"), ("{}", "path: is missing")] {
        let done = place.tool("read_file").call(args, &CallContext::new("key")).await;
        assert_eq!(done, ToolReturn::Seen(Observation::error(format!("bad arguments: {wrong}"))));
    }
}

#[tokio::test]
async fn a_question_goes_to_the_person() {
    let place = Place::new();
    let context = CallContext::new("key");
    let tool = place.tool("ask_user");
    let done = tool.call(r#"{"question":" Which one? "}"#, &context).await;
    assert_eq!(done, ToolReturn::Ask("Which one?".to_owned()));
    let done = tool.call(r#"{"question":" "}"#, &context).await;
    assert_eq!(done, ToolReturn::Seen(Observation::error("question: is empty")));
}

#[tokio::test]
async fn a_list_comes_back_as_text() {
    let place = Place::new();
    let items = json!({"items": [
        {"text": "read\nthe code", "state": "completed"},
        {"text": "fix it", "state": "in_progress"},
        {"text": "test", "state": "pending"},
    ]});
    let seen = place.call("todo_write", items).await;
    let expected = "1. [completed] read the code\n2. [in_progress] fix it\n3. [pending] test";
    assert_eq!(seen, Observation::ok(expected));
    let seen = place.call("todo_write", json!({"items": []})).await;
    assert_eq!(seen, Observation::ok("the list is empty"));
}

#[tokio::test]
async fn a_list_with_ids_is_shown_with_its_counts() {
    let place = Place::new();
    let todos = json!([
        {"id": "a", "content": "read", "status": "completed"},
        {"id": "b", "content": "tell", "status": "pending"},
    ]);
    let seen = place.call("todo_write", json!({"todos": todos, "merge": false})).await;
    let expected = "2 items: 1 pending, 1 completed\n- a [completed] read\n- b [pending] tell";
    assert_eq!(seen, Observation::ok(expected));
    for (args, wrong) in [
        (json!({}), "todos: is missing"),
        (json!({"todos": [], "items": []}), "items: cannot be given beside todos"),
        (json!({"todos": [], "merge": true}), "todos: there is nothing to update"),
    ] {
        assert_eq!(place.call("todo_write", args).await, Observation::error(wrong));
    }
}

#[tokio::test]
async fn a_list_that_makes_no_sense_is_refused() {
    let place = Place::new();
    let busy = json!({"text": "a", "state": "in_progress"});
    let blank = json!({"text": " ", "state": "failed"});
    for (items, wrong) in [
        (json!([busy, busy]), "items: at most one may be in_progress, not 2"),
        (json!([busy, blank]), "items[1].text: is empty"),
    ] {
        let seen = place.call("todo_write", json!({ "items": items })).await;
        assert_eq!(seen, Observation::error(wrong));
    }
    let many: Vec<Value> = (0..101).map(|_| json!({"text": "a", "state": "failed"})).collect();
    let seen = place.call("todo_write", json!({ "items": many })).await;
    assert_eq!(seen, Observation::error("items: at most 100, not 101"));
}

#[test]
fn schemas_hold_nothing_that_says_nothing_to_a_model() {
    for spec in Place::new().registry.specs() {
        let text = spec.schema.to_string();
        for noise in ["$schema", "\"title\"", "\"format\"", "\"default\"", "\"null\"", "\\n"] {
            assert!(!text.contains(noise), "{}: {noise} in {text}", spec.name);
        }
    }
}

#[test]
fn null_for_an_argument_that_may_be_left_out_means_that_it_was() {
    let args = r#"{"query":"a","path":null,"regex":null}"#;
    assert_eq!(check_args(&spec("search_code"), args), Ok(json!({"query": "a"})));
    let wrong = check_args(&spec("search_code"), r#"{"query":null}"#);
    assert_eq!(wrong, Err("query: must be string, not null".to_owned()));
}
