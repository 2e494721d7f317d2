//! A server on this machine that answers request by request, and remembers what it was asked.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status and a body.
    Status(u16, String),
    /// These bytes, and then the connection is closed.
    Raw(String),
    /// The connection is closed without a word.
    Cut,
    /// Nothing, for as long as the client waits.
    Silence,
}

pub(crate) fn ok(body: &str) -> Reply {
    Reply::Status(200, body.to_owned())
}

pub(crate) fn status(status: u16) -> Reply {
    Reply::Status(status, String::new())
}

/// The server; it ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers the n-th request with the n-th reply, and 500 past the end.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), replies)
    }

    /// The same on a port that is known already.
    pub(crate) fn on(listener: TcpListener, replies: Vec<Reply>) -> Self {
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, replies) = (shared.clone(), replies.clone());
                tokio::spawn(async move {
                    // A connection that breaks is one that the test wanted to break.
                    let _ = serve(stream, &shared, &replies).await;
                });
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The requests so far, head and body, in lower case.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first words of each request.
    pub(crate) fn lines(&self) -> Vec<String> {
        let first = |request: &String| request.lines().next().unwrap_or_default().to_owned();
        self.seen().iter().map(first).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<String>>,
    replies: &[Reply],
) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    let number = {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request);
        seen.len() - 1
    };
    let reply = replies.get(number).cloned().unwrap_or(status(500));
    let text = match reply {
        Reply::Cut => return Ok(()),
        Reply::Silence => stream.read(&mut [0]).await.map(|_| String::new())?,
        Reply::Raw(text) => text,
        Reply::Status(status, body) => {
            let length = body.len();
            format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
        }
    };
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

async fn read(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.and_then(|n| n.parse().ok()).unwrap_or(0) {
                return Ok(text);
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
