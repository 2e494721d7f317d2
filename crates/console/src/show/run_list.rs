//! A list of runs as a table.

use crate::console::Console;
use crate::terminal;
use everloop_agenda::show::{DisplayContext, TextTable};
use everloop_text as text;
use everloop_types::UtcMs;

/// A run in a list.
pub struct RunLine<'a> {
    /// The end of its id.
    pub id: &'a str,
    /// Its status, in words.
    pub status: String,
    /// Its loop, or its type.
    pub kind: &'a str,
    /// When it was made.
    pub created_at: UtcMs,
    /// Its title or goal, with its marks.
    pub goal: String,
}

/// Runs of this machine or of a server, as a table.
pub struct RunListTable {
    reader: DisplayContext,
    table: TextTable,
}

impl RunListTable {
    /// An empty table.
    #[must_use]
    pub fn new(app: &Console) -> Self {
        let heads = [
            text::chat::runs::id(),
            text::chat::runs::status(),
            text::chat::runs::r#loop(),
            text::chat::runs::at(),
            text::chat::runs::goal(),
        ];
        let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
        table.may_drop(&[2, 3]);
        Self { reader: app.reader(), table }
    }

    /// Adds a run.
    pub fn row(&mut self, run: RunLine<'_>) {
        let (id, kind) = (run.id.to_owned(), run.kind.to_owned());
        let created = self.reader.moment(run.created_at);
        self.table.row(vec![id, run.status, kind, created, run.goal]);
    }

    /// Prints the table, as wide as the screen.
    pub fn print(&self) {
        terminal::print_line(&self.table.show(self.reader.width));
    }
}

/// The moment that a record names; the beginning of time if it names none.
#[must_use]
pub fn moment_of(text: &str) -> UtcMs {
    text.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond)
}
