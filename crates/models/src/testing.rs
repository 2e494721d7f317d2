//! A server on this machine that answers with given bytes, for tests of the wire.
//!
//! Plain TCP and a thread per connection, so that a reply can be cut, stalled or endless, which no
//! proper server would do. Requests are answered in the order in which they come.

mod canned;
mod gate;

use crate::ScriptedReply;
pub use canned::CannedReply;
use canned::Piece;
use everloop_types::{ModelErrorKind, Reply, StopCause};
pub use gate::ReplyGate;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Which connection it came on, counted from 0.
    pub connection: usize,
    /// Request line and headers.
    pub head: String,
    /// The body's bytes.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("request body: {e}"))
    }
}

/// The server. It stops listening when it is dropped.
#[derive(Debug)]
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    closed: Mutex<Receiver<usize>>,
}

#[derive(Debug)]
struct Shared {
    answers: Answers,
    seen: Mutex<Vec<ReceivedRequest>>,
    attempts: Mutex<HashMap<usize, usize>>,
    stopped: AtomicBool,
    connections: AtomicUsize,
}

#[derive(Debug)]
enum Answers {
    InOrder(Vec<CannedReply>),
    ByPrompt(Vec<ScriptedReply>),
}

impl FakeServer {
    /// Answers the n-th request with the n-th reply, and status 500 past the end.
    #[must_use]
    pub fn start(replies: Vec<CannedReply>) -> Self {
        Self::with(Answers::InOrder(replies))
    }

    /// An OpenAI-compatible endpoint that streams the reply whose number is the count of assistant
    /// messages in the request, and refuses requests past the end.
    #[must_use]
    pub fn openai(replies: Vec<ScriptedReply>) -> Self {
        Self::with(Answers::ByPrompt(replies))
    }

    /// The address to give as base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<ReceivedRequest> {
        lock(&self.shared.seen).clone()
    }

    /// Waits until a client leaves a stalled or endless reply, and says on which connection.
    #[must_use]
    pub fn client_left(&self, within: Duration) -> Option<usize> {
        lock(&self.closed).recv_timeout(within).ok()
    }

    fn with(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("bind: {e}"));
        let address = listener.local_addr().unwrap_or_else(|e| panic!("address: {e}"));
        let shared = Arc::new(Shared {
            answers,
            seen: Mutex::default(),
            attempts: Mutex::default(),
            stopped: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
        });
        let (left, closed) = channel();
        let listening = Arc::clone(&shared);
        std::thread::spawn(move || listen(&listener, &listening, &left));
        Self { address, shared, closed: Mutex::new(closed) }
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener reads the flag only when a client connects.
        drop(TcpStream::connect(self.address));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>, left: &Sender<usize>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
        let (shared, left) = (Arc::clone(shared), left.clone());
        std::thread::spawn(move || {
            // A connection that ends in an error is one that a test wanted to end.
            drop(serve(stream, connection, &shared, &left));
        });
    }
}

fn serve(
    stream: TcpStream,
    connection: usize,
    shared: &Shared,
    left: &Sender<usize>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some((head, body)) = read_request(&mut reader)? {
        let seen = ReceivedRequest { connection, head, body };
        let canned = shared.answer(&seen);
        for piece in canned.0 {
            let sent = match piece {
                Piece::Bytes(bytes) => writer.write_all(&bytes),
                Piece::Chunk(bytes) => write_chunk(&mut writer, &bytes),
                Piece::Pause(time) => {
                    std::thread::sleep(time);
                    Ok(())
                }
                Piece::Gate(gate) => {
                    gate.wait();
                    Ok(())
                }
                Piece::Forever(bytes) => loop {
                    if let Err(e) = write_chunk(&mut writer, &bytes) {
                        break Err(e);
                    }
                },
                Piece::Stall => {
                    reader.read(&mut [0]).and(Err(std::io::ErrorKind::NotConnected.into()))
                }
                Piece::Cut => return writer.shutdown(std::net::Shutdown::Both),
            };
            if let Err(e) = sent {
                // The receiver is gone when the test is over.
                let _ = left.send(connection);
                return Err(e);
            }
        }
    }
    Ok(())
}

fn write_chunk(writer: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    writer.write_all(&chunk)
}

/// One request, or nothing if the client has closed the connection.
fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let start = head.len();
        if reader.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        let line = head[start..].trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((head, body)))
}

impl Shared {
    fn answer(&self, seen: &ReceivedRequest) -> CannedReply {
        let number = {
            let mut all = lock(&self.seen);
            all.push(seen.clone());
            all.len() - 1
        };
        match &self.answers {
            Answers::InOrder(replies) => replies
                .get(number)
                .cloned()
                .unwrap_or_else(|| CannedReply::status(500, "", "no further canned reply")),
            Answers::ByPrompt(replies) => self.answer_prompt(replies, seen),
        }
    }

    fn answer_prompt(&self, replies: &[ScriptedReply], seen: &ReceivedRequest) -> CannedReply {
        let body = seen.json();
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let n = messages.iter().filter(|message| message["role"] == "assistant").count();
        let Some(scripted) = replies.get(n) else {
            return CannedReply::status(400, "", "script has no further reply");
        };
        let attempt = {
            let mut attempts = lock(&self.attempts);
            let attempt = attempts.entry(n).or_default();
            *attempt += 1;
            *attempt - 1
        };
        match scripted.failure(attempt) {
            Some(error) => failure(error.kind),
            None => stream_of(scripted, n, seen.body.len()),
        }
    }
}

/// How a failure looks on the wire.
fn failure(kind: ModelErrorKind) -> CannedReply {
    let head = json!({"choices": [{"index": 0, "delta": {"content": "half a re"}}]});
    match kind {
        ModelErrorKind::Cut => CannedReply::stream().then(event(&head)).cut(),
        ModelErrorKind::Unreachable => CannedReply::default().cut(),
        ModelErrorKind::Empty => CannedReply::sse("data: [DONE]\n\n"),
        ModelErrorKind::Malformed => CannedReply::sse("data: {]\n\n"),
        ModelErrorKind::RateLimited => CannedReply::status(429, "retry-after: 0\r\n", "slow down"),
        ModelErrorKind::TimedOut => CannedReply::status(504, "", "too late"),
        ModelErrorKind::Server => CannedReply::status(500, "", "scripted failure"),
        _ => CannedReply::status(400, "", "scripted failure"),
    }
}

/// A reply as a proper event stream, one event per HTTP chunk.
fn stream_of(scripted: &ScriptedReply, n: usize, prompt_bytes: usize) -> CannedReply {
    let reply = &scripted.reply;
    let mut canned = CannedReply::stream();
    if scripted.delay_ms > 0 && (scripted.chunk == 0 || reply.text.is_empty()) {
        canned = canned.pause_ms(scripted.delay_ms);
    }
    canned = canned.then(delta(json!({"role": "assistant", "content": ""})));
    if !reply.reasoning.is_empty() {
        canned = canned.then(delta(json!({"reasoning_content": reply.reasoning})));
    }
    for piece in scripted.pieces() {
        if scripted.delay_ms > 0 && scripted.chunk > 0 {
            canned = canned.pause_ms(scripted.delay_ms);
        }
        canned = canned.then(delta(json!({"content": piece})));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let function = json!({"name": call.tool, "arguments": call.args});
        let id = format!("call_{n}_{index}");
        let call = json!({"index": index, "id": id, "type": "function", "function": function});
        canned = canned.then(delta(json!({"tool_calls": [call]})));
    }
    canned.then(ending(reply, prompt_bytes)).end()
}

fn ending(reply: &Reply, prompt_bytes: usize) -> String {
    let reason = match reply.stop {
        StopCause::Done => "stop",
        StopCause::ToolCalls => "tool_calls",
        StopCause::Length => "length",
        StopCause::Filtered => "content_filter",
    };
    let said: usize = reply.calls.iter().map(|call| call.args.len()).sum();
    let finish = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
    let usage = json!({"choices": [], "usage": {
        "prompt_tokens": prompt_bytes / 4,
        "completion_tokens": (reply.text.len() + said) / 4,
    }});
    format!("{}{}data: [DONE]\n\n", event(&finish), event(&usage))
}

fn delta(delta: Value) -> String {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
