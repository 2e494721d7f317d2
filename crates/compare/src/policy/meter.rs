//! What a call costs: tokens read, of those cached, tokens written.
//!
//! ```text
//!   prompt:  tools m1 m2 m3 m4 m5        read:   all of it
//!   before:  tools m1 m2 m3              cached: tools m1…m3
//!   other tools on offer:                cached: nothing
//! ```
//!
//! What is counted is what a model reads: texts, names and arguments of calls, and a fixed number
//! of tokens around each message, call and tool. The JSON of the HTTP body is not: no endpoint
//! charges for its quotes and escapes. A reply costs as much when it is written as the message
//! that it becomes costs when it is read.
//!
//! Providers put the schemas of the tools before the messages and cache by prefix, so cached is the
//! longest beginning, tools first and then in whole messages, that an earlier call of the run has
//! shown.

use everloop_types::{Message, Reply, ToolCall, ToolSpec, Usage, digest_json};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Tokens around each message, each call and each tool on offer: what OpenAI says that a message
/// takes (start, role, end).
pub(crate) const AROUND: u64 = 3;

/// How many tokens a text has.
pub type TokenCounter = Arc<dyn Fn(&str) -> u64 + Send + Sync>;

/// Counts what the calls of one run cost. It sees every prompt and decides nothing.
pub struct Meter {
    count: TokenCounter,
    /// Beginnings of prompts that were shown, by digest, with the tokens of their last part.
    shown: Mutex<HashMap<String, u64>>,
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meter")
    }
}

impl Meter {
    /// A meter that has seen nothing.
    #[must_use]
    pub fn new(count: TokenCounter) -> Self {
        Self { count, shown: Mutex::default() }
    }

    /// The cost of a call; marks its prompt as shown.
    pub fn measure(&self, messages: &[Message], tools: &[&ToolSpec], reply: &Reply) -> Usage {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let output_tokens = self.said(&reply.text, &reply.calls);
        let mut usage = Usage { output_tokens, ..Usage::default() };
        let mut is_cached = true;
        let mut read = |digest: String, cost: &dyn Fn() -> u64| {
            let known = shown.get(&digest).copied();
            let tokens = known.unwrap_or_else(cost);
            shown.insert(digest, tokens);
            is_cached &= known.is_some();
            usage.input_tokens += tokens;
            usage.cached_tokens += if is_cached { tokens } else { 0 };
        };
        let mut beginning = digest_json(&tools);
        read(beginning.clone(), &|| self.offered(tools));
        for message in messages {
            beginning = digest_json(&(beginning, message));
            read(beginning.clone(), &|| self.message(message));
        }
        usage
    }

    fn offered(&self, tools: &[&ToolSpec]) -> u64 {
        let tool = |tool: &&ToolSpec| {
            let schema = tool.schema.to_string();
            let texts = [tool.name.as_str(), &tool.description, &schema];
            texts.map(|text| (self.count)(text)).iter().sum::<u64>() + AROUND
        };
        tools.iter().map(tool).sum()
    }

    fn message(&self, message: &Message) -> u64 {
        match message {
            Message::Assistant { text, calls } => self.said(text, calls),
            other => (self.count)(other.text()) + AROUND,
        }
    }

    fn said(&self, text: &str, calls: &[ToolCall]) -> u64 {
        let call = |call: &ToolCall| (self.count)(&call.tool) + (self.count)(&call.args) + AROUND;
        (self.count)(text) + AROUND + calls.iter().map(call).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::{AROUND, Meter};
    use everloop_types::{CallId, Message, Reply, ToolCall, ToolSpec, Usage};
    use serde_json::json;
    use std::sync::Arc;

    /// A byte is a token.
    fn meter() -> Meter {
        Meter::new(Arc::new(|text| text.len() as u64))
    }

    #[test]
    fn what_was_shown_before_is_cached_up_to_the_first_new_message() {
        let meter = meter();
        let words = ["one", "two", "three"].map(Message::user);
        let reply = Reply { text: "four".to_owned(), ..Reply::default() };
        let cost = |messages: &[Message]| meter.measure(messages, &[], &reply);
        let of = |text: &str| text.len() as u64 + AROUND;
        let two = of("one") + of("two");
        let usage = |input_tokens, cached_tokens| Usage {
            input_tokens,
            cached_tokens,
            output_tokens: of("four"),
        };
        assert_eq!(cost(&words[..2]), usage(two, 0));
        assert_eq!(cost(&words), usage(two + of("three"), two));
        assert_eq!(cost(&words), usage(two + of("three"), two + of("three")));
        let other = [words[0].clone(), words[2].clone()];
        assert_eq!(cost(&other), usage(of("one") + of("three"), of("one")));
    }

    #[test]
    fn tools_stand_first_and_others_break_the_cache() {
        let meter = meter();
        let tool = |name: &str| ToolSpec { name: name.to_owned(), ..ToolSpec::default() };
        let (look, push) = (tool("look"), tool("push"));
        let words = [Message::user("one")];
        let cost = |tools: &[&ToolSpec]| meter.measure(&words, tools, &Reply::default());
        assert_eq!(cost(&[&look]).cached_tokens, 0);
        assert_eq!(cost(&[&push]).cached_tokens, 0, "the tools differ");
        let again = cost(&[&look]);
        assert_eq!(again.cached_tokens, again.input_tokens);
    }

    #[test]
    fn a_tool_on_offer_costs_its_name_its_description_and_its_schema() {
        let tool = ToolSpec {
            name: "look".to_owned(),
            description: "Looks.".to_owned(),
            schema: json!({"type": "object"}),
            ..ToolSpec::default()
        };
        let cost = |tools: &[&ToolSpec]| meter().measure(&[], tools, &Reply::default());
        let texts = "look".len() + "Looks.".len() + r#"{"type":"object"}"#.len();
        assert_eq!(cost(&[&tool, &tool]).input_tokens, 2 * (texts as u64 + AROUND));
        assert_eq!(cost(&[]).input_tokens, 0);
    }

    /// Otherwise a loop with native calls would look more expensive than one that writes text.
    #[test]
    fn a_reply_costs_the_same_written_and_read_and_escapes_cost_nothing() {
        let (text, args) = ("so \"be\"\nit".to_owned(), r#"{"path":"a \"b\""}"#.to_owned());
        let (id, tool) = (CallId::new("call_with_a_long_name"), "look".to_owned());
        let counted = (text.len() + args.len() + tool.len()) as u64 + 2 * AROUND;
        let calls = vec![ToolCall { id, tool, args }];
        let reply = Reply { text: text.clone(), calls: calls.clone(), ..Reply::default() };
        let written = meter().measure(&[], &[], &reply).output_tokens;
        let message = Message::Assistant { text, calls };
        let read = meter().measure(&[message], &[], &Reply::default()).input_tokens;
        assert_eq!((written, read), (counted, counted));
    }
}
