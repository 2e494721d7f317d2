//! The tables of the newest schema, as SQLite itself reads our definitions.

use crate::{
    dialect,
    schema::{META, MIGRATIONS},
};
use rusqlite::Connection;

/// A table of our schema.
pub(crate) struct TableShape {
    /// Its name.
    pub(crate) name: String,
    /// Its columns, in order.
    pub(crate) columns: Vec<String>,
    /// The columns of its key, in the key's order.
    pub(crate) key: Vec<String>,
}

/// All tables, by name.
pub(crate) fn tables() -> rusqlite::Result<Vec<TableShape>> {
    let conn = Connection::open_in_memory()?;
    conn.execute_batch(&dialect::sqlite_tables(META))?;
    for step in MIGRATIONS {
        conn.execute_batch(&dialect::sqlite_tables(step.sql))?;
    }
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut names = conn.prepare(sql)?;
    let names = names.query_map([], |row| row.get::<_, String>(0))?;
    names.map(|name| read_table(&conn, name?)).collect()
}

fn read_table(conn: &Connection, name: String) -> rusqlite::Result<TableShape> {
    let mut columns = conn.prepare("SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid")?;
    let rows = columns.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let all = rows.collect::<rusqlite::Result<Vec<(String, i64)>>>()?;
    let mut key: Vec<&(String, i64)> = all.iter().filter(|(_, place)| *place > 0).collect();
    key.sort_by_key(|(_, place)| *place);
    let key = key.into_iter().map(|(column, _)| column.clone()).collect();
    let columns = all.iter().map(|(column, _)| column.clone()).collect();
    Ok(TableShape { name, columns, key })
}
