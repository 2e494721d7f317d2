//! Reading a line sign by sign, as a shell does before it runs anything.
//!
//! Quotes, substitutions, here-documents and the targets of redirections are read for what they
//! are; what a substitution would run is handed back as a line of its own. What is not read with
//! certainty makes the whole line unsure.

use super::Words;
use std::iter::Peekable;
use std::str::Chars;

/// A line, by its signs alone.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) commands: Vec<Words>,
    /// Lines that stand in substitutions.
    pub(super) inner: Vec<String>,
    /// Whether there was nothing that only a running shell knows.
    pub(super) is_plain: bool,
    /// Whether something was not understood.
    pub(super) is_unsure: bool,
}

/// What stands after the sign of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Input,
    Output,
    /// Another descriptor.
    Joined,
    /// The end of a here-document; whether tabs before it do not count.
    Heredoc {
        tabs: bool,
    },
    HereString,
}

/// A here-document whose body has not come yet.
struct Heredoc {
    end: String,
    tabs: bool,
    /// A quoted end: nothing in the body is filled in.
    quoted: bool,
}

pub(super) fn read(line: &str) -> Reading {
    let mut reader = Reader {
        rest: line.chars().peekable(),
        words: Vec::new(),
        word: None,
        is_quoted: false,
        target: None,
        heredocs: Vec::new(),
        reading: Reading { is_plain: true, ..Reading::default() },
    };
    reader.read();
    reader.reading
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    words: Words,
    /// The word being read; an empty one in quotes is a word too.
    word: Option<String>,
    /// Whether a part of the word was quoted.
    is_quoted: bool,
    /// What the next word is, if it is no word of the command.
    target: Option<Target>,
    heredocs: Vec<Heredoc>,
    reading: Reading,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(next) = self.rest.next() {
            match next {
                ' ' | '\t' => self.end_word(),
                '\n' => {
                    self.end_command();
                    self.bodies();
                }
                ';' => self.end_command(),
                '|' | '&' => self.operator(next),
                '<' | '>' => self.redirection(next),
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => self.escaped(),
                '#' if self.word.is_none() => self.comment(),
                '$' | '`' => self.expansion(next),
                // What is in brackets is a command of its own, and may be denied.
                '(' | ')' => {
                    self.reading.is_plain = false;
                    self.end_command();
                }
                '*' | '?' | '[' | '~' | '{' | '}' | '!' => {
                    self.reading.is_plain = false;
                    self.push(next);
                }
                // Invisible ones could make a line look like another.
                next if next.is_control() => self.reading.is_plain = false,
                next => self.push(next),
            }
        }
        self.end_command();
    }

    fn push(&mut self, next: char) {
        self.word.get_or_insert_default().push(next);
    }

    fn end_word(&mut self) {
        let quoted = std::mem::take(&mut self.is_quoted);
        let Some(word) = self.word.take() else { return };
        match self.target.take() {
            Some(target) => self.take_target(target, word, quoted),
            None => self.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.target = None;
        if !self.words.is_empty() {
            self.reading.commands.push(std::mem::take(&mut self.words));
        }
    }

    /// `|`, `||`, `&&` part two commands; a lone `&` leaves one in the background.
    fn operator(&mut self, first: char) {
        let doubled = self.rest.next_if_eq(&first).is_some();
        if first == '&' && !doubled {
            self.reading.is_plain = false;
            // `&> file` is no end of a command.
            if self.rest.peek() == Some(&'>') {
                return self.end_word();
            }
        }
        if first == '|' && !doubled && self.rest.next_if_eq(&'&').is_some() {
            self.reading.is_plain = false;
        }
        self.end_command();
    }

    /// The next word is the target, read like any other word.
    fn redirection(&mut self, first: char) {
        let digits = |word: &String| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
        if self.word.as_ref().is_some_and(digits) && !self.is_quoted {
            self.word = None;
        }
        self.end_word();
        let doubled = self.rest.next_if_eq(&first).is_some();
        self.target = Some(match (first, doubled) {
            ('<', true) if self.rest.next_if_eq(&'<').is_some() => Target::HereString,
            ('<', true) => Target::Heredoc { tabs: self.rest.next_if_eq(&'-').is_some() },
            ('<', false) if self.rest.next_if_eq(&'&').is_some() => Target::Input,
            _ if self.rest.next_if_eq(&'&').is_some() => Target::Joined,
            ('<', false) if self.rest.next_if_eq(&'>').is_some() => Target::Output,
            ('<', _) => Target::Input,
            (_, appends) => {
                let forced = self.rest.next_if_eq(&'|').is_some();
                self.reading.is_plain &= !appends && !forced;
                Target::Output
            }
        });
        self.reading.is_plain &= self.rest.peek().is_some();
    }

    /// A file is written or read that no rule sees; only what goes nowhere and what joins outputs
    /// is harmless.
    fn take_target(&mut self, target: Target, word: String, quoted: bool) {
        let harmless = match target {
            Target::Input | Target::Output => word == "/dev/null",
            Target::Joined => matches!(word.as_str(), "1" | "2"),
            Target::HereString => false,
            Target::Heredoc { tabs } => {
                self.heredocs.push(Heredoc { end: word, tabs, quoted });
                false
            }
        };
        self.reading.is_plain &= harmless;
    }

    /// The bodies of here-documents follow the line that announced them.
    fn bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            while self.rest.peek().is_some() {
                let mut line = String::new();
                while let Some(next) = self.rest.next_if(|next| *next != '\n') {
                    line.push(next);
                }
                self.rest.next();
                let told = if heredoc.tabs { line.trim_start_matches('\t') } else { &line };
                if told == heredoc.end {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if !heredoc.quoted {
                self.expansions_in(&body);
            }
        }
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        self.is_quoted = true;
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(next) => self.push(next),
                None => return self.give_up(),
            }
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        self.is_quoted = true;
        loop {
            match self.rest.next() {
                Some('"') => return,
                Some('\\') => match self.rest.next() {
                    Some(next @ ('$' | '`' | '"' | '\\')) => self.push(next),
                    Some('\n') => {}
                    Some(next) => {
                        self.push('\\');
                        self.push(next);
                    }
                    None => return self.give_up(),
                },
                Some(next @ ('$' | '`')) => self.expansion(next),
                Some(next) => self.push(next),
                None => return self.give_up(),
            }
        }
    }

    fn escaped(&mut self) {
        match self.rest.next() {
            Some('\n') => {}
            Some(next) => {
                self.is_quoted = true;
                self.push(next);
            }
            None => self.give_up(),
        }
    }

    fn comment(&mut self) {
        while self.rest.next_if(|next| *next != '\n').is_some() {}
    }

    /// What the shell fills in. The sign stays in the word, which nobody knows then.
    fn expansion(&mut self, sign: char) {
        self.reading.is_plain = false;
        self.push(sign);
        let inner = match sign {
            '`' => backticks(&mut self.rest),
            _ if self.rest.next_if_eq(&'(').is_some() => brackets(&mut self.rest),
            _ => return,
        };
        match inner {
            // Arithmetic; only what stands in it runs something.
            Some(inner) if sign == '$' && inner.starts_with('(') && inner.ends_with(')') => {
                self.expansions_in(&inner);
            }
            Some(inner) => self.run(inner),
            None => self.give_up(),
        }
    }

    /// A line that the shell runs to fill something in. Where its end is not certain, neither is
    /// what comes after it.
    fn run(&mut self, inner: String) {
        let is_case = |word: &str| word == "case";
        let is_hard =
            inner.contains("<<") || inner.split(|c: char| !c.is_alphanumeric()).any(is_case);
        self.reading.is_unsure |= is_hard;
        self.reading.inner.push(inner);
    }

    /// The substitutions of a text in which quotes mean nothing.
    fn expansions_in(&mut self, text: &str) {
        let mut rest = text.chars().peekable();
        while let Some(next) = rest.next() {
            let inner = match next {
                '\\' => {
                    rest.next();
                    continue;
                }
                '`' => backticks(&mut rest),
                '$' if rest.next_if_eq(&'(').is_some() => brackets(&mut rest),
                _ => continue,
            };
            match inner {
                Some(inner) => self.run(inner),
                None => self.give_up(),
            }
        }
    }

    /// The line breaks off within something.
    fn give_up(&mut self) {
        self.reading.is_plain = false;
        self.reading.is_unsure = true;
    }
}

/// What stands up to the bracket that closes, quotes and comments respected.
fn brackets(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let (mut inner, mut depth) = (String::new(), 0_usize);
    let mut begins_word = true;
    loop {
        let next = rest.next()?;
        match next {
            ')' if depth == 0 => return Some(inner),
            ')' => depth -= 1,
            '(' => depth += 1,
            '#' if begins_word => {
                while rest.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            _ => {}
        }
        begins_word = next.is_whitespace() || matches!(next, ';' | '|' | '&' | '(');
        inner.push(next);
        match next {
            '\\' => inner.push(rest.next()?),
            '\'' => loop {
                let quoted = rest.next()?;
                inner.push(quoted);
                if quoted == '\'' {
                    break;
                }
            },
            '"' => quoted_text(rest, &mut inner)?,
            '`' => {
                inner.push_str(&backticks(rest)?);
                inner.push('`');
            }
            _ => {}
        }
    }
}

/// Copies what stands in double quotes, with the substitutions in it.
fn quoted_text(rest: &mut Peekable<Chars<'_>>, inner: &mut String) -> Option<()> {
    loop {
        let next = rest.next()?;
        inner.push(next);
        match next {
            '"' => return Some(()),
            '\\' => inner.push(rest.next()?),
            '$' if rest.next_if_eq(&'(').is_some() => {
                inner.push('(');
                inner.push_str(&brackets(rest)?);
                inner.push(')');
            }
            _ => {}
        }
    }
}

/// What stands up to the next backtick, without one level of backslashes.
fn backticks(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut inner = String::new();
    loop {
        match rest.next()? {
            '`' => return Some(inner),
            '\\' => match rest.next()? {
                next @ ('`' | '\\' | '$') => inner.push(next),
                next => inner.extend(['\\', next]),
            },
            next => inner.push(next),
        }
    }
}
