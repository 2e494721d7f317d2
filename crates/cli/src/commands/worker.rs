//! `everloop worker`: drives every run that is ready, until it is told to stop.

use crate::args;
use everloop_app::error::chain;
use everloop_app::log;
use everloop_app::worker::WorkerSession;
use everloop_console::{Console, Exit, Failure, Signals, terminal};
use everloop_engine::{DriveEnd, WorkerReport};
use everloop_store::{ClaimLockError, Orphan, StoreError};
use everloop_text as text;
use everloop_types::{RunId, Status};
use serde_json::{Value, json};

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
    app.checked(session.start(|report| tell(app, report, args.json)).await)?;
    let worked = work(app, &session, signals, args.json).await;
    session.end().await;
    worked
}

async fn work(
    app: &Console,
    session: &WorkerSession,
    signals: Option<Signals>,
    as_json: bool,
) -> Result<Exit, Failure> {
    let report = |report| tell(app, report, as_json);
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

fn tell(app: &Console, report: WorkerReport, as_json: bool) {
    if as_json {
        return terminal::print_json(&as_object(&report));
    }
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

/// The same for programs: one object a line.
fn as_object(report: &WorkerReport) -> Value {
    match report {
        WorkerReport::Claimed(run) => object(run, "claimed", None, None),
        WorkerReport::Driven(run, DriveEnd::Finished(status)) => {
            object(run, "finished", Some(*status), None)
        }
        WorkerReport::Driven(run, DriveEnd::Released) => object(run, "released", None, None),
        WorkerReport::Driven(run, DriveEnd::Parked(_)) => object(run, "waiting", None, None),
        WorkerReport::PutAside(run) => object(run, "put_aside", None, None),
        WorkerReport::TookUp(orphan) => {
            object(&orphan.run, "taken_up", Some(orphan.status_now), None)
        }
        WorkerReport::Failed(run, error) => object(run, "failed", None, Some(chain(error))),
        WorkerReport::Stalled(run) => object(run, "stalled", None, None),
    }
}

fn object(run: &RunId, event: &str, status: Option<Status>, detail: Option<String>) -> Value {
    json!({"run_id": run, "event": event, "status": status, "detail": detail})
}
