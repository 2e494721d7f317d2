//! `everloop worker`: drives every run that is ready, until it is told to stop.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use everloop_app::error::chain;
use everloop_app::log;
use everloop_app::worker::WorkerSession;
use everloop_engine::{DriveEnd, WorkerReport};
use everloop_store::{ClaimLockError, Orphan, StoreError};
use everloop_text as text;
use everloop_types::Status;

pub(crate) async fn worker(app: &Console, args: &args::WorkerArgs) -> Result<Exit, Failure> {
    let away = |error: &StoreError| app.note(text::run::database_away(&chain(error)));
    let store = app.checked(app.open_store_patiently(away).await)?;
    let engine = app.engine(store).await?;
    let session = WorkerSession::acquire(app, &engine).map_err(|error| match error {
        ClaimLockError::Held(holder) => app.failure(Exit::Data, text::worker::other(&holder.pid)),
        ClaimLockError::Store(error) => app.store_failure(&error),
    })?;
    // Before the first line: its reader may ask this process to stop.
    let signals = if args.drain { None } else { Some(Signals::new(app)?) };
    app.checked(session.start(|report| tell(app, report)).await)?;
    let worked = work(app, &session, signals).await;
    session.end().await;
    worked
}

async fn work(
    app: &Console,
    session: &WorkerSession,
    signals: Option<Signals>,
) -> Result<Exit, Failure> {
    let report = |report| tell(app, report);
    let Some(mut signals) = signals else {
        app.checked(session.drain(report).await)?;
        return Ok(Exit::Done);
    };
    session.serve();
    app.note(text::worker::ready());
    let mut exit = Exit::Done;
    let mut working = std::pin::pin!(session.work(report));
    let worked = loop {
        tokio::select! {
            worked = &mut working => break worked,
            signal = signals.next() => {
                exit = signal;
                session.stop();
            }
        }
    };
    app.checked(worked)?;
    Ok(exit)
}

fn tell_of_orphan(app: &Console, orphan: &Orphan) {
    let key = match orphan.status_now {
        Status::Quarantined => text::worker::put_aside,
        _ => text::worker::takes_up,
    };
    let goal = if log::hides_content() { "" } else { &orphan.goal };
    app.note(key(&orphan.run, &goal));
}

fn tell(app: &Console, report: WorkerReport) {
    match report {
        WorkerReport::Claimed(run) => app.note(text::worker::claimed(&run)),
        WorkerReport::Driven(run, DriveEnd::Finished(status)) => {
            app.note(text::worker::finished(&run, &status));
        }
        WorkerReport::Driven(run, DriveEnd::Released) => {
            app.note(text::worker::released(&run));
        }
        WorkerReport::PutAside(run) => {
            app.note(text::worker::put_aside(&run, &""));
        }
        WorkerReport::TookUp(orphan) => tell_of_orphan(app, &orphan),
        WorkerReport::Driven(run, DriveEnd::Parked(_)) => {
            app.note(text::worker::parked(&run));
        }
        WorkerReport::Failed(run, error) => {
            let detail = chain(&error);
            app.note(text::worker::failed(&run, &detail));
        }
        WorkerReport::Stalled(run) => app.note(text::worker::stalled(&run)),
    }
}
