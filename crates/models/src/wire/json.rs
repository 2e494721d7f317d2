//! JSON written straight into a body.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::io::Write as _;

/// Writing JSON of our own types into memory cannot fail.
pub(crate) fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).unwrap_or_else(|e| unreachable!("plain data: {e}"));
}

pub(crate) fn push_text(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).unwrap_or_else(|e| unreachable!("memory: {e}"));
}

/// Thousandths as a decimal number without needless zeros.
pub(crate) fn push_temperature(out: &mut Vec<u8>, milli: u32) {
    let (whole, part) = (milli / 1000, milli % 1000);
    push_text(out, format_args!(",\"temperature\":{whole}"));
    if part > 0 {
        let digits = format!("{part:03}");
        push_text(out, format_args!(".{}", digits.trim_end_matches('0')));
    }
}

/// Arguments of an earlier call, as the model wrote them. Those that are not a JSON object are
/// wrapped: servers that parse them would refuse every later request of the run.
pub(crate) fn object_or_wrapped(args: &str) -> Cow<'_, str> {
    if args.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    if serde_json::from_str::<Value>(args).is_ok_and(|value| value.is_object()) {
        return Cow::Borrowed(args);
    }
    Cow::Owned(Value::from_iter([("malformed", args)]).to_string())
}

/// Ids and names of the past may come from another provider, or from a model that made them up.
/// All take letters, digits, `_` and `-`; any other character is spelled by its number.
pub(crate) fn plain_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            plain.push(c);
        } else {
            plain.push_str(&format!("-{:x}-", u32::from(c)));
        }
    }
    if plain.is_empty() { "none".to_owned() } else { plain }
}

/// A list whose elements are separated by commas.
pub(crate) struct JsonList<'a> {
    out: &'a mut Vec<u8>,
    count: usize,
}

impl<'a> JsonList<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, count: 0 }
    }

    pub(crate) fn push(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        if self.count > 0 {
            self.out.push(b',');
        }
        self.count += 1;
        push(self.out);
    }
}
