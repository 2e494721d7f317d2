//! `everloop runs`: list, show, events, cancel, resume; `settle` has a file of its own.

use super::foreground::{Foreground, drive_here};
use super::{clean, family, retry, settle, switch, undo};
use crate::args::{OutputFormat, RunsVerb};
use everloop_app::answers::{AnswerDraft, AnswerIntent, RunAnswer, let_go_on};
use everloop_app::canceling::{self, CancelOutcome};
use everloop_app::conversations::short_folder;
use everloop_app::retrying::RetryOptions;
use everloop_app::run_json;
use everloop_app::run_list::{RunListRequest, RunPage};
use everloop_app::runs::{RunDetails, history};
use everloop_app::trouble::{AdviceFor, ModelTrouble, final_words};
use everloop_console::failure::of_answer;
use everloop_console::show::answering::answered_line;
use everloop_console::show::approval::question_words;
use everloop_console::show::run_list::{RunLine, RunListTable};
use everloop_console::show::{
    backed_plan_lines, diff_lines, labels_line, preview, settling, timestamp,
};
use everloop_console::terminal::marks;
use everloop_console::{Console, Exit, Failure, terminal, trouble};
use everloop_engine::Projector;
use everloop_store::{OutboxCount, Store};
use everloop_text::{self as text, TextOf};
use everloop_types::journal::{EffectFinished, EntryKind};
use everloop_types::{Question, RunId, Status, one_line, spelled};
use serde_json::json;

pub(crate) async fn runs(app: &Console, args: RunsVerb) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    match args {
        RunsVerb::List { json, status, limit, cursor } => {
            let request = RunListRequest { statuses: status, limit, cursor };
            list(app, &store, request, as_format(json)).await
        }
        RunsVerb::Show { id, json, diff } => {
            let shown = show(app, &store, &id, as_format(json)).await?;
            if diff && !json {
                show_diffs(app, &store, &id).await?;
            }
            Ok(shown)
        }
        RunsVerb::Tree { id, json } => family::tree(app, &store, &id, as_format(json)).await,
        RunsVerb::Events { id, after } => events(app, &store, &id, after).await,
        RunsVerb::Cancel { id, json } => cancel(app, store, &id, json).await,
        RunsVerb::Delete(args) => clean::delete(app, store, &args).await,
        RunsVerb::Resume { id, answer, to, output_format, json } => {
            let answer = answer.map(|text| {
                let intent = AnswerIntent::Words(text);
                RunAnswer { intent, question: to }
            });
            resume(app, store, &id, answer, output_format.or_json(json)).await
        }
        RunsVerb::Switch { id, loop_name, yes, output_format, json } => {
            let output_format = output_format.or_json(json);
            switch::switch(app, store, &id, &loop_name, yes, output_format).await
        }
        RunsVerb::Undo(args) => undo::undo(app, &store, &args).await,
        RunsVerb::Retry { id, background, model, yes, key, output_format, json } => {
            let options = RetryOptions { model, approve_all: yes, idem_key: key };
            let format = output_format.or_json(json);
            retry::retry(app, store, &id, options, background, format).await
        }
        RunsVerb::Settle { id, word, effect, json } => {
            settle::settle(app, store, &id, word, effect.as_deref(), json).await
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
        terminal::print_json(&page.to_json());
        return Ok(Exit::Done);
    }
    if page.runs.is_empty() {
        let none = if is_narrowed { text::runs::none_such() } else { text::runs::none() };
        terminal::print_line(&app.text(none));
    } else {
        print_table(app, &page);
    }
    Ok(Exit::Done)
}

fn print_table(app: &Console, page: &RunPage) {
    let mut table = RunListTable::new(app);
    for run in &page.runs {
        let row = &run.row;
        // A task is under no loop that anybody chose: its type says more.
        let kind = if row.profile.is_agent() { &row.loop_name } else { &row.profile.run_type };
        let mark = if row.origin.parent.is_some() { "↳ " } else { "" };
        let imported = family::imported_mark(app, row);
        let goal = preview(row.profile.title.as_ref().unwrap_or(&row.goal));
        table.row(RunLine {
            id: row.run.short(),
            status: status_words(app, row.status, run.is_settled_since()),
            kind,
            created_at: row.times.created_at,
            goal: format!("{mark}{imported}{goal}"),
        });
    }
    table.print();
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
        terminal::print_line(&whole.to_string());
        return Ok(Exit::Done);
    }
    show_rows(app, &shown);
    show_profile(app, &shown);
    if let Some(labels) = labels_line(app, &shown.history.holding()) {
        terminal::print_line(&labels);
    }
    if let Some(cost) = &shown.cost {
        terminal::print_line(&app.text(text::runs::show_cost(&cost.words())));
    }
    show_forks(app, &shown);
    family::show_relations(app, &shown.row, &children);
    let OutboxCount { sent, waiting } = shown.messages;
    if sent + waiting > 0 {
        terminal::print_line(&app.text(text::runs::show_messages(&sent, &waiting)));
    }
    let plan = backed_plan_lines(app, &shown.progress, &marks());
    plan.iter().for_each(terminal::print_styled);
    for unknown in &shown.unknowns {
        terminal::print_line(&settling::line(app, unknown));
    }
    if shown.has_open_unknown() {
        app.note(text::settle::how(&shown.row.run.short()));
    }
    show_end(app, &shown, trouble.as_ref());
    Ok(Exit::Done)
}

/// What it is, and what it took, a line each.
fn show_rows(app: &Console, shown: &RunDetails) {
    let counts = shown.counts;
    let frame = shown.history.frame();
    let seconds = format!("{:.1}", shown.duration_ms() as f64 / 1000.0);
    let rows: [(TextOf, String); 11] = [
        (text::runs::show_id, shown.row.run.to_string()),
        (text::runs::show_goal, one_line(&shown.row.goal)),
        (text::runs::show_status, status_words(app, shown.row.status, shown.is_settled_since())),
        (text::runs::show_loop, one_line(&shown.row.loop_name)),
        (text::runs::show_model, one_line(&frame.model.name)),
        (text::runs::show_workspace, one_line(&short_folder(&frame.workspace))),
        (text::runs::show_created, timestamp(shown.row.times.created_at)),
        (text::runs::show_duration, app.text(text::ended::seconds(&seconds))),
        (text::runs::show_model_calls, counts.model_calls.to_string()),
        (text::runs::show_tool_calls, counts.tool_calls.to_string()),
        (
            text::runs::show_tokens,
            format!("{} + {}", counts.usage.input_tokens, counts.usage.output_tokens),
        ),
    ];
    for (text, value) in rows {
        terminal::print_line(&app.text(text(&value)));
    }
}

/// What it changed in files, call by call.
async fn show_diffs(app: &Console, store: &Store, id: &str) -> Result<(), Failure> {
    let run = app.find_run(store, id).await?;
    let history = app.checked(history(store, &run).await)?;
    for entry in &history.entries {
        if let EntryKind::EffectFinished(EffectFinished { change: Some(change), .. }) = &entry.kind
        {
            terminal::print_line("");
            diff_lines(app, change, usize::MAX).iter().for_each(terminal::print_styled);
        }
    }
    Ok(())
}

/// The last words of a run, and what is wrong with its model.
fn show_end(app: &Console, shown: &RunDetails, trouble: Option<&ModelTrouble>) {
    if let Some(answer) = final_words(shown, trouble) {
        terminal::print_line("");
        terminal::print_markdown(&spelled(&answer));
    }
    if let Some(trouble) = trouble {
        terminal::print_line("");
        terminal::print_error(&spelled(&trouble::words(app, trouble, AdviceFor::Shell)));
    }
}

/// What kind of run it is, where it is not a plain one.
fn show_profile(app: &Console, shown: &RunDetails) {
    let profile = &shown.row.profile;
    let wakes = shown.row.times.wake_at.filter(|_| shown.row.status == Status::Waiting);
    let again: Vec<&str> = shown.retries.iter().map(RunId::short).collect();
    let rows = [
        (!profile.is_agent()).then(|| text::tasks::show_type(&one_line(&profile.run_type))),
        profile.title.as_ref().map(|title| text::tasks::show_title(&one_line(title))),
        profile.retry_of.as_ref().map(|run| text::tasks::show_retry_of(&one_line(run.short()))),
        (!again.is_empty()).then(|| text::tasks::show_retries(&one_line(&again.join(", ")))),
        wakes.map(|at| text::tasks::show_wakes(&timestamp(at))),
        shown.row.origin.imported.then(text::runs::show_imported),
    ];
    rows.into_iter().flatten().for_each(|row| terminal::print_line(&app.text(row)));
}

/// What it was forked from, and what was forked from it.
fn show_forks(app: &Console, shown: &RunDetails) {
    let relations: [(TextOf, _); 2] = [
        (text::runs::show_forked, shown.row.origin.forked.as_slice()),
        (text::runs::show_forks, shown.forks.as_slice()),
    ];
    for (key, others) in relations {
        let others: Vec<String> = others
            .iter()
            .map(|other| format!("{} @ {}", other.run.short(), other.at_seq))
            .collect();
        if !others.is_empty() {
            terminal::print_line(&app.text(key(&one_line(&others.join(", ")))));
        }
    }
}

async fn events(app: &Console, store: &Store, id: &str, after: i64) -> Result<Exit, Failure> {
    let run = app.find_run(store, id).await?;
    let history = history(store, &run).await.map_err(|error| app.fail(error))?;
    for event in Projector::past(&history).iter().filter(|event| event.seq > after) {
        terminal::print_line(&event.to_json());
    }
    Ok(Exit::Done)
}

async fn cancel(app: &Console, store: Store, id: &str, json: bool) -> Result<Exit, Failure> {
    let run = app.find_run(&store, id).await?;
    let engine = app.engine(store).await?;
    let outcome = app.checked(canceling::cancel(app, &engine, &run).await)?;
    if json {
        let (result, status) = match &outcome {
            CancelOutcome::AlreadyOver(status) => ("already_over", Some(*status)),
            CancelOutcome::Canceled => ("canceled", Some(Status::Canceled)),
            CancelOutcome::Waits => ("requested", None),
        };
        terminal::print_json(&json!({"run_id": run, "result": result, "status": status}));
        return Ok(Exit::Done);
    }
    app.note(match outcome {
        CancelOutcome::AlreadyOver(status) => text::run::already_finished(&run.short(), &status),
        CancelOutcome::Canceled => text::run::is_canceled(&run.short()),
        CancelOutcome::Waits => text::run::cancel_waits(&run.short()),
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
        let tell = |question: &Question, asked: &str| {
            app.note(text::run::answers(&question_words(app, question, asked)));
        };
        let draft = AnswerDraft::read(app, engine.store(), &run, answer, tell).await;
        let draft = draft.map_err(|error| of_answer(app, &run, error))?;
        if app.checked(draft.send(&engine).await)? {
            app.note_styled(&answered_line(app, &draft.meaning));
        } else {
            app.note(text::run::already_answered());
        }
    }
    app.checked(let_go_on(&engine, &run).await)?;
    drive_here(Foreground { app, engine, run, format }).await
}
