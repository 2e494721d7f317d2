//! A second kind of channel, as somebody would add one: everything that it needs is in this file.

use super::*;
use crate::home::Home;
use crate::notice::Notices;
use crate::settings::SettingSources;
use crate::worker::WorkerSession;
use everloop_ports::{Deliver, Delivery};
use serde_json::json;
use std::sync::Mutex;
use tempfile::TempDir;

/// Takes `thread: words` with a token in a header, and keeps what it sends.
#[derive(Debug)]
pub(super) struct Pigeon;

const FIELDS: [ChannelField; 2] = [
    ChannelField { name: "token", form: FieldForm::Secret, required: true },
    ChannelField { name: "loft", form: FieldForm::Word, required: false },
];

/// What flew, and to which loft.
static FLOWN: Mutex<Vec<(String, String, String)>> = Mutex::new(Vec::new());

impl ChannelKind for Pigeon {
    fn name(&self) -> &'static str {
        "pigeon"
    }

    fn fields(&self) -> &'static [ChannelField] {
        &FIELDS
    }

    fn target(&self) -> Option<&'static str> {
        Some("loft")
    }

    fn read(
        &self,
        channel: &ChannelAccess,
        request: &InboundRequest<'_>,
    ) -> Result<InboundMessage, ChannelError> {
        if request.header("token")? != channel.field("token") {
            return Err(ChannelError::Unsigned);
        }
        let id = request.header("ring")?.to_owned();
        let said = String::from_utf8_lossy(request.body);
        let (thread, text) = said.split_once(": ").ok_or(ChannelError::Empty)?;
        let channel = format!("{}:{}", self.name(), channel.name);
        Ok(InboundMessage { channel, thread: thread.to_owned(), text: text.to_owned(), id })
    }

    fn replay_ms(&self) -> i64 {
        60_000
    }

    fn send<'a>(
        &'a self,
        channel: &'a ChannelAccess,
        message: OutboundMessage<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        let (thread, text) = (message.thread.to_owned(), message.text.to_owned());
        FLOWN.lock().unwrap().push((channel.field("loft").to_owned(), thread, text));
        Box::pin(std::future::ready(Ok(())))
    }
}

fn app(folder: &TempDir) -> App {
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("work")).unwrap();
    std::fs::write(path("script.json"), json!({"replies": [{"text": "Coo."}]}).to_string())
        .unwrap();
    std::fs::write(path("token"), "seed-and-water").unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path("token"), private).unwrap();
    let file = format!(
        "[channels.roof]\nkind = \"pigeon\"\ntoken = \"file:{}\"\nloft = \"north\"\n\
         workspace = \"{}\"\n[channels.ops]\nsecret = \"env:X\"\nurl = \"http://127.0.0.1:9/\"\n",
        path("token").display(),
        path("work").display()
    );
    let home = Home::under(&path("home"));
    let model = format!("model.default=scripted/{}", path("script.json").display());
    let sources = SettingSources {
        path: home.config_file(),
        text: Some(file),
        trouble: None,
        environment: Vec::new(),
        set: vec![model, "loop.default=react".to_owned(), "agent.loop_enabled=off".to_owned()],
        database: None,
        lang: Some(Lang::En),
    };
    let (build, notices) = ("test".to_owned(), Notices::ignored());
    App::open(crate::app::OpenOptions { sources, home, build, notices }).unwrap()
}

#[tokio::test]
async fn a_second_kind_of_channel_is_one_file_and_one_row() {
    let folder = TempDir::new().unwrap();
    let app = app(&folder);
    let store = app.open_store().await.unwrap();
    let engine = app.engine(store.clone()).await.unwrap();
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = [header("token", "seed-and-water"), header("ring", "r1")];
    let wrong = receive(&app, &engine, "webhook:roof", &headers, b"nest: hi").await;
    assert_eq!(refused_as(&wrong.unwrap_err()), 404, "it is no webhook");
    let stranger = [header("token", "crumbs"), header("ring", "r1")];
    let wrong = receive(&app, &engine, "roof", &stranger, b"nest: hi").await;
    assert_eq!(refused_as(&wrong.unwrap_err()), 401);
    let taken = receive(&app, &engine, "roof", &headers, b"nest: hi").await.unwrap();
    assert_eq!((taken.duplicate, taken.run.is_some()), (false, true));
    let session = WorkerSession::acquire(&app, &engine).unwrap();
    session.drain(|_| ()).await.unwrap();
    session.end().await;
    let flown = |thread: &str, text: &str| ("north".to_owned(), thread.to_owned(), text.to_owned());
    assert_eq!(*FLOWN.lock().unwrap(), [flown("nest", "Coo.")]);
    send_test(&app, "pigeon:roof", "nest").await.unwrap();
    let outgoing = OutgoingChannels::of(&app);
    assert!(outgoing.has("pigeon:roof#nest") && outgoing.has("webhook:ops") && outgoing.has("ops"));
    assert!(!outgoing.has("webhook:roof#nest"));
    let channel = "pigeon:roof#egg".to_owned();
    let delivery = Delivery { id: "1".to_owned(), channel, text: "Hop.".to_owned(), at: 0 };
    outgoing.deliver(&delivery).await.unwrap();
    let test = "A test message from Everloop to the channel pigeon:roof.";
    assert_eq!(FLOWN.lock().unwrap()[1..], [flown("nest", test), flown("egg", "Hop.")]);
}

/// How HTTP tells of a refusal.
pub(super) fn refused_as(error: &ChannelError) -> u16 {
    match error {
        ChannelError::NoSuchChannel(_) => 404,
        ChannelError::Unsigned | ChannelError::TooOld => 401,
        ChannelError::TooLarge => 413,
        ChannelError::Header(_) | ChannelError::Body(_) | ChannelError::Empty => 400,
        ChannelError::Secret(_) | ChannelError::App(_) => 500,
    }
}
