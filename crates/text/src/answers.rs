//! What a person's short answer means, in either language.
//!
//! ```text
//!   answer ──plain──► words that count, one after the other ──► what is left over
//!                        all mean yes ──────────────────────────► yes
//!                        a no, then anything ───────────────────► no, and why
//!                        a yes, then "but", "only", "先" … ─────► no, and why
//!                        anything else ─────────────────────────► unclear: to be asked again
//! ```
//!
//! A yes with a condition allows something other than what was asked, so it counts as a no.
//! An ambiguous answer is unclear. The caller then lists the accepted words and asks again, so that
//! nothing is allowed or denied by accident. Deliberately absent: what a question is about.

mod words;

use words::{
    AGAIN, ALWAYS, CONDITIONS, CORRECTS, DID_NOT, EDIT, FILLER, GLUED, HAPPENED, HELP, LATER, LEAD,
    LEAVE, LOOK, NO, PLEASE, STOP, TURNED, YES,
};

/// The meaning of an answer to a yes-or-no question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Yes, this once.
    Yes,
    /// Yes, and the same whenever it comes again.
    Always,
    /// No.
    No {
        /// Why, or what is wanted instead.
        reason: Option<String>,
    },
    /// What was proposed is to be changed first.
    Edit,
    /// Not recognized, or two things at once.
    Unclear,
}

/// What a person reports about a call whose outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeReport {
    /// It happened.
    Happened,
    /// It did not.
    DidNot,
    /// The tool should check itself.
    Look,
}

/// A command to the program itself, given as a single word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BareCommand {
    /// The person leaves.
    Leave,
    /// The person wants help.
    Help,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerWord {
    Yes,
    Always,
    Again,
    No,
    Edit,
    Filler,
}

/// A recognized word, and where it ends.
#[derive(Debug, Clone, Copy)]
struct WordMatch {
    kind: AnswerWord,
    word: &'static str,
    end: usize,
}

/// What is between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordGap {
    None,
    Space,
    Mark,
}

/// What an answer means.
#[must_use]
pub fn meaning(answer: &str) -> Meaning {
    let said: Vec<char> = answer.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let plain: Vec<char> = said.iter().copied().map(plain_char).collect();
    let mut found: Vec<WordMatch> = Vec::new();
    let mut at = 0;
    let rest = loop {
        let (_, from) = gap(&plain, at);
        if from == plain.len() {
            break from;
        }
        match word_at(&plain, from) {
            // "不过" is not "不".
            Some(word) if condition_at(&plain, from) <= Some(word.end) => {
                at = word.end;
                found.push(word);
            }
            _ => break from,
        }
    };
    let counts = |kind: AnswerWord| found.iter().any(|word| word.kind == kind);
    let first = found.iter().find(|word| word.kind != AnswerWord::Filler);
    let is_whole = rest == plain.len();
    match first.map(|word| word.kind) {
        Some(AnswerWord::No) => denial(&said, &plain, &found, rest),
        Some(AnswerWord::Yes | AnswerWord::Always | AnswerWord::Again) if is_whole => match () {
            () if counts(AnswerWord::No) || counts(AnswerWord::Edit) => Meaning::Unclear,
            () if counts(AnswerWord::Always) => Meaning::Always,
            () if counts(AnswerWord::Again) && counts(AnswerWord::Yes) => Meaning::Always,
            () if counts(AnswerWord::Again) => Meaning::Unclear,
            () => Meaning::Yes,
        },
        Some(AnswerWord::Yes | AnswerWord::Always)
            if !counts(AnswerWord::No) && is_conditional(&plain[rest..]) =>
        {
            Meaning::No { reason: Some(said.iter().collect()) }
        }
        Some(AnswerWord::Edit) if is_whole && found.iter().all(|word| is_edit(word.kind)) => {
            Meaning::Edit
        }
        None if is_whole && found.iter().any(|word| has(PLEASE, word.word)) => Meaning::Yes,
        _ => Meaning::Unclear,
    }
}

/// Whether an answer to a yes-or-no question means yes. Anything else does not.
#[must_use]
pub fn means_yes(answer: &str) -> bool {
    meaning(answer) == Meaning::Yes
}

/// What an answer reports about a call whose outcome is unknown, if anything.
#[must_use]
pub fn reported_outcome(answer: &str) -> Option<OutcomeReport> {
    let bare = bare(answer);
    let is = |words: &str| has(words, &bare);
    match () {
        () if is(HAPPENED) => Some(OutcomeReport::Happened),
        () if is(DID_NOT) => Some(OutcomeReport::DidNot),
        () if is(LOOK) => Some(OutcomeReport::Look),
        () if is(STOP) => None,
        () => match meaning(answer) {
            Meaning::Yes => Some(OutcomeReport::Happened),
            Meaning::No { reason: None } if is("n|no|nope|nah|不|不是|否") => {
                Some(OutcomeReport::DidNot)
            }
            _ => None,
        },
    }
}

/// Whether a line asks to stop what is going on, and says nothing else.
#[must_use]
pub fn is_stop(line: &str) -> bool {
    has(STOP, &bare(line))
}

/// Whether a line puts a question off, and says nothing else.
#[must_use]
pub fn is_later(line: &str) -> bool {
    has(LATER, &bare(line))
}

/// What a correction ("改成四点", "make it Friday") says instead: the line without its beginning.
#[must_use]
pub fn corrected(line: &str) -> String {
    let said: Vec<char> = bare(line).chars().collect();
    let ends = CORRECTS.split('|').filter_map(|word| matches(&said, 0, word));
    let from = ends.max().unwrap_or(0);
    said[from..].iter().collect::<String>().trim().to_owned()
}

/// The command to the program itself, if the line is such a word.
#[must_use]
pub fn bare_word(line: &str) -> Option<BareCommand> {
    // A question mark alone is all punctuation.
    let whole: String = line.trim().chars().map(plain_char).collect();
    let bare = bare(line);
    let is = |words: &str| has(words, &bare) || has(words, &whole);
    match () {
        () if is(LEAVE) => Some(BareCommand::Leave),
        () if is(HELP) => Some(BareCommand::Help),
        () => None,
    }
}

/// A line in half width and lower case, without leading and trailing punctuation.
#[must_use]
pub fn bare(line: &str) -> String {
    let plain: String = line.chars().map(plain_char).collect();
    let plain = plain.trim_matches(|c: char| is_gap(c) || c == '?');
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A no, and what follows it.
fn denial(said: &[char], plain: &[char], found: &[WordMatch], rest: usize) -> Meaning {
    let all_no = found.iter().all(|word| matches!(word.kind, AnswerWord::No | AnswerWord::Filler));
    if rest == plain.len() {
        return if all_no { Meaning::No { reason: None } } else { Meaning::Unclear };
    }
    let noes =
        found.iter().take_while(|word| matches!(word.kind, AnswerWord::No | AnswerWord::Filler));
    let Some(last) = noes.filter(|word| word.kind == AnswerWord::No).last() else {
        return Meaning::Unclear;
    };
    let (gap, behind) = gap(plain, last.end);
    let because = |from: usize| {
        let text: String = said[from..].iter().collect();
        Meaning::No { reason: Some(text.trim().to_owned()) }
    };
    let is_turned = TURNED.split('|').any(|word| matches(plain, behind, word).is_some());
    match gap {
        WordGap::Mark => because(behind),
        WordGap::Space if has(LEAD, last.word) && !is_turned => because(behind),
        WordGap::None if has(GLUED, last.word) && !is_turned => because(0),
        _ => Meaning::Unclear,
    }
}

fn is_edit(kind: AnswerWord) -> bool {
    matches!(kind, AnswerWord::Edit | AnswerWord::Filler)
}

/// Whether the text after a yes withdraws or narrows it.
fn is_conditional(rest: &[char]) -> bool {
    (0..rest.len()).any(|from| {
        let at_border = from == 0 || !rest[from - 1].is_ascii_alphanumeric();
        at_border && condition_at(rest, from).is_some()
    })
}

/// The end of the longest condition at a position.
fn condition_at(plain: &[char], from: usize) -> Option<usize> {
    CONDITIONS.split('|').filter_map(|word| matches(plain, from, word)).max()
}

/// The longest recognized word at a position.
fn word_at(plain: &[char], from: usize) -> Option<WordMatch> {
    let lists = [
        (AnswerWord::Yes, YES),
        (AnswerWord::Always, ALWAYS),
        (AnswerWord::Again, AGAIN),
        (AnswerWord::No, NO),
        (AnswerWord::Edit, EDIT),
        (AnswerWord::Filler, FILLER),
    ];
    let all = lists.iter().flat_map(|(kind, list)| list.split('|').map(|word| (*kind, word)));
    let fits = all.filter_map(|(kind, word)| {
        matches(plain, from, word).map(|end| WordMatch { kind, word, end })
    });
    fits.max_by_key(|found| found.end)
}

/// Whether a list has a word.
fn has(list: &str, word: &str) -> bool {
    list.split('|').any(|known| known == word)
}

/// The end of a word at a position. Latin words end at a word boundary.
fn matches(plain: &[char], from: usize, word: &str) -> Option<usize> {
    let end = from + word.chars().count();
    let here = plain.get(from..end)?;
    if !word.chars().eq(here.iter().copied()) {
        return None;
    }
    let is_latin = |c: &char| c.is_ascii_alphanumeric() || *c == '\'';
    let goes_on = plain.get(end).is_some_and(is_latin);
    let is_cut = here.last().is_some_and(is_latin) && goes_on;
    (!is_cut).then_some(end)
}

/// The gap at a position, and where the next word begins.
fn gap(plain: &[char], at: usize) -> (WordGap, usize) {
    let from = (at..plain.len()).find(|place| !is_gap(plain[*place])).unwrap_or(plain.len());
    let between = &plain[at..from];
    let gap = match () {
        () if between.iter().any(|c| !c.is_whitespace()) => WordGap::Mark,
        () if between.is_empty() => WordGap::None,
        () => WordGap::Space,
    };
    (gap, from)
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || ".,;:!~-。、…—·“”\"()《》「」".contains(c)
}

/// A character as the lists write it.
fn plain_char(c: char) -> char {
    let half = match c {
        '\u{3000}' => ' ',
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    match half {
        '對' => '对',
        '沒' => '没',
        '問' => '问',
        '題' => '题',
        '確' => '确',
        '認' => '认',
        '許' => '许',
        '總' => '总',
        '別' => '别',
        '這' => '这',
        '當' => '当',
        '絕' => '绝',
        '執' => '执',
        '後' => '后',
        '開' => '开',
        '繼' => '继',
        '續' => '续',
        '遠' => '远',
        '發' => '发',
        '過' => '过',
        '準' => '准',
        '個' => '个',
        '務' => '务',
        '離' => '离',
        '幫' => '帮',
        _ => half.to_ascii_lowercase(),
    }
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
