//! `everloop runs`: list, show, events, cancel, resume; `settle` has a file of its own.

use super::foreground::{Foreground, drive_here};
use super::{clean, family, settle, switch};
use crate::args::{OutputFormat, RunsVerb};
use crate::chat::answered;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::failure::of_answer;
use crate::show::{backed_plan_lines, labels_line, preview, timestamp};
use crate::terminal::{self, marks};
use crate::trouble;
use everloop_agenda::show::padded;
use everloop_app::answers::{AnswerDraft, RunAnswer, let_go_on};
use everloop_app::canceling::{self, CancelOutcome};
use everloop_app::run_json;
use everloop_app::run_list::{RunListRequest, RunPage};
use everloop_app::runs::{RunDetails, history};
use everloop_app::trouble::{AdviceFor, ModelTrouble, final_words};
use everloop_engine::Projector;
use everloop_store::{OutboxCount, Store};
use everloop_text::{self as text, TextOf};
use everloop_types::{RunId, Status, one_line, spelled};
use serde_json::json;

/// Columns of the longest name of a loop, `plan-execute-think`.
const LOOP_COLUMNS: usize = 18;

pub(crate) async fn runs(app: &Console, args: RunsVerb) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    match args {
        RunsVerb::List { json, status, limit, cursor } => {
            let request = RunListRequest { statuses: status, limit, cursor };
            list(app, &store, request, as_format(json)).await
        }
        RunsVerb::Show { id, json } => show(app, &store, &id, as_format(json)).await,
        RunsVerb::Tree { id, json } => family::tree(app, &store, &id, as_format(json)).await,
        RunsVerb::Events { id, after } => events(app, &store, &id, after).await,
        RunsVerb::Cancel { id } => cancel(app, store, &id).await,
        RunsVerb::Delete(args) => clean::delete(app, store, &args).await,
        RunsVerb::Resume { id, answer, to, output_format } => {
            let answer = answer.map(|text| RunAnswer { text, question: to });
            resume(app, store, &id, answer, output_format).await
        }
        RunsVerb::Switch { id, loop_name, yes, output_format } => {
            switch::switch(app, store, &id, &loop_name, yes, output_format).await
        }
        RunsVerb::Settle { id, word, effect } => {
            settle::settle(app, store, &id, word, effect.as_deref()).await
        }
    }
}

fn as_format(json: bool) -> OutputFormat {
    if json { OutputFormat::Json } else { OutputFormat::Text }
}

/// A run with its numbers, folded from its journal.
pub(crate) async fn details(
    app: &Console,
    store: &Store,
    run: &RunId,
) -> Result<RunDetails, Failure> {
    RunDetails::read(app, store, run).await.map_err(|error| app.fail(error))
}

async fn list(
    app: &Console,
    store: &Store,
    request: RunListRequest,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let is_narrowed = !request.statuses.is_empty() || request.cursor.is_some();
    let page = app.checked(RunPage::read(app, store, request).await)?;
    if format == OutputFormat::Json {
        terminal::answer_json(&page.to_json());
        return Ok(Exit::Done);
    }
    if page.runs.is_empty() {
        app.note(if is_narrowed { text::runs::none_such() } else { text::runs::none() });
    }
    for run in &page.runs {
        let row = &run.row;
        let status = padded(&status_words(app, row.status, run.is_settled_since()), 11);
        let id = one_line(row.run.as_str());
        let created = timestamp(row.times.created_at);
        let name = padded(&one_line(&row.loop_name), LOOP_COLUMNS);
        let mark = if row.origin.parent.is_some() { "↳ " } else { "" };
        let imported = family::imported_mark(app, row);
        let goal = preview(&row.goal);
        terminal::answer(&format!("{id}  {status}  {name}  {created}  {mark}{imported}{goal}"));
    }
    Ok(Exit::Done)
}

/// The status, and whether what was unknown is known since.
fn status_words(app: &Console, status: Status, settled: bool) -> String {
    match settled {
        true => app.text(text::runs::settled_since(&status)),
        false => everloop_text::status(app.lang, status).to_owned(),
    }
}

async fn show(
    app: &Console,
    store: &Store,
    id: &str,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let shown = details(app, store, &run).await?;
    let children = store.runs().children(&run).await.map_err(|error| app.store_failure(&error))?;
    let trouble = ModelTrouble::of_run(app, &shown);
    if format == OutputFormat::Json {
        let mut whole = shown.whole();
        whole["error"] = json!(trouble.map(|trouble| trouble.report(app.lang)));
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
    show_end(app, &shown, trouble.as_ref());
    Ok(Exit::Done)
}

/// The last words of a run, and what is wrong with its model.
fn show_end(app: &Console, shown: &RunDetails, trouble: Option<&ModelTrouble>) {
    let words = trouble.map(|trouble| trouble::words(app, trouble, AdviceFor::Shell));
    for text in [final_words(shown, trouble), words].into_iter().flatten() {
        terminal::answer(&format!("\n{}", spelled(&text)));
    }
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
    answer: Option<RunAnswer>,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    if let Some(answer) = answer {
        let tell = |asked: &str| app.note(text::run::answers(&asked));
        let draft = AnswerDraft::read(app, engine.store(), &run, answer, tell).await;
        let draft = draft.map_err(|error| of_answer(app, &run, error))?;
        if app.checked(draft.send(&engine).await)? {
            app.note_line(&answered(app, &draft.meaning));
        } else {
            app.note(text::run::already_answered());
        }
    }
    app.checked(let_go_on(&engine, &run).await)?;
    drive_here(Foreground { app, engine, run, format }).await
}
