//! A database that keeps known secrets out.

use super::Redactor;
use crate::db::{DatabaseKind, Db, DbFuture, SqlRow, Urgency, WriteResult};
use everloop_types::{SqlValue, Write};
use std::borrow::Cow;
use std::sync::Arc;

/// Removes secrets from the values of every statement that is not sealed.
///
/// The row of a sealed statement carries a digest of its own content, so a change here would damage
/// it. The code that builds an entry, a frame or a snapshot removes secrets before the digest.
pub(crate) struct ScreenedDb {
    pub(crate) db: Arc<dyn Db>,
    pub(crate) redactor: Redactor,
}

impl Db for ScreenedDb {
    fn commit(&self, mut writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        if !self.redactor.is_empty() {
            for write in writes.iter_mut().filter(|write| !write.statement.is_sealed()) {
                self.clean(&mut write.params);
            }
        }
        self.db.commit(writes, urgency)
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.db.query(sql, params)
    }

    fn engine(&self) -> DatabaseKind {
        self.db.engine()
    }
}

impl ScreenedDb {
    fn clean(&self, params: &mut [SqlValue]) {
        for value in params {
            if let SqlValue::Text(text) = value
                && let Cow::Owned(cleaned) = self.redactor.text(text)
            {
                *text = cleaned;
            }
        }
    }
}
