//! `docs/settings.md`, `docs/settings.zh-CN.md` and `docs/settings.schema.json` are generated from
//! the declaration of the settings, and these tests fail if they are stale. To write them again:
//!
//! ```sh
//! UPDATE_EXPECT=1 cargo test -p everloop-app --test settings_docs
//! ```
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod validate;

use everloop_app::settings::markdown::{self, EXAMPLE};
use everloop_app::settings::{SETTINGS, Settings, file, schema};
use everloop_types::Lang;
use expect_test::expect_file;
use serde_json::Value;
use std::path::Path;
use validate::violations;

fn parsed(text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap();
    serde_json::to_value(table).unwrap()
}

/// What the program says about a file: errors, then warnings.
fn complaints(text: &str) -> Vec<String> {
    let loaded = Settings::read(Some((Path::new("config.toml"), text)), &[], &[]);
    let all = loaded.errors.iter().chain(&loaded.warnings);
    all.map(|error| error.words(Lang::En)).collect()
}

#[test]
fn the_pages_and_the_schema_are_as_the_declaration_says() {
    expect_file!["../../../../docs/settings.md"].assert_eq(&markdown::page(Lang::En));
    expect_file!["../../../../docs/settings.zh-CN.md"].assert_eq(&markdown::page(Lang::ZhCn));
    expect_file!["../../../../docs/settings.schema.json"].assert_eq(&schema::text());
}

#[test]
fn both_pages_have_a_row_for_every_setting_with_its_variable() {
    for lang in [Lang::En, Lang::ZhCn] {
        let page = markdown::page(lang);
        for spec in SETTINGS {
            let start = format!("| `{}` |", spec.key);
            let row = page.lines().find(|line| line.starts_with(&start)).unwrap();
            assert!(row.contains(&spec.key.variable()) && row.contains(&spec.description(lang)));
            assert_eq!(row.matches('|').count() - row.matches("\\|").count(), 6, "{row}");
        }
    }
}

#[test]
fn both_pages_list_every_provider_with_its_address_and_variables() {
    for (lang, or, none) in [(Lang::En, " or ", "none needed"), (Lang::ZhCn, " 或 ", "不需要")]
    {
        let page = markdown::page(lang);
        for known in everloop_models::providers() {
            let names: Vec<String> =
                known.key_variables.iter().map(|name| format!("`{name}`")).collect();
            let names = if names.is_empty() { none.to_owned() } else { names.join(or) };
            let row = format!("| `{}/` | `{}` | {names} |\n", known.name, known.address);
            assert!(page.contains(&row), "{row}");
        }
        let is_row = |line: &&str| line.starts_with("| `") && line.contains("/` | `http");
        let rows = page.lines().filter(is_row);
        assert_eq!(rows.count(), everloop_models::providers().count());
    }
}

#[test]
fn the_example_of_the_pages_is_read_and_fits_the_schema() {
    assert!(markdown::page(Lang::En).contains(EXAMPLE));
    assert_eq!(complaints(EXAMPLE), Vec::<String>::new());
    assert_eq!(violations(&schema::schema(), &parsed(EXAMPLE)), Vec::<String>::new());
}

#[test]
fn a_file_with_every_default_is_read_and_fits_the_schema() {
    let mut text = String::new();
    for spec in SETTINGS {
        text = file::with(&text, spec.key.as_str(), spec.kind, spec.default).unwrap();
    }
    assert_eq!(complaints(&text), Vec::<String>::new());
    assert_eq!(violations(&schema::schema(), &parsed(&text)), Vec::<String>::new());
}

#[test]
fn what_the_program_refuses_or_does_not_know_does_not_fit_the_schema() {
    for text in [
        "[model]\npatience = \"8\"",
        "[model]\nattempts = 0",
        "[model]\nattempts = \"many\"",
        "[model]\ntemperature = 2.5",
        "[model]\nreply_max = \"8s\"",
        "[model]\nkey = \"sk-a-key-itself\"",
        "[model]\nattemptz = 3",
        "[loop]\ndefault = \"dreaming\"",
        "[context]\nmemory = true",
        "[tools]\nenabled = [\"shel\"]",
        "[[tools.shell_rules]]\nallow = \"ls\"\ndeny = \"ls\"\nmatch = [\"ls\"]",
        "[[approvals.rules]]\ntool = \"shell\"\ndecision = \"maybe\"",
        "[mcp.servers.files]\ncommand = \"x\"\ntrust = true",
        "[providers.hub]\nurl = \"x\"",
    ] {
        assert!(!complaints(text).is_empty(), "{text}");
        assert!(!violations(&schema::schema(), &parsed(text)).is_empty(), "{text}");
    }
}
