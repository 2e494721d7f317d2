//! What a sentence is about: which rows and columns of a result it names, and which of them a
//! number belongs to.
//!
//! ```text
//!   East sold 10, West 20            each number belongs to the name before it
//!   10 in East and 20 in West        each to the name after it
//!   East and West sold 10 and 20     one after the other
//! ```

use super::evidence::{EvidenceCell, EvidenceTable, NumberEvidence};
use super::tokens::WrittenNumber;
use crate::value::DataValue;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Words before a total; the last ones are Chinese.
const TOTAL_OF: [&str; 7] = [
    "total of",
    "sum of",
    "in total",
    "\u{5408}\u{8ba1}",
    "\u{603b}\u{8ba1}",
    "\u{5171}\u{8ba1}",
    "\u{4e00}\u{5171}",
];

/// Where a name stands in a sentence.
#[derive(Debug, Clone)]
struct Mention {
    at: usize,
    len: usize,
    /// Which of the names it is.
    name: usize,
}

/// What of a result a sentence says that a number is.
#[derive(Debug, Clone, Default)]
pub(crate) struct MeantCells {
    /// The names of its row, with their columns; rows that are not named are not judged.
    rows: Vec<(usize, String)>,
    /// Its column, where the sentence names two or more.
    column: Option<usize>,
    /// The columns that the sentence names.
    named: Vec<usize>,
}

impl MeantCells {
    pub(crate) fn may_be_row(&self, row: &[DataValue]) -> bool {
        self.rows
            .iter()
            .all(|(column, name)| name.eq_ignore_ascii_case(row[*column].shown().trim()))
    }

    pub(crate) fn may_be_column(&self, column: usize) -> bool {
        self.column.is_none_or(|own| own == column)
    }

    pub(crate) fn names_row(&self) -> bool {
        !self.rows.is_empty()
    }

    pub(crate) fn names_column(&self, column: usize) -> bool {
        self.named.contains(&column)
    }
}

/// The sentence around a place of a text.
pub(crate) fn sentence(text: &str, at: &Range<usize>) -> Range<usize> {
    let is_end = |index: usize, c: char| match c {
        '\n' | '。' | '！' | '？' | '；' | ';' => true,
        '.' | '!' | '?' => {
            let next = text[index + 1..].chars().next();
            next.is_none_or(char::is_whitespace)
        }
        _ => false,
    };
    let before = text[..at.start].char_indices().rev().find(|(index, c)| is_end(*index, *c));
    let start = before.map_or(0, |(index, c)| index + c.len_utf8());
    let mut after = text[at.end..].char_indices().map(|(index, c)| (at.end + index, c));
    let end = after.find(|(index, c)| is_end(*index, *c)).map_or(text.len(), |(index, _)| index);
    start..end
}

/// A sentence with its numbers.
#[derive(Debug, Clone)]
pub(crate) struct SentenceContext<'a> {
    text: &'a str,
    start: usize,
    /// Where the number stands that it is about.
    own: Range<usize>,
    /// Where its numbers stand.
    numbers: Vec<usize>,
    /// What the head of its column says, for a number in a table.
    head: Option<String>,
}

impl<'a> SentenceContext<'a> {
    pub(crate) fn new(text: &'a str, number: &WrittenNumber, all: &[WrittenNumber]) -> Self {
        let range = sentence(text, &number.at);
        let inside = all.iter().map(|number| number.at.start).filter(|at| range.contains(at));
        let own = number.at.start - range.start..number.at.end - range.start;
        let head = head_of(text, number.at.start);
        let text = &text[range.clone()];
        Self { text, start: range.start, own, numbers: inside.collect(), head }
    }

    /// What of a result a number at this place can mean.
    pub(crate) fn meant(&self, at: usize, table: &EvidenceTable) -> MeantCells {
        let labels = (0..table.columns.len()).filter(|column| table.is_label[*column]);
        let rows = labels.filter_map(|column| {
            let names = &table.names[column];
            let name = self.assigned(at, &self.mentions(names))?;
            Some((column, names[name].clone()))
        });
        let numeric: Vec<usize> =
            (0..table.columns.len()).filter(|at| !table.is_label[*at]).collect();
        let words: Vec<String> =
            numeric.iter().map(|at| table.columns[*at].replace('_', " ")).collect();
        let mentions = self.mentions(&words);
        let different: BTreeSet<usize> = mentions.iter().map(|mention| mention.name).collect();
        let named: Vec<usize> = different.iter().map(|name| numeric[*name]).collect();
        let headed = self
            .head
            .as_deref()
            .and_then(|head| words.iter().position(|word| word.to_lowercase().trim() == head));
        // One name alone may be that of something else in the sentence.
        let column =
            headed.or_else(|| match mentions.iter().find(|mention| self.follows(mention)) {
                Some(mention) => Some(mention.name),
                None if different.len() > 1 => self.assigned(at, &mentions),
                None => None,
            });
        MeantCells { rows: rows.collect(), column: column.map(|name| numeric[name]), named }
    }

    /// Whether a name stands right behind the number: "96 sales".
    fn follows(&self, mention: &Mention) -> bool {
        let between = self.text.get(self.own.end..mention.at);
        between.is_some_and(|between| between.len() <= 1 && between.trim().is_empty())
    }

    /// Whether the number is said to be a total: "a total of 96".
    pub(crate) fn is_total(&self) -> bool {
        let before = self.text[..self.own.start].trim_end().to_lowercase();
        TOTAL_OF.iter().any(|word| before.ends_with(word))
    }

    /// What is said of this number alone: from the one before it, up to the next one or a comma.
    fn clause(&self) -> &str {
        let numbers = self.numbers.iter().map(|number| number - self.start);
        let start = numbers.clone().filter(|at| *at < self.own.start).max().map_or(0, |at| {
            let is_end = |c: char| !c.is_ascii_digit() && !",.".contains(c);
            self.text[at..].find(is_end).map_or(at, |end| at + end)
        });
        let next = numbers.filter(|at| *at > self.own.start).min().unwrap_or(self.text.len());
        let from = self.own.end.min(next);
        let end = self.text[from..next].find([',', ';', '\u{ff0c}', '\u{ff1b}']);
        let end = end.map_or(next, |end| from + end);
        self.text.get(start.min(self.own.start)..end).unwrap_or_default()
    }

    /// Whether one of these words, or of their other forms, is said of this number. Chinese words
    /// and signs stand anywhere.
    pub(crate) fn clause_has(&self, words: &[&str]) -> bool {
        let clause = self.clause().to_lowercase();
        let said: Vec<&str> = clause.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        words.iter().any(|word| match word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            true => said.contains(word),
            false => clause.contains(word),
        })
    }

    /// The word right before the number, in lower case.
    fn word_before(&self) -> String {
        let before = self.text[..self.own.start].trim_end().to_lowercase();
        let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
        word.unwrap_or_default().to_owned()
    }

    /// Whether the number is said to be a change: "by 5".
    pub(crate) fn is_by(&self) -> bool {
        self.word_before() == "by"
    }

    /// Whether the number is said to be where a change began or ended: "to 5", "降至5".
    pub(crate) fn is_level(&self) -> bool {
        let before = self.text[..self.own.start].trim_end();
        ["to", "from", "at", "below", "under"].contains(&self.word_before().as_str())
            || before.ends_with(['\u{81f3}', '\u{5230}', '\u{4ece}', '\u{4e3a}'])
    }

    /// Whether these letters touch the number.
    pub(crate) fn is_followed_by(&self, letters: &str) -> bool {
        let rest = self.text.get(self.own.end..).and_then(|rest| rest.strip_prefix(letters));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    }

    /// Whether a name of a row is said of this number.
    pub(crate) fn clause_names_row(&self, table: &EvidenceTable) -> bool {
        let clause = self.clause().to_lowercase();
        let names = table.names.iter().flatten().map(|name| name.to_lowercase());
        let mut names = names.filter(|name| !name.is_empty());
        names.any(|name| {
            clause.match_indices(&name).any(|(at, _)| stands_alone(&clause, at, name.len()))
        })
    }

    /// Whether the number counts such things: "12 rows", "3 sales regions", "3个地区".
    pub(crate) fn counts(&self, things: &[&str]) -> bool {
        let after = self.text[self.own.end..].trim_start_matches(['*', '_', '`']).to_lowercase();
        let clause = after.split([',', '.', ';', ':', '(', ')', '|', '\n']).next().unwrap_or("");
        let words = clause.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.take(COUNTED_WORDS).collect();
        let chinese = after.trim_start().trim_start_matches(['\u{4e2a}', '\u{79cd}', '\u{5927}']);
        // "Rows: 12", "the number of rows is 12".
        let before = self.text[..self.own.start].to_lowercase();
        let before = before.trim_end_matches([' ', ':', '\u{ff1a}', '=', '|', '*', '_']);
        let before = [" is", " are", " was", " were"]
            .iter()
            .find_map(|word| before.strip_suffix(word))
            .unwrap_or(before);
        let last = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let chinese_before = before.trim_end_matches(['\u{4e3a}', '\u{662f}', '\u{6570}']);
        things.iter().any(|thing| match thing.is_ascii() {
            true => words.iter().any(|word| is_plural_of(word, thing)) || is_plural_of(last, thing),
            false => chinese.trim_start().starts_with(thing) || chinese_before.ends_with(thing),
        })
    }

    /// Whether it is "top 3" or "前3".
    pub(crate) fn is_top(&self) -> bool {
        let before = self.text[..self.own.start].trim_end().to_lowercase();
        let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        ["top", "best", "first", "last"].contains(&word) || before.ends_with('\u{524d}')
    }

    /// Whether the words of this number name the column of another result with a single row, and
    /// not that of the cell.
    pub(crate) fn names_other_single(
        &self,
        cell: &EvidenceCell,
        evidence: &NumberEvidence,
    ) -> bool {
        let own = &evidence.tables[cell.table];
        if own.rows.len() != 1 {
            return false;
        }
        let names = |table: &EvidenceTable, column: usize| {
            let words = table.columns[column].to_lowercase();
            let words = words.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned);
            let words: Vec<String> = words
                .filter(|word| word.len() > 3 && !GENERAL.contains(&word.as_str()))
                .flat_map(|word| [stem(&word).to_owned(), word])
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.clause_has(&words)
        };
        let singles = evidence.tables.iter().enumerate();
        let mut singles = singles.filter(|(at, table)| *at != cell.table && table.rows.len() == 1);
        !names(own, cell.column)
            && singles.any(|(_, table)| {
                (0..table.columns.len()).any(|at| !table.is_label[at] && names(table, at))
            })
    }

    /// Whether one of these words is in the sentence, as a word of its own.
    pub(crate) fn says(&self, words: &[&str]) -> bool {
        let text = self.text.to_lowercase();
        let said: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        words.iter().any(|word| match word.is_ascii() {
            true => said.contains(word),
            false => text.contains(word),
        })
    }

    /// Whether the sentence may be about a part of the data: it names a row of a result.
    pub(crate) fn names_rows(&self, tables: &[EvidenceTable]) -> bool {
        tables.iter().any(|table| !self.named_rows(table).is_empty())
    }

    /// The rows of a result that the sentence names, if its rows have names.
    pub(crate) fn named_rows(&self, table: &EvidenceTable) -> Vec<usize> {
        let label = (0..table.columns.len()).find(|at| table.is_label[*at]);
        let Some(column) = label else { return Vec::new() };
        let names = &table.names[column];
        let named: Vec<&str> =
            self.mentions(names).iter().map(|mention| names[mention.name].as_str()).collect();
        let rows = table.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| {
            let own = row[column].shown();
            named.iter().any(|name| name.eq_ignore_ascii_case(own.trim()))
        });
        rows.map(|(at, _)| at).collect()
    }

    fn mentions(&self, names: &[String]) -> Vec<Mention> {
        let haystack = self.text.to_lowercase();
        // Lower case may have another length; then places would be wrong.
        let haystack = if haystack.len() == self.text.len() { haystack } else { self.text.into() };
        let mut found: BTreeMap<usize, Mention> = BTreeMap::new();
        for (name, word) in names.iter().enumerate().filter(|(_, word)| !word.is_empty()) {
            let needle = word.to_lowercase();
            if needle.len() > haystack.len() {
                continue;
            }
            for (at, _) in haystack.match_indices(&needle) {
                if !stands_alone(&haystack, at, needle.len()) {
                    continue;
                }
                let mention = Mention { at, len: needle.len(), name };
                let known = found.get(&at).map_or(0, |known| known.len);
                if mention.len > known {
                    found.insert(at, mention);
                }
            }
        }
        // A name within a longer one is not meant.
        let all: Vec<Mention> = found.into_values().collect();
        let is_inside = |one: &Mention| {
            all.iter().any(|other| {
                other.len > one.len
                    && other.at <= one.at
                    && one.at + one.len <= other.at + other.len
            })
        };
        all.iter().filter(|one| !is_inside(one)).cloned().collect()
    }

    /// The name that a number belongs to.
    fn assigned(&self, at: usize, mentions: &[Mention]) -> Option<usize> {
        if mentions.is_empty() {
            return None;
        }
        let at = at - self.start;
        let numbers: Vec<usize> = self.numbers.iter().map(|number| number - self.start).collect();
        // A number within a name is no number here.
        let is_free =
            |number: &&usize| !mentions.iter().any(|m| m.at <= **number && **number < m.at + m.len);
        let numbers: Vec<usize> = numbers.iter().filter(is_free).copied().collect();
        let mut order: Vec<(usize, bool)> = mentions.iter().map(|m| (m.at, true)).collect();
        order.extend(numbers.iter().map(|number| (*number, false)));
        order.sort_unstable();
        let shape: String =
            order.iter().map(|(_, is_name)| if *is_name { 'L' } else { 'N' }).collect();
        let count = mentions.len();
        let is_list = count >= 2 && shape == "L".repeat(count) + &"N".repeat(count);
        if is_list {
            let place = numbers.iter().position(|number| *number == at)?;
            return Some(mentions[place].name);
        }
        // "revenue of 10 from 20 units": the second may be either's.
        if shape == "LNNL" && numbers.last() == Some(&at) {
            return None;
        }
        let before = mentions.iter().rev().find(|mention| mention.at < at);
        let after = mentions.iter().find(|mention| mention.at > at);
        let follows = shape.starts_with('N') && shape.ends_with('L') && !shape.contains("LL");
        let chosen = if follows { after.or(before) } else { before.or(after) };
        chosen.map(|mention| mention.name)
    }
}

/// What stands over a place in a Markdown table, in lower case and without a unit in brackets.
fn head_of(text: &str, at: usize) -> Option<String> {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if !text[line..at].trim_start().starts_with('|') {
        return None;
    }
    let column = text[line..at].matches('|').count();
    let mut lines = text[..line].lines().rev();
    lines.find(|line| {
        line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
    })?;
    let head = lines.next()?.split('|').nth(column)?;
    let name = head.split(['(', '\u{ff08}']).next().unwrap_or_default();
    let name = name.replace(['*', '`'], "").replace('_', " ");
    Some(name.trim().to_lowercase()).filter(|name| !name.is_empty())
}

/// Names of columns that say nothing of what is in them.
const GENERAL: [&str; 12] = [
    "total", "totals", "count", "counts", "value", "values", "number", "amount", "sales", "rows",
    "sums", "average",
];

/// Without the end of a past form: "joined" is of "join".
fn stem(word: &str) -> &str {
    let ends = ["ed", "s"];
    ends.iter().find_map(|end| word.strip_suffix(end)).filter(|stem| stem.len() > 3).unwrap_or(word)
}

/// Words behind a number in which is looked for what it counts.
const COUNTED_WORDS: usize = 3;

fn is_plural_of(word: &str, thing: &str) -> bool {
    let stem = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    word == thing
        || stem.is_some_and(|stem| stem == thing)
        || ["s", "es"].iter().any(|end| word.strip_suffix(end) == Some(thing))
}

/// A name in Latin letters is a word of its own; Chinese has no blanks.
fn stands_alone(text: &str, at: usize, len: usize) -> bool {
    let inside = &text[at..at + len];
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    let starts = inside.starts_with(is_letter) && text[..at].ends_with(is_letter);
    let ends = inside.ends_with(is_letter) && text[at + len..].starts_with(is_letter);
    !starts && !ends
}
