//! What an answer to a question for permission means: the words of [`meaning`], and beside them how
//! far "always" goes and what the call is changed to.
//!
//! ```text
//!   y                    once            a 2, always prefix    always, for commands like it
//!   a, always            always          a 3, always here      always, in this conversation
//!   n REASON             no, and why     e COMMAND             this instead
//! ```
//!
//! A change needs the letter `e` and a space, or a word for it and a colon: a sentence that happens
//! to begin with "edit" must not run as a command.

use crate::answers::{Meaning, bare, meaning};

/// The meaning of an answer to a question for permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// Yes, this once.
    Once,
    /// Yes, and from now on.
    Always(AlwaysWord),
    /// No.
    No {
        /// Why, or what is wanted instead.
        reason: Option<String>,
    },
    /// Yes, but with this in place of what the model wrote; empty if nothing was said.
    Edit(String),
    /// Not recognized, or two things at once.
    Unclear,
}

/// How far an "always" goes, as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlwaysWord {
    /// Nothing was said about it.
    Unsaid,
    /// Exactly this call.
    Exact,
    /// Commands that begin alike.
    Prefix,
    /// Everything of the tool in this conversation.
    Here,
    /// The one of that number, from 1.
    Number(usize),
}

/// Words before which a change of the call stands, with a colon after them.
const EDIT_HEADS: &str = "e|edit|edit to|change to|改成|改为|修改|修改为|编辑|换成";

const EXACT_WORDS: &str =
    "exact|exactly|exactly this|this|only this|just this|这个|这条|完全相同|只这个|只这条|相同";
const PREFIX_WORDS: &str =
    "prefix|by prefix|similar|like this|pattern|前缀|按前缀|同类|类似|这类|这一类";
const HERE_WORDS: &str = "here|conversation|this conversation|in this conversation|session|chat|\
    这里|本对话|这个对话|此对话|在这里|本次对话|这次对话|对话";

/// What an answer to a question for permission means.
#[must_use]
pub fn permission_answer(line: &str) -> PermissionAnswer {
    if let Some(value) = edit_of(line) {
        return PermissionAnswer::Edit(value.to_owned());
    }
    if let Some(word) = always_with_scope(line) {
        return PermissionAnswer::Always(word);
    }
    if let Some(reason) = reason_of(line) {
        return PermissionAnswer::No { reason: Some(reason.to_owned()) };
    }
    match meaning(line) {
        Meaning::Yes => PermissionAnswer::Once,
        Meaning::Always => PermissionAnswer::Always(AlwaysWord::Unsaid),
        Meaning::No { reason } => PermissionAnswer::No { reason },
        Meaning::Edit => PermissionAnswer::Edit(String::new()),
        Meaning::Unclear => PermissionAnswer::Unclear,
    }
}

/// How far "always" goes, where only that is asked: `2`, `prefix`, `本对话`.
#[must_use]
pub fn always_word(line: &str) -> Option<AlwaysWord> {
    let said = bare(line);
    let is = |words: &str| words.split('|').any(|word| word == said);
    match () {
        () if is(EXACT_WORDS) => Some(AlwaysWord::Exact),
        () if is(PREFIX_WORDS) => Some(AlwaysWord::Prefix),
        () if is(HERE_WORDS) => Some(AlwaysWord::Here),
        () => said.parse().ok().filter(|number| *number > 0).map(AlwaysWord::Number),
    }
}

/// What stands behind the letter of a no, as it was typed.
#[must_use]
pub fn reason_of(line: &str) -> Option<&str> {
    let (first, rest) = line.trim().split_once([' ', '\u{3000}'])?;
    (bare(first) == "n" && !rest.trim().is_empty()).then(|| rest.trim())
}

/// What stands after the head of a change, as it was typed.
fn edit_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let (first, rest) = line.split_once([' ', '\u{3000}']).unwrap_or((line, ""));
    if !rest.trim().is_empty() && bare(first) == "e" && !first.contains([':', '：']) {
        return Some(rest.trim());
    }
    let (head, rest) = line.split_once([':', '：'])?;
    let is_head = EDIT_HEADS.split('|').any(|known| known == bare(head));
    (is_head && !rest.trim().is_empty()).then(|| rest.trim())
}

/// "always" and the word or number after it: each split of the line is tried.
fn always_with_scope(line: &str) -> Option<AlwaysWord> {
    let line = line.trim();
    let splits = line.char_indices().skip(1).map(|(at, _)| line.split_at(at));
    splits.filter(|(head, _)| meaning(head) == Meaning::Always).find_map(|(head, tail)| {
        // A Latin word ends where a blank or a mark is.
        let is_cut = head.ends_with(|c: char| c.is_ascii_alphanumeric())
            && tail.starts_with(|c: char| c.is_ascii_alphanumeric());
        always_word(tail).filter(|_| !is_cut || starts_with_digit(tail))
    })
}

/// `a2` is as clear as `a 2`.
fn starts_with_digit(tail: &str) -> bool {
    tail.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::AlwaysWord::{Exact, Here, Number, Prefix, Unsaid};
    use super::PermissionAnswer::{Always, Edit, No, Once, Unclear};
    use super::{PermissionAnswer, always_word, permission_answer};

    fn edit(value: &str) -> PermissionAnswer {
        Edit(value.to_owned())
    }

    fn no(reason: &str) -> PermissionAnswer {
        No { reason: Some(reason.to_owned()) }
    }

    #[test]
    fn every_answer_has_its_meaning_in_both_languages() {
        for (line, expected) in [
            ("y", Once),
            ("好的", Once),
            ("1", Once),
            ("n not now please", no("not now please")),
            ("n no network", no("no network")),
            ("a", Always(Unsaid)),
            ("always", Always(Unsaid)),
            ("总是", Always(Unsaid)),
            ("以后都允许", Always(Unsaid)),
            ("a 1", Always(Number(1))),
            ("a 2", Always(Number(2))),
            ("a2", Always(Number(2))),
            ("A ３", Always(Number(3))),
            ("always exact", Always(Exact)),
            ("always prefix", Always(Prefix)),
            ("Always, similar.", Always(Prefix)),
            ("always here", Always(Here)),
            ("always in this conversation", Always(Here)),
            ("总是 前缀", Always(Prefix)),
            ("总是允许同类", Always(Prefix)),
            ("总是 本对话", Always(Here)),
            ("总是，这个对话", Always(Here)),
            ("n", No { reason: None }),
            ("n use rm -i", no("use rm -i")),
            ("不，换个目录", no("换个目录")),
            ("e", edit("")),
            ("edit", edit("")),
            ("修改", edit("")),
            ("e cargo test -p x", edit("cargo test -p x")),
            ("e  a  b: c", edit("a  b: c")),
            ("e: ls -la", edit("ls -la")),
            ("edit: ls", edit("ls")),
            ("编辑：ls", edit("ls")),
            ("改成：ls", edit("ls")),
        ] {
            assert_eq!(permission_answer(line), expected, "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_one_is_not_taken_for_it() {
        for line in [
            "edit the readme first",
            "edit that path: it is wrong",
            "a 0",
            "always maybe",
            "always 2 of them",
            "allow 2",
            "ahere",
            "echo x",
            "e.g. this",
            "改成只读的",
            "总是问我",
        ] {
            let found = permission_answer(line);
            assert!(!matches!(found, Always(_) | Edit(_) | Once), "{line}: {found:?}");
        }
        assert_eq!(permission_answer("maybe"), Unclear);
        assert_eq!(permission_answer("always, but not here"), no("always, but not here"));
    }

    #[test]
    fn a_scope_alone_is_understood_where_it_is_asked_for() {
        for (line, expected) in [
            ("1", Some(Number(1))),
            ("２", Some(Number(2))),
            ("prefix", Some(Prefix)),
            ("本对话", Some(Here)),
            ("0", None),
            ("y", None),
            ("", None),
        ] {
            assert_eq!(always_word(line), expected, "{line}");
        }
    }
}
