//! Cursors: where a page ended, for the list that it belongs to and no other.

use crate::problem::{Problem, ProblemCode};
use std::fmt::Write;

/// The cursor of a list.
pub(crate) fn write(list: &str, at: &str) -> String {
    format!("{list}\n{at}").bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// What a cursor of this list says.
///
/// # Errors
/// [`ProblemCode::BadCursor`] for one of another list, or for none at all.
pub(crate) fn read(list: &str, cursor: &str) -> Result<String, Problem> {
    let bad = || ProblemCode::BadCursor.bare();
    if !cursor.len().is_multiple_of(2) || !cursor.is_ascii() {
        return Err(bad());
    }
    let byte = |at: usize| u8::from_str_radix(&cursor[at..at + 2], 16).map_err(|_| bad());
    let bytes: Vec<u8> = (0..cursor.len()).step_by(2).map(byte).collect::<Result<_, _>>()?;
    let text = String::from_utf8(bytes).map_err(|_| bad())?;
    match text.split_once('\n') {
        Some((named, at)) if named == list => Ok(at.to_owned()),
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_says_where_it_was_only_to_its_own_list() {
        let cursor = write("runs", "run_é");
        assert_eq!(read("runs", &cursor).unwrap(), "run_é");
        assert_eq!(read("conversations", &cursor).unwrap_err().code, ProblemCode::BadCursor);
        for bad in ["", "0", "zz", "é", "00"] {
            assert!(read("runs", bad).is_err(), "{bad}");
        }
    }
}
