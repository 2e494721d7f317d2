//! A whole conversation through this crate alone: a goal, a question and its answer, a permission,
//! a cancel, a process that dies, and what the next one makes of it. No terminal, no output.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_app::conversation::{ChatReply, Conversation, Leftover, Reaction, RunStop};
use everloop_app::following::FollowNews;
use everloop_app::frames::RunOptions;
use everloop_app::home::Home;
use everloop_app::runs::RunDetails;
use everloop_app::settings::SettingSources;
use everloop_app::{App, AppError, ChoiceError, Notices, OpenOptions, RunError};
use everloop_engine::{EventKind, RunEvent};
use everloop_types::{QuestionKind, RunId, Status};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// What the person's settings file says.
const ASKED: &str = "[[approvals.rules]]\ntool = \"write_file\"\ndecision = \"ask\"\n";

/// One person's folders, and the script that their model plays.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(script: &Value) -> Self {
        let place = Self { folder: TempDir::new().unwrap() };
        std::fs::create_dir(place.workspace()).unwrap();
        place.play(script);
        place
    }

    fn play(&self, script: &Value) {
        std::fs::write(self.script(), script.to_string()).unwrap();
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("script.json")
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn app(&self, set: &[&str]) -> Result<App, AppError> {
        let home = Home::under(&self.folder.path().join("home"));
        let model = format!("model.default=scripted/{}", self.script().display());
        let mut all = vec![model, "loop.default=react".to_owned()];
        all.extend(set.iter().map(|one| (*one).to_owned()));
        let sources = SettingSources {
            path: home.config_file(),
            text: Some(ASKED.to_owned()),
            trouble: None,
            environment: Vec::new(),
            set: all,
            database: None,
            lang: None,
        };
        let (build, notices) = ("test".to_owned(), Notices::ignored());
        App::open(OpenOptions { sources, home, build, notices })
    }

    async fn conversation(&self) -> Conversation {
        let options = RunOptions { workspace: Some(self.workspace()), ..RunOptions::default() };
        Conversation::open(self.app(&[]).unwrap(), &options).await.unwrap()
    }
}

/// Sends a line that begins or goes on with a run, and waits until that stops.
async fn follow(conversation: &mut Conversation, line: &str) -> (RunId, RunStop) {
    match conversation.send(line).await.unwrap() {
        Reaction::Follow(run, _) => stopped(conversation, run).await,
        _ => panic!("{line} led to no run"),
    }
}

async fn stopped(conversation: &mut Conversation, run: RunId) -> (RunId, RunStop) {
    conversation.run(&run).until_stopped().await.unwrap();
    let stop = conversation.run(&run).stop().await.unwrap().unwrap();
    conversation.note_stop(&run, &stop);
    (run, stop)
}

fn ended(stop: &RunStop) -> &RunDetails {
    match stop {
        RunStop::Ended(details) => details,
        RunStop::Asks(open) => panic!("it asks: {}", open.text),
        _ => panic!("it has not ended"),
    }
}

fn asked(stop: &RunStop, kind: QuestionKind) -> &str {
    match stop {
        RunStop::Asks(open) if open.question.kind == kind => &open.text,
        _ => panic!("it does not ask"),
    }
}

fn says(text: &str) -> Value {
    json!({"text": text})
}

fn calls(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

#[test]
fn a_conversation_from_its_first_goal_over_a_death_to_its_end() {
    let slow = json!({"text": "Too late.", "delay_ms": 600_000});
    let look = calls("list_dir", json!({"path": "."}));
    let place = Place::new(&json!({
        "replies": [says("Hello.")],
        "others": [
            // A goal is told what was said before, so the latest comes first.
            {"goal": "long", "replies": [look.clone(), slow.clone()]},
            {"goal": "slow", "replies": [slow]},
            {"goal": "write", "replies": [
                calls("write_file", json!({"path": "a.txt", "content": "one"})), says("Written."),
            ]},
            {"goal": "choose", "replies": [
                calls("ask_user", json!({"question": "Which colour?"})), says("Blue it is."),
            ]},
        ],
    }));
    let runtime = Runtime::new().unwrap();
    let long = runtime.block_on(until_killed(&place));
    // The process dies here, in the middle of a model call: nothing that it drove goes on.
    runtime.shutdown_timeout(Duration::from_secs(30));
    place.play(&json!({
        "replies": [says("Hello.")],
        "others": [{"goal": "long", "replies": [look, says("Finished after all.")]}],
    }));
    Runtime::new().unwrap().block_on(recovers(&place, &long));
}

/// Everything up to a run that is in the middle of a model call.
async fn until_killed(place: &Place) -> RunId {
    let mut conversation = place.conversation().await;
    assert!(conversation.take_leftovers().all.is_empty());

    let (_, stop) = follow(&mut conversation, "hi").await;
    assert_eq!(ended(&stop).text().as_deref(), Some("Hello."));

    let (first, stop) = follow(&mut conversation, "choose").await;
    assert!(asked(&stop, QuestionKind::Ask).contains("Which colour?"));
    let (second, stop) = follow(&mut conversation, "blue").await;
    assert_eq!((first, ended(&stop).text().as_deref()), (second, Some("Blue it is.")));

    let (_, stop) = follow(&mut conversation, "write").await;
    asked(&stop, QuestionKind::Approve);
    assert!(!place.workspace().join("a.txt").exists(), "nothing happens before the yes");
    let unclear = conversation.send("perhaps").await.unwrap();
    assert!(matches!(unclear, Reaction::Reply(ChatReply::UnclearPermission(_))));
    let (_, stop) = follow(&mut conversation, "y").await;
    assert_eq!(ended(&stop).row.status, Status::Succeeded);
    assert_eq!(std::fs::read_to_string(place.workspace().join("a.txt")).unwrap(), "one");

    let Reaction::Follow(slow, _) = conversation.send("slow").await.unwrap() else {
        panic!("a goal begins a run")
    };
    let canceled = conversation.send("/cancel").await.unwrap();
    assert!(matches!(canceled, Reaction::Reply(ChatReply::Canceled)));
    let (_, stop) = stopped(&mut conversation, slow).await;
    assert_eq!(ended(&stop).row.status, Status::Canceled);

    let Reaction::Follow(long, _) = conversation.send("long").await.unwrap() else {
        panic!("a goal begins a run")
    };
    loop {
        let details = details(&conversation, &long).await;
        if details.counts.tool_calls == 1 && details.counts.model_calls == 2 {
            break;
        }
        let _ = conversation.watch().recv().await;
    }
    long
}

async fn details(conversation: &Conversation, run: &RunId) -> RunDetails {
    RunDetails::read(conversation.app(), conversation.store(), run).await.unwrap()
}

/// The next process takes the run up and finishes it; the tool is not called again.
async fn recovers(place: &Place, long: &RunId) {
    let mut conversation = place.conversation().await;
    let left = conversation.take_leftovers();
    assert_eq!(left.runs, std::slice::from_ref(long));
    assert!(left.left_at.is_some());
    assert!(matches!(&left.all[..], [Leftover::Interrupted { run, .. }] if run == long));
    let (_, stop) = stopped(&mut conversation, long.clone()).await;
    let details = ended(&stop);
    assert_eq!(details.text().as_deref(), Some("Finished after all."));
    assert_eq!((details.row.status, details.counts.tool_calls), (Status::Succeeded, 1));
    conversation.leave().await;
}

#[test]
fn errors_are_types_and_nothing_is_begun() {
    let place = Place::new(&json!({"replies": []}));
    Runtime::new().unwrap().block_on(async {
        let mut conversation = place.conversation().await;
        let no_loop = conversation.send("/loop nope").await;
        let is_nope = |name: &str| name == "nope";
        assert!(matches!(
            no_loop,
            Err(AppError::Choice(ChoiceError::UnknownLoop(name))) if is_nope(&name)
        ));
        let no_run = conversation.send("/resume run_nope").await;
        assert!(matches!(no_run, Err(AppError::Run(RunError::NotFound(id))) if id == "run_nope"));
        let no_image = conversation.send("/image nope.png").await;
        assert!(matches!(no_image, Err(AppError::Choice(ChoiceError::Image { .. }))));
        conversation.leave().await;
    });
    let bad = place.app(&["loop.max_steps=many"]);
    assert!(matches!(bad, Err(AppError::Setting(fault)) if fault.key == "loop.max_steps"));
    let options =
        RunOptions { workspace: Some(PathBuf::from("/nowhere/at/all")), ..RunOptions::default() };
    Runtime::new().unwrap().block_on(async {
        let opened = Conversation::open(place.app(&[]).unwrap(), &options).await;
        assert!(matches!(opened, Err(AppError::Choice(ChoiceError::Workspace { .. }))));
    });
}

/// The tools whose calls began, among the events that are shown until the run stops.
async fn tools_shown(conversation: &mut Conversation, run: &RunId) -> Vec<String> {
    let mut following = conversation.shown().follow(run).await;
    let mut events = Vec::new();
    loop {
        match following.next().await {
            FollowNews::Event(event) => events.push(*event),
            FollowNews::MayHaveStopped => {
                if conversation.run(run).stop().await.unwrap().is_some() {
                    break;
                }
            }
        }
    }
    events.extend(following.rest().await);
    conversation.shown().note(&following);
    let tool = |event: &RunEvent| match &event.kind {
        EventKind::ToolStarted { tool, .. } => Some(tool.clone()),
        _ => None,
    };
    events.iter().filter_map(tool).collect()
}

/// However quickly a process dies and another one comes: what was done before is not shown again.
#[test]
fn the_next_process_shows_only_what_happens_after_the_answer() {
    let look = || calls("list_dir", json!({"path": "."}));
    let ask = calls("ask_user", json!({"question": "Which colour?"}));
    let read = calls("read_file", json!({"path": "none.txt"}));
    let place = Place::new(&json!({"replies": [look(), ask, read, says("Blue it is.")]}));
    let runtime = Runtime::new().unwrap();
    let run = runtime.block_on(async {
        let mut conversation = place.conversation().await;
        let Reaction::Follow(run, _) = conversation.send("choose").await.unwrap() else {
            panic!("a goal begins a run")
        };
        assert_eq!(tools_shown(&mut conversation, &run).await, ["list_dir", "ask_user"]);
        run
    });
    runtime.shutdown_timeout(Duration::from_secs(30));
    Runtime::new().unwrap().block_on(async {
        let mut conversation = place.conversation().await;
        assert!(conversation.greeting().await.unwrap().question.is_some());
        let Reaction::Follow(followed, _) = conversation.send("blue").await.unwrap() else {
            panic!("the line answers the question")
        };
        assert_eq!(followed, run);
        assert_eq!(tools_shown(&mut conversation, &run).await, ["read_file"]);
        conversation.leave().await;
    });
}
