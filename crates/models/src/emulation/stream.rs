//! A streamed reply in text, for watchers: the answer as text, a call as a call.
//!
//! ```text
//!   {"tool":"answer","arguments":{"text":"It is\n12."}}   ──► Text("It is⏎12.")
//!   {"tool":"read_file","arguments":{"path":"a"}}         ──► CallStarted, CallArgs
//!   <final>It is 12.</final>                              ──► Text("It is 12.")
//! ```
//!
//! What begins otherwise is held back, and shown when it is whole.

use super::ANSWER;
use crate::CallWay;
use everloop_ports::Delta;

/// What has come in, and how far it was shown.
#[derive(Debug)]
pub(crate) struct EmulatedStream {
    way: CallWay,
    text: String,
    /// Bytes of `text` that were processed.
    at: usize,
    state: EmulationState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmulationState {
    /// Nothing is known yet.
    Opening,
    /// Inside of the answer.
    Answer,
    /// Inside of a call's arguments, so many brackets deep, in a string or not.
    Args { depth: usize, quoted: bool },
    /// All that can be shown was shown.
    Over,
}

impl EmulatedStream {
    pub(crate) fn new(way: CallWay) -> Self {
        Self { way, text: String::new(), at: 0, state: EmulationState::Opening }
    }

    /// Whether anything was shown.
    pub(crate) fn has_shown(&self) -> bool {
        self.state != EmulationState::Opening
    }

    pub(crate) fn push(&mut self, piece: &str, on_delta: &mut dyn FnMut(Delta<'_>)) {
        self.text.push_str(piece);
        if self.state == EmulationState::Opening {
            self.open(on_delta);
        }
        match self.state {
            EmulationState::Answer if self.way == CallWay::Tagged => self.tagged(on_delta),
            EmulationState::Answer => self.answer(on_delta),
            EmulationState::Args { depth, quoted } => self.args(depth, quoted, on_delta),
            EmulationState::Opening | EmulationState::Over => {}
        }
    }

    fn open(&mut self, on_delta: &mut dyn FnMut(Delta<'_>)) {
        let text = self.text.trim_start();
        let skipped = self.text.len() - text.len();
        if self.way == CallWay::Tagged {
            if let Some(rest) = text.strip_prefix("<final>") {
                self.at = self.text.len() - rest.len();
                self.state = EmulationState::Answer;
            }
            return;
        }
        let mut cursor = Cursor { text, at: 0 };
        let Some(tool) = cursor.opening() else { return };
        if tool == ANSWER {
            if cursor.take_all(&["{", "\"text\"", ":", "\""]).is_none() {
                return;
            }
            self.state = EmulationState::Answer;
        } else {
            on_delta(Delta::CallStarted { index: 0, tool: &tool });
            self.state = EmulationState::Args { depth: 0, quoted: false };
        }
        self.at = skipped + cursor.at;
    }

    /// More of a JSON string, without its escapes.
    fn answer(&mut self, on_delta: &mut dyn FnMut(Delta<'_>)) {
        let rest = &self.text[self.at..];
        let (mut end, mut closed) = (0, false);
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    closed = true;
                    end = at;
                    break;
                }
                '\\' => {
                    // An escape is shown whole, and a pair of surrogates together.
                    let long = rest[at..].starts_with("\\ud") || rest[at..].starts_with("\\uD");
                    let length = match rest.as_bytes().get(at + 1) {
                        Some(b'u') if long => 12,
                        Some(b'u') => 6,
                        Some(_) => 2,
                        None => rest.len() + 1,
                    };
                    if at + length > rest.len() || !rest.is_char_boundary(at + length) {
                        break;
                    }
                    end = at + length;
                    while chars.clone().next().is_some_and(|(next, _)| next < end) {
                        chars.next();
                    }
                }
                c => end = at + c.len_utf8(),
            }
        }
        let piece = &rest[..end];
        if let Ok(shown) = serde_json::from_str::<String>(&format!("\"{}\"", raw(piece)))
            && !shown.is_empty()
        {
            on_delta(Delta::Text(&shown));
        }
        self.at += end;
        if closed {
            self.state = EmulationState::Over;
        }
    }

    /// More of the text in `<final>`; what may begin its end tag is held back.
    fn tagged(&mut self, on_delta: &mut dyn FnMut(Delta<'_>)) {
        let rest = &self.text[self.at..];
        let (end, over) = match rest.find("</final>") {
            Some(end) => (end, true),
            None => {
                let held = rest.rfind('<').filter(|at| "</final>".starts_with(&rest[*at..]));
                (held.unwrap_or(rest.len()), false)
            }
        };
        if end > 0 {
            on_delta(Delta::Text(&rest[..end]));
        }
        self.at += end;
        if over {
            self.state = EmulationState::Over;
        }
    }

    /// More of a call's arguments, up to the bracket that closes them.
    fn args(&mut self, mut depth: usize, mut quoted: bool, on_delta: &mut dyn FnMut(Delta<'_>)) {
        let rest = &self.text[self.at..];
        let (mut end, mut escaped, mut over) = (0, false, false);
        for (at, c) in rest.char_indices() {
            // What follows a backslash may still be on its way.
            if c == '\\' && quoted && !escaped {
                escaped = true;
                continue;
            }
            match c {
                '"' if !escaped => quoted = !quoted,
                '{' | '[' if !quoted => depth += 1,
                '}' | ']' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            escaped = false;
            end = at + c.len_utf8();
            if depth == 0 && !quoted && !c.is_whitespace() {
                over = true;
                break;
            }
        }
        if end > 0 {
            on_delta(Delta::CallArgs { index: 0, args: &rest[..end] });
        }
        self.at += end;
        self.state =
            if over { EmulationState::Over } else { EmulationState::Args { depth, quoted } };
    }
}

/// Raw line ends, which strict readers refuse in strings.
fn raw(piece: &str) -> String {
    piece.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

/// Reads the beginning of a JSON object token by token.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    /// `{"tool":"name","arguments":`, and the name in it; nothing if it is not all there.
    fn opening(&mut self) -> Option<String> {
        self.take_all(&["{", "\"tool\"", ":"])?;
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let name = values.next()?.ok()?;
        self.at = start + values.byte_offset();
        self.take_all(&[",", "\"arguments\"", ":"])?;
        Some(name)
    }

    fn take_all(&mut self, tokens: &[&str]) -> Option<()> {
        for token in tokens {
            let rest = self.text[self.at..].trim_start();
            let after = rest.strip_prefix(token)?;
            self.at = self.text.len() - after.len();
        }
        Some(())
    }
}
