//! A command line in words. Input methods produce wide slashes, spaces and quotes; all are
//! accepted.

pub(super) mod typed;

use super::AgendaVerb;

/// The line with a plain slash and plain spaces at its beginning. An input method writes `／` or
/// `、` where the slash is pressed, wide letters, and a full stop after a command.
#[must_use]
pub fn normal(line: &str) -> String {
    normal_with(line, |name| AgendaVerb::find(name).is_some())
}

/// The same with other commands than the agenda's: `is_known` says whether a name is one.
#[must_use]
pub fn normal_with(line: &str, is_known: impl Fn(&str) -> bool) -> String {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{3000}');
    let Some(first) = line.chars().next().filter(|c| "/\u{ff0f}\u{3001}".contains(*c)) else {
        return line.to_owned();
    };
    let rest = &line[first.len_utf8()..];
    let name = &rest[..rest.find(is_space).unwrap_or(rest.len())];
    let bare = everloop_text::bare(name);
    if is_known(&bare) {
        return format!("/{bare}{}", &rest[name.len()..]);
    }
    // A sentence may begin with this character.
    if first == '\u{3001}' {
        return line.to_owned();
    }
    format!("/{rest}")
}

/// A word with plain digits and letters for their full-width forms.
pub(super) fn plain(word: &str) -> String {
    let plain = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    };
    word.trim().chars().map(plain).collect()
}

/// The name of an option, if a word is one. Input methods turn two hyphens into other dashes.
fn option_name(word: &str) -> Option<String> {
    let dashes = ["--", "——", "－－", "—", "––", "─ ─"];
    let rest = dashes.iter().find_map(|dash| word.strip_prefix(dash))?;
    let rest = known(rest);
    let starts = rest.chars().next().is_some_and(char::is_alphabetic);
    (starts || rest.is_empty() && word == "--").then_some(rest)
}

/// The options of todos and entries.
const OPTIONS: [&str; 22] = [
    "tag",
    "priority",
    "due",
    "remind",
    "duration",
    "interval",
    "times",
    "repeat",
    "remind-start",
    "allow-conflict",
    "catch-up",
    "open",
    "view",
    "run",
    "cron",
    "loop",
    "persona",
    "workspace",
    "conversation",
    "overlap",
    "pause-after",
    "zone",
];

/// The options of a todo that its text may be mistaken for.
const TODO_OPTIONS: [&str; 4] = ["tag", "priority", "due", "remind"];

/// The option of a todo that is written inside of a text.
pub(super) fn option_within(text: &str) -> Option<String> {
    let names = text.split(is_space).filter_map(option_name);
    let name = |name: String| name.split('=').next().unwrap_or_default().to_owned();
    names.map(name).find(|name| TODO_OPTIONS.contains(&name.as_str()))
}

/// The Chinese names of options and their values.
const NAMES: &[(&str, &str)] = &[
    ("标签", "tag"),
    ("优先级", "priority"),
    ("截止", "due"),
    ("提醒", "remind"),
    ("时长", "duration"),
    ("间隔", "interval"),
    ("次数", "times"),
    ("重复", "repeat"),
    ("运行", "run"),
    ("循环", "loop"),
    ("人设", "persona"),
    ("工作区", "workspace"),
    ("时区", "zone"),
    ("允许冲突", "allow-conflict"),
    ("force", "allow-conflict"),
    ("全部", "all"),
    ("所有", "all"),
    ("今天", "today"),
    ("今日", "today"),
    ("过期", "overdue"),
    ("逾期", "overdue"),
    ("即将到期", "upcoming"),
    ("以后", "upcoming"),
    ("收件箱", "inbox"),
    ("未分类", "inbox"),
    ("高", "high"),
    ("急", "high"),
    ("紧急", "high"),
    ("中", "medium"),
    ("普通", "medium"),
    ("低", "low"),
    ("无", "none"),
    ("没有", "none"),
    ("不", "none"),
    ("取消", "none"),
    ("不提醒", "none"),
    ("不用提醒", "none"),
    ("never", "none"),
    ("no", "none"),
    ("开", "on"),
    ("开启", "on"),
    ("打开", "on"),
    ("关", "off"),
    ("关闭", "off"),
    ("停", "off"),
    ("日", "day"),
    ("天", "day"),
    ("周", "week"),
    ("本周", "week"),
    ("这周", "week"),
    ("月", "month"),
    ("本月", "month"),
    ("这个月", "month"),
];

/// The canonical name or value: plain, lower case, in English.
pub(super) fn known(word: &str) -> String {
    let word = plain(word).to_lowercase();
    let found = NAMES.iter().find(|(said, _)| *said == word);
    found.map_or(word, |(_, name)| (*name).to_owned())
}

/// The words of a line, taken one after the other.
#[derive(Debug, Clone, Default)]
pub struct CommandWords {
    words: std::collections::VecDeque<CommandWord>,
}

#[derive(Debug, Clone)]
struct CommandWord {
    text: String,
    /// With its quotes.
    written: String,
    quoted: bool,
    /// Whether a space is before it.
    apart: bool,
}

impl CommandWords {
    /// Splits a line at its spaces; quoted text stays together.
    #[must_use]
    pub fn of(line: &str) -> Self {
        let mut words = Self::default();
        let mut rest = line;
        let last = ['"', '\u{201d}', '\u{ff02}'].map(|end| (end, line.rfind(end)));
        loop {
            let before = rest.len();
            rest = rest.trim_start_matches(is_space);
            let apart = words.words.is_empty() || rest.len() < before;
            let Some(c) = rest.chars().next() else { break };
            let inner = &rest[c.len_utf8()..];
            // A quote that is never closed is an apostrophe or an inch: part of the word.
            let here = line.len() - inner.len();
            let is_closed = |end: &char| last.iter().any(|(c, at)| c == end && *at >= Some(here));
            let end = closing(c).filter(is_closed);
            let split = match c {
                '\'' if apart => single_quoted(inner),
                _ => end.and_then(|end| inner.split_once(end)),
            };
            let (text, written, quoted) = match split {
                Some((text, after)) => (text, &rest[..rest.len() - after.len()], true),
                None => {
                    let word = &rest[..rest.find(is_space).unwrap_or(rest.len())];
                    (word, word, false)
                }
            };
            // `--due=周五` is an option and its value.
            let pair = text.split_once('=').filter(|(name, value)| {
                !quoted
                    && option_name(name).is_some()
                    && value.chars().next().is_some_and(|c| closing(c).is_none())
            });
            match pair {
                Some((name, value)) => {
                    words.push(name, name, false, apart);
                    words.push(value, value, false, true);
                }
                None => words.push(text, written, quoted, apart),
            }
            rest = &rest[written.len()..];
        }
        words
    }

    /// Adds an option.
    #[must_use]
    pub fn option(mut self, name: &str) -> Self {
        let option = format!("--{name}");
        self.push(&option, &option, false, true);
        self
    }

    /// Adds a word of a text or a value, which is not an option even if it looks like one.
    #[must_use]
    pub fn text(mut self, word: &str) -> Self {
        self.push(word, word, true, true);
        self
    }

    /// Line breaks become spaces: saved texts have one line.
    fn push(&mut self, text: &str, written: &str, quoted: bool, apart: bool) {
        let [text, written] = [text, written].map(|it| it.replace(['\n', '\r', '\t'], " "));
        self.words.push_back(CommandWord { text, written, quoted, apart });
    }

    /// The next word.
    #[expect(clippy::should_implement_trait, reason = "it takes one word and does not iterate")]
    pub fn next(&mut self) -> Option<String> {
        self.words.pop_front().map(|word| word.text)
    }

    /// Adds the next word to a text, as it was written: quotes within a text belong to it.
    pub fn next_into(&mut self, text: &mut String) {
        let Some(word) = self.words.pop_front() else { return };
        if word.apart && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.written);
    }

    /// The words before the next option as written, without quotes around the first one.
    #[must_use]
    pub fn written(&self) -> String {
        let mut rest = self.clone();
        let count = rest.until_option();
        let mut text = if count > 0 { rest.next().unwrap_or_default() } else { String::new() };
        (1..count).for_each(|_| rest.next_into(&mut text));
        text
    }

    /// The next word, if it is the name of an option, without its dashes. Two dashes alone end the
    /// options: the rest is text.
    pub fn next_option(&mut self) -> Option<String> {
        let name = option_name(&self.words.front().filter(|word| !word.quoted)?.text)?;
        self.words.pop_front();
        if name.is_empty() {
            self.words.iter_mut().for_each(|word| word.quoted = true);
            return None;
        }
        Some(name)
    }

    /// The first option that was written with one dash, which would look like a word of the text.
    #[must_use]
    pub fn one_dash(&self) -> Option<String> {
        let plain =
            self.words.iter().filter(|word| !word.quoted && option_name(&word.text).is_none());
        let names =
            plain.filter_map(|word| word.text.strip_prefix(['-', '\u{ff0d}', '–']).map(known));
        names.into_iter().find(|name| OPTIONS.contains(&name.split('=').next().unwrap_or_default()))
    }

    /// Whether the next word is quoted.
    #[must_use]
    pub fn is_quoted(&self) -> bool {
        self.words.front().is_some_and(|word| word.quoted)
    }

    /// How many words follow before the next option.
    #[must_use]
    pub fn until_option(&self) -> usize {
        let is_option = |word: &CommandWord| !word.quoted && option_name(&word.text).is_some();
        self.words.iter().position(is_option).unwrap_or(self.words.len())
    }

    /// Whether one of the words is an option.
    #[must_use]
    pub fn has_option(&self) -> bool {
        self.until_option() < self.words.len()
    }

    /// The next `count` words, joined.
    #[must_use]
    pub fn peek(&self, count: usize) -> String {
        let words: Vec<&str> = self.words.iter().take(count).map(|w| w.text.as_str()).collect();
        words.join(" ")
    }

    /// Skips the next `count` words.
    pub fn skip(&mut self, count: usize) {
        self.words.drain(..count.min(self.words.len()));
    }

    /// The remaining words, joined.
    #[must_use]
    pub fn rest(self) -> String {
        self.peek(self.words.len())
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{3000}'
}

/// The text up to a single quote at the end of a word, and what follows. Any other one is an
/// apostrophe.
fn single_quoted(inner: &str) -> Option<(&str, &str)> {
    let ends = inner.match_indices('\'').map(|(at, _)| (&inner[..at], &inner[at + 1..]));
    let mut ends = ends.filter(|(text, _)| !text.is_empty());
    ends.find(|(_, after)| after.chars().next().is_none_or(is_space))
}

fn closing(c: char) -> Option<char> {
    match c {
        '"' => Some('"'),
        '\u{201c}' => Some('\u{201d}'),
        '\u{ff02}' => Some('\u{ff02}'),
        _ => None,
    }
}

/// The text without quotes around all of it.
pub(super) fn unquoted(text: &str) -> &str {
    let mut chars = text.chars();
    let (first, last) = (chars.next(), chars.next_back());
    match first.and_then(closing) {
        Some(end) if last == Some(end) && !chars.as_str().contains(end) => chars.as_str(),
        _ => text,
    }
}

/// A value, quoted so that it is parsed as one word.
pub(super) fn quoted(value: &str) -> String {
    if value.chars().any(is_space) { format!("\"{value}\"") } else { value.to_owned() }
}
