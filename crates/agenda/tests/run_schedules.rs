//! Entries that start runs: each moment makes one run, by its rules, whatever crashes.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::support::{Person, person_in};
use everloop_agenda::kept::run_firing::{StartRuns, fire_runs, firing_key};
use everloop_agenda::kept::simulate::{Crashes, Rehearsal, STEPS_MAX, rehearse, rehearse_until};
use everloop_agenda::show::DisplayContext;
use everloop_ports::BoxFuture;
use everloop_store::{
    NewConversation, NewRun, RunFilter, ScheduleRow, ScheduledFiring, ScheduledRun, ScheduledStart,
    ScheduledState, Urgency,
};
use everloop_types::journal::{InboxMessage, RunCreated};
use everloop_types::{
    ConversationId, Frame, Goal, Lang, Rows, RunId, SqlValue, Statement, UtcMs, Write,
    digest_bytes, digest_json,
};
use jiff::Zoned;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Makes runs without a model, unless it is told to fail.
#[derive(Debug, Default)]
struct TestRuns {
    fails: AtomicBool,
}

impl StartRuns for TestRuns {
    fn lang(&self) -> Lang {
        Lang::En
    }

    fn complete(&self, plan: &mut ScheduledRun) -> Result<(), String> {
        plan.workspace.get_or_insert_with(|| "/srv".to_owned());
        if plan.loop_name.as_deref() == Some("nonsense") {
            return Err("there is no loop nonsense".to_owned());
        }
        Ok(())
    }

    fn preflight(&self, _: &ScheduledRun) -> Vec<String> {
        vec!["shell needs approval".to_owned()]
    }

    fn prepare<'a>(
        &'a self,
        entry: &'a ScheduleRow,
        plan: &'a ScheduledRun,
        due_at: UtcMs,
        now: UtcMs,
    ) -> BoxFuture<'a, Result<ScheduledStart, String>> {
        Box::pin(ready(self.made(entry, plan, due_at, now)))
    }
}

impl TestRuns {
    fn made(
        &self,
        entry: &ScheduleRow,
        plan: &ScheduledRun,
        due_at: UtcMs,
        now: UtcMs,
    ) -> Result<ScheduledStart, String> {
        if self.fails.load(Ordering::Relaxed) {
            return Err("no model is set".to_owned());
        }
        let key = firing_key(entry, due_at);
        let name = &digest_bytes(key.as_bytes())[..12];
        let frame = Frame::default();
        let id = ConversationId::new(format!("conv_{name}"));
        let created = RunCreated {
            goal: Goal { text: plan.goal.clone(), ..Goal::default() },
            loop_name: "react".to_owned(),
            loop_ver: 1,
            frame: digest_json(&frame),
            build: String::new(),
            policy_hash: String::new(),
            turn: None,
        };
        let run = NewRun {
            run: RunId::new(format!("run_{name}")),
            conversation: id.clone(),
            created,
            frame,
            idem_key: Some(key),
            profile: everloop_types::RunProfile::default(),
            opens: None,
            link: Default::default(),
            now,
        };
        let (channel, thread) = ("schedule".to_owned(), Some(entry.id.to_string()));
        let conversation = NewConversation { id, channel, thread, workspace: None, now };
        Ok(ScheduledStart { run, conversation })
    }
}

struct Starter {
    person: Person,
    runs: Arc<TestRuns>,
}

fn starter() -> Starter {
    starter_in("2026-11-16T08:00[Europe/Berlin]")
}

fn starter_in(now: &str) -> Starter {
    let runs = Arc::new(TestRuns::default());
    let mut person = person_in(now);
    person.desk = person.desk.starting(runs.clone());
    person.reader = DisplayContext { lang: Lang::En, ..person.reader };
    Starter { person, runs }
}

fn berlin(at: &str) -> UtcMs {
    format!("{at}[Europe/Berlin]").parse::<Zoned>().unwrap().timestamp().as_millisecond()
}

impl Starter {
    async fn say(&self, line: &str) -> String {
        self.person.say(line).await
    }

    async fn say_at(&mut self, now: &str, line: &str) -> String {
        self.person.reader.now = format!("{now}[Europe/Berlin]").parse().unwrap();
        self.person.say(line).await
    }

    async fn fire(&self, at: &str) -> Vec<ScheduledState> {
        let (store, config) = (&self.person.store, self.person.desk.config());
        let fired = fire_runs(store, config, self.runs.as_ref(), berlin(at)).await.unwrap();
        fired.iter().map(|firing| firing.state).collect()
    }

    async fn count_runs(&self) -> usize {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: 1_000 };
        self.person.store.runs().list(&filter).await.unwrap().len()
    }

    async fn firings(&self) -> Vec<ScheduledFiring> {
        let mut all = self.person.store.run_schedules().scheduled_firings(1, 100).await.unwrap();
        all.reverse();
        all
    }

    /// Ends the run of a firing, without driving it.
    async fn end(&self, firing: usize, status: &str) {
        let run = self.firings().await[firing].run.clone().unwrap();
        let sql = "UPDATE runs SET status = $2 WHERE run_id = $1";
        let params = vec![SqlValue::from(run.as_str()), SqlValue::from(status)];
        let statement = Statement::screened(sql);
        let write = Write { statement, params, expect: Rows::Exactly(1) };
        self.person.store.db().commit(vec![write], Urgency::Critical).await.unwrap();
    }
}

use ScheduledState::{Failed, Late, Missed, Queued, Skipped, Started};

#[tokio::test]
async fn an_entry_starts_one_run_at_each_of_its_times() {
    let s = starter();
    let said = s.say("/schedule add every weekday at 9am --run \"write the report\"").await;
    assert_eq!(
        said,
        "Added schedule #1, which starts runs: write the report (2026-11-16 09:00 Europe/Berlin, \
         every week on Mon, Tue, Wed, Thu, Fri, next run 2026-11-16 09:00)\nshell needs approval"
    );
    assert_eq!(s.fire("2026-11-16T08:59").await, []);
    assert_eq!(s.fire("2026-11-16T09:00").await, [Started]);
    assert_eq!(s.fire("2026-11-16T09:00").await, []);
    s.end(0, "succeeded").await;
    assert_eq!(s.fire("2026-11-17T09:00").await, [Started]);
    assert_eq!(s.count_runs().await, 2);
    let first = &s.firings().await[0];
    assert_eq!(first.ended.as_deref(), Some("succeeded"));
    let run = first.run.clone().unwrap();
    let row = s.person.store.runs().get(&run).await.unwrap().unwrap();
    assert_eq!(row.goal, "write the report");
    assert!(s.say("/schedule runs 1").await.contains("succeeded"));
    let shown = s.say("/schedule get 1").await;
    assert!(shown.contains("write the report") && shown.contains("skip the new one"), "{shown}");
    assert!(s.say("/schedule list").await.contains("run"), "it is marked in the list");
}

#[tokio::test]
async fn an_entry_that_starts_runs_takes_no_time_and_reminds_nobody() {
    let s = starter();
    s.say("/schedule add 2026-11-16 10:00 meeting").await;
    let said = s.say("/schedule add 2026-11-16 10:00 --run \"look at the logs\"").await;
    assert!(said.starts_with("Added schedule #2"), "{said}");
    let due = s.person.store.agenda().due_reminders(berlin("2026-11-17T00:00"), 9).await.unwrap();
    assert_eq!(due.iter().map(|due| due.subject).collect::<Vec<_>>(), [1]);
    for line in [
        "/schedule add 2026-11-16 10:00 --run x --duration 30",
        "/schedule add 2026-11-16 10:00 --run x --remind 10m",
        "/schedule add 2026-11-16 10:00 x --overlap skip",
        "/schedule add --cron \"0 9 * * *\"",
    ] {
        assert!(s.say(line).await.contains("/schedule add <date"), "{line}");
    }
}

#[tokio::test]
async fn a_cron_expression_sets_the_times_in_its_zone() {
    let s = starter();
    let said = s
        .say("/schedule add \"night check\" --run \"check\" --cron \"*/30 2-3 * * sat,sun\"")
        .await;
    assert!(said.contains("cron */30 2-3 * * sat,sun, next run 2026-11-21 02:00"), "{said}");
    let said = s.say("/schedule add --run stand-up --cron \"0 9 * * 1-5\"").await;
    assert!(said.contains("every week on Mon, Tue, Wed, Thu, Fri"), "{said}");
    let said =
        s.say("/schedule add --run abroad --cron \"0 9 * * *\" --zone America/New_York").await;
    assert!(said.contains("next run 2026-11-16 15:00"), "{said}");
    let row = s.person.store.agenda().schedule(3).await.unwrap().unwrap();
    assert_eq!(row.said.span.zone, "America/New_York");
    let wrong = [
        ("--cron \"0 0 30 2 *\"", "never fires"),
        ("--cron \"61 * * * *\"", "“61” is not a valid minute (0-59)"),
        ("--cron \"* * * *\"", "five fields"),
        ("--cron \"0 9 * * *\" --zone Mars/Base", "There is no time zone Mars/Base"),
    ];
    for (options, words) in wrong {
        let said = s.say(&format!("/schedule add --run x {options}")).await;
        assert!(said.contains(words), "{options}: {said}");
    }
    let said = s.say("/schedule add 2026-11-17 09:00 --run x --loop nonsense").await;
    assert_eq!(said, "This cannot be run: there is no loop nonsense");
    let line = "/schedule add \"a b\" --run \"do it\" --cron \"*/5 * * * *\" --overlap queue-one";
    let again = s.person.echo(line);
    assert_eq!(s.person.echo(&again), again);
    assert!(again.contains("--cron \"*/5 * * * *\" --overlap queue_one"), "{again}");
}

#[tokio::test]
async fn missed_moments_are_made_up_for_by_the_rule() {
    for (rule, states) in [
        ("once", vec![Missed, Missed, Late]),
        ("skip", vec![Missed, Missed, Missed]),
        ("all", vec![Late, Late, Late]),
    ] {
        let s = starter();
        let options = format!("--catch-up {rule} --overlap allow");
        s.say(&format!("/schedule add every day at 9am --run x {options}")).await;
        assert_eq!(s.fire("2026-11-18T12:00").await, states, "{rule}");
        let started = states.iter().filter(|state| **state != Missed).count();
        assert_eq!(s.count_runs().await, started, "{rule}");
        assert_eq!(s.fire("2026-11-19T09:00").await, [Started], "{rule}");
    }
}

#[tokio::test]
async fn a_moment_while_an_earlier_run_works_follows_the_overlap_rule() {
    let with = async |policy: &str| {
        let s = starter();
        s.say(&format!("/schedule add every day at 9am --run x --overlap {policy}")).await;
        assert_eq!(s.fire("2026-11-16T09:00").await, [Started]);
        s
    };
    let s = with("skip").await;
    assert_eq!(s.fire("2026-11-17T09:00").await, [Skipped]);
    assert!(s.firings().await[1].reason.as_deref().unwrap().starts_with("run_"));
    s.end(0, "succeeded").await;
    assert_eq!(s.fire("2026-11-18T09:00").await, [Started]);

    let s = with("queue_one").await;
    assert_eq!(s.fire("2026-11-17T09:00").await, [Queued]);
    assert_eq!(s.fire("2026-11-18T09:00").await, [Skipped]);
    assert_eq!(s.count_runs().await, 1);
    s.end(0, "succeeded").await;
    assert_eq!(s.fire("2026-11-18T10:00").await, []);
    assert_eq!(s.firings().await[1].state, Late, "it began when the first had ended");
    assert_eq!(s.count_runs().await, 2);

    let s = with("cancel_previous").await;
    let first = s.firings().await[0].run.clone().unwrap();
    assert_eq!(s.fire("2026-11-17T09:00").await, [Started]);
    let inbox = s.person.store.inbox().unread(&first).await.unwrap().messages;
    assert!(matches!(&inbox[0].1, InboxMessage::Cancel { by } if by == "schedule"));

    let s = with("allow").await;
    assert_eq!(s.fire("2026-11-17T09:00").await, [Started]);
    assert_eq!(s.count_runs().await, 2);
}

#[tokio::test]
async fn an_entry_is_paused_after_failures_in_a_row_and_says_so() {
    let mut s = starter();
    s.say("/schedule add every day at 9am report --run x --pause-after 3").await;
    assert_eq!(s.fire("2026-11-16T09:00").await, [Started]);
    s.end(0, "failed").await;
    assert_eq!(s.fire("2026-11-17T09:00").await, [Started]);
    s.end(1, "succeeded").await;
    s.runs.fails.store(true, Ordering::Relaxed);
    assert_eq!(s.fire("2026-11-18T09:00").await, [Failed]);
    assert_eq!(s.fire("2026-11-19T09:00").await, [Failed]);
    assert_eq!(s.firings().await[3].reason.as_deref(), Some("no model is set"));
    s.runs.fails.store(false, Ordering::Relaxed);
    assert_eq!(s.fire("2026-11-20T09:00").await, [Started]);
    s.end(4, "failed").await;
    assert_eq!(s.fire("2026-11-20T09:05").await, []);
    assert_eq!(s.fire("2026-11-21T09:00").await, [], "it is paused");
    let shown = s.say_at("2026-11-21T10:00", "/schedule get 1").await;
    assert!(shown.contains("paused since 2026-11-20 09:05 after 3 failures in a row"), "{shown}");
    let notes = s.person.store.agenda().unread_firings(9).await.unwrap();
    let titles: Vec<&str> = notes.iter().map(|note| note.title.as_str()).collect();
    let note = "report: paused after 3 failures in a row (/schedule runs 1, /schedule resume 1)";
    assert_eq!(titles, [note]);
    s.say_at("2026-11-21T10:00", "/schedule resume 1").await;
    assert_eq!(s.fire("2026-11-22T09:00").await, [Started]);
    s.end(5, "failed").await;
    assert_eq!(s.fire("2026-11-23T09:00").await, [Started], "failures are counted anew");
}

#[tokio::test]
async fn a_person_pauses_resumes_and_starts_an_entry() {
    let mut s = starter();
    s.say("/schedule add every day at 9am --run x").await;
    s.say("/schedule pause 1").await;
    assert_eq!(s.fire("2026-11-16T09:00").await, []);
    assert!(s.say("/schedule list").await.contains("paused"));
    let said = s.say_at("2026-11-16T10:00", "/schedule run 1").await;
    assert!(said.starts_with("Schedule #1 (x): started run"), "{said}");
    assert_eq!(s.count_runs().await, 1);
    s.end(0, "succeeded").await;
    let said = s.say_at("2026-11-16T11:00", "/schedule resume 1").await;
    assert!(said.contains("next run 2026-11-17 09:00"), "{said}");
    assert_eq!(s.fire("2026-11-17T09:00").await, [Started]);
    s.say("/schedule add 2026-11-20 10:00 meeting").await;
    for verb in ["pause", "resume", "run", "runs"] {
        let said = s.say(&format!("/schedule {verb} 2")).await;
        assert!(said.starts_with("Entry #2 does not start runs"), "{said}");
    }
    s.say("/schedule update 1 --run \"something else\" --overlap allow").await;
    let row = s.person.store.agenda().schedule(1).await.unwrap().unwrap();
    assert_eq!(row.said.run.unwrap().goal, "something else");
}

#[tokio::test]
async fn processes_that_look_at_once_start_one_run() {
    let s = starter();
    s.say("/schedule add every day at 9am --run x").await;
    let at = berlin("2026-11-16T09:00");
    let (store, config) = (&s.person.store, s.person.desk.config());
    let fire = || fire_runs(store, config, s.runs.as_ref(), at);
    let (one, two, three) = tokio::join!(fire(), fire(), fire());
    let fired: usize = [one, two, three].into_iter().map(|fired| fired.unwrap().len()).sum();
    assert_eq!((fired, s.count_runs().await), (1, 1));
}

#[tokio::test]
async fn a_rehearsal_with_a_crash_at_every_firing_makes_each_run_once() {
    let s = starter_in("2026-03-01T00:00[Europe/Berlin]");
    s.say("/schedule add nightly --run \"tidy up\" --cron \"30 2 * * *\"").await;
    s.say("/schedule add hourly --run \"look\" --cron \"0 */6 * * *\"").await;
    s.say("/schedule add every weekday at 9am coffee --duration 0").await;
    let mut rehearsal = Rehearsal {
        from: berlin("2026-03-01T00:00"),
        to: berlin("2026-04-30T00:00"),
        crashes: Crashes::Everywhere,
        down: Vec::new(),
        steps_max: STEPS_MAX,
    };
    let entries = s.person.store.agenda().schedules().await.unwrap();
    let played = rehearse(&entries, &[], s.person.desk.config(), &rehearsal).await.unwrap();
    assert!(played.is_right(), "lost {:?}, wrong {:?}", played.lost, played.wrong);
    let of = |id: i64| played.firings.iter().filter(|firing| firing.due.subject == id).count();
    assert_eq!(of(1), 60, "02:30 is there every night, also when clocks skip it");
    assert_eq!(of(2), 60 * 4 - 1, "the first one was at the start");
    assert!(played.crashes as usize >= played.firings.len());
    rehearsal.down = vec![(berlin("2026-03-10T00:00"), berlin("2026-03-13T12:00"))];
    let played = rehearse(&entries, &[], s.person.desk.config(), &rehearsal).await.unwrap();
    assert!(played.is_right(), "lost {:?}, wrong {:?}", played.lost, played.wrong);
}

#[tokio::test]
async fn a_rehearsal_that_is_stopped_says_where_and_an_entry_of_the_past_is_refused() {
    let s = starter_in("2026-03-01T08:00[Europe/Berlin]");
    let said = s.say("/schedule add \"2020-01-05 09:00 look\" --run x").await;
    assert!(said.contains("has passed"), "{said}");
    s.say("/schedule add hourly --run \"look\" --cron \"0 * * * *\"").await;
    let (from, to) = (berlin("2026-03-02T00:00"), berlin("2026-03-03T00:00"));
    let (crashes, down) = (Crashes::None, Vec::new());
    let rehearsal = Rehearsal { from, to, crashes, down, steps_max: STEPS_MAX };
    let entries = s.person.store.agenda().schedules().await.unwrap();
    let config = s.person.desk.config();
    let stopped = AtomicBool::new(true);
    let played = rehearse_until(&entries, &[], config, &rehearsal, &stopped).await.unwrap();
    assert_eq!((played.cut_at, played.firings.len()), (Some(from), 0));
    let whole = rehearse(&entries, &[], config, &rehearsal).await.unwrap();
    assert!(whole.is_right());
    assert_eq!((whole.cut_at, whole.firings.len()), (None, 24));
}

/// The moments in UTC at which an entry's runs were due, over some days of half hours.
async fn due_moments(from: &str, days: i64, line: &str) -> Vec<String> {
    let s = starter_in(&format!("{from}T00:00[Europe/Berlin]"));
    let said = s.say(line).await;
    assert!(said.starts_with("Added schedule #1"), "{said}");
    let start = berlin(&format!("{from}T00:00"));
    let config = s.person.desk.config();
    for step in 0..days * 48 {
        let at = start + step * 30 * 60_000;
        fire_runs(&s.person.store, config, s.runs.as_ref(), at).await.unwrap();
    }
    let moment = |firing: &ScheduledFiring| {
        assert_eq!(firing.state, Started);
        jiff::Timestamp::from_millisecond(firing.due_at).unwrap().to_string()
    };
    s.firings().await.iter().map(moment).collect()
}

/// Nine o'clock stays nine o'clock. A time that a night has twice is its first, and one that a
/// night lacks moves forward by what was skipped.
#[tokio::test]
async fn runs_keep_their_wall_time_over_both_changes_of_the_clocks() {
    let night = "/schedule add --run tidy --cron \"30 2 * * *\" --overlap allow";
    let morning = "/schedule add --run report --cron \"0 9 * * *\" --overlap allow";
    let autumn = due_moments("2026-10-24", 3, night).await;
    assert_eq!(autumn, ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
    let autumn = due_moments("2026-10-24", 3, morning).await;
    assert_eq!(autumn, ["2026-10-24T07:00:00Z", "2026-10-25T08:00:00Z", "2026-10-26T08:00:00Z"]);
    let spring = due_moments("2027-03-27", 3, night).await;
    assert_eq!(spring, ["2027-03-27T01:30:00Z", "2027-03-28T01:30:00Z", "2027-03-29T00:30:00Z"]);
    let spring = due_moments("2027-03-27", 3, morning).await;
    assert_eq!(spring, ["2027-03-27T08:00:00Z", "2027-03-28T07:00:00Z", "2027-03-29T07:00:00Z"]);
}
