//! JSON written straight into a body.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::io::Write as _;

/// Writing JSON of our own types into memory has no way to fail.
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

/// Arguments of the past, as the model wrote them. Those that are no JSON object are wrapped:
/// servers that read the arguments of the past would refuse every later request of the run.
pub(crate) fn object_or_wrapped(args: &str) -> Cow<'_, str> {
    if args.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    if serde_json::from_str::<Value>(args).is_ok_and(|value| value.is_object()) {
        return Cow::Borrowed(args);
    }
    Cow::Owned(Value::from_iter([("malformed", args)]).to_string())
}
