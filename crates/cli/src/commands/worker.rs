//! `everloop worker`: drives every run that is ready, until it is told to stop.

use crate::app::{App, chain};
use crate::args;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use everloop_assistant::kept::reminders;
use everloop_assistant::tools::forget_old_keys;
use everloop_engine::{Driven, Engine, Report, SystemClock};
use everloop_store::Orphan;
use everloop_types::Status;
use std::sync::Arc;

pub(crate) async fn worker(app: &App, args: &args::Worker) -> Result<Exit, Failure> {
    let fail = |error| app.store_failure(&error);
    let store = app.open_store().await?;
    let engine = app.engine(store).await?;
    let name = engine.identity().worker.clone();
    let lock = match app.database.take_lock(&name).map_err(fail)? {
        Ok(lock) => lock,
        Err(holder) => {
            let pid = holder.pid.to_string();
            let words = app.text("worker.other", &[("pid", &pid)]);
            return Err(Failure { exit: Exit::Data, words });
        }
    };
    let now = engine.clock().now();
    // Only who has the lock knows that all others are dead; without one, leases say so.
    if app.is_cluster() {
        engine.join(app.lease()).await.map_err(fail)?;
        tokio::spawn(engine.clone().keep_lease(app.lease()));
    } else {
        for orphan in engine.take_up().await.map_err(fail)? {
            tell_of_orphan(app, &orphan);
        }
    }
    engine.store().trim(now, keep_ms(app)).await.map_err(fail)?;
    forget_old_keys(engine.store(), now, keep_ms(app)).await.map_err(fail)?;
    tokio::spawn(engine.clone().deliver_mail());
    let reminding =
        reminders::keep_reminding(engine.store().clone(), app.customs(), Arc::new(SystemClock));
    tokio::spawn(reminding);
    let most = usize::try_from(app.settings.number("worker.runs")).unwrap_or(64);
    let mut worker = everloop_engine::Worker::new(engine.clone(), most);
    if app.is_cluster() {
        worker = worker.reaping(app.lease());
    }
    let worked = work(app, &engine, worker, args).await;
    if app.is_cluster() {
        // If this fails the lease runs out by itself.
        let _ = engine.leave().await;
    }
    drop(lock);
    worked
}

async fn work(
    app: &App,
    engine: &Arc<Engine>,
    mut worker: everloop_engine::Worker,
    args: &args::Worker,
) -> Result<Exit, Failure> {
    let fail = |error| app.store_failure(&error);
    let report = |report| tell(app, report);
    if args.drain {
        worker.drain(report).await.map_err(fail)?;
        super::messages::deliver_now(app, engine).await;
        return Ok(Exit::Done);
    }
    super::messages::deliver(app, engine);
    app.note("worker.ready", &[]);
    let mut signals = Signals::new(app)?;
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

fn keep_ms(app: &App) -> i64 {
    i64::try_from(app.settings.number("store.keep")).unwrap_or(i64::MAX)
}

fn tell_of_orphan(app: &App, orphan: &Orphan) {
    let key = match orphan.status_now {
        Status::Quarantined => "worker.put_aside",
        _ => "worker.takes_up",
    };
    app.note(key, &[("id", orphan.run.as_str()), ("goal", orphan.goal.as_str())]);
}

fn tell(app: &App, report: Report) {
    match report {
        Report::Claimed(run) => app.note("worker.claimed", &[("id", run.as_str())]),
        Report::Driven(run, Driven::Finished(status)) => {
            app.note("worker.finished", &[("id", run.as_str()), ("status", status.as_str())]);
        }
        Report::Driven(run, Driven::Released) => {
            app.note("worker.released", &[("id", run.as_str())]);
        }
        Report::PutAside(run) => {
            app.note("worker.put_aside", &[("id", run.as_str()), ("goal", "")]);
        }
        Report::TookUp(orphan) => tell_of_orphan(app, &orphan),
        Report::Driven(run, Driven::Parked(_)) => {
            app.note("worker.parked", &[("id", run.as_str())]);
        }
        Report::Failed(run, error) => {
            let detail = chain(&error);
            app.note("worker.failed", &[("id", run.as_str()), ("detail", &detail)]);
        }
        Report::Stalled(run) => app.note("worker.stalled", &[("id", run.as_str())]),
    }
}
