//! What was allowed for good, as a table.

use super::run_list::moment_of;
use crate::console::Console;
use crate::terminal;
use everloop_agenda::show::{DisplayContext, TextTable};
use everloop_app::approvals::ApprovalInfo;
use everloop_text as text;

/// Approvals as a table.
pub struct ApprovalTable {
    reader: DisplayContext,
    table: TextTable,
}

impl ApprovalTable {
    /// An empty table.
    #[must_use]
    pub fn new(app: &Console) -> Self {
        let heads = [
            text::chat::runs::id(),
            text::approvals::head::at(),
            text::approvals::head::tool(),
            text::approvals::head::covers(),
        ];
        let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
        // What it covers names the tool where that is not plain.
        table.may_drop(&[1, 2]);
        Self { reader: app.reader(), table }
    }

    /// Adds one, with what it covers in words.
    pub fn row(&mut self, one: &ApprovalInfo, covers: &str) {
        let given = self.reader.moment(moment_of(&one.at));
        self.table.row(vec![one.id.clone(), given, one.tool.clone(), covers.to_owned()]);
    }

    /// Prints the table, as wide as the screen.
    pub fn print(&self) {
        terminal::print_line(&self.table.show(self.reader.width));
    }
}
