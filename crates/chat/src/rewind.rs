//! `/rewind` at a terminal: a turn is picked, then what goes back with it.

use super::Chat;
use everloop_app::conversation::{Reaction, RewindTurn};
use everloop_console::picker::{PickerRow, pick};
use everloop_console::show::undoing::turn_line;
use everloop_text as text;

impl Chat {
    /// Lets the person pick, and carries it out; what to say about it. Nothing if they pick none.
    pub(super) async fn pick_turn(&mut self, turns: &[RewindTurn]) -> Option<String> {
        let row = |turn: &RewindTurn| {
            let (label, hint) = turn_line(&self.app, turn);
            PickerRow { label, hint }
        };
        let rows: Vec<PickerRow> = turns.iter().map(row).collect();
        let turn = turns.get(pick(&self.text(text::rewind::title()), &rows).await?)?;
        let scopes = [text::rewind::only_files(), text::rewind::also_conversation()];
        let row = |text| PickerRow { label: self.text(text), hint: String::new() };
        let rows = scopes.map(row);
        let scope = match pick(&self.text(text::rewind::scope()), &rows).await? {
            0 => "files",
            _ => "all",
        };
        match self.send(&format!("/rewind {} {scope}", turn.number), None).await {
            Ok(Reaction::Reply(reply)) => Some(self.reply(reply)),
            Ok(_) => None,
            Err(failure) => Some(failure.words),
        }
    }

    /// The turns where nobody can pick one, and how to name one.
    pub(super) fn list_turns(&self, turns: &[RewindTurn]) -> String {
        let line = |turn: &RewindTurn| {
            let (label, hint) = turn_line(&self.app, turn);
            format!("{:>3}  {label}  {hint}", turn.number)
        };
        let mut lines: Vec<String> = turns.iter().map(line).collect();
        lines.push(self.text(text::rewind::how()));
        lines.join("\n")
    }
}
