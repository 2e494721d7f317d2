//! A sentence that rules made a command of: it waits for a yes, a no, or another wording.

use super::session::Session;
use everloop_agenda::commands::{self, Command, is_command};
use everloop_agenda::{revise, rules};
use everloop_text as text;
use everloop_text::Meaning;

/// What a line means for a command that waits for a yes.
pub(super) enum Verdict {
    /// It is over: what was done, or that nothing was.
    Over(String),
    /// It is to be written anew, from this.
    Edit,
    /// The person meant this command instead; it waits for a yes now.
    Instead(String),
    /// The line is a command of its own; the question stays.
    Another,
    /// The line is neither; what to say. The question stays.
    Unclear(String),
}

impl Session {
    /// The question for a command.
    pub(super) fn confirmation(&self, command: &str) -> String {
        let reader = self.reader();
        let command = commands::shown(command, &reader.now, reader.lang);
        self.text(text::rule::understood(&command))
    }

    pub(super) async fn verdict(&self, command: &str, line: &str) -> Verdict {
        let line = line.trim();
        let dropped = || Verdict::Over(self.text(text::rule::dropped()));
        if line.is_empty() {
            return Verdict::Unclear(String::new());
        }
        if self.is_cancel(line) {
            return dropped();
        }
        if is_command(line) {
            return Verdict::Another;
        }
        let instead = |said: &str| self.instead(command, said).map(Verdict::Instead);
        match everloop_text::meaning(line) {
            Meaning::Yes => {
                let done = self.perform_rule(command).await;
                Verdict::Over(done.unwrap_or_else(|failure| failure.words))
            }
            Meaning::No { reason: Some(reason) } => instead(&reason).unwrap_or_else(dropped),
            Meaning::No { reason: None } => dropped(),
            Meaning::Edit => Verdict::Edit,
            Meaning::Always | Meaning::Unclear => match instead(line) {
                Some(verdict) => verdict,
                None if everloop_text::bare_word(line).is_some() => Verdict::Another,
                None => Verdict::Unclear(self.text(text::rule::unclear(&line))),
            },
        }
    }

    /// Whether a line cancels, by phrase or by command.
    fn is_cancel(&self, line: &str) -> bool {
        let now = self.reader().now;
        let is_command = |line: &str| match commands::parse(line, &now) {
            Ok(Command::Talk(verb, _)) => verb.name == "cancel",
            _ => false,
        };
        self.door.is_cancel(line) || (is_command(line) && commands::is_command(line))
    }

    /// The command that a person says instead: a whole sentence, or another time for this one.
    fn instead(&self, command: &str, said: &str) -> Option<String> {
        let now = self.reader().now;
        // A correction must be a date as a whole, so no sentence is taken for one.
        revise::revised(command, said, &now).or_else(|| rules::understand(said, &now)?.ok())
    }
}
