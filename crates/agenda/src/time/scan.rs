//! The input of the grammar: normalized characters, and the words and numbers in them.

use super::words;

/// Parsed values, each with the position after it. Every reading is kept; the longest wins.
pub(super) type Readings<T> = Vec<(T, usize)>;

/// A text as normalized lower-case characters, each with its position in the original.
pub(super) struct Scan {
    chars: Vec<char>,
    offsets: Vec<usize>,
    is_capital: Vec<bool>,
}

impl Scan {
    pub(super) fn new(text: &str) -> Self {
        let mut chars: Vec<char> = text.chars().map(plain).collect();
        words::plain_numerals(&mut chars);
        let ends = std::iter::once(text.len());
        let offsets = text.char_indices().map(|(at, _)| at).chain(ends).collect();
        Self { chars, offsets, is_capital: text.chars().map(char::is_uppercase).collect() }
    }

    /// Whether a word here is written as a name: "Sat", but neither "sat" nor "SAT".
    pub(super) fn is_name(&self, at: usize) -> bool {
        let is_capital = |at: usize| self.is_capital.get(at) == Some(&true);
        is_capital(at) && !is_capital(at + 1)
    }

    /// Whether one of these words is right before, possibly with spaces between.
    pub(super) fn is_behind(&self, at: usize, list: &[&str]) -> bool {
        let before = self.text(0, at.min(self.len()));
        let before = before.trim_end();
        list.iter().any(|word| {
            let rest = before.strip_suffix(word);
            rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
        })
    }

    /// Whether this text is right before.
    pub(super) fn ends(&self, at: usize, text: &str) -> bool {
        let begin = at.checked_sub(text.chars().count());
        begin.is_some_and(|begin| self.text(begin, at.min(self.len())) == text)
    }

    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }

    /// Where in the original text this character begins.
    pub(super) fn offset(&self, at: usize) -> usize {
        self.offsets[at]
    }

    pub(super) fn get(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied()
    }

    pub(super) fn before(&self, at: usize) -> Option<char> {
        self.get(at.checked_sub(1)?)
    }

    /// The normalized text between two positions.
    pub(super) fn text(&self, from: usize, to: usize) -> String {
        self.chars[from..to].iter().collect()
    }

    pub(super) fn skip_spaces(&self, mut at: usize) -> usize {
        while self.get(at).is_some_and(char::is_whitespace) {
            at += 1;
        }
        at
    }

    /// The longest word of a table at this position, after spaces.
    pub(super) fn word<T: Copy>(&self, at: usize, table: &[(&str, T)]) -> Option<(T, usize)> {
        let at = self.skip_spaces(at);
        let found =
            table.iter().filter_map(|(word, value)| Some((*value, self.literal(at, word)?)));
        found.max_by_key(|(_, end)| *end)
    }

    /// The end of the longest of these words, after spaces.
    pub(super) fn any(&self, at: usize, list: &[&str]) -> Option<usize> {
        let at = self.skip_spaces(at);
        list.iter().filter_map(|word| self.literal(at, word)).max()
    }

    /// The position after one of these words, or this position.
    pub(super) fn maybe(&self, at: usize, list: &[&str]) -> usize {
        self.any(at, list).unwrap_or(at)
    }

    /// Latin words match whole words only; a space in a word matches any number of spaces.
    fn literal(&self, start: usize, word: &str) -> Option<usize> {
        let mut at = start;
        for c in word.chars() {
            if c == ' ' {
                let next = self.skip_spaces(at);
                if next == at {
                    return None;
                }
                at = next;
            } else if self.get(at) == Some(c) {
                at += 1;
            } else {
                return None;
            }
        }
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
        let starts_inside = is_letter(self.get(start)) && is_letter(self.before(start));
        let ends_inside = is_letter(self.before(at)) && is_letter(self.get(at));
        (!starts_inside && !ends_inside).then_some(at)
    }

    /// Digits at this position (no spaces before them), with a minimum and maximum length.
    pub(super) fn digits(&self, at: usize, least: usize, most: usize) -> Option<(u32, usize)> {
        let count = self.chars[at.min(self.len())..].iter().take_while(|c| c.is_ascii_digit());
        let end = at + count.count();
        if !(least..=most).contains(&(end - at)) {
            return None;
        }
        let value = self.chars[at..end].iter().filter_map(|c| c.to_digit(10));
        Some((value.fold(0, |sum, digit| sum * 10 + digit), end))
    }

    /// A number in digits, or in Chinese or English words, after spaces.
    pub(super) fn number(&self, at: usize) -> Option<(u32, usize)> {
        let at = self.skip_spaces(at);
        self.digits(at, 1, 6)
            .or_else(|| self.chinese_number(at))
            .or_else(|| self.english_number(at))
    }

    /// A count: a number, or an article that means one.
    pub(super) fn count(&self, at: usize) -> Option<(u32, usize)> {
        self.number(at).or_else(|| self.word(at, words::ARTICLES))
    }

    /// Twenty, seven, twenty-seven.
    fn english_number(&self, at: usize) -> Option<(u32, usize)> {
        let Some((tens, end)) = self.word(at, words::TENS) else {
            return self.word(at, words::NUMBERS);
        };
        let next = if self.get(end) == Some('-') { end + 1 } else { end };
        let ones = self.word(next, words::NUMBERS).filter(|(ones, _)| *ones < 10);
        Some(ones.map_or((tens, end), |(ones, end)| (tens + ones, end)))
    }

    /// Consecutive numerals are one number: 23, or 2026 digit by digit.
    fn chinese_number(&self, at: usize) -> Option<(u32, usize)> {
        let rest = &self.chars[at.min(self.len())..];
        let numerals = rest.iter().map_while(|c| words::numerals(*c));
        let end = at + numerals.clone().count();
        let run: Vec<u32> = numerals.flatten().copied().collect();
        let has_unit = run.iter().any(|n| *n >= 10);
        if run.is_empty() || run.len() > 7 {
            return None;
        }
        if !has_unit {
            let is_padded = run.len() <= 2 && run[0] == 0 || run.len() == 1;
            let is_year = run.len() == 4;
            let value = run.iter().fold(0, |sum, digit| sum * 10 + digit);
            return (is_padded || is_year).then_some((value, end));
        }
        Some((with_units(&run)?, end))
    }

    /// An ordinary number that must be in a range.
    pub(super) fn number_in(
        &self,
        at: usize,
        range: std::ops::RangeInclusive<u32>,
    ) -> Option<(i8, usize)> {
        let (value, end) = self.number(at)?;
        let value = range.contains(&value).then(|| i8::try_from(value).ok())??;
        Some((value, end))
    }
}

/// Tens and hundreds: each unit multiplies the digit before it, and units decrease.
fn with_units(run: &[u32]) -> Option<u32> {
    let (mut sum, mut digit, mut last_unit) = (0, None, u32::MAX);
    for n in run {
        match n {
            10 | 100 if *n < last_unit => {
                let times = match digit.take() {
                    Some(0) => return None,
                    Some(times) => times,
                    None if *n == 10 && sum == 0 => 1,
                    None => return None,
                };
                sum += times * n;
                last_unit = *n;
            }
            0..=9 if digit.is_none() => digit = Some(*n),
            1..=9 if digit == Some(0) => digit = Some(*n),
            _ => return None,
        }
    }
    Some(sum + digit.unwrap_or(0))
}

/// Full-width and traditional forms become the usual ones; letters become lower case.
fn plain(c: char) -> char {
    match c {
        '\u{3000}' => ' ',
        '\u{2018}' | '\u{2019}' => '\'',
        '—' | '–' | '−' | '‐' | '‑' => '-',
        '〜' => '~',
        '\u{ff01}'..='\u{ff5e}' => {
            let plain = u32::from(c) - 0xfee0;
            char::from_u32(plain).unwrap_or(c).to_ascii_lowercase()
        }
        _ => words::simplified(c).to_ascii_lowercase(),
    }
}
