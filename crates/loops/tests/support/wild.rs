//! Arbitrary scripts: what models and tools may do at their worst, and now and then at their best.

use super::scenario::{Point, Reply, Scenario};
use everloop_types::journal::InboxMessage;
use everloop_types::{
    Budget, CallId, ContextLimits, Ending, Limits, ModelError, ModelErrorKind, Money, Observation,
    StepLimits, ToolCall, Usage,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;

/// A script that fits every loop: replies and outcomes start over when they are used up.
#[derive(Debug, Clone)]
pub(crate) struct Wild {
    replies: Vec<Reply>,
    outcomes: Vec<Observation>,
    letters: Vec<(Point, InboxMessage)>,
    limits: Limits,
}

impl Wild {
    pub(crate) fn scenario(&self, loop_name: &str) -> Scenario {
        let mut scenario = Scenario::of(loop_name, "do what can be done").forever();
        scenario.replies.clone_from(&self.replies);
        scenario.outcomes.clone_from(&self.outcomes);
        scenario.letters.clone_from(&self.letters);
        scenario.limits(|limits| *limits = self.limits)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }
}

pub(crate) fn wild() -> impl Strategy<Value = Wild> {
    (vec(reply(), 1..12), vec(outcome(), 1..8), vec(letter(), 0..3), limits()).prop_map(
        |(replies, outcomes, letters, limits)| Wild { replies, outcomes, letters, limits },
    )
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        8 => any::<u32>().prop_map(Reply::Fitting),
        3 => (text(), usage()).prop_map(|(text, usage)| whole(text, Vec::new(), usage)),
        3 => (text(), calls(), usage()).prop_map(|(text, calls, usage)| whole(text, calls, usage)),
        1 => error().prop_map(Reply::Fails),
        1 => Just(Reply::Superseded),
    ]
}

fn whole(text: String, calls: Vec<ToolCall>, usage: Usage) -> Reply {
    Reply::Whole(everloop_types::Reply { text, calls, usage, ..Default::default() })
}

/// Texts that a model might give in place of what was asked for.
fn text() -> impl Strategy<Value = String> {
    let fixed = [
        "",
        " \n\t ",
        "\0",
        "plain words",
        "{\"status\":\"planned\",\"plan\":[\"one\"]",
        "{\"status\":\"planned\",\"plan\":[]}",
        "{\"status\":\"planned\",\"plan\":[\" \"]}",
        "{\"status\":\"finished\"}",
        "{\"status\":\"continue\",\"next_action\":null}",
        "{\"status\":\"continue\",\"next_action\":{\"tool\":\"nothing\",\"input\":\"\"}}",
        "{\"status\":\"continue\",\"next_action\":{\"tool\":\"ask_user\",\"input\":\"why?\"}}",
        "{\"status\":\"continue\",\"next_action\":{\"tool\":\"read_file\",\"input\":\"[1]\"}}",
        "{\"status\":\"ask_user\",\"question\":null}",
        "{\"status\":\"ask_user\",\"question\":\"which one?\"}",
        "{\"status\":\"replanned\",\"plan\":[{\"task\":\"x\",\"completed\":true}]}",
        "{\"status\":\"done\",\"response\":\"\"}",
        "<think>{}</think>```json\n{\"status\":\"done\",\"response\":\"fenced\"}\n```",
        "<think>never closed {\"status\":\"done\",\"response\":\"x\"}",
        "[[[[",
        "null",
    ];
    prop_oneof![
        8 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => (1_000_usize..5_000).prop_map(|n| "長".repeat(n)),
    ]
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    prop_oneof![6 => vec(call(), 0..5), 1 => vec(call(), 0..100)]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let ids = proptest::sample::select(vec!["", "a", "a~2", "b", "\0"]);
    let calls = proptest::sample::select(vec![
        ("read_file", "{\"path\":\"a\"}"),
        ("read_file", "{\"path\":\"a\"}"),
        ("read_file", "{\"path\":"),
        ("read_file", "[]"),
        ("read_file", ""),
        ("write_file", "{\"path\":\"a\",\"content\":\"x\"}"),
        ("write_file", "{\"path\":\"./a\",\"content\":\"y\"}"),
        ("write_file", "{\"path\":\"b\",\"content\":\"y\"}"),
        ("deploy", "{\"target\":\"moon\"}"),
        ("job_status", "{\"id\":\"1\"}"),
        ("todo_write", "{\"items\":[{\"text\":\"one\",\"state\":\"in_progress\"}]}"),
        ("todo_write", "{\"items\":[{\"text\":\"two\",\"state\":\"completed\"}]}"),
        ("todo_write", "{\"todos\":[{\"id\":\"1\",\"content\":\"a\",\"status\":\"pending\"}]}"),
        ("todo_write", "{\"todos\":[{\"id\":\"1\",\"status\":\"completed\"}],\"merge\":true}"),
        ("todo_write", "{\"todos\":[],\"merge\":true}"),
        ("ask_user", "{\"question\":\"which?\"}"),
        ("no_such_tool", "{}"),
        ("", "{}"),
    ]);
    (ids, calls).prop_map(|(id, (tool, args))| ToolCall {
        id: CallId::new(id),
        tool: tool.to_owned(),
        args: args.to_owned(),
    })
}

fn outcome() -> impl Strategy<Value = Observation> {
    let endings = [
        Ending::Ok,
        Ending::Ok,
        Ending::Ok,
        Ending::Error,
        Ending::Denied,
        Ending::TimedOut,
        Ending::Canceled,
        Ending::Unknown,
    ];
    let texts = Union::new_weighted(vec![
        (4, Just("same".to_owned()).boxed()),
        (2, any::<String>().boxed()),
        (1, Just(String::new()).boxed()),
        (1, Just("long\n".repeat(300)).boxed()),
    ]);
    (proptest::sample::select(endings.to_vec()), texts)
        .prop_map(|(ending, text)| Observation { ending, text })
}

fn error() -> impl Strategy<Value = ModelError> {
    use ModelErrorKind as K;
    let kinds = vec![K::Unreachable, K::RateLimited, K::Empty, K::TooLarge, K::Refused];
    proptest::sample::select(kinds).prop_map(|kind| ModelError::new(kind, "it failed"))
}

fn letter() -> impl Strategy<Value = (Point, InboxMessage)> {
    let point =
        prop_oneof![(0_usize..8).prop_map(Point::After), (1_usize..8).prop_map(Point::During)];
    let letter = prop_oneof![
        4 => Just(InboxMessage::Steer { text: "mind the gap".to_owned() }),
        1 => Just(InboxMessage::AnswerNow),
    ];
    (point, letter)
}

fn usage() -> impl Strategy<Value = Usage> {
    (0_u64..3_000, 0_u64..100).prop_map(|(input_tokens, output_tokens)| Usage {
        input_tokens,
        output_tokens,
        cached_tokens: 0,
    })
}

/// Limits small enough to be reached, with budgets on or off.
fn limits() -> impl Strategy<Value = Limits> {
    let steps = (1_u32..9, 0_u32..3, 1_u32..3, 1_u32..3, 0_u32..3).prop_map(
        |(max_steps, contract_retries, failure_rounds, repeated_questions, max_clarifications)| {
            StepLimits {
                max_steps,
                contract_retries,
                failure_rounds,
                repeated_questions,
                max_clarifications,
                ..StepLimits::default()
            }
        },
    );
    let budget = (few(12), few(30), few(20_000), few(20_000)).prop_map(
        |(model_calls, tool_calls, tokens, work_ms)| Budget {
            model_calls,
            tool_calls,
            tokens: u64::from(tokens),
            work_ms: u64::from(work_ms),
            // A price of one millionth for a token makes money run out like tokens.
            money: Money {
                limit: u64::from(tokens) / 2,
                input: 1_000_000,
                cached: 500_000,
                output: 1_000_000,
            },
        },
    );
    let newer = prop_oneof![Just((0, 0)), (5_usize..60, 1_usize..60)];
    let context = (700_u64..6_000, 2_usize..40, 1_usize..70, 0_u32..4, newer).prop_map(
        |(tokens, observations, calls_per_reply, repetitions, (messages, least_freed))| {
            ContextLimits {
                tokens,
                observation_chars: 10_000,
                observations,
                messages,
                least_freed,
                calls_per_reply,
                repetitions,
            }
        },
    );
    (steps, budget, context, any::<bool>()).prop_map(|(mut steps, budget, context, evidence)| {
        steps.list.evidence = evidence;
        Limits { steps, budget, context, ..Limits::default() }
    })
}

/// A limit, or none.
fn few(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 1 => 1..most]
}
