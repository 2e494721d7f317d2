//! Front matter: the few lines of YAML between `---` at the beginning of a Markdown file.
//!
//! Reads what such files hold in practice: plain and quoted values, lists in both forms, folded and
//! literal blocks. Deliberately absent: nested maps, anchors and tags; a key that has one is
//! passed over.

use std::collections::BTreeMap;

/// The fields by name. Items of a list stand in lines of their own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatterFields(BTreeMap<String, String>);

impl FrontMatterFields {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    /// Items of a list, or of a plain value with commas.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let items = self.text(name).unwrap_or_default().split(['\n', ',']);
        items.map(|item| unquoted(item.trim())).filter(|item| !item.is_empty()).collect()
    }
}

/// The fields and the text after them; `None` for a text without front matter.
pub(super) fn split(text: &str) -> Option<(FrontMatterFields, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some((fields(&text[first.len()..at]), &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn fields(text: &str) -> FrontMatterFields {
    let mut all = BTreeMap::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_key = !line.starts_with([' ', '\t', '#', '-']);
        let Some((name, value)) = line.split_once(':').filter(|_| is_key) else { continue };
        let mut more = Vec::new();
        let belongs = |line: &str| line.is_empty() || line.starts_with([' ', '\t', '-']);
        while let Some(line) = lines.next_if(|line| belongs(line)) {
            more.push(line);
        }
        all.insert(name.trim().to_owned(), value_of(value.trim(), &more));
    }
    FrontMatterFields(all)
}

fn value_of(value: &str, more: &[&str]) -> String {
    let trimmed = || more.iter().map(|line| line.trim());
    match value.chars().next() {
        Some('|') => trimmed().collect::<Vec<_>>().join("\n").trim().to_owned(),
        Some('>') => trimmed().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "),
        Some('[') => value.trim_matches(['[', ']']).to_owned(),
        None => {
            let items = trimmed().filter_map(|line| line.strip_prefix("- "));
            items.map(str::trim).collect::<Vec<_>>().join("\n")
        }
        Some(_) => {
            let whole: Vec<&str> =
                std::iter::once(value).chain(trimmed()).filter(|line| !line.is_empty()).collect();
            unquoted(&whole.join(" "))
        }
    }
}

/// Takes quotes away, or the comment after a plain value.
fn unquoted(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return inner.replace("\\\"", "\"").replace("\\n", "\n");
    }
    if let Some(inner) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_forms_that_such_files_hold_are_read() {
        let text = "---\r\nname: pdf\nalways: true # now\ndescription: >-\n  Reads\n  pages.\n\
                    quoted: \"a: \\\"b\\\"\"\nsingle: 'it''s'\nflow: [a, \"b\"]\n\
                    block:\n  - c\n  - d\nlong: one\n  two\nmetadata:\n  x: y\nlast: z\n---\nBody\n";
        let (fields, body) = split(text).expect("front matter");
        let texts = ["name", "description", "quoted", "single", "long", "last"];
        let found = texts.map(|name| fields.text(name).unwrap_or_default());
        assert_eq!(found, ["pdf", "Reads pages.", "a: \"b\"", "it's", "one two", "z"]);
        assert_eq!((fields.list("flow"), fields.list("block")), (list("a b"), list("c d")));
        assert!(fields.is_on("always") && !fields.is_on("name"));
        assert_eq!((fields.text("metadata"), body), (None, "Body\n"));
    }

    fn list(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_text_without_both_marks_has_none() {
        for text in ["", "name: x", "---\nname: x\n", "# Title\n---\nname: x\n---\n"] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
