//! A chat without a terminal: one line is one input, carried through until its run ends or asks.
//!
//! Questions and answers go to stdout, progress to stderr. The end of the input is the end.

use super::confirm::Verdict;
use super::follow::Still;
use super::session::{Heard, Session};
use crate::commands::{family, tour};
use crate::exit::{Exit, Failure};
use crate::reminding;
use crate::show::{Followed, Following, Manner, Printer};
use crate::signals::Signals;
use crate::terminal;
use crate::trouble::Trouble;
use everloop_types::RunId;
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};

type Input = BufReader<Stdin>;

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
    let mut input = BufReader::new(tokio::io::stdin());
    let mut next = first;
    let mut proposed: Option<String> = None;
    loop {
        announce(session).await;
        tell_unheard(session).await;
        show_question(session).await;
        if let Some(command) = &proposed {
            terminal::answer(&session.confirmation(command));
        }
        let line = match next.take() {
            Some(line) => line,
            None => match read(session, &mut input, &mut signals).await {
                Read::Line(line) => line,
                Read::End => return Ok(end(session).await),
                Read::Signal(exit) => return Ok(exit),
            },
        };
        if let Some(command) = proposed.take() {
            let is_over = confirms(session, command, &line, &mut proposed).await;
            if is_over {
                continue;
            }
        }
        match session.heard(&line).await {
            Heard::Said(words) => {
                terminal::answer(&words);
                let open = session.reminder_of_question();
                open.iter().for_each(|line| terminal::complain(line));
            }
            Heard::Follow(run) => match follow(session, &run, &mut signals).await? {
                Some(exit) => return Ok(exit),
                None => continue,
            },
            Heard::Confirm(command) => proposed = Some(command),
            Heard::Background => terminal::answer(&session.text("chat.nothing_in_front", &[])),
            Heard::Clear => {}
            Heard::Tour => {
                if let Err(failure) = tour::tour(&session.app).await {
                    terminal::answer(&failure.words);
                }
            }
            Heard::Quit => return Ok(Exit::Done),
        }
    }
}

/// The end of the input. Where a question is open, the run that asks is named for whoever answers.
async fn end(session: &mut Session) -> Exit {
    // Without an answer of the store nobody knows better than what was shown last.
    if !session.is_still_asked().await.unwrap_or(session.seen.is_some()) {
        return Exit::Done;
    }
    let Some(open) = session.seen.clone() else { return Exit::Done };
    let run = family::top(&session.app, session.store(), &open.run).await.unwrap_or(open.run);
    let to = open.question.id.as_str();
    let args = [("id", run.as_str()), ("question", open.text.as_str()), ("to", to)];
    terminal::complain(&session.text("run.needs_person", &args));
    terminal::answer(run.as_str());
    Exit::NeedsPerson
}

/// What a line does while a command waits for a yes; whether that is all.
async fn confirms(
    session: &Session,
    command: String,
    line: &str,
    proposed: &mut Option<String>,
) -> bool {
    match session.verdict(&command, line).await {
        Verdict::Over(words) => terminal::answer(&words),
        Verdict::Edit => terminal::answer(&command),
        Verdict::Instead(other) => *proposed = Some(other),
        Verdict::Unclear(words) => {
            if !words.is_empty() {
                terminal::answer(&words);
            }
            *proposed = Some(command);
        }
        Verdict::Another => {
            *proposed = Some(command);
            return false;
        }
    }
    true
}

/// What an earlier process left: a run that it did not finish is carried through first, as the
/// line that began it would have been; a question that waits is asked again.
async fn take_up(session: &mut Session, signals: &mut Signals) -> Result<Option<Exit>, Failure> {
    session.left().lines.iter().for_each(|line| terminal::complain(line));
    for run in std::mem::take(&mut session.left().runs) {
        if let Some(exit) = follow(session, &run, signals).await? {
            return Ok(Some(exit));
        }
    }
    Ok(None)
}

/// Shows the question that the next plain line answers, if it was not shown yet.
async fn show_question(session: &mut Session) {
    if let Some(words) = session.gone_question().await {
        terminal::answer(&words);
    }
    for line in session.questions_of_others().await {
        terminal::complain(&line);
    }
    // A store that fails for a moment is asked again before the next line.
    if let Ok(Some(open)) = session.question_to_show().await {
        terminal::answer(&open.text);
        terminal::complain(&session.how_to_answer(&open));
    }
}

/// What came of waiting for a line.
enum Read {
    Line(String),
    End,
    Signal(Exit),
}

/// The next line. Bytes that are no text are replaced, and what happens meanwhile passes by.
async fn read(session: &mut Session, input: &mut Input, signals: &mut Signals) -> Read {
    let mut line = Vec::new();
    let mut reading = std::pin::pin!(input.read_until(b'\n', &mut line));
    let mut reminders = tokio::time::interval(reminding::LOOK);
    let read = loop {
        tokio::select! {
            read = &mut reading => break read,
            Some(_) = session.watch.recv() => {}
            _ = reminders.tick() => {
                announce(session).await;
                tell_unheard(session).await;
            }
            exit = signals.next() => return Read::Signal(exit),
        }
    };
    match read {
        Ok(0) => Read::End,
        Ok(_) => Read::Line(String::from_utf8_lossy(&line).trim_end().to_owned()),
        Err(error) => {
            terminal::complain(&session.text("error.system", &[("detail", &error.to_string())]));
            Read::End
        }
    }
}

/// Shows what happens to the run, and to those that go on in its place, until one stands still; an
/// exit if a signal came.
async fn follow(
    session: &mut Session,
    run: &RunId,
    signals: &mut Signals,
) -> Result<Option<Exit>, Failure> {
    let mut run = run.clone();
    loop {
        match follow_one(session, &run, signals).await? {
            FollowEnd::GoesOn(to) => run = to,
            FollowEnd::Still => return Ok(None),
            FollowEnd::Signal(exit) => return Ok(Some(exit)),
        }
    }
}

/// What became of following one run.
enum FollowEnd {
    Still,
    GoesOn(RunId),
    Signal(Exit),
}

async fn follow_one(
    session: &mut Session,
    run: &RunId,
    signals: &mut Signals,
) -> Result<FollowEnd, Failure> {
    let app = session.app.clone();
    let manner = if app.quiet { Manner::Silent } else { Manner::Lines };
    let mut following = Following::begin(&session.engine, run).await;
    let mut printer = Printer::new(&app, manner, following.past().clone());
    let mut reminders = tokio::time::interval(reminding::LOOK);
    signals.interrupts = 0;
    let still = loop {
        tokio::select! {
            followed = following.next() => match followed {
                Followed::Event(event) => printer.show(&event),
                Followed::MayHaveStopped => match session.still(run).await {
                    Ok(Some(still)) => break still,
                    Ok(None) => {}
                    Err(_) => following.check_soon(),
                },
            },
            exit = signals.next() => {
                if exit == Exit::Terminated || signals.interrupts > 1 {
                    session.engine.stop();
                    return Ok(FollowEnd::Signal(exit));
                }
                let sent = session.engine.cancel(run, "ctrl-c").await;
                sent.map_err(|error| session.fail(&error))?;
            }
            _ = reminders.tick() => announce(session).await,
        }
    };
    following.rest().await.iter().for_each(|event| printer.show(event));
    // What was shown here is no news any more.
    while session.watch.try_recv().is_ok() {}
    Ok(say_still(session, run, still))
}

/// Says why a run stands still.
fn say_still(session: &mut Session, run: &RunId, still: Still) -> FollowEnd {
    match still {
        Still::GoesOn(words, to) => {
            if !session.app.quiet {
                terminal::complain(&words);
            }
            session.terminals_mut().forget(run);
            session.terminals_mut().take(&to);
            return FollowEnd::GoesOn(to);
        }
        Still::Over(shown) => {
            session.terminals_mut().forget(run);
            if let Some(text) = shown.said(Trouble::of_run(&session.app, &shown).as_ref()) {
                terminal::answer(&text);
            }
            for line in session.afterword(&shown) {
                terminal::complain(&line);
            }
        }
        Still::Asks(open) => {
            terminal::answer(&open.text);
            terminal::complain(&session.how_to_answer(&open));
            session.seen = Some(open);
        }
        Still::NoModel(trouble) => {
            let args = [("trouble", trouble.as_str()), ("id", run.as_str())];
            terminal::answer(&session.text("chat.model_down", &args));
        }
    }
    FollowEnd::Still
}

/// The ends of runs in the background.
async fn tell_unheard(session: &mut Session) {
    for line in session.unheard().await {
        terminal::answer(&line);
    }
}

/// Reminders that fired and that nobody has shown yet.
async fn announce(session: &Session) {
    for line in session.new_reminders().await {
        terminal::answer(&line);
    }
}
