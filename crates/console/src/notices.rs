//! What reaches a person who looks elsewhere: the bell, a notification of the terminal
//! (OSC 9), a notification of the desktop. Each has its setting.

use crate::console::Console;
use crate::terminal;
use everloop_agenda::show::firing_lines;
use everloop_app::notify;
use everloop_store::Firing;

/// Calls a person's attention to these reminders.
pub fn announce(app: &Console, firings: &[Firing]) {
    // A notification has its own sign.
    let lines = firing_lines(&app.reader(), firings).into_iter();
    let lines: Vec<String> =
        lines.map(|line| line.trim_start_matches("\u{23f0} ").to_owned()).collect();
    call(app, &lines);
}

/// Calls a person's attention to these lines: a reminder, a question, the end of a run that nobody
/// looks at.
pub fn call(app: &Console, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let agenda = &app.settings.agenda;
    if agenda.terminal_notice {
        lines.iter().for_each(|line| terminal::send_control(&notification(line)));
    }
    if agenda.bell {
        terminal::ring();
    }
    notify::show_on_desktop(app, lines);
}

/// The sequence that makes a terminal show a notification.
fn notification(line: &str) -> String {
    format!("\x1b]9;{}\x07", notify::plain(line))
}

#[cfg(test)]
mod tests {
    use super::notification;

    #[test]
    fn nothing_in_a_reminder_ends_the_sequence() {
        let made = notification("\u{559d} a\u{7}\u{1b}\\b\u{9c}");
        assert_eq!(made, "\x1b]9;\u{559d} a\\b\x07");
    }
}
