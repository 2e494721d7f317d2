//! The settings file: changed line by line, so that comments and order stay, and never half.

use super::SettingKind;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, Value};

/// Why the text of a file cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is not valid TOML.
    #[error(transparent)]
    NotToml(#[from] toml_edit::TomlError),
    /// The section exists and is not a table.
    #[error("{0} is not a table")]
    NoTable(String),
}

/// The text with one setting changed. `text` must fit the kind.
///
/// # Errors
/// [`EditError`] if the file or the section cannot be changed.
pub fn with(file: &str, key: &str, kind: SettingKind, text: &str) -> Result<String, EditError> {
    let mut document: DocumentMut = file.parse()?;
    let (sections, name) = apart(key);
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut above: Vec<&str> = Vec::new();
    for section in sections {
        above.push(section);
        let inner = table.entry(section).or_insert_with(|| {
            let mut table = Table::new();
            // Only the innermost one has a line of its own.
            table.set_implicit(true);
            Item::Table(table)
        });
        table = inner.as_table_like_mut().ok_or_else(|| EditError::NoTable(above.join(".")))?;
    }
    let mut value = typed(kind, text);
    match table.get_mut(name).and_then(Item::as_value_mut) {
        // A comment behind the old value belongs to the setting.
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(name, Item::Value(value));
        }
    }
    Ok(document.to_string())
}

/// The text without one key; `None` if it has no such key.
///
/// # Errors
/// [`EditError`] if the file cannot be changed.
pub fn without(file: &str, key: &str) -> Result<Option<String>, EditError> {
    let mut document: DocumentMut = file.parse()?;
    let (sections, name) = apart(key);
    let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
    for section in sections {
        table = table.and_then(|table| table.get_mut(section)?.as_table_like_mut());
    }
    let removed = table.and_then(|table| table.remove(name));
    Ok(removed.map(|_| document.to_string()))
}

/// The line, from 1, that a key is on.
#[must_use]
pub fn line_of(file: &str, key: &str) -> Option<usize> {
    let document = Document::parse(file).ok()?;
    let (sections, name) = apart(key);
    let mut item = document.as_item();
    for section in sections.into_iter().chain([name]) {
        item = item.get(section)?;
    }
    let start = item.span()?.start;
    Some(file.get(..start)?.matches('\n').count() + 1)
}

/// The sections around a key, and its name within them.
fn apart(key: &str) -> (Vec<&str>, &str) {
    match key.rsplit_once('.') {
        Some((sections, name)) => (sections.split('.').collect(), name),
        None => (Vec::new(), key),
    }
}

/// A value as TOML writes it: numbers as numbers, lists as arrays.
fn typed(kind: SettingKind, text: &str) -> Value {
    match kind {
        SettingKind::Count => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        SettingKind::Decimal => text.parse::<f64>().map_or_else(|_| text.into(), Value::from),
        SettingKind::List(_) => super::lists::split_items(text).collect::<Array>().into(),
        SettingKind::Duration
        | SettingKind::DurationOrOff
        | SettingKind::Size
        | SettingKind::OneOf(_)
        | SettingKind::Zone
        | SettingKind::Text
        | SettingKind::Reference => text.into(),
    }
}

/// Writes a file so that a reader, also after a power cut, finds the old text or the new one.
///
/// A new file belongs to the person alone; an old one keeps its rights, and a link stays a link.
///
/// # Errors
/// If the file or its folder cannot be written.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = make_folder(&place)?;
    let mut temporary = place.clone().into_os_string();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let rights = match std::fs::metadata(&place) {
        Ok(old) => old.permissions(),
        Err(_) => Permissions::from_mode(0o600),
    };
    let written = fill(&temporary, text, rights).and_then(|()| std::fs::rename(&temporary, &place));
    if written.is_err() {
        // Ours, and of no use to anybody.
        let _ = std::fs::remove_file(&temporary);
    }
    written?;
    File::open(folder)?.sync_all()
}

/// The folder of a file, made for the person alone if it is missing.
///
/// # Errors
/// If it cannot be made.
pub fn make_folder(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).to_owned();
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    Ok(folder)
}

fn fill(path: &Path, text: &str, rights: Permissions) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(rights)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{SettingOrigin, find};

    fn set(file: &str, key: &str, text: &str) -> String {
        let setting = find(key, SettingOrigin::Flag).ok().unwrap();
        with(file, key, setting.kind, text).unwrap()
    }

    #[test]
    fn a_change_keeps_comments_and_order_and_writes_numbers_as_numbers() {
        let file = "# mine\n[loop]\nmax_steps = 3 # few\n\n[ui]\nlanguage = \"en\"\n";
        let changed = set(file, "loop.max_steps", "30");
        assert_eq!(changed, file.replace("3 #", "30 #"));
        let more = set(&changed, "model.temperature", "0.5");
        assert!(more.starts_with(&changed) && more.ends_with("[model]\ntemperature = 0.5\n"));
        let hosts = set("", "tools.http_allow", "a.example, b.example");
        assert_eq!(hosts, "[tools]\nhttp_allow = [\"a.example\", \"b.example\"]\n");
        let taken = without(&changed, "loop.max_steps").unwrap();
        assert_eq!(taken.as_deref(), Some("# mine\n[loop]\n\n[ui]\nlanguage = \"en\"\n"));
        assert_eq!(without(&changed, "loop.repetitions").unwrap(), None);
        let (key, url) = ("providers.hub.base_url", "http://h/v1");
        let inner = with("", key, SettingKind::Text, url).unwrap();
        assert_eq!(inner, "[providers.hub]\nbase_url = \"http://h/v1\"\n");
        assert!(!without(&inner, key).unwrap().unwrap().contains("base_url"));
        assert_eq!(line_of(&inner, key), Some(2));
    }

    #[test]
    fn a_key_is_found_on_its_line() {
        let file = "# mine\n[loop]\n\nmax_stepz = 3\n";
        assert_eq!(line_of(file, "loop.max_stepz"), Some(4));
        assert_eq!(line_of(file, "loop.other"), None);
    }
}
