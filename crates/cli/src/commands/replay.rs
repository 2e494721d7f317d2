//! `everloop replay`: the journal as a story, the state at any entry, a verdict.

use crate::args::Replay;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::{backed_plan_lines, clock_time};
use crate::terminal::{self, marks};
use everloop_app::runs::history;
use everloop_engine::{History, ReplayVerdict, story};
use everloop_text::{self as text, Text, TextOf};
use everloop_types::{Message, one_line, spelled, without_mark};
use serde_json::json;

pub(crate) async fn replay(app: &Console, args: &Replay) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let run = app.find_run(&store, &args.id).await?;
    let history = match (app.checked(history(&store, &run).await), args.verify) {
        (Err(failure), true) if failure.exit == Exit::Data => {
            let verdict = ReplayVerdict::Cannot { reason: failure.words };
            return Ok(print_verdict(app, args, &verdict));
        }
        (history, _) => history?,
    };
    if args.verify {
        return Ok(print_verdict(app, args, &history.verify()));
    }
    match args.at {
        Some(seq) => at(app, &history, seq, args),
        None => Ok(tell(app, &history, args)),
    }
}

/// The story, for `replay` and for the tour.
pub(crate) fn tell(app: &Console, history: &History, args: &Replay) -> Exit {
    for line in story::story_of(history) {
        let words = everloop_text::render(&line.words, app.lang);
        if args.json {
            let event = json!({"seq": line.seq, "ts": line.at, "text": words});
            terminal::answer(&event.to_string());
        } else {
            let words = one_line(&words);
            terminal::answer(&format!("{:>4}  {}  {words}", line.seq, clock_time(line.at)));
        }
    }
    if let (Some(text), false) = (history.final_text(), args.json) {
        terminal::answer(&format!("\n{}", spelled(text)));
    }
    Exit::Done
}

fn at(app: &Console, history: &History, seq: i64, args: &Replay) -> Result<Exit, Failure> {
    let last = history.entries.last().map_or(0, |entry| entry.seq);
    if !(1..=last).contains(&seq) {
        let (wanted, last) = (seq.to_string(), last.to_string());
        let words = app.text(text::replay::no_event(&wanted, &last));
        return Err(Failure { exit: Exit::Usage, words });
    }
    let state = history.state_at(seq).map_err(|error| app.store_failure(&error))?;
    if args.json {
        terminal::answer(&state.state().replace(history.frame().mark(), ""));
        return Ok(Exit::Done);
    }
    let (counts, progress) = (state.counts(), state.progress());
    let rows: [(TextOf, String); 6] = [
        (text::replay::state_at, seq.to_string()),
        (
            if progress.round.is_some() {
                text::replay::state_rounds
            } else {
                text::replay::state_steps
            },
            format!("{}/{}", progress.steps, progress.steps_max),
        ),
        (text::runs::show_model_calls, counts.model_calls.to_string()),
        (text::runs::show_tool_calls, counts.tool_calls.to_string()),
        (text::replay::state_outstanding, state.open_count().to_string()),
        (text::replay::state_messages, state.messages().len().to_string()),
    ];
    for (text, value) in rows {
        terminal::answer(&app.text(text(&value)));
    }
    let plan = backed_plan_lines(app, &progress, &marks());
    plan.iter().for_each(|line| terminal::answer(line));
    for message in state.messages() {
        terminal::answer(&format!(
            "\n[{}]\n{}",
            app.text(role(message)),
            spelled(&without_mark(message.text(), history.frame().mark()))
        ));
    }
    Ok(Exit::Done)
}

fn role(message: &Message) -> Text {
    match message {
        Message::System { .. } => text::replay::role::system(),
        Message::User { .. } => text::replay::role::user(),
        Message::Assistant { .. } => text::replay::role::assistant(),
        Message::Tool { .. } => text::replay::role::tool(),
    }
}

/// The verdict, and always what was not checked.
fn print_verdict(app: &Console, args: &Replay, verdict: &ReplayVerdict) -> Exit {
    let (name, exit) = match verdict {
        ReplayVerdict::Verified { .. } => ("verified", Exit::Done),
        ReplayVerdict::Diverged { .. } => ("diverged", Exit::Failed),
        ReplayVerdict::OutcomeDiffers { .. } => ("outcome_differs", Exit::Failed),
        ReplayVerdict::Cannot { .. } => ("cannot", Exit::Failed),
    };
    if args.json {
        let not_checked = app.text(text::verify::not_checked());
        let (at, expected, found, reason) = match verdict {
            ReplayVerdict::Verified { .. } => (None, None, None, None),
            ReplayVerdict::Diverged { at, expected, found } => {
                (Some(at), Some(expected), Some(found), None)
            }
            ReplayVerdict::OutcomeDiffers { expected, found } => {
                (None, Some(expected), Some(found), None)
            }
            ReplayVerdict::Cannot { reason } => (None, None, None, Some(reason)),
        };
        let verdict = json!({"verdict": name, "at": at, "expected": expected, "found": found,
                             "reason": reason, "not_checked": not_checked});
        terminal::answer(&verdict.to_string());
        return exit;
    }
    let words = match verdict {
        ReplayVerdict::Verified { decisions } => app.text(text::verify::verified(&decisions)),
        ReplayVerdict::Diverged { at, expected, found } => {
            let at = at.to_string();
            app.text(text::verify::Diverged { at: &at, expected: &expected, found: &found }.text())
        }
        ReplayVerdict::OutcomeDiffers { expected, found } => {
            app.text(text::verify::outcome_differs(&expected, &found))
        }
        ReplayVerdict::Cannot { reason } => app.text(text::verify::cannot(&reason)),
    };
    terminal::answer(&words);
    terminal::answer(&app.text(text::verify::not_checked()));
    exit
}
