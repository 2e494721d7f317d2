//! `everloop decide`: what would become of a message, or of a whole labelled set.

use crate::args::DecideArgs;
use everloop_agenda::show::padded;
use everloop_app::deciding::{
    CountRight, DecisionCase, DecisionTrial, EvaluationReport, evaluate, read_cases, shipped_cases,
    try_message,
};
use everloop_app::{AppError, FileError};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use std::path::Path;

/// The largest file of messages that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Messages that were decided wrongly and are listed.
const WRONG_LISTED: usize = 50;

/// Columns of the matrix.
const COLUMNS: [&str; 4] = ["reply", "run", "reply_and_run", "failed"];
const COLUMN: usize = 15;

pub(crate) async fn decide(app: &Console, args: &DecideArgs) -> Result<Exit, Failure> {
    if let Some(file) = &args.evaluate {
        return evaluate_file(app, args, file.as_deref()).await;
    }
    let (model, message) = (args.model.as_deref(), args.message.as_deref().unwrap_or_default());
    let trial = app.checked(try_message(app, model, message, &args.running).await)?;
    if args.json {
        terminal::print_json(&trial);
    } else {
        terminal::print_line(&shown(app, &trial));
    }
    Ok(if trial.got.is_some() { Exit::Done } else { Exit::Failed })
}

fn shown(app: &Console, trial: &DecisionTrial) -> String {
    let mut lines = Vec::new();
    let got =
        trial.got.map_or_else(|| app.text(text::decide::nothing()), |it| it.as_str().to_owned());
    lines.push(app.text(text::decide::decision(&got)));
    if let Some(decision) = &trial.decision {
        if let Some(run) = &decision.run {
            let input = serde_json::Value::Object(run.input.clone()).to_string();
            let (kind, title) = (&run.run_type, run.shown_title());
            lines.push(app.text(text::decide::Run { kind, title: &title, input: &input }.text()));
        }
        let confidence = format!("{:.2}", decision.confidence);
        lines.push(app.text(text::decide::why(&decision.reason, &confidence)));
    }
    lines.extend(trial.error.as_ref().map(|error| app.text(text::decide::error(&error))));
    lines.extend(trial.reply.as_ref().map(|reply| app.text(text::decide::reply(&reply))));
    let used = &trial.usage;
    let tokens = used.input_tokens + used.output_tokens;
    lines.push(app.text(text::decide::used(&trial.calls, &tokens)));
    lines.join("\n")
}

async fn evaluate_file(
    app: &Console,
    args: &DecideArgs,
    file: Option<&Path>,
) -> Result<Exit, Failure> {
    let cases = match file {
        Some(file) => read(app, file)?,
        None => shipped_cases(),
    };
    let (count, json) = (cases.len(), args.json);
    let told = |place: usize, _: &DecisionCase| {
        if !json && place > 0 && place.is_multiple_of(20) {
            app.note(text::decide::progress(&place, &count));
        }
    };
    let report = app.checked(evaluate(app, args.model.as_deref(), &cases, told).await)?;
    if json {
        terminal::print_json(&report);
    } else {
        terminal::print_line(&table(app, &report));
    }
    Ok(Exit::Done)
}

fn read(app: &Console, file: &Path) -> Result<Vec<DecisionCase>, Failure> {
    let not_read = |source| AppError::from(FileError::NotRead { file: file.to_owned(), source });
    let length = app.checked(std::fs::metadata(file).map_err(not_read))?.len();
    if length > FILE_BYTES_MAX {
        return Err(app.fail(FileError::TooLong(FILE_BYTES_MAX).into()));
    }
    let text = app.checked(std::fs::read_to_string(file).map_err(not_read))?;
    let wrong = |error: everloop_app::deciding::CaseError| {
        let (file, line, detail) = (file.display(), error.line, error.detail);
        let wrong = text::decide::BadLine { file: &file, line: &line, detail: &detail };
        app.failure(Exit::Usage, wrong.text())
    };
    read_cases(&text).map_err(wrong)
}

fn table(app: &Console, report: &EvaluationReport) -> String {
    let mut lines = vec![app.text(text::decide::model(&report.model)), String::new()];
    let mut head = padded(&app.text(text::decide::expected()), COLUMN + 2);
    COLUMNS.iter().for_each(|name| head += &padded(name, COLUMN));
    lines.push(head.trim_end().to_owned());
    for expected in &COLUMNS[..3] {
        let Some(row) = report.confusion.get(*expected) else { continue };
        let mut line = padded(expected, COLUMN + 2);
        for got in COLUMNS {
            let count = row.get(got).copied().unwrap_or(0);
            line += &padded(&count.to_string(), COLUMN);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.push(String::new());
    lines.push(right(app, &app.text(text::decide::all()), &report.all));
    for (lang, count) in &report.by_language {
        lines.push(right(app, lang, count));
    }
    lines.push(right(app, &app.text(text::decide::adversarial()), &report.adversarial));
    for (kind, count) in &report.by_adversarial {
        lines.push(right(app, &format!("  {kind}"), count));
    }
    lines.push(right(app, &app.text(text::decide::types()), &report.run_types));
    let used = &report.usage;
    let tokens = used.input_tokens + used.output_tokens;
    lines.push(String::new());
    lines.push(app.text(text::decide::used(&report.calls, &tokens)));
    lines.push(match &report.cost {
        Some(cost) => app.text(text::decide::cost(&cost)),
        None => app.text(text::decide::no_cost()),
    });
    for wrong in report.wrong.iter().take(WRONG_LISTED) {
        let (id, message) = (&wrong.id, everloop_types::one_line(&wrong.message));
        let (expected, got) = (&wrong.expected, &wrong.got);
        lines.push(app.text(text::decide::Wrong { id, expected, got, message: &message }.text()));
    }
    lines.join("\n")
}

fn right(app: &Console, name: &str, count: &CountRight) -> String {
    let percent = count.percent().unwrap_or_else(|| "–".to_owned());
    let name = padded(name, COLUMN + 13);
    app.text(
        text::decide::Right {
            name: &name,
            right: &count.right,
            total: &count.total,
            percent: &percent,
        }
        .text(),
    )
}
