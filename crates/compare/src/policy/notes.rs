//! Notes: what a summary keeps about each sentence, in lines that can be parsed.
//!
//! ```text
//!   known 3 done: ["Count the lines of a.txt.","17"]
//! ```

use serde_json::json;
use std::collections::HashMap;

/// What is known about the sentences, by their numbers.
pub(super) type SentenceNotes = HashMap<String, SentenceNote>;

/// What is known about one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentenceNote {
    pub(super) kind: NoteKind,
    pub(super) said: String,
    /// Its result, the reason of its failure, or the content of the file with further instructions.
    pub(super) value: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteKind {
    Done,
    Failed,
    Holds,
}

impl NoteKind {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Done, "done"), (Self::Failed, "failed"), (Self::Holds, "holds")];

    fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

/// One note as a line.
pub(super) fn line(key: &str, note: &SentenceNote) -> String {
    let told = json!([note.said, note.value]);
    format!("known {key} {}: {told}", note.kind.word())
}

/// The notes among the lines of a summary.
pub(super) fn read(summary: &str) -> SentenceNotes {
    summary.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<(String, SentenceNote)> {
    let (key, rest) = line.strip_prefix("known ")?.split_once(' ')?;
    let (word, rest) = rest.split_once(": ")?;
    let (kind, _) = NoteKind::ALL.into_iter().find(|(_, known)| *known == word)?;
    let (said, value) = serde_json::from_str(rest).ok()?;
    Some((key.to_owned(), SentenceNote { kind, said, value }))
}

#[cfg(test)]
mod tests {
    use super::{NoteKind, SentenceNote, line, read};

    #[test]
    fn a_note_is_read_back_as_it_was_written() {
        let notes = [
            (NoteKind::Done, Some("1\n => 2")),
            (NoteKind::Failed, Some("no")),
            (NoteKind::Done, None),
        ];
        for (kind, value) in notes {
            let value = value.map(str::to_owned);
            let note = SentenceNote { kind, said: "Run \"a => b\".".to_owned(), value };
            let text = format!("The goal: x\n{}\nmore", line("3.1", &note));
            assert_eq!(read(&text).get("3.1"), Some(&note));
        }
    }
}
