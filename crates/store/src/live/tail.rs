//! Reading what another process appends to the files of runs.

use super::files::path_of;
use super::{LiveFuture, LiveListener};
use everloop_types::{LiveMessage, RunId};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;

/// How often a file is looked at to which something is appended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How often a file is looked for that is not there.
const LOOK_FOR_EVERY: Duration = Duration::from_millis(50);

/// How often rows are looked at.
const ROWS_EVERY_MS: u64 = 100;

/// The most that is read at once.
const READ_BYTES_MAX: u64 = 256 << 10;

pub(super) struct FileListener {
    folder: PathBuf,
    tails: Vec<FileTail>,
    /// When the files are looked at again.
    next_look: Instant,
}

/// One file, and how far it was read.
struct FileTail {
    run: RunId,
    path: PathBuf,
    /// It is kept open, so that its inode stays its own.
    open: Option<(File, u64)>,
    /// A line that has no end yet.
    begun: Vec<u8>,
}

impl FileListener {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, tails: Vec::new(), next_look: Instant::now() }
    }
}

impl LiveListener for FileListener {
    fn add(&mut self, run: &RunId) {
        // A file lacks nothing but what was beyond its limit.
        if self.tails.iter().all(|tail| tail.run != *run) {
            let (run, path) = (run.clone(), path_of(&self.folder, run));
            self.tails.push(FileTail { run, path, open: None, begun: Vec::new() });
        }
    }

    fn next(&mut self) -> LiveFuture<'_> {
        Box::pin(async move {
            loop {
                tokio::time::sleep_until(self.next_look).await;
                let messages: Vec<LiveMessage> =
                    self.tails.iter_mut().flat_map(FileTail::read).collect();
                let is_open = self.tails.iter().any(|tail| tail.open.is_some());
                let pause = if is_open { LOOK_EVERY } else { LOOK_FOR_EVERY };
                self.next_look = Instant::now() + pause;
                if !messages.is_empty() {
                    return messages;
                }
            }
        })
    }

    fn look_every_ms(&self) -> u64 {
        ROWS_EVERY_MS
    }
}

impl FileTail {
    /// What was appended since. A file that is gone or is another one means that rows changed.
    fn read(&mut self) -> Vec<LiveMessage> {
        let found = std::fs::symlink_metadata(&self.path).ok().filter(std::fs::Metadata::is_file);
        let mut messages = Vec::new();
        let inode = found.as_ref().map(|found| (found.dev(), found.ino()));
        if self.open.as_ref().is_some_and(|(file, _)| identity(file) != inode) {
            self.open = None;
            self.begun.clear();
            messages.push(LiveMessage::Wrote { run: self.run.clone() });
        }
        let Some(found) = found else { return messages };
        if self.open.is_none() {
            let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
            let opened = File::options().read(true).custom_flags(no_follow).open(&self.path);
            self.open = opened.ok().map(|file| (file, 0));
        }
        let Some((file, read)) = &mut self.open else { return messages };
        if found.len() <= *read {
            return messages;
        }
        let before = self.begun.len();
        let taken = file.take(READ_BYTES_MAX).read_to_end(&mut self.begun);
        *read += (self.begun.len() - before) as u64;
        if taken.is_err() {
            return messages;
        }
        let whole = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.begun.drain(..whole).collect();
        let lines =
            lines.split(|byte| *byte == b'\n').filter_map(|it| std::str::from_utf8(it).ok());
        let read = lines.filter_map(LiveMessage::from_line);
        messages.extend(read.filter(|message| *message.run() == self.run));
        messages
    }
}

fn identity(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|found| (found.dev(), found.ino()))
}
