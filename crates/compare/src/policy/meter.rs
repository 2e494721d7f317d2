//! What a call costs: tokens read, of those cached, tokens written.
//!
//! ```text
//!   prompt:  tools m1 m2 m3 m4 m5        read:   all of it
//!   before:  tools m1 m2 m3              cached: tools m1…m3
//!   other tools on offer:                cached: nothing
//! ```
//!
//! Each message counts as the bytes in which the wire sends it. Providers put the schemas of the
//! tools before the messages and cache by prefix, so cached is the longest beginning, tools first
//! and then in whole messages, that an earlier call of the run has shown.

use everloop_models::codec::render_common;
use everloop_models::{Ask, WirePrompt};
use everloop_types::{Message, Reply, ToolChoice, ToolSpec, Usage, digest_bytes};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How many tokens a text has.
pub type Count = Arc<dyn Fn(&str) -> u64 + Send + Sync>;

/// Counts what the calls of one run cost. It sees every prompt and decides nothing.
pub struct Meter {
    count: Count,
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
    pub fn new(count: Count) -> Self {
        Self { count, shown: Mutex::default() }
    }

    /// What a call cost, and that its prompt has been shown now.
    pub fn measure(&self, messages: &[Message], tools: &[&ToolSpec], reply: &Reply) -> Usage {
        let parts = std::iter::once(schemas(tools)).chain(messages.iter().map(on_the_wire));
        let mut usage = self.read(parts);
        let calls = reply.calls.iter();
        let calls = calls.map(|call| (self.count)(&call.tool) + (self.count)(&call.args));
        usage.output_tokens = (self.count)(&reply.text) + calls.sum::<u64>();
        usage
    }

    fn read(&self, parts: impl Iterator<Item = String>) -> Usage {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut usage, mut beginning, mut cached) = (Usage::default(), String::new(), true);
        for wire in parts {
            beginning = digest_bytes(format!("{beginning}{wire}").as_bytes());
            let known = shown.get(&beginning).copied();
            let tokens = known.unwrap_or_else(|| (self.count)(&wire));
            shown.insert(beginning.clone(), tokens);
            cached &= known.is_some();
            usage.input_tokens += tokens;
            usage.cached_tokens += if cached { tokens } else { 0 };
        }
        usage
    }
}

fn on_the_wire(message: &Message) -> String {
    let mut wire = WirePrompt::default();
    let _ = render_common(plain(&[]), &mut wire, std::slice::from_ref(message));
    String::from_utf8_lossy(wire.bytes()).into_owned()
}

/// The schemas of the tools on offer, as the wire sends them.
fn schemas(tools: &[&ToolSpec]) -> String {
    let body = |tools: &[&ToolSpec]| {
        let bytes = render_common(plain(tools), &mut WirePrompt::default(), &[]);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (without, with) = (body(&[]), body(tools));
    let same = without.bytes().zip(with.bytes()).take_while(|(a, b)| a == b).count();
    let rest = without.len() - same;
    with.get(same..with.len() - rest).unwrap_or_default().to_owned()
}

fn plain<'a>(tools: &'a [&'a ToolSpec]) -> Ask<'a> {
    Ask {
        model: "",
        tools,
        choice: &ToolChoice::Auto,
        output: None,
        temperature_milli: Some(0),
        max_tokens: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Meter, schemas};
    use everloop_types::{Message, Reply, ToolSpec, Usage};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn what_was_shown_before_is_cached_up_to_the_first_new_message() {
        let meter = Meter::new(Arc::new(|text| text.len() as u64));
        let words = ["one", "two", "three"].map(Message::user);
        let reply = Reply { text: "four".to_owned(), ..Reply::default() };
        let wire =
            |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}").len() as u64;
        let two = wire("one") + wire("two");
        let cost = |messages: &[Message]| meter.measure(messages, &[], &reply);
        let usage =
            |input_tokens, cached_tokens| Usage { input_tokens, cached_tokens, output_tokens: 4 };
        assert_eq!(cost(&words[..2]), usage(two, 0));
        assert_eq!(cost(&words), usage(two + wire("three"), two));
        assert_eq!(cost(&words), usage(two + wire("three"), two + wire("three")));
        let other = [words[0].clone(), words[2].clone()];
        assert_eq!(cost(&other), usage(wire("one") + wire("three"), wire("one")));
    }

    #[test]
    fn tools_stand_first_and_others_break_the_cache() {
        let meter = Meter::new(Arc::new(|text| text.len() as u64));
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
    fn tools_on_offer_are_counted_as_they_are_sent() {
        let tool = ToolSpec {
            name: "look".to_owned(),
            description: "Looks.".to_owned(),
            schema: json!({"type": "object"}),
            ..ToolSpec::default()
        };
        let sent = schemas(&[&tool]);
        assert!(sent.contains(r#""name":"look","description":"Looks.""#), "{sent}");
        assert!(sent.contains(r#""tool_choice":"auto""#), "{sent}");
        assert_eq!(schemas(&[]), "");
    }
}
