//! The same prompt, the same reply, whatever was asked before.

use crate::play::play;
use crate::world::{World, frame};
use everloop_compare::policy::{Flaw, Mind, POLICIES, by_name};
use everloop_loops::LOOPS;
use everloop_models::{Model as _, Request, WirePrompt};
use everloop_types::Usage;
use std::sync::Arc;

const GOAL: &str = "Copy a to b. Count the lines of a. Say the result. Run \"say x\".";

#[test]
fn a_prompt_gets_its_reply_whatever_came_before_it() {
    for flaw in [Flaw::None, Flaw::Format, Flaw::Forgets, Flaw::Repeats] {
        for name in LOOPS {
            let mind = Mind { flaw, seed: 3 };
            let played = play(name, GOAL, World::with(&[("a", "1\n2\n")]), mind, frame());
            // From the last prompt to the first: no reply can have led to the next.
            for (asked, reply) in played.asked.iter().rev() {
                assert_eq!(asked.reply(mind), *reply, "{name} {flaw:?}");
            }
        }
    }
}

#[test]
fn another_seed_goes_wrong_elsewhere() {
    let replies = |seed| {
        let mind = Mind { flaw: Flaw::Format, seed };
        let played = play("react", GOAL, World::with(&[("a", "1")]), mind, frame());
        played.asked.into_iter().map(|(_, reply)| reply).collect::<Vec<_>>()
    };
    let first = replies(0);
    assert!((1..10).any(|seed| replies(seed) != first));
    assert_eq!(replies(0), first);
}

#[tokio::test]
async fn a_policy_replies_as_its_mind_does_and_says_what_it_cost() {
    for name in POLICIES {
        let mind = Mind { flaw: Flaw::parse(name).expect("a policy"), seed: 5 };
        let played = play("react", GOAL, World::with(&[("a", "1")]), mind, frame());
        let policy = by_name(name, 5, Arc::new(|text| text.len() as u64)).expect("a policy");
        let mut before = 0;
        for (asked, reply) in &played.asked {
            let request = Request {
                model: "x",
                messages: &asked.messages,
                wire: &mut WirePrompt::default(),
                tools: asked.tools.iter().collect(),
                choice: &asked.call.choice,
                output: None,
                temperature_milli: 0,
                max_tokens: 0,
            };
            let got = policy.ask(request, &mut |_| {}).await.expect("a policy never fails");
            let Usage { input_tokens, cached_tokens, .. } = got.usage;
            // What the prompt before it held is cached; only the schemas never are.
            assert!(cached_tokens >= before && cached_tokens < input_tokens, "{:?}", got.usage);
            assert!(before > 0 || cached_tokens == 0);
            let schemas = if asked.tools.is_empty() { 0 } else { 1_000 };
            before = input_tokens - schemas.min(input_tokens);
            before = before.min(cached_tokens.max(1));
            assert_eq!((&got.text, &got.calls), (&reply.text, &reply.calls));
        }
    }
    assert!(by_name("clever", 5, Arc::new(|_| 0)).is_none());
}
