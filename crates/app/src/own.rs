//! The files and folders of the program itself: no tool opens them, no command sees them.
//!
//! Where a workspace contains one that is not there yet, a command could make it and we would
//! believe it. Folders are made before that; for a file that is missing, and lies in no folder of
//! ours, commands count as without a sandbox.

use crate::app::App;
use crate::home::Home;
use crate::secrets::{self, Reference};
use crate::settings::Settings;
use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What no tool may touch: a look into the database from within this process would drop its locks,
/// and nobody but the person changes the settings.
pub(crate) fn files(app: &App, settings: &Settings) -> Vec<PathBuf> {
    let home = &app.home;
    let mut files = vec![home.config_file(), crate::key::file(settings, home), home.prices_file()];
    files.extend(folders(home));
    files.extend(app.database.lock_file().map(PathBuf::from));
    files.extend(secrets::references(settings).into_iter().filter_map(|(_, reference)| {
        match reference {
            Reference::File(path) => Some(path),
            _ => None,
        }
    }));
    files.extend(audit_file(settings));
    let Some(database) = app.database.file() else { return files };
    // The log lies beside the real file, where a link leads to it.
    let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    for file in [database, &real] {
        files.extend(["", "-wal", "-shm", "-journal"].map(|ending| {
            let mut name = file.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        }));
    }
    files
}

/// The file that tool calls are noted in, by its name and by where a link leads.
fn audit_file(settings: &Settings) -> Vec<PathBuf> {
    let name = settings.audit.file.as_str();
    if name.is_empty() {
        return Vec::new();
    }
    let name = std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name));
    let real = name.canonicalize().ok();
    std::iter::once(name).chain(real).collect()
}

/// The folders of a home.
pub(crate) fn folders(home: &Home) -> Vec<PathBuf> {
    let config = home.config_file().parent().map(PathBuf::from);
    let data = home.data();
    let inner = [home.secrets(), home.personas(), home.memory(), data.join("mcp")];
    config.into_iter().chain([data.to_owned()]).chain(inner).collect()
}

/// Makes what is missing of these folders and files within a workspace, for nobody else to read.
/// What cannot be made leaves commands there without a sandbox.
pub(crate) fn make_within(workspace: &Path, folders: &[PathBuf], files: &[PathBuf]) {
    let Ok(workspace) = workspace.canonicalize() else { return };
    let is_missing_within = |path: &&PathBuf| {
        let near = path.ancestors().skip(1).find_map(|outer| outer.canonicalize().ok());
        !path.exists() && near.is_some_and(|near| near.starts_with(&workspace))
    };
    for folder in folders.iter().filter(is_missing_within) {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    for file in files.iter().filter(is_missing_within) {
        let _ = OpenOptions::new().create(true).append(true).mode(0o600).open(file);
    }
}
