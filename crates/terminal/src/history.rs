//! What was typed before. The file has one entry a line; a line end inside of one is `<\n>`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Entries that are remembered.
const ENTRIES_MAX: usize = 2_000;

/// How a line end is written inside of an entry.
const LINE_END: &str = "<\\n>";

/// Earlier inputs, oldest first.
#[derive(Debug, Default)]
pub struct InputHistory {
    entries: Vec<String>,
    file: Option<PathBuf>,
}

impl InputHistory {
    /// The history in a file that only its owner can read. A file that cannot be read or made is an
    /// empty history, which lives as long as the program.
    #[must_use]
    pub fn open(file: &Path) -> Self {
        let Ok(opened) = open_private(file) else { return Self::default() };
        let lines = BufReader::new(opened).split(b'\n').map_while(Result::ok);
        let decode = |line: Vec<u8>| String::from_utf8_lossy(&line).replace(LINE_END, "\n");
        let mut entries: Vec<String> = lines.map(decode).filter(|line| !line.is_empty()).collect();
        let is_long = entries.len() > 2 * ENTRIES_MAX;
        entries.drain(..entries.len().saturating_sub(ENTRIES_MAX));
        let history = Self { entries, file: Some(file.to_owned()) };
        if is_long {
            // A file that cannot be shortened stays long.
            let _ = history.rewrite(file);
        }
        history
    }

    /// Remembers an entry, unless it is the last one again.
    pub fn push(&mut self, entry: &str) {
        if entry.trim().is_empty() || self.entries.last().is_some_and(|last| last == entry) {
            return;
        }
        self.entries.push(entry.to_owned());
        // What cannot be written is remembered until the end of the program.
        let _ = self.append(entry);
    }

    /// The entry that is so many entries back; the last one is 0.
    #[must_use]
    pub fn back(&self, count: usize) -> Option<&str> {
        let at = self.entries.len().checked_sub(count + 1)?;
        self.entries.get(at).map(String::as_str)
    }

    /// The first entry from there on backwards in which these words occur, and how far back it is.
    #[must_use]
    pub fn find(&self, words: &str, from: usize) -> Option<(usize, &str)> {
        let words = words.to_lowercase();
        let matching = |(_, entry): &(usize, &String)| entry.to_lowercase().contains(&words);
        let back = self.entries.iter().rev().enumerate().skip(from);
        back.filter(matching).map(|(count, entry)| (count, entry.as_str())).next()
    }

    fn append(&self, entry: &str) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let line = format!("{}\n", entry.replace('\n', LINE_END));
        open_private(file)?.write_all(line.as_bytes())
    }

    fn rewrite(&self, file: &Path) -> io::Result<()> {
        let whole: String =
            self.entries.iter().map(|entry| entry.replace('\n', LINE_END) + "\n").collect();
        let new = file.with_extension("new");
        open_private(&new)?.write_all(whole.as_bytes())?;
        std::fs::rename(new, file)
    }
}

fn open_private(file: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_outlive_the_program_also_those_of_several_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history.txt");
        std::fs::write(&file, "old one\ntwo<\\n>lines\n").expect("written");
        let mut history = InputHistory::open(&file);
        assert_eq!(history.back(0), Some("two\nlines"));
        history.push("new\none");
        history.push("new\none");
        let again = InputHistory::open(&file);
        assert_eq!(again.back(0), Some("new\none"));
        assert_eq!(again.back(1), Some("two\nlines"));
        assert_eq!(again.find("OLD", 0), Some((2, "old one")));
        assert_eq!(again.find("old", 3), None);
    }
}
