//! A server under test, and requests to it: real bytes over loopback.

use super::{Home, PATIENCE, Spawned};
use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;

/// A token that is known to the test.
const TOKEN: &str = "test-token-0123456789";

/// A server of a home.
pub(crate) struct Served {
    pub(crate) process: Spawned,
    pub(crate) client: HttpClient,
}

/// Sends requests to a server, from any thread.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    pub(crate) address: String,
}

impl std::ops::Deref for Served {
    type Target = HttpClient;

    fn deref(&self) -> &HttpClient {
        &self.client
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl HttpAnswer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Checks the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The stable name of the problem.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &&str| line.to_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(line).and_then(|line| line.split_once(':')).map(|(_, v)| v.trim())
    }
}

impl Home {
    /// Starts a server on a free port, or on the port that an earlier one had.
    pub(crate) fn serve_at(&self, listen: &str) -> Served {
        Served::start(self.spawn(["serve", "--json", "--listen", listen]))
    }

    pub(crate) fn serve(&self) -> Served {
        self.serve_at("127.0.0.1:0")
    }

    /// The token of every server of a test.
    pub(crate) fn with_token(self) -> Self {
        self.with("EVERLOOP_TOKEN", TOKEN)
    }
}

impl Served {
    /// Waits until a server says where it is.
    pub(crate) fn start(mut process: Spawned) -> Self {
        let line = process.until("\"url\"");
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = said["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
        Self { process, client: HttpClient { address } }
    }
}

impl HttpClient {
    /// A request with the token; `headers` are lines without their ends.
    #[track_caller]
    pub(crate) fn request(&self, line: &str, headers: &[&str], body: &str) -> HttpAnswer {
        let own = [format!("Authorization: Bearer {TOKEN}"), format!("Host: {}", self.address)];
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        self.raw(line, &[own.as_slice(), headers].concat(), body)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> HttpAnswer {
        self.request(&format!("GET {path}"), &[], "")
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> HttpAnswer {
        self.request(
            &format!("POST {path}"),
            &["Content-Type: application/json"],
            &body.to_string(),
        )
    }

    /// The same to a server that may be going or gone.
    pub(crate) fn try_post(&self, path: &str, body: &Value) -> std::io::Result<HttpAnswer> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nHost: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let answer = String::from_utf8_lossy(&bytes);
        let (head, body) = answer.split_once("\r\n\r\n").ok_or(ErrorKind::UnexpectedEof)?;
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Ok(HttpAnswer { status, head: head.to_owned(), body: body.to_owned() })
    }

    /// A request with exactly these headers.
    #[track_caller]
    pub(crate) fn raw(&self, line: &str, headers: &[&str], body: &str) -> HttpAnswer {
        let mut reader = self.begin(line, headers, body);
        let head = read_head(&mut reader);
        let mut bytes = Vec::new();
        let _ = reader.read_to_end(&mut bytes);
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let body = String::from_utf8(if is_chunked { unchunked(&bytes) } else { bytes }).unwrap();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        HttpAnswer { status, head, body }
    }

    fn begin(&self, line: &str, headers: &[&str], body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = format!("Content-Length: {}", body.len());
        let all = [headers, &[length.as_str(), "Connection: close"]].concat();
        let request = format!("{line} HTTP/1.1\r\n{}\r\n\r\n{body}", all.join("\r\n"));
        // A server that refuses a body need not read all of it.
        let _ = stream.write_all(request.as_bytes());
        BufReader::new(stream)
    }

    /// The events of a run as they come, after a place, until `is_last` says so or the stream
    /// ends; with the numbers of those that are durable.
    pub(crate) fn events(
        &self,
        run: &str,
        after: i64,
        is_last: impl FnMut(&Value) -> bool,
    ) -> Vec<(Option<i64>, Value)> {
        let path = format!("/v1/runs/{run}/events");
        let events = self.stream(&path, &after.to_string(), is_last);
        let number = |(id, event): (Option<String>, Value)| {
            (id.map(|_| event["seq"].as_i64().unwrap()), event)
        };
        events.into_iter().map(number).collect()
    }

    /// The events of a path with their ids, after the one with the id `last`.
    pub(crate) fn stream(
        &self,
        path: &str,
        last: &str,
        mut is_last: impl FnMut(&Value) -> bool,
    ) -> Vec<(Option<String>, Value)> {
        let mut open = self.open_stream(path, last);
        let mut events = Vec::new();
        while let Some((id, event)) = open.next_event() {
            let is_end = is_last(&event);
            events.push((id, event));
            if is_end {
                break;
            }
        }
        events
    }

    /// A stream of events that is read event by event.
    pub(crate) fn open_stream(&self, path: &str, last: &str) -> EventReader {
        let (token, host) =
            (format!("Authorization: Bearer {TOKEN}"), format!("Host: {}", self.address));
        let last = format!("Last-Event-ID: {last}");
        let headers = [token.as_str(), &host, "Accept: text/event-stream", &last];
        let mut reader = self.begin(&format!("GET {path}"), &headers, "");
        let head = read_head(&mut reader);
        assert!(head.contains("200"), "{head}");
        EventReader { reader }
    }
}

/// An open stream of events.
pub(crate) struct EventReader {
    reader: BufReader<TcpStream>,
}

impl EventReader {
    /// The next event with its id; none if the stream ended, or was cut.
    pub(crate) fn next_event(&mut self) -> Option<(Option<String>, Value)> {
        let (mut data, mut id) = (None, None);
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("data: ") {
                data = serde_json::from_str::<Value>(text).ok();
            } else if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.to_owned());
            } else if line.is_empty()
                && let Some(event) = data.take()
            {
                return Some((id.take(), event));
            }
        }
    }
}

fn read_head(reader: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "the answer ended early: {head}");
    }
    head
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        out.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
    out
}
