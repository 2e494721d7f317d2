//! Questions about entries, and entries named by their number.

mod words;

use jiff::Zoned;

use super::{after_any, before_any, is_question};
use crate::time::dates::{self, Precision};

/// The command that answers the question, or that acts on a numbered entry.
pub(super) fn answer(sentence: &str, now: &Zoned) -> Option<String> {
    question(sentence)
        .or_else(|| schedule_question(sentence, now))
        .or_else(|| numbered(sentence, words::DONE).map(|id| format!("/todo done {id}")))
        .or_else(|| numbered(sentence, words::DELETE).map(|id| format!("/todo delete {id}")))
        .or_else(|| search(sentence))
}

fn question(sentence: &str) -> Option<String> {
    let asked = plain_question(sentence);
    let found = words::QUESTIONS.iter().find(|(words, _)| *words == asked);
    found.map(|(_, command)| (*command).to_owned())
}

/// Lower case, one space between words, no question mark.
fn plain_question(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches(['?', '？', ' ']).replace('’', "'");
    let words: Vec<&str> = sentence.split_whitespace().collect();
    words.join(" ").to_ascii_lowercase()
}

/// The schedule of a day, this week or this month.
fn schedule_question(sentence: &str, now: &Zoned) -> Option<String> {
    let asked = plain_question(sentence);
    let before = after_any(&asked, words::ASK_BEFORE);
    let rest = before.unwrap_or(&asked);
    let head = &asked[..asked.len() - rest.len()];
    let asks_alone = words::ASKS_ALONE.iter().any(|word| head.starts_with(word));
    let middle = before_any(rest, words::ASK_AFTER).or(asks_alone.then_some(rest))?;
    if let Some((_, span)) = words::SPANS.iter().find(|(words, _)| *words == middle) {
        return Some(format!("/schedule view {span}"));
    }
    let middle = middle.strip_suffix("'s").unwrap_or(middle);
    let when = dates::parse(middle, now)?;
    if let Some((_, span)) = words::NEXT_SPANS.iter().find(|(words, _)| *words == middle) {
        let form = if *span == "month" { "%Y-%m" } else { "%Y-%m-%d" };
        return Some(format!("/schedule view {span} {}", when.at.strftime(form)));
    }
    // "明天下午三点有什么安排": the day shows what is at that time.
    if when.precision == Precision::Part || when.repeat.is_some() || when.instant.is_some() {
        return None;
    }
    let day = when.at.date();
    Some(match day == now.date() {
        true => "/schedule view day".to_owned(),
        false => format!("/schedule view day {day}"),
    })
}

/// The number between two pieces of a sentence.
fn numbered(sentence: &str, pairs: &[(&str, &str)]) -> Option<u64> {
    let numbers = pairs.iter().filter_map(|(head, tail)| {
        let rest = if head.is_empty() { sentence } else { after_any(sentence, &[head])? };
        let rest = if tail.is_empty() { rest } else { before_any(rest, &[tail])? };
        let digits = rest.trim().strip_prefix('#').unwrap_or(rest.trim());
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    });
    numbers.into_iter().next()
}

fn search(sentence: &str) -> Option<String> {
    let word = after_any(sentence, words::SEARCH)?.trim_start_matches([':', '：', ' ']);
    (!word.is_empty() && !is_question(word)).then(|| format!("/todo search {word}"))
}
