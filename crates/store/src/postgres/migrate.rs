//! Forward-only migrations: the same steps as for a file, under a lock of the server.
//!
//! Deliberately absent: a copy before the first step. All steps are one transaction, and copies of
//! a server are its operator's business.

use super::errors::classify;
use crate::{
    dialect,
    schema::{FoundSchema, META, Migration, SET_META, SchemaAction},
    sqlite::OpenError,
};
use std::{path::Path, sync::Arc};
use tokio_postgres::{Client, Error, GenericClient};

/// Any number that no other program is likely to lock.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7310593858020254319)";

/// Migrates the database to the newest of `steps`.
pub(super) async fn migrate(
    client: &mut Client,
    database: &Arc<Path>,
    steps: &[Migration],
) -> Result<(), OpenError> {
    let failed = |error| OpenError::Db(classify(error, database, 0).into_error());
    if let SchemaAction::Nothing = read(client).await.map_err(failed)?.next(database, steps)? {
        return Ok(());
    }
    let tx = client.transaction().await.map_err(failed)?;
    tx.batch_execute(LOCK).await.map_err(failed)?;
    // Another process may have been faster, and even newer.
    let found = read(&tx).await.map_err(failed)?;
    if let SchemaAction::Create | SchemaAction::Upgrade { .. } = found.next(database, steps)? {
        tx.batch_execute(&dialect::postgres_tables(META)).await.map_err(failed)?;
        for step in steps.iter().filter(|step| step.version > found.version()) {
            tx.batch_execute(&dialect::postgres_tables(step.sql)).await.map_err(failed)?;
            for (key, value) in [("schema_version", step.version), ("min_reader", step.min_reader)]
            {
                tx.execute(SET_META, &[&key, &value.to_string()]).await.map_err(failed)?;
            }
        }
    }
    tx.commit().await.map_err(failed)
}

/// What a database says about itself.
pub(super) async fn read(client: &impl GenericClient) -> Result<FoundSchema, Error> {
    let tables = "SELECT count(*), count(*) FILTER (WHERE table_name = 'schema_meta')
                    FROM information_schema.tables WHERE table_schema = current_schema()";
    let counted = client.query_one(tables, &[]).await?;
    match (counted.try_get::<_, i64>(0)?, counted.try_get::<_, i64>(1)?) {
        (0, _) => return Ok(FoundSchema::Empty),
        (_, 0) => return Ok(FoundSchema::Foreign),
        _ => {}
    }
    let mut found = [0; 2];
    for (key, number) in ["schema_version", "min_reader"].iter().zip(&mut found) {
        let row = client.query_opt("SELECT v FROM schema_meta WHERE k = $1", &[key]).await?;
        let text: Option<String> = row.map(|row| row.try_get(0)).transpose()?;
        // What cannot be read is for a program that can.
        *number = text.and_then(|text| text.parse().ok()).unwrap_or(i64::MAX);
    }
    Ok(FoundSchema::Version { schema: found[0], min_reader: found[1] })
}
