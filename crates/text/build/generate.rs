//! Writes the functions, and the table that they and stored words point into.

use super::catalog::{Access, CatalogMessage};
use std::collections::BTreeMap;
use std::fmt::Write;

/// From this many arguments on, they are passed by name.
const NAMED_FROM: usize = 3;

/// A module of the generated code.
#[derive(Default)]
struct CatalogModule<'m> {
    areas: BTreeMap<&'m str, CatalogModule<'m>>,
    functions: Vec<(usize, &'m CatalogMessage, &'m str)>,
    /// The prefix of the keys that are found by name.
    named: Option<&'m str>,
}

/// The whole generated file.
pub(crate) fn code(messages: &[CatalogMessage]) -> String {
    let mut root = CatalogModule::default();
    let shown = messages.iter().filter(|message| message.access != Access::Pattern);
    for (index, message) in shown.enumerate() {
        let path = match message.access {
            Access::Named(length) => &message.key[..length],
            _ => message.key.as_str(),
        };
        let mut area = &mut root;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_some() {
                area = area.areas.entry(part).or_default();
            } else if part.is_empty() {
                area.named = Some(path);
            } else {
                area.functions.push((index, message, part));
            }
        }
    }
    let mut out = String::new();
    for (name, area) in &root.areas {
        module(&mut out, name, area);
    }
    table(&mut out, messages, false);
    table(&mut out, messages, true);
    out
}

fn module(out: &mut String, name: &str, area: &CatalogModule<'_>) {
    let _ = writeln!(out, "/// Messages of this area.\npub mod {} {{", ident(name));
    for (index, message, name) in &area.functions {
        if message.args.len() < NAMED_FROM {
            function(out, *index, message, name);
        } else {
            structure(out, *index, message, name);
        }
    }
    if let Some(prefix) = area.named {
        let _ = writeln!(
            out,
            "/// The message of this name, if there is one.\n#[must_use]\n\
             pub fn named(name: &str) -> Option<crate::Text> {{ crate::Text::named({prefix:?}, name) }}\n\
             /// Every name.\n\
             pub fn names() -> impl Iterator<Item = &'static str> {{ crate::names({prefix:?}) }}"
        );
    }
    for (name, area) in &area.areas {
        module(out, name, area);
    }
    out.push_str("}\n");
}

fn function(out: &mut String, index: usize, message: &CatalogMessage, name: &str) {
    let params: Vec<String> =
        message.args.iter().map(|arg| format!("{}: &dyn std::fmt::Display", ident(arg))).collect();
    let values: Vec<String> =
        message.args.iter().map(|arg| format!("{}.to_string()", ident(arg))).collect();
    let _ = writeln!(
        out,
        "{}#[must_use]\npub fn {}({}) -> crate::Text {{ crate::Text::new({index}, vec![{}]) }}",
        doc(message),
        ident(name),
        params.join(", "),
        values.join(", ")
    );
}

fn structure(out: &mut String, index: usize, message: &CatalogMessage, name: &str) {
    let name = camel(name);
    let mut fields = String::new();
    for arg in &message.args {
        let _ = writeln!(
            fields,
            "/// Shown at `{arg}`.\npub {}: &'a dyn std::fmt::Display,",
            ident(arg)
        );
    }
    let values: Vec<String> =
        message.args.iter().map(|arg| format!("self.{}.to_string()", ident(arg))).collect();
    let _ = writeln!(
        out,
        "{}#[derive(Clone, Copy)]\n#[allow(missing_debug_implementations, reason = \"values to show\")]\n\
         pub struct {name}<'a> {{ {fields} }}\n\
         impl {name}<'_> {{ /// The message with these values.\n#[must_use]\n\
         pub fn text(self) -> crate::Text {{ crate::Text::new({index}, vec![{}]) }} }}",
        doc(message),
        values.join(", ")
    );
}

fn doc(message: &CatalogMessage) -> String {
    let text = format!(" `````text\n {}\n {}\n `````", message.en, message.zh);
    format!("#[doc = \"{}\"]\n", text.replace('\n', "\\n"))
}

/// Patterns, or all the others, as a table in the order of the keys.
fn table(out: &mut String, messages: &[CatalogMessage], patterns: bool) {
    let name = if patterns { "PATTERNS" } else { "TEMPLATES" };
    let _ = writeln!(out, "pub(crate) static {name}: &[crate::Template] = &[");
    for message in messages.iter().filter(|m| (m.access == Access::Pattern) == patterns) {
        let one = match (message.count, &message.one) {
            (Some(count), Some(text)) => format!("Some(({count}, \"{text}\"))"),
            _ => "None".to_owned(),
        };
        let shown = message
            .shown
            .as_ref()
            .map_or_else(|| "None".to_owned(), |text| format!("Some(\"{text}\")"));
        let _ = writeln!(
            out,
            "crate::Template {{ key: \"{}\", args: &{:?}, one: {one}, en: \"{}\", \
             shown: {shown}, zh: \"{}\" }},",
            message.key, message.args, message.en, message.zh
        );
    }
    out.push_str("];\n");
}

/// A name as an identifier, also where it is a keyword.
fn ident(name: &str) -> String {
    const KEYWORDS: [&str; 38] = [
        "as", "async", "await", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
        "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "true",
        "type", "use", "where", "while",
    ];
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

fn camel(name: &str) -> String {
    let mut out = String::new();
    for part in name.split('_') {
        let mut chars = part.chars();
        out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    out
}
