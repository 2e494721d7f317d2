//! How soon a person sees what they type and what the model says, while a reply streams.
//!
//! A release build is measured by
//!
//! ```sh
//! EVERLOOP_TEST_BINARY=target/release/everloop \
//!     cargo nextest run -p everloop --no-capture -E 'test(/^latency::/)'
//! ```
//!
//! The bounds here are those of a machine that does other work: they notice an editor that waits
//! for the stream, not a slow minute.

use crate::support::{Home, Terminal};
use everloop_models::testing::{CannedReply, FakeServer, ReplyGate};
use serde_json::json;
use std::time::{Duration, Instant};

const PROMPT: &str = "You › ";

fn delta(text: &str) -> String {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

fn stopped() -> String {
    let choice = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
    format!("data: {}\n\ndata: [DONE]\n\n", json!({ "choices": [choice] }))
}

fn chat_with(server: &FakeServer) -> (Home, Terminal) {
    let home = Home::scripted(&[]).with("TERM", "xterm").endpoint(&server.url());
    let mut chat = home.on_terminal(["chat", "--loop", "react"]);
    chat.until(PROMPT);
    (home, chat)
}

/// The median and the 99th percentile.
fn spread(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

#[test]
fn keys_are_on_the_screen_at_once_while_a_reply_streams() {
    const KEYS: usize = 150;
    let gate = ReplyGate::default();
    let mut reply = CannedReply::stream();
    for line in 0..1_500 {
        let row = format!("| {line} | a cell of a table | `code {line}` |\n");
        let text = match line % 20 {
            0 => format!(
                "\n\n## Part {line}\n\nSome **bold** words, 世界.\n\n| a | b | c |\n|---|---|---|\n"
            ),
            _ => row,
        };
        reply = reply.then(delta(&text)).pause_ms(3);
    }
    let reply = reply.behind(&gate).then(delta("\n\nThe end.") + &stopped()).end();
    let server = FakeServer::start(vec![reply]);
    let (_home, mut chat) = chat_with(&server);
    chat.types("go").until("Part 0");
    let mut typed = String::new();
    let mut times: Vec<Duration> = Vec::new();
    for key in 0..KEYS {
        // A new line of input before the row is full.
        if key % 50 == 0 && key > 0 {
            chat.presses(21);
            typed.clear();
        }
        let letter = char::from(b'a' + u8::try_from(key % 26).unwrap());
        typed.push(letter);
        let pressed = Instant::now();
        chat.keys(&letter.to_string()).shows(&format!("› {typed}"));
        times.push(pressed.elapsed());
    }
    gate.open();
    let (half, most) = spread(&mut times);
    println!("from a key to the screen while a reply streams: p50 {half:?}, p99 {most:?}");
    assert!(half < Duration::from_millis(300), "p50 {half:?}");
}

#[test]
fn the_first_word_of_a_reply_is_on_the_screen_as_soon_as_it_comes() {
    const REPLIES: usize = 20;
    let gates: Vec<ReplyGate> = (0..REPLIES).map(|_| ReplyGate::default()).collect();
    let replies = gates.iter().enumerate().map(|(at, gate)| {
        let first = delta(&format!("Word{at} "));
        CannedReply::stream().behind(gate).then(first).pause_ms(200).then(stopped()).end()
    });
    let server = FakeServer::start(replies.collect());
    let (_home, mut chat) = chat_with(&server);
    let mut times: Vec<Duration> = Vec::new();
    for (at, gate) in gates.iter().enumerate() {
        chat.types(&format!("goal {at}"));
        crate::support::eventually("the request", || (server.seen().len() > at).then_some(()));
        let opened = Instant::now();
        gate.open();
        chat.shows(&format!("Word{at}"));
        times.push(opened.elapsed());
        chat.until(PROMPT);
    }
    let (half, most) = spread(&mut times);
    println!("from the first token to the screen: p50 {half:?}, p99 {most:?}");
    assert!(half < Duration::from_millis(500), "p50 {half:?}");
}
