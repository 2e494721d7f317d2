//! One connection, its settings, and the statements that it has prepared.

use super::{
    address::PgAddress,
    errors::{PgFailure, classify, refused_to_commit, too_late},
    tls::PgTls,
    value::{self, Param},
};
use crate::{
    db::{DbError, SqlRow, WriteResult},
    dialect,
    sqlite::OpenError,
};
use everloop_types::{Rows, SqlValue, Write};
use std::{
    collections::{HashMap, hash_map::Entry},
    future::{Future, poll_fn},
    path::Path,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};
use tokio::time::timeout;
use tokio_postgres::{Client, Error, Statement, types::ToSql};

/// Before this release the server has no 64-bit transaction ids, and is no longer maintained.
const SERVER_OLDEST: i32 = 130_000;

type PgReply<'a> = Pin<Box<dyn Future<Output = Result<WriteResult, Error>> + Send + 'a>>;

/// A connection.
pub(super) struct PgSession {
    client: Client,
    statements: HashMap<&'static str, Statement>,
    database: Arc<Path>,
    patience: Duration,
    /// A transaction was left half-way: the connection must not be used again.
    broken: bool,
}

impl PgSession {
    /// Connects, sets what durability rests on, and reads it back.
    pub(super) async fn open(
        address: &PgAddress,
        patience: Duration,
        fsync_may_be_off: bool,
    ) -> Result<Self, OpenError> {
        let database = &address.shown;
        let connected = timeout(patience, address.config.connect(PgTls)).await;
        let connected = connected.map_err(|_| too_late())?;
        let failed = |error| OpenError::Db(classify(error, database, 0).into_error());
        let (client, connection) = connected.map_err(failed)?;
        // Ends when the client is dropped, or the server goes; the client then says so.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        let session = Self {
            client,
            statements: HashMap::new(),
            database: Arc::clone(database),
            patience,
            broken: false,
        };
        let set = timeout(patience, session.set_up(fsync_may_be_off)).await;
        set.map_err(|_| too_late())??;
        Ok(session)
    }

    async fn set_up(&self, fsync_may_be_off: bool) -> Result<(), OpenError> {
        let failed = |error| OpenError::Db(classify(error, &self.database, 0).into_error());
        let settings = dialect::probes(crate::db::DatabaseKind::Postgres).settings;
        let ours = || settings.iter().filter(|(name, ..)| !dialect::OF_THE_SERVER.contains(name));
        let set: Vec<_> =
            ours().map(|(name, wanted, _)| format!("SET {name} = '{wanted}'")).collect();
        self.client.batch_execute(&set.join(";")).await.map_err(failed)?;
        for (name, wanted, read) in settings {
            let row = self.client.query_one(*read, &[]).await.map_err(failed)?;
            let found: String = row.try_get(0).map_err(failed)?;
            let hint = match *name {
                "fsync" if fsync_may_be_off => continue,
                "fsync" => "the server would lose what it promised when its machine stops",
                // Some file systems do without; it is shown by `doctor`.
                "full_page_writes" => continue,
                _ => "something between us and the server changes it",
            };
            if found != *wanted {
                return Err(OpenError::Setting { name, wanted, found, hint });
            }
        }
        let number = "SELECT CAST(current_setting('server_version_num') AS INTEGER)";
        let number = self.client.query_one(number, &[]).await.map_err(failed)?;
        if number.try_get::<_, i32>(0).map_err(failed)? < SERVER_OLDEST {
            let row = self.client.query_one("SHOW server_version", &[]).await.map_err(failed)?;
            let found = row.try_get(0).map_err(failed)?;
            return Err(OpenError::OldEngine { engine: "PostgreSQL", found, needed: "13" });
        }
        Ok(())
    }

    /// Whether it can be used again.
    pub(super) fn is_usable(&self) -> bool {
        !self.broken && !self.client.is_closed()
    }

    /// The connection itself, for one-time work.
    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Performs one logical transaction: everything up to the commit in one round trip.
    pub(super) async fn transaction(
        &mut self,
        writes: &[Write],
    ) -> Result<Vec<WriteResult>, PgFailure> {
        self.prepare(writes.iter().map(|write| write.statement.sql())).await?;
        self.broken = true;
        let performed = match timeout(self.patience, self.perform(writes)).await {
            Ok(performed) => performed,
            Err(_) => return Err(too_late().into()),
        };
        let finished = match performed {
            Ok(done) => self.commit().await.map(|()| done),
            Err(failure) => {
                self.roll_back().await;
                return Err(failure);
            }
        };
        self.broken = matches!(&finished, Err(PgFailure::Final(DbError::CommitUnknown { .. })));
        finished
    }

    /// One read.
    pub(super) async fn query(
        &mut self,
        sql: &'static str,
        params: &[SqlValue],
    ) -> Result<Vec<SqlRow>, PgFailure> {
        self.prepare([sql].into_iter()).await?;
        let answered = timeout(self.patience, self.answer(sql, params)).await;
        match answered {
            Ok(done) => done.map(|done| done.rows).map_err(|error| self.failure(error, 0)),
            Err(_) => {
                self.broken = true;
                Err(too_late().into())
            }
        }
    }

    /// Prepares what this connection has not seen yet, all in one round trip.
    async fn prepare(&mut self, all: impl Iterator<Item = &'static str>) -> Result<(), PgFailure> {
        let mut new: Vec<&'static str> =
            all.filter(|sql| !self.statements.contains_key(sql)).collect();
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = new.iter().map(|sql| dialect::postgres_statement(sql)).collect();
        let asked = texts.iter().map(|text| Box::pin(self.client.prepare(text))).collect();
        let prepared = timeout(self.patience, in_order(asked)).await.map_err(|_| too_late())?;
        for (sql, statement) in new.into_iter().zip(prepared) {
            let statement = statement.map_err(|error| self.failure(error, 0))?;
            if let Entry::Vacant(free) = self.statements.entry(sql) {
                free.insert(statement);
            }
        }
        Ok(())
    }

    /// Sends `BEGIN` and every statement before the first answer is back, then looks at the
    /// answers in order: the first one that is not as it must be decides.
    async fn perform(&self, writes: &[Write]) -> Result<Vec<WriteResult>, PgFailure> {
        let begin: PgReply<'_> = Box::pin(async {
            self.client.batch_execute("BEGIN").await.map(|()| WriteResult::default())
        });
        let statements = writes.iter().map(|write| -> PgReply<'_> {
            Box::pin(self.answer(write.statement.sql(), &write.params))
        });
        let mut answers =
            in_order([begin].into_iter().chain(statements).collect()).await.into_iter();
        if let Some(Err(error)) = answers.next() {
            return Err(self.failure(error, 0));
        }
        let mut all = Vec::with_capacity(writes.len());
        for (index, (answer, write)) in answers.zip(writes).enumerate() {
            let done = answer.map_err(|error| self.failure(error, index))?;
            match write.expect {
                Rows::Exactly(n) if n != done.touched => {
                    let touched = done.touched;
                    return Err(DbError::Expectation { index, touched }.into());
                }
                Rows::Exactly(_) | Rows::Any => all.push(done),
            }
        }
        Ok(all)
    }

    async fn answer(&self, sql: &'static str, params: &[SqlValue]) -> Result<WriteResult, Error> {
        let statement = &self.statements[sql];
        let params: Vec<Param<'_>> = params.iter().map(Param).collect();
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| p as _).collect();
        if statement.columns().is_empty() {
            let touched = self.client.execute(statement, &params).await?;
            return Ok(WriteResult { touched, rows: Vec::new() });
        }
        value::done(&self.client.query(statement, &params).await?)
    }

    /// From the moment `COMMIT` is sent, only the reply of the server says whether it took place.
    async fn commit(&self) -> Result<(), PgFailure> {
        if self.client.is_closed() {
            let gone = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            return Err(PgFailure::Again(DbError::Unreachable { source: Arc::new(gone) }));
        }
        let source = match timeout(self.patience, self.client.batch_execute("COMMIT")).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) if refused_to_commit(&error) => return Err(self.failure(error, 0)),
            Ok(Err(error)) => Arc::new(error) as crate::Cause,
            Err(late) => Arc::new(late),
        };
        Err(DbError::CommitUnknown { source }.into())
    }

    /// A connection that cannot even do this is not used again.
    async fn roll_back(&mut self) {
        let done = timeout(self.patience, self.client.batch_execute("ROLLBACK")).await;
        self.broken = !matches!(done, Ok(Ok(())));
    }

    fn failure(&self, error: Error, index: usize) -> PgFailure {
        classify(error, &self.database, index)
    }
}

/// Polls all from the first to the last until each has its answer. The client sends a request when
/// it is first polled, so all are on their way before anyone waits.
async fn in_order<T, F: Future<Output = T> + Unpin>(mut futures: Vec<F>) -> Vec<T> {
    let mut answers: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut waiting = false;
        for (future, answer) in futures.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match Pin::new(future).poll(cx) {
                    Poll::Ready(value) => *answer = Some(value),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}
