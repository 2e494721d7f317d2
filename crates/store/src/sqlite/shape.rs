//! What a file may hold: the tables and indexes that this program makes, and nothing else.
//!
//! A trigger in a file from another party would work for that party: it could allow calls,
//! answer questions or take rows out of journals. So triggers and views are turned off for every
//! connection, and a file that has one, or any other object that is not ours, is not opened.

use super::{migrate, open::OpenError, session::classify};
use crate::{
    dialect,
    schema::{FoundSchema, META, Migration},
};
use everloop_types::visible;
use rusqlite::{Connection, config::DbConfig};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Its type, its name, its table, and the text that made it.
type Object = [String; 4];

/// Tables that SQLite itself creates when `ANALYZE` is run.
const STATISTICS: [&str; 2] = ["sqlite_stat1", "sqlite_stat4"];

/// Characters of an object's name that are shown.
const NAME_CHARS: usize = 60;

/// Sets a connection up so that a file cannot make it do anything.
pub(super) fn harden(conn: &Connection) -> rusqlite::Result<()> {
    for (setting, wanted) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        conn.set_db_config(setting, wanted)?;
    }
    Ok(())
}

/// What a database says about itself, once it is known to hold nothing else.
pub(super) fn read(
    conn: &Connection,
    file: &Arc<Path>,
    steps: &[Migration],
) -> Result<FoundSchema, OpenError> {
    let broken = |error| OpenError::from(classify(error, file, 0));
    // In one snapshot: another process may migrate the file meanwhile.
    let moment = conn.unchecked_transaction().map_err(broken)?;
    let found = migrate::read(&moment, file)?;
    found.next(file, steps)?;
    if let FoundSchema::Version { schema, .. } = found {
        let there = objects(&moment).map_err(broken)?;
        let wrong = match steps.last().is_some_and(|last| schema > last.version) {
            true => there.iter().find(|object| !is_plain(object)).map(not_ours),
            false => compare(&there, &expected(steps, schema).map_err(broken)?),
        };
        if wrong.is_some() {
            let path = PathBuf::from(&**file);
            return Err(OpenError::NotOurs { path, altered: wrong });
        }
    }
    Ok(found)
}

/// A description of the first difference.
fn compare(there: &BTreeSet<Object>, expected: &BTreeSet<Object>) -> Option<String> {
    let strange = there.difference(expected).find(|object| !is_statistics(object));
    let missing = || {
        let missing = expected.difference(there).next();
        missing.map(|[kind, name, ..]| format!("lacks the {kind} {name}"))
    };
    strange.map(not_ours).or_else(missing)
}

fn not_ours([kind, name, ..]: &Object) -> String {
    let shown = |text: &str| visible(text).replace('\n', " ").chars().take(NAME_CHARS).collect();
    let (kind, name): (String, String) = (shown(kind), shown(name));
    format!("holds the {kind} {name}, which this program did not make")
}

fn is_statistics([kind, name, _, sql]: &Object) -> bool {
    let made = format!("CREATE TABLE {name}(");
    kind == "table" && STATISTICS.contains(&name.as_str()) && sql.starts_with(&made)
}

/// Whether it is something that a newer program may have added, and that does nothing by itself.
fn is_plain([kind, _, _, sql]: &Object) -> bool {
    match kind.as_str() {
        "table" => sql.starts_with("CREATE TABLE "),
        "index" => true,
        _ => false,
    }
}

/// What the steps up to a version make.
fn expected(steps: &[Migration], schema: i64) -> rusqlite::Result<BTreeSet<Object>> {
    let conn = Connection::open_in_memory()?;
    conn.execute_batch(&dialect::sqlite_tables(META))?;
    for step in steps.iter().filter(|step| step.version <= schema) {
        conn.execute_batch(&dialect::sqlite_tables(step.sql))?;
    }
    objects(&conn)
}

fn objects(conn: &Connection) -> rusqlite::Result<BTreeSet<Object>> {
    let sql = "SELECT CAST(COALESCE(type, '') AS TEXT), CAST(COALESCE(name, '') AS TEXT),
                      CAST(COALESCE(tbl_name, '') AS TEXT), CAST(COALESCE(sql, '') AS TEXT)
                 FROM sqlite_schema";
    let mut statement = conn.prepare(sql)?;
    let text = |row: &rusqlite::Row<'_>, place| -> rusqlite::Result<String> {
        let bytes = row.get_ref(place)?.as_bytes()?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    };
    let rows = statement.query_map([], |row| {
        let made = text(row, 3)?.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok([text(row, 0)?, text(row, 1)?, text(row, 2)?, made])
    })?;
    rows.collect()
}
