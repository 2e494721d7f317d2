//! Entries of the schedule that start runs.

use super::kit::{NOW, claim, ending, new_run, run_id, status};
use crate::{
    Firing, FiringKind, FiringOutcome, NewConversation, NewRun, OverlapPolicy, RepeatRule,
    ScheduleGuard, SchedulePause, ScheduleRow, ScheduleStep, ScheduleText, ScheduledFiring,
    ScheduledRun, ScheduledStart, ScheduledState, Span, Store, WriteKey, firings::DueReminder,
};
use everloop_types::{ConversationId, RunId, Status};

const PLAIN: WriteKey<'static> = WriteKey { key: None, now: NOW };

fn plan() -> ScheduledRun {
    ScheduledRun {
        goal: "write the report \u{5199}".to_owned(),
        loop_name: Some("react".to_owned()),
        workspace: Some("/srv/w".to_owned()),
        overlap: OverlapPolicy::QueueOne,
        pause_after: Some(3),
        ..ScheduledRun::default()
    }
}

fn entry() -> ScheduleRow {
    let span = Span {
        starts: "2026-11-16T09:00".to_owned(),
        zone: "Europe/Rome".to_owned(),
        starts_at: NOW,
        minutes: 0,
    };
    let said = ScheduleText {
        title: "report".to_owned(),
        span,
        repeat: Some(RepeatRule { rrule: "FREQ=DAILY".to_owned(), times: None, on: 1 }),
        remind: None,
        catch_up: None,
        run: Some(plan()),
    };
    ScheduleRow {
        id: 0,
        uid: "u1".to_owned(),
        said,
        remind_next: Some(NOW),
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

async fn kept(store: &Store) -> ScheduleRow {
    store.agenda().add_schedule(&entry(), ScheduleGuard::None, PLAIN).await.unwrap();
    store.agenda().schedule(1).await.unwrap().unwrap()
}

fn start(name: &str) -> ScheduledStart {
    let conversation = ConversationId::new(format!("conv_{name}"));
    let run = NewRun {
        conversation: conversation.clone(),
        idem_key: Some("schedule:u1:1000000".to_owned()),
        ..new_run(name)
    };
    let conversation = NewConversation {
        id: conversation,
        channel: "schedule".to_owned(),
        thread: Some("1".to_owned()),
        workspace: None,
        now: NOW,
    };
    ScheduledStart { run, conversation }
}

fn firing(name: &str) -> ScheduledFiring {
    ScheduledFiring {
        schedule: 1,
        due_at: NOW,
        fired_at: NOW,
        state: ScheduledState::Started,
        reason: None,
        run: Some(run_id(name)),
        ended: None,
    }
}

fn step(version: i64, name: &str) -> ScheduleStep {
    ScheduleStep {
        schedule: 1,
        version,
        next: Some(NOW + 100),
        failures: 0,
        plan: None,
        firings: vec![firing(name)],
        starts: vec![start(name)],
        notes: Vec::new(),
    }
}

async fn runs(store: &Store) -> Vec<RunId> {
    let filter = crate::RunFilter { statuses: Vec::new(), before: None, most: 10 };
    store.runs().list(&filter).await.unwrap().into_iter().map(|row| row.run).collect()
}

pub(super) async fn a_run_to_start_comes_back_whole_and_reminds_nobody(store: Store) {
    let row = kept(&store).await;
    assert_eq!(row, ScheduleRow { id: 1, ..entry() });
    assert_eq!(store.agenda().due_reminders(NOW, 10).await.unwrap(), []);
    assert_eq!(store.agenda().next_reminder().await.unwrap(), None);
    assert_eq!(store.run_schedules().due_runs(NOW - 1, 10).await.unwrap(), []);
    assert_eq!(store.run_schedules().due_runs(NOW, 10).await.unwrap(), [(1, NOW)]);
    assert_eq!(store.run_schedules().next_scheduled_run().await.unwrap(), Some(NOW));
}

pub(super) async fn a_firing_and_its_run_come_together_or_not_at_all(store: Store) {
    let row = kept(&store).await;
    // The second write of the run's own key fails, and takes the whole step with it.
    let twice = ScheduleStep { starts: vec![start("r1"), start("r2")], ..step(1, "r1") };
    assert!(store.run_schedules().step_schedule(&twice).await.is_err());
    assert_eq!(runs(&store).await, []);
    assert_eq!(store.run_schedules().scheduled_firings(1, 9).await.unwrap(), []);
    assert_eq!(store.agenda().schedule(1).await.unwrap(), Some(row));
    assert!(store.run_schedules().step_schedule(&step(1, "r1")).await.unwrap());
    assert_eq!(runs(&store).await, [run_id("r1")]);
    assert_eq!(store.run_schedules().scheduled_firings(1, 9).await.unwrap(), [firing("r1")]);
    assert_eq!(store.run_schedules().next_scheduled_run().await.unwrap(), Some(NOW + 100));
    let conversation = store.conversations().get(&ConversationId::new("conv_r1")).await.unwrap();
    let conversation = conversation.unwrap();
    assert_eq!((conversation.channel.as_str(), conversation.has_unread()), ("schedule", true));
    assert_eq!(conversation.thread.as_deref(), Some("1"));
    let of_run = store.run_schedules().firing_of_run(&run_id("r1")).await.unwrap();
    assert_eq!(of_run, Some(firing("r1")));
}

pub(super) async fn of_processes_that_fire_the_same_moment_one_makes_the_run(store: Store) {
    kept(&store).await;
    let firing: Vec<_> = (0..8)
        .map(|n| {
            let store = store.clone();
            let step = step(1, &format!("r{n}"));
            tokio::spawn(async move { store.run_schedules().step_schedule(&step).await.unwrap() })
        })
        .collect();
    let mut made = 0;
    for task in firing {
        made += usize::from(task.await.unwrap());
    }
    assert_eq!((made, runs(&store).await.len()), (1, 1));
}

pub(super) async fn a_firing_is_settled_once_when_its_run_has_ended(store: Store) {
    kept(&store).await;
    assert!(store.run_schedules().step_schedule(&step(1, "r1")).await.unwrap());
    assert_eq!(store.run_schedules().ended_firings(9).await.unwrap(), []);
    assert_eq!(store.run_schedules().open_firings(1).await.unwrap(), [firing("r1")]);
    let mut claim = claim(&store, "r1").await;
    let failed = ending(&claim, Status::Failed);
    store.journal().append(&mut claim, failed).await.unwrap();
    assert_eq!(status(&store, "r1").await, Status::Failed);
    let ended = ScheduledFiring { ended: Some("failed".to_owned()), ..firing("r1") };
    assert_eq!(store.run_schedules().ended_firings(9).await.unwrap(), std::slice::from_ref(&ended));
    let pause = SchedulePause { at: NOW, failures: 1, error: Some("no".to_owned()) };
    let paused = ScheduledRun { paused: Some(pause), ..plan() };
    let due = DueReminder { kind: FiringKind::Schedule, subject: 1, due_at: NOW };
    let (state, title) = (FiringOutcome::Fired, "paused".to_owned());
    let note = Firing { due, occurs_at: NOW, fired_at: NOW, state, title };
    let settle = ScheduleStep {
        schedule: 1,
        version: 2,
        next: None,
        failures: 1,
        plan: Some(paused.clone()),
        firings: vec![ended.clone()],
        starts: Vec::new(),
        notes: vec![note.clone()],
    };
    assert!(store.run_schedules().step_schedule(&settle).await.unwrap());
    assert!(!store.run_schedules().step_schedule(&settle).await.unwrap(), "a step is made once");
    assert_eq!(store.run_schedules().ended_firings(9).await.unwrap(), []);
    assert_eq!(
        store.run_schedules().scheduled_firings(1, 9).await.unwrap(),
        std::slice::from_ref(&ended)
    );
    assert_eq!(store.run_schedules().run_failures(1).await.unwrap(), 1);
    assert_eq!(store.agenda().unread_firings(9).await.unwrap(), [note]);
    let row = store.agenda().schedule(1).await.unwrap().unwrap();
    assert_eq!((row.said.run.as_ref(), row.remind_next), (Some(&paused), None));
    // A person who resumes it begins to count anew.
    let said = ScheduleText { run: Some(plan()), ..row.said.clone() };
    let resumed = ScheduleRow { said, remind_next: Some(NOW + 200), ..row };
    store.agenda().change_schedule(&resumed, ScheduleGuard::None, PLAIN).await.unwrap();
    assert_eq!(store.run_schedules().run_failures(1).await.unwrap(), 0);
    store.agenda().delete_schedules(&[1], PLAIN).await.unwrap();
    store.run_schedules().close_firing(&ended).await.unwrap();
    store.run_schedules().forget_scheduled(NOW + 1).await.unwrap();
    assert_eq!(store.run_schedules().scheduled_firings(1, 9).await.unwrap(), []);
}
