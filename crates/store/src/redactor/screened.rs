//! A database that no secret gets into.

use super::Redactor;
use crate::db::{Db, DbFuture, Done, Engine, Row, Urgency};
use everloop_types::{SqlValue, Write};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows with a digest of their own content. A change here would damage them; whoever makes an entry
/// or a frame cleans it before the digest is taken.
const SEALED: [&str; 3] = ["INTO journal", "INTO blobs", "INTO snapshots"];

/// Cleans every other row on its way in.
pub(crate) struct Screened {
    pub(crate) db: Arc<dyn Db>,
    pub(crate) redactor: Redactor,
}

impl Db for Screened {
    fn commit(&self, mut writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<Done>> {
        if !self.redactor.is_empty() {
            let open = |write: &&mut Write| !SEALED.iter().any(|table| write.sql.contains(table));
            for write in writes.iter_mut().filter(open) {
                self.clean(&mut write.params);
            }
        }
        self.db.commit(writes, urgency)
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<Row>> {
        self.db.query(sql, params)
    }

    fn engine(&self) -> Engine {
        self.db.engine()
    }
}

impl Screened {
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
