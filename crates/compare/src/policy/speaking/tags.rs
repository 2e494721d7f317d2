//! Tagged text: calls or the answer, for models that have no native calls.

use super::Speaker;

impl Speaker<'_> {
    pub(super) fn tagged(&self) -> String {
        let outlook = self.together(self.everything());
        let calls = self.calls_and_list(&outlook);
        if calls.is_empty() {
            return format!("<final>{}</final>", self.answer());
        }
        let calls = calls.iter().map(|(tool, args)| format!("<tool name=\"{tool}\">{args}</tool>"));
        calls.collect::<Vec<_>>().join("\n")
    }
}
