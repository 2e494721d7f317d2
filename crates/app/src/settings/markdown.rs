//! `docs/settings.md`: every setting for people, in one language.

use super::{ListKind, SETTINGS, SettingKind, SettingSpec};
use everloop_text as text;
use everloop_types::Lang;

/// A settings file that the page shows.
pub const EXAMPLE: &str = include_str!("example.toml");

/// The whole page.
#[must_use]
pub fn page(lang: Lang) -> String {
    let say = |name: &str| doc(lang, name);
    let mut page = format!("# {}\n\n<!-- {} -->\n\n", say("title"), say("generated"));
    for part in ["layers", "units", "editors"] {
        page += &format!("{}\n\n", say(part));
    }
    page += &format!("## {}\n\n```toml\n{}```\n", say("example"), EXAMPLE);
    let mut section = "";
    for spec in SETTINGS {
        if spec.key.section() != section {
            section = spec.key.section();
            let heading = section_title(lang, section);
            page += &format!("\n## {heading}: `[{section}]`\n\n{}", head(&say("columns")));
        }
        page += &row(lang, spec);
    }
    page += &providers(lang);
    page += &format!("\n## {}\n\n{}\n", say("rules"), say("rules_about"));
    page
}

/// Words around the tables.
fn doc(lang: Lang, name: &str) -> String {
    text::settings::doc::named(name).map(|text| text.in_lang(lang)).unwrap_or_default()
}

fn section_title(lang: Lang, section: &str) -> String {
    text::settings::section::named(section).map(|text| text.in_lang(lang)).unwrap_or_default()
}

/// The head of a table, from its columns.
fn head(columns: &str) -> String {
    let count = columns.split(" | ").count();
    format!("| {columns} |\n|{}\n", "---|".repeat(count))
}

fn row(lang: Lang, spec: &SettingSpec) -> String {
    let default = match spec.default {
        "" => doc(lang, "empty"),
        typed => format!("`{typed}`"),
    };
    format!(
        "| `{}` | {default} | {} | `{}` | {} |\n",
        spec.key,
        values(lang, spec),
        spec.key.variable(),
        spec.description(lang),
    )
}

/// What may be written there.
fn values(lang: Lang, spec: &SettingSpec) -> String {
    let kind = |name: &str| doc(lang, &format!("kind.{name}"));
    match spec.kind {
        SettingKind::Count => range(spec, 1),
        SettingKind::Decimal => range(spec, 1_000),
        SettingKind::OneOf(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        SettingKind::Duration => kind("duration"),
        SettingKind::DurationOrOff => kind("duration_or_off"),
        SettingKind::Size => kind("size"),
        SettingKind::Zone => kind("zone"),
        SettingKind::Text => kind("text"),
        SettingKind::Reference => kind("reference"),
        SettingKind::List(ListKind::Host) => kind("host"),
        SettingKind::List(ListKind::Channel) => kind("channel"),
        SettingKind::List(ListKind::Folder) => kind("folder"),
        SettingKind::List(ListKind::Tool) => kind("tool"),
        SettingKind::List(ListKind::Pattern) => kind("pattern"),
        SettingKind::List(ListKind::Word) => kind("word"),
        SettingKind::List(ListKind::RunType) => kind("run_type"),
    }
}

fn range(spec: &SettingSpec, scale: u64) -> String {
    let Some(range) = &spec.range else { return String::new() };
    match *range.end() {
        u64::MAX => format!("≥ {}", range.start() / scale),
        end => format!("{} – {}", range.start() / scale, end / scale),
    }
}

/// What can be set of a provider, and the providers that are known by name.
fn providers(lang: Lang) -> String {
    let say = |name: &str| doc(lang, name);
    let none = say("empty");
    let mut part = format!("\n## {}: `[providers.NAME]`\n\n", say("providers"));
    part += &format!("{}\n\n{}", say("providers_about"), head(&say("columns")));
    for (name, kind) in [("base_url", "kind.text"), ("key", "kind.reference")] {
        let variable = format!("EVERLOOP_PROVIDERS__NAME__{}", name.to_uppercase());
        let about = say(name);
        let kind = say(kind);
        part +=
            &format!("| `providers.NAME.{name}` | {none} | {kind} | `{variable}` | {about} |\n");
    }
    part += &format!("\n{}", head(&say("provider_columns")));
    for known in everloop_models::providers() {
        let names: Vec<String> =
            known.key_variables.iter().map(|name| format!("`{name}`")).collect();
        let names = if names.is_empty() { say("no_key") } else { names.join(&say("or")) };
        part += &format!("| `{}/` | `{}` | {names} |\n", known.name, known.address);
    }
    part
}
