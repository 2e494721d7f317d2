//! `docs/settings.schema.json`: the JSON Schema of `config.toml`, for editors.

use super::lists::split_items;
use super::{ListKind, SETTINGS, SettingKind, SettingSpec};
use crate::environment::built_in;
use crate::run_types::RunType;
use everloop_types::Lang;
use serde_json::{Map, Value, json};

const TIME: &str = "^[0-9]+ *(ms|s|m|h|d)$";
const TIME_OR_OFF: &str = "^(off|[0-9]+ *(ms|s|m|h|d))$";
const SIZE: &str = "^[0-9]+ *(KiB|MiB|GiB|KB|MB)$";
const REFERENCE: &str = "^((env|file|command|keychain):.+)?$";

/// The schema as its file has it: keys in order, whichever way maps are kept.
#[must_use]
pub fn text() -> String {
    format!("{:#}\n", sorted(schema()))
}

/// The whole schema.
#[must_use]
pub fn schema() -> Value {
    let mut sections = Map::new();
    for spec in SETTINGS {
        let section = sections.entry(spec.key.section()).or_insert_with(|| object(json!({})));
        section["properties"][spec.key.name()] = property(spec);
    }
    for (section, name, table) in [
        ("tools", "shell_rules", shell_rules()),
        ("approvals", "rules", approval_rules()),
        ("mcp", "servers", mcp_servers()),
    ] {
        sections[section]["properties"][name] = table;
    }
    let provider = object(json!({"base_url": string(), "key": pattern(REFERENCE)}));
    sections
        .insert("providers".into(), json!({"type": "object", "additionalProperties": provider}));
    let mut channel = object(json!({
        "url": string(), "secret": pattern(REFERENCE), "workspace": string(),
    }));
    channel["required"] = json!(["secret"]);
    sections.insert("channels".into(), json!({"type": "object", "additionalProperties": channel}));
    let mut all = object(Value::Object(sections));
    all["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    all["title"] = json!("Everloop config.toml");
    all
}

fn property(spec: &SettingSpec) -> Value {
    let mut property = match spec.kind {
        SettingKind::Count => json!({"type": "integer"}),
        SettingKind::Decimal => json!({"type": "number"}),
        SettingKind::Duration => pattern(TIME),
        SettingKind::DurationOrOff => pattern(TIME_OR_OFF),
        SettingKind::Size => pattern(SIZE),
        SettingKind::OneOf(words) => json!({"type": "string", "enum": words}),
        SettingKind::Zone | SettingKind::Text => string(),
        SettingKind::Reference => pattern(REFERENCE),
        SettingKind::List(ListKind::Tool) => {
            let names: Vec<&str> = built_in().map(|tool| tool.name).collect();
            json!({"type": "array", "items": {"type": "string", "enum": names}})
        }
        SettingKind::List(ListKind::RunType) => {
            let names = RunType::ALL.map(RunType::name);
            json!({"type": "array", "items": {"type": "string", "enum": names}})
        }
        SettingKind::List(_) => strings(),
    };
    if let Some(range) = &spec.range {
        let is_decimal = spec.kind == SettingKind::Decimal;
        let scaled = |end: u64| if is_decimal { end / 1_000 } else { end };
        property["minimum"] = json!(scaled(*range.start()));
        if *range.end() != u64::MAX {
            property["maximum"] = json!(scaled(*range.end()));
        }
    }
    property["description"] = json!(spec.description(Lang::En));
    property["default"] = default(spec);
    property
}

fn default(spec: &SettingSpec) -> Value {
    match spec.kind {
        SettingKind::Count | SettingKind::Decimal => spec.default.parse().unwrap_or_default(),
        SettingKind::List(_) => {
            json!(split_items(spec.default).collect::<Vec<_>>())
        }
        _ => json!(spec.default),
    }
}

fn shell_rules() -> Value {
    let mut rule = object(json!({
        "allow": string(), "ask": string(), "deny": string(),
        "match": strings(), "no_match": strings(),
    }));
    rule["oneOf"] = json!([{"required": ["allow"]}, {"required": ["ask"]}, {"required": ["deny"]}]);
    json!({"type": "array", "items": rule})
}

fn approval_rules() -> Value {
    let mut rule = object(json!({
        "tool": string(),
        "decision": {"type": "string", "enum": ["allow", "ask", "deny"]},
        "arg": string(), "matches": string(), "match": strings(), "no_match": strings(),
    }));
    rule["required"] = json!(["tool", "decision"]);
    json!({"type": "array", "items": rule})
}

fn mcp_servers() -> Value {
    let texts = json!({"type": "object", "additionalProperties": string()});
    let mut server = object(json!({
        "command": string(), "args": strings(), "env": texts,
        "url": string(), "headers": texts,
        "trusted": {"type": "boolean"}, "enabled": {"type": "boolean"},
        "timeout": pattern(TIME), "start_timeout": pattern(TIME),
    }));
    server["oneOf"] = json!([{"required": ["command"]}, {"required": ["url"]}]);
    json!({"type": "object", "additionalProperties": server})
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn string() -> Value {
    json!({"type": "string"})
}

fn strings() -> Value {
    json!({"type": "array", "items": string()})
}

fn pattern(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

/// The same with its keys in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> =
                map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
