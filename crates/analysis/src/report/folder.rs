//! The folder of a report: whether one may be written there, and what an earlier one left.

use crate::error::AnalysisError;
use crate::load::hash_of;
use crate::manifest::{DataManifest, MANIFEST_NAME};
use crate::source::ReadLimits;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path};

/// Whether a report may be written into a folder: it is not there, is empty, or holds an earlier
/// report. Hidden files are in nobody's way.
///
/// # Errors
/// If something else is there, or the folder cannot be read.
pub fn check_report_folder(folder: &Path) -> Result<(), AnalysisError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(AnalysisError::write(folder)(error)),
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    // The manifest is the first file that is written: a report that was cut short has it.
    let is_empty =
        names.all(|name| name.as_encoded_bytes().starts_with(b".") || name == "data_manifest.part");
    match is_empty || is_ours(folder) {
        true => Ok(()),
        false => Err(AnalysisError::FolderTaken { path: folder.to_owned() }),
    }
}

fn is_ours(folder: &Path) -> bool {
    let told = std::fs::read_to_string(folder.join(MANIFEST_NAME)).unwrap_or_default();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap_or_default();
    told["format"].is_u64() && told["tables"].is_array()
}

/// Removes the files of an earlier report that the new one does not have. What somebody changed
/// since then is theirs and stays.
pub(super) fn remove_stale(folder: &Path, files: &BTreeMap<String, String>) {
    let (Ok(earlier), Ok(root)) = (DataManifest::read(folder), folder.canonicalize()) else {
        return;
    };
    for (name, hash) in earlier.files.iter().filter(|(name, _)| !files.contains_key(*name)) {
        let is_inside =
            Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        // A folder in between may have become a link that leads away.
        let real = folder.join(name).canonicalize().ok().filter(|real| real.starts_with(&root));
        let Some(real) = real.filter(|_| is_inside) else { continue };
        if hash_of(&real, &ReadLimits::default()).is_ok_and(|found| found == *hash) {
            // A file that cannot be removed is no reason to have no report.
            let _ = std::fs::remove_file(real);
        }
    }
}
