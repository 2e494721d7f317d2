//! What happens without a person: schedules that start runs, webhooks, and words that nobody asked
//! for. No terminal, and no network beyond this machine.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use base64::Engine as _;
use everloop_agenda::commands::{self, AgendaCommand};
use everloop_agenda::desk::CommandOutcome;
use everloop_agenda::show;
use everloop_app::channels::{self, ChannelError, ChannelReceipt, webhook};
use everloop_app::home::Home;
use everloop_app::serving::ServiceSession;
use everloop_app::settings::SettingSources;
use everloop_app::worker::WorkerSession;
use everloop_app::{App, Notices, OpenOptions, RunDetails, agenda, heartbeat, scheduling};
use everloop_engine::{Clock, Engine, SystemClock, Worker};
use everloop_store::{
    ConversationFilter, Db, DbError, DbFuture, NewFact, RunFilter, SqlRow, Store, Urgency,
    WriteResult,
};
use everloop_types::{
    ConversationId, FactId, FactProposal, FactSource, Lang, Rows, SqlValue, Statement, Status,
    Write,
};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct Place {
    folder: TempDir,
}

impl Place {
    fn new(script: &Value) -> Self {
        let place = Self { folder: TempDir::new().unwrap() };
        std::fs::create_dir(place.path("work")).unwrap();
        std::fs::write(place.path("script.json"), script.to_string()).unwrap();
        std::fs::write(place.path("secret"), SECRET).unwrap();
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(place.path("secret"), private).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn app(&self, file: &str, set: &[&str]) -> App {
        let home = Home::under(&self.path("home"));
        let model = format!("model.default=scripted/{}", self.path("script.json").display());
        let mut all = vec![model, "loop.default=react".to_owned()];
        all.push("ui.time_zone=UTC".to_owned());
        all.extend(set.iter().map(|one| (*one).to_owned()));
        let sources = SettingSources {
            path: home.config_file(),
            text: Some(file.to_owned()),
            trouble: None,
            environment: Vec::new(),
            set: all,
            database: None,
            lang: Some(Lang::En),
        };
        let (build, notices) = ("test".to_owned(), Notices::ignored());
        App::open(OpenOptions { sources, home, build, notices }).unwrap()
    }

    fn channel(&self, url: &str) -> String {
        let (secret, work) = (self.path("secret"), self.path("work"));
        format!(
            "[channels.ops]\nurl = \"{url}\"\nsecret = \"file:{}\"\nworkspace = \"{}\"\n",
            secret.display(),
            work.display()
        )
    }
}

async fn say(app: &App, store: &Store, line: &str) -> String {
    let reader = app.reader_at(None);
    let command = commands::parse(line, &reader.now).unwrap();
    let answer = agenda::perform(app, store.clone(), &command, &reader).await.unwrap();
    show::answer(&reader, &answer)
}

/// Drives everything that is ready.
async fn drain(app: &App, engine: &Arc<Engine>) {
    let session = WorkerSession::acquire(app, engine).unwrap();
    session.drain(|_| ()).await.unwrap();
    session.end().await;
}

async fn count_runs(store: &Store) -> usize {
    let filter = RunFilter { statuses: Vec::new(), before: None, most: 100 };
    store.runs().list(&filter).await.unwrap().len()
}

/// Moves the next run of a schedule into the past.
async fn make_due(store: &Store, id: i64) {
    let sql = "UPDATE schedules SET run_next = $2, starts_at = $2, starts = '2026-01-01T00:00'
                WHERE schedule_id = $1";
    // A moment at which the entry comes: the last full minute.
    let now = SystemClock.now();
    let due = now - now.rem_euclid(60_000);
    let params = vec![SqlValue::from(id), SqlValue::from(due)];
    let statement = Statement::screened(sql);
    let write = Write { statement, params, expect: Rows::Exactly(1) };
    store.db().commit(vec![write], Urgency::Critical).await.unwrap();
}

#[tokio::test]
async fn a_schedule_starts_a_run_in_an_unread_conversation_of_its_own() {
    let place = Place::new(&json!({"replies": [{"text": "All is well."}]}));
    let app = place.app("", &[]);
    let store = app.open_store().await.unwrap();
    let work = place.path("work");
    let line = format!(
        "/schedule add --run \"check the logs\" --cron \"* * * * *\" --workspace {} --loop react",
        work.display()
    );
    let said = say(&app, &store, &line).await;
    assert!(said.starts_with("Added schedule #1, which starts runs: check the logs"), "{said}");
    assert!(said.contains("These runs are unattended"), "what would have to be asked: {said}");
    make_due(&store, 1).await;
    let fired = scheduling::start_due(&app, &store).await.unwrap();
    assert!(!fired.is_empty());
    assert_eq!(scheduling::start_due(&app, &store).await.unwrap(), []);
    let engine = app.engine(store.clone()).await.unwrap();
    drain(&app, &engine).await;
    let run = fired.iter().find_map(|firing| firing.run.clone()).unwrap();
    let row = store.runs().get(&run).await.unwrap().unwrap();
    assert_eq!((row.goal.as_str(), row.loop_name.as_str()), ("check the logs", "react"));
    let conversation = store.conversations().get(&row.conversation).await.unwrap().unwrap();
    assert_eq!(
        (conversation.channel.as_str(), conversation.thread.as_deref()),
        ("schedule", Some("1"))
    );
    assert!(conversation.has_unread());
    let said = store.conversations().messages(&row.conversation, 9).await.unwrap();
    assert_eq!(said.last().unwrap().body, "All is well.");
    scheduling::start_due(&app, &store).await.unwrap();
    let settled = scheduling::firings(&store, 1, 9).await.unwrap();
    let of_run = settled.iter().find(|firing| firing.run.as_ref() == Some(&run)).unwrap();
    assert_eq!(of_run.ended.as_deref(), Some("succeeded"));
}

#[tokio::test]
async fn a_schedule_that_cannot_start_says_why() {
    let place = Place::new(&json!({"replies": []}));
    let app = place.app("", &["model.default="]);
    let store = app.open_store().await.unwrap();
    let work = place.path("work").display().to_string();
    let add = "/schedule add every day at 9am --run x --workspace";
    let said = say(&app, &store, &format!("{add} {work}")).await;
    assert!(said.contains("cannot start: no model is set"), "{said}");
    let said = say(&app, &store, &format!("{add} {work}/gone")).await;
    assert!(said.contains("is not a folder that can be used"), "{said}");
    let said = say(&app, &store, &format!("{add} {work} --persona nobody-here")).await;
    assert!(said.contains("there is no persona nobody-here"), "{said}");
    let reader = app.reader_at(None);
    let run_now = AgendaCommand::Schedule(commands::ScheduleCommand::RunNow(1));
    let answer = agenda::perform(&app, store.clone(), &run_now, &reader).await.unwrap();
    assert!(!matches!(answer, Ok(CommandOutcome::RunStarted(..))));
    assert_eq!(count_runs(&store).await, 0);
}

#[tokio::test]
async fn an_entry_whose_uid_came_with_a_file_has_a_conversation_that_the_api_can_name() {
    let place = Place::new(&json!({"replies": [{"text": "Done."}, {"text": "Done."}]}));
    let app = place.app("", &[]);
    let store = app.open_store().await.unwrap();
    let work = place.path("work").display().to_string();
    let add = "/schedule add every day at 9am --run x --loop react --conversation own --workspace";
    say(&app, &store, &format!("{add} {work}")).await;
    let started = async || {
        let reader = app.reader_at(None);
        let run_now = AgendaCommand::Schedule(commands::ScheduleCommand::RunNow(1));
        agenda::perform(&app, store.clone(), &run_now, &reader).await.unwrap().unwrap();
        let filter = RunFilter { statuses: Vec::new(), before: None, most: 1 };
        let newest = store.runs().list(&filter).await.unwrap().remove(0);
        store.conversations().get(&newest.conversation).await.unwrap().unwrap().id
    };
    let own = started().await;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    assert!(own.as_str().bytes().all(is_plain) && own.as_str().len() <= 64, "{own}");
    assert_eq!(started().await, own, "the next run goes on in it");
}

fn request(id: &str, at_ms: i64, body: &str) -> Vec<(String, String)> {
    let stamp = (at_ms / 1_000).to_string();
    let signature = webhook::signature(SECRET, id, &stamp, body.as_bytes());
    [("webhook-id", id), ("webhook-timestamp", stamp.as_str()), ("webhook-signature", &signature)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// Takes one POST and answers with a status.
fn take_post(listener: &TcpListener, status: &str) -> (Vec<(String, String)>, String) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut headers, mut line) = (Vec::new(), String::new());
    reader.read_line(&mut line).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").unwrap().1.parse();
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    answer(stream, status);
    (headers, String::from_utf8(body).unwrap())
}

fn answer(mut stream: TcpStream, status: &str) {
    let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(reply.as_bytes()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_one_turn_and_its_answer_goes_back_signed() {
    let place = Place::new(&json!({"replies": [{"text": "Disk is fine."}]}));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let app = place.app(&place.channel(&url), &["agent.loop_enabled=off"]);
    let store = app.open_store().await.unwrap();
    let engine = app.engine(store.clone()).await.unwrap();
    let body = r#"{"type":"message","data":{"thread":"t-1","text":"how is the disk?"}}"#;
    let headers = request("msg_1", SystemClock.now(), body);
    let receive = || channels::receive(&app, &engine, "ops", &headers, body.as_bytes());
    let first = receive().await.unwrap();
    let again = receive().await.unwrap();
    assert_eq!(again, ChannelReceipt { duplicate: true, ..first.clone() });
    assert_eq!(count_runs(&store).await, 1, "the same webhook twice is one turn");
    let other = r#"{"type":"message","data":{"thread":"t-2","text":"hello"}}"#;
    let headers2 = request("msg_2", SystemClock.now(), other);
    let second = channels::receive(&app, &engine, "webhook:ops", &headers2, other.as_bytes());
    let second = second.await.unwrap();
    assert_ne!(second.conversation, first.conversation, "another thread");
    let row = store.conversations().get(&first.conversation).await.unwrap().unwrap();
    assert_eq!((row.channel.as_str(), row.thread.as_deref()), ("webhook:ops", Some("t-1")));
    let taking = tokio::task::spawn_blocking(move || {
        [take_post(&listener, "204 No Content"), take_post(&listener, "204 No Content")]
    });
    drain(&app, &engine).await;
    let mut posts = taking.await.unwrap();
    posts.sort_by_key(|(_, body)| body.contains("t-2"));
    let (headers, body) = &posts[0];
    let told: Value = serde_json::from_str(body).unwrap();
    assert_eq!(told["type"], "message.reply");
    assert_eq!(
        (&told["data"]["thread"], &told["data"]["text"]),
        (&json!("t-1"), &json!("Disk is fine."))
    );
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).unwrap().1.as_str();
    let run = first.run.as_ref().unwrap();
    assert_eq!(header("webhook-id"), format!("{run}:reply"));
    let signed = webhook::signature(
        SECRET,
        header("webhook-id"),
        header("webhook-timestamp"),
        body.as_bytes(),
    );
    assert_eq!(header("webhook-signature"), signed);
    assert_eq!(store.outbox().count(run).await.unwrap().sent, 1);
}

/// One thread of a channel: what is sent there, and what came back so far.
struct Thread<'a> {
    app: &'a App,
    engine: &'a Arc<Engine>,
    sent: std::cell::Cell<u32>,
}

impl Thread<'_> {
    async fn say_as(&self, id: &str, text: &str) -> ChannelReceipt {
        let body = json!({"type": "message", "data": {"thread": "t", "text": text}}).to_string();
        let headers = request(id, SystemClock.now(), &body);
        channels::receive(self.app, self.engine, "ops", &headers, body.as_bytes()).await.unwrap()
    }

    async fn say(&self, text: &str) -> ChannelReceipt {
        self.sent.set(self.sent.get() + 1);
        self.say_as(&format!("msg_{}", self.sent.get()), text).await
    }

    async fn drain(&self) {
        Worker::new(self.engine.clone(), 2).drain(|_| ()).await.unwrap();
    }

    /// What is in the outbox, the oldest first: nothing is delivered in these tests.
    async fn outgoing(&self) -> Vec<String> {
        let sql = "SELECT body FROM outbox WHERE channel = 'webhook:ops#t' ORDER BY pos";
        let rows = self.engine.store().db().query(sql, Vec::new()).await.unwrap();
        rows.into_iter().map(|row| row.cells().text().unwrap()).collect()
    }
}

#[tokio::test]
async fn a_webhook_goes_through_the_front_door() {
    let decides = |decision: Value| json!({"text": decision.to_string()});
    let asks = json!({"calls": [{"tool": "ask_user", "args": {"question": "Which disk?"}}]});
    let work = json!({"decision": "run", "run": {"type": "agent", "title": "Check the disk",
        "conversation_id": null, "input": {"goal": "check the disk"}}, "confidence": 0.9,
        "reason": "work"});
    let reply = json!({"decision": "reply", "reply": {"content": "Hello."}, "confidence": 0.9,
        "reason": "talk"});
    let place = Place::new(&json!({"replies": [asks, {"text": "sda is fine."}]}));
    let decisions = json!({"replies": [decides(reply)],
        "others": [{"goal": "check the disk", "replies": [decides(work)]}]});
    std::fs::write(place.path("decisions.json"), decisions.to_string()).unwrap();
    let model = format!("agent.decision_model=scripted/{}", place.path("decisions.json").display());
    let app = place.app(&place.channel("http://127.0.0.1:9/"), &[&model, "agent.followup_depth=0"]);
    let store = app.open_store().await.unwrap();
    let engine = app.engine(store.clone()).await.unwrap();
    let thread = Thread { app: &app, engine: &engine, sent: std::cell::Cell::new(0) };

    let hello = thread.say("hi").await;
    thread.drain().await;
    assert_eq!(thread.outgoing().await, ["Hello."], "a decision came first");
    let frame = store.runs().get(hello.run.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!(frame.loop_name, "decision");

    let added = thread.say_as("msg_todo", "/todo add buy milk").await;
    assert!(added.run.is_none() && added.reply.as_deref().unwrap().contains("buy milk"));
    let again = thread.say_as("msg_todo", "/todo add buy milk").await;
    assert!(again.duplicate);
    assert_eq!(store.agenda().todos().await.unwrap().len(), 1);
    assert!(thread.say("/schedule add every day at 9 --run x").await.reply.is_some());
    assert!(store.agenda().schedules().await.unwrap().is_empty(), "it starts no runs");
    assert!(thread.say("取消当前任务").await.reply.unwrap().contains("Nothing is running"));

    let begun = thread.say("please check the disk").await;
    thread.drain().await;
    let said = thread.outgoing().await;
    assert!(said.iter().any(|said| said.contains("Which disk?")), "{said:?}");
    let answered = thread.say("sda").await;
    assert_ne!(answered.run, begun.run, "the run that asks, not the decision");
    thread.drain().await;
    assert_eq!(thread.outgoing().await.last().unwrap(), "sda is fine.");
    let row = store.runs().get(answered.run.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!(row.conversation, begun.conversation);
    let policy = RunDetails::read(&app, &store, &row.run).await.unwrap();
    let held = policy.history.frame().policy.inherited.clone();
    assert!(!held.untrusted.is_empty() && !held.private.is_empty(), "{held:?}");
}

#[tokio::test]
async fn a_webhook_cancels_and_allows_nothing_unless_it_may() {
    let args = json!({"path": "hi.txt", "content": "hi"});
    let writes = json!({"calls": [{"tool": "write_file", "args": args}]});
    let place = Place::new(&json!({"replies": [writes, {"text": "Said hi."}]}));
    let straight = ["agent.loop_enabled=off", "approvals.ask_edits=on"];
    let channel = place.channel("http://127.0.0.1:9/");
    let app = place.app(&channel, &straight);
    let store = app.open_store().await.unwrap();
    let engine = app.engine(store.clone()).await.unwrap();
    let thread = Thread { app: &app, engine: &engine, sent: std::cell::Cell::new(0) };
    let run = thread.say("say hi").await.run.unwrap();
    thread.drain().await;
    assert!(thread.outgoing().await[0].contains("hi.txt"), "the question goes out");
    let refused = thread.say("yes").await.reply.unwrap();
    assert!(refused.contains("has to be allowed by the operator"), "{refused}");
    let trusted = place.app(&format!("{channel}approve = true\n"), &straight);
    let thread = Thread { app: &trusted, ..thread };
    assert_eq!(
        thread.say("perhaps").await.reply.as_deref().map(|it| it.contains("hi.txt")),
        Some(true)
    );
    assert_eq!(thread.say("yes").await.run.as_ref(), Some(&run));
    thread.drain().await;
    assert!(thread.outgoing().await.last().unwrap().contains("Said hi."));
    let run = thread.say("say hi again").await.run.unwrap();
    thread.drain().await;
    assert_eq!(thread.say("cancel the current task").await.run.as_ref(), Some(&run));
    thread.drain().await;
    let row = store.runs().get(&run).await.unwrap().unwrap();
    assert_eq!(row.status, everloop_types::Status::Canceled);
    let note = thread.outgoing().await.pop().unwrap();
    assert!(note.to_lowercase().contains("cancel"), "{note}");
}

#[tokio::test]
async fn a_request_that_is_not_signed_or_too_old_starts_nothing() {
    let place = Place::new(&json!({"replies": []}));
    let app = place.app(&place.channel("http://127.0.0.1:9/"), &[]);
    let store = app.open_store().await.unwrap();
    let engine = app.engine(store.clone()).await.unwrap();
    let body = r#"{"type":"message","data":{"thread":"t","text":"hi"}}"#;
    let now = SystemClock.now();
    let outcome = async |channel: &str, headers: &[(String, String)], body: &str| {
        let received = channels::receive(&app, &engine, channel, headers, body.as_bytes()).await;
        match received {
            Ok(_) => "taken",
            Err(ChannelError::NoSuchChannel(_)) => "no channel",
            Err(ChannelError::Header(_) | ChannelError::Body(_) | ChannelError::Empty) => "bad",
            Err(ChannelError::Unsigned | ChannelError::TooOld) => "not signed",
            Err(_) => "other",
        }
    };
    assert_eq!(outcome("ops", &request("m", now, body), "{}").await, "not signed");
    assert_eq!(outcome("ops", &request("m", now - 600_000, body), body).await, "not signed");
    assert_eq!(outcome("ops", &[], body).await, "bad");
    assert_eq!(outcome("dev", &request("m", now, body), body).await, "no channel");
    let empty = r#"{"type":"message","data":{"thread":"t","text":""}}"#;
    assert_eq!(outcome("ops", &request("m", now, empty), empty).await, "bad");
    let forged = format!("v1,{}", base64::engine::general_purpose::STANDARD.encode([7; 32]));
    let mut headers = request("m", now, body);
    headers[2].1 = forged;
    assert_eq!(outcome("ops", &headers, body).await, "not signed");
    assert_eq!(count_runs(&store).await, 0);
}

#[tokio::test]
async fn the_heartbeat_speaks_up_once_a_day_and_only_if_there_is_something() {
    let place = Place::new(&json!({"replies": []}));
    let app =
        place.app("", &["heartbeat.every=30m", "heartbeat.from=00:00", "heartbeat.until=00:00"]);
    let store = app.open_store().await.unwrap();
    let now = SystemClock.now();
    assert_eq!(heartbeat::beat(&app, &store, now).await.unwrap(), None);
    assert_eq!(store.conversations().list(&all()).await.unwrap().len(), 0, "no conversation");
    say(&app, &store, "/todo add pay the rent --due 2020-01-01").await;
    let said = heartbeat::beat(&app, &store, now).await.unwrap().unwrap();
    assert!(said.contains("Todo #1 was due") && said.contains("pay the rent"), "{said}");
    assert_eq!(heartbeat::beat(&app, &store, now + 3_600_000).await.unwrap(), None);
    say(&app, &store, "/todo add call back --due 2020-01-02").await;
    let said = heartbeat::beat(&app, &store, now + 7_200_000).await.unwrap().unwrap();
    assert!(said.contains("call back") && !said.contains("rent"), "{said}");
    let rows = store.conversations().list(&all()).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].channel.as_str(), rows[0].has_unread()), ("heartbeat", true));
    assert_eq!(rows[0].title.as_deref(), Some("Open items"));
    let proposal = FactProposal {
        id: FactId::new("fact_01"),
        text: "The landlord is called Ada".to_owned(),
        workspace: None,
        source: FactSource::default(),
        untrusted: false,
        accept: false,
    };
    store.facts().add(&NewFact::proposed(proposal, "run", now)).await.unwrap();
    let said = heartbeat::beat(&app, &store, now + 10_800_000).await.unwrap().unwrap();
    assert!(said.contains("Ada") && said.contains("everloop memory accept"), "{said}");
    assert_eq!(heartbeat::beat(&app, &store, now + 14_400_000).await.unwrap(), None);
    let said = heartbeat::beat(&app, &store, now + 100_000_000).await.unwrap().unwrap();
    assert!(said.contains("rent") && said.contains("call back"), "after a day: {said}");
    let quiet = place.app("", &["heartbeat.from=03:00", "heartbeat.until=03:01"]);
    let noon = now - now.rem_euclid(86_400_000) + 43_200_000 + 10 * 86_400_000;
    assert_eq!(heartbeat::beat(&quiet, &store, noon).await.unwrap(), None, "quiet hours");
}

fn all() -> ConversationFilter {
    ConversationFilter { most: 10, ..ConversationFilter::default() }
}

#[tokio::test]
async fn a_reminder_that_nobody_saw_is_one_unread_message() {
    let place = Place::new(&json!({"replies": []}));
    let app = place.app("", &["agenda.unseen_after=10m"]);
    let store = app.open_store().await.unwrap();
    let now = SystemClock.now();
    let due = app.reader_at(None).moment(now - 60_000);
    say(&app, &store, &format!("/todo add tea --due \"{due}\" --remind \"{due}\"")).await;
    let config = app.agenda_config();
    let fired = everloop_agenda::kept::reminders::fire_due(&store, &config, now).await.unwrap();
    assert_eq!(fired.len(), 1);
    assert_eq!(heartbeat::tell_unseen(&app, &store, now).await.unwrap(), 0, "not yet");
    let later = now + 11 * 60_000;
    assert_eq!(heartbeat::tell_unseen(&app, &store, later).await.unwrap(), 1);
    assert_eq!(heartbeat::tell_unseen(&app, &store, later).await.unwrap(), 0, "once");
    let id = ConversationId::new("conv_reminders");
    let row = store.conversations().get(&id).await.unwrap().unwrap();
    assert_eq!((row.channel.as_str(), row.has_unread()), ("reminders", true));
    let said = store.conversations().messages(&id, 9).await.unwrap();
    assert!(said.len() == 1 && said[0].body.contains("tea"), "{said:?}");
}

/// A database in memory that can be made read-only for a while.
struct SealedDb {
    db: Arc<dyn Db>,
    is_sealed: AtomicBool,
}

impl Db for SealedDb {
    fn commit(&self, writes: Vec<Write>, urgency: Urgency) -> DbFuture<'_, Vec<WriteResult>> {
        if self.is_sealed.load(Ordering::SeqCst) {
            let file = Arc::from(Path::new("data.db"));
            return Box::pin(async { Err(DbError::ReadOnly { file }) });
        }
        self.db.commit(writes, urgency)
    }

    fn query(&self, sql: &'static str, params: Vec<SqlValue>) -> DbFuture<'_, Vec<SqlRow>> {
        self.db.query(sql, params)
    }
}

/// Lets time pass until something is so.
async fn until(is_so: impl AsyncFn() -> bool) {
    for _ in 0..10_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came to be");
}

/// Nobody waits for the disk: time passes as soon as every task does.
#[tokio::test(start_paused = true)]
async fn a_server_whose_store_was_repaired_drives_runs_again_and_says_when_it_does_not() {
    let place = Place::new(&json!({"replies": [{"text": "All is well."}]}));
    let app = place.app("", &[]);
    // A store in memory makes no folder for the lock.
    std::fs::create_dir_all(app.home.data()).unwrap();
    let sealed =
        Arc::new(SealedDb { db: Store::memory().db().clone(), is_sealed: AtomicBool::new(false) });
    let store = Store::with_db(sealed.clone());
    let session = ServiceSession::open(&app, store.clone()).await.unwrap();
    assert!(session.drives() && session.has_driver(&app).await.unwrap());
    sealed.is_sealed.store(true, Ordering::SeqCst);
    until(async || !session.drives()).await;
    let other = session.has_driver(&app).await.unwrap();
    assert!(!other, "what this process wrote into the lock file does not count");
    sealed.is_sealed.store(false, Ordering::SeqCst);
    until(async || session.drives()).await;
    let work = place.path("work").display().to_string();
    let line = format!("/schedule add every day at 9am --run x --loop react --workspace {work}");
    say(&app, &store, &line).await;
    let reader = app.reader_at(None);
    let run_now = AgendaCommand::Schedule(commands::ScheduleCommand::RunNow(1));
    agenda::perform(&app, store.clone(), &run_now, &reader).await.unwrap().unwrap();
    let filter = RunFilter { statuses: vec![Status::Succeeded], before: None, most: 9 };
    until(async || !store.runs().list(&filter).await.unwrap().is_empty()).await;
    session.end().await;
}
