//! A sentence that rules made a command of: it waits for a yes, a no, or another wording.

use super::{ChatReply, Conversation};
use crate::error::AppError;
use crate::slash;
use everloop_agenda::{revise, rules};
use everloop_text::Meaning;
use jiff::Zoned;

/// What a line means for a command that waits for a yes.
pub enum ConfirmationResult {
    /// It is over: what was done.
    Over(Box<Result<ChatReply, AppError>>),
    /// Nothing was done.
    Dropped,
    /// It is to be written anew, from this.
    Edit,
    /// The person meant this command instead; it waits for a yes now.
    Instead(String),
    /// The line is a command of its own; the question stays.
    Another,
    /// The line is neither. The question stays.
    Unclear,
}

impl Conversation {
    /// What a line means for a command that waits for a yes; a yes carries it out.
    pub async fn verdict(&self, command: &str, line: &str) -> ConfirmationResult {
        let line = line.trim();
        if line.is_empty() {
            return ConfirmationResult::Unclear;
        }
        if self.router.is_cancel_request(line) {
            return ConfirmationResult::Dropped;
        }
        if slash::is_command(line) {
            return ConfirmationResult::Another;
        }
        let now = self.app.reader_at(None).now;
        let instead =
            |said: &str| revised_command(command, said, &now).map(ConfirmationResult::Instead);
        match everloop_text::meaning(line) {
            Meaning::Yes => ConfirmationResult::Over(Box::new(self.perform_line(command).await)),
            Meaning::No { reason: Some(reason) } => {
                instead(&reason).unwrap_or(ConfirmationResult::Dropped)
            }
            Meaning::No { reason: None } => ConfirmationResult::Dropped,
            Meaning::Edit => ConfirmationResult::Edit,
            Meaning::Always | Meaning::Unclear => match instead(line) {
                Some(verdict) => verdict,
                None if everloop_text::bare_word(line).is_some() => ConfirmationResult::Another,
                None => ConfirmationResult::Unclear,
            },
        }
    }
}

/// The command that a person says instead: a whole sentence, or another time for this one.
fn revised_command(command: &str, said: &str, now: &Zoned) -> Option<String> {
    // A correction must be a date as a whole, so no sentence is taken for one.
    revise::revised(command, said, now).or_else(|| rules::understand(said, now)?.ok())
}
