//! A chat without a terminal: one line is one input, carried through until its run ends or asks.
//!
//! Questions and answers go to stdout, progress to stderr. The end of the input is the end.

use super::follow::{LOOK_AGAIN, Still, run_of};
use super::session::{Heard, Session};
use crate::commands::tour;
use crate::exit::{Exit, Failure};
use crate::show::{Manner, Printer};
use crate::signals::Signals;
use crate::terminal;
use everloop_assistant::show::firing_line;
use everloop_types::RunId;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

type Input = Lines<BufReader<Stdin>>;

pub(super) async fn talk(mut session: Session, first: Option<String>) -> Result<Exit, Failure> {
    let exit = talk_in(&mut session, first).await;
    session.leave().await;
    exit
}

async fn talk_in(session: &mut Session, first: Option<String>) -> Result<Exit, Failure> {
    let mut signals = Signals::new(&session.app)?;
    if let Some(exit) = take_up(session, &mut signals).await? {
        return Ok(exit);
    }
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let mut next = first;
    loop {
        announce(session).await?;
        let line = match next.take() {
            Some(line) => line,
            None => match read(&mut input, &mut signals).await {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(Exit::Done),
                Err(exit) => return Ok(exit),
            },
        };
        match session.hear(&line).await? {
            Heard::Said(words) => terminal::answer(&words),
            Heard::Follow(run) => match follow(session, &run, &mut signals).await? {
                Some(exit) => return Ok(exit),
                None => continue,
            },
            Heard::Confirm(command) => {
                if !confirm(session, &command, &mut input, &mut signals).await? {
                    return Ok(Exit::Done);
                }
            }
            Heard::Background => terminal::answer(&session.text("chat.nothing_in_front", &[])),
            Heard::Clear => {}
            Heard::Tour => {
                tour::tour(&session.app).await?;
            }
            Heard::Quit => return Ok(Exit::Done),
        }
    }
}

/// What an earlier process left: a run that it broke off is carried through first, as the line
/// that began it would have been; a question that waits is asked again.
async fn take_up(session: &mut Session, signals: &mut Signals) -> Result<Option<Exit>, Failure> {
    session.recovered.iter().for_each(|line| terminal::complain(line));
    if !session.recovered.is_empty()
        && let Some(run) = session.going().await?
    {
        return follow(session, &run, signals).await;
    }
    let open = session.door.open_question(session.store()).await;
    if let Some(open) = open.map_err(|error| session.fail(&error))? {
        terminal::answer(&open.text);
        terminal::complain(&session.how_to_answer(&open));
    }
    Ok(None)
}

async fn read(input: &mut Input, signals: &mut Signals) -> Result<Option<String>, Exit> {
    tokio::select! {
        line = input.next_line() => Ok(line.unwrap_or(None)),
        exit = signals.next() => Err(exit),
    }
}

/// Shows the command that a sentence became; the next line says yes or no. False at the end.
async fn confirm(
    session: &Session,
    command: &str,
    input: &mut Input,
    signals: &mut Signals,
) -> Result<bool, Failure> {
    terminal::answer(&session.text("rule.understood", &[("command", command)]));
    let Ok(Some(line)) = read(input, signals).await else { return Ok(false) };
    let words = match everloop_text::means_yes(&line) {
        true => session.perform_rule(command).await?,
        false => session.text("rule.dropped", &[]),
    };
    terminal::answer(&words);
    Ok(true)
}

/// Shows what happens to the run until it stands still; an exit if a signal came.
async fn follow(
    session: &mut Session,
    run: &RunId,
    signals: &mut Signals,
) -> Result<Option<Exit>, Failure> {
    let app = session.app.clone();
    let manner = if app.quiet { Manner::Silent } else { Manner::Lines };
    let mut printer = Printer::new(&app, manner);
    let still = loop {
        tokio::select! {
            biased;
            Some(update) = session.watch.recv() => {
                if run_of(&update) == run {
                    printer.show(&update);
                }
            }
            exit = signals.next() => {
                if exit == Exit::Terminated || signals.interrupts > 1 {
                    session.engine.stop();
                    return Ok(Some(exit));
                }
                let sent = session.engine.cancel(run, "ctrl-c").await;
                sent.map_err(|error| session.fail(&error))?;
            }
            () = tokio::time::sleep(LOOK_AGAIN) => {
                if let Some(still) = session.still(run).await? {
                    break still;
                }
            }
        }
    };
    match still {
        Still::Over(shown) => {
            terminal::answer(&shown.text().unwrap_or_default());
            for line in session.afterword(&shown) {
                terminal::complain(&line);
            }
        }
        Still::Asks(open) => {
            terminal::answer(&open.text);
            terminal::complain(&session.how_to_answer(&open));
        }
        Still::NoModel(detail) => {
            let args = [("detail", detail.as_str()), ("id", run.as_str())];
            terminal::answer(&session.text("run.model_down", &args));
        }
    }
    Ok(None)
}

/// Reminders that fired and that nobody has shown yet.
async fn announce(session: &Session) -> Result<(), Failure> {
    let reader = session.reader();
    for firing in session.new_firings().await? {
        terminal::answer(&firing_line(&reader, &firing));
    }
    Ok(())
}
