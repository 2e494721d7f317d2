//! The change of a file, as a person is shown it before they allow it.

use crate::diff::unified;
use crate::replace::CurrentFile;
use everloop_types::CallPreview;
use std::path::Path;

/// Lines around each change.
const CONTEXT_LINES: usize = 3;

/// Lines of a diff that a person is shown before they allow a change.
const DIFF_LINES_MAX: usize = 80;

/// The change of a file. What is not text, or too large to compare, has none.
pub(crate) fn shown_change(path: &Path, present: &CurrentFile, new: &[u8]) -> CallPreview {
    let old: &[u8] = match present {
        CurrentFile::Content(bytes) => bytes,
        CurrentFile::Nothing => &[],
        CurrentFile::Unreadable => return CallPreview::Call,
    };
    let diff = unified(old, new, CONTEXT_LINES);
    if diff.lines.is_empty() {
        return CallPreview::Call;
    }
    let left = diff.lines.len().saturating_sub(DIFF_LINES_MAX) + diff.more;
    let mut lines = diff.lines;
    lines.truncate(DIFF_LINES_MAX);
    CallPreview::FileChange {
        path: path.display().to_string(),
        is_new: matches!(present, CurrentFile::Nothing),
        diff: lines.join("\n"),
        left_out: left,
        added: diff.added,
        removed: diff.removed,
    }
}
