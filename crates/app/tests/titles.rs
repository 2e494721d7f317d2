//! Titles that a model makes, against an endpoint on this machine.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_app::conversation::{
    Conversation, ConversationRequest, ConversationSelection, Reaction,
};
use everloop_app::conversations::{ConversationChannel, ListedConversation, retitle};
use everloop_app::frames::RunOptions;
use everloop_app::home::Home;
use everloop_app::settings::SettingSources;
use everloop_app::{App, AppError, ConversationError, Notices, OpenOptions};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What only the request for a title says.
const ASKS: &str = "Write a title for the conversation";

struct Place {
    folder: TempDir,
    model: Vec<String>,
}

impl Place {
    fn asking(server: &FakeServer) -> Self {
        let url = format!("model.base_url={}", server.url());
        Self::with(vec!["model.default=openai/x".to_owned(), url])
    }

    fn with(model: Vec<String>) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder, model }
    }

    fn app(&self, set: &[&str]) -> App {
        let home = Home::under(&self.folder.path().join("home"));
        let mut all = self.model.clone();
        all.extend(["loop.default=react"].iter().chain(set).map(|one| (*one).to_owned()));
        let sources = SettingSources {
            path: home.config_file(),
            text: None,
            trouble: None,
            environment: Vec::new(),
            set: all,
            database: None,
            lang: None,
        };
        let (build, notices) = ("test".to_owned(), Notices::ignored());
        App::open(OpenOptions { sources, home, build, notices }).unwrap()
    }

    async fn chat(&self, channel: ConversationChannel, set: &[&str]) -> Conversation {
        let workspace = Some(self.folder.path().join("work"));
        let options = RunOptions { workspace, ..RunOptions::default() };
        let request = ConversationRequest { which: ConversationSelection::New, channel };
        Conversation::open(self.app(set), &options, &request).await.unwrap()
    }
}

async fn says(chat: &mut Conversation, line: &str) {
    match chat.send(line).await.unwrap() {
        Reaction::Follow(run, _) => chat.run(&run).until_stopped().await.unwrap(),
        _ => panic!("{line} led to no run"),
    }
}

async fn row(chat: &Conversation) -> ListedConversation {
    let row = chat.store().conversations().get(chat.id()).await.unwrap();
    ListedConversation::new(row.unwrap())
}

/// Waits for a title that was made; nobody tells of it.
async fn made(chat: &Conversation) -> String {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let one = row(chat).await;
        if one.title_source() == "made" {
            return one.title();
        }
        assert!(Instant::now() < until, "no title was made");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn titles_asked_for(server: &FakeServer) -> usize {
    let is_title = |body: &[u8]| String::from_utf8_lossy(body).contains(ASKS);
    server.seen().iter().filter(|request| is_title(&request.body)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_title_is_made_once_after_the_first_answer_and_a_given_one_stays() {
    let server = FakeServer::openai(vec![ScriptedReply::says("“Dry cellar.”")]);
    let place = Place::asking(&server);
    let mut chat = place.chat(ConversationChannel::Terminal, &[]).await;
    says(&mut chat, "look into the cellar").await;
    assert_eq!(made(&chat).await, "Dry cellar");
    says(&mut chat, "and the attic").await;
    chat.send("/rename Attic").await.unwrap();
    says(&mut chat, "and the roof").await;
    assert_eq!((row(&chat).await.title_source(), titles_asked_for(&server)), ("given", 1));
    let title = retitle(chat.app(), chat.store(), chat.id()).await.unwrap();
    assert_eq!((title.as_str(), row(&chat).await.title_source()), ("Dry cellar", "made"));
    chat.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn small_talk_costs_no_call_for_a_title_and_what_follows_it_is_named() {
    let server = FakeServer::openai(vec![ScriptedReply::says("“Dry cellar.”")]);
    let place = Place::asking(&server);
    let mut chat = place.chat(ConversationChannel::Terminal, &[]).await;
    says(&mut chat, "hello").await;
    says(&mut chat, "你好，在吗？").await;
    assert_eq!((server.seen().len(), row(&chat).await.title()), (2, "hello".to_owned()));
    says(&mut chat, "look into the cellar").await;
    assert_eq!(made(&chat).await, "Dry cellar");
    assert_eq!((server.seen().len(), titles_asked_for(&server)), (4, 1));
    chat.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_title_is_made_for_a_pipe_for_a_title_that_was_given_or_when_it_is_turned_off() {
    let server = FakeServer::openai(vec![ScriptedReply::says("Dry.")]);
    for (channel, set, title) in [
        (ConversationChannel::Pipe, &[][..], None),
        (ConversationChannel::Terminal, &["chat.titles=off"][..], None),
        (ConversationChannel::Terminal, &[][..], Some("/rename Mine")),
    ] {
        let place = Place::asking(&server);
        let mut chat = place.chat(channel, set).await;
        if let Some(line) = title {
            chat.send(line).await.unwrap();
        }
        says(&mut chat, "look into the cellar").await;
        let source = row(&chat).await.title_source();
        chat.leave().await;
        assert_ne!(source, "made");
    }
    assert_eq!(titles_asked_for(&server), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scripted_model_is_not_asked_by_itself_and_a_failure_is_told_to_who_asked() {
    let script = serde_json::json!({"replies": [{"text": "Dry."}]});
    let place = Place::with(Vec::new());
    let file = place.folder.path().join("script.json");
    std::fs::write(&file, script.to_string()).unwrap();
    let model = vec![format!("model.default=scripted/{}", file.display())];
    let place = Place { model, ..place };
    let mut chat = place.chat(ConversationChannel::Terminal, &[]).await;
    says(&mut chat, "look into the cellar").await;
    assert_eq!(row(&chat).await.title_source(), "goal");
    chat.send("/new").await.unwrap();
    chat.send("/rename Empty").await.unwrap();
    let refused = retitle(chat.app(), chat.store(), chat.id()).await.unwrap_err();
    assert!(matches!(refused, AppError::Conversation(ConversationError::NoTitle(_))), "{refused}");
    chat.leave().await;
}
