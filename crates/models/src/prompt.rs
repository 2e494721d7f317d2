//! The part of a request that only grows.

use everloop_types::Message;

/// The messages already rendered for one provider, kept by the caller for as long as the run lives.
///
/// Bytes are only appended, so the transcript is serialised once, and a provider that caches by
/// prefix sees the same bytes again. Only the last rendered message is compared with the prompt:
/// whoever changes messages that were already sent (compaction) has to call [`WirePrompt::reset`].
#[derive(Debug, Clone, Default)]
pub struct WirePrompt {
    bytes: Vec<u8>,
    count: usize,
}

impl WirePrompt {
    /// Forgets everything, so that the next request renders its messages anew.
    pub fn reset(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// How many messages are rendered.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rendered messages, separated by commas.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Renders the messages that are new. Fewer messages than before mean another transcript.
    pub(crate) fn extend(
        &mut self,
        messages: &[Message],
        mut render: impl FnMut(&mut Vec<u8>, &Message),
    ) {
        if !self.ends_like(messages, &mut render) {
            self.reset();
        }
        for message in &messages[self.count..] {
            if !self.bytes.is_empty() {
                self.bytes.push(b',');
            }
            render(&mut self.bytes, message);
        }
        self.count = messages.len();
    }

    /// Whether the last rendered message is still where it was. A forgotten reset is found this
    /// way at the price of rendering one message.
    fn ends_like(
        &self,
        messages: &[Message],
        render: &mut impl FnMut(&mut Vec<u8>, &Message),
    ) -> bool {
        let Some(last) = self.count.checked_sub(1) else { return true };
        let Some(message) = messages.get(last) else { return false };
        let mut bytes = Vec::new();
        render(&mut bytes, message);
        self.bytes.ends_with(&bytes)
    }
}
