//! Listings: names, bounds, digests and what hints come to.

use super::*;
use crate::{ServerTransport, ServerValue};

fn tool(value: Value) -> Tool {
    serde_json::from_value(value).unwrap()
}

fn plain(name: &str) -> Tool {
    tool(json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}}))
}

fn server(trusted: bool) -> ServerSetting {
    let headers = BTreeMap::from([("x".to_owned(), ServerValue::parse("y"))]);
    ServerSetting {
        name: "srv".to_owned(),
        way: ServerTransport::Address { url: "http://localhost".to_owned(), headers },
        trusted,
        enabled: true,
        timeout_ms: 1_000,
        start_timeout_ms: 500,
    }
}

#[test]
fn a_change_after_the_shown_part_of_a_description_is_a_change() {
    let long = |end: &str| {
        let description = format!("{}{end}", "a".repeat(DESCRIPTION_CHARS_MAX));
        let tool = tool(
            json!({"name": "t", "description": description, "inputSchema": {"type": "object"}}),
        );
        Listing::of("srv", vec![tool])
    };
    assert_ne!(long("one").digest(), long("two").digest());
    let shown = &long("one").offers[0].description;
    assert!(shown.chars().count() < DESCRIPTION_CHARS_MAX + 50, "{shown}");
}

#[test]
fn the_order_of_tools_is_no_change_and_every_other_difference_is_named() {
    let (one, two) = (vec![plain("a"), plain("b")], vec![plain("b"), plain("a")]);
    let was = Listing::of("srv", one);
    assert_eq!(was.digest(), Listing::of("srv", two).digest());
    let said = tool(json!({"name": "b", "description": "Now.", "inputSchema": {"type": "object"}}));
    let now = Listing::of("srv", vec![said, plain("c")]);
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let expected =
        ListingDifference { added: own(&["c"]), removed: own(&["a"]), changed: own(&["b"]) };
    assert_eq!(was.difference(&now), expected);
    assert_ne!(was.digest(), now.digest());
}

#[test]
fn a_tool_that_was_left_out_still_counts_for_the_digest() {
    let large = |fill: &str| {
        let schema = json!({"type": "object", "description": fill.repeat(SCHEMA_BYTES_MAX)});
        Listing::of("srv", vec![tool(json!({"name": "t", "inputSchema": schema}))])
    };
    assert_eq!(large("a").left_out[0].why, SkipReason::TooLarge);
    assert_ne!(large("a").digest(), large("b").digest());
}

#[test]
fn a_server_with_thousands_of_tools_is_bounded_and_a_change_among_them_is_seen() {
    let many = |last: &str| {
        let tools = (0..3_000).map(|n| plain(&format!("tool{n:04}"))).chain([plain(last)]);
        Listing::of("srv", tools.collect())
    };
    let listing = many("zz1");
    assert_eq!((listing.offers.len(), listing.left_out.len()), (TOOLS_MAX, TOOLS_MAX));
    assert_ne!(listing.digest(), many("zz2").digest());
}

#[test]
fn hints_count_only_for_a_server_that_the_person_trusts() {
    let hinted = |annotations: Value| {
        let tool = tool(json!({"name": "t", "description": "Does it.",
                               "inputSchema": {"type": "object"}, "annotations": annotations}));
        Listing::of("srv", vec![tool]).offers.remove(0)
    };
    let class = |annotations: Value, trusted| {
        let handling = hinted(annotations).spec(&server(trusted)).handling;
        (handling.class, handling.approval)
    };
    let dangerous = (EffectClass::Dangerous, Approval::Ask);
    for hints in [json!({"readOnlyHint": true}), json!({"idempotentHint": true}), json!({})] {
        assert_eq!(class(hints, false), dangerous);
    }
    let read = json!({"readOnlyHint": true});
    assert_eq!(class(read.clone(), true), (EffectClass::Pure, Approval::Allow));
    let again = json!({"idempotentHint": true});
    assert_eq!(class(again, true), (EffectClass::Keyed, Approval::Ask));
    assert_eq!(class(json!({"destructiveHint": false}), true), dangerous);
    let said = |trusted| hinted(read.clone()).spec(&server(trusted)).description;
    assert_eq!(said(true), "Does it.");
    assert!(said(false).contains("MCP server srv, which is not trusted"));
}

#[test]
fn the_only_required_string_is_the_argument_of_loops_without_structure() {
    let arg = |schema: Value| text_arg(&schema);
    let properties = json!({"a": {"type": "string"}, "b": {"type": "number"}});
    assert_eq!(arg(json!({"properties": properties, "required": ["a"]})), Some("a".to_owned()));
    assert_eq!(arg(json!({"properties": properties, "required": ["b"]})), None);
    assert_eq!(arg(json!({"properties": properties, "required": ["a", "b"]})), None);
}
