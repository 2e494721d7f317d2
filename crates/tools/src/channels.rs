//! Channels: where messages go, by a name that the person chose.
//!
//! A message may arrive twice, always under the same id: a webhook gets it as `Idempotency-Key`, a
//! file keeps one line for each id.
//!
//! Deliberately absent: the queue, its order and its retries (the engine's and the store's).

use crate::hosts::{HostAddress, Hosts};
use crate::request::{Http, HttpRequest};
use everloop_ports::{BoxFuture, Deliver, Delivery};
use everloop_types::UtcMs;
use reqwest::{Method, Url};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How long one delivery may take.
const DELIVERY_MS_MAX: u64 = 10_000;

/// Bytes of a webhook's answer that are looked at, and of a message that are sent.
const BYTES_MAX: usize = 1 << 20;

/// A channel. It may hold a secret in its address, so only its name and kind are ever shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Channel {
    name: String,
    target: ChannelTarget,
}

#[derive(Clone, PartialEq, Eq)]
enum ChannelTarget {
    Hook(Url),
    File(PathBuf),
}

impl Channel {
    /// Reads `name=https://…`, `name=http://…` or `name=file:/…`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, target) = text.trim().split_once('=')?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(fits) {
            return None;
        }
        let target = match target.strip_prefix("file:") {
            Some(path) if Path::new(path).is_absolute() => ChannelTarget::File(PathBuf::from(path)),
            Some(_) => return None,
            None => {
                let url = Url::parse(target).ok()?;
                // Naming an address allows its host; everything else about it is checked.
                let own: Hosts = HostAddress::of(&url).into_iter().collect();
                ChannelTarget::Hook(own.admit(target).ok()?)
            }
        };
        Some(Self { name: name.to_owned(), target })
    }
}

/// The name and the kind, without what could be a secret.
impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            ChannelTarget::Hook(url) => {
                let host = url.host_str().unwrap_or_default();
                write!(f, "{}={}://{host}/…", self.name, url.scheme())
            }
            ChannelTarget::File(path) => write!(f, "{}=file:{}", self.name, path.display()),
        }
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// All channels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels(Vec<Channel>);

impl FromIterator<Channel> for Channels {
    fn from_iter<I: IntoIterator<Item = Channel>>(channels: I) -> Self {
        Self(channels.into_iter().collect())
    }
}

impl Channels {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|channel| channel.name.as_str()).collect()
    }

    /// The files that messages are written to.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().filter_map(|channel| match &channel.target {
            ChannelTarget::File(path) => Some(path.clone()),
            ChannelTarget::Hook(_) => None,
        })
    }

    async fn bring(&self, delivery: &Delivery) -> Result<(), String> {
        let known = self.0.iter().find(|channel| channel.name == delivery.channel);
        let Some(channel) = known else {
            return Err(format!("there is no channel {} here", delivery.channel));
        };
        let (id, text, at) = (delivery.id.clone(), delivery.text.clone(), delivery.at);
        let line = ChannelLine { id, text, at };
        match &channel.target {
            ChannelTarget::Hook(url) => post(url, &line).await,
            ChannelTarget::File(path) => {
                let path = path.clone();
                let written = tokio::task::spawn_blocking(move || append(&path, &line)).await;
                written.map_err(|e| e.to_string())?.map_err(|e| e.to_string())
            }
        }
    }
}

impl Deliver for Channels {
    fn has(&self, channel: &str) -> bool {
        self.names().contains(&channel)
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.bring(delivery))
    }
}

/// A message as it arrives.
#[derive(Debug, Serialize, Deserialize)]
struct ChannelLine {
    id: String,
    text: String,
    at: UtcMs,
}

async fn post(url: &Url, line: &ChannelLine) -> Result<(), String> {
    let body = serde_json::to_vec(line).map_err(|error| error.to_string())?;
    post_json(url, body, Some(&line.id), &[]).await
}

/// Posts a JSON body with headers of our own to an address that the person named. Its host is
/// resolved once and every address is checked, as for any other request.
///
/// # Errors
/// Why it is to be posted again; it may have arrived all the same.
pub async fn post_webhook(
    url: &str,
    body: Vec<u8>,
    headers: &[(&'static str, &str)],
) -> Result<(), String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    post_json(&url, body, None, headers).await
}

async fn post_json(
    url: &Url,
    body: Vec<u8>,
    key: Option<&str>,
    headers: &[(&'static str, &str)],
) -> Result<(), String> {
    let hosts = HostAddress::of(url).into_iter().collect();
    let (timeout_ms, bytes_max) = (DELIVERY_MS_MAX, BYTES_MAX);
    let http = Http { hosts, timeout_ms, bytes_max, ..Http::default() };
    let request = HttpRequest {
        method: Method::POST,
        url: url.as_str(),
        body: Some(("application/json", body)),
        key,
        headers,
    };
    match http.ask(request).await {
        Ok(answer) if answer.is_success() => Ok(()),
        Ok(answer) => Err(format!("HTTP {}", answer.status)),
        Err(error) => Err(error.words()),
    }
}

/// One line for each id, even with several writers. A line that a crash cut short is closed, not
/// continued.
fn append(path: &Path, line: &ChannelLine) -> std::io::Result<()> {
    let mut file = File::options().read(true).append(true).create(true).open(path)?;
    flock(&file, FlockOperation::LockExclusive)?;
    if holds(&file, &line.id)? {
        return Ok(());
    }
    let mut bytes = Vec::new();
    if !ends_line(&mut file)? {
        bytes.push(b'\n');
    }
    serde_json::to_writer(&mut bytes, line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.sync_all()
}

fn holds(file: &File, id: &str) -> std::io::Result<bool> {
    for text in BufReader::new(file).split(b'\n') {
        if serde_json::from_slice::<ChannelLine>(&text?).is_ok_and(|line| line.id == id) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn ends_line(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::{Channel, Channels, Delivery};

    #[test]
    fn a_channel_is_a_name_and_an_address_and_shows_no_secret() {
        let hook = Channel::parse("ops=https://hooks.example.com/T0/secret?k=secret").unwrap();
        assert_eq!(format!("{hook} {hook:?}").matches("secret").count(), 0);
        assert_eq!(hook.to_string(), "ops=https://hooks.example.com/…");
        let file = Channel::parse("log=file:/var/log/x.jsonl").unwrap();
        assert_eq!(file.to_string(), "log=file:/var/log/x.jsonl");
        for text in
            ["", "ops", "=https://h/", "ops=h", "o ps=https://h/", "log=file:x", "a=ftp://h/"]
        {
            assert_eq!(Channel::parse(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn a_file_keeps_one_line_for_each_id_also_after_a_torn_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        std::fs::write(&path, "{\"id\":\"torn\",\"te").unwrap();
        let channel = Channel::parse(&format!("log=file:{}", path.display())).unwrap();
        let channels = Channels::from_iter([channel]);
        for id in ["one", "two", "one"] {
            let (channel, text) = ("log".to_owned(), format!("text\nof {id}"));
            let delivery = Delivery { id: id.to_owned(), channel, text, at: 7 };
            channels.bring(&delivery).await.unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                r#"{"id":"one","text":"text\nof one","at":7}"#,
                r#"{"id":"two","text":"text\nof two","at":7}"#,
            ]
        );
    }

    #[tokio::test]
    async fn a_message_for_a_channel_that_is_gone_is_not_taken_for_sent() {
        let channel = "gone".to_owned();
        let delivery = Delivery { id: String::new(), channel, text: String::new(), at: 0 };
        let error = Channels::default().bring(&delivery).await.unwrap_err();
        assert_eq!(error, "there is no channel gone here");
    }
}
