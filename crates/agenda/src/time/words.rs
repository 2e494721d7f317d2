//! The words of the date grammar in both languages. They are input, not output.
//!
//! Traditional characters and full-width forms are normalized before the look-up.

mod clock;
mod days;
mod every;
mod holidays;
mod left;
mod links;
mod months;
mod offsets;
mod unlike;
mod vague;

pub(super) use clock::*;
pub(super) use days::*;
pub(super) use every::*;
pub(super) use holidays::*;
pub(super) use left::*;
pub(super) use links::*;
pub(super) use months::*;
pub(super) use offsets::*;
pub(super) use unlike::*;
pub(super) use vague::*;

pub(super) type WordTable<T> = &'static [(&'static str, T)];
pub(super) type WordList = &'static [&'static str];

/// The value of a Chinese numeral; 10 and 100 multiply the number before them.
pub(super) fn numerals(c: char) -> Option<&'static [u32]> {
    Some(match c {
        '零' | '〇' => &[0],
        '一' => &[1],
        '二' | '两' => &[2],
        '三' => &[3],
        '四' => &[4],
        '五' => &[5],
        '六' => &[6],
        '七' => &[7],
        '八' => &[8],
        '九' => &[9],
        '十' => &[10],
        '廿' => &[2, 10],
        '卅' => &[3, 10],
        '百' => &[100],
        _ => return None,
    })
}

/// The numerals of cheques, each before the usual one.
const FORMAL: &str = "壹一贰二貳二叁三參三肆四伍五陆六陸六柒七捌八玖九拾十";
/// A formal numeral counts only before one of these: 陆 is a name, too.
const BEHIND_FORMAL: &str = "点月号日时";

/// Writes formal numerals as usual ones where a unit of dates follows: "下午伍点".
pub(super) fn plain_numerals(chars: &mut [char]) {
    let usual = |c: char| {
        let place = FORMAL.chars().step_by(2).position(|formal| formal == c)?;
        FORMAL.chars().nth(place * 2 + 1)
    };
    for at in (0..chars.len().saturating_sub(1)).rev() {
        let next = chars[at + 1];
        let is_before = BEHIND_FORMAL.contains(next) || numerals(next).is_some();
        if let Some(plain) = usual(chars[at]).filter(|_| is_before) {
            chars[at] = plain;
        }
    }
}

pub(super) fn is_number(c: char) -> bool {
    c.is_ascii_digit() || numerals(c).is_some()
}

/// The traditional characters of this grammar, each before its simplified form.
const TRADITIONAL: &str = "點点鐘钟後后週周禮礼個个農农曆历號号兩两時时從从這这節节國国慶庆聖圣誕诞勞劳動动婦妇兒儿\
    親亲陽阳陰阴臘腊飯饭過过約约雙双單单開开頭头來来無无內内還还結结淩凌間间連连續续醫医會会項项\
    歲岁發发給给買买";

pub(super) fn simplified(c: char) -> char {
    let mut pairs = TRADITIONAL.chars();
    while let (Some(traditional), Some(simplified)) = (pairs.next(), pairs.next()) {
        if traditional == c {
            return simplified;
        }
    }
    c
}

pub(super) const NUMBERS: WordTable<u32> = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
];
pub(super) const TENS: WordTable<u32> =
    &[("twenty", 20), ("thirty", 30), ("forty", 40), ("fifty", 50), ("sixty", 60), ("ninety", 90)];
pub(super) const ARTICLES: WordTable<u32> =
    &[("a", 1), ("an", 1), ("a couple of", 2), ("a couple", 2), ("couple of", 2)];
