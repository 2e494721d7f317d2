//! `@file` in a goal: what the named files, folders and pictures bring to the model.
//!
//! ```text
//!   "sum up @notes.md:1-40"  ──►  the goal as it was written
//!                                 + [file notes.md, lines 1-40 of 120] … [end of notes.md]
//! ```
//!
//! A file is read as `read_file` reads it: in the workspace, past the files of the program itself,
//! and only where no rule denies it. The person has named it, so nobody is asked. A word that names
//! nothing stays text.

use crate::app::App;
use crate::briefing;
use crate::context::images::{self, IMAGES_MAX};
use crate::own;
use everloop_ports::AccessRules;
use everloop_tools::{Workspace, WorkspaceError, clean};
use everloop_types::{Approval, Image, Policy, Taint};
use std::path::{Path, PathBuf};

/// Files, folders and pictures that one goal may name.
const MENTIONS_MAX: usize = 20;

/// Characters of one file, and of all together, that go with a goal.
const FILE_CHARS_MAX: usize = 40_000;
const ALL_CHARS_MAX: usize = 120_000;

/// Bytes of a file that are looked at.
const READ_BYTES_MAX: u64 = 2_000_000;

/// Entries of a folder that are listed.
const ENTRIES_MAX: usize = 200;

/// Marks that may stand behind a name without being a part of it.
const CLOSING: &[char] = &[
    ',', '.', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '>', '，', '。', '；', '：', '！',
    '？', '）', '】', '》', '”', '’', '、', '」',
];

/// What the files that a goal names bring to it.
#[derive(Debug, Default)]
pub struct MentionedFiles {
    /// What the model reads beside the goal.
    pub context: String,
    /// Pictures.
    pub images: Vec<Image>,
    /// What it brings into the run.
    pub held: Taint,
    /// What came of each word.
    pub notes: Vec<MentionNote>,
}

/// What came of one `@word`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionNote {
    /// The file goes with the goal: its name, and how many of its lines.
    File {
        /// As it was written.
        path: String,
        /// Lines that go with the goal.
        lines: usize,
        /// Lines that it has.
        all: usize,
    },
    /// The names in a folder go with it.
    Folder {
        /// As it was written.
        path: String,
        /// How many.
        entries: usize,
    },
    /// The picture goes with it.
    Picture(String),
    /// There is no such file; the word is sent as text.
    Missing(String),
    /// It may not or cannot be read; the word is sent as text.
    Refused {
        /// As it was written.
        path: String,
        /// Why.
        why: MentionRefusal,
    },
}

/// Why a file does not go with a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionRefusal {
    /// It lies outside the workspace.
    Outside,
    /// It is a file of the program itself.
    Protected,
    /// This rule denies it.
    Rule(String),
    /// It is neither text nor a picture.
    Binary,
    /// There is no room for more.
    TooMany,
    /// The system says so.
    System(String),
}

impl MentionNote {
    /// Whether it goes with the goal as the person wanted.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Folder { .. } | Self::Picture(_))
    }
}

/// A word that may name a file.
#[derive(Debug, PartialEq, Eq)]
struct MentionWord<'a> {
    text: &'a str,
    /// Whether it stood in quotes, which end it.
    quoted: bool,
}

/// Some lines of a file, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineRange {
    first: usize,
    last: usize,
}

impl MentionedFiles {
    /// Reads what a goal names. `policy` is the run's.
    #[must_use]
    pub fn read(app: &App, workspace: &Path, goal: &str, policy: &Policy) -> Self {
        let mut found = Self::default();
        let words = words_of(goal);
        if words.is_empty() {
            return found;
        }
        let Ok(root) = Workspace::open(workspace) else { return found };
        let mut root = root.protecting(&own::files(app, &app.settings));
        if !app.settings.tools.restrict_to_workspace {
            root = root.reading_outside();
        }
        let rules = AccessRules::new(policy, "read_file", &workspace.display().to_string());
        let reader = MentionReader { app, root, rules };
        let mut seen: Vec<&str> = Vec::new();
        for word in words {
            if !seen.contains(&word.text) {
                seen.push(word.text);
                reader.take(&word, &mut found);
            }
        }
        found
    }
}

struct MentionReader<'a> {
    app: &'a App,
    root: Workspace,
    rules: AccessRules,
}

impl MentionReader<'_> {
    fn take(&self, word: &MentionWord<'_>, found: &mut MentionedFiles) {
        let Some((name, range)) = self.existing(word) else {
            // `@somebody` is a name; `@notes.md` was meant as a file.
            if word.quoted || word.text.contains(['.', '/']) {
                let text = word.text.trim_end_matches(CLOSING);
                found.notes.push(MentionNote::Missing(text.to_owned()));
            }
            return;
        };
        let before = found.notes.len();
        let taken = match before >= MENTIONS_MAX {
            true => Err(MentionRefusal::TooMany),
            false => self.bring(name, range, found),
        };
        match taken {
            Ok(note) => {
                let files = [self.place(name)];
                found.held.join(&briefing::pictured(self.app, self.root.root(), &files));
                found.notes.push(note);
            }
            Err(why) => found.notes.push(MentionNote::Refused { path: name.to_owned(), why }),
        }
    }

    /// The longest part of a word that names something that exists, and the lines behind it.
    fn existing<'w>(&self, word: &MentionWord<'w>) -> Option<(&'w str, Option<LineRange>)> {
        let text = word.text;
        let trimmed = text.trim_end_matches(CLOSING);
        let is_plain = |c: char| c.is_ascii() && !c.is_ascii_whitespace();
        let plain = text.find(|c| !is_plain(c)).map_or(text, |end| &text[..end]);
        let candidates = match word.quoted {
            true => vec![text],
            false => vec![text, trimmed, plain, plain.trim_end_matches(CLOSING)],
        };
        candidates.into_iter().filter(|name| !name.is_empty()).find_map(|name| {
            let exists = |name: &str| self.place(name).symlink_metadata().is_ok();
            if exists(name) {
                return Some((name, None));
            }
            let (file, lines) = name.rsplit_once(':')?;
            let range = LineRange::read(lines)?;
            (!file.is_empty() && exists(file)).then_some((file, Some(range)))
        })
    }

    fn place(&self, name: &str) -> PathBuf {
        self.root.root().join(name)
    }

    fn bring(
        &self,
        name: &str,
        range: Option<LineRange>,
        found: &mut MentionedFiles,
    ) -> Result<MentionNote, MentionRefusal> {
        if let Some((Approval::Deny, rule)) = self.rules.about("path", name) {
            return Err(MentionRefusal::Rule(rule));
        }
        let room = ALL_CHARS_MAX.saturating_sub(found.context.chars().count());
        if room == 0 {
            return Err(MentionRefusal::TooMany);
        }
        let place = self.place(name);
        if place.is_dir() {
            return self.list(name, &place, found);
        }
        let (bytes, size) = self.root.read(Path::new(name), READ_BYTES_MAX).map_err(refusal)?;
        if bytes.contains(&0) || images::is_picture(&bytes) {
            return self.picture(name, &place, found);
        }
        let text = clean(&bytes);
        let all = text.lines().count();
        let chosen = match range {
            Some(range) => range.of(&text),
            None => text.as_str(),
        };
        let kept = head(chosen, room.min(FILE_CHARS_MAX));
        let lines = kept.lines().count();
        let is_whole = lines == all && size <= READ_BYTES_MAX && kept.len() == chosen.len();
        let first = range.map_or(1, |range| range.first);
        let which = match is_whole {
            true => format!("{all} lines"),
            false => format!("lines {first}-{} of {all}", first + lines.saturating_sub(1)),
        };
        let body = kept.trim_end_matches('\n');
        found.context.push_str(&format!("\n[file {name}, {which}]\n{body}\n[end of {name}]"));
        Ok(MentionNote::File { path: name.to_owned(), lines, all })
    }

    fn picture(
        &self,
        name: &str,
        place: &Path,
        found: &mut MentionedFiles,
    ) -> Result<MentionNote, MentionRefusal> {
        if found.images.len() >= IMAGES_MAX {
            return Err(MentionRefusal::TooMany);
        }
        let most = self.app.settings.context.image_max.bytes();
        let image = images::read(place, most).map_err(|_| MentionRefusal::Binary)?;
        found.images.push(image);
        Ok(MentionNote::Picture(name.to_owned()))
    }

    fn list(
        &self,
        name: &str,
        place: &Path,
        found: &mut MentionedFiles,
    ) -> Result<MentionNote, MentionRefusal> {
        let is_inside = place.canonicalize().is_ok_and(|real| real.starts_with(self.root.root()));
        if !is_inside && self.app.settings.tools.restrict_to_workspace {
            return Err(MentionRefusal::Outside);
        }
        let failed = |error: std::io::Error| MentionRefusal::System(error.to_string());
        let entries = std::fs::read_dir(place).map_err(failed)?.flatten();
        let mut names: Vec<String> = entries
            .map(|entry| {
                let name = clean(entry.file_name().to_string_lossy().as_bytes());
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder { format!("{name}/") } else { name }
            })
            .collect();
        names.sort();
        let entries = names.len();
        let more = entries.saturating_sub(ENTRIES_MAX);
        names.truncate(ENTRIES_MAX);
        let mut listed = names.join("\n");
        if more > 0 {
            listed.push_str(&format!("\n… {more} more"));
        }
        let head = format!("\n[folder {name}, {entries} entries]\n");
        found.context.push_str(&format!("{head}{listed}\n[end of {name}]"));
        Ok(MentionNote::Folder { path: name.to_owned(), entries })
    }
}

fn refusal(error: WorkspaceError) -> MentionRefusal {
    match error {
        WorkspaceError::Outside { .. } => MentionRefusal::Outside,
        WorkspaceError::Protected { .. } => MentionRefusal::Protected,
        other => MentionRefusal::System(other.text()),
    }
}

impl LineRange {
    /// `10`, `10-20`.
    fn read(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(text)?, number(text)?),
        };
        (first <= last).then_some(Self { first, last })
    }

    /// These lines of a text.
    fn of(self, text: &str) -> &str {
        let mut starts = text.split_inclusive('\n').map(str::len);
        let before: usize = starts.by_ref().take(self.first - 1).sum();
        let within: usize = starts.take(self.last - self.first + 1).sum();
        &text[before..before + within]
    }
}

/// The first characters of a text, up to the end of a line where there is one.
fn head(text: &str, chars_max: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return text };
    let cut = &text[..end];
    cut.rfind('\n').map_or(cut, |line| &cut[..=line])
}

/// The words of a goal that begin with `@` and are no part of an address.
fn words_of(goal: &str) -> Vec<MentionWord<'_>> {
    let mut words = Vec::new();
    let mut before: Option<char> = None;
    let mut rest = goal;
    while let Some(at) = rest.find('@') {
        before = rest[..at].chars().next_back().or(before);
        let after = &rest[at + 1..];
        let is_address = before.is_some_and(|c| c.is_ascii_alphanumeric() || "._-+@/=".contains(c));
        let word = if is_address { None } else { word_at(after) };
        before = Some('@');
        rest = match word {
            // What is behind it begins where it ends, quotes or not.
            Some(word) => {
                let from = word.text.as_ptr().addr() - after.as_ptr().addr() + word.text.len();
                words.push(word);
                &after[from..]
            }
            None => after,
        };
    }
    words
}

/// The word behind an `@`: in quotes, or up to the next space.
fn word_at(text: &str) -> Option<MentionWord<'_>> {
    let quotes = [('"', '"'), ('\u{201c}', '\u{201d}'), ('\'', '\'')];
    for (open, close) in quotes {
        if let Some(inner) = text.strip_prefix(open) {
            let text = &inner[..inner.find(close)?];
            return (!text.is_empty()).then_some(MentionWord { text, quoted: true });
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| MentionWord { text: &text[..end], quoted: false })
}

#[cfg(test)]
mod tests {
    use super::{LineRange, head, words_of};

    #[test]
    fn a_word_behind_an_at_sign_is_a_mention_and_an_address_is_not() {
        let words = |goal: &str| -> Vec<String> {
            words_of(goal).into_iter().map(|word| word.text.to_owned()).collect()
        };
        assert_eq!(words("sum up @notes.md and (@a/b.txt)"), ["notes.md", "a/b.txt)"]);
        assert_eq!(words("看看@说明.md的内容"), ["说明.md的内容"]);
        assert_eq!(words("read @\"my notes.txt\" now"), ["my notes.txt"]);
        assert_eq!(words("@file:10-20"), ["file:10-20"]);
        for text in ["mail me@host.example", "a @ b", "git@host:x", "user+tag@host", "x@@y"] {
            assert!(words(text).is_empty(), "{text}: {:?}", words(text));
        }
    }

    #[test]
    fn lines_are_counted_from_one_and_a_cut_ends_with_a_line() {
        let text = "a\nb\nc\nd";
        assert_eq!(LineRange::read("2-3").unwrap().of(text), "b\nc\n");
        assert_eq!(LineRange::read("4").unwrap().of(text), "d");
        assert_eq!(LineRange::read("9-12").unwrap().of(text), "");
        for wrong in ["", "0", "3-2", "a", "1-", "-1"] {
            assert_eq!(LineRange::read(wrong), None, "{wrong}");
        }
        assert_eq!(head(text, 3), "a\n");
        assert_eq!(head("abc", 2), "ab");
        assert_eq!(head(text, 50), text);
    }
}
