//! Notes for later: what a summary keeps of each sentence, in lines that can be read back.
//!
//! ```text
//!   known 3 done: ["Count the lines of a.txt.","17"]
//! ```

use serde_json::json;
use std::collections::HashMap;

/// What is known of the sentences, by their numbers.
pub(super) type Notes = HashMap<String, Note>;

/// What is known of one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) kind: Kind,
    pub(super) said: String,
    /// Its result, the reason why it failed, or what the file holds that it tells to follow.
    pub(super) value: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Done,
    Failed,
    Holds,
}

impl Kind {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Done, "done"), (Self::Failed, "failed"), (Self::Holds, "holds")];

    fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

/// One note as a line.
pub(super) fn line(key: &str, note: &Note) -> String {
    let told = json!([note.said, note.value]);
    format!("known {key} {}: {told}", note.kind.word())
}

/// The notes among the lines of a summary.
pub(super) fn read(summary: &str) -> Notes {
    summary.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<(String, Note)> {
    let (key, rest) = line.strip_prefix("known ")?.split_once(' ')?;
    let (word, rest) = rest.split_once(": ")?;
    let (kind, _) = Kind::ALL.into_iter().find(|(_, known)| *known == word)?;
    let (said, value) = serde_json::from_str(rest).ok()?;
    Some((key.to_owned(), Note { kind, said, value }))
}

#[cfg(test)]
mod tests {
    use super::{Kind, Note, line, read};

    #[test]
    fn a_note_is_read_back_as_it_was_written() {
        let notes =
            [(Kind::Done, Some("1\n => 2")), (Kind::Failed, Some("no")), (Kind::Done, None)];
        for (kind, value) in notes {
            let value = value.map(str::to_owned);
            let note = Note { kind, said: "Run \"a => b\".".to_owned(), value };
            let text = format!("The goal: x\n{}\nmore", line("3.1", &note));
            assert_eq!(read(&text).get("3.1"), Some(&note));
        }
    }
}
