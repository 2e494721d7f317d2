//! A chat without a terminal: one line is one input, carried through until its run ends or asks.
//!
//! Questions and answers go to stdout, progress to stderr. The end of the input is the end.

use super::{Chat, placing, screens, words};
use everloop_app::conversation::{Reaction, RunStop};
use everloop_app::conversations::ListedConversation;
use everloop_app::following::FollowNews;
use everloop_app::{reminding, runs};
use everloop_console::show::{PrintMode, Printer};
use everloop_console::{Exit, Failure, Signals, terminal};
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
        chat.show_new_reminders().await;
        chat.show_missed_news().await;
        show_question(chat).await;
        if let Some(command) = &proposed {
            terminal::print_line(&words::confirmation(&chat.app, command));
        }
        let read = match next.take() {
            Some(line) => LineRead::Line(line),
            None => read(chat, &mut input, &mut signals).await,
        };
        let line = match read {
            LineRead::Line(line) => line,
            LineRead::End => return Ok(end(chat).await),
            LineRead::Signal(exit) => return Ok(exit),
        };
        if let Some(command) = proposed.take() {
            let effect = chat.confirm(command, &line).await;
            effect.words.iter().chain(&effect.edit).for_each(|words| terminal::print_line(words));
            proposed = effect.proposed;
            if !effect.goes_on {
                continue;
            }
        }
        let Some(reaction) = send(chat, &line).await else { continue };
        match reaction {
            Reaction::Reply(reply) => say(chat, &chat.reply(reply)),
            Reaction::Follow(run, note) => {
                note.into_iter().for_each(|note| chat.show_note(note));
                if let Some(exit) = follow(chat, &run, &mut signals).await? {
                    return Ok(exit);
                }
            }
            Reaction::Confirm(command) => proposed = Some(command),
            Reaction::Background => {
                terminal::print_line(&chat.text(text::chat::nothing_in_front()))
            }
            Reaction::Clear => {}
            Reaction::Rewind(turns) => say(chat, &chat.list_turns(&turns)),
            Reaction::Tour => screens::show_tour(chat).await,
            Reaction::Quit => return Ok(Exit::Done),
            Reaction::Screen(_)
            | Reaction::Copy(_)
            | Reaction::RunCommand(_)
            | Reaction::Approve(..) => {}
            Reaction::Pick(rows, run) => next = resumed(chat, &rows, run),
        }
    }
}

/// What a line led to. What needs a terminal, and what went wrong, is said at once.
async fn send(chat: &mut Chat, line: &str) -> Option<Reaction> {
    let words = match chat.send(line, None).await {
        Ok(reaction) => match screens::without_terminal(chat, &reaction).await {
            Some(words) => words,
            None => return Some(reaction),
        },
        Err(failure) => failure.words,
    };
    say(chat, &words);
    None
}

/// Nobody can be asked: the run that is meant goes on, or the conversations are listed.
fn resumed(chat: &Chat, rows: &[ListedConversation], run: Option<RunId>) -> Option<String> {
    if run.is_none() {
        say(chat, &placing::conversations(&chat.app, rows));
    }
    run.map(|run| format!("/resume {run}"))
}

/// Shows a reply, and that a question still waits.
fn say(chat: &Chat, words: &str) {
    terminal::print_line(words);
    let open = words::reminder_of_question(&chat.app, &chat.conversation);
    open.iter().for_each(|line| terminal::eprint_line(line));
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
    terminal::eprint_line(&chat.text(
        text::run::NeedsPerson { id: &run.short(), question: &open.text.as_str(), to: &to }.text(),
    ));
    terminal::print_line(run.as_str());
    Exit::NeedsPerson
}

/// What an earlier process left: a run that it did not finish is carried through first, as the
/// line that began it would have been; a question that waits is asked again.
async fn take_up(chat: &mut Chat, signals: &mut Signals) -> Result<Option<Exit>, Failure> {
    let opening = placing::opening(&chat.app, &chat.conversation);
    opening.iter().for_each(|line| chat.app.note_line(line));
    let left = chat.conversation.take_leftovers();
    words::leftovers(&chat.app, &left).iter().for_each(|line| terminal::eprint_line(line));
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
        terminal::print_line(&words);
    }
    for line in chat.questions_elsewhere().await {
        terminal::eprint_line(&line);
    }
    // A store that fails for a moment is asked again before the next line.
    if let Ok(Some(open)) = chat.conversation.questions_mut().take_next().await {
        words::question_lines(&chat.app, &open).iter().for_each(terminal::print_styled);
        terminal::eprint_line(&words::how_to_answer(&chat.app, &open));
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
                chat.show_new_reminders().await;
                chat.show_missed_news().await;
            }
            exit = signals.next() => return LineRead::Signal(exit),
        }
    };
    match read {
        Ok(0) => LineRead::End,
        Ok(_) => LineRead::Line(String::from_utf8_lossy(&line).trim_end().to_owned()),
        Err(error) => {
            terminal::eprint_line(&chat.text(text::error::system(&error)));
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
    let place = chat.place_of(run).await;
    let mut printer = Printer::new(&app, manner, following.past().clone()).at(place);
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
            _ = reminders.tick() => chat.show_new_reminders().await,
        }
    };
    following.rest().await.iter().for_each(|event| printer.show(event));
    chat.conversation.shown().note(&following);
    // What was shown here is not news any more.
    while chat.conversation.watch().try_recv().is_ok() {}
    Ok(say_stop(chat, run, still, |text| printer.unshown(text)).await)
}

/// Says why a run stopped.
async fn say_stop(
    chat: &mut Chat,
    run: &RunId,
    stop: RunStop,
    unshown: impl Fn(&str) -> Option<String>,
) -> FollowEnd {
    chat.conversation.note_stop(run, &stop).await;
    let app = &chat.app;
    match stop {
        RunStop::Continued { to, loop_name } => {
            app.note_line(&words::continued(app, run, &to, &loop_name));
            return FollowEnd::GoesOn(to);
        }
        RunStop::Ended(details) => {
            let last = words::last_words(app, &details);
            if let Some(text) = last.and_then(|text| unshown(&text)) {
                terminal::print_markdown(&text);
            }
            words::afterword(app, &details).iter().for_each(terminal::eprint_styled);
        }
        RunStop::Asks(open) => {
            words::question_lines(app, &open).iter().for_each(terminal::print_styled);
            terminal::eprint_line(&words::how_to_answer(app, &open));
        }
        RunStop::ModelUnavailable(trouble) => {
            terminal::print_line(&words::model_unavailable(app, run, trouble.as_deref()));
        }
    }
    FollowEnd::Still
}
