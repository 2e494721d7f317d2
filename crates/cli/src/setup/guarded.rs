//! A line that is shown while it is typed, unless it becomes a key: a key that is pasted at the
//! wrong question must not stay on the screen.

use super::hidden::{HiddenInput, HiddenKey, RawMode, taken};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, KeyEventKind, read};
use crossterm::terminal::enable_raw_mode;
use everloop_app::settings::redact::looks_like_a_key;
use std::io::Write;

/// How keys of the great providers begin: from here on nothing is shown.
const BEGINNINGS: [&str; 6] = ["sk-", "AIza", "gsk_", "xai-", "hf_", "AKIA"];

/// Asks and reads one line on a thread of its own.
pub(crate) async fn ask(prompt: String) -> HiddenInput {
    let typed = tokio::task::spawn_blocking(move || ask_here(&prompt)).await;
    typed.unwrap_or(HiddenInput::GivenUp)
}

fn ask_here(prompt: &str) -> HiddenInput {
    if enable_raw_mode().is_err() {
        return HiddenInput::GivenUp;
    }
    let _raw = RawMode;
    let _ = crossterm::execute!(std::io::stderr(), EnableBracketedPaste);
    let mut line = TypedLine { prompt, text: String::new() };
    line.draw();
    let came = loop {
        match read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => match taken(&key) {
                HiddenKey::Char(c) => line.add(&c.to_string()),
                HiddenKey::Back => {
                    line.text.pop();
                    line.draw();
                }
                HiddenKey::End => break HiddenInput::Line(line.text.trim().to_owned()),
                HiddenKey::GiveUp => break HiddenInput::GivenUp,
                HiddenKey::Nothing => {}
            },
            Ok(Event::Paste(text)) => line.add(text.lines().next().unwrap_or_default()),
            Ok(_) => {}
            Err(_) => break HiddenInput::GivenUp,
        }
    };
    let _ = crossterm::execute!(std::io::stderr(), DisableBracketedPaste);
    came
}

struct TypedLine<'a> {
    prompt: &'a str,
    text: String,
}

impl TypedLine<'_> {
    fn add(&mut self, text: &str) {
        let was_shown = !is_secret(&self.text);
        self.text.push_str(text);
        match is_secret(&self.text) {
            // What stands there already is taken back.
            true if was_shown => self.draw(),
            true => {}
            false => show(&everloop_tools::clean(text.as_bytes())),
        }
    }

    fn draw(&self) {
        let text = if is_secret(&self.text) { "" } else { &self.text };
        show(&format!("\r\x1b[K{}{}", self.prompt, everloop_tools::clean(text.as_bytes())));
    }
}

fn show(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn is_secret(text: &str) -> bool {
    let text = text.trim_start();
    looks_like_a_key(text) || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn a_key_is_known_before_it_is_whole_and_an_answer_is_not_taken_for_one() {
        for key in ["sk-", "sk-ant-api03-x", "AIzaSyA", " sk-proj-1"] {
            assert!(is_secret(key), "{key}");
        }
        for answer in ["", "1", "15", "openai", "通义千问", "http://127.0.0.1:8080/v1", "gpt-5"]
        {
            assert!(!is_secret(answer), "{answer}");
        }
    }
}
