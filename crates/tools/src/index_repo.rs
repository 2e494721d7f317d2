//! `index_repo`: makes the index of a folder that `search_code` uses, or brings it up to date.
//!
//! ```text
//!   walk, as search_code does ──► same size and times? ──► kept
//!                                   └─ read ─ same digest? ──► kept under the new times
//!                                                └─ else its grams are written anew
//! ```
//!
//! What is done is kept every few hundred files, so a call that is cut short goes on where it was.

use crate::code_index::{CodeIndex, FileKind, IndexSetting, IndexStamp, IndexedFile, grams_of};
use crate::read_file::reading;
use crate::search_code::{FILE_BYTES_MAX, can_be_walked, file_of, walk};
use crate::{Workspace, clip};
use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_types::{DataFlow, Ending, Handling, Observation, digest_bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;

/// Files between two commits.
const BATCH: u64 = 300;

/// Time that is left for the last commit.
const MARGIN: Duration = Duration::from_secs(2);

/// The arguments of `index_repo`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexRepoArgs {
    /// Folder.
    #[serde(default)]
    pub path: Option<PathBuf>,
}

/// Indexes the files of a folder.
#[derive(Debug)]
pub struct IndexRepo {
    /// Where it may look.
    pub workspace: Arc<Workspace>,
    /// Where the index is.
    pub setting: IndexSetting,
}

impl Tool for IndexRepo {
    const NAME: &'static str = "index_repo";
    type Args = IndexRepoArgs;

    fn description(&self) -> &'static str {
        "Index a folder, so that search_code is faster."
    }

    /// Pure: the index is a cache, and making it twice makes the same one.
    fn handling(&self) -> Handling {
        let timeout_ms = self.setting.timeout_ms;
        Handling { timeout_ms, grace_ms: 5_000, flow: Some(DataFlow::NOTHING), ..reading() }
    }

    fn leads_to(&self, args: &IndexRepoArgs) -> Option<String> {
        self.workspace.leads_to(args.path.as_deref()?)
    }

    async fn call(&self, args: IndexRepoArgs, context: &CallContext) -> ToolReturn {
        let (workspace, setting) = (Arc::clone(&self.workspace), self.setting.clone());
        let (cancel, chars) = (context.cancel.clone(), context.observation_chars);
        let own = Instant::now() + Duration::from_millis(setting.timeout_ms);
        let until = context.deadline.map_or(own, |deadline| deadline.min(own));
        let until = until.checked_sub(MARGIN).unwrap_or(until);
        crate::read_file::blocking(move || {
            let path = args.path.unwrap_or_else(|| PathBuf::from("."));
            let counts = index(&workspace, &setting, &path, &cancel, until);
            match counts {
                Ok(_) if cancel.is_cancelled() => {
                    Observation { ending: Ending::Canceled, text: "stopped: canceled".to_owned() }
                }
                Ok(counts) => Observation::ok(serde_json::to_string(&counts).unwrap_or_default()),
                Err(words) => Observation::error(clip::head(&words, chars)),
            }
        })
        .await
    }
}

/// What a pass over the files did.
#[derive(Debug, Default, Serialize)]
struct IndexCounts {
    path: String,
    files: u64,
    added: u64,
    changed: u64,
    unchanged: u64,
    removed: u64,
    bytes: u64,
    /// Whether every file was looked at.
    complete: bool,
}

fn index(
    workspace: &Workspace,
    setting: &IndexSetting,
    path: &Path,
    cancel: &CancellationToken,
    until: Instant,
) -> Result<IndexCounts, String> {
    let start = workspace.folder_or_file(path).map_err(|error| error.text())?;
    if !can_be_walked(&workspace.root().join(&start)) {
        return Err("its .gitignore or .ignore is not a plain file, so it is not read".to_owned());
    }
    let index = CodeIndex::open_to_write(setting, workspace.root())?;
    let mut pass = IndexPass::begin(workspace, setting, &index).map_err(|e| e.to_string())?;
    let stopped =
        |pass: &IndexPass<'_>| cancel.is_cancelled() || Instant::now() >= until || pass.is_full();
    let mut complete = true;
    for entry in walk(workspace, &start) {
        if stopped(&pass) {
            complete = false;
            break;
        }
        let Some(relative) = entry.ok().and_then(|entry| file_of(workspace, &entry)) else {
            continue;
        };
        pass.take(&relative).map_err(|error| error.to_string())?;
    }
    pass.take_fresh_again().map_err(|error| error.to_string())?;
    let below = if start == Path::new(".") { Path::new("") } else { &start };
    let mut counts = pass.end(below, complete).map_err(|error| error.to_string())?;
    counts.path = start.display().to_string();
    Ok(counts)
}

/// One pass over the files of a folder.
struct IndexPass<'p> {
    workspace: &'p Workspace,
    setting: &'p IndexSetting,
    index: &'p CodeIndex,
    number: i64,
    /// Files and bytes of the whole index.
    totals: (u64, u64),
    counts: IndexCounts,
    /// Files that were changed a moment ago.
    fresh: Vec<PathBuf>,
    uncommitted: u64,
}

impl<'p> IndexPass<'p> {
    fn begin(
        workspace: &'p Workspace,
        setting: &'p IndexSetting,
        index: &'p CodeIndex,
    ) -> rusqlite::Result<Self> {
        index.begin()?;
        let (number, totals) = (index.next_pass()?, index.totals()?);
        let (counts, fresh) = (IndexCounts::default(), Vec::new());
        Ok(Self { workspace, setting, index, number, totals, counts, fresh, uncommitted: 0 })
    }

    fn is_full(&self) -> bool {
        self.totals.0 >= self.setting.max_files || self.totals.1 >= self.setting.max_bytes
    }

    /// Takes in one file, if it has changed. One that cannot be read is left out.
    fn take(&mut self, path: &Path) -> rusqlite::Result<()> {
        let Some(before) = self.stamp(path) else { return Ok(()) };
        let known = self.index.file(path)?;
        if let Some(known) = known.as_ref().filter(|known| known.stamp == before) {
            self.counts.unchanged += 1;
            self.counts.files += 1;
            self.index.keep(known.id, before, self.number)?;
            return self.commit_now_and_then();
        }
        let Ok((bytes, size)) = self.workspace.read(path, FILE_BYTES_MAX) else { return Ok(()) };
        let read_at = SystemTime::now();
        let is_whole = size <= bytes.len() as u64;
        let stamp = match self.stamp(path) {
            Some(after) if after == before && !after.is_fresh(read_at) => after,
            Some(after) => {
                self.fresh.push(path.to_owned());
                after.unsure()
            }
            None => return Ok(()),
        };
        let digest = digest_bytes(&bytes);
        self.counts.files += 1;
        match &known {
            Some(known) if known.digest == digest && is_whole => {
                self.counts.unchanged += 1;
                self.index.keep(known.id, stamp, self.number)?;
            }
            known => {
                let kind = kind_of(&bytes, is_whole);
                let text = match kind {
                    FileKind::Text => grams_of(&String::from_utf8_lossy(&bytes)),
                    FileKind::Binary | FileKind::TooLarge => String::new(),
                };
                match known {
                    Some(_) => self.counts.changed += 1,
                    None => {
                        self.counts.added += 1;
                        self.totals.0 += 1;
                    }
                }
                self.counts.bytes += bytes.len() as u64;
                self.totals.1 += if kind == FileKind::Text { bytes.len() as u64 } else { 0 };
                let file = IndexedFile { id: 0, stamp, kind, digest };
                self.index.put(path, &file, &text, self.number)?;
            }
        }
        self.commit_now_and_then()
    }

    /// Files that were changed a moment ago are looked at again once another change would show.
    fn take_fresh_again(&mut self) -> rusqlite::Result<()> {
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.is_empty() {
            return Ok(());
        }
        std::thread::sleep(crate::code_index::SETTLE);
        let counted = (self.counts.files, self.counts.unchanged);
        for path in &fresh {
            self.take(path)?;
        }
        (self.counts.files, self.counts.unchanged) = counted;
        Ok(())
    }

    /// Ends the pass. Only one that saw every file knows which are gone.
    fn end(mut self, below: &Path, complete: bool) -> rusqlite::Result<IndexCounts> {
        if complete {
            self.counts.removed = self.index.forget_unseen(below, self.number)?;
        }
        self.index.commit()?;
        self.counts.complete = complete;
        Ok(self.counts)
    }

    fn commit_now_and_then(&mut self) -> rusqlite::Result<()> {
        self.uncommitted += 1;
        if self.uncommitted < BATCH {
            return Ok(());
        }
        self.uncommitted = 0;
        self.index.commit()?;
        self.index.begin()
    }

    fn stamp(&self, path: &Path) -> Option<IndexStamp> {
        let found = self.workspace.root().join(path).symlink_metadata().ok()?;
        found.is_file().then(|| IndexStamp::of(&found))
    }
}

fn kind_of(bytes: &[u8], is_whole: bool) -> FileKind {
    if bytes.contains(&0) {
        FileKind::Binary
    } else if is_whole {
        FileKind::Text
    } else {
        FileKind::TooLarge
    }
}
