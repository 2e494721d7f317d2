//! Desktop notifications of reminders, where there is a desktop.

use crate::app::App;
use everloop_tools::find_program;
use std::process::Stdio;
use tokio::process::Command;

/// Shows desktop notifications.
const PROGRAM: &str = "notify-send";

/// One of these names a desktop session.
const SESSIONS: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"];

/// Characters of a notification.
const CHARS_MAX: usize = 200;

/// Shows a notification for each line, if the settings want it, somebody sits at a desktop, and a
/// trusted program for it is there. Nobody waits for it, and that it fails changes nothing.
pub fn show_on_desktop(app: &App, lines: &[String]) {
    let has_desktop =
        SESSIONS.iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    if !app.settings.agenda.desktop_notice || !has_desktop || lines.is_empty() {
        return;
    }
    let Some(program) = find_program(PROGRAM) else { return };
    for line in lines {
        let mut command = Command::new(&program);
        command
            .args(["--app-name=Everloop", "--", "Everloop", &plain(line)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Ok(mut child) = command.spawn() {
            tokio::spawn(async move { drop(child.wait().await) });
        }
    }
}

/// A text without controls and markup, short enough for a notification.
#[must_use]
pub fn plain(line: &str) -> String {
    let kept = line.chars().filter(|c| !c.is_control()).take(CHARS_MAX);
    kept.map(|c| if "<>&".contains(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_notification_has_no_controls_and_no_markup() {
        assert_eq!(plain("a\u{1b}]0;x\u{7}\u{9c}<b>b\n"), "a]0;x b b");
        assert_eq!(plain(&"x".repeat(1_000)).len(), 200);
    }
}
