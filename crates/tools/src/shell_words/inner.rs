//! Substitutions: what follows `$` or is between backticks, and where it ends.
//!
//! Shells differ in how they find that end, and quotes, comments and brackets inside mean something
//! else in each form. So only a substitution without such characters counts as parsed; for any
//! other the line is uncertain, and a person is asked.

use std::iter::Peekable;
use std::str::Chars;

/// What the shell substitutes.
pub(super) enum Substitution {
    /// Nothing that runs: a name follows as usual.
    None,
    /// `{NAME}` and its like, with nothing in it that could run or hide something.
    Name(String),
    /// Arithmetic; only substitutions inside it run something.
    Arithmetic(String),
    /// A line that the shell runs.
    Line(String),
    /// The same, but it is not certain where it ends.
    Unsure(String),
}

/// Reads on behind `$` or a backtick. Nothing if the end is not found, or not certain.
pub(super) fn read(sign: char, rest: &mut Peekable<Chars<'_>>) -> Option<Substitution> {
    if sign == '`' {
        let inner = backticks(rest)?;
        let is_hard = inner.contains(['\\', '"', '\'', '#', '$']) || holds_hard_words(&inner);
        return Some(if is_hard { Substitution::Unsure(inner) } else { Substitution::Line(inner) });
    }
    if rest.next_if_eq(&'(').is_some() {
        return brackets(rest).map(bracketed);
    }
    match rest.peek().copied() {
        Some('{') => braces(rest).map(Substitution::Name),
        _ if is_joined(rest) => None,
        _ => Some(Substitution::None),
    }
}

/// Whether an escaped line break comes next: what follows it belongs to the character before it.
fn is_joined(rest: &Peekable<Chars<'_>>) -> bool {
    let mut ahead = rest.clone();
    (ahead.next(), ahead.next()) == (Some('\\'), Some('\n'))
}

fn bracketed(inner: String) -> Substitution {
    if inner.starts_with('(') {
        return match is_sum(&inner) {
            true => Substitution::Arithmetic(inner),
            false => Substitution::Unsure(inner),
        };
    }
    match holds_hard_words(&inner) {
        true => Substitution::Unsure(inner),
        false => Substitution::Line(inner),
    }
}

/// Whether a line holds what moves its own end: a choice, a here-document.
fn holds_hard_words(inner: &str) -> bool {
    inner.contains("<<") || inner.split(|c: char| !c.is_alphanumeric()).any(|word| word == "case")
}

/// Whether the first bracket closes at the very end, with only arithmetic in between.
fn is_sum(inner: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _+-*/%()<>=&|^~!?:,$".contains(c);
    let mut depth = 0_usize;
    let closes_early = inner.char_indices().any(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && at + 1 < inner.len()
    });
    !closes_early && depth == 0 && inner.chars().all(is_plain)
}

/// `{…}`, if nothing in it could end it elsewhere or run.
fn braces(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut inner = String::new();
    loop {
        let next = rest.next()?;
        inner.push(next);
        match next {
            '}' => return Some(inner),
            '{' if inner.len() == 1 => {}
            c if c.is_alphanumeric() || "_:+=?%#/.,@!^*[]-".contains(c) => {}
            _ => return None,
        }
    }
}

/// The text up to the closing bracket. `None` where the end is uncertain: a comment, backticks, an
/// escaped line break, values with quotes or blanks in them.
fn brackets(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let (mut inner, mut depth) = (String::new(), 0_usize);
    loop {
        let next = rest.next()?;
        match next {
            ')' if depth == 0 => return Some(inner),
            ')' => depth -= 1,
            '(' => depth += 1,
            '#' | '`' => return None,
            next if next.is_control() && !matches!(next, '\n' | '\t') => return None,
            _ => {}
        }
        inner.push(next);
        match next {
            '\\' => inner.push(rest.next_if(|next| *next != '\n')?),
            '\'' => single_quoted(rest, &mut inner)?,
            '"' => quoted_text(rest, &mut inner)?,
            // Some shells read escapes in these quotes, others do not.
            '$' if rest.peek() == Some(&'\'') => return None,
            '$' => value(rest, &mut inner)?,
            _ => {}
        }
    }
}

fn single_quoted(rest: &mut Peekable<Chars<'_>>, inner: &mut String) -> Option<()> {
    loop {
        let next = rest.next()?;
        inner.push(next);
        if next == '\'' {
            return Some(());
        }
    }
}

/// Copies the text in double quotes, with the substitutions in it.
fn quoted_text(rest: &mut Peekable<Chars<'_>>, inner: &mut String) -> Option<()> {
    loop {
        let next = rest.next()?;
        inner.push(next);
        match next {
            '"' => return Some(()),
            '`' => return None,
            '\\' => inner.push(rest.next_if(|next| *next != '\n')?),
            '$' => value(rest, inner)?,
            _ => {}
        }
    }
}

/// Copies what follows `$`.
fn value(rest: &mut Peekable<Chars<'_>>, inner: &mut String) -> Option<()> {
    if rest.next_if_eq(&'(').is_some() {
        let line = brackets(rest)?;
        inner.extend(["(", line.as_str(), ")"]);
        return Some(());
    }
    match rest.peek().copied() {
        Some('{') => inner.push_str(&braces(rest)?),
        _ if is_joined(rest) => return None,
        _ => {}
    }
    Some(())
}

/// The text up to the next backtick.
fn backticks(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut inner = String::new();
    loop {
        match rest.next()? {
            '`' => return Some(inner),
            // A level of backslashes is taken away, and which ones depends on what is around.
            '\\' => return None,
            next => inner.push(next),
        }
    }
}
