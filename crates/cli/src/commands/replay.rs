//! `everloop replay`: the journal as a story, the state at any entry, a verdict.

use crate::args::ReplayArgs;
use everloop_app::replay::{VerdictReport, tell_story, verify_run};
use everloop_app::runs::history;
use everloop_console::show::{backed_plan_lines, clock_time};
use everloop_console::terminal::marks;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_engine::{History, ReplayVerdict};
use everloop_text::{self as text, Text, TextOf};
use everloop_types::{Message, one_line, spelled, without_mark};

pub(crate) async fn replay(app: &Console, args: &ReplayArgs) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let run = app.find_run(&store, &args.id).await?;
    if args.verify {
        let verdict = app.checked(verify_run(&store, &run, app.lang).await)?;
        return Ok(print_verdict(app, args, &verdict));
    }
    let history = app.checked(history(&store, &run).await)?;
    match args.at {
        Some(seq) => at(app, &history, seq, args),
        None => Ok(tell(app, &history, args)),
    }
}

fn tell(app: &Console, history: &History, args: &ReplayArgs) -> Exit {
    for line in tell_story(history, app.lang) {
        if args.json {
            terminal::print_json(&line);
        } else {
            let words = one_line(&line.text);
            terminal::print_line(&format!("{:>4}  {}  {words}", line.seq, clock_time(line.ts)));
        }
    }
    if let (Some(text), false) = (history.final_text(), args.json) {
        terminal::print_line(&format!("\n{}", spelled(text)));
    }
    Exit::Done
}

fn at(app: &Console, history: &History, seq: i64, args: &ReplayArgs) -> Result<Exit, Failure> {
    let last = history.entries.last().map_or(0, |entry| entry.seq);
    if !(1..=last).contains(&seq) {
        let (wanted, last) = (seq.to_string(), last.to_string());
        let words = app.text(text::replay::no_event(&wanted, &last));
        return Err(Failure { exit: Exit::Usage, words });
    }
    let state = history.state_at(seq).map_err(|error| app.store_failure(&error))?;
    if args.json {
        terminal::print_line(&state.state().replace(history.frame().mark(), ""));
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
        terminal::print_line(&app.text(text(&value)));
    }
    let plan = backed_plan_lines(app, &progress, &marks());
    plan.iter().for_each(terminal::print_styled);
    for message in state.messages() {
        terminal::print_line(&format!(
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
fn print_verdict(app: &Console, args: &ReplayArgs, verdict: &ReplayVerdict) -> Exit {
    let exit = match verdict {
        ReplayVerdict::Verified { .. } => Exit::Done,
        ReplayVerdict::Diverged { .. }
        | ReplayVerdict::OutcomeDiffers { .. }
        | ReplayVerdict::Cannot { .. } => Exit::Failed,
    };
    if args.json {
        terminal::print_json(&VerdictReport::of(verdict, app.lang));
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
    terminal::print_line(&words);
    terminal::print_line(&app.text(text::verify::not_checked()));
    exit
}
