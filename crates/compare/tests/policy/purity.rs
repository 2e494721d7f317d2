//! The same prompt gets the same reply, independent of earlier requests.

use crate::play::play;
use crate::world::{World, frame};
use everloop_compare::policy::{Flaw, POLICIES, PolicyRules, by_name};
use everloop_loops::LOOPS;
use everloop_ports::{Model as _, Request, WirePrompt};
use everloop_types::{Reply, Usage};
use std::collections::HashMap;
use std::sync::Arc;

const GOAL: &str = "Copy a to b. Count the lines of a. Say the result. Run \"say x\".";

#[test]
fn a_prompt_gets_its_reply_whatever_came_before_it() {
    for flaw in [Flaw::None, Flaw::Format, Flaw::Forgets, Flaw::Repeats] {
        for name in LOOPS {
            let rules = PolicyRules { flaw, seed: 3 };
            let played = play(name, GOAL, World::with(&[("a", "1\n2\n")]), rules, frame());
            // From the last prompt to the first: no reply can have led to the next.
            for (asked, reply) in played.asked.iter().rev() {
                assert_eq!(asked.reply(rules), *reply, "{name} {flaw:?}");
            }
        }
    }
}

#[test]
fn another_seed_goes_wrong_elsewhere() {
    let replies = |seed| {
        let rules = PolicyRules { flaw: Flaw::Format, seed };
        let played = play("react", GOAL, World::with(&[("a", "1")]), rules, frame());
        played.asked.into_iter().map(|(_, reply)| reply).collect::<Vec<_>>()
    };
    let first = replies(0);
    assert!((1..10).any(|seed| replies(seed) != first));
    assert_eq!(replies(0), first);
}

/// Prompts only grow, so the cached tokens are all those of the last call with the same tools.
#[tokio::test]
async fn a_policy_replies_by_its_rules_and_says_what_it_cost() {
    for (name, loop_name) in POLICIES.into_iter().zip(["react", "plan-replan", "staged", "hybrid"])
    {
        let rules = PolicyRules { flaw: Flaw::parse(name).expect("a policy"), seed: 5 };
        let played = play(loop_name, GOAL, World::with(&[("a", "1")]), rules, frame());
        let count = Arc::new(|text: &str| u64::from(!text.is_empty()));
        let policy = by_name(name, 5, count).expect("a policy");
        // What the last call with the same tools on offer has shown.
        let mut before: HashMap<Vec<&str>, u64> = HashMap::new();
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
            let offered: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
            let read = got.usage.input_tokens;
            assert!(read > asked.messages.len() as u64 && got.usage.output_tokens > 0, "{name}");
            let cached_tokens = before.insert(offered, read).unwrap_or(0);
            let usage = Usage { cached_tokens, ..got.usage };
            assert_eq!(got, Reply { usage, ..reply.clone() }, "{name}");
        }
    }
    assert!(by_name("clever", 5, Arc::new(|_| 0)).is_none());
}
