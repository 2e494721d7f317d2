//! Reads a line character by character, as a shell does before it runs anything.
//!
//! Quotes, substitutions, here-documents and the targets of redirections are read for what they
//! are; what a substitution would run is handed back as a line of its own. What is not read with
//! certainty makes the whole line unsure.

use super::ShellWords;
use super::inner::{self, Substitution};
use std::iter::Peekable;
use std::str::Chars;

/// A line as the reader splits it.
#[derive(Debug, Default)]
pub(super) struct ScannedLine {
    pub(super) commands: Vec<ShellWords>,
    /// Lines in substitutions.
    pub(super) inner: Vec<String>,
    /// Whether there was nothing that only a running shell knows.
    pub(super) is_plain: bool,
    /// Whether something was not understood.
    pub(super) is_unsure: bool,
}

/// What follows a redirection operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedirectTarget {
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

pub(super) fn read(line: &str) -> ScannedLine {
    let mut reader = ShellReader {
        rest: line.chars().peekable(),
        words: Vec::new(),
        word: None,
        is_quoted: false,
        target: None,
        heredocs: Vec::new(),
        reading: ScannedLine { is_plain: true, ..ScannedLine::default() },
    };
    reader.read();
    reader.reading
}

struct ShellReader<'a> {
    rest: Peekable<Chars<'a>>,
    words: ShellWords,
    /// The word being read; an empty one in quotes is a word too.
    word: Option<String>,
    /// Whether a part of the word was quoted.
    is_quoted: bool,
    /// What the next word is, if it does not belong to the command.
    target: Option<RedirectTarget>,
    heredocs: Vec<Heredoc>,
    reading: ScannedLine,
}

impl ShellReader<'_> {
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
                '$' | '`' => {
                    self.join();
                    // Some shells read escapes in these quotes, others do not.
                    self.reading.is_unsure |= next == '$' && self.rest.peek() == Some(&'\'');
                    self.expansion(next);
                }
                // What is in brackets is a command of its own, and may be denied.
                '(' | ')' => {
                    self.join();
                    // `((` is arithmetic to some shells and two brackets to others.
                    self.reading.is_unsure |= next == '(' && self.rest.peek() == Some(&'(');
                    self.reading.is_plain = false;
                    self.end_command();
                }
                '*' | '?' | '[' | '~' | '{' | '}' | '!' => {
                    self.reading.is_plain = false;
                    self.push(next);
                }
                // Invisible ones could make a line look like another.
                next if next.is_control() => self.give_up(),
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

    /// Takes out the line breaks that a backslash hides, also within an operator.
    fn join(&mut self) {
        loop {
            let mut ahead = self.rest.clone();
            if (ahead.next(), ahead.next()) != (Some('\\'), Some('\n')) {
                return;
            }
            self.rest = ahead;
        }
    }

    /// Takes the sign that comes next, if it is this one.
    fn takes(&mut self, sign: char) -> bool {
        self.join();
        self.rest.next_if_eq(&sign).is_some()
    }

    /// `|`, `||`, `&&` part two commands; a lone `&` leaves one in the background.
    fn operator(&mut self, first: char) {
        let doubled = self.takes(first);
        if first == '&' && !doubled {
            self.reading.is_plain = false;
            // `&> file` ends a command in some shells and not in others.
            self.reading.is_unsure |= self.rest.peek() == Some(&'>');
        }
        if first == '|' && !doubled && self.takes('&') {
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
        let doubled = self.takes(first);
        self.target = Some(match (first, doubled) {
            ('<', true) if self.takes('<') => RedirectTarget::HereString,
            ('<', true) => RedirectTarget::Heredoc { tabs: self.takes('-') },
            ('<', false) if self.takes('&') => RedirectTarget::Input,
            _ if self.takes('&') => RedirectTarget::Joined,
            ('<', false) if self.takes('>') => RedirectTarget::Output,
            ('<', _) => RedirectTarget::Input,
            (_, appends) => {
                let forced = self.takes('|');
                self.reading.is_plain &= !appends && !forced;
                RedirectTarget::Output
            }
        });
        self.reading.is_plain &= self.rest.peek().is_some();
    }

    /// A file is written or read that no rule sees; only what goes nowhere and what joins outputs
    /// is harmless.
    fn take_target(&mut self, target: RedirectTarget, word: String, quoted: bool) {
        let harmless = match target {
            RedirectTarget::Input | RedirectTarget::Output => word == "/dev/null",
            RedirectTarget::Joined => matches!(word.as_str(), "1" | "2"),
            RedirectTarget::HereString => false,
            RedirectTarget::Heredoc { tabs } => {
                self.reading.is_unsure |= word.contains(['$', '`']);
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
                // A hidden line break joins two lines, and so may hide the end.
                self.reading.is_unsure |= body.contains("\\\n");
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

    /// A substitution. Its first character stays in the word, which marks the word as unknown.
    fn expansion(&mut self, sign: char) {
        self.reading.is_plain = false;
        self.push(sign);
        self.join();
        let Some(inner) = inner::read(sign, &mut self.rest) else { return self.give_up() };
        self.take_inner(inner);
    }

    fn take_inner(&mut self, inner: Substitution) {
        match inner {
            Substitution::None => {}
            Substitution::Name(name) => name.chars().for_each(|next| self.push(next)),
            Substitution::Arithmetic(text) => self.expansions_in(&text),
            Substitution::Line(line) => self.reading.inner.push(line),
            Substitution::Unsure(line) => {
                self.reading.is_unsure = true;
                self.reading.inner.push(line);
            }
        }
    }

    /// The substitutions of a text in which quotes mean nothing.
    fn expansions_in(&mut self, text: &str) {
        let mut rest = text.chars().peekable();
        while let Some(next) = rest.next() {
            match next {
                '\\' => drop(rest.next()),
                '`' | '$' => match inner::read(next, &mut rest) {
                    // It is not a word here.
                    Some(Substitution::Name(_)) => {}
                    Some(inner) => self.take_inner(inner),
                    None => self.give_up(),
                },
                _ => {}
            }
        }
    }

    /// The line breaks off within something.
    fn give_up(&mut self) {
        self.reading.is_plain = false;
        self.reading.is_unsure = true;
    }
}
