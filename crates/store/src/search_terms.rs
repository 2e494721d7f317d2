//! The terms by which a message is found. Pure: the index and a search share these functions.
//!
//! ```text
//!   Mend the FENCE  ──► mend · the · fence            words of letters and digits, lower case
//!   登录页面         ──► 登录 · 录页 · 页面 · 面          scripts without spaces, by two characters
//! ```
//!
//! The last character of such a run is a term of its own, so every character begins a term: one
//! character alone is found as the beginning of a term.
//!
//! Deliberately absent: stems, synonyms and a list of words that do not count.

use std::collections::BTreeSet;

/// Terms of one message that are indexed; the words after them do not lead to it.
pub(crate) const TERMS_MAX: usize = 2_000;

/// Characters of a word that count.
const WORD_CHARS_MAX: usize = 64;

/// Words of a search that count.
const QUERY_TERMS_MAX: usize = 16;

/// A run of characters of one kind.
#[derive(Debug, PartialEq, Eq)]
enum TextRun {
    Word(String),
    /// A script that is written without spaces between words.
    Unspaced(Vec<char>),
}

/// What a search wants.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchWords {
    /// Terms that the message must have.
    pub(crate) terms: Vec<String>,
    /// Single characters that some term of the message must begin with.
    pub(crate) beginnings: Vec<String>,
    /// Runs of at least three characters, which must occur as they are.
    runs: Vec<String>,
}

/// Full-width forms become plain ones.
fn plain(c: char) -> char {
    match u32::from(c) {
        code @ 0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E01..=0x0EDF | 0x1000..=0x109F | 0x1780..=0x17DD // Thai, Lao, Burmese, Khmer
        | 0x3005..=0x3007 | 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F | 0x2_0000..=0x3_FFFF)
}

/// Accents that follow their letter.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036F)
}

/// The runs of a text, in order.
fn runs(text: &str) -> impl Iterator<Item = TextRun> + '_ {
    let mut chars = text.chars().map(plain).filter(|c| !is_mark(*c)).peekable();
    std::iter::from_fn(move || {
        while chars.next_if(|c| !is_unspaced(*c) && !c.is_alphanumeric()).is_some() {}
        if is_unspaced(*chars.peek()?) {
            let run = std::iter::from_fn(|| chars.next_if(|c| is_unspaced(*c)));
            return Some(TextRun::Unspaced(run.collect()));
        }
        let in_word = |c: &char| c.is_alphanumeric() && !is_unspaced(*c);
        let word = std::iter::from_fn(|| chars.next_if(in_word));
        let word: String = word.flat_map(char::to_lowercase).collect();
        Some(TextRun::Word(word.chars().take(WORD_CHARS_MAX).collect()))
    })
}

fn pairs(run: &[char]) -> impl Iterator<Item = String> + '_ {
    run.windows(2).map(|pair| pair.iter().collect())
}

/// The distinct terms of a message, at most [`TERMS_MAX`] of them.
pub(crate) fn terms_of(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for run in runs(text) {
        match run {
            TextRun::Word(word) => {
                terms.insert(word);
            }
            TextRun::Unspaced(run) => {
                let last = run.last().map(char::to_string);
                let room = TERMS_MAX.saturating_sub(terms.len());
                terms.extend(pairs(&run).take(room).chain(last));
            }
        }
        if terms.len() >= TERMS_MAX {
            break;
        }
    }
    terms
}

impl SearchWords {
    /// What these words ask for; nothing if they have no letter and no digit.
    pub(crate) fn of(words: &str) -> Self {
        let mut wanted = Self::default();
        let mut terms = BTreeSet::new();
        for run in runs(words) {
            match run {
                TextRun::Word(word) => terms.extend([word]),
                TextRun::Unspaced(run) if run.len() == 1 => wanted.beginnings.extend(one(&run)),
                TextRun::Unspaced(run) => {
                    terms.extend(pairs(&run));
                    wanted.runs.extend((run.len() > 2).then(|| run.iter().collect::<String>()));
                }
            }
        }
        wanted.terms = terms.into_iter().take(QUERY_TERMS_MAX).collect();
        wanted.beginnings.truncate(QUERY_TERMS_MAX);
        wanted
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.beginnings.is_empty()
    }

    /// Whether a message that has all the terms has them as they were asked for.
    pub(crate) fn fit(&self, text: &str) -> bool {
        let must_occur = || self.runs.iter().chain(&self.beginnings);
        if must_occur().next().is_none() {
            return true;
        }
        let text: String = text.chars().map(plain).filter(|c| !is_mark(*c)).collect();
        must_occur().all(|run| text.contains(run.as_str()))
    }

    /// Where the first of the words stands in a text: the byte at which it begins.
    pub(crate) fn place_in(&self, text: &str) -> Option<usize> {
        let wanted = self.runs.iter().chain(&self.terms).chain(&self.beginnings);
        let lower: Vec<(usize, char)> = text
            .char_indices()
            .flat_map(|(at, c)| plain(c).to_lowercase().map(move |c| (at, c)))
            .collect();
        let starts = |word: &str, from: usize| {
            let rest = lower.get(from..).unwrap_or_default();
            let mut letters = rest.iter().map(|(_, c)| *c);
            word.chars().all(|c| letters.next() == Some(c))
        };
        let find = |word: &String| (0..lower.len()).find(|from| starts(word, *from));
        wanted.filter_map(find).next().and_then(|from| lower.get(from)).map(|(at, _)| *at)
    }
}

fn one(run: &[char]) -> Option<String> {
    run.first().map(char::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        terms_of(text).into_iter().collect()
    }

    #[test]
    fn words_are_lower_case_and_scripts_without_spaces_go_by_two() {
        assert_eq!(terms("Mend the FENCE, mend it: v2"), ["fence", "it", "mend", "the", "v2"]);
        assert_eq!(terms("登录页面"), ["录页", "登录", "面", "页面"]);
        assert_eq!(terms("修login页"), ["login", "修", "页"]);
        assert_eq!(terms("ＡＢＣ１２ cafe\u{301}"), ["abc12", "cafe"]);
        assert_eq!(terms("… — %"), [""; 0]);
    }

    #[test]
    fn the_terms_of_a_message_are_bounded() {
        let long: String = (0..5_000).map(|n| format!("w{n} ")).collect();
        assert_eq!(terms_of(&long).len(), TERMS_MAX);
        let unspaced: String = (0..5_000).filter_map(|n| char::from_u32(0x4E00 + n)).collect();
        assert!(terms_of(&unspaced).len() <= TERMS_MAX + 1);
        assert_eq!(terms(&"x".repeat(500))[0].chars().count(), WORD_CHARS_MAX);
    }

    #[test]
    fn a_run_must_occur_as_it_was_asked_for() {
        let wanted = SearchWords::of("登录页面 Fence");
        assert_eq!(wanted.terms, ["fence", "录页", "登录", "页面"]);
        assert!(wanted.fit("fence 的登录页面"));
        assert!(!wanted.fit("fence 录页 登录 页面"));
        let single = SearchWords::of("修");
        assert_eq!((single.terms.len(), single.beginnings.as_slice()), (0, &["修".to_owned()][..]));
        assert!(single.fit("要修"));
        assert!(SearchWords::of("!?").is_empty());
    }

    #[test]
    fn the_place_of_a_word_is_a_place_of_the_text() {
        let text = "İstanbul 的 Fence";
        let at = SearchWords::of("fence").place_in(text).unwrap();
        assert_eq!(&text[at..], "Fence");
        assert_eq!(SearchWords::of("nothing").place_in(text), None);
    }
}
