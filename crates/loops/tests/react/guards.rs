//! Repetition, budgets and unknown outcomes.

use crate::support::{Point, Scenario, fold};
use everloop_types::{Ending, Limits, Message, Money};
use expect_test::{Expect, expect};
use serde_json::json;

fn check(scenario: Scenario, trace: &Expect) {
    trace.assert_eq(&scenario.play().trace);
}

fn same_again(tool: &str, args: &serde_json::Value, times: usize) -> Scenario {
    (0..times)
        .fold(Scenario::react("go"), |scenario, _| scenario.calls(tool, args).sees("the same"))
}

#[test]
fn the_third_equal_result_is_pointed_out_to_the_model() {
    let played = same_again("read_file", &json!({"path": "a"}), 3).says("I stop.").play();
    expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_model think with 4 messages
        call_tool read_file {"path":"a"}
        call_model think with 6 messages
        call_tool read_file {"path":"a"}
        call_model think with 9 messages
        finish succeeded "I stop."
    "#]]
    .assert_eq(&played.trace);
    let told = played.prompts[3].last().map(Message::text).unwrap_or_default();
    expect![[r#"
        Notice from the runtime: `read_file` was called 3 times in a row with the same arguments and gave the same result each time. Calling it again will not help. Try something else, or finish with what you have.
    "#]].assert_eq(told);
}

#[test]
fn the_sixth_equal_result_stops_the_run_with_a_summary() {
    check(
        same_again("read_file", &json!({"path": "a"}), 6).says("It stays."),
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_model think with 4 messages
        call_tool read_file {"path":"a"}
        call_model think with 6 messages
        call_tool read_file {"path":"a"}
        call_model think with 9 messages
        call_tool read_file {"path":"a"}
        call_model think with 11 messages
        call_tool read_file {"path":"a"}
        call_model think with 13 messages
        call_tool read_file {"path":"a"}
        call_model close with 16 messages
        finish failed (repetition) "It stays." [reason.repetition tool=read_file]
    "#]],
    );
}

#[test]
fn another_result_or_another_call_between_begins_the_count_anew() {
    let read = json!({"path": "a"});
    let played = same_again("read_file", &read, 5)
        .calls("read_file", &read)
        .sees("another")
        .calls("read_file", &read)
        .sees("the same")
        .calls("read_file", &json!({"path": "b"}))
        .sees("the same")
        .says("Fine.")
        .play();
    assert!(played.trace.ends_with("finish succeeded \"Fine.\"\n"), "{}", played.trace);
}

#[test]
fn equal_calls_in_one_reply_count_once_because_the_model_has_seen_no_result_yet() {
    let read = ("read_file", json!({"path": "a"}));
    let scenario = Scenario::react("go").calls_all(&vec![read; 6]);
    let scenario = (0..6).fold(scenario, |scenario, _| scenario.sees("the same"));
    check(
        scenario.says("It stays."),
        &expect![[r#"
            call_model think with 2 messages
            call_tool read_file {"path":"a"}
            call_tool read_file {"path":"a"}
            call_tool read_file {"path":"a"}
            call_tool read_file {"path":"a"}
            call_tool read_file {"path":"a"}
            call_tool read_file {"path":"a"}
            call_model think with 9 messages
            finish succeeded "It stays."
        "#]],
    );
}

#[test]
fn a_tool_whose_purpose_is_to_be_called_again_is_exempt() {
    let played = same_again("job_status", &json!({"id": "1"}), 9).says("Still running.").play();
    assert!(played.trace.ends_with("finish succeeded \"Still running.\"\n"), "{}", played.trace);
    let grown: Vec<usize> = played.prompts.iter().map(Vec::len).collect();
    assert_eq!(grown, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
}

/// RA-8: whoever waits for a job sees the same result many times, as long as it moves now and then.
#[test]
fn a_poll_is_exempt_while_its_result_changes_and_stopped_when_it_does_not() {
    let job = json!({"id": "1"});
    let polled = |result: &dyn Fn(usize) -> String, times: usize| {
        let scenario = Scenario::react("wait").limits(|limits| limits.steps.max_steps = 100);
        (0..times).fold(scenario, |scenario, n| scenario.calls("job_status", &job).sees(&result(n)))
    };
    let moves = polled(&|n| format!("{} %", n / 5), 40).says("Done.").play();
    assert!(moves.trace.ends_with("finish succeeded \"Done.\"\n"), "{}", moves.trace);
    let told = |played: &crate::support::Played| {
        let all = played.prompts.last().into_iter().flatten().map(Message::text);
        all.filter(|text| text.contains("times in a row with the same arguments")).count()
    };
    assert_eq!(told(&moves), 0, "nothing is pointed out while it moves");
    let stands = polled(&|_| "0 %".to_owned(), 24).says("It hangs.").play();
    let end = "finish failed (repetition) \"It hangs.\" [reason.repetition tool=job_status]\n";
    assert!(stands.trace.ends_with(end), "{}", stands.trace);
    assert_eq!(told(&stands), 1);
    // Another tool with as many equal results in a row is not waited for.
    let read = json!({"path": "a"});
    let scenario = Scenario::react("wait").limits(|limits| limits.steps.max_steps = 100);
    let reads = (0..5).fold(scenario, |s, _| s.calls("read_file", &read).sees("0 %"));
    assert_eq!(told(&reads.says("Done.").play()), 1);
}

#[test]
fn without_a_limit_repetition_is_nobodys_business() {
    let played = same_again("read_file", &json!({"path": "a"}), 9)
        .limits(|limits| limits.context.repetitions = 0)
        .says("Fine.")
        .play();
    assert!(played.trace.ends_with("finish succeeded \"Fine.\"\n"), "{}", played.trace);
}

/// Three different reads, then an account; each entry takes 100 ms, each reply 10 + 5 tokens.
fn three_reads(change: impl FnOnce(&mut Limits)) -> Scenario {
    let scenario = Scenario::react("go").limits(change);
    (0..3).fold(scenario, |scenario, n| {
        scenario.calls("read_file", &json!({"path": n.to_string()})).sees(&format!("text {n}"))
    })
}

fn cut_short(change: impl FnOnce(&mut Limits)) -> String {
    let mut scenario = three_reads(change);
    scenario.replies.truncate(2);
    scenario.says("As far as it went.").play().trace
}

#[test]
fn each_budget_ends_the_run_with_a_summary_and_its_name() {
    let calls = expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"0"}
        call_model think with 4 messages
        call_tool read_file {"path":"1"}
        call_model close with 7 messages
        finish failed (budget) "As far as it went." [reason.budget_model_calls limit=2]
    "#]];
    calls.assert_eq(&cut_short(|limits| limits.budget.model_calls = 2));
    let last = |trace: String| trace.lines().last().unwrap_or_default().to_owned();
    expect![[r#"finish failed (budget) "As far as it went." [reason.budget_tool_calls limit=2]"#]]
        .assert_eq(&last(cut_short(|limits| limits.budget.tool_calls = 2)));
    expect![[r#"finish failed (budget) "As far as it went." [reason.budget_tokens limit=30]"#]]
        .assert_eq(&last(cut_short(|limits| limits.budget.tokens = 30)));
    let money = Money { limit: 30, input: 1_000_000, cached: 0, output: 1_000_000 };
    expect![[r#"finish failed (budget) "As far as it went." [reason.budget_money limit=0.00003]"#]]
        .assert_eq(&last(cut_short(|limits| limits.budget.money = money)));
    expect![[r#"finish failed (budget) "As far as it went." [reason.budget_work limit=600]"#]]
        .assert_eq(&last(cut_short(|limits| limits.budget.work_ms = 600)));
}

#[test]
fn a_budget_of_zero_is_no_limit() {
    let scenario = three_reads(|limits| {
        (limits.budget.model_calls, limits.budget.tool_calls) = (0, 0);
        (limits.budget.tokens, limits.budget.work_ms) = (0, 0);
    });
    let played = scenario.says("All.").play();
    assert!(played.trace.ends_with("finish succeeded \"All.\"\n"), "{}", played.trace);
}

#[test]
fn waiting_for_a_person_is_not_work() {
    let played = Scenario::react("go")
        .limits(|limits| limits.budget.work_ms = 3_000_000)
        .calls("ask_user", &json!({"question": "which one?"}))
        .sees("the red one")
        .says("The red one it is.")
        .play();
    expect![[r#"
        call_model think with 2 messages
        call_tool ask_user {"question":"which one?"}
        call_model think with 4 messages
        finish succeeded "The red one it is."
    "#]]
    .assert_eq(&played.trace);
    assert_eq!(played.run.counts().work_ms, 1_100);
}

#[test]
fn work_and_calls_are_counted_once_however_often_the_worker_dies() {
    let calm = three_reads(|_| ()).says("All.").play();
    for n in 2..calm.journal.len() {
        let upset = three_reads(|_| ()).says("All.").crash_after(n).crash_after(n + 1).play();
        let wasted = upset.run.counts().wasted_attempts;
        let mut expected = calm.run.counts();
        expected.wasted_attempts = wasted;
        assert_eq!(upset.run.counts(), expected, "after entry {n}");
        assert!(wasted <= 2, "after entry {n}");
    }
}

#[test]
fn an_unknown_outcome_bars_its_resource_and_is_the_first_line_of_the_answer() {
    let write = |path: &str| json!({"path": path, "content": "x"});
    let played = Scenario::react("write both")
        .calls("write_file", &write("a.txt"))
        .observes(Ending::Unknown, "the worker died")
        .calls_all(&[
            ("write_file", write("./a.txt")),
            ("write_file", write("b.txt")),
            ("read_file", json!({"path": "a.txt"})),
        ])
        .sees("written")
        .sees("half of it")
        .says("b.txt is written.")
        .play();
    expect![[r#"
        call_model think with 2 messages
        call_tool write_file {"content":"x","path":"a.txt"}
        call_model think with 4 messages
        refuse write_file {"content":"x","path":"./a.txt"}: Denied: the outcome of an earlier call on the same resource is unknown (write_file {"content":"x","path":"a.txt"}); nothing was done; inspect the state of things, do something else, or leave it for the user to settle
        call_tool write_file {"content":"x","path":"b.txt"}
        call_tool read_file {"path":"a.txt"}
        call_model think with 8 messages
        finish unsettled [run.unsettled calls=write_file content: x, path: a.txt] "b.txt is written."
    "#]].assert_eq(&played.trace);
    let unknown: Vec<&str> = played.run.unknowns().iter().map(|u| u.resource.as_str()).collect();
    assert_eq!(unknown, ["path:a.txt"]);
}

/// A fork may begin anywhere: what was begun and has no outcome there is as open as an unknown.
#[test]
fn a_call_is_unaccounted_for_from_its_intent_to_its_outcome() {
    let played = Scenario::react("write")
        .calls("write_file", &json!({"path": "a.txt", "content": "x"}))
        .sees("written")
        .says("Done.")
        .thorough()
        .play();
    let open_after: Vec<(&str, Vec<String>)> = (1..=played.journal.len())
        .map(|count| (&played.journal[..count], fold(&played.journal[..count], &played.frame)))
        .map(|(journal, run)| {
            let open = run.unaccounted().into_iter().map(|unknown| unknown.resource);
            (journal[journal.len() - 1].kind.name(), open.collect())
        })
        .filter(|(kind, _)| {
            ["EffectStarted", "EffectAttemptFailed", "EffectFinished"].contains(kind)
        })
        .collect();
    let (open, none) = (vec!["path:a.txt".to_owned()], Vec::new());
    let expected = [
        ("EffectFinished", none.clone()),
        ("EffectStarted", open.clone()),
        ("EffectAttemptFailed", none.clone()),
        ("EffectStarted", open),
        ("EffectFinished", none.clone()),
        ("EffectFinished", none),
    ];
    assert_eq!(open_after, expected);
}

#[test]
fn without_a_named_resource_tool_and_arguments_are_the_resource() {
    let played = Scenario::react("go")
        .limits(|limits| limits.context.repetitions = 0)
        .calls("deploy", &json!({"target": "moon"}))
        .observes(Ending::Unknown, "the worker died")
        .calls_all(&[("deploy", json!({"target": "moon"})), ("deploy", json!({"target": "mars"}))])
        .sees("landed")
        .says("Mars is done.")
        .play();
    expect![[r#"
        call_model think with 2 messages
        call_tool deploy {"target":"moon"}
        call_model think with 4 messages
        refuse deploy {"target":"moon"}: Denied: the outcome of an earlier call on the same resource is unknown (deploy {"target":"moon"}); nothing was done; inspect the state of things, do something else, or leave it for the user to settle
        call_tool deploy {"target":"mars"}
        call_model think with 7 messages
        finish unsettled [run.unsettled calls=deploy moon] "Mars is done."
    "#]].assert_eq(&played.trace);
}

#[test]
fn an_absurd_count_of_tokens_only_ends_the_run() {
    let absurd = |change: fn(&mut Limits)| {
        let scenario = Scenario::react("go").limits(change).costs(u64::MAX, 0);
        let scenario = scenario.calls("read_file", &json!({"path": "a"})).sees("one");
        let played = scenario.costs(0, 0).says("One.").play();
        played.trace.lines().last().unwrap_or_default().to_owned()
    };
    expect![[r#"finish failed (budget) "One." [reason.budget_tokens limit=5000000]"#]]
        .assert_eq(&absurd(|_| ()));
    expect![[r#"finish failed (context_full) "One." [reason.context_full]"#]]
        .assert_eq(&absurd(|limits| limits.budget.tokens = 0));
}

#[test]
fn limits_as_large_as_numbers_go_are_no_limits() {
    let scenario = three_reads(|limits| {
        limits.context.tokens = u64::MAX;
        limits.context.observations = usize::MAX;
        limits.context.calls_per_reply = usize::MAX;
        limits.context.repetitions = u32::MAX;
        limits.steps.max_steps = u32::MAX;
    });
    let played = scenario.says("All.").play();
    assert!(played.trace.ends_with("finish succeeded \"All.\"\n"), "{}", played.trace);
}

#[test]
fn a_canceled_run_still_names_its_unknown_outcome() {
    let scenario = Scenario::react("go")
        .calls("deploy", &json!({"target": "moon"}))
        .observes(Ending::Unknown, "the worker died")
        .cancels(Point::After(2));
    check(
        scenario,
        &expect![[r#"
            call_model think with 2 messages
            call_tool deploy {"target":"moon"}
            letter cancel
            finish canceled (canceled) [run.unsettled calls=deploy moon] [run.canceled_early]
        "#]],
    );
}
