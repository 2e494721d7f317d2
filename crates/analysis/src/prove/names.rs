//! Numbers that are part of a name in the data or in the question, and years that the data have.

use super::evidence::NumberEvidence;
use super::tokens::{NumberForm, WrittenNumber};
use std::collections::BTreeSet;

/// Words before a time of the data.
const BEFORE_TIME: [&str; 21] = [
    "from", "to", "of", "by", "and", "for", "between", "or", "vs", "versus", "than", "with",
    "week", "month", "quarter", "year", "day", "hour", "both", "while", "fiscal",
];

/// Words of a longest name with digits.
const NAME_WORDS: usize = 4;

/// A text, and what is known of the names in it.
pub(super) struct KnownNames<'a> {
    text: &'a str,
    asked: BTreeSet<String>,
    evidence: &'a NumberEvidence,
}

impl<'a> KnownNames<'a> {
    pub(super) fn new(text: &'a str, question: &str, evidence: &'a NumberEvidence) -> Self {
        let words = question.split_whitespace().map(bare);
        let words = words.filter(|word| word.contains(|c: char| c.is_alphabetic()));
        let asked = words.filter(|word| word.contains(|c: char| c.is_ascii_digit()));
        Self { text, asked: asked.map(str::to_lowercase).collect(), evidence }
    }

    /// Whether a number is a part of a name, or a year where years stand.
    pub(super) fn has(&self, number: &WrittenNumber) -> bool {
        number.form == NumberForm::Digits && (self.is_named(number) || self.is_time(number))
    }

    /// `SKU12345`, `Product 12`.
    fn is_named(&self, number: &WrittenNumber) -> bool {
        let (text, at) = (self.text, &number.at);
        let is_edge = |c: char| {
            c.is_whitespace() || "|,;:()[]*`\"\u{201c}\u{201d}\u{3001}\u{ff0c}\u{3002}".contains(c)
        };
        let start = text[..at.start]
            .rfind(is_edge)
            .map_or(0, |from| from + text[from..].chars().next().map_or(0, char::len_utf8));
        let end = text[at.end..].find(is_edge).map_or(text.len(), |to| at.end + to);
        let word = bare(&text[start..end]);
        let has_letter = word.contains(|c: char| c.is_alphabetic());
        if has_letter && (self.evidence.is_name(word) || self.asked.contains(&word.to_lowercase()))
        {
            return true;
        }
        // A name of several words, of which the number is one.
        let line = text[..start].rfind('\n').map_or(0, |from| from + 1);
        let before: Vec<usize> =
            text[line..start].char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at).collect();
        let until = |from: usize| text[from..].find(is_edge).map_or(text.len(), |to| from + to);
        let ends = [end, if text[end..].starts_with(' ') { until(end + 1) } else { end }];
        let begins = before.iter().rev().take(NAME_WORDS).map(|space| line + space + 1);
        let begins = begins.chain((before.len() < NAME_WORDS).then_some(line));
        begins.chain([start]).any(|from| {
            let name = |to: &usize| {
                text.get(from..*to).is_some_and(|own| self.evidence.is_name(bare(own)))
            };
            ends.iter().any(name)
        })
    }

    /// A year, month or week of the data in a place where they stand.
    fn is_time(&self, number: &WrittenNumber) -> bool {
        let Some(own) = number.as_label(self.text) else { return false };
        if !self.evidence.has_time(own) {
            return false;
        }
        let (before, after) = (&self.text[..number.at.start], &self.text[number.at.end..]);
        let after = after.trim_start_matches([' ', '*']);
        let is_cell = |c: char| "|\n".contains(c);
        let line = before.trim_end_matches([' ', '*', '-']);
        let opens = line.is_empty() || line.ends_with(is_cell);
        let closes = after.starts_with(['|', ':', '\u{ff1a}']);
        let is_range = ["-", "\u{2013}", "\u{2014}", "\u{81f3}", "\u{5230}", "/"];
        let is_in_range = is_range
            .iter()
            .any(|sign| before.trim_end().ends_with(sign) || after.starts_with(sign));
        let word: String =
            before.trim_end().chars().rev().take_while(char::is_ascii_alphabetic).collect();
        let word: String = word.chars().rev().collect::<String>().to_lowercase();
        let is_total = ["total of", "sum of"].iter().any(|own| before.trim_end().ends_with(own));
        let follows = before.ends_with(' ') && BEFORE_TIME.contains(&word.as_str()) && !is_total;
        opens && closes
            || is_in_range && own > 1_000
            || follows
            || before.ends_with('(') && after.starts_with(')')
    }
}

/// Without signs at its ends.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.strip_suffix("'s").unwrap_or(word)
}
