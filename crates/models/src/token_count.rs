//! Counts tokens if the provider does not, with a real tokenizer, so that budgets and compaction
//! work with any server. The count is part of the reply, and so of the journal: no fold counts
//! again.

use everloop_ports::{Model, ModelFuture, OnDelta, Request};
use everloop_types::{Image, Message, Reply, ToolCall, ToolSpec, Usage};
use std::sync::Arc;

/// Tokens of a text, by the vocabulary `o200k`. It takes 0.15 s to load, with the first text.
#[must_use]
pub fn count_tokens(text: &str) -> u64 {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64
}

/// A model whose replies always have their usage, from the provider or as counted here.
pub struct CountingModel(pub Arc<dyn Model>);

impl Model for CountingModel {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> ModelFuture<'a> {
        Box::pin(async move {
            let (messages, tools) = (request.messages, request.tools.clone());
            let reply = self.0.ask(request, on_delta).await?;
            Ok(match reply.usage.total() {
                0 => Reply { usage: usage(messages, &tools, &reply), ..reply },
                _ => reply,
            })
        })
    }
}

fn usage(messages: &[Message], tools: &[&ToolSpec], reply: &Reply) -> Usage {
    let tool = |tool: &&ToolSpec| {
        count_tokens(&tool.name)
            + count_tokens(&tool.description)
            + count_tokens(&tool.schema.to_string())
    };
    let said = count_tokens(&reply.text) + count_tokens(&reply.reasoning);
    Usage {
        input_tokens: messages.iter().map(message).sum::<u64>()
            + tools.iter().map(tool).sum::<u64>(),
        output_tokens: said + reply.calls.iter().map(call).sum::<u64>(),
        cached_tokens: 0,
    }
}

fn message(message: &Message) -> u64 {
    let more = match message {
        Message::Assistant { calls, .. } => calls.iter().map(call).sum(),
        Message::User { images, .. } => (images.len() * Image::COUNTS_FOR_BYTES / 4) as u64,
        Message::System { .. } | Message::Tool { .. } => 0,
    };
    count_tokens(message.text()) + more
}

fn call(call: &ToolCall) -> u64 {
    count_tokens(&call.tool) + count_tokens(&call.args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_ports::WirePrompt;
    use everloop_types::ToolChoice;

    /// A provider that says this and counts so much.
    struct Says(Usage);

    impl Model for Says {
        fn ask<'a>(&'a self, _: Request<'a>, _: OnDelta<'a>) -> ModelFuture<'a> {
            let usage = self.0;
            Box::pin(async move {
                Ok(Reply { text: "hello world".to_owned(), usage, ..Reply::default() })
            })
        }
    }

    async fn cost(provider: Usage) -> Usage {
        let image = Image { mime: "image/png".to_owned(), base64: "A".repeat(100_000) };
        let pictured = Message::User { text: "hello world".to_owned(), images: vec![image] };
        let request = Request {
            model: "x",
            messages: &[Message::user("hello world"), pictured],
            wire: &mut WirePrompt::default(),
            tools: Vec::new(),
            choice: &ToolChoice::None,
            output: None,
            temperature_milli: 0,
            max_tokens: 0,
        };
        let model = CountingModel(Arc::new(Says(provider)));
        model.ask(request, &mut |_| {}).await.expect("a reply").usage
    }

    #[tokio::test]
    async fn tokens_are_counted_where_the_provider_counts_none() {
        let theirs = Usage { input_tokens: 7, output_tokens: 3, cached_tokens: 1 };
        assert_eq!(cost(theirs).await, theirs);
        let ours = Usage { input_tokens: 2 + 2 + 1_600, output_tokens: 2, cached_tokens: 0 };
        assert_eq!(cost(Usage::default()).await, ours);
    }
}
