//! A sentence that rules made a command of: it waits for a yes, a no, or another wording.

use super::session::Session;
use everloop_assistant::commands::is_command;
use everloop_text::{means_no, means_yes};

/// What a line means for a command that waits for a yes.
pub(super) enum Verdict {
    /// It is over: what was done, or that nothing was.
    Over(String),
    /// It is to be written anew, from this.
    Edit,
    /// The line is a command of its own, or cancels; the question stays.
    Another,
    /// The line is neither; what to say. The question stays.
    Unclear(String),
}

impl Session {
    /// The question for a command.
    pub(super) fn confirmation(&self, command: &str) -> String {
        self.text("rule.understood", &[("command", command)])
    }

    pub(super) async fn verdict(&self, command: &str, line: &str) -> Verdict {
        let line = line.trim();
        match line {
            _ if means_yes(line) => {
                let done = self.perform_rule(command).await;
                Verdict::Over(done.unwrap_or_else(|failure| failure.words))
            }
            _ if means_no(line) => Verdict::Over(self.text("rule.dropped", &[])),
            "e" | "E" => Verdict::Edit,
            _ if is_command(line) || self.door.is_cancel(line) => Verdict::Another,
            _ => Verdict::Unclear(self.text("rule.unclear", &[("line", line)])),
        }
    }
}
