//! Reminders on stderr, while a command works.

use everloop_agenda::show::firing_lines;
use everloop_app::reminding::{LOOK, take_late};
use everloop_console::{Console, notices, terminal};
use everloop_store::Store;
use std::io::IsTerminal;

/// How long a process whose words may go to a log leaves a reminder to one with a person.
const HEAD_START_MS: i64 = 3_000;

/// Shows reminders on stderr for as long as a command works, also one that tells no progress.
pub(crate) fn begin(app: &Console, store: &Store) {
    tokio::spawn(show_on_stderr(app.clone(), store.clone()));
}

/// With a bell and notifications if somebody sits there.
async fn show_on_stderr(app: Console, store: Store) {
    let seen = std::io::stderr().is_terminal();
    let head_start = if seen { 0 } else { HEAD_START_MS };
    let mut again = tokio::time::interval(LOOK);
    loop {
        again.tick().await;
        let fired = take_late(&app, &store, head_start).await;
        for line in firing_lines(&app.reader(), &fired) {
            terminal::eprint_line(&line);
        }
        if seen {
            notices::announce(&app, &fired);
        }
    }
}
