//! `everloop runs`: list, show, events, cancel, resume; `settle` has a file of its own.

use super::foreground::{Foreground, drive_here};
use super::{clean, family, reply, settle, switch};
use crate::args::{Format, Runs};
use crate::chat::answered;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::{backed_plan_lines, labels_line, preview, row_json, timestamp};
use crate::terminal::{self, marks};
use crate::trouble::{self, Read};
use everloop_agenda::show::padded;
use everloop_app::answers::{AnswerReading, read_answer};
use everloop_app::canceling::{self, CancelOutcome};
use everloop_app::run_json;
use everloop_app::runs::{RunDetails, front, history, question_text};
use everloop_app::trouble::ModelTrouble;
use everloop_engine::{Projector, QuestionAnswer};
use everloop_store::{InboxSendResult, OutboxCount, RunFilter, RunRow, Store};
use everloop_text::{self as text, TextOf};
use everloop_types::journal::WaitingOn;
use everloop_types::{RunId, Status, one_line, spelled};
use serde_json::{Value, json};

/// Columns of the longest name of a loop, `plan-execute-think`.
const LOOP_COLUMNS: usize = 18;

pub(crate) async fn runs(app: &Console, args: Runs) -> Result<Exit, Failure> {
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
pub(crate) async fn details(
    app: &Console,
    store: &Store,
    run: &RunId,
) -> Result<RunDetails, Failure> {
    RunDetails::read(app, store, run).await.map_err(|error| app.fail(error))
}

fn filter(
    app: &Console,
    words: &[String],
    limit: usize,
    cursor: Option<String>,
) -> Result<RunFilter, Failure> {
    let mut statuses = Vec::new();
    for word in words {
        let Some(status) = Status::parse(word) else {
            let all = Status::ALL.map(Status::as_str).join(", ");
            let words = app.text(text::runs::no_status(&word, &all));
            return Err(Failure { exit: Exit::Usage, words });
        };
        statuses.push(status);
    }
    Ok(RunFilter { statuses, before: cursor.map(RunId::new), most: limit.clamp(1, 1000) })
}

async fn list(
    app: &Console,
    store: &Store,
    filter: &RunFilter,
    format: Format,
) -> Result<Exit, Failure> {
    // One more than is shown tells whether anything follows.
    let one_more = RunFilter { most: filter.most + 1, ..filter.clone() };
    let mut rows = store.runs().list(&one_more).await.map_err(|error| app.store_failure(&error))?;
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
        app.note(if narrowed { text::runs::none_such() } else { text::runs::none() });
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
async fn open_count(app: &Console, store: &Store, row: &RunRow) -> Result<Option<usize>, Failure> {
    if row.status != Status::Unsettled {
        return Ok(None);
    }
    let shown = details(app, store, &row.run).await?;
    let open = shown.unknowns.iter().filter(|unknown| unknown.settled.is_none()).count();
    Ok((!shown.unknowns.is_empty()).then_some(open))
}

/// The status, and whether what was unknown is known since.
fn status_words(app: &Console, status: Status, settled: bool) -> String {
    match settled {
        true => app.text(text::runs::settled_since(&status)),
        false => everloop_text::status(app.lang, status).to_owned(),
    }
}

async fn show(app: &Console, store: &Store, id: &str, format: Format) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let shown = details(app, store, &run).await?;
    let children = store.runs().children(&run).await.map_err(|error| app.store_failure(&error))?;
    let trouble = ModelTrouble::of_run(app, &shown);
    if format == Format::Json {
        let mut whole = shown.whole();
        whole["error"] = trouble.map_or(Value::Null, |trouble| trouble::object(app, &trouble));
        whole["children"] = children.iter().map(run_json::child).collect();
        terminal::answer(&whole.to_string());
        return Ok(Exit::Done);
    }
    let counts = shown.counts;
    let rows: [(TextOf, String); 8] = [
        (text::runs::show_id, shown.row.run.to_string()),
        (text::runs::show_goal, one_line(&shown.row.goal)),
        (text::runs::show_status, status_words(app, shown.row.status, shown.is_settled_since())),
        (text::runs::show_loop, one_line(&shown.row.loop_name)),
        (text::runs::show_created, timestamp(shown.row.times.created_at)),
        (text::runs::show_model_calls, counts.model_calls.to_string()),
        (text::runs::show_tool_calls, counts.tool_calls.to_string()),
        (
            text::runs::show_tokens,
            format!("{} + {}", counts.usage.input_tokens, counts.usage.output_tokens),
        ),
    ];
    for (text, value) in rows {
        terminal::answer(&app.text(text(&value)));
    }
    if shown.row.origin.imported {
        terminal::answer(&app.text(text::runs::show_imported()));
    }
    if let Some(labels) = labels_line(app, &shown.history.holding()) {
        terminal::answer(&labels);
    }
    if let Some(cost) = &shown.cost {
        terminal::answer(&app.text(text::runs::show_cost(&cost.words())));
    }
    show_forks(app, &shown);
    family::show_relations(app, &shown.row, &children);
    let OutboxCount { sent, waiting } = shown.messages;
    if sent + waiting > 0 {
        terminal::answer(&app.text(text::runs::show_messages(&sent, &waiting)));
    }
    let plan = backed_plan_lines(app, &shown.progress, &marks());
    plan.iter().for_each(|line| terminal::answer(line));
    for unknown in &shown.unknowns {
        terminal::answer(&settle::line(app, unknown));
    }
    if shown.has_open_unknown() {
        app.note(text::settle::how(&shown.row.run));
    }
    let words = trouble.as_ref().map(|trouble| trouble::words(app, trouble, Read::InShell));
    for text in [trouble::said(&shown, trouble.as_ref()), words].into_iter().flatten() {
        terminal::answer(&format!("\n{}", spelled(&text)));
    }
    Ok(Exit::Done)
}

/// What it was forked from, and what was forked from it.
fn show_forks(app: &Console, shown: &RunDetails) {
    let relations: [(TextOf, _); 2] = [
        (text::runs::show_forked, shown.row.origin.forked.as_slice()),
        (text::runs::show_forks, shown.forks.as_slice()),
    ];
    for (key, others) in relations {
        let others: Vec<String> =
            others.iter().map(|other| format!("{} @ {}", other.run, other.at_seq)).collect();
        if !others.is_empty() {
            terminal::answer(&app.text(key(&one_line(&others.join(", ")))));
        }
    }
}

async fn events(app: &Console, store: &Store, id: &str, after: i64) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let history = history(store, &run).await.map_err(|error| app.fail(error))?;
    for event in Projector::past(&history).iter().filter(|event| event.seq > after) {
        terminal::answer(&event.to_json());
    }
    Ok(Exit::Done)
}

async fn cancel(app: &Console, store: Store, id: &str) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    app.note(match app.checked(canceling::cancel(app, &engine, &run).await)? {
        CancelOutcome::AlreadyOver(status) => text::run::already_finished(&run, &status),
        CancelOutcome::Canceled => text::run::is_canceled(&run),
        CancelOutcome::Waits => text::run::cancel_waits(&run),
    });
    Ok(Exit::Done)
}

async fn resume(
    app: &Console,
    store: Store,
    id: &str,
    answer: Option<(String, Option<String>)>,
    format: Format,
) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    if let Some((text, to)) = answer {
        if text.trim().is_empty() {
            let words = app.text(text::run::empty_answer(&run));
            return Err(Failure { exit: Exit::Usage, words });
        }
        let asks = front(engine.store(), &run).await.map_err(|error| app.fail(error))?;
        let waiting = details(app, engine.store(), &asks).await?.waiting_on;
        let Some(WaitingOn::Person { question }) = waiting else {
            let words = app.text(text::run::asks_nothing(&run));
            return Err(Failure { exit: Exit::Usage, words });
        };
        let asked = question_text(engine.store(), &asks, &question).await;
        let asked = asked.map_err(|error| app.fail(error))?.unwrap_or_default();
        let asked = spelled(&asked);
        // Somebody else may have answered, and the run may ask something else by now.
        if to.is_some_and(|to| to != question.id) {
            let words = app.text(text::run::other_question(&asked));
            return Err(Failure { exit: Exit::Usage, words });
        }
        app.note(text::run::answers(&asked));
        let AnswerReading::Send { text, meaning } = read_answer(&question, &text) else {
            let words = reply::unclear(app, &question, &text);
            return Err(Failure { exit: Exit::Usage, words });
        };
        let answer = QuestionAnswer { question: question.id, text, by: "user".to_owned() };
        let sent = engine.answer(&asks, answer).await.map_err(|error| app.store_failure(&error))?;
        match sent {
            InboxSendResult::AlreadySent => app.note(text::run::already_answered()),
            _ => app.note_line(&answered(app, &meaning)),
        }
    }
    // Whoever names a run wants it to go on, however often it was interrupted before.
    engine
        .store()
        .queue()
        .reset_stall_count(&run)
        .await
        .map_err(|error| app.store_failure(&error))?;
    let front = front(engine.store(), &run).await.map_err(|error| app.fail(error))?;
    engine.wake_now(&front).await.map_err(|error| app.store_failure(&error))?;
    drive_here(Foreground { app, engine, run, format }).await
}
