//! Tagged text: calls or the answer, for models that have no native calls.

use super::Speaker;
use everloop_loops::replies::{ToolUse, tagged_answer, tagged_calls};
use everloop_types::Reply;

impl Speaker<'_> {
    pub(super) fn tagged(&self) -> Reply {
        let outlook = self.together(self.everything());
        let calls = self.calls_and_list(&outlook);
        if calls.is_empty() {
            return tagged_answer(&self.answer());
        }
        let used = calls.into_iter().map(|(tool, args)| (tool.to_owned(), args));
        tagged_calls(&used.collect::<Vec<ToolUse>>())
    }
}
