//! Grams: what of a text is in the index. Three characters in a row, or two of a script without
//! spaces, folded to lower case and hashed. A file with a text has all grams of that text.

use std::collections::HashSet;

/// The grams of a whole text as words of the index, each once.
pub(crate) fn grams_of(text: &str) -> String {
    let mut seen: HashSet<u32> = HashSet::new();
    for line in text.split('\n') {
        let chars: Vec<char> = folded(line);
        seen.extend(chars.windows(3).map(hash));
        seen.extend(chars.windows(2).filter(|two| two.iter().all(is_ideographic)).map(hash));
    }
    let mut words: Vec<u32> = seen.into_iter().collect();
    words.sort_unstable();
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The grams that a file with this text must have; `None` if the text is too short for any.
pub(crate) fn query_grams(query: &str) -> Option<Vec<String>> {
    let chars = folded(query);
    let mut grams: Vec<u32> = match chars.as_slice() {
        two @ [_, _] if two.iter().all(is_ideographic) => vec![hash(two)],
        more => more.windows(3).map(hash).collect(),
    };
    grams.sort_unstable();
    grams.dedup();
    (!grams.is_empty()).then(|| grams.into_iter().map(word).collect())
}

/// Character by character, so that a part of a text folds to a part of the folded text.
fn folded(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Chinese, Japanese, Korean: a word is often two characters.
fn is_ideographic(c: &char) -> bool {
    matches!(*c as u32,
        0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// FNV-1a. Two grams with one hash only cost a file that is opened for nothing.
fn hash(gram: &[char]) -> u32 {
    let bytes = gram.iter().flat_map(|c| (*c as u32).to_le_bytes());
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn word(hash: u32) -> String {
    format!("{hash:x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn has_all(text: &str, query: &str) -> Option<bool> {
        let text = grams_of(text);
        let words: HashSet<&str> = text.split(' ').collect();
        Some(query_grams(query)?.iter().all(|gram| words.contains(gram.as_str())))
    }

    #[test]
    fn two_chinese_characters_are_enough_and_two_letters_are_not() {
        assert_eq!(has_all("在这里建立全文索引。", "索引"), Some(true));
        assert_eq!(has_all("在这里建立全文索引。", "引擎"), Some(false));
        assert_eq!(query_grams("ab"), None);
        assert_eq!(has_all("Fn Main()", "fn main"), Some(true));
        assert_eq!(has_all("one\ntwo", "netwo"), Some(false));
    }

    proptest! {
        #[test]
        fn a_text_has_the_grams_of_each_of_its_parts(
            text in "[a-zA-Z 字符İſßΣ.]{0,60}",
            a in 0..60_usize,
            b in 0..60_usize,
        ) {
            let chars: Vec<char> = text.chars().collect();
            let (from, to) = (a.min(b).min(chars.len()), a.max(b).min(chars.len()));
            let part: String = chars[from..to].iter().collect();
            prop_assert_ne!(has_all(&text, &part), Some(false));
        }
    }
}
