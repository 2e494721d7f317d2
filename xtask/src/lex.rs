//! Rust text to tokens, comments included.
//!
//! Deliberately absent: numbers, lifetimes and operators as such. They come out as identifiers and
//! single characters, which is all that the checks ask for.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A name, a keyword or a number.
    Word,
    /// A string; `text` is what is between its quotes, escapes as written.
    Str,
    /// A string in which escapes mean nothing.
    RawStr,
    /// A comment of any kind, with its slashes.
    Comment,
    /// A single other character.
    Punct,
}

/// A piece of Rust text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustToken {
    /// What it is.
    pub kind: TokenKind,
    /// The text; see [`TokenKind`].
    pub text: String,
    /// The line on which it starts, from one.
    pub line: usize,
    /// The line on which it ends.
    pub last_line: usize,
}

impl RustToken {
    /// Whether this is a string of either kind.
    #[must_use]
    pub fn is_str(&self) -> bool {
        matches!(self.kind, TokenKind::Str | TokenKind::RawStr)
    }

    /// Whether this is neither string nor comment.
    #[must_use]
    pub fn is_code(&self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Punct)
    }

    /// Whether this is code with exactly this text.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.is_code() && self.text == text
    }
}

/// Splits `text`. Invalid Rust gives some tokens and never panics.
#[must_use]
pub(crate) fn lex(text: &str) -> Vec<RustToken> {
    let mut lexer = Lexer { rest: text, line: 1, tokens: Vec::new() };
    while lexer.step() {}
    lexer.tokens
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<RustToken>,
}

impl Lexer<'_> {
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        if first.is_whitespace() {
            self.take(first.len_utf8());
        } else if self.rest.starts_with("//") {
            let len = self.rest.find('\n').unwrap_or(self.rest.len());
            self.push(TokenKind::Comment, len, 0, 0);
        } else if self.rest.starts_with("/*") {
            self.push(TokenKind::Comment, block_comment(self.rest), 0, 0);
        } else if let Some((prefix, hashes)) = raw_string(self.rest) {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = self.rest[prefix..].find(&close).unwrap_or(self.rest.len() - prefix);
            let len = (prefix + body + close.len()).min(self.rest.len());
            self.push(TokenKind::RawStr, len, prefix, close.len());
        } else if let Some(prefix) = string(self.rest) {
            let len = prefix + closing_quote(&self.rest[prefix..]);
            self.push(TokenKind::Str, len, prefix, 1);
        } else if first == '\'' {
            self.push(TokenKind::Punct, char_or_lifetime(self.rest), 0, 0);
        } else if is_word(first) {
            let len = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
            self.push(TokenKind::Word, len, 0, 0);
        } else {
            self.push(TokenKind::Punct, first.len_utf8(), 0, 0);
        }
        true
    }

    fn take(&mut self, len: usize) -> &str {
        let (taken, rest) = self.rest.split_at(len);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn push(&mut self, kind: TokenKind, len: usize, open: usize, close: usize) {
        let line = self.line;
        let whole = self.take(len);
        let text = whole.get(open..whole.len() - close.min(whole.len())).unwrap_or_default();
        let text = text.to_owned();
        self.tokens.push(RustToken { kind, text, line, last_line: self.line });
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length up to and including the opening quote, and the number of hashes.
fn raw_string(text: &str) -> Option<(usize, usize)> {
    let letters = ["br", "cr", "r"].into_iter().find(|start| text.starts_with(start))?.len();
    let hashes = text[letters..].chars().take_while(|c| *c == '#').count();
    text[letters + hashes..].starts_with('"').then_some((letters + hashes + 1, hashes))
}

/// Length up to and including the opening quote.
fn string(text: &str) -> Option<usize> {
    ["\"", "b\"", "c\""].into_iter().find(|start| text.starts_with(start)).map(str::len)
}

/// Length of the rest of a string, its closing quote included.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `'a'` and `'\n'` whole, of `'a` just the tick.
fn char_or_lifetime(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            chars.next();
            chars.find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(TokenKind, String, usize)> {
        lex(text).into_iter().map(|token| (token.kind, token.text, token.line)).collect()
    }

    #[test]
    fn strings_comments_and_words_are_told_apart() {
        let text = "let a = \"x \\\" // y\"; // see \"z\"\nr#\"a\"b\"# /* /* */ b */ c";
        let found = shown(text);
        let strings: Vec<_> = found.iter().filter(|(k, ..)| *k != TokenKind::Punct).collect();
        let want = [
            (TokenKind::Word, "let".to_owned(), 1),
            (TokenKind::Word, "a".to_owned(), 1),
            (TokenKind::Str, "x \\\" // y".to_owned(), 1),
            (TokenKind::Comment, "// see \"z\"".to_owned(), 1),
            (TokenKind::RawStr, "a\"b".to_owned(), 2),
            (TokenKind::Comment, "/* /* */ b */".to_owned(), 2),
            (TokenKind::Word, "c".to_owned(), 2),
        ];
        assert_eq!(strings, want.iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_quote_as_a_character_opens_no_string() {
        let found = lex("'\"' '\\'' 'a fn<'b>(x: &'b str) \"s\"");
        assert_eq!(found.iter().filter(|token| token.is_str()).count(), 1);
    }

    #[test]
    fn half_written_text_does_not_panic() {
        for text in ["\"abc", "r#\"abc", "/* abc", "'", "'\\", "r", "b\"", "é'é"] {
            assert!(!lex(text).is_empty(), "{text}");
        }
    }
}
