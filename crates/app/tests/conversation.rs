//! A whole conversation through this crate alone: a goal, a question and its answer, a permission,
//! a cancel, a process that dies, and what the next one makes of it. No terminal, no output.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_app::conversation::{
    ChatReply, Conversation, ConversationRequest, ConversationSelection, Leftover, Queue, Reaction,
    RunStop,
};
use everloop_app::conversations::{self, ConversationQuery, ListedConversation};
use everloop_app::following::FollowNews;
use everloop_app::frames::RunOptions;
use everloop_app::home::Home;
use everloop_app::runs::RunDetails;
use everloop_app::settings::SettingSources;
use everloop_app::{App, AppError, ChoiceError, ConversationError, Notices, OpenOptions, RunError};
use everloop_engine::{EventKind, RunEvent};
use everloop_types::{ConversationId, QuestionKind, RunId, Status};
use serde_json::{Value, json};
use std::fs::File;
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

    async fn open(&self, which: ConversationSelection) -> Conversation {
        let options = RunOptions { workspace: Some(self.workspace()), ..RunOptions::default() };
        let request = ConversationRequest { which, ..ConversationRequest::default() };
        Conversation::open(self.app(&[]).unwrap(), &options, &request).await.unwrap()
    }

    async fn conversation(&self) -> Conversation {
        self.open(ConversationSelection::Newest).await
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
    conversation.note_stop(&run, &stop).await;
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
        let request = ConversationRequest::default();
        let opened = Conversation::open(place.app(&[]).unwrap(), &options, &request).await;
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

#[test]
fn what_ended_while_nobody_looked_is_shown_once_when_the_conversation_is_opened_again() {
    let place = Place::new(&json!({"replies": [says("Hello.")]}));
    let runtime = Runtime::new().unwrap();
    let run = runtime.block_on(async {
        let mut conversation = place.conversation().await;
        let Reaction::Follow(run, _) = conversation.send("hi").await.unwrap() else {
            panic!("a goal begins a run")
        };
        conversation.run(&run).until_stopped().await.unwrap();
        run
    });
    // The process dies before it has shown the end; another one might have driven the run.
    runtime.shutdown_timeout(Duration::from_secs(30));
    Runtime::new().unwrap().block_on(async {
        let mut conversation = place.conversation().await;
        let left = conversation.take_leftovers();
        assert_eq!(left.runs, std::slice::from_ref(&run));
        assert!(matches!(&left.all[..], [Leftover::Unseen { goal, .. }] if goal == "hi"));
        let (_, stop) = stopped(&mut conversation, run.clone()).await;
        assert_eq!(ended(&stop).text().as_deref(), Some("Hello."));
    });
    Runtime::new().unwrap().block_on(async {
        let mut conversation = place.conversation().await;
        assert!(conversation.take_leftovers().all.is_empty(), "it was shown");
        conversation.leave().await;
    });
}

async fn all(conversation: &Conversation) -> Vec<ListedConversation> {
    let query = ConversationQuery { most: 9, archived: true, ..ConversationQuery::default() };
    conversations::list(conversation.app(), conversation.store(), query).await.unwrap()
}

/// The note of another terminal that has a conversation, as long as it lives.
fn other_terminal(place: &Place, id: &ConversationId) -> File {
    let folder = place.app(&[]).unwrap().home.data().join("terminals");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("terminal_other");
    std::fs::write(&path, format!("@{id}\n")).unwrap();
    let file = File::open(path).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_second_terminal_has_its_own_conversation_joins_or_takes_up_what_was_left() {
    let ask = calls("ask_user", json!({"question": "Which colour?"}));
    let choose = json!([{"goal": "choose", "replies": [ask, says("Blue it is.")]}]);
    let place = Place::new(&json!({"replies": [says("Hello.")], "others": choose}));
    let first = Runtime::new().unwrap().block_on(async {
        let mut one = place.conversation().await;
        assert!(one.opening().continued.is_none(), "the first begins anew");
        follow(&mut one, "hi").await;
        let first = one.id().clone();
        one.leave().await;
        first
    });
    let held = other_terminal(&place, &first);
    Runtime::new().unwrap().block_on(async {
        let other = place.conversation().await;
        let in_use = other.opening().in_use.as_ref().map(ListedConversation::title);
        assert_eq!(in_use.as_deref(), Some("hi"));
        assert_ne!(other.id(), &first);
        assert_eq!(all(&other).await.len(), 1, "nothing was said in the other one");
        other.leave().await;
    });
    let newer = Runtime::new().unwrap().block_on(async {
        let mut joined = place.open(ConversationSelection::Joined).await;
        assert_eq!(joined.id(), &first);
        drop(held);
        // A conversation with a question that nobody has any more, and a newer one in use.
        follow(&mut joined, "choose").await;
        joined.send("/new").await.unwrap();
        follow(&mut joined, "hi again").await;
        let newer = joined.id().clone();
        joined.leave().await;
        newer
    });
    let _held = other_terminal(&place, &newer);
    Runtime::new().unwrap().block_on(async {
        let mut third = place.conversation().await;
        assert_eq!((third.id(), third.opening().in_use.is_some()), (&first, true));
        let greeting = third.greeting().await.unwrap();
        assert_eq!(greeting.question.map(|(_, goal)| goal).as_deref(), Some("choose"));
        third.leave().await;
    });
}

#[test]
fn a_conversation_is_resumed_by_words_named_once_and_deleted_when_it_is_over() {
    let place = Place::new(&json!({"replies": [says("Hello.")]}));
    Runtime::new().unwrap().block_on(async {
        let mut chat = place.conversation().await;
        follow(&mut chat, "mend the fence").await;
        let first = chat.id().clone();
        let mut queue = Queue::open(chat.app(), &first);
        queue.push("later").unwrap();
        assert!(matches!(chat.send("/new").await, Ok(Reaction::Reply(ChatReply::BeganAnew))));
        assert_ne!(chat.id(), &first);
        queue.move_to(chat.id());
        assert_eq!(queue.lines().collect::<Vec<_>>(), ["later"]);
        follow(&mut chat, "paint the fence").await;
        assert!(matches!(
            chat.send("/resume fence").await,
            Ok(Reaction::Pick(rows, None)) if rows.len() == 2
        ));
        assert!(matches!(
            chat.send("/resume MEND").await,
            Ok(Reaction::Reply(ChatReply::ConversationOpened(one, said)))
                if one.row.id == first && said.len() == 2
        ));
        assert_eq!(chat.id(), &first);
        chat.send("/rename \u{1b}[31mThe  fence").await.unwrap();
        let fence = all(&chat).await.into_iter().find(|one| one.row.id == first).unwrap();
        assert!(!fence.title().contains('\u{1b}'), "{}", fence.title());
        let gone = conversations::delete(chat.app(), chat.store(), &fence, "user").await;
        assert!(matches!(gone, Err(AppError::Conversation(ConversationError::InUse(_)))));
        chat.send("/new").await.unwrap();
        let gone = conversations::delete(chat.app(), chat.store(), &fence, "user").await;
        assert_eq!(gone.unwrap(), 1);
        assert_eq!(all(&chat).await.len(), 1);
        let nothing = chat.send("/resume nothing like it").await;
        assert!(matches!(nothing, Err(AppError::Run(RunError::NotFound(_)))));
        chat.leave().await;
    });
}
