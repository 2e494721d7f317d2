//! A file of git's settings, read as git reads it.
//!
//! Whether a repository runs programs is judged by this, so a file that git would read otherwise
//! than we do must not pass: what is unusual is an error.

use std::path::{Path, PathBuf};

/// Bytes of a file of settings; git's own are some hundred.
pub(crate) const BYTES_MAX: u64 = 1 << 20;

/// A setting: its name as `git config --list` shows it, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitSetting {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// All of a file, or up to where it is unusual, and whether that was its end.
pub(crate) fn parse(bytes: &[u8]) -> (Vec<GitSetting>, bool) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return (Vec::new(), false);
    };
    let text = text.replace("\r\n", "\n");
    if text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return (Vec::new(), false);
    }
    let mut reader = GitSettingsReader { left: text.chars().peekable(), section: String::new() };
    let mut all = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(setting)) => all.push(setting),
            Ok(None) => return (all, true),
            Err(UnusualSyntax) => return (all, false),
        }
    }
}

/// The path in a `.git` file, relative to the folder of the file.
pub(crate) fn gitfile(bytes: &[u8]) -> Option<PathBuf> {
    one_path(bytes.strip_prefix(b"gitdir: ")?)
}

/// The path in `commondir`, relative to the folder of the file.
pub(crate) fn commondir(bytes: &[u8]) -> Option<PathBuf> {
    one_path(bytes)
}

/// Git takes ends of lines away at the end, and nothing else. A zero would end it for git.
fn one_path(bytes: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(['\n', '\r']);
    let is_usual = !text.is_empty() && !text.contains(|c: char| c.is_control());
    is_usual.then(|| Path::new(text).to_owned())
}

struct UnusualSyntax;

struct GitSettingsReader<'t> {
    left: std::iter::Peekable<std::str::Chars<'t>>,
    section: String,
}

impl GitSettingsReader<'_> {
    fn next(&mut self) -> Result<Option<GitSetting>, UnusualSyntax> {
        while let Some(sign) = self.left.next() {
            match sign {
                ' ' | '\t' | '\n' => {}
                '#' | ';' => self.skip_line(),
                '[' => self.section = self.section()?,
                sign if sign.is_ascii_alphabetic() => return self.setting(sign).map(Some),
                _ => return Err(UnusualSyntax),
            }
        }
        Ok(None)
    }

    fn skip_line(&mut self) {
        while self.left.next_if(|sign| *sign != '\n').is_some() {}
    }

    fn skip_blanks(&mut self) {
        while self.left.next_if(|sign| *sign == ' ' || *sign == '\t').is_some() {}
    }

    /// `[name]` or `[name "with another"]`.
    fn section(&mut self) -> Result<String, UnusualSyntax> {
        let mut name = String::new();
        loop {
            match self.left.next().ok_or(UnusualSyntax)? {
                ']' if !name.is_empty() => return Ok(name),
                sign if is_key(sign) || sign == '.' => name.push(sign.to_ascii_lowercase()),
                ' ' | '\t' if !name.is_empty() => break,
                _ => return Err(UnusualSyntax),
            }
        }
        self.skip_blanks();
        if self.left.next() != Some('"') {
            return Err(UnusualSyntax);
        }
        name.push('.');
        loop {
            match self.left.next().ok_or(UnusualSyntax)? {
                '"' => break,
                '\n' => return Err(UnusualSyntax),
                '\\' => {
                    name.push(self.left.next().filter(|sign| *sign != '\n').ok_or(UnusualSyntax)?);
                }
                sign => name.push(sign),
            }
        }
        match self.left.next() {
            Some(']') => Ok(name),
            _ => Err(UnusualSyntax),
        }
    }

    fn setting(&mut self, first: char) -> Result<GitSetting, UnusualSyntax> {
        if self.section.is_empty() {
            return Err(UnusualSyntax);
        }
        let mut key = String::from(first.to_ascii_lowercase());
        while let Some(sign) = self.left.next_if(|sign| is_key(*sign)) {
            key.push(sign.to_ascii_lowercase());
        }
        self.skip_blanks();
        let name = format!("{}.{key}", self.section);
        let value = match self.left.next() {
            None | Some('\n') => String::new(),
            Some('=') => self.value()?,
            Some(_) => return Err(UnusualSyntax),
        };
        Ok(GitSetting { name, value })
    }

    fn value(&mut self) -> Result<String, UnusualSyntax> {
        let (mut value, mut is_quoted, mut solid) = (String::new(), false, 0);
        loop {
            match self.left.next() {
                None | Some('\n') if is_quoted => return Err(UnusualSyntax),
                None | Some('\n') => break,
                Some(' ' | '\t') if !is_quoted && value.is_empty() => {}
                Some(sign @ (' ' | '\t')) if !is_quoted => value.push(sign),
                Some('#' | ';') if !is_quoted => self.skip_line(),
                Some('"') => {
                    is_quoted = !is_quoted;
                    solid = value.len();
                }
                Some('\\') => {
                    match self.left.next().ok_or(UnusualSyntax)? {
                        '\n' => continue,
                        't' => value.push('\t'),
                        'n' => value.push('\n'),
                        'b' => value.push('\u{8}'),
                        sign @ ('"' | '\\') => value.push(sign),
                        _ => return Err(UnusualSyntax),
                    }
                    solid = value.len();
                }
                Some(sign) => {
                    value.push(sign);
                    solid = value.len();
                }
            }
        }
        value.truncate(solid);
        Ok(value)
    }
}

fn is_key(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '-'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::find_program;
    use std::process::Command;

    const FILES: &[&str] = &[
        "[core]\n\tbare = false\n\tfilemode\n",
        "[core]bare=false\n[a]  b = c d  # e\n",
        "[Core] FsMonitor = \"a  b\"  c ; d\n",
        "# [core]\n[remote \"a\\\"b\\\\c.d\"]\n url = x\\\n  y\n",
        "[a.b]\nkey=1\n[a \"B\"]\n key = \" x \" \n",
        "[a]\r\n b = c\r\n",
        "[a]\nb = \"x\\ty\\nz\\\"\"",
        "[a]\nb = c\\\\\n[d]\ne=f\n",
        "[a]\n b = # nothing\n c =\n",
        "; one \\\n[a]\nb=c\n",
        "[a] # words\nb=c\n",
        "[a]\nb = x # y \\\nc = d\n",
    ];

    const UNUSUAL: &[&str] = &[
        "b = c\n",
        "[a\n",
        "[a] b c\n",
        "[a \"x]\n",
        "[a]\nb = \"c\n",
        "[a]\nb = \\x\n",
        "[]\n",
        "[a]\nb=c\0d\n",
        "[a \"x\" ]\nb=c\n",
        "[a]\n1b=c\n",
        "[a]\nb=c\rd\n",
        "{}",
    ];

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let Some(git) = find_program("git") else {
            println!("SKIPPED: git is not installed");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        for text in FILES {
            std::fs::write(&file, text).unwrap();
            let mut command = Command::new(&git);
            command.args(["config", "--list", "-z", "--file"]).arg(&file);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{text:?}");
            let said = String::from_utf8(output.stdout).unwrap();
            let pairs = said.split_terminator('\0');
            let pairs = pairs.map(|pair| pair.split_once('\n').unwrap_or((pair, "")));
            let all = pairs
                .map(|(name, value)| GitSetting { name: name.to_owned(), value: value.to_owned() });
            assert_eq!(parse(text.as_bytes()), (all.collect::<Vec<_>>(), true), "{text:?}");
        }
        for text in UNUSUAL {
            assert!(!parse(text.as_bytes()).1, "{text:?}");
        }
    }

    #[test]
    fn what_leads_to_a_repository_is_read_as_git_reads_it() {
        assert_eq!(gitfile(b"gitdir:  x \r\n\n"), Some(PathBuf::from(" x ")));
        for other in [&b"gitdir:x\n"[..], b" gitdir: x", b"gitdir: \n", b"gitdir: a\0b", b"x"] {
            assert_eq!(gitfile(other), None, "{other:?}");
        }
        assert_eq!(commondir(b"gitdir: ../..\n"), Some(PathBuf::from("gitdir: ../..")));
        assert_eq!(commondir(b"../..\n"), Some(PathBuf::from("../..")));
        assert_eq!(commondir(b"\n"), None);
    }
}
