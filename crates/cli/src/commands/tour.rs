//! `everloop tour`: shows the steps of the tour as they happen.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::tour::{TourLoopResult, TourPart, TourStep, play_tour};
use everloop_text::{self as text, Text};

pub(crate) async fn tour(app: &Console) -> Result<Exit, Failure> {
    let played = play_tour(app, &mut |step| show(app, step)).await;
    played.map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))?;
    Ok(Exit::Done)
}

fn show(app: &Console, step: TourStep) {
    terminal::answer(&match step {
        TourStep::Explain { part } => format!("\n{}", app.text(explanation(part))),
        TourStep::Command { line } => format!("$ {line}"),
        TourStep::Output { text } => indented(&text),
        TourStep::Killed { pid, signal } => app.text(text::tour::killed(&pid, &signal)),
        TourStep::LoopEnded(ended) => indented(&count_line(app, &ended)),
    });
}

fn explanation(part: TourPart) -> Text {
    match part {
        TourPart::Welcome => text::tour::welcome(),
        TourPart::KillBetweenSteps => text::tour::scene_one(),
        TourPart::Story => text::tour::story(),
        TourPart::Verify => text::tour::verify(),
        TourPart::KillDuringCall => text::tour::scene_two(),
        TourPart::Ledger => text::tour::ledger(),
        TourPart::EveryLoop => text::tour::scene_three(),
        TourPart::End => text::tour::end(),
    }
}

fn count_line(app: &Console, ended: &TourLoopResult) -> String {
    app.text(
        text::tour::CountLine {
            name: &padded(&ended.loop_name, 18),
            models: &ended.model_calls,
            tools: &ended.tool_calls,
            status: &ended.status,
            text: &ended.text,
        }
        .text(),
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
