//! The settings file: changed line by line, so that comments and order stay, and never half.

use super::Form;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, Value};

/// Why the text of a file cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is no TOML.
    #[error(transparent)]
    NotToml(#[from] toml_edit::TomlError),
    /// The section is there as something else than a table.
    #[error("{0} is no table")]
    NoTable(String),
}

/// The text with one setting changed. `text` must fit the form.
pub fn with(file: &str, key: &str, form: Form, text: &str) -> Result<String, EditError> {
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
    let mut value = typed(form, text);
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

/// The line, from 1, on which a key stands.
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
fn typed(form: Form, text: &str) -> Value {
    match form {
        Form::Count(..) => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        Form::Milli(..) => text.parse::<f64>().map_or_else(|_| text.into(), Value::from),
        Form::List(_) => super::value::items(text).collect::<Array>().into(),
        Form::Duration | Form::DurationOrOff | Form::Size | Form::OneOf(_) | Form::Zone => {
            text.into()
        }
        Form::Text | Form::Reference => text.into(),
    }
}

/// Writes a file so that a reader, also after a power cut, finds the old text or the new one.
///
/// A new file belongs to the person alone; an old one keeps its rights, and a link stays a link.
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
    use crate::settings::{Origin, find};

    fn set(file: &str, key: &str, text: &str) -> String {
        let setting = find(key, Origin::Flag).ok().unwrap();
        with(file, key, setting.form, text).unwrap()
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
        let inner = with("", key, Form::Text, url).unwrap();
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
