//! A few threads that read, so that a query never blocks the async runtime.

use super::session::SqliteSession;
use crate::db::{DbError, SqlRow};
use everloop_types::SqlValue;
use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};
use tokio::sync::oneshot;

/// A query, and where its result goes.
struct ReadRequest {
    sql: &'static str,
    params: Vec<SqlValue>,
    answer: oneshot::Sender<Result<Vec<SqlRow>, DbError>>,
}

/// The reading threads. Dropping it waits for them.
pub(super) struct ReaderPool {
    questions: Option<Sender<ReadRequest>>,
    threads: Vec<JoinHandle<()>>,
}

impl ReaderPool {
    pub(super) fn start(sessions: Vec<SqliteSession>) -> io::Result<Self> {
        let (questions, receiver) = mpsc::channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let spawn = |session| {
            let receiver = Arc::clone(&receiver);
            let builder = thread::Builder::new().name("store-reader".to_owned());
            builder.spawn(move || read(session, &receiver))
        };
        let threads = sessions.into_iter().map(spawn).collect::<io::Result<_>>()?;
        Ok(Self { questions: Some(questions), threads })
    }

    pub(super) async fn ask(
        &self,
        sql: &'static str,
        params: Vec<SqlValue>,
    ) -> Result<Vec<SqlRow>, DbError> {
        let (answer, answered) = oneshot::channel();
        let questions = self.questions.as_ref().ok_or_else(DbError::gone)?;
        questions.send(ReadRequest { sql, params, answer }).map_err(|_| DbError::gone())?;
        answered.await.map_err(|_| DbError::gone())?
    }
}

impl Drop for ReaderPool {
    fn drop(&mut self) {
        self.questions = None;
        for thread in self.threads.drain(..) {
            // A reader that panicked has nothing left to clean up.
            let _ = thread.join();
        }
    }
}

fn read(mut session: SqliteSession, questions: &Mutex<Receiver<ReadRequest>>) {
    loop {
        let next = questions.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(ReadRequest { sql, params, answer }) = next else { return };
        let _ = answer.send(session.query(sql, &params));
    }
}
