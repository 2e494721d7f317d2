//! `everloop worker`: drives every run that is ready, until it is told to stop.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use everloop_agenda::kept::reminders;
use everloop_app::error::chain;
use everloop_app::{delivery, log, upkeep};
use everloop_engine::{DriveEnd, Engine, Membership, WorkerReport};
use everloop_store::{ClaimLockError, Orphan, StoreError};
use everloop_text as text;
use everloop_types::Status;
use std::sync::Arc;

pub(crate) async fn worker(app: &Console, args: &args::Worker) -> Result<Exit, Failure> {
    let fail = |error| app.store_failure(&error);
    let away = |error: &StoreError| app.note(text::run::database_away(&chain(error)));
    let store = app.checked(app.open_store_patiently(away).await)?;
    let engine = app.engine(store).await?;
    let name = engine.identity().worker.clone();
    let policy = app.membership();
    let membership = policy.acquire(&name).map_err(|error| match error {
        ClaimLockError::Held(holder) => {
            let words = app.text(text::worker::other(&holder.pid));
            Failure { exit: Exit::Data, words }
        }
        ClaimLockError::Store(error) => fail(error),
    })?;
    // Before the first line: whoever reads it may ask this process to stop.
    let signals = if args.drain { None } else { Some(Signals::new(app)?) };
    policy.register(&engine).await.map_err(fail)?;
    // On a server the worker's own loop looks for them, and again and again.
    if let Membership::Exclusive(_) = &membership {
        for orphan in membership.recover_orphans(&engine).await.map_err(fail)? {
            tell_of_orphan(app, &orphan);
        }
    }
    let (keeping, keeper) = (policy.clone(), engine.clone());
    tokio::spawn(async move { keeping.keep(keeper).await });
    tokio::spawn(engine.clone().poll_inboxes());
    let reminding =
        reminders::keep_reminding(engine.store().clone(), app.customs(), engine.shared_clock());
    tokio::spawn(reminding);
    let most = app.settings.worker.runs;
    let worker = everloop_engine::Worker::new(engine.clone(), most).with_membership(&membership);
    let worked = work(app, &engine, worker, signals).await;
    // If this fails the lease expires by itself.
    let _ = policy.unregister(&engine).await;
    drop(membership);
    worked
}

async fn work(
    app: &Console,
    engine: &Arc<Engine>,
    mut worker: everloop_engine::Worker,
    signals: Option<Signals>,
) -> Result<Exit, Failure> {
    let fail = |error| app.store_failure(&error);
    let report = |report| tell(app, report);
    let Some(mut signals) = signals else {
        worker.drain(report).await.map_err(fail)?;
        delivery::deliver_now(app, engine).await;
        upkeep::tidy(app, engine).await.map_err(fail)?;
        return Ok(Exit::Done);
    };
    delivery::deliver(app, engine);
    tokio::spawn(upkeep::keep_tidy(app.app().clone(), engine.clone()));
    app.note(text::worker::ready());
    let mut exit = Exit::Done;
    let mut working = std::pin::pin!(worker.work(report));
    let worked = loop {
        tokio::select! {
            worked = &mut working => break worked,
            signal = signals.next() => {
                exit = signal;
                engine.stop();
            }
        }
    };
    worked.map(|()| exit).map_err(fail)
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
