//! `everloop tour`: shows the scenes of the tour, with a pause after each where somebody looks.

use crate::args::TourArgs;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use everloop_app::tour::{Tour, TourRemark, TourScene, TourStep};
use everloop_console::{Console, Exit, Failure, Signals, terminal};
use everloop_text::{self as text, Text};

const BOLD: &str = "\x1b[1;36m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const DIM: &str = "\x1b[2m";

/// Plays the tour, with pauses where somebody looks and did not ask for speed.
pub(crate) async fn tour(app: &Console, args: &TourArgs) -> Result<Exit, Failure> {
    let is_watched = app.interactive && terminal::answers_are_seen() && !terminal::is_dumb();
    let mut signals = Signals::new(app)?;
    // Its folder and its processes go with it.
    tokio::select! {
        ended = play(app, is_watched && !args.fast) => ended,
        exit = signals.next() => Ok(exit),
    }
}

/// The same within a conversation, whose editor has the keys.
pub(crate) async fn tour_in_chat(app: &Console) -> Result<Exit, Failure> {
    play(app, false).await
}

async fn play(app: &Console, pauses: bool) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| app.failure(Exit::Failed, text::error::system(&error));
    let tour = Tour::prepare(app).map_err(failed)?;
    say(BOLD, &app.text(text::tour::welcome()));
    for (place, scene) in TourScene::ALL.into_iter().enumerate() {
        if pauses && place > 0 && !pause(app).await {
            return Ok(Exit::Done);
        }
        say(BOLD, &format!("\n{}", app.text(heading(scene))));
        tour.play(scene, &mut |step| show(app, step)).await.map_err(failed)?;
    }
    say(BOLD, &format!("\n{}", app.text(text::tour::end())));
    Ok(Exit::Done)
}

fn show(app: &Console, step: TourStep) {
    match step {
        TourStep::Command { line } => say(GREEN, &format!("$ {line}")),
        TourStep::Output { text } => indented(&text),
        TourStep::Answer { text } => terminal::print_markdown(&text),
        TourStep::Killed { pid, signal } => say(RED, &app.text(text::tour::killed(&pid, &signal))),
        TourStep::Remark { remark } => say(BOLD, &app.text(remark_text(remark))),
    }
}

fn heading(scene: TourScene) -> Text {
    match scene {
        TourScene::Talk => text::tour::scene_talk(),
        TourScene::Approval => text::tour::scene_approval(),
        TourScene::Kill => text::tour::scene_kill(),
        TourScene::Agenda => text::tour::scene_agenda(),
    }
}

fn remark_text(remark: TourRemark) -> Text {
    match remark {
        TourRemark::Allowed => text::tour::allowed(),
        TourRemark::Ledger => text::tour::ledger(),
        TourRemark::Replay => text::tour::replay(),
    }
}

/// Lines in a color, where the terminal shows colors.
fn say(color: &str, words: &str) {
    for line in terminal::wrapped(words).split('\n') {
        if terminal::has_color() && !line.is_empty() {
            terminal::print_painted(&format!("{color}{}\x1b[0m", terminal::cleaned(line)));
        } else {
            terminal::print_line(line);
        }
    }
}

fn indented(text: &str) {
    text.lines().for_each(|line| terminal::print_line(&format!("    {line}")));
}

/// Waits for a key. Whether the tour goes on.
async fn pause(app: &Console) -> bool {
    terminal::show_transient(&format!("{DIM}{}\x1b[0m", app.text(text::tour::go_on())));
    let goes_on = tokio::task::spawn_blocking(wait_for_key).await.unwrap_or(true);
    terminal::clear_transient();
    goes_on
}

fn wait_for_key() -> bool {
    if crossterm::terminal::enable_raw_mode().is_err() {
        return true;
    }
    let goes_on = loop {
        match crossterm::event::read() {
            Ok(Event::Key(key)) if key.kind == KeyEventKind::Press => break !quits(key),
            Ok(_) => {}
            // Nobody is there any more.
            Err(_) => break false,
        }
    };
    let _ = crossterm::terminal::disable_raw_mode();
    goes_on
}

fn quits(key: KeyEvent) -> bool {
    let is_interrupt =
        key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    is_interrupt || matches!(key.code, KeyCode::Char('q' | 'Q') | KeyCode::Esc)
}
