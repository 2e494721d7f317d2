//! Following a run: nothing is missing, nothing comes twice, and a run that the same process drives
//! is not polled.

use everloop_engine::{EventKind, Follower, History, Projector, RunEvent, RunView, Scope};
use everloop_models::ScriptedReply;
use everloop_store::Store;
use everloop_testkit::{ProcessEnd, Scenario, TestProcess, Testbed, families, scenarios};
use everloop_types::{RunId, Status};
use serde_json::json;
use tokio::time::Instant;

async fn past(store: &Store, run: &RunId) -> Vec<RunEvent> {
    let history = History::read(store, run).await.expect("readable").expect("exists");
    Projector::past(&history)
}

/// All events until the run is over.
async fn all(follower: &mut Follower) -> Vec<RunEvent> {
    let mut events = Vec::new();
    while let Some(event) = follower.next().await.expect("works") {
        events.push(event);
    }
    events
}

/// Drives the run in one process until it is over, and answers its questions.
async fn play_in(stage: &mut Testbed, process: &TestProcess) {
    let run = stage.run.clone();
    for _ in 0..100 {
        if stage.is_over().await {
            return;
        }
        stage.answer_open_question().await;
        match process.claim_and_drive(&run).await {
            ProcessEnd::Well(driven) => drop(driven.expect("drives")),
            // It waits for its time.
            _ => process.engine.clock().pause(60_000).await,
        }
    }
    panic!("{} does not end", stage.scenario.name);
}

fn durable(events: &[RunEvent], run: &RunId) -> Vec<RunEvent> {
    let of_run = events.iter().filter(|event| !event.is_delta() && event.run_id == *run);
    of_run.cloned().collect()
}

fn view_of<'e>(run: &RunId, events: impl IntoIterator<Item = &'e RunEvent>) -> RunView {
    let mut view = RunView::new(run.clone());
    events.into_iter().for_each(|event| view.apply(event));
    view
}

#[tokio::test(start_paused = true)]
async fn whoever_follows_sees_what_the_journal_says_wherever_the_run_is_driven() {
    for scenario in scenarios() {
        let mut stage = Testbed::set(&scenario).await;
        let (driver, onlooker) = (stage.process(), stage.process());
        let run = stage.run.clone();
        let mut here = driver.engine.follow(&run, 0, Scope::Run).await.expect("works");
        let mut afar = onlooker.engine.follow(&run, 0, Scope::Run).await.expect("works");
        let ((), here, afar) =
            tokio::join!(play_in(&mut stage, &driver), all(&mut here), all(&mut afar));
        let said = past(&stage.store, &run).await;
        assert_eq!(durable(&here, &run), said, "{}: in the driving process", scenario.name);
        assert_eq!(afar, said, "{}: in another process", scenario.name);
        assert!(said.last().is_some_and(RunEvent::is_terminal), "{}", scenario.name);
        let row = stage.store.runs().get(&run).await.expect("readable").expect("exists");
        let view = view_of(&run, &said);
        assert_eq!((view.status, view_of(&run, &here)), (row.status, view), "{}", scenario.name);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_follows_a_tree_sees_every_run_of_it() {
    for scenario in families() {
        let mut stage = Testbed::set(&scenario).await;
        let driver = stage.process();
        let run = stage.run.clone();
        let mut follower = driver.engine.follow(&run, 0, Scope::Tree).await.expect("works");
        let ((), events) = tokio::join!(play_in(&mut stage, &driver), all(&mut follower));
        let tree = stage.tree().await;
        assert!(tree.len() > 1, "{} has no child", scenario.name);
        for run in tree {
            let said = past(&stage.store, &run).await;
            let seen = durable(&events, &run);
            // The root's end ends the stream; a child that is canceled with it may still be
            // running.
            let seen_whole = seen == said;
            let canceled = view_of(&run, &said).status == Status::Canceled;
            assert!(seen_whole || canceled, "{}: {run}\n{seen:#?}\n{said:#?}", scenario.name);
        }
    }
}

/// A model that makes one call and then writes some characters, each after this delay.
fn talkative(chars: usize, delay_ms: u64) -> Scenario {
    let look = ScriptedReply::calls("look", json!({"what": "the sky"})).reasoning("let me look");
    let talk = ScriptedReply::says("x".repeat(chars)).in_chunks(1);
    Scenario::react("talk", vec![look.after_ms(delay_ms), talk.after_ms(delay_ms)])
}

/// Only the model's own time passes: polling would take longer.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_that_is_driven_here_is_seen_without_any_timer() {
    let mut stage = Testbed::set(&talkative(10, 3)).await;
    let process = stage.process();
    let run = stage.run.clone();
    let mut follower = process.engine.follow(&run, 0, Scope::Tree).await.expect("works");
    let driven = async {
        process.claim_and_drive(&run).await;
        Instant::now()
    };
    let followed = async {
        let events = all(&mut follower).await;
        assert!(events.last().is_some_and(RunEvent::is_terminal));
        Instant::now()
    };
    let begun = Instant::now();
    let (driven, followed) = tokio::join!(driven, followed);
    assert!(driven > begun, "no time has passed: the test shows nothing");
    assert_eq!(followed, driven, "the end was found by a timer");
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_is_too_slow_loses_deltas_and_no_event() {
    let mut stage = Testbed::set(&talkative(20_000, 0)).await;
    let process = stage.process();
    let run = stage.run.clone();
    let mut follower = process.engine.follow(&run, 0, Scope::Run).await.expect("works");
    assert!(matches!(process.claim_and_drive(&run).await, ProcessEnd::Well(Ok(_))));
    let events = all(&mut follower).await;
    assert_eq!(durable(&events, &run), past(&stage.store, &run).await);
    let deltas = events.iter().filter(|event| event.is_delta()).count();
    assert!(deltas < 20_000, "nothing was lost: the test shows nothing");
}

#[tokio::test(start_paused = true)]
async fn who_begins_in_the_middle_of_a_reply_gets_its_beginning() {
    let mut stage = Testbed::set(&talkative(10, 3)).await;
    let process = stage.process();
    let run = stage.run.clone();
    let mut early = process.engine.follow(&run, 0, Scope::Run).await.expect("works");
    let followed = async {
        let mut letters = 0;
        while letters < 4 {
            let event = early.next().await.expect("works").expect("the run goes on");
            letters += usize::from(matches!(event.kind, EventKind::MessageDelta { .. }));
        }
        let mut late = process.engine.follow(&run, 0, Scope::Run).await.expect("works");
        all(&mut late).await
    };
    let (_, events) = tokio::join!(process.claim_and_drive(&run), followed);
    let deltas = events.iter().filter_map(|event| match &event.kind {
        EventKind::MessageDelta { text } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(deltas.collect::<String>(), "x".repeat(10));
}

#[tokio::test(start_paused = true)]
async fn a_delta_names_the_call_that_it_belongs_to() {
    let mut stage = Testbed::set(&talkative(10, 1)).await;
    let process = stage.process();
    let run = stage.run.clone();
    let mut follower = process.engine.follow(&run, 0, Scope::Run).await.expect("works");
    let (_, events) = tokio::join!(process.claim_and_drive(&run), all(&mut follower));
    let asked = events.iter().filter(|event| matches!(event.kind, EventKind::StepStarted { .. }));
    let asked: Vec<i64> = asked.map(|event| event.seq).collect();
    let of_call = |seq: i64, joined: &mut String| {
        for event in events.iter().filter(|event| event.is_delta() && event.seq == seq) {
            match &event.kind {
                EventKind::MessageDelta { text } | EventKind::ReasoningDelta { text } => {
                    joined.push_str(text);
                }
                _ => {}
            }
        }
    };
    let mut replies = [String::new(), String::new()];
    asked.iter().zip(&mut replies).for_each(|(seq, joined)| of_call(*seq, joined));
    assert_eq!(replies, ["let me look".to_owned(), "x".repeat(10)]);
    let reasoned = EventKind::ReasoningCompleted { text: "let me look".to_owned() };
    assert!(events.iter().any(|event| event.kind == reasoned), "the reasoning is an event, too");
}

/// Drops deltas by a pattern of bits: the view in the end is always the same.
#[tokio::test(start_paused = true)]
async fn lost_deltas_do_not_change_the_view_in_the_end() {
    let mut stage = Testbed::set(&talkative(64, 1)).await;
    let process = stage.process();
    let run = stage.run.clone();
    let mut follower = process.engine.follow(&run, 0, Scope::Run).await.expect("works");
    let (_, events) = tokio::join!(process.claim_and_drive(&run), all(&mut follower));
    let whole = view_of(&run, &events);
    assert!(events.iter().filter(|event| event.is_delta()).count() >= 64, "there are deltas");
    let mut bits: u64 = 0x9E37_79B9_7F4A_7C15;
    for _ in 0..200 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let is_kept = |place: usize| bits.rotate_left(u32::try_from(place % 64).unwrap_or(0)) & 1;
        let kept = events.iter().enumerate();
        let kept = kept.filter(|(place, event)| !event.is_delta() || is_kept(*place) == 1);
        assert_eq!(view_of(&run, kept.map(|(_, event)| event)), whole);
    }
}

#[tokio::test(start_paused = true)]
async fn following_from_the_middle_gives_the_rest_and_the_view_so_far() {
    for scenario in scenarios().into_iter().take(4) {
        let mut stage = Testbed::set(&scenario).await;
        let process = stage.process();
        let run = stage.run.clone();
        play_in(&mut stage, &process).await;
        let said = past(&stage.store, &run).await;
        let last = said.last().map_or(0, |event| event.seq);
        for after in 0..last {
            let follower = process.engine.follow(&run, after, Scope::Run).await;
            let mut follower = follower.expect("works");
            let mut view = follower.past().clone();
            let rest = all(&mut follower).await;
            assert!(rest.iter().all(|event| event.seq > after));
            rest.iter().for_each(|event| view.apply(event));
            assert_eq!(view, view_of(&run, &said), "{} after {after}", scenario.name);
        }
    }
}
