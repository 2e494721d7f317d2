//! What a file is, by its first bytes: its name may be wrong.

use super::encoding::{self, TextEncoding};
use super::unpack::{self, Unpacked};
use super::{AnalysisError, ReadLimits};
use serde::{Deserialize, Serialize};
use std::io::Read;

/// Bytes that are looked at.
pub(crate) const SAMPLE_BYTES: usize = 1 << 20;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileForm {
    /// Text with a separator: CSV, TSV and the like.
    Delimited,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    JsonLines,
    /// A workbook.
    Excel,
    /// Parquet.
    Parquet,
}

/// The beginning of a file, unpacked.
pub(crate) fn sample(part: &Unpacked, limits: &ReadLimits) -> Result<Vec<u8>, AnalysisError> {
    let reader = unpack::open(&part.file, &part.shown, part.packing, limits)?;
    let mut bytes = Vec::new();
    let read = reader.take(SAMPLE_BYTES as u64).read_to_end(&mut bytes);
    read.map_err(|error| unpack::read_error(&part.shown, limits, error))?;
    Ok(bytes)
}

/// What a file is.
pub(crate) fn form_of(part: &Unpacked, limits: &ReadLimits) -> Result<FileForm, AnalysisError> {
    let bytes = sample(part, limits)?;
    let no_table =
        |why: &str| AnalysisError::NoTable { path: part.shown.clone(), why: why.to_owned() };
    match bytes.as_slice() {
        [] => return Err(no_table("it is empty")),
        [b'P', b'A', b'R', b'1', ..] => return Ok(FileForm::Parquet),
        [b'P', b'K', 3, 4, ..] | [0xd0, 0xcf, 0x11, 0xe0, ..] => return Ok(FileForm::Excel),
        [0x1f, 0x8b, ..] => return Err(no_table("it is packed twice: unpack it once")),
        bytes if bytes.get(257..262) == Some(b"ustar") => {
            let why = "it is a tar archive: unpack it with `tar xf` and name the files in it";
            return Err(no_table(why));
        }
        _ => {}
    }
    let encoding = TextEncoding::detect(&bytes);
    let text = encoding::decode_all(encoding, &bytes);
    let odd = text.chars().filter(|c| c.is_control() && !"\t\r\n\0\u{1}".contains(*c)).count();
    let bad = text.chars().filter(|c| *c == '\u{fffd}').count();
    let count = text.chars().count().max(1);
    if (odd + bad) * 10 > count {
        return Err(no_table("it is no text: neither a table nor a workbook that is known here"));
    }
    if text.trim().is_empty() {
        return Err(no_table("it is empty"));
    }
    Ok(json_form(text.trim_start()).unwrap_or(FileForm::Delimited))
}

/// JSON, if it begins as JSON does and not as a table could.
fn json_form(text: &str) -> Option<FileForm> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let next = chars.find(|c| !c.is_whitespace())?;
    let begins = match first {
        '[' => "[{\"]-tfn".contains(next) || next.is_ascii_digit(),
        '{' => next == '"' || next == '}',
        _ => false,
    };
    if !begins {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    match (first, values.next()) {
        // The sample may have cut it.
        (_, None) => None,
        (_, Some(Err(error))) if error.is_eof() => Some(FileForm::Json),
        // Nothing but a list of objects begins so, even if one of them is broken.
        ('[', Some(Err(_))) => {
            let is_object = next == '{' && chars.find(|c| !c.is_whitespace()) == Some('"');
            is_object.then_some(FileForm::Json)
        }
        (_, Some(Err(_))) => Some(FileForm::JsonLines),
        (_, Some(Ok(_))) => {
            let rest = text[values.byte_offset()..].trim_start();
            Some(if rest.is_empty() { FileForm::Json } else { FileForm::JsonLines })
        }
    }
}
