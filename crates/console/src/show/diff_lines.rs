//! The diff of a file that a run changed, as lines for a terminal.

use crate::console::Console;
use everloop_engine::{EventKind, RunEvent};
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use everloop_types::{FileChange, one_line, visible};

/// Lines of a diff that are shown while a run works; `runs show --diff` has all that are kept.
const DIFF_LINES_SHOWN: usize = 20;

/// The file with how many lines came and went, and at most so many lines of the diff.
pub fn diff_lines(app: &Console, change: &FileChange, most: usize) -> Vec<StyledLine> {
    let mut lines = vec![StyledLine::new(Tone::Plain, &format!("  {}", change_line(change)))];
    lines.extend(change.diff.iter().take(most).map(|line| diff_line(line)));
    let more = change.diff.len().saturating_sub(most) + change.more;
    if more > 0 {
        let more = app.text(text::undo::more_lines(&more));
        lines.push(StyledLine::new(Tone::Dim, &format!("  {more}")));
    }
    lines.into_iter().map(|line| line.hanging(4)).collect()
}

/// The file, and how many lines came and went.
pub(crate) fn change_line(change: &FileChange) -> String {
    format!("{}  +{} -{}", one_line(&change.path), change.added, change.removed)
}

/// The diff of a call that ended with this event.
pub fn event_diff_lines(app: &Console, event: &RunEvent) -> Vec<StyledLine> {
    let change = match &event.kind {
        EventKind::ToolCompleted(outcome) => outcome.change.as_deref(),
        _ => None,
    };
    let change = change.filter(|change| !change.diff.is_empty());
    change.map(|change| diff_lines(app, change, DIFF_LINES_SHOWN)).unwrap_or_default()
}

/// A line of a diff, set off, in the color of what becomes of it.
pub(crate) fn diff_line(line: &str) -> StyledLine {
    let shown = format!("  {}", visible(&line.replace('\t', "    ")));
    StyledLine::new(diff_tone(line), &shown).hanging(4)
}

fn diff_tone(line: &str) -> Tone {
    match line.chars().next() {
        Some('+') => Tone::Good,
        Some('-') => Tone::Bad,
        Some('@') => Tone::Accent,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::diff_line;
    use everloop_markdown::TerminalStyle;

    #[test]
    fn lines_are_colored_by_what_became_of_them_and_fit_the_terminal() {
        let style =
            TerminalStyle { width: 20, color: true, emphasis: true, links: false, unicode: true };
        let shown = ["@@ -1 +1 @@", " same", "-old", "+new\tnow", "+one line that is too long"]
            .map(|line| diff_line(line).lines(&style).join("|"));
        let expected = [
            "\x1b[36m  @@ -1 +1 @@\x1b[0m",
            "   same",
            "\x1b[31m  -old\x1b[0m",
            "\x1b[32m  +new    now\x1b[0m",
            "\x1b[32m  +one line that\x1b[0m|    \x1b[32mis too long\x1b[0m",
        ];
        assert_eq!(shown, expected);
        assert!(!diff_line("+\x1b[2Jgone").lines(&style).join("").contains("\x1b[2J"));
    }
}
