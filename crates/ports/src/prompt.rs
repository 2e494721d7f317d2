//! The part of a request that only grows.

use everloop_types::Message;

/// The messages already rendered for one provider, kept by the caller for as long as the run lives.
///
/// Bytes are only appended, so the transcript is serialised once, and a provider that caches by
/// prefix sees the same bytes again. Only the last rendered message is compared with the prompt:
/// whoever changes messages that were already sent (compaction) has to call [`WirePrompt::reset`].
#[derive(Debug, Clone, Default)]
pub struct WirePrompt {
    form: &'static str,
    /// What the system text says about tools, where they are called in text.
    words: String,
    rendered: RenderedMessages,
    count: usize,
}

/// Messages as bytes.
#[derive(Debug, Clone, Default)]
pub struct RenderedMessages {
    /// What a provider wants outside of its list of messages: the system text.
    pub head: Vec<u8>,
    /// The messages themselves, with what stands between them.
    pub body: Vec<u8>,
}

impl WirePrompt {
    /// Forgets everything, so that the next request renders its messages anew.
    pub fn reset(&mut self) {
        self.rendered.head.clear();
        self.rendered.body.clear();
        self.count = 0;
    }

    /// What the system text says about tools. It stays as it is while none are on offer, so that
    /// the bytes before do, too.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Says something else about tools: what was rendered with other words is of no use.
    pub fn say(&mut self, words: String) {
        if self.words != words {
            self.reset();
            self.words = words;
        }
    }

    /// How many messages are rendered.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rendered messages in the provider's own form.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.rendered.body
    }

    /// The rendered part that stands outside of the list of messages.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.rendered.head
    }

    /// Renders the messages that are new. `render` appends one message; those before it are
    /// there to be looked at. Fewer messages than before mean another transcript,
    /// and another `form` means another provider. Gives the length of the bytes that were
    /// there before.
    pub fn extend(
        &mut self,
        form: &'static str,
        messages: &[Message],
        mut render: impl FnMut(&mut RenderedMessages, &[Message], &Message),
    ) -> usize {
        if self.form != form || !self.ends_like(messages, &mut render) {
            self.reset();
            self.form = form;
        }
        let known = self.rendered.body.len();
        for n in self.count..messages.len() {
            render(&mut self.rendered, &messages[..n], &messages[n]);
        }
        self.count = messages.len();
        known
    }

    /// Whether the last rendered message is still where it was. A forgotten reset is found this
    /// way at the price of rendering one message.
    fn ends_like(
        &self,
        messages: &[Message],
        render: &mut impl FnMut(&mut RenderedMessages, &[Message], &Message),
    ) -> bool {
        let Some(last) = self.count.checked_sub(1) else { return true };
        let Some(message) = messages.get(last) else { return false };
        let mut again = RenderedMessages::default();
        render(&mut again, &messages[..last], message);
        self.rendered.head.ends_with(&again.head) && self.rendered.body.ends_with(&again.body)
    }
}
