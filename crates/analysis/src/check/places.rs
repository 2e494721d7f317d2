//! Where the data of a report is now: reports are moved and shared, and so is their data.

use crate::error::AnalysisError;
use crate::load::{LoadedTable, hash_of, make_private};
use crate::source::ReadLimits;
use std::path::{Path, PathBuf};

/// Files of a folder that are looked at for one under another name.
const FILES_MAX: usize = 1_000;

/// Looks for data files.
pub(super) struct DataFinder<'a> {
    /// The folder of the report.
    pub(super) report: &'a Path,
    /// The folder that a person named.
    pub(super) chosen: Option<&'a Path>,
    pub(super) limits: &'a ReadLimits,
}

/// A data file, and whether it is the one that the report was made of.
pub(super) struct FoundData {
    pub(super) path: PathBuf,
    pub(super) is_same: bool,
}

impl DataFinder<'_> {
    /// The file of a table: the same bytes wherever they are, else what has its name.
    pub(super) fn find(&self, table: &LoadedTable) -> Result<Option<FoundData>, AnalysisError> {
        let places = self.places(table);
        for path in places.iter().chain(&self.files_of_its_size(table)) {
            if size_of(path) == Some(table.bytes) && self.is_same(path, table)? {
                return Ok(Some(FoundData { path: path.clone(), is_same: true }));
            }
        }
        let found = places.into_iter().find(|path| path.is_file());
        Ok(found.map(|path| FoundData { path, is_same: false }))
    }

    fn is_same(&self, path: &Path, table: &LoadedTable) -> Result<bool, AnalysisError> {
        match hash_of(path, self.limits) {
            Ok(hash) => Ok(hash == table.hash),
            Err(AnalysisError::Canceled) => Err(AnalysisError::Canceled),
            Err(_) => Ok(false),
        }
    }

    /// Where it should be, the likelier places first.
    fn places(&self, table: &LoadedTable) -> Vec<PathBuf> {
        let name = table.file.file_name();
        let mut places: Vec<PathBuf> = Vec::new();
        places.extend(self.chosen.zip(name).map(|(folder, name)| folder.join(name)));
        // Joining an absolute path gives that path.
        places.push(self.report.join(&table.file));
        if !table.beside.as_os_str().is_empty() {
            places.push(self.report.join(&table.beside));
        }
        places.extend(name.map(|name| self.report.join(name)));
        places.extend(name.map(|name| self.report.join("..").join(name)));
        places
    }

    /// Files that may be the same under another name.
    fn files_of_its_size(&self, table: &LoadedTable) -> Vec<PathBuf> {
        let folders = self.chosen.map(Path::to_owned).into_iter();
        let folders = folders.chain([self.report.to_owned(), self.report.join("..")]);
        let entries = folders.filter_map(|folder| std::fs::read_dir(folder).ok());
        let files = entries.flat_map(|entries| entries.flatten().take(FILES_MAX));
        let files = files.map(|entry| entry.path());
        files.filter(|path| size_of(path) == Some(table.bytes)).collect()
    }
}

fn size_of(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| found.len())
}

/// The file under the name that its tables are called after.
pub(super) fn under_its_name(
    found: &Path,
    table: &LoadedTable,
    scratch: &Path,
) -> Result<PathBuf, AnalysisError> {
    match table.file.file_name() {
        Some(name) if found.file_name() != Some(name) => {
            let folder = scratch.join("named").join(&table.hash);
            make_private(&folder)?;
            let link = folder.join(name);
            let target = found.canonicalize().map_err(AnalysisError::read(found))?;
            std::os::unix::fs::symlink(target, &link).map_err(AnalysisError::write(&link))?;
            Ok(link)
        }
        _ => Ok(found.to_owned()),
    }
}

/// The path of a file as seen from a folder; empty if there is none.
pub(crate) fn seen_from(folder: &Path, file: &Path) -> PathBuf {
    let absolute = |path: &Path| {
        let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
        whole.unwrap_or_else(|_| path.to_owned())
    };
    let (folder, file) = (absolute(folder), absolute(file));
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Path::new(".."));
    let down = file.components().skip(shared);
    up.map(Path::as_os_str).chain(down.map(|part| part.as_os_str())).collect()
}
