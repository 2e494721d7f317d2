//! From each loop to each other one, at every step border: what the new loop is told.

use super::path;
use super::same_task::task;
use crate::support::{Played, Point, Scenario, fold};
use everloop_loops::{AnyRun, Decision, LOOPS, carried};
use everloop_text as text;
use everloop_types::journal::{
    EffectFinished, EffectPlanned, EffectStarted, Entry, EntryKind, EpochStarted, Forked,
    InboxMessage, Input, Outcome, PlannedModelCall, RunCreated,
};
use everloop_types::{
    Ending, Frame, Goal, Message, Observation, Progress, RunId, Status, ToolChoice, ToolOffer,
    WorkerId,
};
use expect_test::expect;
use serde_json::json;
use std::sync::Arc;

/// A run before its first model call, and that call's offer.
struct FirstCall {
    messages: Vec<Message>,
    offer: ToolOffer,
    choice: ToolChoice,
}

/// The run that goes on, as the engine makes it.
fn goes_on(parent: &Played, to: &str) -> FirstCall {
    let frame = Frame { carried: carried(&parent.run), ..parent.frame.as_ref().clone() };
    let frame = Arc::new(frame);
    let EntryKind::RunCreated(created) = &parent.journal[0].kind else { panic!("the first entry") };
    let created = RunCreated {
        loop_name: to.to_owned(),
        loop_ver: AnyRun::version(to).expect("a loop of that name"),
        ..created.clone()
    };
    let mut run = AnyRun::new(&created, frame.clone()).expect("a loop of that name");
    let forked = Forked {
        from: RunId::new("run_1"),
        at_seq: parent.run.last_seq(),
        limits: frame.limits,
        settled: Vec::new(),
        word: Goal::default(),
    };
    let epoch = EpochStarted { worker: WorkerId::new("w"), build: "test".to_owned() };
    let kinds =
        [EntryKind::RunCreated(created), EntryKind::Forked(forked), EntryKind::EpochStarted(epoch)];
    for (seq, kind) in (1..).zip(kinds) {
        run.apply(&Entry { seq, epoch: 0, at: 2_000_000 + seq, effect: None, kind });
    }
    let Decision::Do(batch) = run.decide() else { panic!("{to} ends at once") };
    let [planned] = batch.as_slice() else { panic!("{to} begins with several calls") };
    let EffectPlanned::CallModel(PlannedModelCall { call, .. }) = &planned.planned else {
        panic!("{to} begins with a tool")
    };
    let (offer, choice) = (call.offer.clone(), call.choice.clone());
    FirstCall { messages: run.messages().to_vec(), offer, choice }
}

fn switched(scenario: Scenario, point: Point, to: &str) -> Option<Played> {
    let played = scenario.switches(point, to).play();
    let Decision::Finish { status, words, .. } = &played.ending else { panic!("no ending") };
    if *status != Status::Canceled {
        return None;
    }
    assert_eq!(*words, text::run::switched(&to.to_owned(), &"run_2".to_owned()).words());
    assert_eq!(played.run.successor(), Some(&RunId::new("run_2")));
    Some(played)
}

/// Every observation of the journal that something real led to.
fn observations(played: &Played) -> Vec<&'static str> {
    let holds = |text: &&'static str| {
        played.journal.iter().any(|entry| match &entry.kind {
            EntryKind::EffectFinished(finished) => {
                format!("{:?}", finished.outcome).contains(*text)
            }
            _ => false,
        })
    };
    ["it holds 1111", "it holds 2222"].into_iter().filter(holds).collect()
}

/// Whether an item is done may be known better by now: a list that was about to be written is.
fn items(progress: &Progress) -> impl Iterator<Item = String> {
    progress.items.iter().map(|item| format!("] {}", item.text))
}

#[test]
fn whatever_loop_takes_over_is_told_goal_observations_and_plan_in_words_alone() {
    let mut borders = 0;
    for from in LOOPS {
        for to in LOOPS.into_iter().filter(|to| *to != from) {
            let mut seen_both = false;
            for point in (0..40).flat_map(|n| [Point::After(n), Point::During(n + 1)]) {
                let Some(parent) = switched(task(from), point, to) else { continue };
                let place = format!("{from} to {to} at {point:?}");
                let begun = goes_on(&parent, to);
                let all: Vec<&str> = begun.messages.iter().map(Message::text).collect();
                let all = all.join("\n");
                let goals = all.matches("what do a and b hold?").count();
                assert!(goals >= 2, "{place}: the goal, as it was put and as it stands\n{all}");
                let seen = observations(&parent);
                for text in &seen {
                    assert!(all.contains(text), "{place} forgets that {text}\n{all}");
                }
                for item in items(&parent.run.progress()) {
                    assert!(all.contains(&item), "{place} forgets {item}\n{all}");
                }
                for message in &begun.messages {
                    let plain = match message {
                        Message::Tool { .. } => false,
                        Message::Assistant { calls, .. } => calls.is_empty(),
                        Message::System { .. } | Message::User { .. } => true,
                    };
                    assert!(plain, "{place}: {message:?}");
                }
                let systems =
                    begun.messages.iter().filter(|one| matches!(one, Message::System { .. }));
                assert_eq!(systems.count(), 1, "{place}: one set of instructions");
                borders += 1;
                seen_both |= seen.len() == 2;
            }
            assert!(seen_both, "{from} to {to}: no border after both were read");
        }
    }
    assert!(borders > 500, "{borders} borders");
}

/// The first call of the loop that takes over is the one that it always begins with.
#[test]
fn a_loop_that_takes_over_begins_as_it_always_does() {
    for to in LOOPS {
        let from = if to == "react" { "plan-replan" } else { "react" };
        let parent = switched(task(from), Point::After(2), to).expect("a border");
        let begun = goes_on(&parent, to);
        let fresh = task(to).play();
        let first = fresh.journal.iter().find_map(|entry| match &entry.kind {
            EntryKind::EffectPlanned(EffectPlanned::CallModel(PlannedModelCall {
                call, ..
            })) => Some(call),
            _ => None,
        });
        let first = first.expect("a model call");
        assert_eq!((&begun.offer, &begun.choice), (&first.offer, &first.choice), "{to}");
    }
}

fn told(from: Scenario, point: Point, to: &str) -> String {
    let parent = switched(from, point, to).expect("a border");
    let begun = goes_on(&parent, to);
    let line = |message: &Message| match message {
        Message::System { .. } => "system …\n".to_owned(),
        Message::User { text, .. } => format!("user {text}\n"),
        Message::Assistant { text, .. } => format!("assistant {text}\n"),
        Message::Tool { text, .. } => format!("tool {text}\n"),
    };
    begun.messages.iter().map(line).collect()
}

#[test]
fn a_call_that_the_old_loop_was_about_to_make_is_said_not_to_have_been_made() {
    expect![[r#"
        system …
        user what do a and b hold?
        user what do a and b hold?
        assistant {"call":{"input":{"path":"a"},"tool":"read_file"}}
        user {"observation":{"input":{"path":"a"},"result":"it holds 1111","tool":"read_file"}}
        assistant {"call":{"input":{"path":"b"},"tool":"read_file"}}
        user {"observation":{"input":{"path":"b"},"result":"canceled: not performed: another loop goes on from here; nothing was done","tool":"read_file"}}
        user Notice from the runtime: what stands between the goal and here was worked out earlier, under other instructions and with other forms of reply. Take it as what is known; follow only the instructions of the system message now. What has been done there is done: do not do it again. A call that is said not to have been performed was not made: make it if it is still needed. Go on towards the goal.
        user phase: plan
    "#]].assert_eq(&told(task("react"), Point::After(3), "plan-replan"));
}

#[test]
fn a_plan_is_carried_as_the_items_that_are_open() {
    expect![[r#"
        system …
        user what do a and b hold?
        user what do a and b hold?
        user phase: plan
        assistant {"plan":["read a","read b"],"status":"planned"}
        user phase: thought
        current item 1 of 2: read a
        assistant {"current_step":"read a","next_action":{"input":{"path":"a"},"tool":"read_file"},"status":"continue"}
        user {"observation":{"input":{"path":"a"},"ok":true,"result":"it holds 1111","tool":"read_file"}}
        user phase: thought
        current item 1 of 2: read a
        last action: ok
        assistant {"current_step":"read a","response":"a holds 1","status":"done"}
        user phase: replan
        1 of 2 items left
        assistant {"plan":[{"completed":true,"task":"read a"},{"completed":false,"task":"read b"}],"status":"replanned"}
        user Notice from the runtime: what stands between the goal and here was worked out earlier, under other instructions and with other forms of reply. Take it as what is known; follow only the instructions of the system message now. What has been done there is done: do not do it again. A call that is said not to have been performed was not made: make it if it is still needed. Go on towards the goal.

        The plan so far:
        - [x] read a
        - [ ] read b
    "#]].assert_eq(&told(task("plan-replan"), Point::After(5), "react"));
}

#[test]
fn a_round_that_is_cut_short_is_carried_with_what_its_steps_saw() {
    let steps = ["a", "b"].map(|file| ("read_file", path(file)));
    let round = Scenario::plan_execute_think("what do a and b hold?").plans_steps(&steps);
    expect![[r#"
        system …
        user what do a and b hold?
        user what do a and b hold?
        user phase: plan
        round 1 of 5: about 6 to 8 steps, fewer if fewer are enough, never more than 8
        assistant {"call":{"input":{"reasoning":"one after the other","steps":[{"arguments":{"path":"a"},"tool":"read_file"},{"arguments":{"path":"b"},"tool":"read_file"}]},"tool":"plan_tool_call"}}
        user {"observation":{"input":{"reasoning":"one after the other","steps":[{"arguments":{"path":"a"},"tool":"read_file"},{"arguments":{"path":"b"},"tool":"read_file"}]},"result":"{\"ended\":\"step 0 failed\",\"steps\":[{\"ok\":false,\"result\":\"canceled: not performed: another loop goes on from here; nothing was done\",\"step\":0,\"tool\":\"read_file\"},{\"ok\":null,\"result\":\"not run\",\"step\":1,\"tool\":\"read_file\"}]}","tool":"plan_tool_call"}}
        user Notice from the runtime: what stands between the goal and here was worked out earlier, under other instructions and with other forms of reply. Take it as what is known; follow only the instructions of the system message now. What has been done there is done: do not do it again. A call that is said not to have been performed was not made: make it if it is still needed. Go on towards the goal.

        The plan so far:
        - [ ] read_file {"path":"a"}
        - [ ] read_file {"path":"b"}
    "#]].assert_eq(&told(round, Point::After(1), "tool-driven"));
}

#[test]
fn a_switch_after_the_answer_changes_nothing_and_a_word_before_it_is_carried_over() {
    let calm = task("react").play();
    let late = task("react").switches(Point::After(5), "staged").play();
    assert_eq!(late.ending, calm.ending);
    let both = task("react").steers(Point::During(2), "look closely");
    let told = told(both.clone(), Point::After(2), "hybrid");
    assert!(told.contains("user look closely"), "{told}");
}

/// Whatever else is open: the answer is there, and the ending says what is unknown.
#[test]
fn a_switch_after_the_answer_changes_nothing_even_if_an_effect_is_unknown() {
    let unknown = || {
        Scenario::react("write it down")
            .calls("write_file", &json!({"path": "a", "content": "1"}))
            .says("it may be written")
            .observes(Ending::Unknown, "the connection broke")
    };
    let calm = unknown().play();
    let Decision::Finish { status, reason, .. } = &calm.ending else { panic!("no ending") };
    assert_eq!((status, reason), (&Status::Unsettled, &None));
    let late = unknown().switches(Point::After(3), "staged").play();
    assert_eq!(late.ending, calm.ending, "{}", late.trace);
    let early = unknown().switches(Point::After(2), "staged").play();
    let Decision::Finish { status, .. } = &early.ending else { panic!("no ending") };
    assert_eq!((*status, early.run.successor()), (Status::Canceled, None), "{}", early.trace);
}

/// The tool has begun, so the switch waits for its outcome; and then nobody wants it any more.
#[test]
fn a_cancel_before_the_border_of_a_switch_is_a_cancel() {
    let task = task("plan-replan").switches(Point::During(40), "react");
    let (_, switch) = task.letters[0].clone();
    let calm = task.play();
    let is_tool =
        |entry: &Entry| matches!(entry.kind, EntryKind::EffectPlanned(EffectPlanned::CallTool(_)));
    let planned = calm.journal.iter().position(is_tool).expect("a tool call");
    let last = &calm.journal[planned];
    let letter = |letter: &InboxMessage| {
        EntryKind::Input(Input { dedupe: format!("{letter:?}"), message: letter.clone() })
    };
    let begun = EffectStarted { attempt: 1, start_by: 0, over_by: None, before: json!(null) };
    let cut = Observation { ending: Ending::Canceled, text: "not done".to_owned() };
    let cut = EffectFinished::unlabeled(Outcome::Observed(cut), 1);
    let after = |letters: &[EntryKind]| {
        let begun = [EntryKind::EffectStarted(begun.clone())];
        let kinds = [&begun, letters, &[EntryKind::EffectFinished(cut.clone())]].concat();
        let mut run = fold(&calm.journal[..=planned], &calm.frame);
        for (seq, kind) in (last.seq + 1..).zip(kinds) {
            assert_eq!(run.switches_here(), None, "the tool is out");
            run.apply(&Entry { seq, kind, ..last.clone() });
        }
        run
    };
    let (switch, cancel) =
        (letter(&switch), letter(&InboxMessage::Cancel { by: "user".to_owned() }));
    let switched = after(std::slice::from_ref(&switch));
    assert!(switched.switches_here().is_some(), "the border");
    let canceled = after(&[switch, cancel]);
    assert_eq!(canceled.switches_here(), None);
    let Decision::Finish { words, .. } = canceled.canceled() else { panic!("no ending") };
    assert!(format!("{words:?}").contains("run.canceled"), "{words:?}");
}

/// What was carried over is no burden for ever: it is shortened like anything else.
#[test]
fn what_was_carried_over_can_be_shortened() {
    let long = "a".repeat(6_000);
    let parent = Scenario::react("what do a and b hold?")
        .calls("read_file", &json!({"path": "a"}))
        .calls("read_file", &json!({"path": "b"}))
        .says("so and so")
        .sees(&long)
        .sees(&long);
    let parent = switched(parent, Point::After(4), "tool-driven").expect("a border");
    let heir = Scenario::of("tool-driven", "what do a and b hold?")
        .carried(carried(&parent.run))
        .limits(|limits| limits.context.tokens = 2_000)
        .says("a and b hold many letters")
        .says("so and so");
    let played = heir.play();
    let Decision::Finish { status, .. } = played.ending else { panic!("no ending") };
    assert_eq!(status, Status::Succeeded, "{}", played.trace);
    let last = played.prompts.last().expect("a prompt");
    assert!(last.iter().any(|one| one.text().contains("summary_of_earlier_work")), "{last:?}");
    assert_eq!(last[1].text(), "what do a and b hold?");
}
