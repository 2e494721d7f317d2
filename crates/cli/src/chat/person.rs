//! A chat with a person at a terminal.

use super::editor::{Editor, Typed};
use super::follow::{LOOK_AGAIN, Still, run_of};
use super::keys::{Key, Keys};
use super::live::Live;
use super::session::{Heard, Session};
use crate::commands::tour;
use crate::exit::{Exit, Failure};
use crate::show::preview;
use crate::signals::Signals;
use crate::terminal;
use everloop_assistant::show::firing_line;
use everloop_engine::Update;
use everloop_types::RunId;
use everloop_types::journal::{Kind, Letter};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A second Ctrl-C within this time leaves.
const AGAIN: Duration = Duration::from_secs(2);

/// How often reminders are looked for while a person types.
const LOOK_FOR_REMINDERS: Duration = Duration::from_secs(1);

/// How looking at a run ended.
enum Looked {
    Still,
    Background,
    Leave,
    Signal(Exit),
}

pub(super) async fn talk(mut session: Session, first: Option<String>) -> Result<Exit, Failure> {
    let mut signals = Signals::new(&session.app)?;
    greet(&session).await?;
    let mut editor = Editor::start(&session)?;
    let mut queue: VecDeque<String> = first.into_iter().collect();
    if let Some(run) = session.going().await?
        && let Looked::Leave | Looked::Signal(_) =
            look_at(&mut session, &run, &mut queue, &mut signals).await?
    {
        session.leave().await;
        return Ok(Exit::Done);
    }
    let exit = loop {
        // A line that was typed ahead must not become the answer to a question nobody had seen.
        let asks = session.door.open_question(session.store()).await;
        let asks = asks.map_err(|error| session.fail(&error))?.is_some();
        let ahead = if asks { None } else { queue.pop_front() };
        let line = match ahead {
            Some(line) => {
                terminal::answer(&format!("{}{line}", session.text("chat.you", &[])));
                line
            }
            None => match next_line(&mut session, &mut editor, &mut signals).await? {
                Ok(line) => line,
                Err(exit) => break exit,
            },
        };
        match session.hear(&line).await? {
            Heard::Said(words) => terminal::answer(&words),
            Heard::Confirm(command) => confirm(&mut session, &mut editor, &command).await?,
            Heard::Background => terminal::answer(&session.text("chat.nothing_in_front", &[])),
            Heard::Clear => terminal::clear(),
            Heard::Tour => {
                tour::tour(&session.app).await?;
            }
            Heard::Quit => break Exit::Done,
            Heard::Follow(run) => {
                match look_at(&mut session, &run, &mut queue, &mut signals).await? {
                    Looked::Still | Looked::Background => {}
                    Looked::Leave => break Exit::Done,
                    Looked::Signal(exit) => break exit,
                }
            }
        }
    };
    session.leave().await;
    Ok(exit)
}

/// What is new since the last time: what was recovered, what fired, what is asked.
async fn greet(session: &Session) -> Result<(), Failure> {
    for line in &session.recovered {
        terminal::answer(line);
    }
    let reader = session.reader();
    for firing in session.new_firings().await? {
        terminal::answer(&firing_line(&reader, &firing));
    }
    let unread = session.store().count_unread_firings().await;
    let unread = unread.map_err(|error| session.fail(&error))?;
    if unread > 0 {
        terminal::answer(&session.text("inbox.unread", &[("n", &unread.to_string())]));
    }
    let open = session.door.open_question(session.store()).await;
    match open.map_err(|error| session.fail(&error))? {
        Some(open) => {
            let run = session.store().run(&open.run).await.map_err(|error| session.fail(&error))?;
            let goal = run.map(|row| preview(&row.goal)).unwrap_or_default();
            let args = [("id", open.run.as_str()), ("goal", goal.as_str())];
            terminal::answer(&session.text("chat.still_asks", &args));
            terminal::answer(&open.text);
            terminal::answer(&session.how_to_answer(&open));
        }
        None => terminal::answer(&session.text("chat.hello", &[])),
    }
    Ok(())
}

/// The next line, while reminders and the news of runs in the background are shown above it.
async fn next_line(
    session: &mut Session,
    editor: &mut Editor,
    signals: &mut Signals,
) -> Result<Result<String, Exit>, Failure> {
    let prompt = session.text("chat.you", &[]);
    let mut leaving: Option<Instant> = None;
    editor.ask(&prompt);
    loop {
        let typed = tokio::select! {
            typed = editor.next() => typed,
            Some(update) = session.watch.recv() => {
                if let Some(news) = news(session, &update).await? {
                    editor.print(&news);
                }
                continue;
            }
            () = tokio::time::sleep(LOOK_FOR_REMINDERS) => {
                let reader = session.reader();
                for firing in session.new_firings().await? {
                    editor.print(&firing_line(&reader, &firing));
                }
                continue;
            }
            exit = signals.next() => return Ok(Err(exit)),
        };
        match typed {
            Typed::Line(line) => return Ok(Ok(line)),
            Typed::End => return Ok(Err(Exit::Done)),
            Typed::Interrupt { empty: true } => {
                if leaving.is_some_and(|at| at.elapsed() < AGAIN) {
                    // The shell's next prompt stands on a line of its own.
                    terminal::answer("");
                    return Ok(Err(Exit::Done));
                }
                leaving = Some(Instant::now());
                let open = session.door.open_question(session.store()).await;
                let asks = open.map_err(|error| session.fail(&error))?.is_some();
                let key = if asks { "chat.question_stays" } else { "exit.again" };
                // The editor paints its line where it was, so this goes through it.
                editor.print(&session.text(key, &[]));
            }
            Typed::Plan => {
                if let Heard::Said(words) = session.talk("plan", "").await? {
                    editor.print(&words);
                }
            }
            Typed::Interrupt { empty: false } | Typed::Escape => {}
        }
        editor.ask(&prompt);
    }
}

/// What a run in the background has to say.
async fn news(session: &Session, update: &Arc<Update>) -> Result<Option<String>, Failure> {
    let Update::Entry(run, entry) = update.as_ref() else { return Ok(None) };
    if !matches!(entry.kind, Kind::RunFinished(_) | Kind::Waiting(_)) {
        return Ok(None);
    }
    Ok(match session.still(run).await? {
        Some(Still::Over(shown)) => {
            let (id, status) = (run.as_str(), shown.row.status.as_str());
            let said = session.text("chat.ended", &[("id", id), ("status", status)]);
            Some(format!("{said}\n{}", shown.text().unwrap_or_default()))
        }
        Some(Still::Asks(open)) => {
            let said = session.text("chat.asks", &[("id", run.as_str())]);
            Some(format!("{said}\n{}", open.text))
        }
        Some(Still::NoModel(_)) | None => None,
    })
}

/// Shows the command that a sentence became, and carries it out after a yes.
async fn confirm(session: &mut Session, editor: &mut Editor, command: &str) -> Result<(), Failure> {
    terminal::answer(&session.text("rule.understood", &[("command", command)]));
    editor.ask(&session.text("rule.prompt", &[]));
    let words = match editor.next().await {
        Typed::Line(line) if line.trim().is_empty() || everloop_text::means_yes(&line) => {
            session.perform_rule(command).await?
        }
        _ => session.text("rule.dropped", &[]),
    };
    terminal::answer(&words);
    Ok(())
}

/// Looks at a run until it stands still, is sent to the background, or the person leaves.
async fn look_at(
    session: &mut Session,
    run: &RunId,
    queue: &mut VecDeque<String>,
    signals: &mut Signals,
) -> Result<Looked, Failure> {
    let app = session.app.clone();
    let mut live = Live::new(&app);
    let mut keys = Keys::listen();
    let mut stops = 0_u32;
    live.redraw();
    let ended = loop {
        tokio::select! {
            biased;
            Some(update) = session.watch.recv() => {
                if run_of(&update) == run {
                    live.take(&update);
                }
            }
            key = keys.next() => {
                stops += u32::from(key == Key::Stop);
                let looked = match key {
                    Key::Stop => stop(session, run, stops, &mut live).await?,
                    key => pressed(session, run, key, queue, &mut live).await?,
                };
                if let Some(looked) = looked {
                    break Ok(looked);
                }
            }
            exit = signals.next() => break Ok(Looked::Signal(exit)),
            () = tokio::time::sleep(LOOK_AGAIN) => {
                if let Some(still) = session.still(run).await? {
                    break Err(still);
                }
            }
        }
    };
    while let Ok(update) = session.watch.try_recv() {
        if run_of(&update) == run {
            live.take(&update);
        }
    }
    live.erase();
    drop(keys);
    // What was typed and not sent is not lost.
    queue.extend(Some(std::mem::take(&mut live.typed)).filter(|typed| !typed.trim().is_empty()));
    match ended {
        Ok(looked) => Ok(looked),
        Err(still) => {
            live.plan().iter().for_each(|line| terminal::answer(line));
            say_still(session, run, still);
            Ok(Looked::Still)
        }
    }
}

/// Ctrl-C: the first cancels, the second does not wait for a tool's grace, the third leaves.
async fn stop(
    session: &Session,
    run: &RunId,
    stops: u32,
    live: &mut Live<'_>,
) -> Result<Option<Looked>, Failure> {
    match stops {
        1 => {
            live.print(&session.text("chat.canceling", &[]));
            let sent = session.engine.cancel(run, "ctrl-c").await;
            sent.map_err(|error| session.fail(&error))?;
        }
        2 => {
            live.print(&session.text("chat.not_waiting", &[]));
            session.engine.hurry(run);
        }
        _ => return Ok(Some(Looked::Leave)),
    }
    Ok(None)
}

async fn pressed(
    session: &mut Session,
    run: &RunId,
    key: Key,
    queue: &mut VecDeque<String>,
    live: &mut Live<'_>,
) -> Result<Option<Looked>, Failure> {
    match key {
        Key::Send => {
            let line = std::mem::take(&mut live.typed);
            return sent(session, run, line, queue, live).await;
        }
        Key::Text(text) => live.typed.push_str(&text),
        Key::Erase => drop(live.typed.pop()),
        Key::EraseAll => live.typed.clear(),
        Key::Plan => live.toggle(),
        Key::Redraw | Key::Stop => {}
    }
    live.redraw();
    Ok(None)
}

fn say_still(session: &mut Session, run: &RunId, still: Still) {
    match still {
        Still::Over(shown) => {
            terminal::answer(&shown.text().unwrap_or_default());
            for line in session.afterword(&shown) {
                terminal::answer(&line);
            }
        }
        Still::Asks(open) => {
            terminal::ring();
            terminal::answer(&open.text);
            terminal::answer(&session.how_to_answer(&open));
        }
        Still::NoModel(detail) => {
            let args = [("detail", detail.as_str()), ("id", run.as_str())];
            terminal::answer(&session.text("run.model_down", &args));
        }
    }
}

/// A line that was sent while a run is looked at: to the model, to the background, or for later.
async fn sent(
    session: &mut Session,
    run: &RunId,
    line: String,
    queue: &mut VecDeque<String>,
    live: &mut Live<'_>,
) -> Result<Option<Looked>, Failure> {
    let line = line.trim().to_owned();
    if line.is_empty() {
        live.redraw();
        return Ok(None);
    }
    if let Some(word) = line.strip_prefix('!') {
        let dedupe = everloop_engine::fresh_id("steer_", session.engine.clock().now());
        let letter = Letter::Steer { text: word.trim().to_owned() };
        let sent = session.engine.send(run, &dedupe, &letter).await;
        sent.map_err(|error| session.fail(&error))?;
        live.print(&session.text("chat.steered", &[("word", word.trim())]));
        return Ok(None);
    }
    if !everloop_assistant::commands::is_command(&line) {
        live.print(&session.text("chat.queued", &[("line", &line)]));
        queue.push_back(line);
        return Ok(None);
    }
    match session.hear(&line).await? {
        Heard::Said(words) => live.print(&words),
        Heard::Background => {
            live.print(&session.text("chat.in_background", &[("id", run.as_str())]));
            return Ok(Some(Looked::Background));
        }
        Heard::Quit => return Ok(Some(Looked::Leave)),
        Heard::Clear => live.redraw(),
        Heard::Follow(_) | Heard::Confirm(_) | Heard::Tour => {
            live.print(&session.text("chat.queued", &[("line", &line)]));
            queue.push_back(line);
        }
    }
    Ok(None)
}
