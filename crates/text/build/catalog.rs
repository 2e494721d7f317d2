//! The format of the data files, and its checks.
//!
//! ```text
//! # A comment.
//! @named help              messages below `help.` are found by name, not by function
//! @patterns                the English of this file is matched, not shown
//!
//! run.steps(#count, id)    the key and its arguments; `#` marks the one that picks the plural
//!   en.one: "Run {id}: {count} step"
//!   en.other: "Run {id}: {count} steps"
//!   zh: "运行 {id}：{count} 步"
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CatalogProblem {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl fmt::Display for CatalogProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.file, self.line, self.text)
    }
}

/// How a message is reached from code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// By the function of its name.
    Function,
    /// By the rest of its key, after this many characters of the area.
    Named(usize),
    /// Not at all: its English is a pattern.
    Pattern,
}

/// One message. Texts are string literals of Rust, without their quotes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CatalogMessage {
    pub(crate) key: String,
    pub(crate) args: Vec<String>,
    /// Which argument picks the English form.
    pub(crate) count: Option<usize>,
    pub(crate) one: Option<String>,
    pub(crate) en: String,
    /// What people read of a pattern, if it is not what the model reads.
    pub(crate) shown: Option<String>,
    pub(crate) zh: String,
    pub(crate) access: Access,
}

/// A message whose entry has not ended yet.
struct CatalogDraft {
    key: String,
    line: usize,
    args: Vec<String>,
    count: Option<usize>,
    texts: BTreeMap<String, (usize, String)>,
}

const FORMS: [&str; 5] = ["en", "en.one", "en.other", "en.shown", "zh"];

/// All messages in the order of their keys, then the patterns as they are tried: in file order.
pub(crate) fn read(files: &[(String, String)]) -> Result<Vec<CatalogMessage>, Vec<CatalogProblem>> {
    let mut reader = CatalogReader::default();
    for (file, text) in files {
        reader.file(file, text);
    }
    if reader.problems.is_empty() {
        let is_pattern = |message: &CatalogMessage| message.access == Access::Pattern;
        let (patterns, mut messages): (Vec<_>, Vec<_>) =
            reader.messages.into_iter().partition(is_pattern);
        messages.sort_by(|one, other| one.key.cmp(&other.key));
        messages.extend(patterns);
        Ok(messages)
    } else {
        Err(reader.problems)
    }
}

#[derive(Default)]
struct CatalogReader {
    name: String,
    named: Vec<String>,
    is_patterns: bool,
    draft: Option<CatalogDraft>,
    seen: BTreeSet<String>,
    messages: Vec<CatalogMessage>,
    problems: Vec<CatalogProblem>,
}

impl CatalogReader {
    fn problem(&mut self, line: usize, text: impl Into<String>) {
        self.problems.push(CatalogProblem { file: self.name.clone(), line, text: text.into() });
    }

    fn file(&mut self, name: &str, text: &str) {
        name.clone_into(&mut self.name);
        self.named.clear();
        self.is_patterns = false;
        for (index, line) in text.lines().enumerate() {
            self.line(index + 1, line);
        }
        self.end_entry();
    }

    fn line(&mut self, number: usize, line: &str) {
        if line.trim().is_empty() || line.starts_with('#') {
            return;
        }
        if let Some(directive) = line.strip_prefix('@') {
            self.directive(number, directive);
        } else if line.starts_with(' ') {
            self.text(number, line.trim());
        } else {
            self.head(number, line.trim_end());
        }
    }

    fn directive(&mut self, number: usize, directive: &str) {
        match directive.split_once(' ') {
            Some(("named", area)) => self.named.push(format!("{}.", area.trim())),
            None if directive.trim() == "patterns" => self.is_patterns = true,
            _ => self.problem(number, format!("unknown directive `@{directive}`")),
        }
    }

    /// The first line of an entry: its key and arguments.
    fn head(&mut self, number: usize, line: &str) {
        self.end_entry();
        let (key, list) = match line.split_once('(') {
            Some((key, list)) => (key, list.strip_suffix(')')),
            None => (line, Some("")),
        };
        let Some(list) = list.filter(|_| is_key(key)) else {
            return self.problem(number, format!("`{line}` is not `area.name(arguments)`"));
        };
        if !self.seen.insert(key.to_owned()) {
            self.problem(number, format!("`{key}` is defined twice"));
        }
        let mut args: Vec<String> = Vec::new();
        let mut count = None;
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let plain = name.trim_start_matches('#');
            if !is_word(plain) || args.iter().any(|known| known == plain) {
                self.problem(number, format!("`{key}`: bad or repeated argument `{name}`"));
            }
            if plain.len() < name.len() && count.replace(args.len()).is_some() {
                self.problem(number, format!("`{key}`: more than one argument has `#`"));
            }
            args.push(plain.to_owned());
        }
        let texts = BTreeMap::new();
        self.draft = Some(CatalogDraft { key: key.to_owned(), line: number, args, count, texts });
    }

    /// One language of an entry.
    fn text(&mut self, number: usize, line: &str) {
        let parts = line.split_once(": ").map(|(form, text)| (form, text.trim()));
        let quoted = parts.and_then(|(form, text)| {
            Some((form, text.strip_prefix('"')?.strip_suffix('"').filter(|_| text.len() > 1)?))
        });
        let Some((form, text)) = quoted else {
            return self.problem(number, "a text is written `en: \"…\"` or `zh: \"…\"`");
        };
        if !FORMS.contains(&form) {
            let known = FORMS.join(", ");
            return self.problem(number, format!("unknown form `{form}`; there are: {known}"));
        }
        if let Some(wrong) = wrong_escape(text) {
            self.problem(number, format!("{wrong}; only \\n, \\\" and \\\\ are allowed"));
        }
        if text.trim().is_empty() {
            self.problem(number, format!("the text of `{form}` is empty"));
        }
        let Some(draft) = &mut self.draft else {
            return self.problem(number, "a text without a key above it");
        };
        if draft.texts.insert(form.to_owned(), (number, text.to_owned())).is_some() {
            let key = draft.key.clone();
            self.problem(number, format!("`{key}` has `{form}` twice"));
        }
    }

    fn end_entry(&mut self) {
        let Some(mut draft) = self.draft.take() else { return };
        let one = draft.texts.remove("en.one");
        let other = draft.texts.remove("en.other");
        let plain = draft.texts.remove("en");
        let shown = draft.texts.remove("en.shown");
        if let Some((line, _)) = shown.as_ref().filter(|_| !self.is_patterns) {
            let key = draft.key.clone();
            self.problem(*line, format!("`{key}`: only a pattern has `en.shown`"));
        }
        let zh = draft.texts.remove("zh");
        self.check_plural(&draft, one.is_some(), other.is_some(), plain.is_some());
        let (Some(en), Some(zh)) = (plain.or(other), zh) else {
            return self.problem(draft.line, format!("`{}` needs both `en` and `zh`", draft.key));
        };
        if self.is_patterns {
            self.check_pattern(&draft.key, &en.1, &zh);
            shown.iter().for_each(|shown| self.check_pattern(&draft.key, &en.1, shown));
        } else {
            // The singular may leave its count out: "one message".
            let count = draft.count.map(|at| draft.args[at].clone());
            if let Some((line, text)) = &one {
                self.check_args(&draft, *line, text, count.as_deref());
            }
            self.check_args(&draft, en.0, &en.1, None);
            self.check_args(&draft, zh.0, &zh.1, None);
        }
        let access = self.access(&draft);
        self.messages.push(CatalogMessage {
            key: draft.key,
            args: draft.args,
            count: draft.count,
            one: one.map(|(_, text)| text),
            en: en.1,
            shown: shown.map(|(_, text)| text),
            zh: zh.1,
            access,
        });
    }

    fn check_plural(&mut self, draft: &CatalogDraft, one: bool, other: bool, plain: bool) {
        let key = &draft.key;
        let wrong = match (one, other, plain) {
            (true, true, false) if draft.count.is_none() => {
                "a plural needs a count: mark one argument with `#`"
            }
            (true, true, false) => return,
            (false, false, _) if draft.count.is_some() => {
                "`#` marks a count, but there is no plural"
            }
            (false, false, _) => return,
            (_, _, true) => "`en` and plural forms exclude each other",
            _ => "a plural needs both `en.one` and `en.other`",
        };
        self.problem(draft.line, format!("`{key}`: {wrong}"));
    }

    fn check_args(
        &mut self,
        draft: &CatalogDraft,
        line: usize,
        text: &str,
        optional: Option<&str>,
    ) {
        let key = &draft.key;
        let used = placeholders(text);
        for name in used.iter().filter(|name| !draft.args.contains(name)) {
            self.problem(line, format!("`{key}` has no argument `{name}`"));
        }
        for name in draft.args.iter().filter(|name| !used.contains(name)) {
            if Some(name.as_str()) != optional {
                self.problem(line, format!("`{key}`: the argument `{name}` is not used"));
            }
        }
    }

    /// A translation may leave out values that the pattern finds.
    fn check_pattern(&mut self, key: &str, en: &str, zh: &(usize, String)) {
        let found = placeholders(en);
        for name in placeholders(&zh.1).iter().filter(|name| !found.contains(name)) {
            self.problem(zh.0, format!("`{key}`: the pattern finds no `{name}`"));
        }
    }

    fn access(&mut self, draft: &CatalogDraft) -> Access {
        if self.is_patterns {
            return Access::Pattern;
        }
        let area = self.named.iter().find(|area| draft.key.starts_with(area.as_str()));
        let Some(length) = area.map(String::len) else { return Access::Function };
        if !draft.args.is_empty() {
            let key = &draft.key;
            self.problem(draft.line, format!("`{key}` is found by name and takes no arguments"));
        }
        Access::Named(length)
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn is_key(text: &str) -> bool {
    text.contains('.') && text.split('.').all(is_word)
}

fn wrong_escape(text: &str) -> Option<String> {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | '"' | '\\') => {}
                other => return Some(format!("unknown escape `\\{}`", other.unwrap_or(' '))),
            },
            '"' => return Some("a bare quote".to_owned()),
            _ => {}
        }
    }
    None
}

/// The names between braces.
fn placeholders(text: &str) -> Vec<String> {
    let parts = text.split('{').skip(1).filter_map(|part| part.split_once('}'));
    parts.map(|(name, _)| name.to_owned()).filter(|name| is_word(name)).collect()
}
