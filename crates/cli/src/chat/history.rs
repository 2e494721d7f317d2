//! What was typed before, without secrets: the file outlives the chat.

use everloop_app::secrets;
use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchQuery,
};

/// A history that takes secrets out of a line before it keeps it.
pub(super) struct CleanHistory(pub(super) FileBackedHistory);

fn clean(mut item: HistoryItem) -> HistoryItem {
    item.command_line = secrets::redactor().text(&item.command_line).into_owned();
    item
}

impl History for CleanHistory {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        self.0.save(clean(item))
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.0.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.0.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.0.search(query)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        self.0.update(id, &|item| clean(updater(item)))
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.0.delete(id)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.0.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.0.session()
    }
}
