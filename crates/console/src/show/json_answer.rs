//! The answer inside of a JSON object that is still being written.
//!
//! Loops that speak JSON end with `{"status":"done","response":"the answer"}`. The response is read
//! as it comes, so that a person can read along; the object itself is never shown.

/// The `response` of an object, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct JsonAnswer {
    /// How much of the source was read.
    at: usize,
    state: JsonState,
    text: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum JsonState {
    #[default]
    Before,
    Inside,
    Over,
}

impl JsonAnswer {
    /// Reads what is new in the source. Gives the answer so far.
    pub(super) fn read(&mut self, source: &str) -> &str {
        if source.len() < self.at {
            *self = Self::default();
        }
        if self.state == JsonState::Before
            && let Some(start) = answer_start(source)
        {
            self.at = start;
            self.state = JsonState::Inside;
        }
        while self.state == JsonState::Inside {
            let Some((letter, length)) = next_letter(&source[self.at..]) else { break };
            self.at += length;
            match letter {
                Some(letter) => self.text.push(letter),
                None => self.state = JsonState::Over,
            }
        }
        &self.text
    }
}

/// The answer of a whole object.
pub(super) fn whole_answer(source: &str) -> Option<String> {
    let mut answer = JsonAnswer::default();
    answer.read(source);
    (answer.state == JsonState::Over).then_some(answer.text)
}

/// Where the response of an object that is done begins.
fn answer_start(source: &str) -> Option<usize> {
    let key = "\"response\"";
    let found = source.find(key)?;
    let is_done = source.trim_start().starts_with('{') && source[..found].contains("\"done\"");
    let rest = &source[found + key.len()..];
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    is_done.then(|| source.len() - value.len())
}

/// The next character of a JSON string, none at its end, and how many bytes it takes; nothing if
/// not all of it has come.
fn next_letter(source: &str) -> Option<(Option<char>, usize)> {
    let first = source.chars().next()?;
    if first == '"' {
        return Some((None, 1));
    }
    if first != '\\' {
        return Some((Some(first), first.len_utf8()));
    }
    let escaped = source[1..].chars().next()?;
    let letter = match escaped {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' | 'f' => ' ',
        'u' => return unicode_letter(source),
        other => other,
    };
    Some((Some(letter), 1 + escaped.len_utf8()))
}

/// A character as `\u1234`, or as two of them.
fn unicode_letter(source: &str) -> Option<(Option<char>, usize)> {
    let unit = |from: usize| {
        let digits = source.get(from..from + 4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let high = unit(2)?;
    if !(0xd800..0xdc00).contains(&high) {
        let letter = char::from_u32(u32::from(high)).unwrap_or(char::REPLACEMENT_CHARACTER);
        return Some((Some(letter), 6));
    }
    let low = unit(8)?;
    let letter = char::decode_utf16([high, low]).next()?.unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((Some(letter), 12))
}

#[cfg(test)]
mod tests {
    use super::{JsonAnswer, whole_answer};

    #[test]
    fn an_answer_is_read_as_it_comes() {
        let answer = "Line one\n\"quoted\" \\ 中文 \u{1f389} é";
        let source = serde_json::json!({"status": "done", "response": answer}).to_string();
        // Keys are in alphabetical order there; models write the status first.
        let body = source.split_once("\"response\":").unwrap().1;
        let body = body.split_once(",\"status\"").unwrap().0;
        let escaped = body.replace('\u{1f389}', "\\ud83c\\udf89");
        let source = format!("{{\"status\": \"done\", \"response\": {escaped}}}");
        let mut reader = JsonAnswer::default();
        let mut before = String::new();
        for (end, _) in source.char_indices() {
            let now = reader.read(&source[..end]).to_owned();
            assert!(now.starts_with(&before), "{before:?} {now:?}");
            before = now;
        }
        assert_eq!(reader.read(&source), answer);
        assert_eq!(whole_answer(&source).as_deref(), Some(answer));
    }

    #[test]
    fn a_plan_has_no_answer() {
        let plan = r#"{"status":"planned","plan":["write the \"response\": done"]}"#;
        assert_eq!(JsonAnswer::default().read(plan), "");
        assert_eq!(whole_answer(r#"{"status":"continue","response":"x"}"#), None);
        assert_eq!(whole_answer(r#"{"status":"done","response":null}"#), None);
    }
}
