//! What the model is told of files that were restored since it changed them.

use crate::undo::UndoneFile;
use everloop_store::UndoRow;

/// Files that one note names.
const FILES_NAMED: usize = 20;

/// One undo as the model reads it.
pub(super) fn file_note(undo: &UndoRow) -> String {
    let files: Vec<UndoneFile> = serde_json::from_str(&undo.files).unwrap_or_default();
    let mut named: Vec<String> = files.iter().take(FILES_NAMED).map(one_file).collect();
    if files.len() > FILES_NAMED {
        named.push(format!("and {} more", files.len() - FILES_NAMED));
    }
    let did = match undo.redoes {
        None => "the user undid changes to files; they are as they were before",
        Some(_) => "the user made undone changes to files again",
    };
    format!("{did}: {}", named.join(", "))
}

fn one_file(file: &UndoneFile) -> String {
    let path = everloop_types::one_line(&file.path);
    match (&file.from, &file.to) {
        (_, None) => format!("removed {path}"),
        (None, _) => format!("created {path}"),
        _ => format!("restored {path}"),
    }
}
