//! `MEMORY.md`: what runs of a workspace noted when their conversations were shortened.
//!
//! ```text
//!   journal ──► section ──► appended, synced ──► its mark in `sections`, synced
//! ```
//!
//! The file is the user's: it is read, added to at its end, and never written over. A section ends
//! with its mark, so one that is there is whole; a mark in `sections` says that it was written
//! once, so one that the user took out does not come back. It lies with the program's data and not
//! in the workspace, where tools and other people could write into the prompts of later runs.

use everloop_types::digest_bytes;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes beyond which nothing is added: the user tidies up first.
pub const MEMORY_BYTES_MAX: u64 = 1_024 * 1_024;

/// Characters of one section's text.
const SECTION_CHARS_MAX: usize = 8_000;

/// The memory of one workspace.
#[derive(Debug, Clone)]
pub struct Memory {
    folder: PathBuf,
}

/// What is noted.
#[derive(Debug, Clone, Copy)]
pub struct MemorySection<'a> {
    /// What makes it the same section when it is added twice.
    pub mark: &'a str,
    /// Its heading.
    pub title: &'a str,
    /// What it says.
    pub text: &'a str,
    /// Whether what others wrote may be in it.
    pub untrusted: bool,
}

/// What became of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryWrite {
    /// It was written now.
    Now,
    /// It had been written before.
    Before,
    /// The file is full.
    Full,
}

impl Memory {
    /// The memory of a workspace, below a folder for all of them.
    #[must_use]
    pub fn of(folder: &Path, workspace: &Path) -> Self {
        let digest = digest_bytes(workspace.as_os_str().as_encoded_bytes());
        let name = workspace.file_name().unwrap_or_default().to_string_lossy();
        let plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let name: String = name.chars().filter(plain).take(40).collect();
        Self { folder: folder.join(format!("{name}-{}", &digest[..12])) }
    }

    /// The file that the user reads and edits.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.join("MEMORY.md")
    }

    /// All of it; empty if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn text(&self) -> io::Result<String> {
        let file = match File::open(self.file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            file => file?,
        };
        // A user may put in whatever they like; only so much is ever looked at.
        let mut bytes = Vec::new();
        file.take(2 * MEMORY_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What a prompt is told of it: the newest part, from the beginning of a line, without marks.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn newest(&self, chars_max: usize) -> io::Result<String> {
        let text = self.text()?;
        let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with(MARK)).collect();
        let text = shown.join("\n");
        let text = text.trim();
        let Some((start, _)) = text.char_indices().rev().nth(chars_max.saturating_sub(1)) else {
            return Ok(text.to_owned());
        };
        let start = match start {
            0 => 0,
            start => text[start..].find('\n').map_or(start, |line| start + line + 1),
        };
        Ok(text[start..].trim_start().to_owned())
    }

    /// Whether a part of it may hold what others wrote.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn is_untrusted(&self) -> io::Result<bool> {
        Ok(self.text()?.lines().any(|line| line == UNTRUSTED.trim_end()))
    }

    /// Adds a section, unless it was added before. May be repeated after a crash at any point.
    ///
    /// # Errors
    /// If it cannot be written; then it can be tried again.
    pub fn add(&self, section: &MemorySection<'_>) -> io::Result<MemoryWrite> {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
        builder.create(&self.folder)?;
        let mut sections = appending(&self.folder.join("sections"))?;
        // Held until the file is closed: two processes must not both find that it is missing.
        sections.lock()?;
        let mut written = String::new();
        sections.read_to_string(&mut written)?;
        if written.lines().any(|mark| mark == section.mark) {
            return Ok(MemoryWrite::Before);
        }
        let text = self.text()?;
        let mark = format!("{MARK} {} -->", section.mark);
        let there = text.lines().any(|line| line == mark);
        if !there && text.len() as u64 > MEMORY_BYTES_MAX {
            return Ok(MemoryWrite::Full);
        }
        if !there {
            let begin = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let body = body(section.text);
            let label = if section.untrusted { UNTRUSTED } else { "" };
            let section = format!("{begin}\n## {}\n\n{body}\n{label}{mark}\n", section.title);
            let mut file = appending(&self.file())?;
            file.write_all(section.as_bytes())?;
            file.sync_all()?;
        }
        sections.write_all(format!("{}\n", section.mark).as_bytes())?;
        sections.sync_all()?;
        Ok(if there { MemoryWrite::Before } else { MemoryWrite::Now })
    }

    /// Takes everything out; what was there lies beside it until the next time.
    ///
    /// # Errors
    /// If it cannot be done.
    pub fn clear(&self) -> io::Result<Option<PathBuf>> {
        let kept = self.folder.join("MEMORY.old.md");
        match fs::rename(self.file(), &kept) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            moved => moved.map(|()| Some(kept)),
        }
    }
}

/// How the line that ends a section begins. Markdown does not show it.
const MARK: &str = "<!-- everloop:";

/// Stands before the mark of a section in which others' words may be.
const UNTRUSTED: &str = "<!-- everloop: untrusted -->\n";

/// A section's text: bounded, and with no line that could be taken for a mark.
fn body(text: &str) -> String {
    let text: String = text.trim().chars().take(SECTION_CHARS_MAX).collect();
    text.replace(MARK, "<!-- ")
}

fn appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
