//! The forms in which a secret is met: as it is, and as programs and formats write it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::fmt::Write;

/// JSON within JSON within JSON: a reply holds a call, the call's arguments are a text.
const JSON_DEPTH: usize = 3;

/// A shorter piece of base64 would be found by chance.
const BASE64_CHARS_MIN: usize = 10;

/// All forms of a secret.
pub(super) fn of(secret: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([secret.to_owned(), html(secret)]);
    for percent in [percent_upper(secret), percent_upper(secret).replace("%20", "+")] {
        forms.insert(lower_escapes(&percent));
        forms.insert(percent);
    }
    let hex = secret.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    forms.insert(hex.to_uppercase());
    forms.insert(hex);
    for offset in 0..3 {
        forms.extend(base64(secret, offset));
    }
    for written in [json(secret), json(secret).replace('/', "\\/"), json_ascii(secret)] {
        let mut deeper = written;
        for _ in 0..JSON_DEPTH {
            forms.insert(deeper.clone());
            deeper = json(&deeper);
        }
    }
    forms
}

/// A text as JSON writes it, without the quotes.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same where only ASCII is written.
fn json_ascii(text: &str) -> String {
    let mut written = String::new();
    for c in json(text).chars() {
        match c.is_ascii() {
            true => written.push(c),
            false => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(written, "\\u{unit:04x}");
                }
            }
        }
    }
    written
}

fn html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

fn percent_upper(text: &str) -> String {
    let mut written = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => written.push(char::from(byte)),
            false => {
                let _ = write!(written, "%{byte:02X}");
            }
        }
    }
    written
}

/// `%2F` as `%2f`.
fn lower_escapes(percent: &str) -> String {
    let mut pieces = percent.split('%');
    let mut written = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (escape, rest) = piece.split_at(2);
        let _ = write!(written, "%{}{rest}", escape.to_lowercase());
    }
    written
}

/// What base64 makes of the secret when `offset` bytes come before it in a group of three: only
/// the characters that follow from the secret alone.
fn base64(secret: &str, offset: usize) -> Vec<String> {
    let bytes: Vec<u8> = std::iter::repeat_n(0, offset).chain(secret.bytes()).collect();
    let whole = (offset * 8).div_ceil(6)..bytes.len() * 8 / 6;
    let alphabets = [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)];
    let own = alphabets.map(|text| text[whole.clone()].to_owned());
    own.into_iter().filter(|text| text.len() >= BASE64_CHARS_MIN).collect()
}
