//! `everloop runs`: list, show, events, cancel, resume; `settle` has a file of its own.

use super::foreground::{Foreground, drive_here, history};
use super::reply::{self, Taken};
use super::{clean, family, settle, switch};
use crate::app::App;
use crate::args::{Format, Runs};
use crate::exit::{Exit, Failure};
use crate::show::{Shown, backed_plan_lines, labels_line, preview, row_json, timestamp};
use crate::terminal::{self, marks};
use crate::trouble::{Read, Trouble};
use everloop_agenda::show::padded;
use everloop_engine::{Asked, Engine, Projector};
use everloop_store::{OutboxCount, RunFilter, RunRow, Sent, Store};
use everloop_types::journal::WaitingOn;
use everloop_types::{Question, RunId, Status, one_line, spelled};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Columns of the longest name of a loop, `plan-execute-think`.
const LOOP_COLUMNS: usize = 18;

/// How long `cancel` waits for the driver to end the run.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

pub(crate) async fn runs(app: &App, args: Runs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    match args {
        Runs::List { json, status, limit, cursor } => {
            let filter = filter(app, &status, limit, cursor)?;
            list(app, &store, &filter, as_format(json)).await
        }
        Runs::Show { id, json } => show(app, &store, &id, as_format(json)).await,
        Runs::Tree { id, json } => family::tree(app, &store, &id, as_format(json)).await,
        Runs::Events { id, after } => events(app, &store, &id, after).await,
        Runs::Cancel { id } => cancel(app, store, &id).await,
        Runs::Delete(args) => clean::delete(app, store, &args).await,
        Runs::Resume { id, answer, to, output_format } => {
            resume(app, store, &id, answer.map(|text| (text, to)), output_format).await
        }
        Runs::Switch { id, loop_name, yes, output_format } => {
            switch::switch(app, store, &id, &loop_name, yes, output_format).await
        }
        Runs::Settle { id, word, effect } => {
            settle::settle(app, store, &id, word, effect.as_deref()).await
        }
    }
}

fn as_format(json: bool) -> Format {
    if json { Format::Json } else { Format::Text }
}

/// A run with its numbers, folded from its journal.
pub(crate) async fn shown(app: &App, store: &Store, run: &RunId) -> Result<Shown, Failure> {
    let row = store.run(run).await.map_err(|error| app.store_failure(&error))?;
    let history = history(app, store, run).await?;
    let state = history.state_at(i64::MAX).map_err(|error| app.store_failure(&error))?;
    let row = row.ok_or_else(|| {
        let words = app.text("run.not_found", &[("id", run.as_str())]);
        Failure { exit: Exit::Usage, words }
    })?;
    let waiting_on = state.waiting_on().cloned();
    let question = match &waiting_on {
        Some(WaitingOn::Person { question }) => question_text(app, store, run, question).await?,
        _ => None,
    };
    let progress = state.progress();
    let counts = match history.is_whole() {
        true => state.counts(),
        false => history.counts_of_outcomes(),
    };
    let forks = store.forks(run).await.map_err(|error| app.store_failure(&error))?;
    let settlements = store.settlements(run).await.map_err(|error| app.store_failure(&error))?;
    let unknowns = history.unknowns(&settlements).map_err(|error| app.store_failure(&error))?;
    let messages = store.outbox_count(run).await.map_err(|error| app.store_failure(&error))?;
    let cost = app.prices().cost(&history);
    Ok(Shown {
        row,
        history,
        counts,
        progress,
        waiting_on,
        question,
        unknowns,
        forks,
        messages,
        cost,
    })
}

/// The question as it was put into the run's conversation.
pub(crate) async fn question_text(
    app: &App,
    store: &Store,
    run: &RunId,
    question: &Question,
) -> Result<Option<String>, Failure> {
    let slot = format!("ask:{}", question.id);
    let messages = store.messages(run).await.map_err(|error| app.store_failure(&error))?;
    Ok(messages.into_iter().find(|message| message.slot == slot).map(|message| message.body))
}

fn filter(
    app: &App,
    words: &[String],
    limit: usize,
    cursor: Option<String>,
) -> Result<RunFilter, Failure> {
    let mut statuses = Vec::new();
    for word in words {
        let Some(status) = Status::parse(word) else {
            let all = Status::ALL.map(Status::as_str).join(", ");
            let words = app.text("runs.no_status", &[("word", word), ("all", &all)]);
            return Err(Failure { exit: Exit::Usage, words });
        };
        statuses.push(status);
    }
    Ok(RunFilter { statuses, before: cursor.map(RunId::new), most: limit.clamp(1, 1000) })
}

async fn list(
    app: &App,
    store: &Store,
    filter: &RunFilter,
    format: Format,
) -> Result<Exit, Failure> {
    // One more than is shown tells whether anything follows.
    let one_more = RunFilter { most: filter.most + 1, ..filter.clone() };
    let mut rows = store.runs(&one_more).await.map_err(|error| app.store_failure(&error))?;
    let more = rows.len() > filter.most;
    rows.truncate(filter.most);
    if format == Format::Json {
        let next = rows.last().filter(|_| more).map(|row| row.run.clone());
        let mut data = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut object = row_json(row);
            if let Some(open) = open_count(app, store, row).await? {
                object["open_unknowns"] = json!(open);
            }
            data.push(object);
        }
        terminal::answer(&json!({ "data": data, "next_cursor": next }).to_string());
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        let narrowed = !filter.statuses.is_empty() || filter.before.is_some();
        app.note(if narrowed { "runs.none_such" } else { "runs.none" }, &[]);
    }
    for row in rows {
        let settled = open_count(app, store, &row).await? == Some(0);
        let status = status_words(app, row.status, settled);
        let (id, created) = (one_line(row.run.as_str()), timestamp(row.times.created_at));
        let (name, goal) = (one_line(&row.loop_name), preview(&row.goal));
        let mark = if row.origin.parent.is_some() { "↳ " } else { "" };
        let imported = family::imported_mark(app, &row);
        let (status, name) = (padded(&status, 11), padded(&name, LOOP_COLUMNS));
        terminal::answer(&format!("{id}  {status}  {name}  {created}  {mark}{imported}{goal}"));
    }
    Ok(Exit::Done)
}

/// How many calls of an unsettled run are still to be settled.
async fn open_count(app: &App, store: &Store, row: &RunRow) -> Result<Option<usize>, Failure> {
    if row.status != Status::Unsettled {
        return Ok(None);
    }
    let shown = shown(app, store, &row.run).await?;
    let open = shown.unknowns.iter().filter(|unknown| unknown.settled.is_none()).count();
    Ok((!shown.unknowns.is_empty()).then_some(open))
}

/// The status, and whether what was unknown is known since.
fn status_words(app: &App, status: Status, settled: bool) -> String {
    match settled {
        true => app.text("runs.settled_since", &[("status", status.as_str())]),
        false => everloop_text::status(app.lang, status).to_owned(),
    }
}

async fn show(app: &App, store: &Store, id: &str, format: Format) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let shown = shown(app, store, &run).await?;
    let children = store.children(&run).await.map_err(|error| app.store_failure(&error))?;
    let trouble = Trouble::of_run(app, &shown);
    if format == Format::Json {
        let mut whole = shown.whole();
        whole["error"] = trouble.map_or(Value::Null, |trouble| trouble.object(app));
        whole["children"] = children.iter().map(family::child_json).collect();
        terminal::answer(&whole.to_string());
        return Ok(Exit::Done);
    }
    let counts = shown.counts;
    for (key, value) in [
        ("runs.show_id", shown.row.run.to_string()),
        ("runs.show_goal", one_line(&shown.row.goal)),
        ("runs.show_status", status_words(app, shown.row.status, shown.is_settled_since())),
        ("runs.show_loop", one_line(&shown.row.loop_name)),
        ("runs.show_created", timestamp(shown.row.times.created_at)),
        ("runs.show_model_calls", counts.model_calls.to_string()),
        ("runs.show_tool_calls", counts.tool_calls.to_string()),
        (
            "runs.show_tokens",
            format!("{} + {}", counts.usage.input_tokens, counts.usage.output_tokens),
        ),
    ] {
        terminal::answer(&app.text(key, &[("value", &value)]));
    }
    if shown.row.origin.imported {
        terminal::answer(&app.text("runs.show_imported", &[]));
    }
    if let Some(labels) = labels_line(app, &shown.history.holding()) {
        terminal::answer(&labels);
    }
    if let Some(cost) = &shown.cost {
        terminal::answer(&app.text("runs.show_cost", &[("value", &cost.words())]));
    }
    show_forks(app, &shown);
    family::show_kin(app, &shown.row, &children);
    let OutboxCount { sent, waiting } = shown.messages;
    if sent + waiting > 0 {
        let args = [("sent", sent.to_string()), ("waiting", waiting.to_string())];
        let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
        terminal::answer(&app.text("runs.show_messages", &args));
    }
    let plan = backed_plan_lines(app, &shown.progress, &marks());
    plan.iter().for_each(|line| terminal::answer(line));
    for unknown in &shown.unknowns {
        terminal::answer(&settle::line(app, unknown));
    }
    if shown.has_open_unknown() {
        app.note("settle.how", &[("id", shown.row.run.as_str())]);
    }
    let words = trouble.as_ref().map(|trouble| trouble.words(app, Read::InShell));
    for text in [shown.said(trouble.as_ref()), words].into_iter().flatten() {
        terminal::answer(&format!("\n{}", spelled(&text)));
    }
    Ok(Exit::Done)
}

/// What it was forked from, and what was forked from it.
fn show_forks(app: &App, shown: &Shown) {
    for (key, others) in [
        ("runs.show_forked", shown.row.origin.forked.as_slice()),
        ("runs.show_forks", shown.forks.as_slice()),
    ] {
        let others: Vec<String> =
            others.iter().map(|other| format!("{} @ {}", other.run, other.at_seq)).collect();
        if !others.is_empty() {
            terminal::answer(&app.text(key, &[("value", &one_line(&others.join(", ")))]));
        }
    }
}

async fn events(app: &App, store: &Store, id: &str, after: i64) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let history = history(app, store, &run).await?;
    for event in Projector::past(&history).iter().filter(|event| event.seq > after) {
        terminal::answer(&event.to_json());
    }
    Ok(Exit::Done)
}

/// The letter is durable at once; who drives the run ends it. If nobody does, we do.
async fn cancel(app: &App, store: Store, id: &str) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let sent = engine.cancel(&run, "user").await.map_err(|error| app.store_failure(&error))?;
    if let Sent::Finished(status) = sent {
        let args = [("id", run.as_str()), ("status", status.as_str())];
        app.note("run.already_finished", &args);
        return Ok(Exit::Done);
    }
    let fail = |error| app.store_failure(&error);
    if app.is_cluster() {
        engine.join(app.lease()).await.map_err(fail)?;
        engine.reap().await.map_err(fail)?;
    }
    let over = end_within(app, &engine, &run, CANCEL_WAIT).await;
    if app.is_cluster() {
        // If this fails the lease runs out by itself.
        let _ = engine.leave().await;
    }
    let key = if over? { "run.is_canceled" } else { "run.cancel_waits" };
    app.note(key, &[("id", run.as_str())]);
    Ok(Exit::Done)
}

async fn end_within(
    app: &App,
    engine: &Arc<Engine>,
    run: &RunId,
    wait: Duration,
) -> Result<bool, Failure> {
    let until = Instant::now() + wait;
    while Instant::now() < until {
        if end_if_unowned(app, engine, run).await? {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(false)
}

/// Whether the run and all below it are over now.
async fn end_if_unowned(app: &App, engine: &Arc<Engine>, run: &RunId) -> Result<bool, Failure> {
    let fail = |error| app.store_failure(&error);
    if family::is_over(app, engine.store(), run).await? {
        return Ok(true);
    }
    let worker = &engine.identity().worker;
    let Ok(_lock) = app.database.take_lock(worker).map_err(fail)? else {
        return Ok(false);
    };
    let now = engine.clock().now();
    if !app.is_cluster() {
        engine.take_up().await.map_err(fail)?;
    }
    let front = family::front(app, engine.store(), run).await?;
    if let Some(claim) = engine.store().claim_run(worker, &front, now).await.map_err(fail)? {
        let driven = engine.drive(claim).await;
        driven.map_err(|error| app.failure(Exit::Data, "error.store", &error))?;
    }
    Ok(false)
}

async fn resume(
    app: &App,
    store: Store,
    id: &str,
    answer: Option<(String, Option<String>)>,
    format: Format,
) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    if let Some((text, to)) = answer {
        if text.trim().is_empty() {
            let words = app.text("run.empty_answer", &[("id", run.as_str())]);
            return Err(Failure { exit: Exit::Usage, words });
        }
        let asks = family::front(app, engine.store(), &run).await?;
        let waiting = shown(app, engine.store(), &asks).await?.waiting_on;
        let Some(WaitingOn::Person { question }) = waiting else {
            let words = app.text("run.asks_nothing", &[("id", run.as_str())]);
            return Err(Failure { exit: Exit::Usage, words });
        };
        let asked = question_text(app, engine.store(), &asks, &question).await?.unwrap_or_default();
        let asked = spelled(&asked);
        // Somebody else may have answered, and the run may ask something else by now.
        if to.is_some_and(|to| to != question.id) {
            let words = app.text("run.other_question", &[("question", &asked)]);
            return Err(Failure { exit: Exit::Usage, words });
        }
        app.note("run.answers", &[("question", &asked)]);
        let (text, said) = match reply::taken(app, &question, &text) {
            Taken::Sent { text, said } => (text, said),
            Taken::Again(words) => return Err(Failure { exit: Exit::Usage, words }),
        };
        let answer = Asked { question: question.id, text, by: "user".to_owned() };
        let sent = engine.answer(&asks, answer).await.map_err(|error| app.store_failure(&error))?;
        match sent {
            Sent::AlreadySent => app.note("run.already_answered", &[]),
            _ => app.note_line(&said),
        }
    }
    // Whoever names a run wants it to go on, however often it was interrupted before.
    engine.store().reset_stall_count(&run).await.map_err(|error| app.store_failure(&error))?;
    let front = family::front(app, engine.store(), &run).await?;
    engine.wake_now(&front).await.map_err(|error| app.store_failure(&error))?;
    drive_here(Foreground { app, engine, run, format }).await
}
