use super::*;
use crate::testing::PgServer;
use everloop_types::{CallStream, EffectId, Fragment};

fn run() -> RunId {
    RunId::new("run_1")
}

fn piece(offset: u64, text: &str) -> StreamPiece {
    let effect = EffectId { run: run(), cause: 1, index: 0 };
    let stream = CallStream { effect, epoch: 1, attempt: 0 };
    StreamPiece { stream, offset, fragment: Fragment::Text(text.to_owned()) }
}

#[test]
fn words_are_torn_between_characters_and_fit_into_notices() {
    for text in ["\u{1}".repeat(9_000), "快".repeat(9_000), "x".repeat(7_000)] {
        let notices = notices(vec![LiveMessage::Piece(piece(0, &text))]);
        let mut whole = String::new();
        for (_, words) in &notices {
            assert!(words.len() < 8_000, "{}", words.len());
            for line in words.lines() {
                let Some(LiveMessage::Piece(part)) = LiveMessage::from_line(line) else {
                    panic!("a piece")
                };
                assert_eq!(part.offset, whole.len() as u64);
                whole.push_str(part.fragment.text());
            }
        }
        assert_eq!(whole, text);
    }
}

/// Receives until the text is there.
async fn received(listener: &mut Box<dyn LiveListener>, wanted: &str) {
    let mut seen = String::new();
    while !seen.ends_with(wanted) {
        for message in listener.next().await {
            if let LiveMessage::Piece(piece) = message {
                if piece.offset == 0 {
                    seen.clear();
                }
                seen.push_str(piece.fragment.text());
            }
        }
    }
}

#[tokio::test]
async fn who_begins_to_follow_on_another_machine_gets_the_beginning_and_then_what_comes() {
    let database = PgServer::shared().database();
    let (one, other) = (database.store().await, database.store().await);
    let (driver, follower) = (one.live().expect("one"), other.live().expect("one"));
    driver.attach(Arc::new(|_| vec![piece(0, "The quick")]));
    // Nobody follows: this goes nowhere, and begins to listen for followers.
    driver.send(LiveMessage::Wrote { run: run() });
    let mut listener = follower.listen();
    listener.add(&run());
    received(&mut listener, "The quick").await;
    // A notice may be lost, and the words come again with the next one.
    let mut again = tokio::time::interval(SEND_EVERY * 10);
    let send = async {
        loop {
            again.tick().await;
            driver.send(LiveMessage::Piece(piece(9, " brown")));
        }
    };
    tokio::select! {
        () = received(&mut listener, " brown") => {}
        () = send => unreachable!("it sends until the other has it"),
    }
    assert_eq!(listener.look_every_ms(), ROWS_EVERY_MS, "notices come, so rows are looked at less");
}

#[tokio::test]
async fn a_server_that_was_restarted_is_listened_to_again() {
    let server = PgServer::own();
    let database = server.database();
    let (one, other) = (database.store().await, database.store().await);
    let (driver, follower) = (one.live().expect("one"), other.live().expect("one"));
    driver.attach(Arc::new(|_| vec![piece(0, "again")]));
    driver.send(LiveMessage::Wrote { run: run() });
    let mut listener = follower.listen();
    listener.add(&run());
    received(&mut listener, "again").await;
    server.restart();
    received(&mut listener, "again").await;
}
