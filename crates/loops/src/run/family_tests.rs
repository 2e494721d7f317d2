use crate::AnyRun;
use everloop_types::journal::{
    BudgetUse, ChildEnded, Delegated, EffectPlanned, Entry, EntryKind, Forked, InboxMessage, Input,
    PlannedToolCall, RunCreated, Spawned,
};
use everloop_types::{
    Budget, CallId, EffectId, Frame, Goal, Handling, Labels, Limits, Money, RunId, Status,
    ToolCall, Usage, digest_json,
};
use std::sync::Arc;

fn effect() -> EffectId {
    EffectId { run: RunId::new("run_1"), cause: 1, index: 0 }
}

/// A run that has planned one call, with these limits.
fn run(limits: Limits) -> AnyRun {
    let frame = Frame { limits, ..Frame::default() };
    let created = RunCreated {
        goal: Goal { text: "go".to_owned(), ..Goal::default() },
        loop_name: "react".to_owned(),
        loop_ver: AnyRun::version("react").expect("a loop"),
        frame: digest_json(&frame),
        build: "test".to_owned(),
        policy_hash: String::new(),
        turn: None,
    };
    let mut run = AnyRun::new(&created, Arc::new(frame)).expect("a loop");
    apply(&mut run, None, EntryKind::RunCreated(created));
    let call =
        ToolCall { id: CallId::new("c"), tool: "delegate".to_owned(), args: "{}".to_owned() };
    let planned = PlannedToolCall::new(call, &Handling::default(), 0, None);
    let planned = EffectPlanned::CallTool(planned);
    apply(&mut run, Some(effect()), EntryKind::EffectPlanned(planned));
    run
}

fn apply(run: &mut AnyRun, effect: Option<EffectId>, kind: EntryKind) {
    let seq = run.last_seq() + 1;
    run.apply(&Entry { seq, epoch: 1, at: 0, effect, kind });
}

fn delegate(run: &mut AnyRun) {
    let delegated = Delegated { to: RunId::new("run_2") };
    apply(run, Some(effect()), EntryKind::Delegated(delegated));
}

fn hear(run: &mut AnyRun, used: BudgetUse) {
    let (child, text) = (RunId::new("run_2"), "done".to_owned());
    let ended =
        ChildEnded { child, status: Status::Succeeded, text, used, labels: Labels::default() };
    let message = InboxMessage::Child(Box::new(ended));
    apply(run, None, EntryKind::Input(Input { dedupe: "run_2".to_owned(), message }));
}

const MONEY: Money = Money { limit: 0, input: 1_000_000, cached: 0, output: 1_000_000 };
const BUDGET: Budget =
    Budget { model_calls: 10, tool_calls: 5, tokens: 100, work_ms: 0, money: MONEY };

fn limited() -> Limits {
    Limits { budget: BUDGET, ..Limits::default() }
}

const USED: BudgetUse = BudgetUse {
    model_calls: 4,
    tool_calls: 2,
    usage: Usage { input_tokens: 30, output_tokens: 10, cached_tokens: 0 },
    work_ms: 7,
};

#[test]
fn a_child_gets_what_is_left_less_a_call_for_its_last_words() {
    let mut run = run(limited());
    let left = Budget { model_calls: 9, tool_calls: 4, tokens: 100, ..BUDGET };
    assert_eq!(run.allowance(), Ok(left));
    delegate(&mut run);
    hear(&mut run, USED);
    // What has no limit here has none there.
    let left = Budget { model_calls: 5, tool_calls: 2, tokens: 60, ..BUDGET };
    assert_eq!(run.allowance(), Ok(left));
    assert_eq!((run.counts().model_calls, run.counts().work_ms), (4, 7));
}

/// A budget of 0 means no limit: what is spent must never become one.
#[test]
fn a_spent_budget_is_no_budget_without_limit() {
    for used in [
        BudgetUse { model_calls: 9, ..BudgetUse::default() },
        BudgetUse { tool_calls: 4, ..BudgetUse::default() },
        BudgetUse {
            usage: Usage { input_tokens: 100, ..Usage::default() },
            ..BudgetUse::default()
        },
    ] {
        let mut run = run(limited());
        hear(&mut run, used);
        let refused = run.allowance().expect_err("nothing is left");
        assert!(refused.text.contains("nothing left"), "{}", refused.text);
    }
}

#[test]
fn a_child_may_cost_what_is_left() {
    let money = Money { limit: 100, ..MONEY };
    let mut run =
        run(Limits { budget: Budget { money, tokens: 0, ..BUDGET }, ..Limits::default() });
    hear(&mut run, USED);
    assert_eq!(run.allowance().map(|left| left.money), Ok(Money { limit: 60, ..money }));
    hear(&mut run, BudgetUse { model_calls: 0, ..USED });
    hear(&mut run, BudgetUse { model_calls: 0, tool_calls: 0, ..USED });
    let refused = run.allowance().expect_err("nothing is left");
    assert!(refused.text.contains("nothing left"), "{}", refused.text);
}

#[test]
fn there_are_so_many_children_and_no_more_and_so_deep_and_no_deeper() {
    let mut limits = limited();
    limits.delegate.max_children = 1;
    let mut one = run(limits);
    delegate(&mut one);
    assert!(one.allowance().expect_err("it had its one").text.contains("its 1 children"));
    let below = limits.delegate.below().below();
    let deep = run(Limits { delegate: below, ..limits });
    assert!(deep.allowance().expect_err("it is the last").text.contains("this deep"));
}

#[test]
fn a_fork_of_a_child_has_no_parent_and_all_its_children_before_it() {
    let mut run = run(limited());
    apply(&mut run, None, EntryKind::Spawned(Spawned { by: effect() }));
    delegate(&mut run);
    assert_eq!(run.living_child(), Some(&RunId::new("run_2")));
    assert_eq!(run.parent(), Some(&effect()));
    let (from, word) = (RunId::new("run_0"), Goal::default());
    let limits = Limits { delegate: limited().delegate.below(), ..limited() };
    let forked = Forked { from, at_seq: 3, limits, settled: Vec::new(), word };
    apply(&mut run, None, EntryKind::Forked(forked));
    assert_eq!(run.parent(), None);
}
