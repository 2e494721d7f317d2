//! A chat without a terminal: one line is one input, carried through until its run ends or asks.
//!
//! Questions and answers go to stdout, progress to stderr. The end of the input is the end.

use super::{Chat, words};
use crate::commands::tour;
use crate::exit::{Exit, Failure};
use crate::show::{PrintMode, Printer};
use crate::signals::Signals;
use crate::terminal;
use everloop_app::conversation::{Reaction, RunStop};
use everloop_app::following::FollowNews;
use everloop_app::{reminding, runs};
use everloop_text as text;
use everloop_types::RunId;
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};

type LineInput = BufReader<Stdin>;

pub(super) async fn talk(mut chat: Chat, first: Option<String>) -> Result<Exit, Failure> {
    let exit = talk_in(&mut chat, first).await;
    chat.leave().await;
    exit
}

async fn talk_in(chat: &mut Chat, first: Option<String>) -> Result<Exit, Failure> {
    let mut signals = Signals::new(&chat.app)?;
    if let Some(exit) = take_up(chat, &mut signals).await? {
        return Ok(exit);
    }
    let mut input = BufReader::new(tokio::io::stdin());
    let mut next = first;
    let mut proposed: Option<String> = None;
    loop {
        announce(chat).await;
        tell_unheard(chat).await;
        show_question(chat).await;
        if let Some(command) = &proposed {
            terminal::answer(&words::confirmation(&chat.app, command));
        }
        let line = match next.take() {
            Some(line) => line,
            None => match read(chat, &mut input, &mut signals).await {
                LineRead::Line(line) => line,
                LineRead::End => return Ok(end(chat).await),
                LineRead::Signal(exit) => return Ok(exit),
            },
        };
        if let Some(command) = proposed.take() {
            let effect = chat.confirm(command, &line).await;
            effect.words.iter().chain(&effect.edit).for_each(|words| terminal::answer(words));
            proposed = effect.proposed;
            if !effect.goes_on {
                continue;
            }
        }
        let reaction = match chat.send(&line, None).await {
            Ok(reaction) => reaction,
            Err(failure) => {
                say(chat, &failure.words);
                continue;
            }
        };
        match reaction {
            Reaction::Reply(reply) => say(chat, &chat.reply(reply)),
            Reaction::Follow(run, note) => {
                note.into_iter().for_each(|note| chat.show_note(note));
                if let Some(exit) = follow(chat, &run, &mut signals).await? {
                    return Ok(exit);
                }
            }
            Reaction::Confirm(command) => proposed = Some(command),
            Reaction::Background => terminal::answer(&chat.text(text::chat::nothing_in_front())),
            Reaction::Clear => {}
            Reaction::Tour => {
                if let Err(failure) = tour::tour(&chat.app).await {
                    terminal::answer(&failure.words);
                }
            }
            Reaction::Quit => return Ok(Exit::Done),
        }
    }
}

/// Shows a reply, and that a question still waits.
fn say(chat: &Chat, words: &str) {
    terminal::answer(words);
    let open = words::reminder_of_question(&chat.app, &chat.conversation);
    open.iter().for_each(|line| terminal::complain(line));
}

/// The end of the input. Where a question is open, the run that asks is named for whoever answers.
async fn end(chat: &mut Chat) -> Exit {
    // Without an answer of the store nobody knows better than what was shown last.
    let conversation = &chat.conversation;
    let questions = conversation.questions();
    if !questions.is_still_asked().await.unwrap_or(questions.seen().is_some()) {
        return Exit::Done;
    }
    let Some(open) = questions.seen().cloned() else { return Exit::Done };
    let run = runs::top(conversation.store(), &open.run).await.unwrap_or(open.run);
    let to = open.question.id.as_str();
    terminal::complain(
        &chat.text(
            text::run::NeedsPerson { id: &run, question: &open.text.as_str(), to: &to }.text(),
        ),
    );
    terminal::answer(run.as_str());
    Exit::NeedsPerson
}

/// What an earlier process left: a run that it did not finish is carried through first, as the
/// line that began it would have been; a question that waits is asked again.
async fn take_up(chat: &mut Chat, signals: &mut Signals) -> Result<Option<Exit>, Failure> {
    let left = chat.conversation.take_leftovers();
    words::leftovers(&chat.app, &left).iter().for_each(|line| terminal::complain(line));
    for run in left.runs {
        if let Some(exit) = follow(chat, &run, signals).await? {
            return Ok(Some(exit));
        }
    }
    Ok(None)
}

/// Shows the question that the next plain line answers, if it was not shown yet.
async fn show_question(chat: &mut Chat) {
    if let Some(words) = chat.gone_question().await {
        terminal::answer(&words);
    }
    for line in chat.questions_elsewhere().await {
        terminal::complain(&line);
    }
    // A store that fails for a moment is asked again before the next line.
    if let Ok(Some(open)) = chat.conversation.questions_mut().take_next().await {
        terminal::answer(&open.text);
        terminal::complain(&words::how_to_answer(&chat.app, &open));
    }
}

/// What came of waiting for a line.
enum LineRead {
    Line(String),
    End,
    Signal(Exit),
}

/// The next line. Bytes that are no text are replaced, and what happens meanwhile passes by.
async fn read(chat: &mut Chat, input: &mut LineInput, signals: &mut Signals) -> LineRead {
    let mut line = Vec::new();
    let mut reading = std::pin::pin!(input.read_until(b'\n', &mut line));
    let mut reminders = tokio::time::interval(reminding::LOOK);
    let read = loop {
        tokio::select! {
            read = &mut reading => break read,
            Some(_) = chat.conversation.watch().recv() => {}
            _ = reminders.tick() => {
                announce(chat).await;
                tell_unheard(chat).await;
            }
            exit = signals.next() => return LineRead::Signal(exit),
        }
    };
    match read {
        Ok(0) => LineRead::End,
        Ok(_) => LineRead::Line(String::from_utf8_lossy(&line).trim_end().to_owned()),
        Err(error) => {
            terminal::complain(&chat.text(text::error::system(&error)));
            LineRead::End
        }
    }
}

/// Shows what happens to the run, and to those that go on in its place, until one stands still; an
/// exit if a signal came.
async fn follow(
    chat: &mut Chat,
    run: &RunId,
    signals: &mut Signals,
) -> Result<Option<Exit>, Failure> {
    let mut run = run.clone();
    loop {
        match follow_one(chat, &run, signals).await? {
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
    chat: &mut Chat,
    run: &RunId,
    signals: &mut Signals,
) -> Result<FollowEnd, Failure> {
    let app = chat.app.clone();
    let manner = if app.quiet { PrintMode::Silent } else { PrintMode::Lines };
    let mut following = chat.conversation.shown().follow(run).await;
    let mut printer = Printer::new(&app, manner, following.past().clone());
    let mut reminders = tokio::time::interval(reminding::LOOK);
    signals.interrupts = 0;
    let still = loop {
        tokio::select! {
            followed = following.next() => match followed {
                FollowNews::Event(event) => printer.show(&event),
                FollowNews::MayHaveStopped => match chat.conversation.run(run).stop().await {
                    Ok(Some(stop)) => break stop,
                    Ok(None) => {}
                    Err(_) => following.check_soon(),
                },
            },
            exit = signals.next() => {
                if exit == Exit::Terminated || signals.interrupts > 1 {
                    chat.conversation.engine().stop();
                    return Ok(FollowEnd::Signal(exit));
                }
                let sent = chat.conversation.run(run).cancel("ctrl-c").await;
                sent.map_err(|error| chat.fail(error))?;
            }
            _ = reminders.tick() => announce(chat).await,
        }
    };
    following.rest().await.iter().for_each(|event| printer.show(event));
    chat.conversation.shown().note(&following);
    // What was shown here is not news any more.
    while chat.conversation.watch().try_recv().is_ok() {}
    Ok(say_stop(chat, run, still))
}

/// Says why a run stopped.
fn say_stop(chat: &mut Chat, run: &RunId, stop: RunStop) -> FollowEnd {
    chat.conversation.note_stop(run, &stop);
    let app = &chat.app;
    match stop {
        RunStop::Continued { to, loop_name } => {
            app.note_line(&words::continued(app, run, &to, &loop_name));
            return FollowEnd::GoesOn(to);
        }
        RunStop::Ended(details) => {
            if let Some(text) = words::last_words(app, &details) {
                terminal::answer(&text);
            }
            for line in words::afterword(app, &details) {
                terminal::complain(&line);
            }
        }
        RunStop::Asks(open) => {
            terminal::answer(&open.text);
            terminal::complain(&words::how_to_answer(app, &open));
        }
        RunStop::ModelUnavailable(trouble) => {
            terminal::answer(&words::model_unavailable(app, run, trouble.as_deref()));
        }
    }
    FollowEnd::Still
}

/// The ends of runs in the background.
async fn tell_unheard(chat: &mut Chat) {
    for line in chat.missed_news().await {
        terminal::answer(&line);
    }
}

/// Reminders that fired and that nobody has shown yet.
async fn announce(chat: &Chat) {
    for line in chat.new_reminders().await {
        terminal::answer(&line);
    }
}
