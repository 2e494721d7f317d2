//! Which facts fit some words: pure, for every script alike.
//!
//! Words of letters and digits are looked for as they are; text without spaces, such as Chinese, by
//! pairs of characters. A fact counts by how much of the query it has; the newer wins a tie.

use everloop_store::FactRow;
use std::collections::BTreeSet;

/// Facts that one search gives.
const FOUND_MAX: usize = 20;

/// Pieces of a query that are looked for.
const PIECES_MAX: usize = 64;

/// The facts that fit best, out of those given newest first.
pub(super) fn ranked(facts: Vec<FactRow>, query: &str) -> Vec<FactRow> {
    let pieces = pieces(query);
    let whole = query.trim().to_lowercase();
    let score = |text: &str| {
        let text = text.to_lowercase();
        let found = pieces.iter().filter(|piece| text.contains(piece.as_str())).count();
        let is_whole = !whole.is_empty() && text.contains(&whole);
        found + if is_whole { pieces.len() + 1 } else { 0 }
    };
    let mut scored: Vec<(usize, FactRow)> =
        facts.into_iter().map(|fact| (score(&fact.text), fact)).collect();
    scored.retain(|(score, _)| *score > 0);
    // The sort is stable: among equals the newest stays first.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(FOUND_MAX).map(|(_, fact)| fact).collect()
}

/// What is looked for: words, and pairs of characters where a script has no spaces.
fn pieces(query: &str) -> BTreeSet<String> {
    let mut pieces = BTreeSet::new();
    for word in query.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        for part in by_script(word) {
            let chars: Vec<char> = part.chars().collect();
            if chars.first().copied().is_some_and(is_unspaced) && chars.len() > 2 {
                pieces.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else if !chars.is_empty() {
                pieces.insert(part);
            }
        }
    }
    pieces.into_iter().take(PIECES_MAX).collect()
}

/// A word cut where the script changes.
fn by_script(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for c in word.chars() {
        match parts.last_mut() {
            Some(part) if part.chars().next_back().map(is_unspaced) == Some(is_unspaced(c)) => {
                part.push(c);
            }
            _ => parts.push(c.to_string()),
        }
    }
    parts
}

/// Whether a script is written without spaces between words: Chinese, Japanese, Thai.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::{FactId, FactSource, FactStatus};

    fn facts(texts: &[&str]) -> Vec<FactRow> {
        let fact = |(at, text): (usize, &&str)| FactRow {
            id: FactId::new(format!("fact_{at}")),
            text: (*text).to_owned(),
            status: FactStatus::Active,
            workspace: None,
            untrusted: false,
            proposed_by: "user".to_owned(),
            source: FactSource::default(),
            created_at: 0,
            updated_at: 0,
            version: 1,
        };
        texts.iter().enumerate().map(fact).collect()
    }

    fn found(texts: &[&str], query: &str) -> Vec<String> {
        ranked(facts(texts), query).into_iter().map(|fact| fact.text).collect()
    }

    #[test]
    fn chinese_is_found_by_any_two_characters_of_a_phrase() {
        let all = ["用户喜欢喝绿茶", "部署在周五下午进行", "The user drinks tea"];
        assert_eq!(found(&all, "什么时候部署"), ["部署在周五下午进行"]);
        assert_eq!(found(&all, "绿茶"), ["用户喜欢喝绿茶"]);
        assert_eq!(found(&all, "TEA"), ["The user drinks tea"]);
        assert_eq!(found(&all, "茶"), ["用户喜欢喝绿茶"]);
        assert!(found(&all, "咖啡").is_empty() && found(&all, " ,。").is_empty());
    }

    #[test]
    fn the_fact_with_more_of_the_words_comes_first_and_then_the_newer() {
        let all = ["deploy by hand", "tests run on Friday", "deploy on Friday"];
        let expected = ["deploy on Friday", "deploy by hand", "tests run on Friday"];
        assert_eq!(found(&all, "deploy Friday"), expected);
    }
}
