//! Numbers in words: "twelve thousand", "一万二千", "doubled", "三倍".
//!
//! One of 20 or more is compared like digits. Smaller ones are in every other sentence, and "half"
//! says no number exactly: they are counted as not checked.

use super::{NumberForm, WrittenNumber, is_rough};
use crate::exact::Exact;
use std::ops::Range;

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

const POWERS: [(&str, i128); 5] = [
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("trillion", 1_000_000_000_000),
];

/// Words that say an amount without a number.
const VAGUE: [&str; 30] = [
    "double",
    "doubles",
    "doubled",
    "doubling",
    "twice",
    "triple",
    "triples",
    "tripled",
    "tripling",
    "quadruple",
    "quadrupled",
    "halve",
    "halved",
    "halves",
    "halving",
    "half",
    "twofold",
    "threefold",
    "fourfold",
    "fivefold",
    "tenfold",
    "dozen",
    "dozens",
    "hundreds",
    "thousands",
    "millions",
    "billions",
    "third",
    "thirds",
    "quarters",
];

/// Smallest number in words that is compared.
const COMPARED_FROM: i128 = 20;

pub(super) fn numbers(text: &str) -> Vec<WrittenNumber> {
    let mut found = in_english(text);
    found.extend(in_chinese(text));
    found
}

fn number(text: &str, at: Range<usize>, value: Exact, form: NumberForm) -> WrittenNumber {
    WrittenNumber {
        value,
        places: value.scale(),
        unit: Exact::new(1, 0),
        unit_text: String::new(),
        percent: false,
        signed: false,
        rough: is_rough(&text[..at.start]),
        form,
        at,
    }
}

/// The words of a text in lower case, each with its place.
fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut start = None;
    let bytes = text.as_bytes();
    for at in 0..=bytes.len() {
        let is_letter = bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
        match (is_letter, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let sides = [from.checked_sub(1).and_then(|at| bytes.get(at)), bytes.get(at)];
                let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
                if !sides.into_iter().flatten().any(is_part) {
                    found.push((from..at, text[from..at].to_ascii_lowercase()));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn in_english(text: &str) -> Vec<WrittenNumber> {
    let words = words(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if let Some((value, next)) = phrase(text, &words, at) {
            let place = words[at].0.start..words[next - 1].0.end;
            let form = match value < COMPARED_FROM {
                true => NumberForm::Vague,
                false => NumberForm::Words,
            };
            found.push(percent_of(text, number(text, place, Exact::new(value, 0), form)));
            at = next;
            continue;
        }
        if is_vague(&words, at) {
            found.push(number(text, words[at].0.clone(), Exact::ZERO, NumberForm::Vague));
        }
        at += 1;
    }
    found
}

/// "twenty percent" says a percentage.
fn percent_of(text: &str, number: WrittenNumber) -> WrittenNumber {
    let rest = &text[number.at.end..];
    match [" percent", " per cent"].iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => {
            let at = number.at.start..number.at.end + sign.len();
            WrittenNumber { at, percent: true, ..number }
        }
        None => number,
    }
}

fn is_vague(words: &[(Range<usize>, String)], at: usize) -> bool {
    let word = words[at].1.as_str();
    let before = at.checked_sub(1).map_or("", |at| words[at].1.as_str());
    let after = words.get(at + 1).map_or("", |(_, word)| word.as_str());
    match word {
        // The halves and thirds of a year are times.
        "half" => !["first", "second", "this", "last"].contains(&before),
        "third" | "thirds" | "quarters" => {
            after == "of" && ["a", "one", "two", "three"].contains(&before)
        }
        "quarter" => after == "of" && ["a", "one"].contains(&before),
        word => VAGUE.contains(&word),
    }
}

/// The number that words from here on say, and the word behind it.
fn phrase(text: &str, words: &[(Range<usize>, String)], from: usize) -> Option<(i128, usize)> {
    let word = |at: usize| words.get(at).map_or("", |(_, word)| word.as_str());
    let joins = |at: usize| {
        let between = text.get(words.get(at - 1)?.0.end..words.get(at)?.0.start)?;
        [" ", "-"].contains(&between).then_some(())
    };
    let power = |at: usize| POWERS.iter().find(|(name, _)| *name == word(at)).map(|(_, own)| *own);
    let small = |at: usize| {
        let own = SMALL.iter().position(|name| *name == word(at))?;
        i128::try_from(own).ok()
    };
    let tens = |at: usize| {
        let own = TENS.iter().position(|name| !name.is_empty() && *name == word(at))?;
        i128::try_from(own * 10).ok()
    };
    // "a hundred"; "one" alone counts nothing.
    let is_article = word(from) == "a" || word(from) == "one";
    if word(from) == "zero"
        || is_article && (joins(from + 1).is_none() || power(from + 1).is_none())
    {
        return None;
    }
    let (mut total, mut part, mut at) = (0_i128, i128::from(word(from) == "a"), from);
    let mut some = is_article;
    at += usize::from(word(from) == "a");
    while at < words.len() && (at == from || joins(at).is_some()) {
        if let Some(own) = tens(at) {
            part += own;
        } else if let Some(own) = small(at) {
            part += own;
        } else if let Some(own) = power(at).filter(|_| some) {
            match own {
                100 => part *= 100,
                _ => (total, part) = (total + part * own, 0),
            }
        } else if word(at) == "and"
            && at > from
            && power(at - 1).is_some()
            && (small(at + 1).is_some() || tens(at + 1).is_some())
            && joins(at + 1).is_some()
        {
            // "two hundred and five".
        } else {
            break;
        }
        some = true;
        at += 1;
    }
    some.then_some((total + part, at))
}

/// Chinese digits, the later ones of the same value.
const DIGITS: [(char, i128); 12] = [
    ('零', 0),
    ('〇', 0),
    ('一', 1),
    ('二', 2),
    ('两', 2),
    ('三', 3),
    ('四', 4),
    ('五', 5),
    ('六', 6),
    ('七', 7),
    ('八', 8),
    ('九', 9),
];

const CHINESE_POWERS: [(char, i128); 5] =
    [('十', 10), ('百', 100), ('千', 1_000), ('万', 10_000), ('亿', 100_000_000)];

/// Words that say an amount without a number: halves and doubles.
const CHINESE_VAGUE: [&str; 8] = [
    "\u{4e00}\u{534a}",
    "\u{8fc7}\u{534a}",
    "\u{534a}\u{6570}",
    "\u{7ffb}\u{500d}",
    "\u{7ffb}\u{756a}",
    "\u{7ffb}\u{4e86}\u{4e00}\u{756a}",
    "\u{51cf}\u{534a}",
    "\u{8170}\u{65a9}",
];

/// What stands before numerals that are no amounts: `第三`, `星期三`.
const NO_AMOUNT: [char; 9] = ['第', '星', '期', '周', '初', '每', '之', '几', '数'];

/// What is counted with a single digit.
const COUNTERS: [char; 20] = [
    '个', '家', '名', '次', '项', '条', '种', '位', '笔', '件', '人', '天', '周', '年', '元', '组',
    '类', '行', '成', '倍',
];

fn digit(c: char) -> Option<i128> {
    DIGITS.iter().find(|(own, _)| *own == c).map(|(_, value)| *value)
}

fn power(c: char) -> Option<i128> {
    CHINESE_POWERS.iter().find(|(own, _)| *own == c).map(|(_, value)| *value)
}

fn in_chinese(text: &str) -> Vec<WrittenNumber> {
    let mut found = Vec::new();
    for word in CHINESE_VAGUE {
        let places = text.match_indices(word).map(|(at, _)| at..at + word.len());
        found.extend(places.map(|at| number(text, at, Exact::ZERO, NumberForm::Vague)));
    }
    let mut at = 0;
    let is_numeral = |c: char| digit(c).is_some() || power(c).is_some();
    while let Some(offset) = text[at..].find(is_numeral) {
        let start = at + offset;
        let end = text[start..].find(|c: char| !is_numeral(c)).map_or(text.len(), |to| start + to);
        at = end;
        let overlaps = |own: &WrittenNumber| own.at.start < end && start < own.at.end;
        if !found.iter().any(overlaps) {
            found.extend(chinese(text, start, end));
        }
    }
    found
}

/// A run of Chinese numerals, if it says a number.
fn chinese(text: &str, start: usize, end: usize) -> Option<WrittenNumber> {
    let (run, rest) = (&text[start..end], &text[end..]);
    let before = text[..start].chars().next_back();
    // `百分之十二`
    if run == "\u{767e}" && rest.starts_with("\u{5206}\u{4e4b}") {
        let from = end + "\u{5206}\u{4e4b}".len();
        let is_part = |c: char| digit(c).is_some() || power(c).is_some() || c == '点';
        let to = text[from..].find(|c| !is_part(c)).map_or(text.len(), |to| from + to);
        let value = decimal(&text[from..to])?;
        let whole = number(text, start..to, value, NumberForm::Words);
        return Some(WrittenNumber { percent: true, ..whole });
    }
    if before.is_some_and(|c| NO_AMOUNT.contains(&c) || c.is_ascii_digit())
        || rest.starts_with(['月', '日', '号', '季'])
    {
        return None;
    }
    let vague = || Some(number(text, start..end, Exact::ZERO, NumberForm::Vague));
    if rest.starts_with("\u{5206}\u{4e4b}") {
        return vague();
    }
    let mut chars = run.chars();
    let (first, is_single) = (chars.next()?, chars.next().is_none());
    if is_single {
        let is_counted = rest.starts_with(COUNTERS);
        return (is_counted && digit(first).is_some_and(|own| own > 1)
            || first == '一' && rest.starts_with(['倍', '成']))
        .then(vague)
        .flatten();
    }
    // `二〇二四年` is a year, `万一` and `千万` are words.
    let has_power = run.chars().any(|c| power(c).is_some());
    if !has_power || !(digit(first).is_some() || first == '十') {
        return None;
    }
    match whole(run) {
        Some(value) if value >= COMPARED_FROM => {
            Some(number(text, start..end, Exact::new(value, 0), NumberForm::Words))
        }
        _ => vague(),
    }
}

/// `一万二千` is 12,000; `三四千` is no number.
fn whole(run: &str) -> Option<i128> {
    let (mut total, mut section, mut last) = (0_i128, 0_i128, None);
    for c in run.chars() {
        match (digit(c), power(c)) {
            (Some(0), _) => {}
            (Some(own), _) if last.is_none() => last = Some(own),
            (Some(_), _) => return None,
            (_, Some(power @ (10_000 | 100_000_000))) => {
                total = (total + section + last.take().unwrap_or(0)).checked_mul(power)?;
                section = 0;
            }
            (_, Some(power)) => section += last.take().unwrap_or(1) * power,
            _ => return None,
        }
    }
    Some(total + section + last.unwrap_or(0))
}

/// `十二点五` is 12.5.
fn decimal(text: &str) -> Option<Exact> {
    let (before, after) = text.split_once('点').unwrap_or((text, ""));
    let before = whole(before).filter(|_| !before.is_empty())?;
    let part: Option<String> = after.chars().map(|c| Some(digit(c)?.to_string())).collect();
    Exact::parse(&match part?.as_str() {
        "" => before.to_string(),
        part => format!("{before}.{part}"),
    })
}
